from __future__ import annotations

import pytest

from constraint_first.constraint.predicate import integer
from constraint_first.constraint.stated.read import read_stated
from constraint_first.constraint.stated.statement import Stated, check_stated

WHOLE = Stated("domain", integer(), (0, 8), "The answer is an integer.")


@pytest.mark.parametrize(
    ("answer", "truth"),
    [("12", "holds"), ("1.5", "violated"), ("no idea", "undecided"), ("B", "undecided")],
)
def test_an_answer_is_checked(answer: str, truth: str) -> None:
    assert check_stated([WHOLE], answer) == ((WHOLE, truth),)


def test_a_probability_in_percent_is_not_judged() -> None:
    (chance,) = read_stated("What is the probability that it rains?")
    assert check_stated([chance], "30%") == ((chance, "undecided"),)
    assert check_stated([chance], "30") == ((chance, "violated"),)
