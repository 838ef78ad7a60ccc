"""Rules for marks in a reply: bullets, highlights, placeholders, a title, a postscript."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from cfr.constraint.reply.bound import amounts
from cfr.constraint.reply.pattern import either
from cfr.constraint.reply.request import Found, Sentence

__all__ = [
    "read_bullets",
    "read_highlights",
    "read_placeholders",
    "read_postscript",
    "read_title",
]

# --- Bullets.

_BULLETS: Final = re.compile(
    r"[\s-]*(?:(?!sentence|word|paragraph|section)[a-z-]+\s+){0,3}?"
    r"(?:bullets?\b(?:[\s-]+(?:points?|items?|lists?))?|bulleted\s+(?:points?|items?|lists?))"
)
_AS_BULLETS: Final = re.compile(
    r"\s+[a-z]+[^.;:]{0,60}\b(?:using|as|in|with)\s+(?:markdown\s+|a\s+)?"
    r"bullet(?:ed)?\b(?:[\s-]+(?:points?|lists?))?"
    r"|\s+(?:[a-z-]+\s+){1,3}in\s+(?:the\s+)?markdown(?:\s+format)?\b(?=[^.\n]*:\s*$)"
)
_OF_EACH: Final = re.compile(r"\b(?:each|every|per|first|last)\b(?:(?!\band\b)[^.;,]){0,30}$")
_EACH: Final = re.compile(r"\s*(?:(?:in|for|under)\s+)?(?:each|per)\b")


def read_bullets(sentence: Sentence) -> Iterator[Found]:
    """How many bullet points the reply has."""
    plain = sentence.plain
    for amount in amounts(plain):
        noun = _BULLETS.match(plain, amount.end)
        if not noun and not amount.bare:
            noun = _AS_BULLETS.match(plain, amount.end)
        if not noun or _OF_EACH.search(plain[: amount.start]) or _EACH.match(plain, noun.end()):
            continue
        if sentence.allows(amount.start):
            ends = amount.widened(plain[noun.end() :]).ends
            yield sentence.found({"op": "bullets", **ends}, amount.start, noun.end())


# --- Highlights.

_STRESS: Final = (
    r"(?:highlight(?:ed|ing)?|itali[cs](?:i[sz]ed?|i[sz]ing|s)?|bold(?:ed|face|ing)?"
    r"|emphasi[sz]ed?)"
)
_STRESS_BEFORE: Final = re.compile(
    rf"\b{_STRESS}(?:/[a-z]+)?(?:\s+(?:or|and)\s+{_STRESS})?"
    rf"(?:\s+{either('text, the, a, up, out, in, your, using, with, markdown')})*\s*$"
)
_KIND: Final = (
    r"(?:"
    + either(
        "different, separate, text, key, short, of, the, your, favorite, important, main, distinct,"
        " major, specific, markdown"
    )
    + r"\s+){0,4}"
)
_PASSAGE: Final = either(
    "section(s), part(s), phrase(s), text(s), word(s), passage(s), segment(s), portion(s), line(s),"
    " sentence(s), item(s), piece(s), area(s), term(s), point(s), snippet(s), fragment(s),"
    " excerpt(s), span(s), element(s), name(s), keyword(s), detail(s), fact(s)"
)
_PASSAGES: Final = re.compile(rf"[\s-]*{_KIND}{_PASSAGE}\b")
_STRESSED: Final = re.compile(rf"[\s-]*{_KIND}{_STRESS}\s+(?:(?:text|markdown)\s+)?{_PASSAGE}\b")
_STRESSED_AFTER: Final = re.compile(
    rf"[\s-]*{_KIND}{_PASSAGE}\s+(?:{either('be, are, is, that, which, in, should, must, to')}\s+)"
    rf"{{0,3}}{_STRESS}\b"
)
_IN_MARKDOWN: Final = re.compile(r"markdown|\*[^*\s][^*\n]*\*")
_THINGS: Final = re.compile(r"(?:\s+[a-z-]+){0,2}?\s+[a-z]+s\b")
_STAR_OR_MARKDOWN: Final = re.compile(r"markdown|\*|itali[cs]|\bbold|asterisk|\"□\"")


def read_highlights(sentence: Sentence) -> Iterator[Found]:
    """How many stretches of the reply are highlighted in Markdown."""
    plain = sentence.plain
    nearby = sentence.request.plain[sentence.start : sentence.end + 200]
    if not _STAR_OR_MARKDOWN.search(nearby):
        return
    for amount in amounts(plain):
        noun = _STRESSED.match(plain, amount.end) or _STRESSED_AFTER.match(plain, amount.end)
        if not noun and _STRESS_BEFORE.search(plain[: amount.start]):
            noun = _PASSAGES.match(plain, amount.end)
            if not noun and _IN_MARKDOWN.search(plain):
                noun = _THINGS.match(plain, amount.end)
        if noun and sentence.allows(amount.start):
            predicate = {"op": "highlights", **amount.at_least.ends}
            yield sentence.found(predicate, amount.start, noun.end())


# --- Placeholders.

_PLACEHOLDERS: Final = re.compile(r"[\s-]*(?:[a-z-]+\s+){0,3}?place\s?holders?\b")
_ONE_PLACEHOLDER: Final = re.compile(
    rf"\b{either('include, add, use, have, contain, with, insert')}\s+an?\s+(?:[a-z-]+\s+)?"
    r"place\s?holder\b"
)


def read_placeholders(sentence: Sentence) -> Iterator[Found]:
    """How many placeholders in square brackets the reply has."""
    single = _ONE_PLACEHOLDER.search(sentence.plain)
    if single and sentence.allows(single.start()):
        yield sentence.found({"op": "placeholders", "low": 1}, *single.span())
    for amount in amounts(sentence.plain):
        noun = _PLACEHOLDERS.match(sentence.plain, amount.end)
        if noun and sentence.allows(amount.start):
            predicate = {"op": "placeholders", **amount.at_least.ends}
            yield sentence.found(predicate, amount.start, noun.end())


# --- A title, a postscript.

_TITLE: Final = re.compile(
    r"\bdouble[\s-]+(?:angular|angled?|pointed|pointy|chevron)\s*(?:brackets?|quotes|marks)?"
    r"|\b(?:titles?|name|headline|heading)\b[^.;<]{0,60}<<[^<>\n]{1,80}>>"
)


def read_title(sentence: Sentence) -> Iterator[Found]:
    """Whether something stands in double angular brackets."""
    found = _TITLE.search(sentence.plain)
    if found and sentence.wants(found.start()):
        yield sentence.found({"op": "title"}, *found.span())


_LETTERS: Final = r"p\.?\s?p\.?\s?s\b\.?|p\.?\s?s\b\.?|\"□{2,6}\""
_POSTSCRIPT: Final = re.compile(
    rf"\bpost[\s-]?scripts?\b[^.;]{{0,60}}?(?P<mark>{_LETTERS})"
    rf"|\b{either('add, include, end, finish, conclude, with, append, write, insert, have')}\b"
    r"[^.;]{0,60}?(?P<short>\bp\.\s?p\.\s?s\b\.?|\bp\.\s?s\b\.?)(?!\.?\s*\d)"
)


def read_postscript(sentence: Sentence) -> Iterator[Found]:
    """Whether the reply has a postscript, and how it begins."""
    # The mark has full stops of its own, at which the sentence may have been cut.
    found = _POSTSCRIPT.search(sentence.request.plain, sentence.start, sentence.end + 12)
    if not found or not sentence.wants(found.start() - sentence.start):
        return
    start, end = found.span("mark" if found["mark"] else "short")
    letters = re.sub(r"[^a-z]", "", sentence.request.text[start:end].lower())
    mark = {"ps": "P.S.", "pps": "P.P.S"}.get(letters)
    if mark:
        yield {"op": "postscript", "mark": mark}, found.start(), found.end()
