"""Amounts in a text: each number with what it counts, and whether it is told of one of many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import takewhile
from typing import Final

from constraint_first.constraint.stated.numeral import WORDS
from constraint_first.pattern import lazy_pattern


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of the thing that is asked for, in the asked unit."""

    value: Fraction
    span: tuple[int, int]
    rate: bool
    """Whether it is told of each of many: *every pack holds 15 cards*."""
    doubled: bool
    """Whether two things are named of which it is told, *each child … a day*: easily misread."""
    clause: str
    """The words before it in its clause."""


@dataclass(frozen=True, slots=True)
class Other:
    """A number of something else."""

    value: Fraction
    noun: str
    """The stem of what it counts; empty where the text does not say it again."""
    rate: bool = False
    """Whether it is told of each of many."""


_NUMBER: Final = lazy_pattern(
    rf"(?<![\w.,])(?:(\d+(?:,\d{{3}})*(?:\.\d+)?)(?!\w)|({'|'.join(WORDS)})\b)"
)
_PRONOUN: Final = lazy_pattern(
    r"\b(?:other|each|every|any|this|that|the|next|which|wrong|right|larger|smaller|clear|plain"
    r"|short"
    r"|long|last|[a-z]+ing|an?\s+[a-z]+)\s+$"
)
_LIMIT: Final = lazy_pattern(r"\b(?:at\s+least|at\s+most|more\s+than|less\s+than|fewer\s+than)\s+$")
_VERB: Final = lazy_pattern(r"\b(?:wins|draws|loses|ties)\s+$")
# A number before a verb, an adjective or nothing counts what the text has just spoken of.
_PLURAL: Final = lazy_pattern(
    r"(?:[^s]s|ss|people|children|men|women|feet|sheep|fish|mice|teeth|geese|degrees|percent"
    r"|time|hour|minute|day|week|year|month|metre|m|cm|dollar|digit|note)$"
)
_OUT_OF: Final = lazy_pattern(r"\s*(?:out\s+)?of\s+[^,]{1,40}\d[^,]{1,60},\s*$")
_SINGULAR: Final = lazy_pattern(r"\s+(?:line|straight|slab|turn|time|day|side|piece|roll|way)\b")
_GOES_ON: Final = lazy_pattern(r"\s*(?:,\s*(?:and\s+)?|and\s+|or\s+)(?:minus\s+)?\d")
_NOUNS: Final = lazy_pattern(r"(?:\s*-?\s*[a-z]+){0,3}")
_OF: Final = lazy_pattern(
    r"\s*(?:(?:(won|lost|drawn|tied|back|forwards?)\b)|of\s+(?:(them|these|those|which|it)\b|"
    r"(?:(?:the|these|those|this|his|her)\s+(?:\d+\s+)?|\d+\s+)([a-z]+)))"
)
# A clause that tells how much there is in one of many: "each pack holds", "a win brings".
_RATE: Final = lazy_pattern(
    r"\b(?:each|every|all|any|per)\b|\ban?\s+(?:[a-z]+\s+){1,4}?"
    r"(?:has|holds?|takes?|costs?|pays?|brings?|gives?|earns?|means|counts|makes?|carries"
    r"|contains|weighs|for)\b"
    r"|\blength(?:\s+of)?\b|\bsteps\s+of\b|\bpieces\s+of\b|\bbunches\s+of\b|\b(?:one|an?)\s+"
    r"turn\b|\bdistance\s+of\b|\b(?:in|into)\s+[a-z]+\s+of\s*$"
)
_IN_EACH: Final = lazy_pattern(
    r"\s*(?:[a-z]+\s+){0,3}?(?:each|every|apiece|per)\b|\s*(?:[a-z]+\s+){0,3}?(?:on|in|to"
    r"|for)\s+(?:an?|other|any)\s"
    r"|\s*(?:[a-z]+\s+){1,2}?an?\s+(?:hour|day|week|minute|season|month|year)\b|\s*degrees\s+"
    r"(?:colder|warmer)\b"
)


# The same of another thing, but only where it is told in so many words.
_TOLD: Final = lazy_pattern(
    r"\b(?:each|every|an?|one)\s+(?:[a-z]+\s+){1,2}?(?:has|holds?|costs?|brings?|gives?|earns?"
    r"|weighs"
    r"|contains|needs|makes|carries|eats|uses|is\s+worth)\s+$"
)
_APIECE: Final = lazy_pattern(r"\s*[a-z]+\s+(?:each|apiece)\b")


def stem(noun: str) -> str:
    """Cut off the ending by which one thing and many things differ."""
    if noun.endswith("ves"):
        return f"{noun[:-3]}f"
    for ending in ("ies", "ie", "y", "es", "e", "s"):
        if noun.endswith(ending) and len(noun) > len(ending) + 1:
            return noun[: -len(ending)]
    return noun


def read_amounts(plain: str, scale: Mapping[str, int]) -> tuple[list[Amount], list[Other]] | None:
    """Find the amounts of the units in ``scale``, and the numbers of other things.

    A number without a noun may be such an amount and is taken for one. None where a number is no
    whole amount, or where none names the unit.
    """
    own: list[Amount] = []
    others: list[Other] = []
    pending: list[tuple[Fraction, tuple[int, int]]] = []
    named = last_own = False
    for found in _NUMBER.finditer(plain):
        before = plain[max(found.start() - 40, 0) : found.start()]
        if found[2] == "one" and _PRONOUN.search(before):
            continue
        value = _to_fraction(found[1]) if found[1] else Fraction(WORDS[found[2]])
        pending.append((value, found.span()))
        if _GOES_ON.match(plain, found.end()):
            continue
        known, bare = _noun(plain, found.end(), scale, last_own=last_own)
        bare = bare and not (found[2] == "one" and _SINGULAR.match(plain, found.end()))
        factor = scale[known] if known else 1
        if any((one * factor).denominator != 1 for one, _ in pending):
            return None
        if bare and not last_own and others and _inherits(plain, found.start(), before):
            others.extend(Other(one, "") for one, _ in pending)  # "wins 5 rounds, draws 9"
        elif known or (bare and not _LIMIT.search(before)):
            named = named or known is not None
            clause = _clause(plain, pending[0][1][0])
            before_it, after_it = _RATE.search(clause), _IN_EACH.match(plain, found.end())
            doubled = bool(_EACH.search(clause) and _A_DAY.match(plain, found.end()))
            rate = bool(before_it or after_it)
            own.extend(Amount(one * factor, span, rate, doubled, clause) for one, span in pending)
        else:
            noun = _other_noun(plain, found.end())
            rate = bool(_TOLD.search(before) or _APIECE.match(plain, found.end()))
            others.extend(Other(one, noun, rate) for one, _ in pending)
        last_own = bool(own) and own[-1].span == found.span()
        pending = []
    return (own, others) if named and not pending else None


def _to_fraction(digits: str) -> Fraction:
    digits = digits.replace(",", "")
    return Fraction(int(digits) if digits.isdecimal() else digits)  # an integer is made faster


def _other_noun(plain: str, at: int) -> str:
    if of := _OF.match(plain, at):
        return stem(of[3] or "")
    match = _NOUNS.match(plain, at)
    words = match.group().replace("-", " ").split() if match else []
    counted = takewhile(lambda word: stem(word) not in FUNCTION_WORDS, words)
    return next((stem(word) for word in counted if _PLURAL.search(word)), "")


def _inherits(plain: str, start: int, before: str) -> bool:
    """Whether a number without a noun counts what the number before it counts."""
    return bool(_VERB.search(before) or _OUT_OF.match(_clause(plain, start)))


def _noun(
    plain: str, at: int, scale: Mapping[str, int], *, last_own: bool
) -> tuple[str | None, bool]:
    """Say which known unit a number counts, and else whether it may count any thing at all."""
    if of := _OF.match(plain, at):
        if of[1] or of[2]:  # "7 of them": whatever was counted before
            return None, last_own
        return (stem(of[3]), False) if stem(of[3]) in scale else (None, False)
    match = _NOUNS.match(plain, at)
    words = match.group().replace("-", " ").split() if match else []
    counted = list(takewhile(lambda word: stem(word) not in FUNCTION_WORDS, words))
    known = next((stem(word) for word in counted if stem(word) in scale), None)
    return known, not any(_PLURAL.search(word) for word in counted)


_EACH: Final = lazy_pattern(r"\b(?:each|every)\b")
_A_DAY: Final = lazy_pattern(
    r"\s*(?:[a-z]+\s+){1,2}?(?:an?|per|every|each)\s+(?:hour|day|week|month|year)\b"
)
FUNCTION_WORDS: Final = frozenset(
    stem(word)
    for word in (
        "and or but for from to in on at a an the more less of if when then is are was it its he"
        " she"
        " they each every left remain other per with by which who that as go stay had have has"
        " "
    ).split()
)
"""Words after a number that say nothing of what it counts, by their stems."""


def _clause(plain: str, start: int) -> str:
    begin = max(plain.rfind(mark, 0, start) for mark in ".?!;")
    return plain[begin + 1 : start]
