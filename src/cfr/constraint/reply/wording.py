"""Rules for given words: how a reply begins and ends, and one of some options."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from cfr.constraint.reply.pattern import either
from cfr.constraint.reply.request import QUOTED, Found, Sentence

__all__ = ["read_beginning", "read_end", "read_options"]

_MARKS: Final = "\"'“”‘’„«»"

# --- The last words.

_PART: Final = either("each, every, paragraph(s), sentence(s), line(s), stanza, section, bullet")
_ENDING: Final = either(
    "end, ends, ending, finish, finishes, finishing, conclude, concludes, concluding, close, closes"
)
_EXACTLY: Final = (
    rf"(?:{either('exactly, the, this, these, following, exact, very, same, only, just, of')}"
    rf"\s+|{either('word(s), phrase, sentence(s), question, statement, line, quote, text')}"
    r"\b\s*|exactly\b\s*|following\b\s*|this\b\s*)*"
)
_GIVEN: Final = rf"(?P<how>{_EXACTLY})\s*(?P<colon>[:,]?)\s*(?P<quote>{QUOTED})?"
_END: Final = re.compile(
    rf"\b{_ENDING}(?:\s+(?!{_PART}\b)[a-z'-]+){{0,5}}?"
    rf"\s+{either('with, by saying, by writing, in, on')}\b\s*{_GIVEN}"
)
_LAST: Final = re.compile(
    r"\b(?:last|final|end|ending|closing)"
    rf"(?:\s+{either('sentence, word(s), line, phrase, part, thing, statement, question')})?"
    r"(?:\s+(?:of|in)\s+(?:your|the)\s+(?:[a-z]+\s+){0,3}?[a-z]+)?"
    rf"\s+{either('should, must, need(s) to, has to, have to, is to, to')}"
    rf"\s+{either('be, read, say, state, contain, have')}\s*(?:exactly\s+)?(?:like|as)?\s*{_GIVEN}"
)
_WRITTEN: Final = (
    rf"{either('say, write, add, put, include, have, place, state')}\s+(?:exactly\s+)?"
    rf"(?:the\s+(?:exact\s+)?{either('phrase, word(s), sentence, line')}\s+)?:?\s*"
    rf"(?P<quote>{QUOTED})"
)
_AT_END: Final = (
    re.compile(rf"\b{_WRITTEN}\s+at\s+the\s+(?:very\s+)?end\b"),
    re.compile(
        r"\bat\s+the\s+(?:very\s+)?end(?:\s+of\s+(?:your|the)(?:\s+[a-z]+){1,3})?\s*,?\s*"
        rf"(?:please\s+)?{_WRITTEN}"
    ),
)
_OF_PARTS: Final = re.compile(rf"\b{either('each, every, paragraph, stanza, section, first')}\b")
_NOT: Final = re.compile(r"(?:\b(?:not|never|avoid)|n't)\s+(?:\w+\s+)?$")


def read_end(sentence: Sentence) -> Iterator[Found]:
    """With which words the reply ends."""
    plain = sentence.plain
    for found in (one for rule in (_END, _LAST, *_AT_END) for one in rule.finditer(plain)):
        if _OF_PARTS.search(found[0]) or _NOT.search(plain[: found.start()]):
            continue
        given = _given(sentence, found)
        if given and sentence.allows(found.start()):
            yield sentence.found({"op": "ends", "text": given[0]}, found.start(), given[1])
            return


def _given(sentence: Sentence, found: re.Match[str]) -> tuple[str, int] | None:
    """Read the words that are to be written: in quotation marks, or up to the end of the line."""
    if found["quote"]:
        text = sentence.original(*found.span("quote"))[1:-1].strip()
        return (text, found.end()) if re.search(r"\w", text) else None
    if found["colon"] == "," or not (found["colon"] or "exact" in found["how"]):
        return None
    text = sentence.original(found.end(), len(sentence.plain)).strip().strip(_MARKS)
    text = re.sub(r"([.!?])\s*\.$", r"\1", text)  # the request's own full stop
    if not 1 <= len(text.split()) <= 30 or '"' in text:
        return None
    return text, len(sentence.plain.rstrip())


# --- The first words.

_REPLY: Final = either("response, answer, reply, output")
_BEGIN: Final = re.compile(
    rf"\b(?:starts?|begins?|open)\s+(?:(?:your|the)\s+(?:(?:entire|whole|full)\s+)?{_REPLY}\s+)?"
    rf"with\s+(?:{either('the, exact, exactly, following, this, phrase, word(s), sentence, line')}"
    rf"\s+)*:?\s*(?P<quote>{QUOTED})"
)
_NO_BEGINNING: Final = re.compile(
    rf"\b{either('each, every, paragraph, section, line, bullet, postscript, p.s, hashtag(s)')}"
)


def read_beginning(sentence: Sentence) -> Iterator[Found]:
    """With which words the reply begins."""
    for found in _BEGIN.finditer(sentence.plain):
        before = sentence.plain[max(0, found.start() - 60) : found.start()]
        text = sentence.original(*found.span("quote"))[1:-1].strip()
        whole = re.search(rf"\b{_REPLY}\b", before[-40:] + found[0])
        if whole and text and not _NO_BEGINNING.search(before) and sentence.allows(found.start()):
            yield sentence.found({"op": "begins", "text": text}, *found.span())


# --- One of some options.

_ONE_OF: Final = re.compile(
    rf"\b{either('one of, from, from among, among, between, either')}\b\s*"
    rf"(?:{either('the, these, following, two, three, four, exact, possible, given, allowed')}"
    rf"\s+)*(?:{either('options, phrases, answers, responses, choices, sentences, statements')}"
    r"|replies|words)?[^\n\":]{0,40}:?"
)
_CHOICE: Final = re.compile(rf"{either('one of, following, options, choices, phrases')}")
_CHOOSING: Final = re.compile(
    rf"\b{either('answer, respond, reply, contain, choose, pick, select, response, say')}\b"
    rf"|\b{either('include, use, output, return, be')}\b"
)
_LIST: Final = re.compile(
    rf"[\s(\[]*(?P<list>{QUOTED}(?:\s*(?:,\s*or|,\s*and|,|or|and|/)\s*{QUOTED})+)"
)


_LONGEST_OPTION: Final = 20
"""Words of an option on a line of its own."""


def read_options(sentence: Sentence) -> Iterator[Found]:
    """Which texts the reply has at least one of."""
    for found in _ONE_OF.finditer(sentence.plain):
        chooses = _CHOOSING.search(sentence.plain[: found.start()])
        if not chooses or not _CHOICE.search(found[0]) or not sentence.allows(found.start()):
            continue
        texts = _options(sentence, found.end())
        if len(texts) > 1:
            yield sentence.found({"op": "contains_any", "texts": [*texts]}, *found.span())
            return


def _options(sentence: Sentence, at: int) -> list[str]:
    """Read the options: quotations in a row, or the lines that follow."""
    request, place = sentence.request, sentence.start + at
    if found := _LIST.match(request.plain, place):
        start = found.start("list")
        spans = [one.span() for one in re.finditer(QUOTED, found["list"])]
        return [request.text[start + a : start + b][1:-1].strip() for a, b in spans]
    rest = request.text[place:]
    line = rest.partition("\n")[0].strip(" :")
    if line:
        parts = re.split(r"(?<=[.!?])\s+(?:or\s+)?|\s*,\s*(?:or\s+)?|\s+/\s+|\s+or\s+", line)
        short = [part.strip(_MARKS) for part in parts if part.strip(_MARKS)]
        colon = request.text[place - 1 : place] == ":"
        return (
            short
            if colon and 2 <= len(short) <= 6 and all(len(one.split()) <= 6 for one in short)
            else []
        )
    lines = rest.strip("\n :").split("\n\n")[0].split("\n")
    given = [line.strip(" *-•" + _MARKS) for line in lines if line.strip()][:10]
    return given if all(len(one.split()) <= _LONGEST_OPTION for one in given) else []
