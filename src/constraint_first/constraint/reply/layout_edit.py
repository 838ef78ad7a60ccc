"""Edits that lay a reply out: paragraphs, sections, bullets and highlights, of what it has."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import Final, TypeAlias, cast

from constraint_first.constraint.reply.check import BLANK_LINE
from constraint_first.constraint.reply.measure import (
    count_bullets,
    count_highlights,
    count_sections,
    is_bullet,
    split_paragraphs,
)
from constraint_first.constraint.reply.protected import find_outside, replace_all
from constraint_first.constraint.reply.regroup import group_lines, group_sentences, split_sentences
from constraint_first.pattern import lazy_pattern
from constraint_first.problem import Json

_Args: TypeAlias = Mapping[str, Json]


def _wanted(args: _Args) -> int:
    """Say how many are asked for: the fewest that will do, else the most."""
    return cast("int", args.get("low") or args.get("high") or 1)


def divide_paragraphs(args: _Args, reply: str) -> Iterator[str]:
    """Join neighbouring paragraphs, or split them between sentences, until there are as many."""
    mark, wanted = str(args.get("separator", BLANK_LINE)), _wanted(args)
    bare = _RULE.sub("", reply)
    gap = BLANK_LINE if mark == BLANK_LINE else f"{BLANK_LINE}{mark}{BLANK_LINE}"
    within = "\n" if mark == BLANK_LINE else BLANK_LINE
    paragraphs = split_paragraphs(bare)
    if len(paragraphs) >= wanted:
        yield gap.join(group_lines(paragraphs, wanted, within))
    sentences = group_sentences(bare, wanted)
    if len(sentences) == wanted:
        yield gap.join(
            _EMPTY.sub("\n" if mark == BLANK_LINE else r"\g<0>", one) for one in sentences
        )


_EMPTY: Final = lazy_pattern(r"\n\s*\n")
_RULE: Final = lazy_pattern(r"^[ \t]*(?:(?:\*[ \t]*){3,}|-{3,})$", re.M)
"""A line across the page, of stars or dashes."""


_MARKED: Final = lazy_pattern(r"[*\-+#<>|`~•]|\d{1,3}[.)]")
"""The beginning of a heading, a list, a table or code, which must stay at the start of its line."""


def begin_paragraph(args: _Args, reply: str) -> Iterator[str]:
    """Put a word ahead of a paragraph."""
    paragraphs, nth = split_paragraphs(reply), cast("int", args["nth"])
    if 1 <= nth <= len(paragraphs) and not _MARKED.match(paragraphs[nth - 1]):
        word = str(args["word"])
        paragraphs[nth - 1] = f"{word[:1].upper()}{word[1:]}, {paragraphs[nth - 1]}"
        yield BLANK_LINE.join(paragraphs)


def head_sections(args: _Args, reply: str) -> Iterator[str]:
    """Write section marks as they were asked for, or put them ahead of paragraphs."""
    mark, wanted = str(args["mark"]).strip(), _wanted(args)
    respelt = re.sub(rf"\b{re.escape(mark)}(?=\s?\d)", mark, reply, flags=re.IGNORECASE)
    yield respelt
    if count_sections(respelt, mark):
        return
    for parts in (split_paragraphs(reply), group_sentences(reply, wanted)):
        if len(parts) >= wanted:
            grouped = group_lines(parts, wanted, BLANK_LINE)
            yield BLANK_LINE.join(f"{mark} {n}\n{part}" for n, part in enumerate(grouped, 1))


_NUMBERED: Final = lazy_pattern(r"^([ \t]*)(?:(?=\d{1,3}[.)]\s)|[•●▪◦–]\s+)", re.M)


def list_points(args: _Args, reply: str) -> Iterator[str]:
    """Make points of numbered items, join points that are too many, or make some of sentences.

    The numbers of items stay, since other sentences may refer to them.
    """
    wanted = _wanted(args)
    listed = _NUMBERED.sub(r"\1* ", reply) if count_bullets(reply) < wanted else reply
    yield listed
    count = count_bullets(listed)
    if count > wanted:
        yield _join_points(listed, wanted)
    if not count:
        parts = group_sentences(reply, wanted)
        if len(parts) >= wanted:
            yield "\n".join(f"* {' '.join(part.split())}" for part in parts)


def _join_points(reply: str, most: int) -> str:
    """Let points beyond the last one that is allowed go on in it."""
    seen, lines = 0, list[str]()
    for line in reply.split("\n"):
        seen += is_bullet(line)
        if is_bullet(line) and seen > most:
            last = lines[-1].rstrip()
            joint = " " if last.endswith((".", "!", "?", ";", ":", ",")) else "; "
            lines[-1] = f"{last}{joint}{line.strip()[1:].strip()}"
        elif seen <= most or line.strip():
            lines.append(line)
    return "\n".join(lines)


_PHRASE: Final = lazy_pattern(r"(?<![*\w])[A-Za-z][\w'’-]*(?: [\w'’-]+){1,4}(?![*\w])")


def highlight(args: _Args, reply: str) -> Iterator[str]:
    """Put stars around the first words of lines, then of sentences, until it is enough."""
    missing = _wanted(args) - count_highlights(reply)
    phrases = [*find_outside(_PHRASE, reply)]
    for parts in (reply.splitlines(keepends=True), split_sentences(reply)):
        ends, chosen = [*accumulate(map(len, parts))], dict[int, re.Match[str]]()
        plain = ["*" not in part and "<<" not in part for part in parts]
        for one in phrases:
            nth = bisect(ends, one.start())
            if plain[nth] and one.end() <= ends[nth]:
                chosen.setdefault(nth, one)
        marked = [*chosen.values()][: max(missing, 0)]
        yield replace_all(reply, ((one, f"*{one[0]}*") for one in marked))
