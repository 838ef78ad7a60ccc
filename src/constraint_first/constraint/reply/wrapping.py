"""Rules for the form of the whole reply: JSON, quotation marks around it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from constraint_first.constraint.reply.pattern import PRODUCT, either
from constraint_first.constraint.reply.request import Found, Sentence
from constraint_first.pattern import lazy_pattern

_JSON: Final = lazy_pattern(
    r"\b(?:"
    + either(
        "in, as, into, with, using, use, only, just, contain, valid, return, output, be, to, a,"
        " one, the, single, pure, but, raw, parseable, parsable, except, being, send, give, want,"
        " produce, back, is"
    )
    + r"\s+(?:"
    + either("a, an, the, valid, proper, single, pure, raw, correct, only, me, back")
    + r"\s+)*json\b(?:\s+"
    + either("format, block, object, code, output, structure, string, form, array")
    + r")*|json(?:\s+(?:object|format|output))?"
    r"(?:\s+and\s+nothing\s+else|\s*(?:,|-)?\s*(?:only|please)\b"
    r"|\s+for\s+(?:the|your)\s+(?:whole|entire|full)\b)|(?<==\s)json\b|(?<==)json\b)"
)
_ABOUT: Final = lazy_pattern(
    r"\b"
    + either(
        "function, script, program, parse(s), parser, parsing, api, file, schema, library,"
        " difference, explain, tutorial, what is, convert, class, method, endpoint, python,"
        " javascript"
    )
    + r"\b"
)
_WHOLLY: Final = lazy_pattern(
    rf"\b(?:your|the|whole|entire|full|complete|final)\s+(?:[a-z]+\s+)?{PRODUCT}\b[^.;:]{{0,60}}$"
    r"|\b(?:only|nothing\s+but|just)\s+(?:[a-z]+\s+){0,2}$|\bas\s+a\s+whole\b"
    r"|\b(?:respond|reply|answer)\s+(?:only\s+)?(?:with|in)\s+(?:[a-z]+\s+){0,3}$"
    r"|\beverything\b[^.;:]{0,40}$"
)
"""What before *JSON* makes sure that the reply is meant."""
_TOLD_OF: Final = lazy_pattern(
    rf"\b{either('describe, discuss, compare, teach, about, learn, understand, introduce')}"
    r"\s+(?:me\s+|us\s+)?(?:what\s+)?(?:a|an|the)?\s*$"
)
"""Words before *JSON* by which it is what is to be written about."""
_BESIDE: Final = lazy_pattern(
    rf"\b{either('outside, before, after, around, beside(s), except, other than')}\b[^.;]{{0,30}}$"
)


def read_json(sentence: Sentence) -> Iterator[Found]:
    plain = sentence.plain
    for found in _JSON.finditer(plain):
        told_of = _TOLD_OF.search(plain[: plain.index("json", found.start())])
        if told_of or not sentence.wants(found.start()) or not _is_whole_reply(plain, found):
            continue
        if not _BESIDE.search(plain[: found.end()]):
            yield sentence.found({"op": "json"}, *found.span())
            return


def _is_whole_reply(plain: str, found: re.Match[str]) -> bool:
    """Whether the reply itself is to be JSON, in a sentence that may be about programs."""
    if not _ABOUT.search(plain) or _WHOLLY.search(plain[: found.end() - 4]):
        return True
    only = "only" in found[0] or re.match(r"\W*only\b", plain[found.end() :])
    return bool(only) and not _ABOUT.search(plain[: found.start()])


_MARKS: Final = (
    r"(?P<marks>(?:a\s+pair\s+of\s+|the\s+|an?\s+|one\s+)?(?:(?:double|opening|closing)[\s-]+)*"
    r"(?:quotations?\s+marks?|quotations|quotes?\b|quote\s+marks?|speech\s+marks|\"\s*marks?"
)
_BY_NAME: Final = rf"{_MARKS}))"
_MARKS_OR_SIGN: Final = rf"{_MARKS}|\"□\"|\"\"))"
"""A sign in quotation marks may be any other; it counts only where something is wrapped."""
_WHOLE: Final = (
    rf"(?:(?:your|the|this|my|an?)\s+)?(?:{either('entire, whole, full, complete, final, all, of')}"
    rf"\s+|your\s+|one-sentence\s+|entirety\s+of\s+)*"
    rf"(?:{PRODUCT}|everything(?:\s+you\s+(?:write|say))?|it|all|thing|lot|whole)"
    r"(?:\s+as\s+a\s+whole)?(?:\s*\([^)]*\))?"
)
_WRAP: Final = (
    r"(?:wrap(?:ped|ping)?|enclos(?:ed?|ing)|surround(?:ed|ing)?|put|plac(?:ed?|ing)|contain(?:ed)?"
    r"|encas(?:ed?|ing)|written|be|is|goes|go|stands?|sits?|set|starts?\s+and\s+ends?"
    r"|begins?\s+and\s+ends?|bracket(?:ed)?)"
)
_IN: Final = r"(?:entirely\s+|up\s+)?(?:with|in|inside|within|by|between|into)"
_OPENS: Final = r"\b(?:start|begin|open)(?:s|ing|ning)?\b"
_ENDS: Final = r"\b(?:end|finish|close|conclude)(?:s|es|ing)?\b"
_QUOTES: Final = (
    lazy_pattern(rf"\b{_WRAP}\b[^.;]{{0,15}}?\b{_WHOLE}\s+{_IN}\s+{_MARKS_OR_SIGN}"),
    lazy_pattern(rf"\b{_WHOLE}\b[^.;]{{0,80}}?\b{_WRAP}\s+{_IN}\s+{_MARKS_OR_SIGN}"),
    lazy_pattern(
        rf"\b{_MARKS_OR_SIGN}\s+(?:around|about|surrounding)\s+"
        r"(?:(?:your|the)\s+(?:entire|whole|full|complete)|everything|all\s+of\s+it|it\s+all)\b"
    ),
    lazy_pattern(rf"\b{_WRAP}\s+{_IN}\s+{_MARKS_OR_SIGN}\s+(?:your|the)\s+(?:entire|whole)\b"),
    lazy_pattern(
        rf"{_OPENS}[^.;]{{0,40}}?\band\b[^.;]{{0,20}}?{_ENDS}[^.;]{{0,20}}?\bwith\s+{_BY_NAME}"
    ),
    lazy_pattern(rf"{_OPENS}[^.;]{{0,40}}?\bwith\s+{_BY_NAME}[^.;]{{0,30}}?{_ENDS}"),
    lazy_pattern(rf"\b{_IN}\s+{_MARKS_OR_SIGN},?\s+from\s+(?:the\s+)?(?:start|beginning|first)\b"),
    lazy_pattern(rf"\b(?:whole|entire|full|complete)\s+{PRODUCT}\s+{_IN}\s+{_MARKS_OR_SIGN}"),
    lazy_pattern(rf"{_BY_NAME}[^.;]{{0,40}}\bbeginning\b[^.;]{{0,30}}\bend\b"),
    lazy_pattern(
        rf"\b(?:everything|all\s+of\s+it|it\s+all)\b[^.;]{{0,50}}?\b{_IN}\s+{_MARKS_OR_SIGN}"
    ),
)
_OF_PART: Final = lazy_pattern(r"\b(?:single|title|word|phrase|names?|heading)\b")


def read_quotes(sentence: Sentence) -> Iterator[Found]:
    """Whether the whole reply stands in double quotation marks."""
    for found in (match for pattern in _QUOTES for match in pattern.finditer(sentence.plain)):
        if not _OF_PART.search(found[0]) and sentence.wants(found.start("marks")):
            yield sentence.found({"op": "quoted"}, *found.span())
            return
