"""Shortcuts: what a set of problems gives away to a solver who does not solve them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Final

from constraint_first.benchmark.constraintbench.families import FAMILIES
from constraint_first.benchmark.constraintbench.families.phrase import NAMES
from constraint_first.benchmark.constraintbench.item import VERSION, Item, Level

__all__ = ["Shortcut", "numbers_of", "shortcuts", "text_without_names"]

MOST: Final = 0.08
"""The share of problems that a shortcut may solve."""
ENOUGH: Final = 300
"""Fewer problems than this say too little about a share of one in twelve."""
_MANY: Final = 100
_DRAWS: Final = 40
_SEED: Final = 0
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")
_NAME: Final = re.compile(rf"\b(?:{'|'.join(NAMES)})\b")


@dataclass(frozen=True, slots=True)
class Shortcut:
    """A way to an answer, or to a problem that is known already, and how often it leads there."""

    name: str
    hits: int
    of: int
    most: float = MOST

    @property
    def open(self) -> bool:
        """Whether it leads there too often."""
        return self.of >= ENOUGH and self.hits > self.most * self.of

    def __str__(self) -> str:
        share = f" ({100 * self.hits / self.of:.1f} %)" if self.of else ""
        return f"{self.name}: {self.hits} of {self.of}{share}"


def shortcuts(items: Sequence[Item]) -> Iterator[Shortcut]:
    """Try every shortcut on a set of problems."""
    count = len(items)
    guesses = _guesses(items)
    hits = sum(item.answer == guesses[item.family] for item in items)
    where = "among others drawn" if all(map(_can_be_drawn, items)) else "in this set itself"
    yield Shortcut(f"guess, the most frequent answer of the family {where}", hits, count)
    yield from _worst_family(items)
    read = [(item.answer, _NUMBER.findall(item.text)) for item in items]
    for name, choose in _POSITIONS.items():
        hits = sum(bool(numbers) and answer == choose(numbers) for answer, numbers in read)
        yield Shortcut(f"leak, the answer is the {name} number of the text", hits, count)
    letters = Counter(item.answer for item in items if item.form == "choice")
    if letters:
        hits = max(letters.values())
        yield Shortcut("leak, the most frequent letter", hits, letters.total(), 0.3)
    same = count - len({numbers_of(item) for item in items})
    yield Shortcut(
        "near-duplicates, the numbers of another problem of the family", same, count, 0.05
    )
    same = count - len({text_without_names(item) for item in items})
    yield Shortcut("near-duplicates, the text of another problem up to names", same, count, 0)


def _worst_family(items: Iterable[Item]) -> Iterator[Shortcut]:
    """Find the family of many problems whose most frequent answer is the most frequent."""
    answers: dict[str, Counter[str]] = {}
    for item in items:
        answers.setdefault(item.family, Counter())[item.answer] += 1
    many = [
        Shortcut(f"guess, the most frequent answer of `{name}`", max(own.values()), own.total())
        for name, own in answers.items()
        if own.total() >= _MANY
    ]
    if many:
        yield max(many, key=lambda one: one.hits / one.of)


def numbers_of(item: Item) -> tuple[str, ...]:
    """List the numbers of a problem, after its family: all that tells it from its siblings."""
    return (item.family, *sorted(_NUMBER.findall(item.text)))


def text_without_names(item: Item) -> str:
    """Give a problem's text with every name taken out."""
    return _NAME.sub("_", item.text)


_POSITIONS: Final[Mapping[str, Callable[[list[str]], str]]] = {
    "first": lambda numbers: numbers[0],
    "last": lambda numbers: numbers[-1],
    "smallest": lambda numbers: min(numbers, key=float),
    "largest": lambda numbers: max(numbers, key=float),
}


def _guesses(items: Iterable[Item]) -> dict[str, str]:
    """Find the answer that each family gives most often.

    It is learnt from problems of another seed where they can be drawn: in a small set every answer
    is a frequent one. Families of an earlier version are learnt from the set itself.
    """
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(item.family, []).append(item)
    return {name: _guess(own) for name, own in groups.items()}


def _guess(items: Sequence[Item]) -> str:
    if not all(map(_can_be_drawn, items)):
        return _most_frequent(items)
    return _most_drawn(items[0].family, frozenset(item.level for item in items))


@cache
def _most_drawn(name: str, present: frozenset[Level]) -> str:
    family = FAMILIES[name]
    levels: list[Level] = [level for level in family.levels if level in present]
    places = product(levels, range(_DRAWS))
    return _most_frequent(family.make(_SEED, level, index) for level, index in places)


def _can_be_drawn(item: Item) -> bool:
    family = FAMILIES.get(item.family)
    return family is not None and item.level in family.levels and item.version == VERSION


def _most_frequent(items: Iterable[Item]) -> str:
    return Counter(item.answer for item in items).most_common(1)[0][0]
