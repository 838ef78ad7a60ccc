from collections.abc import Callable
from dataclasses import replace

import pytest

from constraint_first.report.exhibit.marks import (
    ErrorLabel,
    Judged,
    Label,
    Mark,
    annotator_table,
    error_annotator_table,
    manual_audit_table,
)
from constraint_first.report.table import Table, to_latex, to_markdown


def label(marks: list[Mark | None], by: str = "ada", model: str = "m") -> Label:
    constraints = tuple(Judged("C", "raw", mark) for mark in marks)
    return Label(by, ("b", "cfr", model, "{}", "p0", 0), constraints)


def texts(table: Table) -> list[list[str]]:
    return [[cell.text for cell in row.cells] for row in table.rows]


def test_the_rates_as_a_table() -> None:
    marks: list[Mark | None] = ["entailed", "entailed", "not_entailed", "vague"]
    table = manual_audit_table([label(marks), label(["entailed"], model="n")])
    assert (table.name, table.paper) == ("manual-extraction", ("tab:extraction-reliability",))
    assert texts(table)[0][:7] == ["m", "1", "4.00", "0.00", "4", "50.0 [15.0, 85.0]", "–"]
    assert [row[0] for row in texts(table)] == ["m", "n", "all"]
    assert {len(row) for row in texts(table)} == {len(table.columns)}
    assert "mean of their marks" not in " ".join(table.notes)


def test_what_a_reader_must_know_is_said() -> None:
    labels = [label(["entailed"]), label(["vague"], "ben"), label([None], "cy")]
    notes = " ".join(manual_audit_table(labels).notes)
    assert "counts once, as the mean of their marks" in notes
    assert "Begun, not finished and left out: 1 attempt." in notes


def test_a_preset_has_its_label() -> None:
    table = manual_audit_table([label(["vague"], model="qwen2.5-coder-1.5b-instruct")])
    assert texts(table)[0][0] == "Qwen2.5-Coder-1.5B-Instruct"


def test_agreement_as_a_table() -> None:
    labels = [label(["entailed"]), label(["entailed"], "ben"), label(["vague"], "cy")]
    table = annotator_table(labels)
    assert texts(table) == [
        ["ada, ben", "1", "1", "100.0 %", "–"],
        ["ada, cy", "1", "1", "0.0 %", "0.00"],
        ["ben, cy", "1", "1", "0.0 %", "0.00"],
    ]
    reason = "ada and ben: κ is not defined, both marked every constraint entailed."
    assert table.notes == (reason,)
    assert annotator_table(labels[:1]).notes == ("Agreement needs two annotators.",)


@pytest.mark.parametrize("write", [to_markdown, to_latex])
def test_both_tables_can_be_written(write: Callable[[Table], str]) -> None:
    for table in (manual_audit_table([label(["vague"])]), annotator_table([label(["vague"])])):
        assert table.title in write(table)


def test_agreement_on_errors_has_a_table_of_its_own() -> None:
    one = ErrorLabel("ada", "set", "p", "cfr", "x", "out_of_range")
    table = error_annotator_table([one, replace(one, annotator="ben", mistake="other")])
    assert [cell.text for cell in table.rows[0].cells] == ["ada, ben", "1", "0.0 %", "0.00"]
    assert [column.title for column in table.columns][1] == "Errors"
    assert error_annotator_table([one]).notes == ("Agreement needs two annotators.",)
