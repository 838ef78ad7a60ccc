from __future__ import annotations

import re
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from constraint_first.constraint.claim import (
    contradicts,
    names_of_answer,
    plain,
    read_claims,
    read_predicates,
)
from constraint_first.constraint.predicate import OPS, Truth, truth_of

# --- claim


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


# --- grammar


PIECES = st.lists(
    st.sampled_from(
        "0 7 12 1/2 -3 mod modulo (mod divisible by less than at least between and in [0, 9] < <= "
        "> = n x even odd integer not digits sum of rounded to the nearest tenth percent fraction "
        "in lowest terms + 21n decimals letter A-E square % $ { } , to".split()
    ),
    max_size=10,
).map(" ".join)


@given(st.text("0123456789 mod()=<,.-{}[]to$\\/+n", max_size=60) | PIECES)
def test_whatever_is_read_can_be_checked_on_any_answer(text: str) -> None:
    found = list(read_predicates(plain(text)))
    for predicate in found:
        assert predicate["op"] in OPS
        for answer in ("7", "-3/4", r"\sqrt{2}", "C", "red"):
            assert truth_of(predicate, answer) in get_args(Truth)
    assert list(read_predicates(plain(text))) == found


# --- contradiction


def test_a_text_that_states_nothing_is_hard_to_contradict() -> None:
    assert not contradicts((), "The answer is negative.", "Simplify $x+x$.")
    assert contradicts((), "The answer is even and the answer is odd.", "Simplify $x+x$.")
