"""Putting more text into a reply: which demands that can meet, and where it may stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from constraint_first.constraint.predicate import parts
from constraint_first.constraint.reply.check import BLANK_LINE
from constraint_first.constraint.reply.protected import keeps
from constraint_first.constraint.stated.statement import Stated

_GROWING: Final = frozenset(
    "words sentences contains occurrences letters placeholders capital_words highlights".split()
)
"""What grows with the text, so that an addition can bring what is missing of it."""


def can_be_added(demand: Stated) -> bool:
    """Whether a demand that a reply breaks may be met by adding to it."""
    return all(
        one["op"] == "contains" or (one["op"] in _GROWING and one.get("low") is not None)
        for one in parts(demand.predicate)
    )


def insertions(reply: str, added: str) -> Iterator[str]:
    """Yield the reply with more text: at its end, and ahead of its last paragraph.

    None where that would put it into code or another protected stretch.
    """
    body, gap, last = reply.rstrip().rpartition(BLANK_LINE)
    places = [f"{reply.rstrip()}{BLANK_LINE}{added}", f"{reply.rstrip()} {' '.join(added.split())}"]
    if gap:
        places.append(f"{body}{BLANK_LINE}{added}{gap}{last}")
    return (one for one in places if keeps(reply, one))


def join_responses(faults: Sequence[Stated], first: str, second: str) -> Iterator[str]:
    """Yield two replies as one, where several were asked for with a mark between them."""
    for one in faults:
        if one.predicate["op"] == "responses":
            mark = f"{BLANK_LINE}{one.predicate['separator']}{BLANK_LINE}"
            yield f"{first.strip()}{mark}{second.strip()}"
