from __future__ import annotations

import math

from pictures import HOSTILE, check, found, words

from constraint_first.report.canvas import Estimate
from constraint_first.report.exhibit.stage1 import CategoryBar, draw_categories

ROWS = [
    CategoryBar("Domain", 1.0, Estimate(5.2, (2.0, 9.0)), 90),
    CategoryBar("Modular", 0.63, Estimate(8.7), 57),
    CategoryBar("Structure", 0.18, None, 0),
]


def test_shares_and_gains_have_their_own_panels() -> None:
    figure = check(draw_categories(ROWS))
    assert len(found(figure, "share")) == 3
    assert len(found(figure, "gain")) == 2
    assert len(found(figure, "interval")) == 1
    assert {"100 %", "63 %", "18 %", "+5.2", "+8.7", "–", "57"} <= {*words(figure)}
    assert figure.paper == ("fig:constraint-categories",)
    assert "Nothing to compare in 1 category." in figure.notes
    assert "Modular 63 % (+8.7) and Structure 18 %." in figure.alt


def test_gains_are_not_multiplied() -> None:
    figure = check(draw_categories(ROWS))
    assert "52" not in words(figure)
    assert not any("× 10" in word for word in words(figure))


def test_nothing_to_draw_is_no_figure() -> None:
    assert draw_categories([]) is None
    assert draw_categories([CategoryBar("a", math.nan)]) is None


def test_hostile_names_single_rows_and_missing_gains() -> None:
    check(
        draw_categories([CategoryBar(name, 0.5, Estimate(-1.0, (-2.0, 0.0))) for name in HOSTILE])
    )
    check(draw_categories([CategoryBar("x" * 60, 0.0)]))


def test_the_same_rows_give_the_same_bytes() -> None:
    assert draw_categories(ROWS) == draw_categories(ROWS)
