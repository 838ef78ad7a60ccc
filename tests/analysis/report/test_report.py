"""The report as people get it: from the committed real run, in a real browser."""

import html
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from instructed import request_store

from constraint_first.report.exhibit.exhibit import ReportOptions
from constraint_first.report.exhibit.marks import Judged, Label
from constraint_first.report.reader import open_study, read_file
from constraint_first.report.report import Report, assemble, report_markdown, write
from constraint_first.report.study import Study, StudyError
from constraint_first.report.table import published_names

REAL_RUN = Path(__file__).parents[3] / "docs" / "results" / "constraintbench-mini.jsonl"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

HOSTILE = (
    "<script>document.title = 'owned'</script><img src=x onerror=\"document.title = 'owned'\">"
    "</div></details><h1>Fake</h1> $\\href{javascript:alert(1)}{x}$ \\text{<b>bold</b>} **x** "
    "\x1b[31m \u202e \ud800 {{ 7 * 7 }} \\boxed{<i>4</i>}"
)


def hostile_rows() -> list[dict[str, Any]]:
    """Two attempts at one problem, everything in them written by an enemy."""
    row = {
        "benchmark": "constraintbench-mini",
        "problem": '0"><script>alert(1)</script>',
        "problem_text": HOSTILE,
        "gold": "<u>4</u>",
        "run": 0,
        "input_tokens": 10,
        "output_tokens": 20,
        "model": "<b>evil</b> $x_1$",
        "text": HOSTILE,
    }
    spec = {"raw_constraints": [{"id": "<s>", "type": "<t>", "description": HOSTILE}]}
    details = {"rung": "parsed", "routed": True, "constraints": spec}
    return [
        row | {"method": "direct", "correct": False, "answer": HOSTILE},
        row | {"method": "routed-cfr-brief", "correct": True, "answer": "4", "details": details},
    ]


def lines(path: Path, *rows: Mapping[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    here = tmp_path_factory.mktemp("report")
    hostile = lines(here / "hostile.jsonl", *hostile_rows())
    report = assemble(open_study([REAL_RUN, hostile]), ReportOptions())
    write(report, here / "out")
    return here / "out"


class Page(HTMLParser):
    """What stands in a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.tables: list[str] = []
        self.figures: list[str] = []
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.said: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.tags.append(tag)
        self.attributes.update(given)
        self.links += [given[name] for name in given if name in ("src", "href", "xlink:href")]
        if tag == "table":
            self.tables.append(given.get("data-name", ""))
        if tag == "figure":
            self.figures.append(given.get("id", ""))

    def handle_data(self, data: str) -> None:
        self.said.append(data)


WANTED_TABLES = {
    *("scores", "benchmarks", "settings", "main", "generalization", "prompting", "stages"),
    *("prompting-comparison", "tokens-by-model", "routing-ablation", "router-rates"),
    *("router-patterns", "cofire", "extraction", "parsing", "categories"),
    *("outcomes", "errors"),
}
WANTED_FIGURES = {"gains-by-model", "applicability", "framework", "constraint-wordcloud"}


def check(page: Page) -> None:
    assert set(page.tables) >= WANTED_TABLES
    assert {f"figure-{name}" for name in WANTED_FIGURES} <= set(page.figures)
    for kind in ("grid", "frontier", "paired", "constraint-categories"):
        assert any(name.startswith(f"figure-{kind}-") for name in page.figures), kind
    assert sum(name.startswith("paired-") for name in page.tables) == 2  # a family for each model
    assert sum(name.startswith("token-ratios-") for name in page.tables) == 2
    assert page.tags.count("svg") == len(page.figures)
    assert not {"script", "img", "iframe", "link", "object", "u", "s", "t"} & set(page.tags)
    assert page.tags.count("h1") == 1
    assert not [name for name in page.attributes if name.startswith("on")]
    said = "".join(page.said)
    assert "<script>document.title = 'owned'</script>" in said
    assert "{{ 7 * 7 }}" in said
    assert "NaN" not in said
    assert not re.search(r"[\x1b\u202e]", said)
    assert "What the paper printed" in said


def test_the_page_is_whole_and_nothing_in_it_is_alive(folder: Path) -> None:
    text = (folder / "report.html").read_text(encoding="utf-8")
    page = Page(text)
    check(page)
    assert page.links
    assert all(link.startswith("#") for link in page.links)
    assert "default-src 'none'" in text


def browser(profile: Path) -> list[str]:
    """Give the command of a browser that shows no window and keeps nothing."""
    assert CHROMIUM is not None
    return [
        *(CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
        *("--virtual-time-budget=5000", f"--user-data-dir={profile}", "--window-size=1300,2000"),
    ]


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
@pytest.mark.slow
def test_a_browser_shows_the_same(folder: Path, tmp_path: Path) -> None:
    common = browser(tmp_path)
    address = (folder / "report.html").as_uri()
    shown = subprocess.run(
        [*common, "--dump-dom", address], capture_output=True, text=True, check=True, timeout=120
    )
    check(Page(shown.stdout))
    title = re.search(r"<title>(.*?)</title>", shown.stdout)
    assert title
    assert "owned" not in title[1]
    picture = tmp_path / "page.png"
    subprocess.run(
        [*common, f"--screenshot={picture}", address], capture_output=True, check=True, timeout=120
    )
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 50_000


MEASURE = r"""
<!doctype html><meta charset="utf-8"><body><iframe id="page" style="width:WIDTHpx;height:900px"
srcdoc="PAGE"></iframe><pre id="found"></pre><script>
onload = () => {
  const page = document.getElementById("page"), inside = page.contentDocument;
  const style = one => page.contentWindow.getComputedStyle(one);
  const scrolls = one => ["auto", "scroll"].includes(style(one).overflowX);
  const boxed = one => one && one !== inside.body && (scrolls(one) || boxed(one.parentElement));
  const found = {width: inside.documentElement.clientWidth,
    needed: inside.documentElement.scrollWidth, outside: [], broken: [], scrolling: 0, shaded: 0};
  for (const one of inside.querySelectorAll("body *")) {
    const {left, right} = one.getBoundingClientRect();
    if ((right > found.width + 1 || left < -1) && !boxed(one.parentElement))
      found.outside.push(one.tagName + " " + one.textContent.slice(0, 40));
    if (one.matches(".wide") && one.scrollWidth > one.clientWidth) {
      found.scrolling += 1;
      found.shaded += style(one).backgroundImage.includes("gradient") && one.tabIndex === 0;
    }
  }
  for (const cell of inside.querySelectorAll("main > section > table td, .wide td, .wide th")) {
    const words = inside.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (words.nextNode())
      for (const word of words.currentNode.data.matchAll(/\b[A-Za-z]{4,16}\b/g)) {
        const range = inside.createRange();
        range.setStart(words.currentNode, word.index);
        range.setEnd(words.currentNode, word.index + word[0].length);
        if (range.getClientRects().length > 1) found.broken.push(word[0]);
      }
  }
  document.getElementById("found").textContent = JSON.stringify(found);
}
</script>"""


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_wider_than_the_page_but_in_a_box_that_scrolls(
    folder: Path, tmp_path: Path, width: int
) -> None:
    page = (folder / "report.html").read_text(encoding="utf-8")
    opened = page.replace("<details", "<details open").replace("open open", "open")
    wrapped = MEASURE.replace("WIDTH", str(width)).replace("PAGE", html.escape(opened))
    (tmp_path / "measure.html").write_text(wrapped, encoding="utf-8")
    shown = subprocess.run(
        [*browser(tmp_path / "profile"), "--dump-dom", (tmp_path / "measure.html").as_uri()],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    (text,) = re.findall(r'<pre id="found">(.+?)</pre>', shown.stdout, re.DOTALL)
    found = json.loads(html.unescape(text))
    assert 0 < found["needed"] <= found["width"] <= width
    assert found["outside"] == []
    assert set(found["broken"]) == set()
    assert found["shaded"] == found["scrolling"]
    assert found["scrolling"] or width > 1000


def test_the_verdict_and_its_figure_come_first(folder: Path) -> None:
    text = (folder / "report.html").read_text(encoding="utf-8")
    first = text.partition("<section")[2].partition("</section>")[0]
    assert (
        "On Qwen2.5-Coder-1.5B-Instruct, it is unknown whether any of 4 methods is better" in first
    )
    assert "On &lt;b&gt;evil&lt;/b&gt;" in first
    assert 'id="figure-paired-' in first
    assert "<table" not in first
    assert not re.search(r"\de-\d", "".join(Page(text).said).replace("Qwen2.5-Coder", ""))


def test_what_the_data_lack_is_said_once_and_has_no_section(folder: Path) -> None:
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert 'id="part-robustness"' not in text
    assert text.count("No model of this study was run under more than one decoding.") == 1
    lacking = text.partition('<section id="part-left-out"')[2].partition("</section>")[0]
    assert "Accuracy under other decodings: No model of this study" in lacking
    assert 'data-name="paper-robustness"' in lacking
    assert "No method of this study has another router; run llm-router to compare." in lacking
    assert 'data-name="router-ablation"' not in text


def test_every_id_is_there_once(folder: Path) -> None:
    ids = re.findall(r'\sid="([^"]+)"', (folder / "report.html").read_text(encoding="utf-8"))
    assert len(ids) == len(set(ids))
    links = re.findall(r'href="#([^"]+)"', (folder / "report.html").read_text(encoding="utf-8"))
    assert set(links) <= set(ids)


def test_every_file_is_there(folder: Path) -> None:
    assert {path.stem for path in (folder / "tables").glob("*.tex")} >= WANTED_TABLES
    for path in (folder / "tables").glob("*.tex"):
        text = path.read_text(encoding="utf-8")
        assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 1
        assert r"\toprule" in text
    svgs = {path.stem for path in (folder / "figures").glob("*.svg")}
    assert svgs == {path.stem for path in (folder / "figures").glob("*.png")}
    assert svgs >= WANTED_FIGURES
    markdown = (folder / "report.md").read_text(encoding="utf-8")
    assert "<script" not in markdown
    for name in re.findall(r"\]\((figures/[^)]+)\)", markdown):
        assert (folder / name).is_file()


def test_every_table_of_the_paper_stands_in_a_report(folder: Path) -> None:
    page = Page((folder / "report.html").read_text(encoding="utf-8"))
    beside = {name.removeprefix("paper-") for name in page.tables if name.startswith("paper-")}
    assert beside == set(published_names())


def small(path: Path, outcomes: Mapping[str, list[list[bool | None]]]) -> Study:
    rows = [
        {"method": method, "problem": n, "run": run, "correct": correct}
        for method, problems in outcomes.items()
        for n, runs in enumerate(problems)
        for run, correct in enumerate(runs)
    ]
    return read_file(lines(path / "o.jsonl", *rows))


def everything_said(report: Report) -> str:
    claims = [claim for section in report.sections for claim in section.claims]
    return "\n".join([*claims, report_markdown(report)])


@pytest.mark.parametrize(
    ("outcomes", "said"),
    [
        ({"direct": [[True], [False]]}, "has direct alone; run another method to compare"),
        ({"a": [[True]], "b": [[False]]}, "has no method 'direct'; it has a, b"),
        ({"direct": [[True]], "cfr": [[True], [False]]}, "Left out because only one"),
        ({"direct": [[True]] * 3, "cfr": [[True]] * 3}, "do not differ on any problem"),
        ({"direct": [[True]], "cfr": [[None]]}, "no judged problem in common"),
        ({"direct": [[True, None]], "cfr": [[True, True]]}, "Not judged: 1 failed attempt"),
        ({"direct": [[False]], "cfr": [[True]]}, "One run of each problem"),
    ],
)
def test_thin_data_are_a_sentence_and_never_a_nan(
    tmp_path: Path, outcomes: Mapping[str, list[list[bool | None]]], said: str
) -> None:
    report = assemble(small(tmp_path, outcomes), ReportOptions(figures=False))
    text = everything_said(report)
    assert said in text
    assert "nan" not in re.findall(r"\b\w+\b", text.lower())
    write(report, tmp_path / "out")


@pytest.mark.parametrize("outcomes", [{}, {"direct": [[None]]}])
def test_nothing_judged_is_one_line(
    tmp_path: Path, outcomes: Mapping[str, list[list[bool | None]]]
) -> None:
    with pytest.raises(StudyError, match="no judged attempts yet; run 'cfr eval' first"):
        assemble(small(tmp_path, outcomes), ReportOptions())


def test_what_people_marked_stands_in_the_report(tmp_path: Path) -> None:
    study = small(tmp_path, {"direct": [[True]], "cfr": [[False]]})
    marks = (Judged("C1", "raw", "entailed"), Judged("C2", "raw", "not_entailed"))
    key = (*study.arms[1].key, "0", 0)
    labels = tuple(Label(name, key, marks) for name in ("ada", "ben"))
    report = assemble(study, ReportOptions(figures=False, labels=labels))
    tables = {table.name: table for table in report.tables}
    assert "50.0" in " ".join(cell.text for cell in tables["manual-extraction"].rows[0].cells)
    assert tables["annotators"].rows[0].cells[3].text == "100.0 %"


def test_figures_of_thin_data(tmp_path: Path) -> None:
    study = small(tmp_path, {"direct": [[True]], "cfr": [[False]]})
    report = assemble(study, ReportOptions())
    assert {"paired", "framework"} <= {figure.name for figure in report.figures}


@pytest.mark.long
def test_two_reports_of_the_same_run_are_equal_byte_for_byte(tmp_path: Path) -> None:
    for seed in "12":  # the order of sets differs between the two processes
        command = [sys.executable, "-m", "constraint_first", "report", str(REAL_RUN), "-o", seed]
        environment = os.environ | {"PYTHONHASHSEED": seed}
        subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    one, other = (
        {path.relative_to(tmp_path / seed): path.read_bytes() for path in _files(tmp_path / seed)}
        for seed in "12"
    )
    assert {path.suffix for path in one} == {".html", ".md", ".tex", ".svg", ".png"}
    assert one.keys() == other.keys()
    assert [path for path, content in one.items() if content != other[path]] == []


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_a_study_of_instructions_alone(tmp_path: Path) -> None:
    """Each part is there or left out with a word, and nobody reads the instructions as JSON."""
    study = open_study(request_store(str(tmp_path / "runs.db")))
    report = assemble(study, ReportOptions(figures=False))
    assert {"instructions", "instruction-kinds", "paired"} <= {one.name for one in report.tables}
    assert report.cases
    page = report_markdown(report)
    assert "Gold instructions: The reply does without" in page
    assert "follows 3 of 3 instructions (right; right in 2 of 2 runs" in page
    write(report, tmp_path / "out")
    for name in ("report.md", "report.html"):
        written = (tmp_path / "out" / name).read_text(encoding="utf-8")
        assert "gold instructions: [" not in html.unescape(written)
        assert "kwargs" not in written
