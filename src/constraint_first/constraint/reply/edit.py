"""Edits of a reply, one for each kind of demand that an edit can meet without cost to the meaning.

An edit changes case, punctuation, marks and layout, or adds words that the demand itself names. No
word of the reply is deleted or replaced, so demands that need that (forbidden words, an upper limit
on words or sentences, JSON) have no edit. An edit yields ways to do it, the gentlest first;
``constraint_first.constraint.reply.repair`` decides whether one is made.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, TypeAlias, cast

from constraint_first.constraint.reply.check import BLANK_LINE
from constraint_first.constraint.reply.layout_edit import (
    begin_paragraph,
    divide_paragraphs,
    head_sections,
    highlight,
    list_points,
)
from constraint_first.constraint.reply.measure import count_capital_words, has_word
from constraint_first.constraint.reply.protected import find_outside, replace_all
from constraint_first.constraint.reply.regroup import split_sentences
from constraint_first.pattern import lazy_pattern
from constraint_first.problem import Json

_Args: TypeAlias = Mapping[str, Json]
Edit: TypeAlias = Callable[[_Args, str], Iterator[str]]
"""From the arguments of a demand and a reply that breaks it to replies that may meet it."""


# --- Spelling.

_LETTERS: Final = lazy_pattern(r"[^\W\d_]+")


def _change_case(args: _Args, reply: str) -> Iterator[str]:
    change = str.upper if args["case"] == "upper" else str.lower
    yield replace_all(reply, ((one, change(one[0])) for one in find_outside(_LETTERS, reply)))


_LONGER: Final = lazy_pattern(r"(?<![\w'’<\[])(?=[A-Za-z]*[a-z])[A-Za-z]{4,}(?![\w'’>\]])")


def _capitalise(args: _Args, reply: str) -> Iterator[str]:
    """Write longer words in capitals until there are enough; fewer would damage acronyms."""
    missing = cast("int", args.get("low") or 0) - count_capital_words(reply)
    if missing > 0:
        chosen = islice(find_outside(_LONGER, reply), missing)
        yield replace_all(reply, ((one, one[0].upper()) for one in chosen))


# A comma that separates words: one inside a number or an expression has no space behind it.
_COMMA: Final = lazy_pattern(r"(?<=[\w)\]*_\"”’'%`]),(?=\s|$)")
_MARKS: Final[Mapping[str, tuple[re.Pattern[str], str]]] = {
    ",": (_COMMA, ""),
    ";": (lazy_pattern(r"(?<=[\w)\]*_\"”’']);(?=\s)"), ","),
    "!": (lazy_pattern(r"(?<=[\w)\]])!+(?=[\s*_)\]]|$)"), "."),
    "*": (lazy_pattern(r"(?<![\w*])\*{1,3}(?=[^\s*])|(?<=[^\s*])\*{1,3}(?![\w*])"), ""),
    "#": (lazy_pattern(r"^[ \t]*#{1,6}[ \t]+", re.M), ""),
}
"""How a mark goes without cost; a question mark or a colon does not."""


def _drop_marks(args: _Args, reply: str) -> Iterator[str]:
    for mark in cast("list[str]", args["marks"]):
        if mark not in _MARKS:
            return
        pattern, instead = _MARKS[mark]
        found = find_outside(pattern, reply)
        kept = _between_words(found, reply) if mark == "," else found
        reply = replace_all(reply, [(one, instead) for one in kept])
    yield reply


_ITEM: Final = lazy_pattern(r"\W*\w+(?:\W+\w+){0,2}\W*")
"""An item of a line that lists values and is no sentence."""


def _between_words(commas: Iterable[re.Match[str]], text: str) -> Iterator[re.Match[str]]:
    """Leave out commas ahead of a number, except behind a word, and those of lists of values."""
    lists = [one.span() for one in re.finditer(r"[^\n]+", text) if _lists_values(one[0])]
    starts = [start for start, _ in lists]
    for one in commas:
        at = one.start()
        nth = bisect(starts, at)
        if nth and at < lists[nth - 1][1]:
            continue
        behind = text[at + 1 : at + 40].lstrip()[:1]
        if not behind.isdigit() or text[max(at - 3, 0) : at].isalpha():
            yield one


def _lists_values(line: str) -> bool:
    items = line.split(",")
    if len(items) < 3 or line.rstrip(" *_\"')").endswith((".", "!", "?", ",")):
        return False
    return all(_ITEM.fullmatch(one) for one in items)


# --- The first and the last words.


def _prepend(args: _Args, reply: str) -> Iterator[str]:
    yield f"{str(args['text']).strip()}{BLANK_LINE}{reply.lstrip()}"


def _end_with(args: _Args, reply: str) -> Iterator[str]:
    phrase = str(args["text"]).strip()
    yield f"{reply.rstrip()}{BLANK_LINE}{phrase}"
    yield f"{reply.rstrip()} {phrase}"


def _quote(args: _Args, reply: str) -> Iterator[str]:  # noqa: ARG001
    """Put quotation marks around the reply; one that is open or closed already gets the other."""
    text = reply.strip()
    lone = text.count('"') % 2
    begin = "" if lone and text.startswith('"') else '"'
    end = "" if lone and begin and text.endswith('"') else '"'
    yield f"{begin}{text}{end}"


_HEADING: Final = lazy_pattern(
    r"^\s*(?:#{1,6}\s+|\*\*|Title:\s*)(?P<words>[^\n*#]{2,90}?)[^\w\n]*$", re.M
)


_LINE: Final = lazy_pattern(r"\s*(?P<words>\w[^\n.!?:;<>*|]{1,60}\w)[ \t]*\n[ \t]*\n")
"""A first line that is a heading without a mark: short, no sentence, and by itself."""


def _entitle(args: _Args, reply: str) -> Iterator[str]:  # noqa: ARG001
    """Put a heading of the reply in double angular brackets."""
    for found in (_HEADING.search(reply[:400]), _LINE.match(reply)):
        if found:
            end = found.end("words") if found.re.pattern == _LINE.pattern else found.end()
            yield f"{reply[: found.start()]}<<{found['words'].strip()}>>{reply[end:]}"


_MARKED: Final = lazy_pattern(r"\s*(?:[*\-+#<>|`~•]|\d{1,3}[.)])")
"""A paragraph or line that begins with a mark of its own: a heading, a list, a table, code."""


def _postscript(args: _Args, reply: str) -> Iterator[str]:
    """Make the last paragraph the postscript, or else the last sentence."""
    mark = str(args["mark"]).strip()
    body, gap, last = reply.rstrip().rpartition(BLANK_LINE)
    if gap and not _MARKED.match(last):
        yield f"{body}{gap}{mark} {last}"
    sentences = split_sentences(reply.rstrip())
    if len(sentences) > 1 and not _MARKED.match(sentences[-1]):
        yield f"{''.join(sentences[:-1]).rstrip()}{BLANK_LINE}{mark} {sentences[-1].strip()}"


# --- One of some options.


def _choose(args: _Args, reply: str) -> Iterator[str]:
    """Write an option as it was given, where the reply has it in other letters or in short."""
    options = cast("list[str]", args["texts"])
    for option in options:
        loose = r"\W+".join(re.escape(word) for word in re.findall(r"\w+", option))
        if found := re.search(loose + r"(?!\w)[.!]?", reply, re.IGNORECASE):
            yield f"{reply[: found.start()]}{option}{reply[found.end() :]}"
    short = [one for one in options if _is_meant(one, reply, options)]
    if len(short) == 1:
        yield short[0]


def _is_meant(option: str, reply: str, options: Sequence[str]) -> bool:
    """Whether a reply has a word that this option alone has."""
    others = {word for one in options if one != option for word in _words(one)}
    own = [word for word in _words(option) if word not in others]
    return bool(own) and all(has_word(reply[:200], word) for word in own)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


EDITS: Final[Mapping[str, Edit]] = {
    "contains_any": _choose,
    "paragraphs": divide_paragraphs,
    "paragraph_begins": begin_paragraph,
    "sections": head_sections,
    "bullets": list_points,
    "highlights": highlight,
    "capital_words": _capitalise,
    "title": _entitle,
    "postscript": _postscript,
    "without": _drop_marks,
    "begins": _prepend,
    "repeats": _prepend,
    "ends": _end_with,
    "case": _change_case,
    "quoted": _quote,
}
"""The edit for each op that has one, in the order in which they are tried."""

RECASING: Final = frozenset({"case", "capital_words", "contains_any", "sections"})
"""The ops whose edits change the case of words."""
