"""Rules for marks in a reply: bullets, highlights, placeholders, a title, a postscript."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from constraint_first.constraint.reply.bound import amounts, counts_of
from constraint_first.constraint.reply.pattern import STRESS, either
from constraint_first.constraint.reply.request import Found, Sentence
from constraint_first.pattern import lazy_pattern

# --- Bullets.

_BULLETS: Final = lazy_pattern(
    r"[\s-]*(?:(?!sentence|word|paragraph|section|example)[a-z-]+\s+){0,3}?"
    r"(?:bullets?\b(?:[\s-]+(?:points?|items?|lists?))?|bulleted\s+(?:points?|items?|lists?))"
)
_AS_BULLETS: Final = lazy_pattern(
    r"\s+[a-z]+[^.;:]{0,60}\b(?:using|as|in|with)\s+(?:markdown\s+|a\s+)?"
    r"bullet(?:ed)?\b(?:[\s-]+(?:points?|lists?))?"
    r"|\s+(?:[a-z-]+\s+){1,3}in\s+(?:the\s+)?markdown(?:\s+format)?\b(?=[^.\n]*:\s*$)"
)
_LIST_OF: Final = lazy_pattern(
    r"\bbullet(?:ed|s)?\b(?:[\s-]+(?:points?|lists?|format|form))*[\s,:-]*(?:(?:"
    + either("of, with, that has, containing, having, made up of, consisting of, total, in")
    + r"|there\s+(?:should|must)\s+be)\s+)*$"
)
_ITEMS: Final = lazy_pattern(
    r"\s*"
    + either(
        "items, points, entries, bullets, elements, things, lines, of them, in total, in number"
    )
    + r"\b"
)
_OF_EACH: Final = lazy_pattern(r"\b(?:each|every|per|first|last)\b(?:(?!\band\b)[^.;,]){0,30}$")
_EACH: Final = lazy_pattern(r"\s*(?:(?:in|for|under)\s+)?(?:each|per)\b")


def read_bullets(sentence: Sentence) -> Iterator[Found]:
    """How many bullet points the reply has."""
    plain = sentence.plain
    for amount in amounts(plain):
        noun = _BULLETS.match(plain, amount.end)
        if not noun and _LIST_OF.search(plain[: amount.start]):
            noun = _ITEMS.match(plain, amount.end)
        if not noun and not amount.bare:
            noun = _AS_BULLETS.match(plain, amount.end)
        if not noun or _OF_EACH.search(plain[: amount.start]) or _EACH.match(plain, noun.end()):
            continue
        if sentence.allows(amount.start):
            ends = amount.widened(plain[noun.end() :]).ends
            yield sentence.found({"op": "bullets", **ends}, amount.start, noun.end())


# --- Highlights.

_STRESS_BEFORE: Final = lazy_pattern(
    rf"\b{STRESS}(?:/[a-z]+)?(?:\s+(?:or|and)\s+{STRESS})?"
    rf"(?:\s+{either('text, the, a, up, out, in, your, using, with, markdown')})*\s*$"
)
_KIND: Final = (
    r"(?:"
    + either(
        "different, separate, text, key, short, of, the, your, favorite, important, main, distinct,"
        " major, specific, markdown, most important, crucial, central, single, essential, striking"
    )
    + r"\s+){0,4}(?:(?!and\b|or\b|bullet)[a-z-]+\s+)?"
)
_PASSAGE: Final = either(
    "section(s), part(s), phrase(s), text(s), word(s), passage(s), segment(s), portion(s), line(s),"
    " sentence(s), item(s), piece(s), area(s), term(s), point(s), snippet(s), fragment(s),"
    " excerpt(s), span(s), element(s), name(s), keyword(s), detail(s), fact(s), bit(s), spot(s),"
    " finding(s), stretch(es), place(s), idea(s), concept(s), figure(s), moment(s), claim(s)"
)
_PASSAGES: Final = lazy_pattern(rf"[\s-]*{_KIND}{_PASSAGE}\b")
_STRESSED: Final = lazy_pattern(rf"[\s-]*{_KIND}{STRESS}\s+(?:(?:text|markdown)\s+)?{_PASSAGE}\b")
_STRESSED_AFTER: Final = lazy_pattern(
    rf"[\s-]*{_KIND}{_PASSAGE}\s+(?:{either('be, are, is, that, which, in, should, must, to')}\s+)"
    rf"{{0,3}}{STRESS}\b"
)
_MARKED: Final = lazy_pattern(
    rf"[\s-]*{_KIND}{_PASSAGE}\b(?:(?!\bbullet|\bseparat|\bdivid|\bbetween|\bsix\b|\bthree\b"
    rf"|\bat\s+least\b|\d|,\s+and\b)[^.;]){{0,60}}?"
    r"(?:\*[^*\s][^*\n]*\*|\basterisks?\b|\bitalics?\b|\bhighlight)"
)
"""Passages, and then how they are marked: *mark five phrases by putting asterisks around them*."""
_HIGHLIGHTS: Final = lazy_pattern(r"\s+highlights?\b")
_MARKED_THINGS: Final = lazy_pattern(
    r"\s+(?:[a-z-]+\s+){0,2}?[a-z]+s\s+(?:in|with|by|using)\s+[^.;]{0,40}?"
    r"\b(?:asterisks?|italics?)\b"
)
_IN_MARKDOWN: Final = lazy_pattern(r"markdown|\*[^*\s][^*\n]*\*")
_THINGS: Final = lazy_pattern(r"(?:\s+[a-z-]+){0,2}?\s+[a-z]+s\b")
_HIGHLIGHTED: Final = lazy_pattern(
    rf"\s+highlighted\s+{_PASSAGE}\s*(?:$|[,.;:!)]|(?:and|with|in\s+your)\b)"
)
"""What can only be meant as marks in the text, without a word about how they look."""
_STAR_OR_MARKDOWN: Final = lazy_pattern(r"markdown|\*|itali[cs]|\bbold|asterisk|\"□\"")


def read_highlights(sentence: Sentence) -> Iterator[Found]:
    """How many stretches of the reply are highlighted in Markdown."""
    plain = sentence.plain
    nearby = sentence.request.plain[sentence.start : sentence.end + 200]
    in_markdown = _STAR_OR_MARKDOWN.search(nearby)
    for amount in amounts(plain):
        if not in_markdown and not _HIGHLIGHTED.match(plain, amount.end):
            continue
        noun = _STRESSED.match(plain, amount.end) or _STRESSED_AFTER.match(plain, amount.end)
        if not noun and _STRESS_BEFORE.search(plain[: amount.start]):
            noun = _PASSAGES.match(plain, amount.end)
            if not noun and _IN_MARKDOWN.search(plain):
                noun = _THINGS.match(plain, amount.end)
        if not noun and re.search(r"\b(?:mark|put|set)\s+$", plain[: amount.start]):
            noun = _MARKED_THINGS.match(plain, amount.end)
        noun = noun or _MARKED.match(plain, amount.end) or _HIGHLIGHTS.match(plain, amount.end)
        if noun and sentence.allows(amount.start):
            ends = amount.widened(plain[noun.end() :]).at_least.ends
            yield sentence.found({"op": "highlights", **ends}, amount.start, noun.end())


# --- Placeholders.

_BLANKS: Final = (
    r"place\s?holders?|blanks?|slots?|gaps?|fields?|fill-ins?|variables?|spots?|spaces"
    r"|square\s+brackets"
)
_PLACEHOLDERS: Final = lazy_pattern(
    rf"[\s-]*(?:(?:(?!in\b|with\b)[a-z-]+|\[[^\]\n]{{1,40}}\])[\s-]+){{0,3}}?(?:{_BLANKS})\b"
)
_BRACKETS: Final = lazy_pattern(r"place\s?holder|bracket|\[[^\]\n]{1,40}\]")
_ONE_PLACEHOLDER: Final = lazy_pattern(
    rf"\b{either('include, add, use, have, contain, with, insert')}\s+an?\s+(?:[a-z-]+\s+)?"
    r"place\s?holder\b"
)


def read_placeholders(sentence: Sentence) -> Iterator[Found]:
    """How many placeholders in square brackets the reply has."""
    single = _ONE_PLACEHOLDER.search(sentence.plain)
    if single and sentence.allows(single.start()):
        yield sentence.found({"op": "placeholders", "low": 1}, *single.span())
    if not _BRACKETS.search(sentence.plain):
        return
    for amount, end in counts_of(sentence.plain, _PLACEHOLDERS):
        if sentence.allows(amount.start):
            predicate = {"op": "placeholders", **amount.at_least.ends}
            yield sentence.found(predicate, amount.start, end)


# --- A title, a postscript.

_TITLE: Final = lazy_pattern(
    r"\bdouble[\s-]+(?:angular|angled?|pointed|pointy|chevron)\s*(?:brackets?|quotes|marks)?"
    r"|\b(?:titles?|name|headline|heading)\b[^.;<]{0,60}<<[^<>\n]{0,80}>>"
)


def read_title(sentence: Sentence) -> Iterator[Found]:
    """Whether something stands in double angular brackets."""
    for found in _TITLE.finditer(sentence.plain):
        if sentence.wants(found.start()):
            yield sentence.found({"op": "title"}, *found.span())
            return


_LETTERS: Final = r"p\.?\s?p\.?\s?s\b\.?|p\.?\s?s\b\.?|\"□{2,6}\""
_POSTSCRIPT: Final = lazy_pattern(
    rf"\bpost[\s-]?scripts?\b[^.;]{{0,60}}?(?P<mark>{_LETTERS})|(?:\b(?:"
    + either("a, an, the, with, one, short, little, brief, quick, final, your, this, as, my, by")
    + r")\s+\(?|(?=p\.[^a-z]{0,2}(?:p\.[^a-z]{0,2})?s\.?\s+(?:at|on)\s+the\s+(?:bottom|end)))"
    r"(?P<short>\bp\.\s?p\.\s?s\b\.?|\bp\.\s?s\b\.?)(?!\.?\s*\d)"
)


def read_postscript(sentence: Sentence) -> Iterator[Found]:
    # The mark has full stops of its own, at which the sentence may have been cut.
    found = _POSTSCRIPT.search(sentence.request.plain, sentence.start, sentence.end + 12)
    if not found or found.start() >= sentence.end:
        return
    if not sentence.wants(found.start() - sentence.start):
        return
    start, end = found.span("mark" if found["mark"] else "short")
    letters = re.sub(r"[^a-z]", "", sentence.request.text[start:end].lower())
    mark = {"ps": "P.S.", "pps": "P.P.S"}.get(letters)
    if mark:
        yield {"op": "postscript", "mark": mark}, found.start(), found.end()
