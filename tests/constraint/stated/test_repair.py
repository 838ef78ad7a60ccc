from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfr.constraint.stated import read_stated, repair

REMAINDER = read_stated("Find the remainder when $7^{100}$ is divided by $1000$.")
SUM = read_stated(
    r"It is $\frac{m}{n}$, where $m$ and $n$ are coprime positive integers. Find $m+n$."
)
OTHER_SUM = read_stated(r"Let $a$ and $b$ be positive integers with $ab=6$. Find $a+b$.")


@pytest.mark.parametrize(
    ("stated", "answer", "mended"),
    [
        (REMAINDER, "2001", "1"),
        (REMAINDER, "-1", "999"),
        (REMAINDER, "999", None),
        (REMAINDER, "1/2", None),
        (SUM, "3/7", "10"),
        (SUM, r"\frac{3}{7}", "10"),
        (SUM, "6/14", None),
        (SUM, "-3/7", None),
        (SUM, "0.3", None),
        (SUM, "10", None),
        (OTHER_SUM, "3/2", None),
        ((), "3/7", None),
    ],
)
def test_only_a_certain_repair_is_made(stated: tuple[()], answer: str, mended: str | None) -> None:
    assert repair(stated, answer) == mended


@given(st.text(max_size=30))
def test_any_answer_can_be_given(answer: str) -> None:
    repair((*REMAINDER, *SUM), answer)
