"""A third computation of an answer, from the text as a reader sees it.

It would catch a number in the wrong slot.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from math import prod

LIST = r"\$[^$]*\$(?:(?:, | and )\$[^$]*\$)*"
"""Numbers that stand side by side."""


def _numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)]


def _largest_multiple(text: str) -> int:
    odd = "odd" in text
    k, high = min(_numbers(text)), max(_numbers(text))
    return max(n for n in range(high) if n % k == 0 and (n % 2 == 1) == odd)


def _only_divisor(text: str) -> int:
    low, high, n = sorted(_numbers(text))
    (only,) = [d for d in range(low + 1, high) if n % d == 0 and (d % 2 == 1) == ("odd" in text)]
    return only


def _in_window(text: str) -> int:
    *divisors, low, high = sorted({*_numbers(text)} - {0})
    (only,) = [n for n in range(low + 1, high) if all(n % d == 0 for d in divisors)]
    return only


def _full_groups(text: str) -> int:
    k, *parts = sorted(number for number in _numbers(text) if number)
    return sum(parts) // k * k


def _minutes(text: str) -> int:
    hours = re.findall(r"\$(\d+)\$ hours? \$(\d+)\$ minutes", text)
    return sum(60 * int(h) + int(m) for h, m in hours)


def _count_without(text: str) -> int:
    k, low, high = re.search(r"of \$(\d+)\$|by \$(\d+)\$", text), *_range(text)
    return sum(n % int(k[1] or k[2]) != 0 for n in range(low, high + 1))  # pyright: ignore


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
    return max([*re.findall(LIST, text), *sums], key=lambda found: len(_numbers(found)))


def _range(text: str) -> tuple[int, int]:
    found = re.search(r"\$(\d+)(?:\$ (?:up )?to (?:page )?\$| \\le n \\le )(\d+)\$", text)
    assert found
    return int(found[1]), int(found[2])


READERS: dict[str, Callable[[str], int | Fraction]] = {
    "full_groups_total": _full_groups,
    "total_in_minutes": _minutes,
    "count_without": _count_without,
    "whole_packs_cost": _packs,
    "there_and_back": _times(lambda days: 2 * days),
    "saw_cuts": _times(lambda pieces: pieces - 1),
    "knockout_matches": _times(lambda players: players - 1),
    "pairs_once": _times(lambda size: size * (size - 1) // 2),
    "dropped_extremes": _extremes_dropped,
    "reversed_result": _reversed,
    "pieces_in_centimetres": _centimetres,
    "pages_read": _pages,
    "floors_climbed": _floors,
    "minute_display": _clock,
    "legs_counted": _known_times,
    "polygon_sides": _known_times,
    "coins_worth": _coins_left,
    "rate_over_time": _rate,
    "largest_multiple": _largest_multiple,
    "divisor_window": _only_divisor,
    "common_multiple": _in_window,
}
