from __future__ import annotations

from itertools import pairwise

import pytest

from constraint_first.report.canvas import WIDTH, Band, NumberColumn, Rows


def test_lanes_keep_apart_and_labels_stand_beside_theirs() -> None:
    rows = Rows([Band("a", 3), Band("a long label " * 5), Band("c", 2)])
    assert len(rows.lanes) == 6
    assert all(after - before > 0.19 for before, after in pairwise(rows.lanes))
    beside = [rows.lanes[1], rows.lanes[3], sum(rows.lanes[4:]) / 2]
    assert rows.centres == pytest.approx(beside)
    assert rows.lanes[-1] < rows.height


def test_long_labels_and_columns_leave_room_for_the_scale() -> None:
    columns = [NumberColumn("interval", ("−100.0 to +100.0",)), NumberColumn("n", ("1,000,000",))]
    rows = Rows([Band("W" * 60)], columns)
    assert 0 < rows.left < rows.right < WIDTH
    assert rows.right - rows.left > 1.5
