from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.benchmark.constraintbench.item import GoldConstraint, Item
from constraint_first.benchmark.constraintbench.make import generate
from constraint_first.constraint.predicate import truth_of
from constraint_first.constraint.stage1 import KINDS
from constraint_first.constraint.stated.read import read_stated
from constraint_first.constraint.stated.reading import LONGEST
from constraint_first.constraint.stated.statement import Stated, check_stated

PIECES = (
    *(
        "find ",
        "what is the ",
        "a number ",
        "it is ",
        "even ",
        "divisible by 3 ",
        "3, ",
        "how many ",
    ),
    *(
        "each ",
        "every two ",
        "(a)",
        "a : ",
        "+ a ",
        r"\frac{m}{n}",
        "greater than 1 and ",
        "from 1 to 2 ",
    ),
    *(
        "digits ",
        "in lowest terms ",
        ". ",
        "\n",
        "  ",
        "$",
        "3 march to ",
        "a, b, c, ",
        "remainder ",
    ),
    *(
        "modulo 7 ",
        "multiple of 3 ",
        "ratio 1:2:",
        "angle ",
        "round ",
        "second largest ",
        "? ",
        "half ",
    ),
)


def test_a_remainder_is_read_with_the_words_that_ask_for_it() -> None:
    text = "Find the remainder when $7^{100}$ is divided by $1000$."
    (stated,) = read_stated(text)
    assert stated.predicate == {"op": "least_residue", "modulus": 1000}
    assert text[slice(*stated.span)] == "Find the remainder when $7^{100}$ is divided by $1000"
    assert [truth for _, truth in check_stated([stated], "1001")] == ["violated"]


def test_a_text_without_a_question_states_nothing() -> None:
    assert read_stated("The remainder is 3 when 10 is divided by 7.") == ()


def test_what_is_given_is_not_what_is_asked() -> None:
    text = "A positive integer is divisible by $7$. How far is it from $100$, in steps of a half?"
    assert read_stated(text) == ()


def assert_well_formed(text: str) -> None:
    found = read_stated(text)
    assert found == read_stated(text)
    for one in found:
        assert 0 <= one.span[0] < one.span[1] <= len(text)
        assert one.kind in KINDS
        assert one.sentence.endswith(".")
        truth_of(json.loads(json.dumps(dict(one.predicate))), "12")


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    assert_well_formed(text)


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_any_mixture_of_its_words_can_be_read(text: str) -> None:
    assert_well_formed(text)


@pytest.mark.parametrize("piece", PIECES)
def test_a_huge_text_is_no_problem(piece: str) -> None:
    long = piece * (200_000 // len(piece))
    assert read_stated(long) == ()
    assert_well_formed(f"{long[: LONGEST - 60]} Find the number. Which number is it?")


FILES = (
    "gsm8k",
    "math500",
    "olympiadbench",
    "aime24",
    "aime25",
    "aime26",
    "aimo_amc",
    "brumo25",
    "cmimc25",
)


@pytest.mark.parametrize("name", FILES)
def test_no_gold_answer_breaks_what_its_problem_states(
    name: str, benchmark_file: Callable[[str], Path]
) -> None:
    rows = map(json.loads, benchmark_file(name).read_text("utf-8").splitlines())
    assert [row["id"] for row in rows if is_unsound(row["problem"], row["answer"])] == []


def test_no_tricky_text_is_misread() -> None:
    lines = Path(__file__).with_name("tricky.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert [row for row in rows if is_unsound(row["problem"], row["answer"])] == []


def test_a_gap_that_no_problem_has() -> None:
    assert read_stated(f"Find the even number{' ' * 3000}below 7.") == ()
    assert read_stated(f"Find the even number{' ' * 300}below 7.") != ()


def is_unsound(text: str, answer: str) -> bool:
    return any(truth == "violated" for _, truth in check_stated(read_stated(text), answer))


def spanned(item: Item) -> Iterator[tuple[GoldConstraint, list[Stated]]]:
    """The gold constraints that the text states, each with what we read from the same words."""
    stated = read_stated(item.text)
    for gold in item.constraints:
        if gold.span is not None:
            starts = [at for at in range(len(item.text)) if item.text.startswith(gold.span, at)]
            places = [(at, at + len(gold.span)) for at in starts]
            yield (
                gold,
                [
                    one
                    for one in stated
                    if any(one.span[0] < end and start < one.span[1] for start, end in places)
                ],
            )


def is_found(item: Item, gold: GoldConstraint, read: list[Stated]) -> bool:
    """Whether what we read rejects every tempting answer that the gold constraint rejects.

    A constraint that pins the answer is found where any consequence of it is.
    """
    wrong = [
        lure.answer for lure in item.tempting if truth_of(gold.predicate, lure.answer) == "violated"
    ]
    caught = all(any(truth_of(one.predicate, w) == "violated" for one in read) for w in wrong)
    return bool(read) and (gold.pins or caught)


@pytest.mark.slow
def test_ten_thousand_fresh_problems_are_sound_and_nine_in_ten_constraints_are_found() -> None:
    items = [*generate(20261116, 10_000)]
    assert [item.id for item in items if is_unsound(item.text, item.answer)] == []
    found = [is_found(item, gold, read) for item in items for gold, read in spanned(item)]
    assert sum(found) >= 0.9 * len(found)
