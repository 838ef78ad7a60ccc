"""Tables as values, their notes and notation, and the tables that the paper prints."""

import sys
from decimal import Decimal
from pathlib import Path

import pytest
from hand_made import arm, study, two_benchmarks
from hypothesis import given
from hypothesis import strategies as st
from snapshot import Golden

from constraint_first.benchmark.registry import entries
from constraint_first.method.registry import METHODS, make
from constraint_first.model.resolve import presets
from constraint_first.report.comparison import Gain
from constraint_first.report.study import by_model
from constraint_first.report.table import (
    REPORT,
    Cell,
    Column,
    MissingExtra,
    PublishedError,
    Table,
    absent,
    counted,
    decimal,
    delta,
    describe_decoding,
    exact_p,
    gain_cell,
    interval,
    markdown_text,
    p_value,
    paper_accuracy,
    percent,
    points,
    published,
    published_names,
    require,
    row,
    scored,
    several,
    share,
    shorten,
    size_note,
    span,
    status_note,
    tell_apart,
    times,
    to_latex,
    to_markdown,
    whole,
)

# Notation.


@pytest.mark.parametrize(
    ("made", "text"),
    [
        *((decimal(None), "–"), (decimal(-1.25), "−1.2"), (decimal(-0.04), "0.0")),
        *((decimal(1234.56), "1,234.6"), (decimal(-1234.56), "−1,234.6")),
        *(
            (whole(1234.5), "1,234"),
            (whole(None), "–"),
            (times(1.005), "1.00×"),
            (times(None), "–"),
        ),
        *(
            (percent(0.6323, 2), "63.23 %"),
            (percent(None), "–"),
            (share(834, 1319), "834 (63.2 %)"),
        ),
        *((share(0, 0), "–"), (counted(834, 1319), "834 / 1,319"), (interval(None), "")),
        *((span(2, 2), "2"), (span(1, 4), "1–4"), (scored(-1.0, (-2.0, 0.04)), "−1.0 [−2.0, 0.0]")),
        *((several(1, "bar"), "1 bar"), (several(1200, "box", "boxes"), "1,200 boxes")),
        *(
            (points(0.04), "0.0"),
            (points(-3.25), "−3.2"),
            (points(3.0), "+3.0"),
            (points(None), "–"),
        ),
    ],
)
def test_notation(made: str, text: str) -> None:
    assert made == text


@pytest.mark.parametrize(
    ("value", "people", "programs"),
    [
        *((None, "–", "–"), (1.0, "1", "1"), (0.9961, "1", "0.9961"), (0.5, "0.50", "0.50")),
        *((0.25, "0.25", "0.25"), (0.034, "0.03", "0.034"), (0.0123, "0.01", "0.0123")),
        *((0.0078125, "0.008", "0.0078"), (0.001, "0.001", "0.001")),
        *((6.9e-5, "< 0.001", "6.9e-05"), (4.7e-43, "< 0.001", "4.7e-43")),
        *((0.0, "< 0.001", "< 1e-300"), (0.05, "0.05", "0.05"), (0.049, "0.049", "0.049")),
        *((0.0496, "0.0496", "0.0496"), (0.0512, "0.051", "0.0512")),
    ],
)
def test_p_values(value: float | None, people: str, programs: str) -> None:
    assert (p_value(value), exact_p(value)) == (people, programs)


# Extra.


@pytest.mark.parametrize("name", REPORT)
def test_a_library_that_is_missing_is_named_with_the_way_to_get_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    require(*REPORT)
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtra, match=rf"{name}: pip install 'constraint-first\[report\]'"):
        require(*REPORT)


# Table.

TABLE = Table(
    "demo",
    "Accuracy of a_b & c",
    (Column("Method", "left"), Column("Acc.", group="AIME24"), Column("Tokens", group="AIME24")),
    (
        row("Model <x>", kind="heading"),
        row("Direct CoT", Cell("90.8", bold=True), "1.00×"),
        row("Δ", Cell("−1.2 [−3.0, 0.4]", tone="loss"), "–", kind="delta"),
    ),
    ("Half of 100 % is 50 %.",),
    ("tab:demo",),
)


def test_markdown_and_latex(golden: Golden) -> None:
    assert f"{to_markdown(TABLE)}\n{to_latex(TABLE)}" == golden("table.txt")


@given(st.text())
def test_no_text_breaks_out_of_a_cell(text: str) -> None:
    table = Table("t", "T", (Column("a"), Column("b")), (row(text, "end"),))
    lines = to_markdown(table).splitlines()
    (body,) = [line for line in lines if line.endswith("| end |")]
    assert body.replace("\\\\", "").replace("\\|", "").count("|") == 3
    assert "<" not in body
    latex = to_latex(table)
    assert latex.count(r"\begin{") == 2
    unescaped = latex.replace(r"\&", "").replace(r"\%", "").replace(r"\$", "").replace(r"\#", "")
    assert "%" not in unescaped
    assert "#" not in unescaped


@pytest.mark.parametrize(
    "text", ["# x", "> x", "- x", "+ x", "1. x", "2) x", "~~~", "```", "[x]: http://e", "***"]
)
def test_no_text_opens_a_block_of_markdown(text: str) -> None:
    assert "\\" in markdown_text(text)[:3]
    for one in ("1.00×", "+5.0 [1.0, 9.0]", "−3.2", "-x"):
        assert markdown_text(one) == one


def test_control_codes_and_half_characters_are_shown() -> None:
    hostile = "a\x1b[31m\u202eb\ud800"
    table = Table("t", "T", (Column("a"),), (row(hostile),))
    for text in (to_markdown(table), to_latex(table)):
        assert "\x1b" not in text
        text.encode("utf-8")
    assert "\N{REPLACEMENT CHARACTER}" not in to_latex(table)  # pdflatex stops at it


def test_a_latex_row_never_begins_with_an_option() -> None:
    table = Table("t", "T", (Column("a"),), (row("[9cm]"), row("*")))
    assert "{}[9cm] " in to_latex(table)
    assert "{}* " in to_latex(table)


# Note.


def test_attempts_by_how_they_ended() -> None:
    assert status_note(two_benchmarks().arms) == (
        "Of 26 attempts: 0 truncated (0.0 %), 1 unparsed (3.8 %), 0 failed (0.0 %); failed ones "
        "are not scored."
    )
    assert "1 failed (100.0 %)" in status_note([arm("direct", {"1": "?"})])
    assert status_note([]) == "No attempts."


def test_problems_and_runs_of_each_benchmark() -> None:
    parts = by_model(study(*two_benchmarks().arms, arm("direct", {"1": "+"}, benchmark="")))
    assert size_note(parts) == "Problems × runs: AIME24 4 × 2, AIME25 1 × 1, all 1 × 1."
    uneven = by_model(study(arm("direct", {"1": "++"}), arm("cfr", {"1": "+", "2": "+"})))
    assert size_note(uneven) == "Problems × runs: set 1 × 2 or 2 × 1."


# Gain.


def test_a_gain_is_coloured_only_where_zero_is_outside() -> None:
    assert gain_cell(None) == delta(None) == Cell("–")
    assert gain_cell(Gain(5.0, (1.0, 9.0), 9)) == Cell("+5.0 [1.0, 9.0]", tone="gain")
    assert gain_cell(Gain(-5.0, (-9.0, -1.0), 9)) == Cell("−5.0 [−9.0, −1.0]", tone="loss")
    assert gain_cell(Gain(5.0, (-1.0, 9.0), 9)) == Cell("+5.0 [−1.0, 9.0]")
    assert gain_cell(Gain(50.0, None, 1)) == Cell("+50.0")
    assert gain_cell(Gain(0.001, None, 1)) == Cell("0.0")
    assert delta(-2.0, (-4.0, 0.0)) == Cell("−2.0 [−4.0, 0.0]")  # zero is an end


def test_nothing_to_compare_is_said_in_words() -> None:
    assert absent("direct") == "There is direct alone: nothing to compare it with."
    assert absent("cfr", "base").startswith("cfr and base share no judged problem")


# Decoding.

COLD = '{"temperature":0.2,"top_p":0.95,"seed":null}'
WARM = '{"temperature":0.7,"top_p":0.95,"seed":null}'
SEEDED = '{"temperature":0.7,"top_p":0.95,"seed":101}'


def test_decodings_are_named_by_what_differs_or_in_words() -> None:
    assert tell_apart([COLD, WARM]) == {COLD: "Temperature 0.2", WARM: "Temperature 0.7"}
    assert tell_apart([WARM, SEEDED]) == {WARM: "No seed", SEEDED: "Seed 101"}
    assert tell_apart([COLD, SEEDED])[SEEDED] == "Temperature 0.7, Seed 101"
    assert tell_apart([WARM, WARM]) == {WARM: ""}
    assert describe_decoding(SEEDED) == "temperature 0.7, top-p 0.95, seed 101"
    assert describe_decoding("{}") == ""
    assert (shorten("a\nb"), shorten("x" * 90)) == ("“a b”", f"“{'x' * 40}…”")


# Published.

REPOSITORY = Path(__file__).parents[2]


@pytest.mark.parametrize("name", published_names())
def test_a_table_is_rectangular_and_can_be_written(name: str) -> None:
    table = published(name)
    assert table.label
    assert table.rows
    assert len(set(table.columns)) == len(table.columns)
    assert {len(row) for row in table.rows} == {len(table.columns)}
    assert {type(value) for row in table.rows for value in row} <= {int, Decimal, str}
    assert to_markdown(table.to_table()).count("\n|") == len(table.rows) + 2
    assert to_latex(table.to_table()).endswith("\\end{table}\n")


@pytest.mark.parametrize("name", published_names())
def test_names_are_the_projects(name: str) -> None:
    models = {preset.label for preset in presets().values()}
    known = {
        "model": models | {"Qwen3-1.7B", "Qwen3-4B-Thinking-2507", "Qwen3-8B"},
        "method": {make(method).label for method in METHODS} | {"Δ", "—", "CFR"},
        "benchmark": {e.label for e in entries().values()} | {"AIME Avg.", "AIME24–26 pooled"},
    }
    table = published(name)
    for line in table.rows:
        for title, value in zip(table.columns, line, strict=True):
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


def test_an_unknown_name_gets_a_way_out() -> None:
    with pytest.raises(PublishedError, match=r"'robustnes'.*did you mean 'robustness'\?"):
        published("robustnes")
    with pytest.raises(PublishedError, match="choose from additional, api-settings"):
        published("../models")


def test_the_experiments_folder_has_the_same_files() -> None:
    folder = REPOSITORY / "experiments" / "paper"
    assert tuple(sorted(path.stem for path in folder.glob("*.toml"))) == published_names()
