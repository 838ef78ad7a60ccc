"""The rule for the case of a whole reply: all in capital, or all in small letters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from constraint_first.constraint.reply.pattern import PRODUCT, either
from constraint_first.constraint.reply.polarity import is_refused_nearby
from constraint_first.constraint.reply.request import Found, Sentence
from constraint_first.pattern import lazy_pattern
from constraint_first.problem import Json

_LOWER: Final = r"(?:lower[\s-]?cased?s?|(?:small|little)\s+letters?)"
_UPPER: Final = r"(?:upper[\s-]?cased?s?|(?:block\s+)?capitals?|caps|capitali[sz]ed)"
_LETTERS: Final = r"(?:\s+(?:letters?|characters?|text))?"
_ALL: Final = (
    rf"(?:{either('entirely, completely, only, all, strictly, just, exclusively, wholly')}[\s-]+"
    rf"(?:{either('in, use, using, of, written in, contain(s)')}\s+)?(?:all\s+|the\s+)?"
    r"|\bin\s+(?:english\s+)?(?:(?:all|only|full|pure|block)[\s-]+)?"
    r"|\b(?:using|be|are|use|with|stay|nothing\s+but)\s+(?:only\s+)?"
    r"|\band\s+(?:in\s+)?(?=lower|upper)"
    rf"|\b(?:everything|it\s+all|(?:whole|entire|full|complete)\s+(?:{PRODUCT}|thing))\s+"
    r"(?:(?:is|be|goes|stays|should|must|to|has|needs|in|english|all)[\s,]+){0,5})"
)
_ONLY: Final = (
    r"\s+(?:letters\s+|english\s+){0,2}(?:only|throughout|everywhere|exclusively"
    r"|start\s+to\s+finish|all\s+the\s+way|from\s+(?:beginning|start)\s+to\s+(?:end|finish))\b"
)
_NAMED: Final = lazy_pattern(rf"\b(?:(?P<lower>{_LOWER})|{_UPPER}){_LETTERS}\b")
_WHOLE: Final = (
    ("lower", lazy_pattern(rf"{_ALL}{_LOWER}{_LETTERS}\b|\b{_LOWER}{_ONLY}|\ball[\s-]+{_LOWER}\b")),
    ("upper", lazy_pattern(rf"{_ALL}{_UPPER}{_LETTERS}\b|\b{_UPPER}{_ONLY}|\ball[\s-]+{_UPPER}\b")),
)
_LETTER: Final = r"(?:the\s+|your\s+|single\s+)*(?:letters?|characters?|words?)\b"
_EVERY_LETTER: Final = lazy_pattern(
    rf"\b(?:(?:all|every|each)\s+(?:of\s+)?{_LETTER}(?:\s+(?:of|in)\s+(?:your|the)\s+{PRODUCT})?"
    r"|words\s+in\s+your\s+(?:entire|whole)\b)"
    r"(?:[^.;]{0,60}?\b(?:is|are|be))?\s+(?:an?\s+)?(?:in\s+)?(?:all\s+)?"
    r"(?:(?P<lower>lower|small)|(?:upper|cap))"
    rf"|\bcapitali[sz]e\s+(?:all|every)\s+(?:of\s+)?{_LETTER}"
)
_OF_PART: Final = lazy_pattern(
    r"\b(?:the|each|every|all|any|your|its|use|using|with|put)\s+(?:[a-z]+\s+){0,2}?"
    + either(
        "title(s), heading(s), headline(s), header(s), name(s), acronym(s), keyword(s),"
        " subject, label(s), first letter(s), initial(s), line(s), section(s), phrase(s),"
        " bullet(s), noun(s), proper, term(s), step(s)"
    )
    + r"\b(?![^.;]*\bin\s+(?:your|the)\s+(?:entire|whole))[^.,;]{0,25}$"
    + r"|\b(?:some|few|several|certain|key)\b[^.;]{0,25}$|\bwords?\b(?:(?!\band\b)[^.,;]){0,60}$"
    + r"|\b(?:start|begin)(?:s|ning|ing)?\s+$"
    + rf"|\b(?:put|write|set|type|print)\s+(?:the|each|every|any|its|your)\s+(?!{PRODUCT}\b|"
    + r"(?:whole|entire|full|text|thing|complete)\b)[a-z]+(?:\s+[a-z]+)?\s+$"
)
_NO_CASE: Final = lazy_pattern(
    r"\s*(?:words?|city|cities|letters?\s+to\s+start|of|(?:letters?\s+)?(?:for|at(?!\s+all))\b)"
)
_MAY: Final = lazy_pattern(r"\b(?:may|can|might|could)\s+(?:also\s+)?be\b[^.;,]{0,30}$")
_IT_IS: Final = lazy_pattern(
    r"(?<!\bsure\s)(?<!\bthat\s)(?<!\bensure\s)(?:it's|it\s+is|they're|they\s+are)\s+$"
)
"""How something is, and not how it is to be."""
_MANNER: Final = lazy_pattern(
    rf"\s+{either('energy, mood, vibe, mode, feel, feeling, attitude')}\b"
)
_FEW: Final = lazy_pattern(r"\b(?:words?|names?|terms?)\b(?:(?!\band\b)[^.,;]){0,40}$|\bsparing")
"""Capitals of some words, and not of all."""


def read_case(sentence: Sentence) -> Iterator[Found]:
    """Whether the whole reply is in capital or in small letters."""
    plain = sentence.plain
    english: dict[str, Json] = {"language": "en"} if re.search(r"\benglish\b", plain) else {}
    if (found := _EVERY_LETTER.search(plain)) and sentence.allows(found.start()):
        case = "lower" if found["lower"] else "upper"
        yield sentence.found({"op": "case", "case": case, **english}, *found.span())
        return
    for case, found in _cases(plain):
        before = plain[: found.start()]
        other = any(one.search(before) for one in (_OF_PART, _MAY, _IT_IS))
        other = other or any(one.match(plain, found.end()) for one in (_NO_CASE, _MANNER))
        if not other and sentence.allows(found.start()):
            yield sentence.found({"op": "case", "case": case, **english}, *found.span())
            return


def _cases(plain: str) -> Iterator[tuple[str, re.Match[str]]]:
    """Find the cases that a sentence asks for: first by what it refuses, then by what it wants."""
    for found in _NAMED.finditer(plain):
        few = _FEW.search(plain[: found.start()]) or re.match(r"\s*words?\b", plain[found.end() :])
        if not few and is_refused_nearby(plain, *found.span()):
            yield "upper" if found["lower"] else "lower", found
    for case, pattern in _WHOLE:
        for found in pattern.finditer(plain):
            named = _NAMED.search(plain, found.start()) or found
            if not is_refused_nearby(plain, *named.span()):
                yield case, found
