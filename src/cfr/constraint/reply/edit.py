"""Edits of a reply, one for each kind of demand that an edit can meet for certain.

Each says nothing new: it marks, moves, joins or drops what the reply has, or adds words that the
demand itself names. An edit yields ways to do it, the gentlest first; whether one helps is checked
by whoever asked (``cfr.constraint.reply.repair``). Demands that need new text have no edit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias, cast

from cfr.constraint.reply.check import BLANK_LINE
from cfr.constraint.reply.layout_edit import (
    begin_paragraph,
    divide_paragraphs,
    head_sections,
    highlight,
    list_points,
)
from cfr.constraint.reply.measure import (
    count_capital_words,
    count_sentences,
    count_words,
    has_word,
)
from cfr.constraint.reply.regroup import split_sentences
from cfr.problem import Json

__all__ = ["EDITS", "Edit"]

_Args: TypeAlias = Mapping[str, Json]
Edit: TypeAlias = Callable[[_Args, str], Iterator[str]]
"""From the arguments of a demand and a reply that breaks it to replies that may meet it."""


def _low(args: _Args) -> int:
    return cast("int", args.get("low") or 0)


def _high(args: _Args) -> int | None:
    return cast("int | None", args.get("high"))


# --- Spelling.


def _change_case(args: _Args, reply: str) -> Iterator[str]:
    yield reply.upper() if args["case"] == "upper" else reply.lower()


_GROUPED: Final = re.compile(r"(?<=\d),(?=\d{3})")
_COMMA: Final = re.compile(r"[,，،、]")


def _drop_marks(args: _Args, reply: str) -> Iterator[str]:
    """Drop punctuation marks; a comma between digits goes without a gap."""
    marks = cast("list[str]", args["marks"])
    if "," in marks:
        reply = _COMMA.sub("", _GROUPED.sub("", reply))
    for mark in marks:
        reply = reply.replace(mark, "")
    yield re.sub(r"(?<=\S)  +(?=\S)", " ", reply)


_LONGER: Final = re.compile(r"(?<![\w'’<\[])(?=[A-Za-z]*[a-z])[A-Za-z]{4,}(?![\w'’>\]])")
_CAPITALS: Final = re.compile(r"(?<![\w'’])[A-Z]{2,}(?![\w'’])")


def _capitalise(args: _Args, reply: str) -> Iterator[str]:
    """Write longer words in capitals until there are enough, or fewer of them."""
    low, high, count = _low(args), _high(args), count_capital_words(reply)
    if count < low:
        yield _LONGER.sub(lambda word: word[0].upper(), reply, low - count)
    elif high is not None:
        yield _CAPITALS.sub(lambda word: word[0].capitalize(), reply, count - high)


# --- The first and the last words.


def _prepend(args: _Args, reply: str) -> Iterator[str]:
    yield f"{str(args['text']).strip()}{BLANK_LINE}{reply.lstrip()}"


_TRAILER: Final = 200
"""Characters behind a last phrase that are dropped; where there are more the phrase is added."""


def _end_with(args: _Args, reply: str) -> Iterator[str]:
    phrase = str(args["text"]).strip()
    at = reply.lower().rfind(phrase.lower())
    if at >= 0 and len(reply) - at - len(phrase) <= _TRAILER:
        yield reply[: at + len(phrase)]
    yield f"{reply.rstrip()}{BLANK_LINE}{phrase}"
    yield f"{reply.rstrip()} {phrase}"


def _quote(args: _Args, reply: str) -> Iterator[str]:  # noqa: ARG001
    yield f'"{reply.strip().strip(chr(34))}"'


_HEADING: Final = re.compile(
    r"^\s*(?:#{1,6}\s+|\*\*|Title:\s*)(?P<words>[^\n*#]{2,90}?)[^\w\n]*$", re.M
)


def _entitle(args: _Args, reply: str) -> Iterator[str]:  # noqa: ARG001
    """Put a heading of the reply, or its first words, in double angular brackets."""
    if found := _HEADING.search(reply[:400]):
        yield f"{reply[: found.start()]}<<{found['words'].strip()}>>{reply[found.end() :]}"
    words = re.findall(r"[\w'’-]+", reply[:400])[:6]
    yield f"<<{' '.join(words)}>>{BLANK_LINE}{reply.lstrip()}"


def _postscript(args: _Args, reply: str) -> Iterator[str]:
    """Make the last paragraph the postscript, or else the last sentence."""
    mark = str(args["mark"]).strip()
    body, gap, last = reply.rstrip().rpartition(BLANK_LINE)
    if gap and not last.lstrip().startswith(("*", "-", "#", "<")):
        yield f"{body}{gap}{mark} {last}"
    sentences = split_sentences(reply.rstrip())
    if len(sentences) > 1:
        yield f"{''.join(sentences[:-1]).rstrip()}{BLANK_LINE}{mark} {sentences[-1].strip()}"
    yield f"{reply.rstrip()}{BLANK_LINE}{mark} {sentences[-1].strip()}"


# --- Words that must not be there, and one of some options.


def _drop_words(args: _Args, reply: str) -> Iterator[str]:
    """Drop the sentences that have a word; where too little would be left, the word alone."""
    words = cast("list[str]", args["words"])
    sentences = split_sentences(reply)
    kept = [one for one in sentences if not any(has_word(one, word) for word in words)]
    if 10 * count_words("".join(kept)) >= 7 * count_words(reply):
        yield "".join(kept)
    listed = "|".join(re.escape(word) for word in words)
    without = re.sub(rf"(?<!\w)(?:{listed})(?!\w)", "", reply, flags=re.IGNORECASE)
    yield re.sub(r"(?<=\S)  +(?=\S)", " ", without)


def _choose(args: _Args, reply: str) -> Iterator[str]:
    """Write an option as it was given, where the reply has it in other letters or in short."""
    options = cast("list[str]", args["texts"])
    for option in options:
        loose = r"\W+".join(re.escape(word) for word in re.findall(r"\w+", option))
        if found := re.search(loose + r"[.!]?", reply, re.IGNORECASE):
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


# --- Length.


def _shorten(args: _Args, reply: str) -> Iterator[str]:
    yield from _cut(reply, _high(args), count_words)


def _fewer_sentences(args: _Args, reply: str) -> Iterator[str]:
    yield from _cut(reply, _high(args), count_sentences)


def _cut(reply: str, most: int | None, count: Callable[[str], int]) -> Iterator[str]:
    """Drop sentences from the end, or from before the last paragraph."""
    if most is None:
        return
    body, gap, last = reply.rstrip().rpartition(BLANK_LINE)
    ways = [("", reply)] if not gap else [("", reply), (gap + last, body)]
    for tail, text in ways:
        room, kept = most - count(tail), list[str]()
        for sentence in split_sentences(text):
            room -= count(sentence)
            if room < 0:
                break
            kept.append(sentence)
        if kept:
            yield "".join(kept).rstrip() + tail


# --- JSON.

_FENCED: Final = re.compile(r"```(?:json)?\s*\n?(.*?)```", re.S | re.I)


def _as_json(args: _Args, reply: str) -> Iterator[str]:  # noqa: ARG001
    """Take away what stands around JSON; a reply without any is put into an object whole."""
    if found := _FENCED.search(reply):
        yield found[1].strip()
    start, end = reply.find("{"), reply.rfind("}")
    if 0 <= start < end:
        yield reply[start : end + 1]
    bare = reply.replace("```json", "").replace("```", "").strip()
    yield json.dumps({"response": bare}, ensure_ascii=False, indent=2)


EDITS: Final[Mapping[str, Edit]] = {
    "contains_any": _choose,
    "lacks": _drop_words,
    "words": _shorten,
    "sentences": _fewer_sentences,
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
    "json": _as_json,
}
"""The edit for each op that has one, in the order in which they are tried."""
