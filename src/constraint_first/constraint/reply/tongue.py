"""The rule for the language in which a reply is wanted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from constraint_first.constraint.reply.language import LANGUAGES
from constraint_first.constraint.reply.pattern import PRODUCT, either
from constraint_first.constraint.reply.request import Found, Sentence
from constraint_first.pattern import lazy_pattern

_NAME: Final = rf"(?:the\s+)?(?P<name>{either(','.join(LANGUAGES))})(?:\s+language)?\b"
_ONLY: Final = either(
    "only, entirely, completely, solely, exclusively, strictly, purely, fully, just, wholly,"
    " totally, nothing but, all"
)
_NO_LANGUAGE: Final = (
    r"(?!\s*"
    + either(
        "word, letter, cuisine, food, people, speaker, recipe, citizen, class, lesson, course,"
        " homework, teacher, restaurant, style, accent, wine, cooking, and then, and english, or"
    )
    + r")"
)
_ALL_OF_IT: Final = (
    r"(?=[^.;]{0,40}\b(?:no\s+(?:other|english)|not\s+(?:a\s+word|one\s+word)\s+of"
    r"|without\s+(?:any\s+)?english|all\s+of\s+it|throughout|nothing\s+else|only|entire"
    r"|from\s+(?:start|beginning|the\s+(?:first|start|beginning))"
    r"|not\s+(?:in\s+)?english))"
)
_OF_SUBJECT: Final = either(
    "translate, say, said, word(s), phrase(s), sing, speak, sung, spoken, call, called, film(s),"
    " song(s) in, book(s), class, lesson(s), opera(s), title"
)
"""Words by which the language may be that of what is written about."""
_SAID: Final = (
    lazy_pattern(
        rf"\b{_ONLY}\s+(?:be\s+)?(?:{either('use, using, written, respond, answer, reply, write')}"
        rf"\s+)?(?:in\s+)?{_NAME}{_NO_LANGUAGE}"
    ),
    lazy_pattern(
        rf"\b(?:{either('respond, answer, reply, replies, write, be')}"
        r"|(?<!are\s)(?<!is\s)(?<!was\s)(?<!were\s)written)\s+"
        r"(?:(?:to\s+[a-z ]{1,20}|your\s+\w+|"
        + either(
            "back, only, entirely, it, this, me, everything, all, completely, solely, fully,"
            " wholly, the whole thing, all of it, the entire thing, up"
        )
        + rf")\s+)*in\s+(?:only\s+)?{_NAME}{_NO_LANGUAGE}"
    ),
    lazy_pattern(
        rf"\b{PRODUCT}\s+(?:[a-z]+\s+){{0,4}}in\s+{_NAME}(?=[^.;]*\b(?:no\s+other|only|entire))"
    ),
    lazy_pattern(rf"\b(?:in|using|use)\s+{_NAME}{_ALL_OF_IT}"),
    lazy_pattern(rf"\b(?:entire|whole|full|complete)\s+[a-z]+\s+in\s+{_NAME}{_NO_LANGUAGE}"),
    lazy_pattern(
        r"\b(?:everything|all\s+(?:of\s+)?(?:it|the))\b(?:[^.;]{0,40}\b(?:be|is)\s+(?:in\s+)?|\s+in\s+)"
        rf"{_NAME}{_NO_LANGUAGE}"
    ),
    lazy_pattern(
        rf"\b(?:in|using|use)\s+{_NAME}\s*(?:\(|,|-)?\s*(?:only|alone|please|throughout)\b"
    ),
    lazy_pattern(rf"(?:^\W*|[,;:(]\s*|\b(?:so|speak|write)\s+){_NAME}\s+(?:only|throughout)\b"),
    lazy_pattern(
        rf"\b(?:use|using)\s+{_NAME}\s+for\s+(?:the\s+|your\s+)?"
        r"(?:entire|whole|full|everything|all)\b"
    ),
    lazy_pattern(
        rf"\b{either('write, compose, create, draft, give, tell')}\s+(?:me\s+)?(?:an?|the|your)\s+"
        rf"(?:[a-z-]+\s+){{0,2}}{PRODUCT}\s+in\s+{_NAME}"
        r"(?=\s*(?:[.,;!]|$|about|on|that|with|for|using))"
    ),
    lazy_pattern(
        rf"\bno\s+(?:other\s+)?languages?\s+{either('other than, but, except, except for')}"
        rf"\s+{_NAME}"
    ),
    lazy_pattern(
        r"^\W*(?:please\s+|can\s+you\s+|could\s+you\s+|would\s+you\s+)*"
        + either("explain, describe, tell me, write, compose, draft, summarize, summarise, give me")
        + rf"\b(?!.*\b{_OF_SUBJECT}\b)[^.;]{{1,120}}\bin\s+{_NAME}\W*$"
    ),
)
_NOT: Final = lazy_pattern(r"(?:\b(?:not|never|without|no)|n't)\s+(?:\w+\s+)?$")


def read_language(sentence: Sentence) -> Iterator[Found]:
    """In which language the whole reply is; English goes without saying."""
    for found in (one for pattern in _SAID for one in pattern.finditer(sentence.plain)):
        code = LANGUAGES[found["name"]]
        if code == "en" or _NOT.search(sentence.plain[: found.start()]):
            continue
        if sentence.allows(found.start() or found.start("name")):
            yield sentence.found({"op": "language", "language": code}, *found.span())
            return
