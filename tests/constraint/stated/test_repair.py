from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.constraint.stated.read import read_stated
from constraint_first.constraint.stated.repair import repair
from constraint_first.method.soundness import broken, stated_in
from constraint_first.problem import Problem

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


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        # Two divisors: which one the answer belongs to is not certain.
        ("Find the remainder when the remainder of 999 divided by 70 is divided by 9.", "79"),
        ("Find the remainder when the quotient of 100 divided by 7 is multiplied by 3.", "42"),
        ("Find the remainder when 100 is divided by 7. Then multiply it by 10.", "20"),
        ("What are the last two nonzero digits of 20!?", "640"),
        ("Compute the last three digits of $7^{100}$.", "2001"),
        ("Find 3^5 mod 7.", "243"),
        # Two fractions, or letters of another one.
        (
            r"Let $\frac{a}{b}$ be given and $\frac{m}{n}$ its square, where $m$ and $n$ are "
            "coprime positive integers. Find $m+n$.",
            "3/7",
        ),
        ("How many bills of 20 dollars make 600 dollars?", "30.5"),
        ("What is 7.256 to the nearest tenth?", "7.256"),
    ],
)
def test_nothing_is_repaired_where_the_words_can_be_read_otherwise(text: str, answer: str) -> None:
    assert repair(read_stated(text), answer) is None


SETS = "gsm8k math500 aime24 aime25 aime26 aimo_amc brumo25 cmimc25 olympiadbench".split()
PANEL = (
    "aqua-choice asdiv-plain carp-en college-math convfinqa-dev gaokao2023en gsm8k-train "
    "math-test-4500 mgsm-de mgsm-zh svamp theoremqa"
).split()


@pytest.mark.parametrize("name", [*SETS, *(f"panel/{one}" for one in PANEL)])
def test_no_gold_answer_is_repaired_or_overruled(
    benchmark_file: Callable[[str], Path], name: str
) -> None:
    for row in map(json.loads, benchmark_file(name).read_text("utf-8").splitlines()):
        text, gold = row["problem"], str(row["answer"])
        assert repair(read_stated(text), gold) is None, row["id"]
        assert broken(stated_in(Problem(text)), gold) == (), row["id"]


@given(st.text(max_size=30))
def test_any_answer_can_be_given(answer: str) -> None:
    repair((*REMAINDER, *SUM), answer)
