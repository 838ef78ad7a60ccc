from __future__ import annotations

from math import gcd
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.benchmark.constraintbench.family import (
    DisagreementError,
    Draft,
    FamilyError,
    Told,
    agree,
    alike,
    family,
    gold,
    listed,
    lowest_terms,
    plural,
    stages,
    tell,
    true_label,
)
from constraint_first.benchmark.constraintbench.item import ErrorType, Level, Tempting
from constraint_first.constraint import predicate as demand

# --- family


RULE = gold("domain", "an integer", demand.integer())


def test_two_computations_that_differ_name_family_and_seed() -> None:
    @family("explicit", ("domain",), "wrong on purpose")
    def quarrel(rng: Random, level: Level) -> Draft:
        return Draft(Told("text", {}), agree(3, 4), [RULE], [])

    with pytest.raises(DisagreementError, match=r"family quarrel, seed 5, level 2, .*3.*4"):
        quarrel.make(5, 2, 0)


def test_a_gold_constraint_that_the_answer_breaks_is_an_error() -> None:
    @family("explicit", ("domain",), "wrong on purpose")
    def careless(rng: Random, level: Level) -> Draft:
        return Draft(Told("text", {}), "1/2", [RULE], [("3/4", "not_an_integer")])

    with pytest.raises(DisagreementError, match="breaks 'an integer'"):
        careless.make(5, 2, 0)


def test_numbers_that_make_no_problem_are_drawn_again() -> None:
    @family("explicit", ("domain",), "degenerate half of the time")
    def choosy(rng: Random, level: Level) -> Draft | None:
        number = rng.randrange(2)
        # With number 0 the only lure equals the answer, so that nothing is rejected.
        lure = "1/2" if number else "0"
        return Draft(Told(f"n = {number}", {}), number, [RULE], [(lure, "not_an_integer")])

    assert {choosy.make(seed, 1, 0).answer for seed in range(20)} == {"1"}


def test_a_family_that_never_makes_a_problem_gives_up() -> None:
    @family("explicit", ("domain",), "empty")
    def barren(rng: Random, level: Level) -> Draft | None:
        return None

    with pytest.raises(FamilyError, match="barren, level 1"):
        barren.make(1, 1, 0)


def test_lures_that_repeat_the_answer_or_each_other_are_dropped() -> None:
    @family("explicit", ("domain",), "many lures")
    def repetitive(rng: Random, level: Level) -> Draft:
        lures = [(2, "other"), ("4/2", "other"), ("1/2", "not_an_integer"), ("0.5", "other")]
        return Draft(Told("text", {}), 2, [RULE], lures)  # pyright: ignore[reportArgumentType]

    assert [lure.answer for lure in repetitive.make(1, 1, 0).tempting] == ["4/2", "1/2"]


def test_alike_tells_reduced_from_unreduced() -> None:
    assert alike("0.5", "1/2")
    assert not alike("2/4", "1/2")
    assert not alike("a few", "2")
    assert alike("around 2", "around 2")


@pytest.mark.parametrize(
    ("lure", "said", "error"),
    [
        ("24", "forgot_modular_reduction", "forgot_modular_reduction"),
        ("25", "forgot_modular_reduction", "broken_condition"),
        ("25", "out_of_range", "out_of_range"),
        ("5", "out_of_range", "arithmetic"),
        ("7/2", "not_an_integer", "not_an_integer"),
        ("5", "not_an_integer", "arithmetic"),
        ("5", "misled_by_cue", "misled_by_cue"),
    ],
)
def test_a_label_that_the_numbers_do_not_bear_out_gives_way(
    lure: str, said: ErrorType, error: ErrorType
) -> None:
    rules = [gold("modular", "a remainder on division by 7", demand.least_residue(7))]
    assert true_label(Tempting(lure, said), "3", rules) == error


# --- phrase


def test_fills_slots_and_finds_spans() -> None:
    told = tell(Random(1), (r"Let $x^{<k>}$. Find «mod:it modulo $<m>$».",), k=2, m=7)
    assert told.text == r"Let $x^{2}$. Find it modulo $7$."
    assert told.spans["mod"] == "it modulo $7$"
    assert "range" not in told.spans


def test_a_span_may_hold_a_slot_that_holds_words() -> None:
    told = tell(Random(1), ("«who:<name> asks»: <what>?",), name="Uma", what="which")
    assert (told.text, told.spans["who"]) == ("Uma asks: which?", "Uma asks")


def test_every_wording_is_used() -> None:
    rng = Random(1)
    assert {tell(rng, ("one", "two", "three")).text for _ in range(50)} == {"one", "two", "three"}


def test_a_slot_without_a_value_is_an_error() -> None:
    with pytest.raises(KeyError, match="missing"):
        tell(Random(1), ("<missing>",))


def test_lists_and_plurals() -> None:
    assert listed([3]) == "$3$"
    assert listed([3, 5, 8]) == "$3$, $5$ and $8$"
    assert (plural(1, "pen"), plural(2, "pen")) == ("$1$ pen", "$2$ pens")
    assert plural(2, "brush", "brushes") == "$2$ brushes"


def test_a_story_is_told_as_far_as_it_goes_and_then_asks() -> None:
    story = ("It rains.", "It stops.", "It rains.", "How often did it rain?")
    assert stages([story], 2) == ["It rains. It stops. How often did it rain?"]
    assert stages([("What is it? It rains.", "It stops.", "")], 1) == ["What is it? It rains."]


# --- chance


@given(st.integers(1, 300), st.integers(1, 300))
def test_lowest_terms_keeps_the_value(above: int, below: int) -> None:
    m, n = lowest_terms(above, below)
    assert m * below == n * above
    assert gcd(m, n) == 1
