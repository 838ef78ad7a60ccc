from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.constraint.claim import names_of_answer, read_claims
from constraint_first.constraint.predicate import OPS


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


PHRASES = st.lists(
    st.sampled_from(
        "the answer is even n is 0 < k < 5; each number (since a > 3) find how many . of 7 must be "
        "at most 12 an integer modulo remainder what".split()
    ),
    max_size=12,
).map(" ".join)


@given(st.text(max_size=80) | PHRASES)
def test_every_claim_can_be_checked_and_has_a_subject(text: str) -> None:
    claims = read_claims(text)
    assert {claim.subject for claim in claims} <= {"answer", "other"}
    assert {str(claim.predicate["op"]) for claim in claims} <= set(OPS)
    assert read_claims(text) == claims
    everything = frozenset(re.findall(r"[a-z]+", text.lower()))
    assert [claim.predicate for claim in read_claims(text, everything)] == [
        claim.predicate for claim in claims
    ], "the names tell whom a claim is about, never what it says"


@given(st.text(max_size=80) | PHRASES)
def test_the_words_for_an_answer_stand_in_lower_case_and_mean_something(text: str) -> None:
    names = names_of_answer(text)
    assert all(name == name.lower().strip() and name for name in names)
    assert not names & {"the", "a", "is", "find", "what", "how"}
