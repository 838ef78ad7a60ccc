from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.benchmark.constraintbench.make import generate
from constraint_first.constraint.predicate import truth_of
from constraint_first.constraint.stage1 import KINDS
from constraint_first.constraint.stated.read import read_stated
from constraint_first.constraint.stated.reading import ASK, LONGEST, Reading, plain_text
from constraint_first.constraint.stated.statement import check_stated, repair
from constraint_first.method.method import broken, stated_in
from constraint_first.problem import Problem

# --- read


PIECES = (
    *("find ", "what is the ", "a number ", "it is ", "prime ", "divisible by 3 ", "3, "),
    *("how many ", "people ", "each ", "(a)", "(b)", "+ a ", r"\frac{m}{n}", "greater than 1 and "),
    *("digits ", "in lowest terms ", ". ", "\n", "  ", "$", "a, b, c, ", "remainder "),
    *("modulo 7 ", "multiple of 3 ", "what percent of the ", "are ", "angle ", "round "),
    *("to the nearest tenth ", "probability that ", "? ", "half "),
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
    assert read_stated(f"Find the positive integer{' ' * 3000}below 7.") == ()
    assert read_stated(f"Find the positive integer{' ' * 300}below 7.") != ()


def is_unsound(text: str, answer: str) -> bool:
    return any(truth == "violated" for _, truth in check_stated(read_stated(text), answer))


@pytest.mark.long
def test_ten_thousand_fresh_problems_are_sound() -> None:
    items = generate(20261116, 10_000)
    assert [item.id for item in items if is_unsound(item.text, item.answer)] == []


# --- reading


def reading(text: str) -> Reading:
    return Reading(text, plain_text(text))


def test_a_text_that_asks_nothing() -> None:
    nothing = reading("The sum is 3.")
    assert (nothing.question, nothing.heads, nothing.tail) == (None, (), "")
    assert nothing.asked(re.compile(ASK)) is None


def test_several_things_under_letters_of_their_own() -> None:
    assert reading("(a) Find x. (b) Find y.").in_parts
    assert not reading("Which? (A) one (B) two").in_parts


def test_an_answer_that_is_wanted_in_another_form() -> None:
    assert reading("How likely is it? Give your answer in the form m+n.").recoded


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_no_character_moves(text: str) -> None:
    assert len(plain_text(text)) == len(text)


def test_no_longer_text_is_read() -> None:
    assert LONGEST == 20_000


# --- repair


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
