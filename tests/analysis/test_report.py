"""The report: its context, sections, verdict, page and folder."""

import html
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from html.parser import HTMLParser
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from hand_made import arm, costing, study
from instructed import request_store
from snapshot import Golden

from constraint_first.constraint.stage1 import ConstraintSpec
from constraint_first.error import OutputError
from constraint_first.report.canvas import Figure
from constraint_first.report.comparison import (
    Comparison,
    ComparisonError,
    TokenRatios,
    best_supported,
    compare,
)
from constraint_first.report.exhibit.errors import CaseAttempt, CaseStudy
from constraint_first.report.exhibit.exhibit import Context, ReportOptions
from constraint_first.report.exhibit.gains import verdict, verdict_note
from constraint_first.report.reader import open_study, read_file
from constraint_first.report.report import (
    Report,
    Section,
    about,
    assemble,
    left_out,
    report_html,
    report_markdown,
    title,
    write,
)
from constraint_first.report.study import Arm, Study, StudyError, Transcript
from constraint_first.report.table import Cell, Column, Table, published_names, row

# Context.

ARMS = [
    arm(method, {"p": mark, "q": "+"}, model=model)
    for model in ("a", "b")
    for method, mark in (("direct", "-"), ("x", "-"), ("cfr", "+"))
]


def test_the_method_is_found_where_none_is_named() -> None:
    context = Context(study(*ARMS), ReportOptions())
    assert (context.baseline, context.method) == ("direct", "cfr")
    assert [(pair.method, pair.model) for pair in context.pairs] == [("cfr", "a"), ("cfr", "b")]
    assert Context(study(*ARMS), ReportOptions(method="x")).method == "x"
    with pytest.raises(ComparisonError, match="has no method 'y'"):
        Context(study(*ARMS), ReportOptions(method="y"))


def test_a_variant_stands_for_its_family() -> None:
    names = ("direct", "cfr(reply=json)", "cfr(reply=prose)", "routed-cfr(reply=json)")
    found = study(*(arm(name, {"p": "+"}) for name in names))
    context = Context(found, ReportOptions())
    assert context.method == context.variant("routed-cfr") == "routed-cfr(reply=json)"
    assert context.variant("cfr") == "cfr(reply=json)"
    chosen = Context(found, ReportOptions(variants=("cfr(reply=prose)",)))
    assert chosen.variant("cfr") == "cfr(reply=prose)"
    assert Context(found, ReportOptions(method=names[2])).variant("cfr") == names[2]
    with pytest.raises(StudyError, match="has no variant 'cfr'"):
        Context(found, ReportOptions(variants=("cfr",)))


def test_a_study_without_its_baseline_says_so() -> None:
    found = study(arm("routed-cfr(reply=json)", {"p": "+"}), arm("llm-router", {"p": "-"}))
    context = Context(found, ReportOptions())
    assert (context.baseline, context.method) == ("direct", "routed-cfr(reply=json)")
    assert not context.comparisons
    assert "has no method 'direct'" in context.uncompared["model"]


# Section.

FULL = Table("full", "Full", (Column("n"),), (row("1"),))
EMPTY = Table("empty", "Empty", (Column("n"),), (), ("Nobody ran it.",))
OTHER = Table("other", "Other", (Column("n"),), (), ("Nobody ran it.",))
PAPER = Table("paper-x", "X (paper)", (Column("n"),), (row("2"),))


def test_what_is_left_out_is_said_once_for_each_reason() -> None:
    sections = (
        Section("verdict", "First", ("No verdict.",)),
        Section("a", "A", ("A claim.",), (FULL, EMPTY), published=(PAPER,)),
        Section("b", "B", ("Not measured.",), (OTHER,), published=(PAPER,)),
    )
    found = left_out(sections)
    assert found.claims == ("Empty; Other: Nobody ran it.", "B: Not measured.")
    assert found.published == (PAPER,)  # that of B: A has its own place
    assert left_out(sections[:1]).claims == ()


# Provenance.


def finished(*times: float) -> Study:
    one = arm("direct", {str(n): "+" for n in range(len(times))})
    for problem, time in zip(one.attempts, times, strict=True):
        one.attempts[problem] = [replace(a, finished_at=time) for a in one.attempts[problem]]
    return study(one)


def test_a_title_names_methods_and_models() -> None:
    direct = arm("direct", {"p": "+"}, model="deepseek-chat")
    assert title(study(direct)) == "1 method with DeepSeek-V4-Pro"
    assert title(study(direct, arm("cfr", {"p": "+"}, model="b"))) == "2 methods with 2 models"
    assert title(study(arm("direct", {"p": "+"}, model=""))) == "1 method compared"


def test_what_a_study_holds() -> None:
    made = study(arm("direct", {"p": "+-", "q": "?"}), arm("cfr", {"p": "+"}))
    assert about(made) == (
        f"by hand: 2 problems, 4 attempts; constraint-first {version('constraint-first')}"
    )


def test_days_are_given_once_and_only_where_they_are_known() -> None:
    day = 86_400
    assert "attempts made 1970-01-02;" in about(finished(day, 0, day + 5))
    assert "attempts made 1970-01-02 to 1970-01-04;" in about(finished(3 * day, day))
    assert "made" not in about(finished(0.0))


# Verdict.

TWENTY = [str(n) for n in range(20)]


def right(method: str, count: int, benchmark: str = "aime24", tokens: int = 100) -> Arm:
    """Make an arm that has the first problems right."""
    marks = {problem: "+" if at < count else "-" for at, problem in enumerate(TWENTY)}
    return costing(arm(method, marks, benchmark=benchmark), (50, tokens))


def comparisons() -> Iterator[Comparison]:
    """Better, worse, unknown and tied; of several methods and on several benchmarks."""
    yield compare(study(right("direct", 4), right("cfr", 16, tokens=250)))
    direct, cfr = (replace(right(name, n), model="") for name, n in (("direct", 16), ("cfr", 4)))
    yield compare(study(direct, cfr))
    # Nothing is on record of benchmark, model and tokens.
    bare = (arm(one.method, one.attempts, benchmark="", model="") for one in (direct, cfr))
    (pair,) = compare(study(*bare)).pairs
    yield Comparison((replace(pair, tokens=TokenRatios()),), 1)
    # A gain comes before a loss; where nothing gains, the loss is said.
    some = [right("direct", 10), right("worst", 0), right("a", 18), right("b", 20)]
    yield compare(study(*some))
    yield compare(study(*some[:2], right("c", 11)))
    # Several benchmarks are named and not averaged.
    counts = {"aime24": (4, 16), "gsm8k": (16, 6), "math500": (10, 11)}
    both = ("direct", "cfr")
    sides = ((m, n, at) for at, own in counts.items() for m, n in zip(both, own, strict=True))
    yield compare(study(*(right(*side) for side in sides)))
    yield compare(study(right("direct", 10), right("cfr", 12)))
    yield compare(study(right("direct", 10), right("cfr", 12), right("x", 10)))
    yield compare(study(right("direct", 3), right("cfr", 3)))


def test_verdicts_in_words(golden: Golden) -> None:
    found = [*comparisons()]
    assert [best_supported(one).method for one in found[3:5]] == ["b", "worst"]
    said = [f"{verdict(one)}\n{verdict_note([one])}\n" for one in found]
    assert "\n".join((*said, verdict_note(found[4:6]))) == golden("verdicts.txt")


# Page.

TABLE = Table(
    "scores",
    "Scores",
    (Column("Method", "left"), Column("n", group="AIME24"), Column("p", group="AIME24")),
    (
        row("A model", kind="heading"),
        row("direct", Cell("+5.0", bold=True, tone="gain"), "<b>"),
    ),
    ("A note.",),
)
SHOWN = Figure("gains", "Gains", "Bars.", "<svg><g/></svg>", b"", ("Few.",))
SECTION = Section("main", "Main results", ("It is & is not.",), (TABLE,), (SHOWN,), (TABLE,))
SPEC = ConstraintSpec.from_mapping(
    {
        "raw_constraints": [{"id": "C1", "type": "domain", "description": "x is <whole>"}],
        "propagated_constraints": [{"id": "P1", "derived_from": ["C1"], "description": "x > 0"}],
    }
)
CASE = CaseStudy(
    *("broken", "aime24", "m", "7", "What is $x$?", "4"),
    CaseAttempt("Direct CoT", 1, 2, 0, Transcript("It is <i>4</i>.", "4", True, 1_000)),
    CaseAttempt("Routed-CFR", 0, 1, 0, Transcript("", None, False, 2_500, SPEC)),
)


def whole() -> Report:
    """Claims, tables, figures and a case, long tables and figures folded, everything escaped."""
    rows = (row("A model", kind="heading"), *(row("direct", str(n), "x") for n in range(21)))
    long = replace(TABLE, name="long", title="Long", rows=rows)
    tall = replace(SHOWN, name="tall", long=True)
    claim = "It is +5.0 points [−1.0, 11.0], [x, y] (p = 1)."  # an interval stays on one line
    first = Section("verdict", "First", (claim,), notes=("So.",))
    other = Section(
        "other", "Other", (), (replace(TABLE, name="short", rows=rows[:21]), long), (tall,)
    )
    cases = (replace(CASE, kind="Parity"), replace(CASE, kind="Parity"), CASE)
    return Report("Two & more", "a\x1b[31mb", (first, SECTION, other), cases, "Chosen by rule.")


def test_the_page_is_the_golden_one(golden: Golden) -> None:
    page = report_html(whole())
    assert re.sub(r"(?s)<style>.*?</style>", "<style></style>", page) == golden("report.html")
    boxes = page.count('<div class="wide" role="region" tabindex="0" aria-label')
    assert boxes == page.count("<table") + page.count("<svg")
    assert 'id="part-cases"' not in report_html(replace(whole(), cases=()))


# Folder.


def test_everything_is_in_the_folder(golden: Golden, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "report"
    made = write(whole(), folder)
    assert made == [folder / n for n in ("report.html", "report.md", "tables", "figures")]
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    assert files == [
        *(f"figures/{name}.{kind}" for name in ("gains", "tall") for kind in ("png", "svg")),
        *("report.html", "report.md"),
        *(f"tables/{name}.tex" for name in ("long", "scores", "short")),
    ]  # the paper's tables are not ours to keep
    markdown = (folder / "report.md").read_text(encoding="utf-8")
    assert markdown == report_markdown(whole())
    assert markdown == golden("report.md")
    assert r"\label{tab:scores}" in (folder / "tables" / "scores.tex").read_text(encoding="utf-8")
    (tmp_path / "report").write_text("in the way")
    with pytest.raises(OutputError, match=r"report: cannot be a folder \(.*\); name another"):
        write(whole(), tmp_path / "report")


# Report.

REAL_RUN = Path(__file__).parents[2] / "docs" / "results" / "constraintbench-mini.jsonl"
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
@pytest.mark.long
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
@pytest.mark.long
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
