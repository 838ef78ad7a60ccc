"""Rules for letters: their case, words in capitals, marks that are not wanted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from cfr.constraint.reply.bound import Amount, amounts
from cfr.constraint.reply.directive import OTHERS
from cfr.constraint.reply.pattern import PRODUCT, either
from cfr.constraint.reply.request import Found, Sentence
from cfr.problem import Json

__all__ = ["read_capital_words", "read_case", "read_marks"]

# --- The case of the whole.

_LOWER: Final = r"(?:lower[\s-]?cased?s?|small\s+letters)"
_UPPER: Final = r"(?:upper[\s-]?cased?s?|capitals?|caps|capitali[sz]ed)"
_LETTERS: Final = r"(?:\s+(?:letters?|characters?|text))?"
_NOT: Final = (
    rf"(?:\b{either('no, without, avoid, not, never, zero, free of, refrain from')}|n't)(?:\s+"
    + either(
        "any, use, using, the, of, single, a, contain, containing, include, including, have,"
        " having, even, one, should, be"
    )
    + r")*\s+"
)
_ALL: Final = (
    rf"(?:{either('entirely, completely, only, all, strictly, just, exclusively')}[\s-]+"
    rf"(?:{either('in, use, using, of, written in, contain(s)')}\s+)?(?:all\s+|the\s+)?"
    r"|\bin\s+(?:english\s+)?(?:(?:all|only)[\s-]+)?"
    r"|\b(?:using|be|are|use|with)\s+|\band\s+(?=lower))"
)
_CASES: Final = (
    ("lower", re.compile(rf"{_NOT}{_UPPER}\s*{_LETTERS}\b")),
    ("upper", re.compile(rf"{_NOT}{_LOWER}{_LETTERS}\b")),
    ("lower", re.compile(rf"{_ALL}{_LOWER}{_LETTERS}\b|\b{_LOWER}\s+(?:letters\s+)?only\b")),
    (
        "upper",
        re.compile(
            rf"{_ALL}{_UPPER}{_LETTERS}\b|\b{_UPPER}\s+(?:letters\s+)?only\b|\ball[\s-]+{_UPPER}\b"
        ),
    ),
)
_LETTER: Final = r"(?:the\s+|your\s+)?(?:letters?|characters?|words?)\b"
_EVERY_LETTER: Final = re.compile(
    rf"\b(?:(?:all|every|each)\s+(?:of\s+)?{_LETTER}|words\s+in\s+your\s+(?:entire|whole)\b)"
    r"(?:[^.;]{0,60}?\b(?:is|are|be))?\s+(?:in\s+)?(?:all\s+)?"
    r"(?:(?P<lower>lower|small)|(?:upper|cap))"
    rf"|\bcapitali[sz]e\s+(?:all|every)\s+(?:of\s+)?{_LETTER}"
)
_OF_PART: Final = re.compile(
    r"\b(?:the|each|every|all|any|your|its|use|using|with|put)\s+(?:[a-z]+\s+){0,2}?"
    + either(
        "title(s), heading(s), headline(s), header(s), name(s), acronym(s), keyword(s),"
        " subject, label(s), first letter(s), initial(s), line(s), section(s), phrase(s),"
        " bullet(s), noun(s), proper, term(s), step(s)"
    )
    + r"\b(?![^.;]*\bin\s+(?:your|the)\s+(?:entire|whole))[^.,;]{0,25}$"
    + r"|\b(?:some|few|several|certain|key)\b[^.;]{0,25}$|\bwords?\b(?:(?!\band\b)[^.,;]){0,30}$"
    + r"|\b(?:start|begin)(?:s|ning|ing)?\s+$"
)
_NO_CASE: Final = re.compile(r"\s*(?:words?|city|cities|letters?\s+(?:at|to\s+start)|of)\b")


def read_case(sentence: Sentence) -> Iterator[Found]:
    """Whether the whole reply is in capital or in small letters."""
    plain = sentence.plain
    english: dict[str, Json] = {"language": "en"} if re.search(r"\benglish\b", plain) else {}
    if (found := _EVERY_LETTER.search(plain)) and sentence.allows(found.start()):
        case = "lower" if found["lower"] else "upper"
        yield sentence.found({"op": "case", "case": case, **english}, *found.span())
        return
    for case, pattern in _CASES:
        for found in pattern.finditer(plain):
            of_part = _OF_PART.search(plain[: found.start()]) or _NO_CASE.match(plain, found.end())
            if not of_part and sentence.allows(found.start()):
                yield sentence.found({"op": "case", "case": case, **english}, *found.span())
                return


# --- Words in capitals.

_IN_CAPITALS: Final = (
    rf"(?:{either('that are, which are, written, be, are, to be, should be, must be')}\s+)*"
    rf"(?:{either('in, with, of, using, having, containing')}\s+)?(?:(?:only|fully)\s+)?"
    r"(?:all[\s-]+)?(?:the\s+)?(?:capital\s+letters|capitals|capitali[sz]ed|capital|caps"
    r"|upper[\s-]?cased?(?:\s+letters)?)"
)
_CAPITAL_WORDS: Final = re.compile(
    rf"\bwords?\s+(?:or\s+phrases\s+)?(?:in\s+(?:your|the)\s+{PRODUCT}\s+)?{_IN_CAPITALS}\b"
    r"|\b(?:(?:all|fully|entirely)[\s-]+)?"
    r"(?:caps|capitals?|capitali[sz]ed|capital[\s-]letters?|upper[\s-]?cased?)\s+words?\b"
)
_TIMES: Final = re.compile(r"\s*(?:times?|instances|occurrences|words?|occasions)\b")
_USE: Final = re.compile(
    rf"\b{either('use, using, include, including, have, add, contain, with, put')}"
    r"\s+(?:[a-z]+\s+){0,3}$"
)
_NO: Final = re.compile(r"\b(?:not|no|without|avoid)\b|n't\b")


def read_capital_words(sentence: Sentence) -> Iterator[Found]:
    """How many words of the reply are in capital letters."""
    plain = sentence.plain
    mentions = [*_CAPITAL_WORDS.finditer(plain)]
    ends = [*(one.start() for one in mentions[1:]), len(plain)]
    for found, until in zip(mentions, ends, strict=False):
        if not sentence.allows(found.start()):
            continue
        counted = [one for one in amounts(plain) if _counts(plain, found, one, until)]
        for one in counted:
            start, end = min(one.start, found.start()), max(one.end, found.end())
            yield sentence.found({"op": "capital_words", **one.at_least.ends}, start, end)
        before = plain[: found.start()]
        if not counted and _USE.search(before) and not _NO.search(before):
            yield sentence.found({"op": "capital_words", "low": 1}, *found.span())


def _counts(plain: str, found: re.Match[str], one: Amount, until: int) -> bool:
    """Whether an amount counts the words in capitals that a sentence mentions."""
    if one.end <= found.start():
        return bool(re.fullmatch(r"\s*(?:[a-z-]+\s+){0,2}", plain[one.end : found.start()]))
    after = found.end() <= one.start < until
    return after and (one.times or bool(_TIMES.match(plain, one.end)))


# --- Marks that are not wanted.

_MARKS: Final = {
    "comma": ",",
    "semicolon": ";",
    "exclamation mark": "!",
    "exclamation point": "!",
    "question mark": "?",
    "colon": ":",
    "asterisk": "*",
    "hashtag": "#",
}
_MARK: Final = rf"(?P<mark>{either(','.join(_MARKS))})"
_UNWANTED: Final = (
    re.compile(
        r"(?:\b"
        + either(
            "no, without, avoid, avoiding, not, never, zero, free of, free from, refrain from,"
            " refraining from, exclude, excluding, omit, omitting, cannot, can't, instead of, skip,"
            " leave out, devoid of, lack"
        )
        + r"\b|n't\b)(?:\s+(?:to\s+)?"
        + either(
            "any, use, using, uses, the, of, single, a, contain, containing, include, including,"
            " have, having, even, one, be, put, putting, other, ever, employ, employing, add,"
            " adding, usage, insert, all, write, writing, with, allowed, permitted"
        )
        + rf"|\s*,|\s+or|\s+and)*\s+{_MARK}s?\b"
    ),
    re.compile(
        rf"\b{_MARK}s?\s+(?:are|is|should|must|may|can)\s*"
        r"(?:not|n't|never|forbidden|prohibited|banned)\b"
    ),
    re.compile(rf"\b{_MARK}[\s-]free\b"),
)
_SOMEWHERE: Final = re.compile(
    rf"[-\s]*{either('separated, splice, after, before, between, at the end')}"
)


def read_marks(sentence: Sentence) -> Iterator[Found]:
    """Which marks, commas above all, the reply does without."""
    for found in (one for pattern in _UNWANTED for one in pattern.finditer(sentence.plain)):
        others = OTHERS.search(sentence.plain[: found.start()])
        if others or _SOMEWHERE.match(sentence.plain, found.end()):
            continue
        if sentence.allows(found.start()):
            mark = _MARKS[" ".join(found["mark"].split())]
            yield sentence.found({"op": "without", "marks": [mark]}, *found.span())
