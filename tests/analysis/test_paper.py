"""The paper's numbers in ``report/paper`` against its source.

The source is not part of the repository. Once compared, the numbers are pinned by a digest: after a
change to one, run these tests beside the source, and then write the new digest.
"""

import hashlib
import re
from collections import Counter
from pathlib import Path

import pytest

from constraint_first.report.table import PrintedValue, Published, published, published_names

PAPER = Path(__file__).parents[3] / "shared" / "paper" / "constraint-first-reasoning.tex"
NO_DATA = {"fig:framework", "fig:constraint-wordcloud"}
REORDERED = {"gains-by-model", "categories", "olympiadbench", "parsing", "cases"}
COMPARED = "c6a40aaa486c202f66de4b3daad9bb491c9ff3000f539bdafd632d68c0bf337c"
"""SHA-256 of labels, columns and rows as they were compared with the source."""
COUNTED = {
    "problems-aime24-qwen": (10, 13, 3),
    "problems-aime25-deepseek": (19, 26, 7),
    "problems-aime25-qwen": (14, 24, 10),
    "problems-aime26-deepseek": (21, 27, 6),
    "problems-aime26-qwen": (14, 24, 10),
}
"""What the marks add up to: base, CFR, fixed. Only the first table prints the same totals."""


@pytest.fixture(scope="session")
def tex() -> str:
    if not PAPER.is_file():
        pytest.skip(f"{PAPER} is not here; the paper's source is not part of the repository")
    return PAPER.read_text(encoding="utf-8")


def environment(tex: str, label: str) -> str:
    """Cut out the table or figure that has a label, or the section."""
    at = tex.index(rf"\label{{{label}}}")
    if label.startswith("app:"):
        return tex[at : tex.index(r"\section{", at)]
    kind = "table" if label.startswith("tab:") else "figure"
    return tex[tex.rindex(rf"\begin{{{kind}", 0, at) : tex.index(rf"\end{{{kind}", at)]


def figures(table: Published) -> list[str]:
    """List what is a number, row by row, without signs."""
    values = (value for row in table.rows for value in row)
    return [f"{abs(v)}" if not isinstance(v, str) else v for v in values if _is_figure(v)]


def _is_figure(value: PrintedValue) -> bool:
    return not isinstance(value, str) or value.isdigit()


def test_the_numbers_are_those_that_were_compared_with_the_paper() -> None:
    tables = [published(name) for name in published_names()]
    printed = repr([(one.name, one.label, one.columns, one.rows) for one in tables])
    assert hashlib.sha256(printed.encode()).hexdigest() == COMPARED


def test_every_table_and_figure_of_the_paper_is_here(tex: str) -> None:
    inside = set(re.findall(r"\\label\{((?:tab|fig):[^}]+)\}", tex))
    ours = [label for name in published_names() for label in published(name).label]
    assert len(set(ours)) == len(ours)
    assert set(ours) - {"app:implementation", "app:aime2526"} == inside - NO_DATA


@pytest.mark.parametrize("name", published_names())
def test_every_figure_stands_in_the_paper(name: str, tex: str) -> None:
    texts = "\n".join(environment(tex, label) for label in published(name).label)
    inside = re.findall(r"\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?", texts)
    printed = [figure.replace(",", "") for figure in inside]
    ours = figures(published(name))
    assert not Counter(ours) - Counter(printed)
    if name not in REORDERED:
        rest = iter(printed)
        assert all(figure in rest for figure in ours)


@pytest.mark.parametrize("name", COUNTED)
def test_the_marks_are_the_papers(name: str, tex: str) -> None:
    inside = re.findall(r"\\([cx])mark", environment(tex, published(name).label[0]))
    ours = [value for row in published(name).rows[:-1] for value in row[2:4]]
    assert ours == [{"c": "✓", "x": "✗"}[mark] for mark in inside]


@pytest.mark.parametrize("name", COUNTED)
def test_the_marks_add_up_to_the_known_counts(name: str) -> None:
    *rows, total = published(name).rows
    base, cfr = ([row[at] == "✓" for row in rows] for at in (2, 3))
    fixed = sum(not b and c for b, c in zip(base, cfr, strict=True))
    assert (sum(base), sum(cfr), fixed) == COUNTED[name]
    agrees = total[2:] == (sum(base), sum(cfr), f"+{fixed} fixed")
    assert agrees == (name == "problems-aime24-qwen")
