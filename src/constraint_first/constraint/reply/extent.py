"""Rules for how long a reply is: its words, sentences and paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from constraint_first.constraint.reply.bound import Amount, amounts, both_ends
from constraint_first.constraint.reply.capital_word import counts_capitals
from constraint_first.constraint.reply.check import BLANK_LINE
from constraint_first.constraint.reply.number import NUMBER, ordinal, to_number
from constraint_first.constraint.reply.pattern import SEPARATES, either
from constraint_first.constraint.reply.request import QUOTED, Found, Request, Sentence
from constraint_first.pattern import lazy_pattern

_PART: Final = lazy_pattern(
    r"\b(?:"
    + either(
        "each, every, per, title, headline, heading, subject line, introduction, conclusion,"
        " caption"
    )
    + rf"|{either('first, second, third, last, opening, closing, final')}"
    + rf"\s+{either('paragraph, sentence, section, line, part, bullet, stanza, verse')}"
    + rf"|{either('bullet(s), bullet points, paragraph(s), section(s), sentence(s)')}"
    + rf"\s+{either('should, must, of, with, that')})"
    # A comma or an "and" between them begins something else.
    + r"\b(?:(?!,(?!\s+with)|\band\b)[^.;]){0,80}$"
)
"""Words before an amount by which it is that of a part and not of the whole."""
_PER: Final = lazy_pattern(r"[^.;,]{0,25}\b(?:each|apiece|per|every)\b|\s+(?:paragraph|stanza)s?\b")


def _is_of_whole(sentence: Sentence, amount: Amount, end: int) -> bool:
    before = sentence.plain[max(0, amount.start - 120) : amount.start]
    if _PART.search(before) or _PER.match(sentence.plain, end):
        return False
    return sentence.allows(amount.start)


# --- Words.

_WORDS: Final = lazy_pattern(
    r"[\s-]*(?:(?:total|english|different|unique|whole|measly|short)\s+)?words?\b"
    # Words that begin with a letter, or that rhyme, are not what a text is long by.
    r"(?!(?:(?!\band\b)[^.;,]){0,40}\b(?:start(?:s|ing)?\b|begin|rhym|lower-?case))"
    r"(?!\s+(?:capital|from|related|that)\b)"
)
_WORD_COUNT: Final = lazy_pattern(
    rf"{either('number of words, amount of words, word count, word limit, length in words')}"
    r"[^.;]{0,60}$"
)
_NO_LENGTH: Final = lazy_pattern(
    r"\b"
    + either(
        "list, name, suggest, find, highlight, bold, italicize, emphasize, capitalize, underline,"
        " teach, learn, identify, pick, choose, memorize, change, replace"
    )
    + r"\s+(?:me\s+)?$"
)
"""Verbs with which words are things of their own."""
_OTHER_UNIT: Final = lazy_pattern(r"\s*[a-z]*\s*(?:sentence|paragraph)")


_IN_CAPITALS: Final = lazy_pattern(r"\b(?:capital|caps\b|upper)[^.;]{0,60}$")
"""An amount of words in capitals is none of words."""


def read_words(sentence: Sentence) -> Iterator[Found]:
    """How many words the reply has; a number alone (*a 500 word story*) is no clear demand."""
    plain = sentence.plain
    for found in amounts(plain):
        noun = _WORDS.match(plain, found.end)
        if not noun and (
            not _WORD_COUNT.search(plain[: found.number]) or _OTHER_UNIT.match(plain, found.end)
        ):
            continue
        if counts_capitals(plain, found.end):
            continue
        if not noun and _IN_CAPITALS.search(plain[: found.start]):
            continue
        end = noun.end() if noun else found.end
        amount = both_ends(plain, found.widened(plain[end:]), end)
        if amount.bare:
            continue
        if not _NO_LENGTH.search(plain[: amount.start]) and _is_of_whole(sentence, amount, end):
            yield sentence.found({"op": "words", **amount.ends}, amount.start, end)


# --- Sentences.

_SENTENCES: Final = lazy_pattern(
    rf"[\s-]*(?:{either('total, complete, full, short, long, simple, concise, brief, different')}"
    r"\s+){0,2}sentences?\b"
)
_SENTENCE_COUNT: Final = lazy_pattern(r"number\s+of\s+sentences[^.;]{0,60}$")
_EXTENDS: Final = lazy_pattern(
    rf"\b{either('in, into, with, have, has, contain(s), be, use, within, write, of, to')}\s*$"
)


_OF_GIVEN: Final = lazy_pattern(r"\b(?:these|those|one\s+of(?:\s+the)?|following|both)\s+$")
"""Sentences that the request gives, and does not ask for."""


def read_sentences(sentence: Sentence) -> Iterator[Found]:
    plain = sentence.plain
    for found in amounts(plain):
        noun = _SENTENCES.match(plain, found.end)
        if not noun and not _SENTENCE_COUNT.search(plain[: found.number]):
            continue
        end = noun.end() if noun else found.end
        amount = both_ends(plain, found.widened(plain[end:]), end)
        if _OF_GIVEN.search(plain[: amount.start]):
            continue
        clear = _EXTENDS.search(plain[: amount.start]) and not re.match(
            r"\s*(?:above|below|that|from|about)\b", plain[end:]
        )
        if (clear or not amount.bare) and _is_of_whole(sentence, amount, end):
            yield sentence.found({"op": "sentences", **amount.ends}, amount.start, end)


# --- Paragraphs.

_STARS: Final = lazy_pattern(
    r"(?<!\*)\*\*\*(?!\*)|\b(?:3|three)\s+(?:aster|ater)isks?\b|\bthree\s+stars\b"
    r"|markdown\s+divider"
)
_SIZED: Final = rf"(?:{either('short, long, different, separate, distinct, full, brief, main')}\s+)"
_PARAGRAPHS: Final = lazy_pattern(rf"[\s-]*{_SIZED}{{0,2}}paragraphs?\b")
_PIECES: Final = lazy_pattern(
    rf"[\s-]*{_SIZED}{{0,2}}"
    rf"{either('sections, parts, stanzas, pieces, segments, verses, blocks, points, chapters')}\b"
)
_THINGS: Final = lazy_pattern(
    r"(?:\s+[a-z-]+){0,2}?\s+(?!asterisk|star|symbol|mark|new|line|time)[a-z]+s\b"
)
_SOME_OF_THEM: Final = lazy_pattern(
    r"\bparagraph\s*$|\b"
    + either("each, every, per, first, last, next, these, following, of the, highlight, italicize")
    + r"\s+(?:\w+\s+){0,2}$"
)


_HIGHLIGHTED: Final = lazy_pattern(
    r"\s+(?:(?:should|must|to|be|are)\s+){0,2}(?:highlight|itali|bold)"
)
_AND_NEXT: Final = lazy_pattern(r"\s+(?:and|from|to)\s+(?:the\s+)?(?:next|other|another)\b")
_NEARBY: Final = 80


def is_split_by_stars(request: Request, near: Sentence | None = None) -> bool:
    """Whether a request says, in a sentence or soon after it, that three stars separate parts."""
    low, high = (near.start, near.end + _NEARBY) if near else (0, len(request.text))
    return any(
        _STARS.search(one.plain) and SEPARATES.search(one.plain)
        for one in request.sentences
        if low <= one.start <= high
    )


def read_paragraphs(sentence: Sentence) -> Iterator[Found]:
    """How many paragraphs, or parts between three stars, the reply has."""
    plain = sentence.plain
    for amount in amounts(plain):
        noun = _PARAGRAPHS.match(plain, amount.end) or _PIECES.match(plain, amount.end)
        if not noun and _STARS.search(plain, amount.end) and SEPARATES.search(plain, amount.end):
            noun = _THINGS.match(plain, amount.end)
        if not noun or _SOME_OF_THEM.search(plain[: amount.start]):
            continue
        if _HIGHLIGHTED.match(plain, noun.end()) or _AND_NEXT.match(plain, noun.end()):
            continue
        paragraphs = "paragraph" in noun[0]
        stars = is_split_by_stars(sentence.request, None if paragraphs else sentence)
        if sentence.allows(amount.start) and (stars or paragraphs):
            ends = amount.widened(plain[noun.end() :]).ends
            mark = "***" if stars else BLANK_LINE
            predicate = {"op": "paragraphs", "separator": mark, **ends}
            yield sentence.found(predicate, amount.start, noun.end())


_NTH: Final = (
    r"(?:\d{1,3}(?:st|nd|rd|th)?|"
    + either(
        "first, second, third, fourth, fifth, sixth, seventh, eighth, ninth, tenth, last, final"
    )
    + ")"
)
_WHICH: Final = (
    rf"(?:(?:the\s+)?(?P<nth>{_NTH})(?:\s+paragraph|\s+one|\s+of\s+(?:them|these|those|the\s+\w+))?"
    rf"|paragraph\s+(?:number\s+|no\.?\s+|#)?(?P<number>{NUMBER}))"
)
_WORD: Final = (
    rf"(?:the\s+)?(?:(?:exact\s+)?(?P<noun>word|phrase)\s*:?\s*)?"
    rf"(?P<word>{QUOTED}|[a-z][a-z'-]*)"
)
_FIRST: Final = r"(?:first|opening|initial|starting)\s+word"
_IS: Final = r"\s*(?:(?:should|must|has\s+to|needs?\s+to|is\s+to|shall|to)\s+be\b|is\b|be\b|:)\s*"
_BEGINS: Final = (
    lazy_pattern(
        rf"\b{_WHICH}(?:(?!\b{_NTH}\b)[^.;]){{0,40}}?"
        rf"\b{either('start(s), begin(s), starting, beginning, open(s), opening')}"
        rf"\s+(?:with|on)\s+{_WORD}"
    ),
    lazy_pattern(rf"\b(?:start|begin|open)\s+{_WHICH}\s+(?:of\s+[a-z ]{{1,30}})?with\s+{_WORD}"),
    lazy_pattern(rf"\b{_FIRST}\s+(?:of|in)\s+{_WHICH}{_IS}(?P<said>){_WORD}"),
    lazy_pattern(rf"\bmake\s+{_WORD}(?P<said>)\s+the\s+{_FIRST}\s+(?:of|in)\s+{_WHICH}"),
    lazy_pattern(rf"\b{_WHICH}'s\s+{_FIRST}{_IS}(?P<said>){_WORD}"),
    lazy_pattern(rf"(?:\b|(?=\")){_WORD}(?P<said>)\s+as\s+the\s+{_FIRST}\s+(?:of|in)\s+{_WHICH}"),
    lazy_pattern(rf"\b{_WHICH}[^.;]{{0,30}}?\bha(?:s|ve)\s+{_WORD}\s+as\s+its\s+{_FIRST}"),
)


def read_first_words(sentence: Sentence) -> Iterator[Found]:
    """With which word a paragraph begins."""
    for found in (match for pattern in _BEGINS for match in pattern.finditer(sentence.plain)):
        if "paragraph" not in sentence.request.plain[: sentence.end]:
            return
        sure = found["word"].startswith('"') or found["noun"] or "said" in found.groupdict()
        word = sentence.original(*found.span("word")).strip("\"'“”‘’.,").lower()
        nth = to_number(found["number"]) if found["number"] else ordinal(found["nth"])
        nth = _count(sentence.request) if nth == 0 else nth
        clear = sure and nth and word and " " not in word
        if clear and sentence.allows(found.start()):
            predicate = {"op": "paragraph_begins", "nth": nth, "word": word}
            yield sentence.found(predicate, *found.span())


def _count(request: Request) -> int | None:
    for sentence in request.readable:
        for predicate, _, _ in read_paragraphs(sentence):
            low = predicate.get("low")
            if isinstance(low, int) and low == predicate.get("high"):
                return low
    return None
