from __future__ import annotations

import math
import random

from pictures import HOSTILE, check, found, ids, words

from constraint_first.report.canvas import Estimate
from constraint_first.report.exhibit.cost import FrontierPoint, draw_frontier, pareto

POINTS = [
    FrontierPoint("Direct CoT", 2100, Estimate(52, (45, 60)), on_frontier=True),
    FrontierPoint("Routed-CFR", 3400, Estimate(58, (50, 66)), on_frontier=True),
    FrontierPoint("Self-Refine", 6100, Estimate(55)),
    FrontierPoint("Majority vote", 26000, Estimate(60, (52, 68)), on_frontier=True),
]


def test_points_intervals_labels_and_the_line_are_drawn() -> None:
    figure = check(draw_frontier(POINTS))
    assert len(found(figure, "point")) == 4
    assert len(found(figure, "interval")) == 3
    assert len(found(figure, "label")) == 4
    assert "frontier-frontier-line" in ids(figure)
    assert {"Direct CoT", "Routed-CFR", "Self-Refine", "Majority vote"} <= {*words(figure)}
    assert "Routed-CFR (58 %, 3.4k)" in figure.alt


def test_a_wide_range_of_tokens_has_a_logarithmic_scale() -> None:
    assert {"2k", "5k", "10k", "20k"} <= {*words(check(draw_frontier(POINTS)))}
    assert "10k" not in words(check(draw_frontier(POINTS[:3])))


def test_nothing_to_draw_is_no_figure() -> None:
    assert draw_frontier([]) is None
    assert draw_frontier([FrontierPoint("a", math.nan, Estimate(50))]) is None


def test_odd_points() -> None:
    check(draw_frontier([FrontierPoint("only", 0, Estimate(50))]))
    check(draw_frontier([FrontierPoint("same", 100, Estimate(50, (50, 50)), on_frontier=True)] * 5))
    check(
        draw_frontier([FrontierPoint(name, 10, Estimate(10), on_frontier=True) for name in HOSTILE])
    )
    left_out = check(
        draw_frontier(
            [FrontierPoint("a", 10, Estimate(10)), FrontierPoint("b", math.inf, Estimate(10))]
        )
    )
    assert "Not drawn, for want of a number: 1 point." in left_out.notes


def test_labels_without_room_are_named_in_a_note() -> None:
    figure = check(
        draw_frontier([FrontierPoint(f"crowded {n}", 100, Estimate(50)) for n in range(150)])
    )
    shown = len(found(figure, "label"))
    assert 0 < shown < 150
    assert any(note.startswith("Without room for a label: ") for note in figure.notes)


def test_the_same_points_give_the_same_bytes() -> None:
    draw = random.Random(1)
    spots = [(draw.uniform(500, 50000), 100 * draw.random()) for _ in range(25)]
    points = [
        FrontierPoint(f"m{number}", tokens, Estimate(accuracy), on_frontier)
        for number, ((tokens, accuracy), on_frontier) in enumerate(
            zip(spots, pareto(spots), strict=True)
        )
    ]
    assert draw_frontier(points) == draw_frontier(points)
