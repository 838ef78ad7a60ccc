"""Parts of a reply that no edit may touch, and the test that an edit kept all that the reply says.

Numbers, code, URLs, addresses, paths, identifiers, quotations, mathematics, tables and JSON mean
what they mean character by character. Where in doubt a stretch counts as protected: an edit that is
not made costs a demand, which is then reported as broken; a damaged number costs the reader more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Final, NamedTuple

from constraint_first.pattern import lazy_pattern


class Span(NamedTuple):
    """A protected stretch, ``text[start:end]``."""

    start: int
    end: int
    block: bool = False
    """Whether it has whole lines to itself, like a fenced block: nothing may join its lines."""


# Every pattern is bounded, or anchored by a lookbehind, so that no text makes it look at the same
# characters over and over: replies are outside text.
# Fenced code, to the end of the reply where the fence is not closed.
_FENCED: Final = lazy_pattern(
    r"^[ \t]*(?P<fence>`{3,}|~{3,})[^\n]*(?:(?P<closed>\n.*?^[ \t]*(?P=fence)[`~]*[ \t]*$)|.*\Z)",
    re.M | re.S,
)
_BLOCKS: Final = (
    _FENCED,
    # Indented code, with the blank line that makes it code; deeper list items are none.
    lazy_pattern(
        r"(?:\A|\n[ \t]*\n)"
        r"(?:(?: {4}|\t)(?![ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t])[ \t]*\S[^\n]*(?:\n|\Z))+"
    ),
    lazy_pattern(r"^[^\n|]*\|[^\n]*$", re.M),  # rows of tables
    lazy_pattern(r"^[ \t]*>[^\n]*$", re.M),  # quoted lines
    # Lines that are code without a fence: they end or begin as no sentence does.
    lazy_pattern(
        r"^[^\n]*(?:[;{}]|\)\s*=>)[ \t]*$"
        r"|^[ \t]*(?:(?:import|from|def|class|const|let|var|function|public|private|static|return"
        r"|export|package|using|namespace|elif|except|try|void|int|struct|fn|func)\b[^\n.!?]*[:({=;,]"
        r"|import[ ]\w|from[ ][\w.]+[ ]import\b|(?:if|for|while|switch)[ ]?\(|[#@]\w|//|/\*|\$[ ]"
        r"|SELECT\b|INSERT\b|UPDATE\b|DELETE\b|CREATE\b|sudo\b)[^\n]*$",
        re.M,
    ),
)
_UNIT: Final = (
    r"(?:[ \u00a0]?(?:[kMGTmµμcdnp]?"
    r"(?:g|l|L|m|W|Wh|V|A|Hz|B|b|bit|Pa|J|N|s|h|eV|mol|M|K|C|F)|°[CFK]|%)(?!\w))"
)
_INLINE: Final = tuple(
    lazy_pattern(pattern, re.S)
    for pattern in (
        r"`[^`\n]+`",
        # LaTeX and other mathematics. A closing $ follows no space, so that prices are none.
        r"\$\$.{1,2000}?\$\$|\\\(.{1,2000}?\\\)|\\\[.{1,2000}?\\\]|\$(?=\S)[^$\n]{1,300}(?<=\S)\$(?!\d)",
        r"\\begin\{(\w+\*?)\}.{1,4000}?\\end\{\1\}|\\[A-Za-z]+(?:\{[^{}\n]{0,200}\}){0,4}",
        r"(?<![^\s(])[^\s,;=()]{1,60}(?:\s?[=≈≠≤≥×·÷^+−]\s?[^\s,;=]{1,60}){1,20}",
        # A tuple, a set or a list of single items: (0, 3), [a, b].
        r"[(\[{](?:\s?[^\s,()\[\]{}]{1,40}\s?,){1,50}\s?[^\s,()\[\]{}]{1,40}\s?[)\]}]",
        r"\{[^{}]*\}",
        r"(?<!<)</?[A-Za-z][^<>\n]{0,300}>(?!>)",  # a tag, and not <<a title>>
        # Addresses and paths.
        r"(?<!\w)(?:[A-Za-z][A-Za-z+.-]{1,15}://|www\.|mailto:)\S{0,2000}[^\s.,;:!?)\]}'\"”’*_]",
        r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){0,9}|(?<!\w)[@#]\w+",
        r"(?<![\w/\\])(?:~|\.{1,2}|[A-Za-z]:)?[/\\][\w.~-]+(?:[/\\][\w.~-]*)*",
        r"(?<![\w/\\.-])[\w.-]{1,80}(?:[/\\][\w.-]{1,80}){2,40}",
        r"(?<![\w/\\.-])[\w-]{0,40}[._\d][\w.-]{0,40}/[\w.-]{1,80}|(?<![\w/\\.-])[\w-]{1,40}/[\w-]{0,40}[._\d][\w-]{1,80}",
        # Identifiers: dotted, snake_case, CamelCase, with digits, calls, options, KEY=value.
        r"(?<![\w.])[A-Za-z_]\w+(?:\.[A-Za-z_]\w*)+(?:\(\))?",
        r"(?<!\w)_*[^\W_]+(?:_+[^\W_]+)+_*(?!\w)|(?<!\w)__\w+__",
        r"(?<!\w)[^\W\d_]*[a-zß-öø-ÿ][A-ZÀ-ÖØ-Þ]\w*",
        r"(?<!\w)(?=\w*\d)(?=\w*[^\W\d_])(?!\d{1,9}(?:st|nd|rd|th|s)\b)\w+(?:-\w+){0,9}",
        r"(?<!\w)[A-Za-z_]\w*\([^()\n]{0,300}\)",
        r"(?<![\w-])--?[A-Za-z][\w-]*(?:=\S{1,200})?|(?<!\w)\$\{?\w+\}?",
        r"(?<!\w)\w+=\S{1,300}",
        # Numbers with their sign, currency and unit.
        r"(?:(?<!\w)[-+−±])?[$€£¥]?\d+(?:[.,:'’/·×^-]\d+)*" + _UNIT + "?",
        # Quotations other than in straight double marks, which have no direction.
        r"“[^”]{1,4000}”|„[^“”]{1,4000}[“”]|«[^»]{1,4000}»|「[^」]{1,4000}」|『[^』]{1,4000}』",
        r"‘(?:[^‘’\n]|’(?=\w)){1,1000}’|(?<![\w'’])'(?=\S)[^'\n]{1,300}(?<=\S)'(?![\w'])",
    )
)


@lru_cache(maxsize=8)
def protected_spans(text: str) -> Sequence[Span]:
    """Find what no edit may touch, in order and without overlaps.

    Edits and their test ask for the same reply over and over, so the last few are kept.
    """
    blocks = (Span(*one.span(), block=True) for p in _BLOCKS for one in p.finditer(text))
    inline = (Span(*one.span()) for p in _INLINE for one in p.finditer(text))
    merged: list[Span] = []
    for one in sorted(chain(blocks, inline, _quotations(text), _objects(text))):
        last = merged[-1] if merged else None
        if last and one.start < last.end:
            merged[-1] = Span(last.start, max(last.end, one.end), last.block or one.block)
        else:
            merged.append(one)
    return merged


def _quotations(text: str) -> Iterator[Span]:
    """Find the stretches between straight double marks, paragraph by paragraph.

    Where a paragraph has an odd number of marks it is unclear which belong together, so
    everything between the first and the last is protected.
    """
    for paragraph in re.finditer(r"[^\n]+(?:\n[^\n]+)*", text):
        marks = [found.start() for found in re.finditer('"', paragraph[0])]
        offset = paragraph.start()
        if len(marks) % 2:
            marks = [marks[0], marks[-1]] if len(marks) > 1 else []
        for start, end in zip(marks[::2], marks[1::2], strict=True):
            yield Span(offset + start, offset + end + 1)


_MOST_OBJECTS: Final = 50


def _objects(text: str) -> Iterator[Span]:
    """Find JSON objects and arrays, nested ones whole."""
    decoder = json.JSONDecoder(parse_int=str, parse_float=str)
    tries = end = 0
    for found in re.finditer(r'\{\s*"|\[\s*[\[{"\d-]', text):
        if found.start() < end or tries == _MOST_OBJECTS:
            continue
        tries += 1
        try:
            _, end = decoder.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            continue
        yield Span(found.start(), end)


def find_outside(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Find what a pattern matches, except where a part of it is protected."""
    spans = iter([*protected_spans(text), Span(len(text) + 1, len(text) + 1)])
    ahead = next(spans)
    for found in pattern.finditer(text):
        while ahead.end <= found.start():
            ahead = next(spans)
        if found.end() <= ahead.start:
            yield found


def replace_all(text: str, changes: Iterable[tuple[re.Match[str], str]]) -> str:
    """Put other words in the place of matches, which are in order."""
    pieces, at = list[str](), 0
    for found, words in changes:
        pieces += (text[at : found.start()], words)
        at = found.end()
    return "".join((*pieces, text[at:]))


_WORD: Final = lazy_pattern(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


def keeps(before: str, after: str, *, recased: bool = False) -> bool:
    """Whether an edited reply still has every protected stretch and every word, in their order.

    Stretches are compared character by character, words too unless the demand is about their case.
    Words may have been added.
    """
    spans = protected_spans(before)
    folded = str.casefold if recased else str
    words = [(found.start(), found.end(), folded(found[0])) for found in _WORD.finditer(after)]
    at = nth = 0
    edges = (Span(0, 0), *spans, Span(len(before), len(before)))
    for (_, start, _), (end, _, _), span in zip(edges, edges[1:], (*spans, None), strict=False):
        for found in _WORD.finditer(before, start, end):
            wanted = folded(found[0])
            while nth < len(words) and (words[nth][0] < at or words[nth][2] != wanted):
                nth += 1
            if nth == len(words):
                return False
            at = words[nth][1]
        if span and (at := _find(before, span, after, at)) < 0:
            return False
    # What is put behind a block that is not closed becomes a part of it.
    last = _FENCED.match(before, spans[-1].start) if spans else None
    return not last or bool(last["closed"]) or not after[at:].strip()


def _find(before: str, span: Span, after: str, at: int) -> int:
    """Say where a stretch ends in the edited reply, at a position or behind it; -1 for nowhere."""
    kept = before[span.start : span.end]
    kept = kept.rstrip("\n") if span.block else kept
    while (start := after.find(kept, at)) >= 0:
        end = start + len(kept)
        if span.block:
            begins = kept[0] == "\n" or after[start - 1 : start] in ("", "\n")
            whole = begins and after[end : end + 1] in ("", "\n")
        else:
            whole = not (_runs_on(after, start) or _runs_on(after, end))
        if whole:
            return end
        at = start + 1
    return -1


def _runs_on(text: str, at: int) -> bool:
    """Whether a word or a number goes on across a place."""
    around = text[max(at - 1, 0) : at + 1]
    return len(around) > 1 and (around.isdigit() or around.isalpha())
