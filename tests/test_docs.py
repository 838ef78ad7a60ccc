"""What the documentation shows is run, and what it points at is there."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from loopback import Endpoint, completion

from constraint_first.model.local import DEFAULT_MODEL
from constraint_first.report.table import published, published_names

REPOSITORY = Path(__file__).parent.parent
PAGES = sorted(
    [
        REPOSITORY / "README.md",
        REPOSITORY / "experiments" / "README.md",
        *(REPOSITORY / "docs").rglob("*.md"),
    ]
)
SNIPPETS = [
    (page, number, code)
    for page in PAGES
    for number, code in enumerate(
        re.findall(r"^```python\n(.*?)^```", page.read_text(), re.S | re.M), 1
    )
]


@pytest.mark.parametrize(
    ("page", "number", "code"), SNIPPETS, ids=[f"{p.name}-{n}" for p, n, _ in SNIPPETS]
)
def test_snippets_run(
    page: Path, number: int, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a snippet may write a store, and reads what is in docs/
    (tmp_path / "docs").symlink_to(REPOSITORY / "docs")
    namespace: dict[str, object] = {"__name__": f"{page.stem}_{number}"}
    exec(compile(code, f"{page.name}, snippet {number}", "exec"), namespace)  # noqa: S102


def test_the_readme_evaluates_and_compares_in_fifteen_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    _, _, code = next(
        one for one in SNIPPETS if one[0].name == "README.md" and "evaluate" in one[2]
    )
    assert len([line for line in code.splitlines() if line.strip()]) <= 15
    exec(compile(code, "README.md", "exec"), {"__name__": "readme"})  # noqa: S102
    printed = re.fullmatch(
        r"\+(\d+\.\d) points, p = (\S+) \(exact sign-flip\), 0 tokens\n", capsys.readouterr().out
    )
    assert printed
    # Every problem that differs improves, so the exact p-value is 2 / 2 ** (how many differ).
    differ = round(float(printed[1]) * 24 / 100)
    assert float(printed[2]) == pytest.approx(2 / 2**differ, rel=1e-3)  # pyright: ignore


REPLIES = [
    completion(
        "```python\n# Compute 7^100 modulo 13\nremainder = pow(7, 100, 13)\nprint(remainder)\n```",
        usage={"prompt_tokens": 132, "completion_tokens": 39},
    ),
    completion(
        "```python\n# Calculate the remainder of 7^100 divided by 13\n"
        "remainder = pow(7, 100, 13)\nprint(remainder)\n```\n\nThis solution uses the built-in "
        r"`pow` function in Python, which computes \(7^{100} \mod 13\) efficiently and prints the "
        "remainder.",
        usage={
            "prompt_tokens": 132,
            "completion_tokens": 74,
            "prompt_tokens_details": {"cached_tokens": 131},
        },
    ),
]
"""What the embedded model wrote when the sample in README.md was made."""


def test_the_readme_shows_what_solve_prints(endpoint: Endpoint, tmp_path: Path) -> None:
    text = (REPOSITORY / "README.md").read_text()
    sample = re.search(
        r"^    \$ \.venv/bin/cfr (solve \".*?\")\n(.*?)^    \d+ s\n", text, re.S | re.M
    )
    assert sample
    endpoint.script(*REPLIES)
    model = ["--model", DEFAULT_MODEL, "--base-url", endpoint.url]
    ran = subprocess.run(
        [sys.executable, "-m", "constraint_first", *shlex.split(sample[1]), *model],
        capture_output=True,
        text=True,
        env=os.environ | {"COLUMNS": "80"},
        cwd=tmp_path,
        timeout=120,
        check=True,
    )
    shown = [line.rstrip() for line in ran.stdout.splitlines()]
    assert shown[:-1] == [line.removeprefix("    ") for line in sample[2].splitlines()]
    assert re.fullmatch(r"\d+ s", shown[-1])


def test_the_readme_shows_the_answer_of_calibration() -> None:
    """That this is what the command prints is tested in tests/cli/test_report.py."""
    page = (REPOSITORY / "docs" / "calibration.md").read_text()
    answer = re.search(r"^Yes: .*$", page, re.M)
    assert answer
    assert f"```text\n{answer[0]}\n```" in (REPOSITORY / "README.md").read_text()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} points at {target}"


def test_every_file_named_in_paper_to_code_is_there() -> None:
    text = (REPOSITORY / "docs" / "paper-to-code.md").read_text()
    named = re.findall(r"`((?:src|tests|perf|experiments)/[\w/.-]+)`", text)
    assert named
    for path in named:
        assert (REPOSITORY / path).exists(), path


def test_every_table_and_figure_of_the_paper_has_its_line() -> None:
    text = (REPOSITORY / "docs" / "paper-to-code.md").read_text()
    drawn = {"fig:framework", "fig:constraint-wordcloud"}
    labels = {label for name in published_names() for label in published(name).label} | drawn
    for label in sorted(labels):
        assert f"`{label}`" in text, label
    for path, names in re.findall(r"`A/([\w/.]+)`((?: `\w+`,?)*)", text):
        file = REPOSITORY / "src" / "constraint_first" / "report" / path
        assert file.exists(), path
        for name in re.findall(r"`(\w+)`", names):
            assert f"def {name}(" in file.read_text(), (path, name)


def test_the_architecture_is_drawn_as_it_is() -> None:
    text = (REPOSITORY / "docs" / "architecture.md").read_text()
    sources = REPOSITORY / "src" / "constraint_first"
    for package in sorted(
        path.name for path in sources.iterdir() if (path / "__init__.py").exists()
    ):
        assert f"| `{package}` |" in text, f"{package} has no line in the table of packages"
    for named in re.findall(r"`([a-z_0-9]+(?:/[a-z_0-9]+)+(?:\.py)?)`", text):
        assert (sources / named).exists(), f"there is no src/constraint_first/{named}"


def test_every_dependency_has_its_line() -> None:
    project = (REPOSITORY / "pyproject.toml").read_text()
    listed = re.search(r"\ndependencies = \[(.*?)\]", project, re.S)
    assert listed
    reasons = (REPOSITORY / "docs" / "dependencies.md").read_text()
    for name in re.findall(r'"([\w-]+)', listed[1]):
        assert f"| `{name}` |" in reasons, name


def test_every_fault_has_a_test_that_is_there() -> None:
    page = (REPOSITORY / "docs" / "reliability.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith("| ") and "| --- |" not in line]
    faults = [row for row in rows if not row.endswith("| test |")]
    assert len(faults) > 50
    for row in faults:
        named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", row)
        assert named or "perf/faults.py" in row, row
        for file, function in named:
            assert f"def {function}(" in (REPOSITORY / file).read_text(), (file, function)
