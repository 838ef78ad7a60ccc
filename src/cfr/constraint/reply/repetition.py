"""The rule for a request that is to be repeated, word for word, before it is answered."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from cfr.constraint.reply.pattern import either
from cfr.constraint.reply.request import QUOTED, Found, Request, Sentence

__all__ = ["read_repetition"]

_REPEAT: Final = re.compile(
    r"\brepeat(?:ing)?\s+(?:"
    + either(
        "the, this, my, that, all, of, exact, exactly, entire, whole, full, complete, original,"
        " first, following, same, above, below, current, given"
    )
    + r"\s*,?\s+)*"
    + either(
        "request, prompt, sentence(s), question, text, line(s), instruction(s), message, query, it,"
        " everything, above, below, input, paragraph, task, statement, following"
    )
    + r"\b"
)
_EXACT: Final = re.compile(
    r"word[\s-](?:for|by)[\s-]word|without\s+(?:any\s+)?chang|exact|as\s+it\s+is|as-is|verbatim"
    r"|unchanged|(?:not|n't)\s+change|literally|\b(?:first|before|then)\b"
)
_GIVEN: Final = re.compile(rf"\brepeat\s+(?:[a-z]+\s+){{0,4}}:?\s*(?P<quote>{QUOTED})")
_NOT: Final = re.compile(r"(?:\b(?:not|never|before|avoid|without)|n't)\s*$")


def read_repetition(sentence: Sentence) -> Iterator[Found]:
    """Whether the reply begins with the request itself, and with which part of it."""
    found = _GIVEN.search(sentence.plain) or _REPEAT.search(sentence.plain)
    if not found or _NOT.search(sentence.plain[: found.start()]):
        return
    plain = sentence.request.plain
    end = plain.find("\n", max(0, sentence.end - 1))
    end = len(plain) if end < 0 else end
    if not _EXACT.search(plain[sentence.start : end]):
        return
    if found.re is _GIVEN:
        wanted = sentence.original(*found.span("quote"))[1:-1].strip()
    else:
        wanted = _wanted(sentence, found, end)
    if re.search(r"\w", wanted):
        yield sentence.found({"op": "repeats", "text": wanted}, *found.span())


def _wanted(sentence: Sentence, found: re.Match[str], end: int) -> str:
    """The part of the request that is to be repeated; nothing where it is not clear which."""
    request = sentence.request
    before = _told(request, 0, sentence.start)
    after = _told(request, end, len(request.text))
    below = re.search(r"\b(?:below|following)\b", request.plain[sentence.start : end])
    wanted = after if (below and after) or not before else before
    if re.search(r"\bfirst\s+line\b", sentence.plain[found.start() : found.end() + 12]):
        wanted = wanted.split("\n")[0].strip()
    several = re.search(r"\bsentence\b", found[0]) and re.search(r"[.?!]\s+\S|\n", wanted)
    return "" if several else wanted


def _told(request: Request, start: int, end: int) -> str:
    """The request between two places, without sentences at its ends that are about repeating it."""
    within = [one for one in request.sentences if start <= one.start and one.end <= end]
    others = [one for one in within if not re.search(r"\brepeat(?:ing)?\b", one.plain)]
    return request.text[others[0].start : others[-1].end].strip() if others else ""
