"""Reading all the constraints that a text states.

Every rule names groups of words without which it has nothing to say, and words with which it never
has. One pass of an Aho-Corasick automaton finds which of them occur, and only those rules run that
find a word of each group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import Final, TypeAlias

from ahocorasick_rs import AhoCorasick

from constraint_first.constraint.predicate import MONTHS
from constraint_first.constraint.stated.asked import read_asked
from constraint_first.constraint.stated.calendar import read_date, read_days
from constraint_first.constraint.stated.chance import (
    read_angle,
    read_chance,
    read_options,
    read_share,
)
from constraint_first.constraint.stated.clock import read_clock
from constraint_first.constraint.stated.combination import DIVIDING, read_combination
from constraint_first.constraint.stated.count import read_count
from constraint_first.constraint.stated.draw import read_draw
from constraint_first.constraint.stated.encoding import read_encoding
from constraint_first.constraint.stated.entity import read_counted, read_entity
from constraint_first.constraint.stated.grouping import read_grouping
from constraint_first.constraint.stated.listing import read_listing
from constraint_first.constraint.stated.mixture import (
    read_between_others,
    read_kinds,
    read_pieces,
    read_price,
)
from constraint_first.constraint.stated.ratio import read_ratio
from constraint_first.constraint.stated.reading import LONGEST, Reading, plain_text
from constraint_first.constraint.stated.remainder import read_check, read_digit, read_remainder
from constraint_first.constraint.stated.reversal import read_reversal
from constraint_first.constraint.stated.rounding import read_rounding
from constraint_first.constraint.stated.selection import read_extremes, read_pairs, read_without
from constraint_first.constraint.stated.sequence import (
    read_consecutive,
    read_mean,
    read_multiples,
    read_rank,
)
from constraint_first.constraint.stated.statement import Stated
from constraint_first.pattern import lazy_pattern

Rule: TypeAlias = Callable[[Reading], Iterator[Stated]]
_Group: TypeAlias = tuple[str, ...]

_HOW_MANY: Final = ("how many", "number of")
_EACH: Final = ("each", "every", "per ", " a ", "all ", "of length", "contain", "hold")
_OF_NUMBERS: Final = ("even", "odd", "divi", "multiple", "than", "digit", "between", "under")
_BROKEN: Final = (
    *(f" {word} " for word in sorted(DIVIDING - {"probability"})),
    *("%", "average", "equal", "divid", " together", "+", "/"),
)

RULES: Final[tuple[tuple[Rule, tuple[_Group, ...], _Group], ...]] = (
    (read_remainder, (("remainder", "residue", "mod"),), ()),
    (read_check, (("modul", "remainder"),), ()),
    (read_ratio, (("ratio",),), ()),
    (read_days, (MONTHS, ("day", "daily")), ()),
    (
        read_date,
        (("date", "weekday", "of the week", "ch month", "at month", "ch year", "at year"),),
        (),
    ),
    (read_clock, (("what time", "which time", "is the time", "was the time", "be the time"),), ()),
    (
        read_listing,
        (("ing order", *(f"to {word}" for word in ("least", "greatest", "largest", "smallest"))),),
        (),
    ),
    (
        read_reversal,
        (("revers", "backwards", "to front", "to left", "order of", "turned round"),),
        (),
    ),
    (read_draw, (("denominator", "frac{", "/n"), ("random", "looking", "likely")), ()),
    (
        read_kinds,
        (_HOW_MANY, ("each", "every", " one ", " ones", "other", " hold", " on a ")),
        ("%", "half", "twice", "average", "+", "/", "ratio", "third"),
    ),
    (
        read_between_others,
        ((" than ",), ("together", "add up", "share", "in all", "total", "sum")),
        (),
    ),
    (read_pieces, (("centimet",),), ()),
    (read_price, (("round",), ("price", "cost", "pays", "dollar")), ()),
    (read_without, (("multiple", "divisible by"), _HOW_MANY), ()),
    (read_extremes, (("est and the ", "and the bottom", "est and "),), ()),
    (read_pairs, (("every two", "each other", "any two", "everyone"),), ()),
    (read_digit, (("digit",),), ()),
    (
        read_asked,
        (
            (
                *("integer", "number", "multiple", "divisor", "factor", "even", "odd", "divisible"),
                *("prime", "square"),
            ),
        ),
        (),
    ),
    (
        read_entity,
        (
            (*_OF_NUMBERS, "before"),
            ("number", "divisor", "code", "year", "price", "which", "integer"),
        ),
        (),
    ),
    (
        read_counted,
        (
            _OF_NUMBERS,
            (
                *(
                    "their number",
                    "this number",
                    "there are more",
                    "there are fewer",
                    "there are at",
                ),
                *(
                    "the digits of",
                    "it is even",
                    "it is odd",
                    "as many as",
                    "wants an",
                    "number of",
                ),
            ),
        ),
        (),
    ),
    (read_count, (_HOW_MANY,), ()),
    (
        read_grouping,
        (
            (
                *(
                    "full ",
                    "complete ",
                    "only in",
                    "exactly",
                    "left out",
                    "none left",
                    "always fill",
                ),
                *("steps of", "together at", "equal ", "same number into", "stand in", "left over"),
            ),
        ),
        (),
    ),
    (
        read_combination,
        (
            (
                *_HOW_MANY,
                "in cents",
                "in minutes",
                "in centi",
                "in milli",
                "in degrees",
                "score",
                "total",
            ),
            _EACH,
        ),
        _BROKEN,
    ),
    (
        read_combination,
        (("minutes", "cents"), ("hour", "dollar")),
        (*_BROKEN, *_EACH),
    ),
    (read_consecutive, (("consecutive",),), ()),
    (read_mean, (("mean", "average", "halfway"), ("even", "odd")), ()),
    (read_multiples, (("multiple", "divisible by"), ("sum", "add up", "how many")), ()),
    (read_rank, (("second", "third", "fourth", "fifth"), ("est ",)), ()),
    (read_rounding, (("nearest", "decimal"),), ()),
    (read_chance, (("probability", "likely", "chance"),), ()),
    (read_share, (("what percent", "the percent"),), ()),
    (read_angle, (("angle",),), ()),
    (read_options, (("(c)", "c)", "c."), ("(b)", "b)", "b.")), ()),
    (
        read_encoding,
        (
            (
                *(
                    "integer",
                    "lowest",
                    "simpl",
                    "denominator",
                    "prime",
                    "common factor",
                    "whole number",
                ),
                *("cancelling", "irreducible", "reduced"),
            ),
        ),
        (),
    ),
)


def read_stated(text: str) -> tuple[Stated, ...]:
    """Read the constraints on the answer that a problem's text states, in the text's order."""
    return _read(text) if len(text) <= LONGEST else ()


@lru_cache(maxsize=256)  # the runs and methods of a benchmark ask for the same texts again
def _read(text: str) -> tuple[Stated, ...]:
    found = {(one.span, str(one.predicate)): one for _, one in read_by_rule(text)}
    return tuple(sorted(found.values(), key=lambda one: (one.span, one.kind)))


def read_by_rule(text: str) -> Iterator[tuple[str, Stated]]:
    """Read what each rule finds in a text, with the rule's name."""
    plain = plain_text(text)
    if len(plain) > _LONG and _GAP.search(plain):
        return
    called, in_parts = _called(plain)
    if not called:
        return
    reading = Reading(text, plain)
    if reading.question is None or (in_parts and reading.in_parts):
        return
    yield from ((rule.__name__, one) for rule in called for one in rule(reading))


# Patterns that allow blanks in two places are slow on thousands of them, which no problem has.
_LONG: Final = 2_000
_GAP: Final = lazy_pattern(r"\s{200}")


def _called(plain: str) -> tuple[list[Rule], bool]:
    """Find the rules whose words occur in a text, and whether it may ask for several things."""
    first, second, blocked = 0, _FREE, 0
    calls = _calls()
    for word in {one[0] for one in _automaton().find_matches_as_indexes(plain, overlapping=True)}:
        one, two, block = calls[word]
        first |= one
        second |= two
        blocked |= block
    called = first & second & ~blocked
    return [rule for bit, rule in _BITS if called & bit], bool(blocked & _PARTED)


_SECOND_PART: Final = (
    "(b)",
    "(ii)",
    "(2)",
    "( b )",
    "( ii )",
    "( 2 )",
    "\nb",
    "\nii",
    "\n2",
    "part ",
)
_WORDS: Final = sorted(
    {word for _, groups, blocks in RULES for group in (*groups, blocks) for word in group}
    | {*_SECOND_PART}
)
_BITS: Final = [(1 << rank, rule) for rank, (rule, _, _) in enumerate(RULES)]
_PARTED: Final = 1 << len(RULES)


def _rules_with(word: str, place: int) -> int:
    """The rules, as bits, that name a word in their first (0) or their second (1) group."""
    return sum(
        bit
        for (bit, _), (_, groups, _) in zip(_BITS, RULES, strict=True)
        if len(groups) > place and word in groups[place]
    )


def _rules_without(word: str) -> int:
    bits = sum(bit for (bit, _), (_, _, blocks) in zip(_BITS, RULES, strict=True) if word in blocks)
    return bits | (_PARTED if word in _SECOND_PART else 0)


_FREE: Final = sum(
    bit for (bit, _), (_, groups, _) in zip(_BITS, RULES, strict=True) if len(groups) < 2
)


@cache
def _automaton() -> AhoCorasick:
    return AhoCorasick(_WORDS)


@cache
def _calls() -> list[tuple[int, int, int]]:
    return [(_rules_with(w, 0), _rules_with(w, 1), _rules_without(w)) for w in _WORDS]
