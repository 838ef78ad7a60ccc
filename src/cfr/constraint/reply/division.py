"""Rules for a reply in several pieces: sections with a heading, different responses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from cfr.constraint.reply.bound import amounts
from cfr.constraint.reply.pattern import either
from cfr.constraint.reply.request import Found, Request, Sentence

__all__ = ["read_responses", "read_sections"]

_SECTIONS: Final = re.compile(
    r"[\s-]*(?:(?!and\b|or\b)[a-z]+\s+)?(?:sections?|parts|chapters|days)\b"
)
_MARK: Final = re.compile(
    rf"(?:{either('with, by, as, using, labeled, labelled, called, named')}|:)\s+"
    r"(?:the\s+(?:word|heading|label)\s+)?[\"'“‘*]*(?P<mark>[A-Z][A-Za-z]*)\s+"
    r"(?P<number>X|x|#|N|\d+)(?!\w)"
)
_LISTED: Final = re.compile(r"\((?P<mark>[A-Z][A-Za-z]*)\s+1\s*(?:,|and\b)[^()\n]{0,200}\)")
_MARKING: Final = re.compile(r"\b(?:mark|begin|start|label|title|head|indicat|denot|separat)")


def read_sections(sentence: Sentence) -> Iterator[Found]:
    """How many sections with a numbered heading the reply has."""
    for amount in amounts(sentence.plain):
        mark = _section_mark(sentence.request)
        noun = _SECTIONS.match(sentence.plain, amount.end)
        if mark and not noun:
            noun = re.compile(rf"[\s-]*{mark.lower()}s?\b").match(sentence.plain, amount.end)
        if noun and mark and sentence.allows(amount.start):
            predicate = {"op": "sections", "mark": mark, **amount.at_least.ends}
            yield sentence.found(predicate, amount.start, noun.end())


def _section_mark(request: Request) -> str | None:
    """The word that heads each section, where a request gives one."""
    for sentence in request.sentences:
        if listed := _LISTED.search(sentence.original(0, len(sentence.plain))):
            return listed["mark"]
        if not _MARKING.search(sentence.plain):
            continue
        for found in _MARK.finditer(sentence.original(0, len(sentence.plain))):
            named = "section" in sentence.plain or found["number"] == "X"
            if named and found["mark"].lower() not in ("bullet", "point"):
                return found["mark"]
    return None


_SIX: Final = re.compile(r"(?<!\*)\*{6,7}(?!\*)|\b(?:6|six)\s+(?:(?:aster|ater)isks?|stars)\b")
_SEVERAL: Final = re.compile(
    rf"[\s-]*(?:{either('different, distinct, alternative, separate, unique, possible, entirely')}"
    r"\s+){0,2}"
    + either(
        "responses, answers, versions, replies, options, alternatives, critiques, outputs,"
        " variants, poems, stories, suggestions, songs, essays, scenes, parts"
    )
    + r"\b"
)


def read_responses(sentence: Sentence) -> Iterator[Found]:
    """How many responses, with six stars between them, are asked for."""
    found = _SIX.search(sentence.plain)
    if found and sentence.allows(found.start()):
        count = _several(sentence.request)
        ends = {"low": count, "high": count}
        yield sentence.found({"op": "responses", "separator": "******", **ends}, *found.span())


def _several(request: Request) -> int:
    """How many different texts a request asks for; two unless it says otherwise."""
    for one in request.readable:
        for amount in amounts(one.plain):
            if _SEVERAL.match(one.plain, amount.end) and amount.low and amount.low == amount.high:
                return amount.low
    return 2
