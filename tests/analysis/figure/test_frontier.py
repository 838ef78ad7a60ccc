from __future__ import annotations

import math
import random

from hypothesis import given
from hypothesis import strategies as st
from pictures import HOSTILE, check, found, ids, words

from cfr.analysis.figure.frontier import FrontierPoint, frontier, pareto

POINTS = pareto(
    [
        FrontierPoint("Direct CoT", 2100, 0.52, 0.45, 0.60),
        FrontierPoint("Routed-CFR", 3400, 0.58, 0.50, 0.66),
        FrontierPoint("Self-Refine", 6100, 0.55),
        FrontierPoint("Majority vote", 26000, 0.60, 0.52, 0.68),
    ]
)
numbers = st.builds(
    FrontierPoint, st.just("m"), st.integers(1, 6), st.sampled_from([0.0, 0.5, 1.0])
)


def test_marks_who_is_on_the_frontier() -> None:
    assert [point.on_frontier for point in POINTS] == [True, True, False, True]


@given(st.lists(numbers, max_size=12))
def test_the_frontier_is_what_nothing_beats(points: list[FrontierPoint]) -> None:
    marked = pareto(points)
    assert [(p.tokens, p.accuracy) for p in marked] == [(p.tokens, p.accuracy) for p in points]
    best = {
        tokens: max(p.accuracy for p in points if p.tokens <= tokens)
        for tokens in range(1, 7)
        if any(p.tokens <= tokens for p in points)
    }
    for point in marked:
        cheapest = min(p.tokens for p in points if p.accuracy >= point.accuracy)
        expected = point.accuracy == best[int(point.tokens)] and point.tokens == cheapest
        assert point.on_frontier == expected


def test_points_intervals_labels_and_the_line_are_drawn() -> None:
    figure = check(frontier(POINTS))
    assert len(found(figure, "point")) == 4
    assert len(found(figure, "interval")) == 3
    assert len(found(figure, "label")) == 4
    assert "frontier-frontier-line" in ids(figure)
    assert {"Direct CoT", "Routed-CFR", "Self-Refine", "Majority vote"} <= {*words(figure)}
    assert "Routed-CFR (58 %, 3.4k)" in figure.alt


def test_a_wide_range_of_tokens_has_a_logarithmic_scale() -> None:
    assert {"2k", "5k", "10k", "20k"} <= {*words(check(frontier(POINTS)))}
    assert "10k" not in words(check(frontier(POINTS[:3])))


def test_nothing_to_draw_is_no_figure() -> None:
    assert frontier([]) is None
    assert frontier([FrontierPoint("a", math.nan, 0.5)]) is None


def test_odd_points() -> None:
    check(frontier([FrontierPoint("only", 0, 0.5)]))
    check(frontier(pareto([FrontierPoint("same", 100, 0.5, 0.5, 0.5)] * 5)))
    check(frontier(pareto([FrontierPoint(name, 10, 0.1) for name in HOSTILE])))
    left_out = check(frontier([FrontierPoint("a", 10, 0.1), FrontierPoint("b", math.inf, 0.1)]))
    assert "Not drawn, for want of a number: 1 point." in left_out.notes


def test_labels_without_room_are_named_in_a_note() -> None:
    figure = check(frontier([FrontierPoint(f"crowded {n}", 100, 0.5) for n in range(150)]))
    shown = len(found(figure, "label"))
    assert 0 < shown < 150
    assert any(note.startswith("Without room for a label: ") for note in figure.notes)


def test_the_same_points_give_the_same_bytes() -> None:
    draw = random.Random(1)
    points = pareto(
        [FrontierPoint(f"m{n}", draw.uniform(500, 50000), draw.random()) for n in range(25)]
    )
    assert frontier(points) == frontier(points)
