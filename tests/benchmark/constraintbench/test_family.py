from __future__ import annotations

from math import gcd
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.benchmark.constraintbench.family import (
    Draft,
    ErrorType,
    Family,
    FamilyError,
    GoldConstraint,
    Tempting,
    agree,
    alike,
    listed,
    lowest_terms,
    plural,
    tell,
    true_label,
    wordings,
)
from constraint_first.constraint import predicate as demand


def broken(kind: str, rng: Random) -> Draft | None:
    if kind == "barren":
        return None
    number = agree(3, 4 if kind == "quarrel" else 3) and rng.randrange(2)
    draft = Draft("1/2" if kind == "careless" else number, n=number)
    draft.rule(demand.integer(), "an integer")
    # With number 0 the only wrong answer is the right one, so that nothing is rejected.
    draft.wrong("not_an_integer", "1/2" if number else "0")
    return draft


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("quarrel", r"family quarrel, seed 5, level 2, .*3.*4"),
        ("careless", "breaks 'an integer'"),
        ("barren", "barren, seed 5, level 2, index 0: 1000 draws gave no problem"),
    ],
)
def test_a_family_that_cannot_give_a_problem_says_why(kind: str, says: str) -> None:
    made = Family(kind, "explicit", "wrong\n\n- n = <n>", lambda rng, _: broken(kind, rng))
    with pytest.raises(FamilyError, match=says):
        made.make(5, 2, 0)


def test_numbers_that_make_no_problem_are_drawn_again() -> None:
    made = Family("choosy", "explicit", "half\n\n- n = <n>", lambda rng, _: broken("choosy", rng))
    assert {made.make(seed, 1, 0).text for seed in range(20)} == {"n = 1"}
    assert (made.about, made.kinds) == ("half", ("domain",))


def test_wrong_answers_that_repeat_the_answer_or_each_other_are_dropped() -> None:
    draft = Draft(2)
    draft.wrong("other", 2, "4/2", "1/2", "0.5")
    assert [lure.answer for lure in draft.lures] == ["4/2", "1/2"]


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
    rules = [GoldConstraint("modular", "a remainder on division by 7", demand.least_residue(7))]
    assert true_label(Tempting(lure, said), "3", rules) == error


def test_a_wording_is_chosen_by_level_and_filled() -> None:
    text = "about\n\n1- Let $x^{<k>}$. Find «mod:it\n  modulo $<m>$».\n23- A[3: big] one. <name>?"
    (one,) = wordings(text, 1)
    told, spans = tell(Random(1), (one,), k=2, m=7)
    assert told == r"Let $x^{2}$. Find it modulo $7$."
    assert spans == {"mod": "it modulo $7$"}
    assert (wordings(text, 2), wordings(text, 3)) == (("A one. <name>?",), ("A big one. <name>?",))
    assert tell(Random(1), wordings(text, 2), name="«who:Uma»") == ("A one. Uma?", {"who": "Uma"})
    with pytest.raises(KeyError, match="missing"):
        tell(Random(1), ("<missing>",))


def test_lists_and_plurals() -> None:
    assert listed([3]) == "$3$"
    assert listed([3, 5, 8]) == "$3$, $5$ and $8$"
    assert (plural(1, "pen"), plural(2, "pen")) == ("$1$ pen", "$2$ pens")
    assert plural(2, "brush", "brushes") == "$2$ brushes"


@given(st.integers(1, 300), st.integers(1, 300))
def test_lowest_terms_keeps_the_value(above: int, below: int) -> None:
    m, n = lowest_terms(above, below)
    assert m * below == n * above
    assert gcd(m, n) == 1
