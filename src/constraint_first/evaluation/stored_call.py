"""Stored calls: what an earlier run asked and was answered, as an attempt is replayed with it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, cast

import sqlalchemy as sa

from constraint_first.protocol import Answer, Completion, Finish, Output, Usage

__all__ = ["EXECUTED", "AttemptKey", "KnownCalls", "StoredCall", "calls_by_attempt"]

EXECUTED: Final = "executed"
"""How a row of ``calls`` finished that is a program's: its text is what the program printed, its
reasoning the error. So programs stand in their place among the calls, in stores of any age."""

AttemptKey = tuple[int, int]
"""A problem's number in the store and a run's index: an attempt within its series."""


@dataclass(frozen=True, slots=True)
class StoredCall:
    """A call or program of an unfinished attempt, with the answer that an earlier run got."""

    digest: str
    answer: Answer


KnownCalls = dict[int, StoredCall]
"""The stored calls of one attempt, by their place in it."""


def calls_by_attempt(rows: Iterable[sa.Row[Any]]) -> dict[AttemptKey, KnownCalls]:
    """Sort rows of the table of calls by the attempts that they belong to."""
    found: dict[AttemptKey, KnownCalls] = defaultdict(dict)
    for row in rows:
        found[row.problem, row.run][row.ordinal] = StoredCall(row.digest, _answer(row))
    return dict(found)


def _answer(row: sa.Row[Any]) -> Answer:
    if row.finish == EXECUTED:
        return Output(row.text, row.reasoning, row.seconds)
    usage = Usage(
        row.input_tokens, row.output_tokens, row.reasoning_tokens, row.cached_tokens, row.reported
    )
    return Completion(row.text, cast("Finish", row.finish), row.reasoning, usage)
