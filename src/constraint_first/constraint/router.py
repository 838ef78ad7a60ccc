"""The text-only router: does a problem contain words that restrict its answer?

Paper: Method, "Routed CFR"; appendices "Router Implementation" and "Complete Router Pattern
Analysis". Seven families of lexical cues; any cue routes a problem to the two-stage protocol. The
router sees the problem's text and nothing else.

The patterns are ordinary regular expressions, and ``route`` returns exactly the matches that each
of them has in the whole text. It is faster: at nearly every position of a problem no cue can
start, so an Aho-Corasick automaton finds, in one pass, the few literals with which one can, and a
pattern is tried only there (perf/router.py has the measurement).
"""

from __future__ import annotations

import re
from functools import cache
from typing import Literal, NamedTuple, TypeAlias

from ahocorasick_rs import AhoCorasick

from constraint_first.pattern import lazy_pattern

CueFamily: TypeAlias = Literal[
    "final_integer_or_count",
    "modular_remainder",
    "encoded_exact_form",
    "bounds_or_extremal",
    "floor_or_rounding",
    "unit_or_dimension",
    "adversarial_or_game",
]

Profile: TypeAlias = Literal["reconstructed", "printed"]
"""``reconstructed`` gives the counts that the paper reports; ``printed`` is its pseudocode."""

Span: TypeAlias = tuple[int, int]


class Cue(NamedTuple):
    """A cue family that matched, and its positions in the text."""

    family: CueFamily
    spans: tuple[Span, ...]

    def phrases(self, text: str) -> list[str]:
        return [text[start:end] for start, end in self.spans]


class _Pattern(NamedTuple):
    """One family: its regular expression, and the literals that its matches start with."""

    family: CueFamily
    regex: re.Pattern[str]
    openings: tuple[str, ...]
    """Lower-case. Every match starts with one of these, so the automaton misses none."""


def _pattern(family: CueFamily, regex: str, *openings: str) -> _Pattern:
    return _Pattern(family, lazy_pattern(regex, re.IGNORECASE), openings)


def _any_of(family: CueFamily, *words: str) -> _Pattern:
    return _pattern(family, rf"\b(?:{'|'.join(words)})\b", *words)


def _besides(word: str, *, after: str = "", before: str = "") -> str:
    """Write the pattern of a cue word that has another meaning next to some everyday words.

    After an expression of ``after``, or before one of ``before`` (both separated by bars), it is
    not a cue. In the paper's benchmarks none of these expressions occurs in a problem that is
    routed by this word alone, so the paper's counts are reproduced.
    """
    behind = "".join(rf"(?<!\b{one} )" for one in after.split("|") if one)
    return behind + word + (rf"(?!\s+(?:{before})\b)" if before else "")


# "Round" as a verb or in a game; not as a shape (the earth is round, a round table) or a trip.
_ROUND = "|".join(
    (
        _besides("round", after="is|are|was|were|be|is not|year") + r"(?!\s+[a-z])",
        r"round(?=\s+(?:\S+\s+){0,4}?to\s+(?:the\s+)?(?:nearest|next|whole|\d|one|two|three)\b)",
        r"round(?=\s+(?:(?:it|them|each|the|your|his|her|its|their)\s+(?:\S+\s+)?)?(?:up|down|off)\b)",
        r"round(?=\s+(?:adds|counts|costs|takes|won|lost|from)\b)",
    )
)
_REMAINDER = _besides(
    "remainder",
    before=r"of (?:the|this|that|my|your|his|her|its|our|their) (?:days?|night|morning|afternoon"
    r"|evening|week|weekend|month|year|season|time|trip|journey|way|money)",
)
_DEGREE = _besides("degrees?", after="bachelor's|master's|doctoral|university")
_AREA = _besides("area", after="bay", before="codes?")
_DISTANCE = _besides("distance", before="learning")
_UNIT = _besides("units?", after="army|police|storage", before="tests?|testing")
_STRATEGY = _besides("strategy", after="business|company|investment|marketing|sales")

_RECONSTRUCTED = (
    _pattern(
        "final_integer_or_count",
        r"\b(?:find|determine)\s+(?:the\s+)?(?:number|sum of all|product of all)\b"
        r"|\bhow many\b|\bnumber of ways\b|\bordered (?:pairs|triples)\b|\bpositive integers?\b",
        *("find", "determine", "how many", "number of ways", "ordered ", "positive integer"),
    ),
    _pattern(
        "modular_remainder",
        rf"\b(?:{_REMAINDER}|modulo|mod|residue|divisible by|multiple of|congruent)\b",
        *("remainder", "mod", "residue", "divisible by", "multiple of", "congruent"),
    ),
    _pattern(
        "encoded_exact_form",
        r"can be (?:written|expressed) as|relatively prime|coprime|not divisible by the square"
        r"|find\s+[a-z]\s*\+\s*[a-z]",
        *("can be ", "relatively prime", "coprime", "not divisible by the square", "find"),
    ),
    _pattern(
        "bounds_or_extremal",
        rf"\b(?:largest|smallest|greatest|{_besides('least', after='but not')}|maximum|minimum"
        r"|at most|at least|between|less than)\b",
        *("largest", "smallest", "greatest", "least", "maximum", "minimum"),
        *("at most", "at least", "between", "less than"),
    ),
    _pattern(
        "floor_or_rounding",
        rf"\b(?:greatest integer|nearest integer|floor|(?<!well-)rounded|rounding|{_ROUND})\b"
        r"|\\lfloor",
        *("greatest integer", "nearest integer", "floor", "round", "\\lfloor"),
    ),
    _pattern(
        "unit_or_dimension",
        rf"\b(?:{_DEGREE}|probability|{_AREA}|volume|percent(?:age)?s?|length|{_DISTANCE}|{_UNIT}"
        r"|inch(?:es)?|dollars?)\b",
        *("degree", "probability", "area", "volume", "percent"),
        *("length", "distance", "unit", "inch", "dollar"),
    ),
    _pattern(
        "adversarial_or_game",
        rf"\b(?:guarantee|{_STRATEGY}|for sure|optimal play|optimal(?:ly)?)\b",
        *("guarantee", "strategy", "for sure", "optimal"),
    ),
)

_PRINTED = (
    _any_of("final_integer_or_count", "how many", "number of", "positive integer"),
    _any_of("modular_remainder", "remainder", "modulo", "mod", "divisible by"),
    _pattern(
        "encoded_exact_form",
        r"relatively prime|coprime|find [a-z] \+ [a-z]",
        *("relatively prime", "coprime", "find "),
    ),
    _any_of("bounds_or_extremal", "largest", "smallest", "at most", "at least", "between"),
    _any_of("floor_or_rounding", "greatest integer", "floor", "nearest integer"),
    _any_of("unit_or_dimension", "degrees", "probability", "area", "volume", "percent"),
    _any_of("adversarial_or_game", "guarantee", "strategy", "optimal play"),
)

PROFILES: dict[Profile, tuple[_Pattern, ...]] = {
    "reconstructed": _RECONSTRUCTED,
    "printed": _PRINTED,
}
FAMILIES: tuple[CueFamily, ...] = tuple(pattern.family for pattern in _RECONSTRUCTED)


def route(text: str, profile: Profile = "reconstructed") -> tuple[Cue, ...]:
    """Return the cue families that match a problem; without any it goes to Direct CoT."""
    automaton, tries = _scanner(profile)
    fired: dict[int, list[Span]] = {}
    for opening, start, _ in automaton.find_matches_as_indexes(_lower(text), overlapping=True):
        for rank, regex in tries[opening]:
            if found := regex.match(text, start):
                fired.setdefault(rank, []).append(found.span())
    return tuple(Cue(FAMILIES[rank], _leftmost(fired[rank])) for rank in sorted(fired))


def aime_convention(benchmark: str) -> bool:
    """Whether the paper's historical AIME override would route a whole benchmark.

    It depends on the benchmark's name and not on a problem's text, so it is an ablation and never
    a default (paper: Router Behavior, "AIME router convention control").
    """
    return benchmark.lower().startswith("aime")


@cache
def _scanner(profile: Profile) -> tuple[AhoCorasick, list[list[tuple[int, re.Pattern[str]]]]]:
    """Build the automaton of all openings and, for each, the families to try where it occurs."""
    patterns = PROFILES[profile]
    openings = sorted({opening for pattern in patterns for opening in pattern.openings})
    return AhoCorasick(openings), [
        [(rank, p.regex) for rank, p in enumerate(patterns) if opening in p.openings]
        for opening in openings
    ]


# The letters outside ASCII that re.IGNORECASE matches with ASCII ones and str.lower() does not
# convert: long s, dotless i, and dotted capital I, whose lower case is two characters long.
_ODD_LETTERS = str.maketrans("ſıİ", "sii")


def _lower(text: str) -> str:
    """Lower-case a text without moving any character."""
    if text.isascii():
        return text.lower()
    # The automaton requires UTF-8: a question mark replaces each lone surrogate.
    characters = text.encode("utf-8", "replace").decode()
    return characters.translate(_ODD_LETTERS).lower()


def _leftmost(spans: list[Span]) -> tuple[Span, ...]:
    """Keep the spans that ``re.finditer`` would find: from the left, without overlaps."""
    kept: list[Span] = []
    for span in sorted(spans):
        if not kept or span[0] >= kept[-1][1]:
            kept.append(span)
    return tuple(kept)
