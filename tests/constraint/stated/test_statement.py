from __future__ import annotations

import pytest

from cfr.constraint.demand import integer
from cfr.constraint.stated import Stated, check_stated

WHOLE = Stated("domain", integer(), (0, 8), "The answer is an integer.")


@pytest.mark.parametrize(
    ("answer", "truth"),
    [("12", "holds"), ("1.5", "violated"), ("no idea", "undecided"), ("B", "undecided")],
)
def test_an_answer_is_checked(answer: str, truth: str) -> None:
    assert check_stated([WHOLE], answer) == ((WHOLE, truth),)
