"""What the documentation shows is run, and what it points at is there."""

import re
from pathlib import Path

import pytest

from cfr.analysis.table.published import published, published_names

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
    for number, code in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.S), 1)
]


@pytest.mark.parametrize(
    ("page", "number", "code"), SNIPPETS, ids=[f"{p.name}-{n}" for p, n, _ in SNIPPETS]
)
def test_snippets_run(page: Path, number: int, code: str) -> None:
    namespace: dict[str, object] = {"__name__": f"{page.stem}_{number}"}
    exec(compile(code, f"{page.name}, snippet {number}", "exec"), namespace)  # noqa: S102


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
        file = REPOSITORY / "src" / "cfr" / "analysis" / path
        assert file.exists(), path
        for name in re.findall(r"`(\w+)`", names):
            assert f"def {name}(" in file.read_text(), (path, name)


def test_every_dependency_has_its_line() -> None:
    project = (REPOSITORY / "pyproject.toml").read_text()
    listed = re.search(r"\ndependencies = \[(.*?)\]", project, re.S)
    assert listed
    reasons = (REPOSITORY / "docs" / "dependencies.md").read_text()
    for name in re.findall(r'"([\w-]+)', listed[1]):
        assert f"| `{name}` |" in reasons, name
