from __future__ import annotations

import importlib
import pkgutil
import re
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from math import prod
from random import Random

import pytest

from cfr.answer.expression.value import read_answer
from cfr.benchmark.constraintbench import families
from cfr.benchmark.constraintbench.families import FAMILIES
from cfr.benchmark.constraintbench.families.phrase import NAMES
from cfr.benchmark.constraintbench.family import Family
from cfr.benchmark.constraintbench.item import TIERS, Level
from cfr.benchmark.constraintbench.verify import check_item
from cfr.constraint.spec import KINDS

DRAWS = 25
MANY = 300
LEVELS: tuple[Level, ...] = (1, 2, 3)
ITEMS = {
    name: [family.make(31, level, index) for level in LEVELS for index in range(DRAWS)]
    for name, family in FAMILIES.items()
}
MODULES = [
    module.name
    for module in pkgutil.iter_modules(families.__path__)
    if module.name not in ("chance", "phrase")
]
each_family = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
STATED = [family for family in FAMILIES.values() if family.tier in ("explicit", "implicit")]
each_stated = pytest.mark.parametrize("family", STATED, ids=lambda family: family.name)


def test_there_are_at_least_eight_families_in_each_tier_and_all_kinds() -> None:
    counts = Counter(family.tier for family in FAMILIES.values())
    assert all(counts[tier] >= 8 for tier in TIERS)
    assert {kind for family in FAMILIES.values() for kind in family.kinds} == set(KINDS)


@pytest.mark.parametrize("module", MODULES)
def test_every_family_of_a_module_is_among_them(module: str) -> None:
    found = vars(importlib.import_module(f"{families.__name__}.{module}"))
    made = [value for value in found.values() if isinstance(value, Family)]
    assert made
    assert all(FAMILIES.get(family.name) is family for family in made)
    assert tuple(made) == found["FAMILIES"]


def test_every_family_belongs_to_one_of_the_modules() -> None:
    assert {family.draw.__module__.rpartition(".")[2] for family in FAMILIES.values()} == set(
        MODULES
    )


@each_family
def test_every_draw_passes_the_check(family: Family) -> None:
    assert [fault for item in ITEMS[family.name] for fault in check_item(item)] == []


@each_family
def test_the_kinds_are_those_that_the_family_names(family: Family) -> None:
    assert {item.kinds for item in ITEMS[family.name]} == {family.kinds}


@each_family
def test_the_answer_has_the_form_that_the_item_names(family: Family) -> None:
    for item in ITEMS[family.name]:
        reading = read_answer(item.answer)
        assert reading is not None
        assert reading.form == item.form


@each_family
def test_there_are_at_least_three_wordings(family: Family) -> None:
    skeletons = {_skeleton(item.text) for item in ITEMS[family.name]}
    assert len(skeletons) >= 3


@each_stated
def test_many_draws_of_a_level(family: Family) -> None:
    for level in LEVELS:
        items = [family.make(47, level, index) for index in range(MANY)]
        assert max(Counter(item.answer for item in items).values()) < 0.08 * MANY
        assert len({_skeleton(item.text) for item in items}) >= 8
        for item in items:
            assert any(not constraint.pins for constraint in item.constraints)
            assert len(item.tempting) >= 3
            if family.tier == "explicit":
                assert any(constraint.span for constraint in item.constraints), item.text


@each_family
def test_draws_are_rarely_thrown_away(family: Family) -> None:
    # At one in twenty, a thousand tries in a row fail less often than once in 10^22 problems.
    for level in LEVELS:
        rng = Random(f"{family.name}{level}")
        kept = sum(family.draw(rng, level) is not None for _ in range(200))
        assert kept >= 10


@each_family
def test_answers_vary(family: Family) -> None:
    answers = Counter(item.answer for item in ITEMS[family.name])
    assert max(answers.values()) <= len(ITEMS[family.name]) * 0.4


@each_family
def test_texts_are_clean(family: Family) -> None:
    for item in ITEMS[family.name]:
        text = item.text
        assert not re.search(r"[«»<>]|  | [.,?]|\bNone\b|\$\$", text), text
        assert text.count("$") % 2 == 0, text
        assert text[0].isupper() or text[0] == "$", text
        assert len({lure.error for lure in item.tempting}) >= 1
        assert not re.search(r"\$1\$ (?:\w+s|are)\b(?<!is)", text), text


_LIST = r"\$[^$]*\$(?:(?:, | and )\$[^$]*\$)*"


def _skeleton(text: str) -> str:
    without_names = re.sub(rf"\b(?:{'|'.join(NAMES)})\b", "NAME", text)
    return re.sub(rf"{_LIST}|\b(?:odd|even)\b", "#", without_names)


# A third computation, from the text as a reader sees it: it would catch a number in the wrong slot.


def _numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)]


def _largest_multiple(text: str) -> int:
    odd = "odd" in text
    k, high = sorted(_numbers(text))
    return max(n for n in range(high) if n % k == 0 and (n % 2 == 1) == odd)


def _mean(text: str) -> Fraction:
    values = _numbers(re.search(r"(?:\$\d+\$(?:, | and )){2,}\$\d+\$", text)[0])  # pyright: ignore
    return Fraction(sum(values), len(values))


def _percent_left(text: str) -> Fraction:
    whole, first, second = _numbers(text)
    return Fraction(whole * (100 - first) * (100 - second), 10000)


def _full_groups(text: str) -> int:
    k, *parts = sorted(number for number in _numbers(text) if number)
    return sum(parts) // k * k


def _sum_of_multiples(text: str) -> int:
    numbers = _numbers(_longest_list(text))
    (k,) = _numbers(text.replace(_longest_list(text), ""))
    return sum(n for n in numbers if n % k == 0)


def _strictly_between(text: str) -> int:
    step, *ends = sorted({*_numbers(text)} - {0})
    return sum(n for n in range(ends[0] + 1, ends[1]) if n % step == 0)


def _minutes(text: str) -> int:
    hours = re.findall(r"\$(\d+)\$ hours? \$(\d+)\$ minutes", text)
    return sum(60 * int(h) + int(m) for h, m in hours)


def _count_without(text: str) -> int:
    k, low, high = re.search(r"of \$(\d+)\$|by \$(\d+)\$", text), *_range(text)
    return sum(n % int(k[1] or k[2]) != 0 for n in range(low, high + 1))  # pyright: ignore


def _width(text: str) -> int:
    gap, area = sorted(_numbers(text))
    return next(w for w in range(1, area) if w * (w + gap) == area)


def _packs(text: str) -> int:
    needed = _longest_list(text)
    size, price = _numbers(text.replace(needed, "", 1))
    if text.startswith("At "):
        size, price = price, size
    return -(-sum(_numbers(needed)) // size) * price


def _times(each: Callable[[int], int]) -> Callable[[str], int]:
    """Read a text with one list and one other number: a sum over the list, times that number."""

    def read(text: str) -> int:
        entries = _longest_list(text)
        (price,) = _numbers(text.replace(entries, "", 1))
        return price * sum(map(each, _numbers(entries)))

    return read


def _extremes_dropped(text: str) -> int:
    marks = _longest_list(text)
    (factor,) = _numbers(text.replace(marks, ""))
    return factor * sum(sorted(_numbers(marks))[1:-1])


def _reversed(text: str) -> int:
    return int(str(sum(_numbers(text)))[::-1])


def _centimetres(text: str) -> int:
    ((metres, rest),) = re.findall(r"\$(\d+)\$ m \$(\d+)\$ cm", text)
    (pieces,) = re.findall(r"\$(\d+)\$ (?!m |cm )", text)
    return int(pieces) * (100 * int(metres) + int(rest))


def _empty(text: str) -> int:
    groups = _longest_list(text)
    (seats,) = _numbers(text.replace(groups, "", 1))
    return -sum(_numbers(groups)) % seats


def _pages(text: str) -> int:
    runs = re.findall(r"\$(\d+)\$ to \$(\d+)\$", text)
    (each,) = _numbers(re.sub(r"\$\d+\$ to \$\d+\$", "", text))
    return each * sum(int(last) - int(first) + 1 for first, last in runs)


def _floors(text: str) -> int:
    stops = [int(floor) for floor in re.findall(r"floor \$(\d+)\$", text)]
    (each,) = _numbers(re.sub(r"floor \$\d+\$", "", text))
    return each * sum(abs(b - a) for a, b in pairwise(stops))


def _clock(text: str) -> int:
    ((hour, start),) = re.findall(r"(\d+):(\d\d)", text)
    return (int(start) + sum(_numbers(text.replace(f"{hour}:{start}", "")))) % 60


_KNOWN = {
    "quarters": 25,
    "dimes": 10,
    "nickels": 5,
    "triangles": 3,
    "squares": 4,
    "hexagons": 6,
    "octagons": 8,
    **dict.fromkeys(("hens", "ducks", "geese", "swans", "crows"), 2),
    **dict.fromkeys(("cows", "goats", "horses", "dogs", "cats", "sheep", "pigs"), 4),
    **dict.fromkeys(("beetles", "ants"), 6),
    "spiders": 8,
}


def _known(text: str) -> tuple[int, list[int]]:
    """Add up what the things in the text are worth; the numbers of other things come second."""
    found = [(int(n), kind) for n, kind in re.findall(r"\$(\d+)\$ (\w+)", text)]
    worth = sum(n * _KNOWN[kind] for n, kind in found if kind in _KNOWN)
    return worth, [n for n, kind in found if kind not in _KNOWN]


def _known_times(text: str) -> int:
    worth, others = _known(text)
    return worth * prod(others)


def _coins_left(text: str) -> int:
    worth, others = _known(text)
    return worth - prod(others) if others else worth


def _rate(text: str) -> int:
    (small,) = re.findall(r"(?:every|each) (day|month|hour)", text)
    sizes = {"day": {"week": 7}, "month": {"year": 12}, "hour": {"day": 24}}[small] | {small: 1}
    periods = re.findall(r"\$(\d+)\$ (week|year|day|hour|month)s", text)
    (rate,) = _numbers(re.sub(r"\$\d+\$ (?:week|year|day|hour|month)s", "", text))
    return rate * sum(int(n) * sizes[period] for n, period in periods)


def _longest_list(text: str) -> str:
    sums = re.findall(r"\d+(?: \+ \d+)+", text)
    return max([*re.findall(_LIST, text), *sums], key=lambda found: len(_numbers(found)))


def _range(text: str) -> tuple[int, int]:
    found = re.search(r"\$(\d+)(?:\$ (?:up )?to (?:page )?\$| \\le n \\le )(\d+)\$", text)
    assert found
    return int(found[1]), int(found[2])


READERS: dict[str, Callable[[str], int | Fraction]] = {
    "full_groups_total": _full_groups,
    "sum_of_multiples": _sum_of_multiples,
    "strictly_between_sum": _strictly_between,
    "total_in_minutes": _minutes,
    "count_without": _count_without,
    "shorter_side": _width,
    "whole_packs_cost": _packs,
    "there_and_back": _times(lambda days: 2 * days),
    "saw_cuts": _times(lambda pieces: pieces - 1),
    "knockout_matches": _times(lambda players: players - 1),
    "pairs_once": _times(lambda size: size * (size - 1) // 2),
    "dropped_extremes": _extremes_dropped,
    "reversed_result": _reversed,
    "pieces_in_centimetres": _centimetres,
    "empty_seats": _empty,
    "pages_read": _pages,
    "floors_climbed": _floors,
    "minute_display": _clock,
    "legs_counted": _known_times,
    "polygon_sides": _known_times,
    "coins_worth": _coins_left,
    "rate_over_time": _rate,
    "largest_multiple": _largest_multiple,
    "at_most_story": _mean,
    "percent_story": _percent_left,
}


@pytest.mark.parametrize("name", READERS)
def test_the_text_asks_for_the_answer(name: str) -> None:
    for item in ITEMS[name]:
        assert str(READERS[name](item.text)) == item.answer, item.text
