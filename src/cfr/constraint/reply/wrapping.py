"""Rules for the form of the whole reply: JSON, quotation marks around it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from cfr.constraint.reply.pattern import PRODUCT, either
from cfr.constraint.reply.request import Found, Sentence

__all__ = ["read_json", "read_quotes"]

_JSON: Final = re.compile(
    r"\b"
    + either(
        "in, as, into, with, using, use, only, just, contain, valid, return, output, be, to, a,"
        " the, single, pure"
    )
    + rf"\s+(?:{either('a, an, the, valid, proper, single, pure, raw, correct, only')}\s+)*json\b"
    + rf"(?:\s+{either('format, block, object, code, output, structure, string, form, array')})*"
    + r"|\bjson\s+only\b|\boutput\s+json\b"
)
_ABOUT: Final = re.compile(
    r"\b"
    + either(
        "function, script, program, parse(s), parser, parsing, api, file, schema, library,"
        " difference, explain, tutorial, what is, convert, class, method, endpoint, python,"
        " javascript"
    )
    + r"\b"
)
_BESIDE: Final = re.compile(
    rf"\b{either('outside, before, after, around, beside(s), except, other than')}\b[^.;]{{0,30}}$"
)


def read_json(sentence: Sentence) -> Iterator[Found]:
    """Whether the reply is JSON."""
    found = _JSON.search(sentence.plain)
    if not found or _ABOUT.search(sentence.plain) or not sentence.wants(found.start()):
        return
    if not _BESIDE.search(sentence.plain[: found.end()]):
        yield sentence.found({"op": "json"}, *found.span())


_MARKS: Final = (
    r"(?:a\s+pair\s+of\s+|the\s+)?(?:double[\s-]+)?"
    r"(?:quotations?\s+marks?|quotations|quotes|quote\s+marks?|\"□\")"
)
_WHOLE: Final = (
    rf"(?:(?:your|the|this|my|an?)\s+)?(?:{either('entire, whole, full, complete, final, all, of')}"
    rf"\s+|your\s+|one-sentence\s+|entirety\s+of\s+)*"
    rf"(?:{PRODUCT}|everything|it|all|thing)(?:\s*\([^)]*\))?"
)
_WRAP: Final = (
    r"(?:wrap(?:ped|ping)?|enclos(?:ed?|ing)|surround(?:ed|ing)?|put|plac(?:ed?|ing)|contain(?:ed)?"
    r"|encas(?:ed?|ing)|written|be|starts?\s+and\s+ends?|begins?\s+and\s+ends?|bracket(?:ed)?)"
)
_IN: Final = r"(?:up\s+)?(?:with|in|inside|within|by|between|into)"
_QUOTES: Final = (
    re.compile(rf"\b{_WRAP}\b[^.;]{{0,15}}?\b{_WHOLE}\s+{_IN}\s+{_MARKS}"),
    re.compile(rf"\b{_WHOLE}\b[^.;]{{0,80}}?\b{_WRAP}\s+{_IN}\s+{_MARKS}"),
    re.compile(
        rf"\b{_MARKS}\s+(?:around|about|surrounding)\s+(?:your|the)\s+"
        r"(?:entire|whole|full|complete)\b"
    ),
    re.compile(rf"\b{_WRAP}\s+{_IN}\s+{_MARKS}\s+(?:your|the)\s+(?:entire|whole)\b"),
)
_OF_PART: Final = re.compile(r"\b(?:single|title|word|phrase|names?|heading)\b")


def read_quotes(sentence: Sentence) -> Iterator[Found]:
    """Whether the whole reply stands in double quotation marks."""
    for found in (match for pattern in _QUOTES for match in pattern.finditer(sentence.plain)):
        if not _OF_PART.search(found[0]) and sentence.wants(found.start()):
            yield sentence.found({"op": "quoted"}, *found.span())
            return
