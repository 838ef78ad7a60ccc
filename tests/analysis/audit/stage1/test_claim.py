from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfr.analysis.audit.stage1.claim import names_of_answer, read_claims


@pytest.mark.parametrize(
    ("text", "names", "subject"),
    [
        ("the answer is even", (), "answer"),
        ("even", (), "answer"),
        ("n is even", (), "other"),
        ("n is even", ("n",), "answer"),
        ("the remainder is even", ("remainder",), "answer"),
        ("m and n are positive", ("m+n",), "other"),
        ("m + n is positive", ("m+n",), "answer"),
        ("0 < k < 5", (), "other"),
        ("the number of sheep is even", ("number of",), "answer"),
        ("each number is even", ("number of",), "other"),
        ("each score is even", ("score",), "other"),
        ("71d0 is even", ("d",), "other"),
    ],
)
def test_tells_the_answer_from_other_things(
    text: str, names: tuple[str, ...], subject: str
) -> None:
    assert {claim.subject for claim in read_claims(text, frozenset(names))} == {subject}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Find the remainder when $5$ is divided by $3$.", "remainder"),
        (r"It is $\frac{m}{n}$. Find $m+n$.", "m+n"),
        ("What is the probability that it is red?", "probability"),
        ("How likely is it that it is red?", "probability"),
        ("How old is Uma?", "age"),
        ("Find the width.", "width"),
        ("How many sheep are there?", "number of sheep"),
    ],
)
def test_finds_the_words_for_the_answer(text: str, name: str) -> None:
    assert name in names_of_answer(text)


def test_what_is_counted_is_not_the_answer() -> None:
    assert "multiples" not in names_of_answer("How many odd multiples of $7$ are there?")


@given(st.text(max_size=80))
def test_never_raises(text: str) -> None:
    read_claims(text)
    names_of_answer(text)
