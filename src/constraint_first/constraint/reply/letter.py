"""Rules for letters and other characters that a reply has so and so often."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from constraint_first.constraint.reply.bound import amounts
from constraint_first.constraint.reply.mention import read_frequency
from constraint_first.constraint.reply.pattern import either
from constraint_first.constraint.reply.polarity import is_refused_nearby
from constraint_first.constraint.reply.request import HIDDEN, Found, Sentence
from constraint_first.pattern import lazy_pattern
from constraint_first.problem import Json

_LETTER: Final = lazy_pattern(
    rf"\b(?:letters?|characters?)\s+(?P<letter>\"{HIDDEN}\"|[a-z](?![\w']))"
    rf"|(?<=\s)(?P<plural>\"{HIDDEN}\"|[a-z])'s\b"
    r"(?=\s+(?:in|or|total|throughout|somewhere)|[.,;]|$)"
)
_OF_A_WORD: Final = lazy_pattern(
    rf"\b{either('word(s), name(s), country, countries, city, cities, animal(s), number(s)')}\s+"
    rf"{either('that, which, with, whose, containing, without')}\b[^.;]*$"
)
"""Words before a letter by which it is one of a word and not of the whole."""
_HASHTAGS: Final = lazy_pattern(r"\s*(?:[a-z]+\s+){0,2}hash\s?tags?\b")


def read_letters(sentence: Sentence) -> Iterator[Found]:
    """How often a letter occurs in the reply."""
    plain = sentence.plain
    for found in _LETTER.finditer(plain):
        group = next(name for name, text in found.groupdict().items() if text)
        letter = sentence.original(*found.span(group)).strip("\"'“”‘’`").lower()
        amount, end = read_frequency(plain, *found.span())
        if group == "plural":
            before = (one for one in amounts(plain) if not plain[one.end : found.start()].strip())
            amount = next((one.at_least for one in before if one.end <= found.start()), None)
        unwanted = is_refused_nearby(plain, *found.span())
        ends: dict[str, Json] = amount.ends if amount else {}
        if unwanted and (amount is None or amount.low is not None):
            ends = {"high": amount.low - 1 if amount and amount.low else 0}
        if unwanted is None or (unwanted and group == "plural"):
            continue
        of_reply = not _OF_A_WORD.search(plain[: found.start()])
        if ends and letter and of_reply and sentence.allows(found.start()):
            yield sentence.found({"op": "letters", "letter": letter, **ends}, found.start(), end)


def read_hashtags(sentence: Sentence) -> Iterator[Found]:
    for amount in amounts(sentence.plain):
        noun = _HASHTAGS.match(sentence.plain, amount.end)
        if noun and sentence.allows(amount.start):
            predicate = {"op": "letters", "letter": "#", **amount.at_least.ends}
            yield sentence.found(predicate, amount.start, noun.end())
