"""Rules for a reply in several pieces: sections with a heading, different responses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from constraint_first.constraint.reply.bound import amounts
from constraint_first.constraint.reply.pattern import SEPARATES, STRESS, either
from constraint_first.constraint.reply.request import Found, Request, Sentence
from constraint_first.pattern import lazy_pattern
from constraint_first.problem import Json

# --- Sections.

_OPEN: Final = r"[\"'“‘*(]*"
_CLOSE: Final = r"[\"'”’*:)]*"
_LISTED: Final = lazy_pattern(
    rf"(?<![\w-])(?P<mark>[A-Za-z]{{2,20}})\s+1{_CLOSE}"
    rf"(?:(?:\s*(?:,|/|;|-|–)\s*|\s+)(?:(?:and|to|through|then|or|up\s+to|&)\s+)?{_OPEN}"
    rf"(?P=mark)\s+(?P<last>\d{{1,2}})(?!\w){_CLOSE}){{1,30}}"
)
"""Headings in a row: *Day 1, Day 2 and Day 3*."""
_MORE: Final = lazy_pattern(r"\W*(?:etc|and\s+(?:so\s+(?:on|forth)|onwards?|more)|\.\.\.|…)")
_NUMBERED: Final = lazy_pattern(
    rf"(?:{either('with, by, as, using, labeled, labelled, called, named, headed, marked')}|:)\s+"
    rf"(?:the\s+(?:word|heading|label)\s+)?{_OPEN}(?P<mark>[A-Z][A-Za-z]*){_CLOSE}\s+"
    r"(?:(?P<number>X|x|#|N|\d+)(?!\w)"
    r"|(?:and|plus|followed\s+by|with)\s+(?:its|the|a|their|each)\s+(?:section\s+)?numbers?\b)"
)
"""One heading for all: *mark each with Section X*, *each starting with "Part" and its number*."""
_PARENTHESIS: Final = lazy_pattern(r"\((?P<mark>[A-Z][A-Za-z]*)\s+1\s*(?:,|and\b)[^()\n]{0,200}\)")
_HEADING: Final = lazy_pattern(
    r"\b(?:mark|begin|start|label|titl|head|indicat|denot|separat|call|nam|introduc|under|section"
    r"|divid|split|structur|organi|number)"
)
_STRESSED: Final = lazy_pattern(rf"\b{STRESS}\s+(?:[a-z]+\s+){{0,2}}$")
"""Words before parts that are no sections."""
_NO_MARK: Final = frozenset("bullet point figure table page option version".split())


@dataclass(frozen=True)
class _Heading:
    """The word that heads each section, and how many a request lists where it lists them all."""

    mark: str
    listed: int | None
    start: int
    end: int


def read_sections(sentence: Sentence) -> Iterator[Found]:
    """How many sections with a numbered heading the reply has."""
    heading = _heading(sentence.request)
    if not heading:
        return
    noun = re.compile(
        r"[\s-]*(?:(?!and\b|or\b|as\b|of\b|with\b|in\b)[a-z]+\s+|of\s+(?:those|these)\s+)?"
        rf"(?:sections?|parts?|chapters?|headings?|{heading.mark.lower()}s?)\b"
    )
    for amount in amounts(sentence.plain):
        found = noun.match(sentence.plain, amount.end)
        stressed = _STRESSED.search(sentence.plain[: amount.start])
        if found and amount.low and not stressed and sentence.allows(amount.start):
            told = amount.widened(sentence.plain[found.end() :])
            yield _sections(heading.mark, told.at_least.ends, sentence, amount.start, found.end())
            return
    if heading.listed and sentence.start <= heading.start < sentence.end:
        start, end = heading.start - sentence.start, heading.end - sentence.start
        counted = any(
            noun.match(one.plain, a.end) and one.allows(a.start)
            for one in sentence.request.readable
            for a in amounts(one.plain)
        )
        if not counted and sentence.allows(start):
            yield _sections(heading.mark, {"low": heading.listed}, sentence, start, end)


def _sections(mark: str, ends: dict[str, Json], sentence: Sentence, start: int, end: int) -> Found:
    return sentence.found({"op": "sections", "mark": mark, **ends}, start, end)


def _heading(request: Request) -> _Heading | None:
    """The heading of the sections, where a request gives one."""
    for sentence in request.sentences:
        if not _HEADING.search(sentence.plain):
            continue
        text = sentence.original(0, len(sentence.plain))
        for pattern in (_LISTED, _NUMBERED, _PARENTHESIS):
            for found in pattern.finditer(text):
                if not _is_heading(request, found):
                    continue
                closed = pattern is _LISTED and not _MORE.match(text, found.end())
                start, end = (sentence.start + place for place in found.span())
                return _Heading(found["mark"], int(found["last"]) if closed else None, start, end)
    return None


def _is_heading(request: Request, found: re.Match[str]) -> bool:
    if found["mark"].lower() in _NO_MARK:
        return False
    return (
        found.re.pattern != _NUMBERED.pattern
        or "section" in request.plain
        or found["number"] in ("X", None)
    )


# --- Different responses.

_SIX: Final = lazy_pattern(r"(?<!\*)\*{6,7}(?!\*)|\b(?:6|six)\s+(?:(?:aster|ater)isks?|stars)\b")
_SEVERAL: Final = lazy_pattern(
    rf"[\s-]*(?:{either('different, distinct, alternative, separate, unique, possible, entirely')}"
    r"\s+){0,2}"
    + either(
        "responses, answers, versions, replies, options, alternatives, critiques, outputs,"
        " variants, poems, stories, suggestions, songs, essays, scenes, parts, drafts, takes,"
        " endings, texts, ways, variations, letters, messages"
    )
    + r"\b"
)


def read_responses(sentence: Sentence) -> Iterator[Found]:
    """How many responses, with six stars between them, are asked for."""
    found = _SIX.search(sentence.plain)
    if found and "******" not in sentence.plain and not SEPARATES.search(sentence.plain):
        return
    if found and sentence.allows(found.start()):
        count = _several(sentence.request)
        ends = {"low": count, "high": count}
        yield sentence.found({"op": "responses", "separator": "******", **ends}, *found.span())


def _several(request: Request) -> int:
    """How many different texts a request asks for; two unless it says otherwise."""
    for one in request.readable:
        for amount in amounts(one.plain):
            if _SEVERAL.match(one.plain, amount.end) and amount.low and amount.low == amount.high:
                return max(2, amount.low)
    return 2
