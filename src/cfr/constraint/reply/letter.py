"""Rules for letters and other characters that a reply has so and so often."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from cfr.constraint.reply.bound import amounts
from cfr.constraint.reply.keyword import PASSIVE
from cfr.constraint.reply.mention import read_frequency
from cfr.constraint.reply.pattern import either
from cfr.constraint.reply.request import HIDDEN, Found, Sentence
from cfr.problem import Json

__all__ = ["read_hashtags", "read_letters"]

_LETTER: Final = re.compile(rf"\bletters?\s+(?P<letter>\"{HIDDEN}\"|[a-z](?![\w']))")
_WITHOUT: Final = re.compile(
    r"(?:\b"
    + either(
        "not, never, without, avoid, avoiding, refrain from, refraining from, cannot, can't,"
        " exclude, excluding, omit, omitting, no, free of"
    )
    + r"|n't)\s+(?:"
    + either(
        "ever, any, the use of, be, to, include, including, use, using, contain, containing, have,"
        " having, a, single"
    )
    + r"\s+)*(?:the\s+)?$"
)
_OF_A_WORD: Final = re.compile(
    rf"\b{either('word(s), name(s), country, countries, city, cities, animal(s), number(s)')}\s+"
    rf"{either('that, which, with, whose, containing, without')}\b[^.;]*$"
)
"""Words before a letter by which it is one of a word and not of the whole."""
_HASHTAGS: Final = re.compile(r"\s*(?:[a-z]+\s+){0,2}hash\s?tags?\b")


def read_letters(sentence: Sentence) -> Iterator[Found]:
    """How often a letter occurs in the reply."""
    plain = sentence.plain
    for found in _LETTER.finditer(plain):
        letter = sentence.original(*found.span("letter")).strip("\"'“”‘’`").lower()
        amount, end = read_frequency(plain, *found.span())
        passive = PASSIVE.match(plain, found.end())
        unwanted = _WITHOUT.search(plain[: found.start()]) or (passive and not passive["yes"])
        ends: dict[str, Json] = amount.ends if amount else {}
        if unwanted and (amount is None or amount.low is not None):
            ends = {"high": amount.low - 1 if amount and amount.low else 0}
        of_reply = not _OF_A_WORD.search(plain[: found.start()])
        if ends and letter and of_reply and sentence.allows(found.start()):
            yield sentence.found({"op": "letters", "letter": letter, **ends}, found.start(), end)


def read_hashtags(sentence: Sentence) -> Iterator[Found]:
    """How many hashtags the reply has."""
    for amount in amounts(sentence.plain):
        noun = _HASHTAGS.match(sentence.plain, amount.end)
        if noun and sentence.allows(amount.start):
            predicate = {"op": "letters", "letter": "#", **amount.at_least.ends}
            yield sentence.found(predicate, amount.start, noun.end())
