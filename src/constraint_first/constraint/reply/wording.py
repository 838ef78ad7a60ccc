"""Rules for given words: how a reply begins and ends."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from constraint_first.constraint.reply.pattern import QUOTE_MARKS, either
from constraint_first.constraint.reply.request import QUOTED, Found, Sentence
from constraint_first.pattern import lazy_pattern

# --- The last words.

_PART: Final = either("each, every, paragraph(s), sentence(s), line(s), stanza, section, bullet")
_ENDING: Final = either(
    "end, ends, ending, finish, finishes, finishing, conclude, concludes, concluding, close,"
    " closes, closing, sign off, signs off, round off, round it off, wrap up, wraps up, wrap it up,"
    " stop, stops"
)
_EXACTLY: Final = (
    r"(?:"
    + either("exactly, the, this, these, following, exact, precise, very, same, only, just, of")
    + rf"\s+|{either('word(s), phrase, sentence(s), question, statement, line, quote, text')}"
    r"\b\s*|exactly\b\s*|precisely\b\s*|following\b\s*|this\b\s*)*"
)
_ASIDE: Final = (
    r"(?:(?:,\s*|\(|\b(?:and|with|then)\s)"
    rf"(?:(?!\b{either('word(s), keyword(s), term(s), list, include, use, mention, cover')}\b)"
    r"[^:\n\"]){2,60}(?=:))?"
)
"""What may be said before the colon and is no other order: *and put nothing after it*."""
_GIVEN: Final = rf"(?P<how>{_EXACTLY}){_ASIDE}\s*(?P<colon>[:,]?)\s*(?P<quote>{QUOTED})?"
_END: Final = lazy_pattern(
    rf"\b{_ENDING}(?:\s+(?!{_PART}\b|beginning\b|starting\b|opening\b)[a-z'-]+){{0,5}}?"
    rf"\s+{either('with, by saying, by writing, in, on')}\b\s*{_GIVEN}"
)
_LAST_THING: Final = (
    r"(?:very\s+)?(?:last|final|end|ending|closing|concluding)"
    rf"(?:\s+{either('sentence, word(s), line, phrase, part, thing, statement, question')})?"
)
_LAST: Final = lazy_pattern(
    rf"(?<!\bto\s)\b{_LAST_THING}"
    r"(?:\s+(?:of|in|on|inside|within)\s+(?:it(?:\s+all)?|(?:your|the)\s+(?:[a-z]+\s+){0,3}?[a-z]+)"
    r"|\s+(?:that\s+)?(?:you|readers|people|they|(?:the|my)\s+[a-z]+)\s+[a-z]+)?(?:,[^,;.]{1,40},)?"
    rf"(?:\s+{either('should, must, need(s) to, has to, have to, is to, are to, to, will, shall')}"
    rf"\s+{either('be, read, say, state, contain, have')}|\s+(?:is|are|be)|(?=\s*:))"
    rf"\s*(?:exactly\s+)?(?:like|as)?\s*(?:(?:our|my|the|a)\s[^:\n\"]{{2,60}}(?=:\s*\"))?{_GIVEN}"
)
_AS_LAST: Final = lazy_pattern(
    rf"(?P<quote>{QUOTED})\s+(?:(?:should|must|has\s+to|needs?\s+to|is\s+to|shall)\s+be\s+|as\s+)?"
    rf"(?:the|your)\s+{_LAST_THING}\b(?P<how>)(?P<colon>)"
)
_WRITTEN: Final = (
    rf"{either('say, write, add, put, include, have, place, state')}\s+(?:exactly\s+)?"
    rf"(?:the\s+(?:exact\s+)?{either('phrase, word(s), sentence, line')}\s+)?:?\s*"
    rf"(?P<quote>{QUOTED})(?P<how>)(?P<colon>)"
)
_AT_END: Final = (
    _AS_LAST,
    lazy_pattern(rf"\b{_WRITTEN}\s+at\s+the\s+(?:very\s+)?end\b"),
    lazy_pattern(
        r"\bat\s+the\s+(?:very\s+)?end(?:\s+of\s+(?:your|the)(?:\s+[a-z]+){1,3})?\s*,?\s*"
        rf"(?:please\s+)?{_WRITTEN}"
    ),
)
_OF_PARTS: Final = lazy_pattern(rf"\b{either('each, every, paragraph, stanza, section, first')}\b")
_NOT: Final = lazy_pattern(
    r"(?:\b(?:not|never|avoid)|n't)\s+(?:\w+\s+)?$|\bbeginning\s+with\s+\S+\s+and\s+$"
)


def read_end(sentence: Sentence) -> Iterator[Found]:
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
    if shout := _SHOUTED.match(sentence.original(found.end(), len(sentence.plain))):
        return shout[1].strip(), found.end() + shout.end()
    if (
        re.match(r"(?:ends|finishes|concludes|closes)\b", found[0])
        or "$" in found.string[found.end() :]
    ):
        return None  # what a thing ends with, and not what is to be written
    sure = found["colon"] or re.search(r"exact|precise|words|phrase|sentence|line", found["how"])
    if found["colon"] == "," or not sure:
        return None
    text = sentence.original(found.end(), len(sentence.plain)).strip().strip(QUOTE_MARKS)
    text = re.sub(r"([.!?])\s*\.$", r"\1", text)  # the request's own full stop
    text = re.split(r",?\s+(?:with|and)\s+(?:nothing|no|not)\b", text)[0]
    if not 1 <= len(text.split()) <= 30 or '"' in text:
        return None
    if not found["colon"] and text[0].islower():
        return None  # it goes on about the words, and does not give them
    return text, len(sentence.plain.rstrip())


_SHOUTED: Final = lazy_pattern(
    r"([A-Z][A-Z']+(?:[\s,]+[A-Z][A-Z']*)+[.!?]?)(?=\s+[a-z]|\s*[.,;]|$)"
)
"""Words in capitals, which need no quotation marks to be told from the rest."""

# --- The first words.

_REPLY: Final = either("response, answer, reply, output")
_BEGIN: Final = lazy_pattern(
    rf"\b(?:starts?|begins?|open)\s+(?:(?:your|the)\s+(?:(?:entire|whole|full)\s+)?{_REPLY}\s+)?"
    rf"with\s+(?:{either('the, exact, exactly, following, this, phrase, word(s), sentence, line')}"
    rf"\s+)*:?\s*(?P<quote>{QUOTED})"
)
_NO_BEGINNING: Final = lazy_pattern(
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
