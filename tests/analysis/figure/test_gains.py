from __future__ import annotations

import math
import re
from xml.etree import ElementTree

from pictures import HOSTILE, check, found, ids, words

from constraint_first.report.canvas import Caption, Estimate
from constraint_first.report.exhibit.gains import APPLICABILITY, BY_MODEL, GainBar, draw_gains

BARS = [
    GainBar("Qwen3.5-9B", "AIME", Estimate(8.9, (3.1, 14.8)), 90),
    GainBar("Qwen3.5-9B", "CMIMC", Estimate(2.5, (-1.2, 6.1)), 40),
    GainBar("JustRL-1.5B", "AIME", Estimate(-3.6), 1200),
]


def test_every_bar_and_interval_is_drawn() -> None:
    figure = check(draw_gains(BARS))
    assert len(found(figure, "bar")) == 3
    assert len(found(figure, "interval")) == 2
    assert len(found(figure, "key")) == 2
    assert {"+8.9", "+2.5", "−3.6", "90", "1,200", "Qwen3.5-9B", "AIME"} <= {*words(figure)}
    assert figure.paper == ("fig:gains-by-model",)
    assert "from −3.6 (JustRL-1.5B, AIME) to +8.9 (Qwen3.5-9B, AIME)" in figure.alt
    assert "Without an interval: 1 bar." in figure.notes


def test_bars_are_as_long_as_their_gains() -> None:
    figure = check(
        draw_gains(
            [
                GainBar("a", "", Estimate(2.0)),
                GainBar("b", "", Estimate(4.0)),
                GainBar("c", "", Estimate(-1.0)),
            ]
        )
    )
    ends = [_ends(element) for element in found(figure, "bar")]
    lengths = [right - left for left, right in ends]
    assert abs(lengths[1] / lengths[0] - 2) < 0.01
    assert abs(lengths[0] / lengths[2] - 2) < 0.01
    assert abs(ends[0][0] - ends[2][1]) < 0.05


def _ends(bar: ElementTree.Element) -> tuple[float, float]:
    across = [float(x) for x in re.findall(r"[ML](-?[\d.]+) ", bar[0].attrib["d"])]
    return min(across), max(across)


def test_nothing_to_draw_is_no_figure() -> None:
    assert draw_gains([]) is None
    assert draw_gains([GainBar("a", "b", Estimate(math.nan))]) is None


def test_what_is_no_number_is_left_out_and_said() -> None:
    figure = check(draw_gains([*BARS, GainBar("d", "AIME", Estimate(math.inf))]))
    assert len(found(figure, "bar")) == 3
    assert "Not drawn, for want of a number: 1 bar." in figure.notes
    assert "inf" not in figure.svg


def test_hostile_names_are_drawn_as_text() -> None:
    bars = [
        GainBar(name, other, Estimate(1.0, (0, 2)))
        for name, other in zip(HOSTILE, HOSTILE[::-1], strict=True)
    ]
    figure = check(draw_gains(bars))
    assert "<script" not in figure.svg
    assert r"$\frac{1}{2}$" in words(figure)


def test_many_bars_and_a_single_one() -> None:
    bars = [
        GainBar(f"group {n // 4}", f"series {n % 10}", Estimate(n - 20, (n - 30, n)))
        for n in range(40)
    ]
    assert len(found(check(draw_gains(bars)), "bar")) == 40
    assert len(found(check(draw_gains([GainBar("a", "", Estimate(0.0))])), "bar")) == 1


def test_an_interval_may_lie_beside_its_value() -> None:
    figure = check(draw_gains([GainBar("a", "", Estimate(5.0, (6.0, 9.0)), 3)]))
    assert len(found(figure, "interval")) == 1


def test_the_same_bars_give_the_same_bytes() -> None:
    assert draw_gains(BARS) == draw_gains(BARS)


def test_two_figures_on_a_page_share_no_id() -> None:
    one, other = check(draw_gains(BARS, BY_MODEL)), check(draw_gains(BARS, APPLICABILITY))
    assert not {*ids(one)} & {*ids(other)}
    third = check(draw_gains(BARS, Caption("gains", "Gains")))
    assert not {*ids(one)} & {*ids(third)}
