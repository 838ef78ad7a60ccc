"""The rule for the language in which a reply is wanted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from cfr.constraint.reply.language import LANGUAGES
from cfr.constraint.reply.pattern import PRODUCT, either
from cfr.constraint.reply.request import Found, Sentence

__all__ = ["read_language"]

_NAME: Final = rf"(?:the\s+)?(?P<name>{either(','.join(LANGUAGES))})(?:\s+language)?\b"
_ONLY: Final = either(
    "only, entirely, completely, solely, exclusively, strictly, purely, fully, just"
)
_SAID: Final = (
    re.compile(
        rf"\b{_ONLY}\s+(?:be\s+)?(?:{either('use, using, written, respond, answer, reply, write')}"
        rf"\s+)?(?:in\s+)?{_NAME}"
        rf"(?!\s*{either('word, letter, cuisine, food, people, speaker, recipe, citizen')})"
    ),
    re.compile(
        rf"\b{either('respond, answer, reply, written, write, be, is')}\s+"
        r"(?:(?:to\s+[a-z ]{1,20}|your\s+\w+|"
        + either("back, only, entirely, it, this, me, everything, all, completely, solely, fully")
        + rf")\s+)*in\s+(?:only\s+)?{_NAME}(?!\s*(?:and\s+(?:then|english)|style|or\b))"
    ),
    re.compile(
        rf"\b{PRODUCT}\s+(?:[a-z]+\s+){{0,4}}in\s+{_NAME}(?=[^.;]*\b(?:no\s+other|only|entire))"
    ),
    re.compile(rf"\b(?:in|using|use)\s+{_NAME}(?=[^.;]{{0,40}}\bno\s+other\s+languages?\b)"),
    re.compile(rf"\b(?:in|using|use)\s+{_NAME}\s+(?:only|alone)\b"),
    re.compile(
        rf"\b{either('write, compose, create, draft, give, tell')}\s+(?:me\s+)?(?:an?|the|your)\s+"
        rf"(?:[a-z-]+\s+){{0,2}}{PRODUCT}\s+in\s+{_NAME}"
        r"(?=\s*(?:[.,;!]|$|about|on|that|with|for|using))"
    ),
    re.compile(
        rf"\bno\s+(?:other\s+)?languages?\s+{either('other than, but, except, except for')}"
        rf"\s+{_NAME}"
    ),
)
_NOT: Final = re.compile(r"(?:\b(?:not|never|without|no)|n't)\s+(?:\w+\s+)?$")


def read_language(sentence: Sentence) -> Iterator[Found]:
    """In which language the whole reply is; English goes without saying."""
    for found in (one for pattern in _SAID for one in pattern.finditer(sentence.plain)):
        code = LANGUAGES[found["name"]]
        if code == "en" or _NOT.search(sentence.plain[: found.start()]):
            continue
        if sentence.allows(found.start()):
            yield sentence.found({"op": "language", "language": code}, *found.span())
            return
