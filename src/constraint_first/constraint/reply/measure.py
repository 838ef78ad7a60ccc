"""Counting what a text is made of: words, sentences, parts, bullets, highlights, placeholders.

Texts come from models and may be long and strange: every count takes time in proportion to the
text's length, whatever it repeats.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from constraint_first.pattern import lazy_pattern

_WORD: Final = lazy_pattern(r"\w+")


def _count(pattern: re.Pattern[str], text: str) -> int:
    return sum(1 for _ in pattern.finditer(text))


def count_words(text: str) -> int:
    """Count runs of letters, digits and underscores; ``don't`` counts as two."""
    return _count(_WORD, text)


# --- Sentences.

_END: Final = lazy_pattern(r"[.!?…]{1,9}[\"'”’)\]*_]{0,9}(?=\s)|[。！？]")
_ABBREVIATIONS: Final = frozenset(
    (
        "mr mrs ms dr prof st sr jr vs etc inc ltd co corp no fig vol pp approx dept est gov gen"
        " col capt sgt rev hon e.g i.e a.m p.m u.s u.k ph.d cf al jan feb mar apr jun jul aug sept"
        " oct nov dec"
    ).split()
)
_LAST_WORD: Final = lazy_pattern(r"[\w.]*$")


def count_sentences(text: str) -> int:
    """Count the sentences of a text: each ends with a mark like ``.``, ``!`` or ``?``.

    A line break ends none, as in the usual tokenizers of sentences; a rest without a mark is one
    more. The number of a list item, an abbreviation and an initial end none either.
    """
    stripped = text.strip()
    count, start = 0, 0
    for end in _END.finditer(stripped):
        if _ends_sentence(stripped, start, end):
            count += 1
            start = end.end()
    return count + bool(_WORD.search(stripped, start))


def _ends_sentence(text: str, start: int, end: re.Match[str]) -> bool:
    """Whether a mark ends the sentence that began at ``start``."""
    if end[0][0] != ".":
        return True
    before = text[max(start, end.start() - 20) : end.start()]
    found = _LAST_WORD.search(before)
    word = found[0] if found else ""
    if end[0][:2] != ".." and word.lower() in _ABBREVIATIONS:
        return False
    if len(word) == 1 and word.isupper() and word != "I":
        return False
    # "1." that begins a line numbers an item of a list.
    line = text[max(start, end.start() - 20) : end.start()].rpartition("\n")[2]
    return not (word.isdigit() and len(word) < 4 and line.strip(" \t*#-") == word)


# --- Parts of a text.


def split_by(text: str, mark: str) -> list[str] | None:
    """Cut a text at a mark; None where an inner part is empty, so that nobody can say how many."""
    parts = [part.strip() for part in text.split(mark)]
    if parts and not parts[0]:
        parts = parts[1:]
    if parts and not parts[-1]:
        parts = parts[:-1]
    return parts if all(parts) else None


def split_paragraphs(text: str) -> list[str]:
    """Cut a text at empty lines."""
    return [part.strip() for part in text.split("\n\n") if part.strip()]


def first_word(text: str) -> str:
    """Give the first word in small letters, without quotation marks and what follows it."""
    word = next(iter(text.split(maxsplit=1)), "").lstrip("'\"").lower()
    return re.split(r"[.,?!'\"]", word, maxsplit=1)[0]


def count_sections(text: str, mark: str) -> int:
    """Count the places where a mark is followed by a number: ``Section 3``."""
    return _count(re.compile(re.escape(mark) + r"\s?\d+"), text)


def count_bullets(text: str) -> int:
    return sum(map(is_bullet, text.split("\n")))


def is_bullet(line: str) -> bool:
    """Whether a line begins with one ``*`` or with ``-``."""
    line = line.strip()
    return line.startswith("-") or (line.startswith("*") and line[1:2] not in ("*", ""))


# Neither pattern looks beyond the next star, so both are quick on any text.
_SINGLE: Final = lazy_pattern(r"\*([^*\n]*)\*")
_DOUBLE: Final = lazy_pattern(r"\*\*([^*\n]*)\*\*")


def count_highlights(text: str) -> int:
    """Count the stretches between stars, ``*so*`` or ``**so**``, that are not empty."""
    return sum(
        bool(found[1].strip()) for pattern in (_SINGLE, _DOUBLE) for found in pattern.finditer(text)
    )


def count_placeholders(text: str) -> int:
    """Count the stretches in square brackets, each inside one line."""
    return sum(_brackets(line) for line in text.split("\n") if "[" in line)


def _brackets(line: str) -> int:
    count = at = 0
    while (start := line.find("[", at)) >= 0 and (end := line.find("]", start)) >= 0:
        count += 1
        at = end + 1
    return count


def has_title(text: str) -> bool:
    """Whether a line has something in double angular brackets."""
    return any(map(_titled, text.split("\n")))


def _titled(line: str) -> bool:
    start, end = line.find("<<"), line.rfind(">>")
    return 0 <= start < end and bool(line[start:end].strip("<> \t"))


# --- Words and letters.


def count_phrase(text: str, phrase: str) -> int:
    """Count how often a phrase occurs, as a part of longer words too, in any case."""
    return text.lower().count(phrase.lower()) if phrase else 0


def has_word(text: str, word: str) -> bool:
    """Whether a word occurs as a whole word, in any case."""
    start = r"(?<!\w)" if word[:1].isalnum() else ""
    end = r"(?!\w)" if word[-1:].isalnum() else ""
    return bool(word) and bool(re.search(start + re.escape(word) + end, text, re.IGNORECASE))


def count_letter(text: str, letter: str) -> int:
    """Count how often a letter or another character occurs, in any case."""
    return text.lower().count(letter.lower())


# An apostrophe before a short ending parts a word: the capital of "I'm" is a word of its own.
_PIECE: Final = lazy_pattern(r"[^\s,;:@#$%&?!()\[\]{}<>\"“”`'’]+")
_JOINED: Final = lazy_pattern(r"--+|\.\.+")


def _pieces(text: str) -> Iterator[str]:
    return (one[0] for one in _PIECE.finditer(_JOINED.sub(" ", text)))


def count_capital_words(text: str) -> int:
    """Count the words without small letters; ``I`` and ``A`` are such words too."""
    is_upper: Callable[[str], bool] = str.isupper
    return sum(map(is_upper, _pieces(text)))
