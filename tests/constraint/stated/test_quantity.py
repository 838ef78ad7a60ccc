from __future__ import annotations

import pytest

from constraint_first.constraint.stated.quantity import FUNCTION_WORDS, read_amounts, stem


@pytest.mark.parametrize(
    ("one", "many"),
    [("card", "cards"), ("cookie", "cookies"), ("city", "cities"), ("shelf", "shelves")],
)
def test_one_thing_and_many_have_the_same_stem(one: str, many: str) -> None:
    assert stem(one) == stem(many)


def test_amounts_are_told_from_the_numbers_of_other_things() -> None:
    found = read_amounts("every pack holds 15 cards. ann buys 3, 4 and 5 packs.", {"card": 1})
    assert found is not None
    own, others = found
    assert [(int(one.value), one.rate) for one in own] == [(15, True)]
    assert [int(one.value) for one in others] == [3, 4, 5]


def test_a_unit_is_converted() -> None:
    found = read_amounts("it takes 2 hours 15 minutes", {"minut": 1, "hour": 60})
    assert found is not None
    assert [int(one.value) for one in found[0]] == [120, 15]


@pytest.mark.parametrize("text", ["each has 2.5 cards", "there are 5 boxes", ""])
def test_no_whole_amount_of_the_unit(text: str) -> None:
    assert read_amounts(text, {"card": 1}) is None


def test_words_that_name_nothing() -> None:
    assert stem("the") in FUNCTION_WORDS


def test_what_is_told_of_one_of_the_other_things_is_marked() -> None:
    found = read_amounts(
        "every crate holds 6 pens. each pen costs 3 cents. ann pays 105 cents.", {"pen": 1}
    )
    assert found is not None
    assert [(int(one.value), one.rate) for one in found[1]] == [(3, True), (105, False)]
