"""The rule for given options, of which a reply has one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from constraint_first.constraint.reply.pattern import QUOTE_MARKS, either
from constraint_first.constraint.reply.request import QUOTED, Found, Sentence
from constraint_first.pattern import lazy_pattern

_ONE_OF: Final = lazy_pattern(
    r"\b"
    + either("one of, one from, from, among, between, either, one, only, just, whichever")
    + rf"\b\s*(?:{either('the, these, those, following, two, three, four, exact, possible, given')}"
    rf"\s+)*(?:{either('options, phrases, answers, responses, choices, sentences, statements')}"
    r"|replies|words)?[^\n\":]{0,60}:?"
)
_CHOICE: Final = lazy_pattern(
    rf"{either('one of, one from, following, options, choices, phrases, these, those, among')}"
    rf"|{either('either, one, only, just, whichever')}[^\n]*[:\"]?$"
)
_CHOOSING: Final = lazy_pattern(
    r"\b"
    + either(
        "answer, respond, reply, contain, choose, pick, select, response, say, include, use,"
        " output, return, be, verdict, state, replies, answers, write, give, stick, using,"
        " go with, want"
    )
    + r"\b"
)
_OF_THESE: Final = lazy_pattern(
    r"\b(?:one\s+of|either|following|options|choices|these|those|phrases)\b"
)
"""Words by which what follows without quotation marks is a list of options."""
_ANSWERING: Final = lazy_pattern(
    r"\b(?:answer|respon|repl|say|include|contain|output|return|verdict)"
)
_ALIKE: Final = lazy_pattern(
    r"(?<!\w)[\"'“‘]?(?P<head>[A-Za-z]+(?:\s+[a-z]+){1,4})\s+[a-z]+[.!][\"'”’]?"
    r"(?:\s*(?:,|/|;|\||or|and)*\s*(?:or\s+)?[\"'“‘]?(?P=head)\s+[a-z]+[.!][\"'”’]?){1,6}"
)
"""Options that begin alike: *My answer is yes. / My answer is no.*"""
_NEAR: Final = 300
"""How far from the sentence that speaks of them such options may begin."""
_LIST: Final = lazy_pattern(
    rf"[\s(\[]*(?P<list>{QUOTED}(?:\s*(?:,\s*or|,\s*and|,|;|or|and|/|\|)?\s*{QUOTED})+)"
)
_SPLIT: Final = lazy_pattern(r"(?<=[.!?])\s+(?:or\s+)?|\s*,\s*(?:or\s+)?|\s+/\s+|\s+or\s+")
_MOST: Final = 6
"""Options in one line, and words of each."""
_LONGEST: Final = 20
"""Words of an option on a line of its own."""


def read_options(sentence: Sentence) -> Iterator[Found]:
    """Which texts the reply has at least one of."""
    alike, place = _options_alike(sentence)
    for found in _ONE_OF.finditer(sentence.plain):
        chooses = _CHOOSING.search(sentence.plain[: found.end()])
        if not chooses or not _CHOICE.search(found[0]) or not sentence.allows(found.start()):
            continue
        texts = alike or [one for one in _options(sentence, found) if re.search(r"\w", one)]
        if len(texts) > 1:
            yield sentence.found({"op": "contains_any", "texts": [*texts]}, *found.span())
            return
    here = 0 <= place < len(sentence.plain) and sentence.allows(place)
    if here and _CHOOSING.search(sentence.plain):
        yield sentence.found({"op": "contains_any", "texts": [*alike]}, place, len(sentence.plain))


def _options_alike(sentence: Sentence) -> tuple[list[str], int]:
    """Read options that begin alike, near the sentence that speaks of them, and where they are."""
    for found in _ALIKE.finditer(sentence.request.text):
        if sentence.start - _NEAR < found.start() < max(sentence.end, sentence.start + _NEAR):
            ends = re.findall(rf"{re.escape(found['head'])}\s+[a-z]+[.!]", found[0])
            return [" ".join(one.split()) for one in ends], found.start() - sentence.start
    return [], -1


def _options(sentence: Sentence, found: re.Match[str]) -> list[str]:
    """Read the options: quotations in a row, the rest of the line, or the lines that follow."""
    request, place = sentence.request, sentence.start + found.end()
    if given := _LIST.match(request.plain, place):
        start = given.start("list")
        spans = [one.span() for one in re.finditer(QUOTED, given["list"])]
        return [request.text[start + a : start + b][1:-1].strip() for a, b in spans]
    if not _OF_THESE.search(found[0]):
        return []
    rest = request.text[place:]
    if line := rest.partition("\n")[0].strip(" :"):
        said = _ANSWERING.search(sentence.plain[: found.end()])
        return _in_line(line) if said and request.text[place - 1 : place] == ":" else []
    lines = rest.strip("\n :").split("\n\n")[0].split("\n")
    given = [line.strip(" *-•" + QUOTE_MARKS) for line in lines if line.strip()][:10]
    return given if all(len(one.split()) <= _LONGEST for one in given) else []


def _in_line(line: str) -> list[str]:
    """The options of a line; where the first is no sentence, the line's own sentence ends them."""
    if _SPLIT.split(line)[0][-1:] not in ".!?":
        line = re.split(r"[.!?](?:\s|$)", line)[0]
    parts = [part.strip(QUOTE_MARKS) for part in _SPLIT.split(line) if part.strip(QUOTE_MARKS)]
    short = 2 <= len(parts) <= _MOST and all(len(one.split()) <= _MOST for one in parts)
    return parts if short else []
