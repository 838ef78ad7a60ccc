import pytest

from cfr.analysis.number import counted, decimal, gain_cell, interval, percent, share
from cfr.analysis.subset import Gain
from cfr.analysis.table import Cell


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (-1.25, "−1.2"), (-0.04, "0.0"), (1234.56, "1,234.6"), (-1234.56, "−1,234.6")],
)
def test_decimals(value: float | None, text: str) -> None:
    assert decimal(value) == text


def test_shares() -> None:
    assert percent(0.6323, 2) == "63.23%"
    assert percent(None) == "–"
    assert share(834, 1319) == "834 (63.2%)"
    assert share(0, 0) == "–"
    assert counted(834, 1319) == "834 / 1,319"
    assert interval(None) == ""


def test_a_gain_is_coloured_only_where_zero_is_outside() -> None:
    assert gain_cell(None) == Cell("–")
    assert gain_cell(Gain(5.0, (1.0, 9.0), 9)) == Cell("+5.0 [1.0, 9.0]", tone="gain")
    assert gain_cell(Gain(-5.0, (-9.0, -1.0), 9)) == Cell("−5.0 [−9.0, −1.0]", tone="loss")
    assert gain_cell(Gain(5.0, (-1.0, 9.0), 9)) == Cell("+5.0 [−1.0, 9.0]")
    assert gain_cell(Gain(50.0, None, 1)) == Cell("+50.0")
    assert gain_cell(Gain(0.001, None, 1)) == Cell("0.0")
