from decimal import Decimal
from pathlib import Path

import pytest

from constraint_first.benchmark.registry import entries
from constraint_first.method.registry import METHODS, make
from constraint_first.model.resolve import presets
from constraint_first.report.table import (
    PublishedError,
    paper_accuracy,
    published,
    published_names,
    to_latex,
    to_markdown,
)

REPOSITORY = Path(__file__).parents[3]


@pytest.mark.parametrize("name", published_names())
def test_a_table_is_rectangular(name: str) -> None:
    table = published(name)
    assert table.label
    assert table.rows
    assert len(set(table.columns)) == len(table.columns)
    assert {len(row) for row in table.rows} == {len(table.columns)}
    assert {type(value) for row in table.rows for value in row} <= {int, Decimal, str}


@pytest.mark.parametrize("name", published_names())
def test_names_are_the_projects(name: str) -> None:
    models = {preset.label for preset in presets().values()}
    known = {
        "model": models | {"Qwen3-1.7B", "Qwen3-4B-Thinking-2507", "Qwen3-8B"},
        "method": {make(method).label for method in METHODS} | {"Δ", "—", "CFR"},
        "benchmark": {e.label for e in entries().values()} | {"AIME Avg.", "AIME24–26 pooled"},
    }
    table = published(name)
    for row in table.rows:
        for title, value in zip(table.columns, row, strict=True):
            assert title not in known or value in known[title]


@pytest.mark.parametrize(
    ("model", "method", "benchmark", "accuracy"),
    [
        ("DeepSeek-V4-Pro", "Routed-CFR", "AIME24", 95.8),
        ("DeepSeek-V4-Pro", "Routed-CFR", "AIME25", 91.7),
        ("Qwen3.5-9B", "Direct CoT", "BRUMO25", 55.0),
        ("DeepSeek-V4-Pro", "CFR (always-on)", "AIMO_AMC", 96.1),
        ("DeepSeek-V4-Pro", "Self-Refine", "AIME26", 87.5),
        ("DeepSeek-V4-Pro", "Routed-CFR", "OlympiadBench", 91.14),
        ("DeepSeek-V4-Pro", "Self-Refine", "output tokens", None),
        ("DeepSeek-V4-Pro", "Δ", "AIME24", None),
        ("Qwen3.5-9B", "CFR (always-on)", "AIME24", None),
        ("Qwen2.5-Coder-1.5B-Instruct", "Direct CoT", "AIME24", None),
    ],
)
def test_one_accuracy(model: str, method: str, benchmark: str, accuracy: float | None) -> None:
    assert paper_accuracy(model, method, benchmark) == accuracy


def test_a_table_to_print_has_the_papers_digits() -> None:
    table = published("extraction-reliability").to_table()
    assert (table.name, table.paper) == (
        "paper-extraction-reliability",
        ("tab:extraction-reliability",),
    )
    assert table.title.endswith("(paper)")
    assert [c.align for c in table.columns] == ["left", "right", "right", "right", "right"]
    assert [cell.text for cell in table.rows[2].cells[1:]] == ["5.00", "3.64", "91.8", "17.8"]


def test_differences_have_a_sign_and_a_tone() -> None:
    delta = published("main").to_table().rows[5]
    assert delta.kind == "delta"
    assert [cell.text for cell in delta.cells[2:5]] == ["0.0", "+8.3", "+2.5"]
    assert [cell.tone for cell in delta.cells[1:4]] == ["plain", "plain", "gain"]
    cases = published("cases").to_table().rows
    assert [row.cells[-1].text for row in cases[:2]] == ["−31.1", "−35.3"]
    assert cases[7].cells[-3].text == "5,376"
    assert cases[7].cells[-1].text == "+229.0"


@pytest.mark.parametrize("name", published_names())
def test_every_table_can_be_written(name: str) -> None:
    table = published(name).to_table()
    assert to_markdown(table).count("\n|") == len(table.rows) + 2
    assert to_latex(table).endswith("\\end{table}\n")


def test_an_unknown_name_gets_a_way_out() -> None:
    with pytest.raises(PublishedError, match=r"'robustnes'.*did you mean 'robustness'\?"):
        published("robustnes")
    with pytest.raises(PublishedError, match="choose from additional, api-settings"):
        published("../models")


def test_the_experiments_folder_has_the_same_files() -> None:
    folder = REPOSITORY / "experiments" / "paper"
    assert tuple(sorted(path.stem for path in folder.glob("*.toml"))) == published_names()
