from constraint_first.report.comparison import Gain
from constraint_first.report.table import Cell, absent, delta, gain_cell


def test_a_gain_is_coloured_only_where_zero_is_outside() -> None:
    assert gain_cell(None) == Cell("–")
    assert gain_cell(Gain(5.0, (1.0, 9.0), 9)) == Cell("+5.0 [1.0, 9.0]", tone="gain")
    assert gain_cell(Gain(-5.0, (-9.0, -1.0), 9)) == Cell("−5.0 [−9.0, −1.0]", tone="loss")
    assert gain_cell(Gain(5.0, (-1.0, 9.0), 9)) == Cell("+5.0 [−1.0, 9.0]")
    assert gain_cell(Gain(50.0, None, 1)) == Cell("+50.0")
    assert gain_cell(Gain(0.001, None, 1)) == Cell("0.0")


def test_a_difference_of_nothing() -> None:
    assert delta(None) == Cell("–")
    assert delta(-2.0, (-4.0, 0.0)) == Cell("−2.0 [−4.0, 0.0]")  # zero is an end


def test_nothing_to_compare_is_said_in_words() -> None:
    assert absent("direct") == "There is direct alone: nothing to compare it with."
    assert absent("cfr", "base").startswith("cfr and base share no judged problem")
