from constraint_first.report.canvas import Figure
from constraint_first.report.report import Section, left_out
from constraint_first.report.table import Column, Table, row

FULL = Table("full", "Full", (Column("n"),), (row("1"),))
EMPTY = Table("empty", "Empty", (Column("n"),), (), ("Nobody ran it.",))
OTHER = Table("other", "Other", (Column("n"),), (), ("Nobody ran it.",))
PAPER = Table("paper-x", "X (paper)", (Column("n"),), (row("2"),))
FIGURE = Figure("f", "F", "Bars.", "<svg/>", b"")


def test_a_section_is_empty_without_a_row_or_a_figure() -> None:
    assert Section("s", "S", ("Said.",), (EMPTY,), published=(PAPER,)).empty
    assert not Section("s", "S", tables=(EMPTY, FULL)).empty
    assert not Section("s", "S", figures=(FIGURE,)).empty


def test_what_is_left_out_is_said_once_for_each_reason() -> None:
    sections = (
        Section("verdict", "First", ("No verdict.",)),
        Section("a", "A", ("A claim.",), (FULL, EMPTY), published=(PAPER,)),
        Section("b", "B", ("Not measured.",), (OTHER,), published=(PAPER,)),
    )
    found = left_out(sections, keep="verdict")
    assert found.claims == ("Empty; Other: Nobody ran it.", "B: Not measured.")
    assert found.published == (PAPER,)  # that of B: A has its own place
    assert left_out(sections[:1], keep="verdict").claims == ()
