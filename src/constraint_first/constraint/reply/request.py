"""A request prepared for the rules: its sentences, and which of them may demand something.

A demand on the reply must be told from what the reply is to be about. Text in quotation marks, text
to work on, examples, questions, permissions and stories about other people's writing demand
nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final, TypeAlias

from constraint_first.constraint.predicate import Predicate
from constraint_first.constraint.reply.content import is_demand
from constraint_first.constraint.reply.directive import Material, find_material, may_demand
from constraint_first.constraint.reply.polarity import is_refused
from constraint_first.pattern import lazy_pattern

Found: TypeAlias = tuple[Predicate, int, int]
"""A predicate that a rule read, and where in the request."""

LONGEST: Final = 20_000
"""Characters of the longest request that is read."""

_LONGEST_SENTENCE: Final = 2_000
_MOST_SENTENCES: Final = 300
"""Some rules look at a request's other sentences too, so their time grows with the square."""

HIDDEN: Final = "□"
"""What stands for each character between quotation marks in a plain text."""
QUOTED: Final = f'"{HIDDEN}+"'
"""The pattern of a quotation in a plain text."""

# --- Quotations.

_MARKS: Final = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "’": "'"})
_DOUBLE: Final = lazy_pattern(r'"([^"]{1,8000})"')
_SINGLE: Final = lazy_pattern(r"(?<![\w'])'([^\s'](?:[^\n']|'(?=\w)){0,200}?)'(?!\w)")
_TICKS: Final = lazy_pattern(r"`([^`\n]{1,200})`")


def _masked(text: str) -> str:
    """Give a text in small letters with all that is quoted hidden, each character in its place."""
    plain = text.translate(_MARKS)
    low = plain.lower()
    if len(low) != len(plain):
        low = "".join(one if len(one.lower()) != 1 else one.lower() for one in plain)
    for mark, pattern in (('"', _DOUBLE), ("'", _SINGLE), ("`", _TICKS)):
        if mark in low:
            low = pattern.sub(lambda found: f'"{HIDDEN * len(found[1])}"', low)
    return low


# --- Sentences.

_BREAK: Final = lazy_pattern(
    r"[.!?][.!?\")\]]{0,5}(?=\s)|\n|\"(?=\s)"
    # A question after a colon asks; what stands before it may demand.
    r"|:(?=\s+(?:why|what|how|is|are|do|does|did|can|should|which|who|when|where|will)\b[^.\n]*\?)"
)
_ABBREVIATION: Final = lazy_pattern(
    r"(?:^|[^a-z])(?:i\.e|e\.g|etc|vs|mr|mrs|ms|dr|ie|eg|p\.s|p\.p\.s)$"
)
_SAID: Final = lazy_pattern(
    r"\b(?:end|finish|close|conclude|repeat|copy|start|begin|say|last|final)\b"
)
_ITEM: Final = lazy_pattern(r"\s*\(?\d{1,2}$")
_EXAMPLE: Final = lazy_pattern(
    r"(?:such as|examples?|for instance|like|likes|format|form|below|e\.g\.|i\.e\.|following|point"
    r"|points|bullets?)\W{0,3}:\s*$"
)
_LISTED: Final = lazy_pattern(r"\s*(?:[*\-•]|\d+[.)]|\.\.\.|\[)")


@dataclass(frozen=True)
class Sentence:
    """A sentence of a request; a position in ``plain`` is ``start`` less than in the request."""

    request: Request
    start: int
    end: int
    readable: bool
    """Whether it may demand something at all."""

    @cached_property
    def plain(self) -> str:
        """The sentence in small letters, with what is quoted hidden."""
        return self.request.plain[self.start : self.end]

    def original(self, start: int, end: int) -> str:
        """The words as the request has them, between two places of the sentence."""
        return self.request.text[self.start + start : self.start + end]

    def found(self, predicate: Predicate, start: int, end: int) -> Found:
        """A predicate that stands between two places of the sentence."""
        return predicate, self.start + start, self.start + end

    def allows(self, at: int) -> bool:
        """Whether what stands at a place is a demand, by the words before it."""
        return is_demand(self.plain, at)

    def wants(self, at: int) -> bool:
        """Whether what stands at a place is a demand and not refused."""
        return self.allows(at) and is_refused(self.plain, at, at) is False


@dataclass(frozen=True)
class Request:
    """A request with its sentences; positions in ``plain`` are positions in ``text``."""

    text: str
    plain: str

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """The sentences, each with whether it may demand something."""
        found: list[Sentence] = []
        material = find_material(self.plain)
        example = False
        for start, end in _split(_cut(self.text, self.plain), material)[:_MOST_SENTENCES]:
            plain = self.plain[start:end]
            in_example = example and bool(_LISTED.match(plain))
            example = (":" in plain and bool(_EXAMPLE.search(plain))) or in_example
            inside = [one for one in material if one.start <= start < one.end]
            readable = (
                not in_example
                and end - start <= _LONGEST_SENTENCE
                and may_demand(plain, max(inside, key=lambda one: one.closed, default=None))
            )
            found.append(Sentence(self, start, end, readable))
        return tuple(found)

    @cached_property
    def readable(self) -> tuple[Sentence, ...]:
        """The sentences that may demand something."""
        return tuple(one for one in self.sentences if one.readable)


def prepare(text: str) -> Request:
    return Request(text, _masked(text))


def _cut(text: str, plain: str) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    start = 0
    for stop in _BREAK.finditer(plain):
        before = plain[max(start, stop.start() - 8) : stop.start()]
        if stop[0] == "\n":  # a line that was broken for its length goes on in small letters
            goes_on = (
                before.strip()[-1:] not in ("", *'.:;!?"') and text[stop.end() :][:1].islower()
            )
        elif stop[0] == '"':  # a quotation with its own full stop may end the sentence too
            ended = text[stop.start() - 1 : stop.start()] in (".", "!", "?")
            goes_on = not (ended and text[stop.end() :].lstrip()[:1].isupper())
        elif stop[0] == ":":
            goes_on = bool(_SAID.search(plain, start, stop.start()))
        else:
            abbreviated = bool(_ABBREVIATION.search(before)) or bool(_ITEM.fullmatch(before))
            goes_on = stop[0] == "." and (abbreviated or stop.start() == start)
        if not goes_on:
            found.append((start, stop.end()))
            start = stop.end()
    if start < len(plain):
        found.append((start, len(plain)))
    return [(low, high) for low, high in found if plain[low:high].strip()]


def _split(spans: list[tuple[int, int]], material: list[Material]) -> list[tuple[int, int]]:
    """Cut sentences where text to work on begins in them."""
    starts = sorted({one.start for one in material})
    found: list[tuple[int, int]] = []
    for start, end in spans:
        cuts = [start, *(one for one in starts if start < one < end - 1), end]
        found.extend(pairwise(cuts))
    return found
