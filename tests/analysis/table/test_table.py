import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.report.table import (
    Cell,
    Column,
    Table,
    group_spans,
    markdown_text,
    row,
    to_latex,
    to_markdown,
)

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


def test_markdown() -> None:
    assert to_markdown(TABLE) == (
        "**Accuracy of a\\_b &amp; c**\n\n"
        "| Method | AIME24: Acc. | AIME24: Tokens |\n"
        "| :-- | --: | --: |\n"
        "| Model &lt;x> |  |  |\n"
        "| Direct CoT | **90.8** | 1.00× |\n"
        "| Δ | −1.2 [−3.0, 0.4] | – |\n\n"
        "Half of 100 % is 50 %.\n"
    )


def test_latex() -> None:
    text = to_latex(TABLE)
    for line in (
        r"\begin{tabular}{lrr}",
        r"\multicolumn{1}{c}{\textbf{}} & \multicolumn{2}{c}{\textbf{AIME24}} \\",
        r"\cmidrule(lr){2-3}",
        r"\multicolumn{3}{c}{\textbf{Model \textless{}x\textgreater{}}} \\",
        r"Direct CoT & \textbf{90.8} & 1.00$\times$ \\",
        r"$\Delta$ & $-$1.2 [$-$3.0, 0.4] & -- \\",
        r"\caption{Accuracy of a\_b \& c. Half of 100 \% is 50 \%.}",
        r"\label{tab:demo}",
    ):
        assert line in text.splitlines(), line


def test_columns_that_share_a_heading() -> None:
    assert group_spans(TABLE.columns) == [(0, 0, ""), (1, 2, "AIME24")]


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


def test_numbers_and_brackets_stay_as_they_are() -> None:
    for text in ("1.00×", "+5.0 [1.0, 9.0]", "−3.2", "-x"):
        assert markdown_text(text) == text


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
