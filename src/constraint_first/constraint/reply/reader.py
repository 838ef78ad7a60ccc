"""Reading all the demands that a request makes on its reply."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Final, TypeAlias

from constraint_first.constraint.predicate import Predicate
from constraint_first.constraint.reply.capital_word import read_capital_words
from constraint_first.constraint.reply.division import read_responses, read_sections
from constraint_first.constraint.reply.extent import (
    read_first_words,
    read_paragraphs,
    read_sentences,
    read_words,
)
from constraint_first.constraint.reply.keyword import read_keywords
from constraint_first.constraint.reply.letter import read_hashtags, read_letters
from constraint_first.constraint.reply.letter_case import read_case
from constraint_first.constraint.reply.markup import (
    read_bullets,
    read_highlights,
    read_placeholders,
    read_postscript,
    read_title,
)
from constraint_first.constraint.reply.option import read_options
from constraint_first.constraint.reply.phrase import describe
from constraint_first.constraint.reply.punctuation import read_marks
from constraint_first.constraint.reply.repetition import read_repetition
from constraint_first.constraint.reply.request import LONGEST, Found, Sentence, prepare
from constraint_first.constraint.reply.tongue import read_language
from constraint_first.constraint.reply.wording import read_beginning, read_end
from constraint_first.constraint.reply.wrapping import read_json, read_quotes
from constraint_first.constraint.stated.statement import Stated

_Rule: TypeAlias = Callable[[Sentence], Iterator[Found]]

_RULES: Final[tuple[_Rule, ...]] = (
    read_words,
    read_sentences,
    read_paragraphs,
    read_first_words,
    read_sections,
    read_responses,
    read_bullets,
    read_highlights,
    read_placeholders,
    read_title,
    read_postscript,
    read_json,
    read_quotes,
    read_case,
    read_capital_words,
    read_marks,
    read_language,
    read_keywords,
    read_letters,
    read_hashtags,
    read_end,
    read_beginning,
    read_options,
    read_repetition,
)


def read_demands(request: str) -> tuple[Stated, ...]:
    """Read the demands that a request makes on the whole reply, in the request's order."""
    return _read(request) if len(request) <= LONGEST else ()


@lru_cache(maxsize=256)  # the runs and methods of a benchmark ask for the same texts again
def _read(request: str) -> tuple[Stated, ...]:
    sentences = prepare(request).readable
    if not sentences:
        return ()
    read = (one for rule in _RULES for part in sentences for one in rule(part))
    found = [one for one in read if not _is_vague(one[0])]
    kept: dict[str, Found] = {}
    for one in sorted(found, key=lambda one: one[1:]):
        kept.setdefault(_key(one[0]), one)
    demands = (
        Stated("format", one[0], one[1:], describe(one[0]))
        for one in kept.values()
        if not _is_implied(one, kept.values())
    )
    return tuple(demands)


def _key(predicate: Predicate) -> str:
    """What makes a demand the same as another: a case is told once, whatever its language."""
    op = predicate["op"]
    if op == "case":
        return f"case {predicate['case']}"
    return "repeats" if op == "repeats" else str(predicate)


def _is_vague(predicate: Predicate) -> bool:
    """Whether things are counted and no end is said."""
    return predicate["op"] in _COUNTS and not predicate.keys() & {"low", "high"}


_COUNTS: Final = frozenset(
    (
        "words sentences paragraphs sections responses bullets highlights placeholders"
        " capital_words occurrences letters"
    ).split()
)


def _is_implied(one: Found, found: Iterable[Found]) -> bool:
    """Whether other demands say the same and more: how many capitals, which last words."""
    predicate, start, end = one
    if predicate in _SOME:
        return any(
            other["op"] == predicate["op"] and "low" in other and other != predicate
            for other, _, _ in found
        )
    return predicate["op"] == "contains" and any(
        other["op"] in _GIVEN_WORDS and low < end and start < high for other, low, high in found
    )


_SOME: Final = ({"op": "capital_words", "low": 1}, {"op": "placeholders", "low": 1})
_GIVEN_WORDS: Final = ("ends", "begins", "contains_any", "repeats", "paragraph_begins")
