from __future__ import annotations

import math

from pictures import HOSTILE, check, found, words

from constraint_first.report.canvas import GAIN, LOSS, Caption, Estimate
from constraint_first.report.exhibit.gains import ForestRow, draw_forest

PAIRED = Caption("paired", "Paired comparisons")
ROWS = [
    ForestRow("Routed-CFR", Estimate(5.2, (1.0, 9.4)), 90, 0.0004, significant=True),
    ForestRow("Plan-and-Solve", Estimate(-6.0, (-9.0, -3.0)), 120, 0.012, significant=True),
    ForestRow("Self-Refine", Estimate(0.0, (0.0, 0.0)), 30, 1.0),
    ForestRow("New", Estimate(2.0)),
]


def test_every_comparison_has_a_mark() -> None:
    figure = check(draw_forest(ROWS, PAIRED))
    assert len(found(figure, "mark")) == 4
    assert len(found(figure, "interval")) == 3
    assert {"+5.2", "+1.0 to +9.4", "90", "< 0.001", "0.01", "–"} <= {*words(figure)}
    assert "2 of 4 significant after correction" in figure.alt
    assert "Without an interval: 1 comparison." in figure.notes


def test_only_what_stands_after_correction_is_filled() -> None:
    fills = [
        {part.get("fill", "").upper() for part in mark.iter()} - {""}
        for mark in found(check(draw_forest(ROWS, PAIRED)), "mark")
    ]
    assert fills == [{GAIN}, {LOSS}, {"NONE"}, {"NONE"}]


def test_nothing_to_draw_is_no_figure() -> None:
    assert draw_forest([], PAIRED) is None
    assert draw_forest([ForestRow("a", Estimate(math.nan))], PAIRED) is None


def test_many_rows_and_hostile_labels() -> None:
    rows = [
        ForestRow(name, Estimate(n - 20.0, (n - 25.0, n - 15.0)), n)
        for n, name in enumerate(HOSTILE * 3)
    ]
    assert len(found(check(draw_forest(rows, PAIRED)), "mark")) == len(rows)


def test_the_same_rows_give_the_same_bytes() -> None:
    assert draw_forest(ROWS, PAIRED) == draw_forest(ROWS, PAIRED)
