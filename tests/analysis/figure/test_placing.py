from __future__ import annotations

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from constraint_first.report.canvas import Box, Room, place

ROOM = Box(0, 0, 6, 4)
spots = st.tuples(st.floats(0.1, 5.9), st.floats(0.1, 3.9))


def test_boxes_that_touch_do_not_overlap() -> None:
    box = Box(0, 0, 1, 1)
    assert not box.meets(Box(1, 0, 2, 1))
    assert box.meets(Box(0.9, 0.9, 2, 2))
    assert box.within(ROOM)
    assert not Box(-1, 0, 1, 1).within(ROOM)


@settings(max_examples=25, deadline=None)
@given(st.lists(spots, min_size=1, max_size=12))
def test_labels_keep_clear_of_each_other_and_of_all_marks(
    marks: list[tuple[float, float]],
) -> None:
    taken = tuple(Box.around(x, y, 0.06, 0.06) for x, y in marks)
    labels = [(f"label {number}", mark) for number, mark in enumerate(marks)]
    placed = [spot.box for spot in place(labels, Room(ROOM, taken), 8) if spot]
    assert all(box.within(ROOM) for box in placed)
    assert not any(
        one.meets(other) for one, other in combinations([*placed, *taken], 2) if one in placed
    )


def test_a_label_avoids_lines_where_it_can() -> None:
    line = Box(1.0, 2.0, 3.0, 2.0)
    free, _ = place([("label", (1.0, 2.0)), ("other", (5.0, 3.0))], Room(ROOM, (), (line,)), 8)
    assert free
    assert not free.box.meets(line)


def test_without_room_there_is_no_place() -> None:
    assert place([("label", (0.1, 0.1))], Room(Box(0, 0, 0.2, 0.2)), 8) == [None]
