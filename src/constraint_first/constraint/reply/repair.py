"""Repair of a reply without a model: edits that keep its meaning and break no other demand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from constraint_first.constraint.predicate import Predicate, parts, truth_of
from constraint_first.constraint.reply.edit import EDITS, RECASING
from constraint_first.constraint.reply.protected import keeps
from constraint_first.constraint.stated.statement import Stated

_LONGEST: Final = 30_000
"""Characters of the longest reply that is repaired."""
_MOST_EDITS: Final = 12


def repair_reply(stated: Sequence[Stated], reply: str) -> str:
    """Return a reply that breaks fewer demands, or the same one where no edit may be made.

    An edit is made where it meets a demand that was broken, breaks none that was met, and keeps
    every word and every protected stretch of the reply.
    """
    if len(reply) > _LONGEST:
        return reply
    single = [one for demand in stated for one in parts(demand.predicate)]
    for _ in range(_MOST_EDITS):
        better = next(_better(single, reply), None)
        if better is None:
            break
        reply = better
    return reply


def _better(predicates: Sequence[Predicate], reply: str) -> Iterator[str]:
    """Yield replies that break fewer of some demands and no other ones."""
    wrong = _broken(predicates, reply)
    for op, edit in EDITS.items():
        for at in sorted(wrong):
            if predicates[at]["op"] != op:
                continue
            for edited in edit(predicates[at], reply):
                if (
                    edited != reply
                    and _broken(predicates, edited) < wrong
                    and keeps(reply, edited, recased=op in RECASING)
                ):
                    yield edited


def _broken(predicates: Sequence[Predicate], reply: str) -> set[int]:
    truths = (truth_of(one, reply) for one in predicates)
    return {at for at, truth in enumerate(truths) if truth == "violated"}
