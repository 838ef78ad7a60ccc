from __future__ import annotations

import itertools
import re
from collections import Counter
from fractions import Fraction
from functools import cache
from random import Random

import pytest

from constraint_first.answer.value import AnswerValue, read_answer
from constraint_first.benchmark.constraintbench.family import NAMES, TIERS, Family, Item
from constraint_first.benchmark.constraintbench.make import FAMILIES, check_item
from constraint_first.constraint.predicate import holds
from constraint_first.constraint.router import route
from constraint_first.constraint.stage1 import KINDS

from .reader import LIST, READERS

DRAWS = 25
MANY = 300
each_family = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
MISLEADING = [name for name, family in FAMILIES.items() if family.tier == "misleading"]


@cache
def drawn(name: str) -> tuple[Item, ...]:
    """Draw a few problems of every level of a family."""
    family = FAMILIES[name]
    places = itertools.product(family.levels, range(DRAWS))
    return tuple(family.make(31, level, index) for level, index in places)


def test_there_are_at_least_eight_families_in_each_tier_and_all_kinds() -> None:
    counts = Counter(family.tier for family in FAMILIES.values())
    assert all(counts[tier] >= 8 for tier in TIERS)
    assert {kind for family in FAMILIES.values() for kind in family.kinds} == set(KINDS)


@each_family
def test_every_draw_passes_the_check(family: Family) -> None:
    assert [fault for item in drawn(family.name) for fault in check_item(item)] == []


@each_family
def test_the_kinds_are_those_that_the_family_names(family: Family) -> None:
    assert {item.kinds for item in drawn(family.name)} == {family.kinds}


@each_family
def test_the_answer_has_the_form_that_the_item_names(family: Family) -> None:
    for item in drawn(family.name):
        reading = read_answer(item.answer)
        assert reading is not None
        assert reading.form == item.form


@pytest.mark.long
@each_family
def test_many_draws_of_a_level(family: Family) -> None:
    for level in family.levels:
        items = [family.make(47, level, index) for index in range(MANY)]
        assert max(Counter(item.answer for item in items).values()) < 0.08 * MANY
        assert len({_skeleton(item.text) for item in items}) >= 8
        for item in items:
            assert any(not constraint.pins for constraint in item.constraints)
            assert len(item.tempting) >= 3
            if family.tier == "joint":
                assert sum(not constraint.pins for constraint in item.constraints) >= 2
            if family.tier in ("explicit", "joint"):
                assert any(constraint.span for constraint in item.constraints), item.text


@pytest.mark.parametrize("name", [name for name, f in FAMILIES.items() if f.tier != "joint"])
def test_what_is_known_without_solving_leaves_more_than_the_answer(name: str) -> None:
    # In the joint tier conditions that are easy one by one leave a single answer, by design.
    open_ones = sum(map(_leaves_another_answer, drawn(name)))
    assert open_ones >= 0.9 * len(drawn(name))


def _leaves_another_answer(item: Item) -> bool:
    answer = read_answer(item.answer)
    assert answer
    assert answer.number is not None
    free = [gold.predicate for gold in item.constraints if not gold.pins]
    step = 1 if answer.number.denominator == 1 else Fraction(1, 100)
    others = (answer.number + sign * n * step for n in range(1, 1000) for sign in (1, -1))
    return any(all(holds(one, AnswerValue(n)) == "holds" for one in free) for n in others)


@pytest.mark.parametrize("name", MISLEADING)
def test_a_misleading_text_fires_the_router_and_names_what_it_misleads_to(name: str) -> None:
    items = drawn(name)
    assert sum(bool(route(item.text)) for item in items) >= 0.7 * len(items)
    misled = [any(one.error == "misled_by_cue" for one in item.tempting) for item in items]
    assert sum(misled) >= 0.95 * len(items)


@each_family
def test_draws_are_rarely_thrown_away(family: Family) -> None:
    # At one in twenty, a thousand tries in a row fail less often than once in 10^22 problems.
    for level in family.levels:
        rng = Random(f"{family.name}{level}")
        kept = sum(family.draw(rng, level) is not None for _ in range(200))
        assert kept >= 10


@each_family
def test_texts_are_clean(family: Family) -> None:
    for item in drawn(family.name):
        text = item.text
        assert not re.search(r"[«»<>]|  | [.,?]|\bNone\b|\$\$", text), text
        assert text.count("$") % 2 == 0, text
        assert text[0].isupper() or text[0] == "$", text
        assert len({lure.error for lure in item.tempting}) >= 1
        assert not re.search(r"\$1\$ (?:\w+s|are)\b(?<!is)", text), text


def _skeleton(text: str) -> str:
    without_names = re.sub(rf"\b(?:{'|'.join(NAMES)})\b", "NAME", text)
    return re.sub(rf"{LIST}|\b(?:odd|even)\b", "#", without_names)


@pytest.mark.parametrize("name", READERS)
def test_the_text_asks_for_the_answer(name: str) -> None:
    for item in drawn(name):
        assert str(READERS[name](item.text)) == item.answer, item.text
