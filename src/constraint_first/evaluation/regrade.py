"""Regrading: stored answers judged anew, with the grader as it is now. No model is asked.

Memory does not grow with the store. Attempts are read a page at a time, by key and without their
texts, and changed verdicts are written a batch at a time. Where gold instructions are checked on
whole texts, pages are small. No read is open while anything is written or judged: it would hold a
lock on SQLite and a transaction on PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice, tee
from typing import Any, Final, TypeAlias

import sqlalchemy as sa

from constraint_first.answer import GradingCase, Verdict, grade_each
from constraint_first.benchmark.gold_instruction import INSTRUCTION_MARK, read_instructions
from constraint_first.evaluation import schema
from constraint_first.evaluation.judge import judge_reply
from constraint_first.evaluation.store import Store
from constraint_first.evaluation.writer import RowValues

__all__ = ["regrade"]

_KEY: Final = tuple(schema.attempts.primary_key)
_AT_ONCE: Final = 500
"""Attempts in a page that is read, and verdicts in a batch that is written."""
_TEXTS_AT_ONCE: Final = 20
"""Attempts in a page that is read with their texts, of which each may have millions of letters."""
_Rows: TypeAlias = Iterator[sa.Row[Any]]


def regrade(store: Store) -> int:
    """Grade every attempt that has a gold answer; return how many verdicts changed.

    An interruption leaves old verdicts beside new ones; regrading again completes the rest.
    """
    same = [column == sa.bindparam(f"old_{column.name}") for column in _KEY]
    update = schema.attempts.update().where(*same)
    changes, changed = _changes(store), 0
    while batch := list(islice(changes, _AT_ONCE)):
        store.change(partial(_execute, update, batch), "regraded")
        changed += len(batch)
    return changed


def _execute(update: sa.Update, batch: list[RowValues], connection: sa.Connection) -> None:
    connection.execute(update, batch)


def _changes(store: Store) -> Iterator[RowValues]:
    """Yield the key and the new verdict of each attempt that is judged otherwise than before."""
    beginning = sa.func.substr(schema.problems.c.answer, 1, len(INSTRUCTION_MARK))
    instructed = beginning == INSTRUCTION_MARK  # LIKE would not tell capitals on SQLite
    answers = _rows(store, ("answer",), sa.not_(instructed), _AT_ONCE)
    replies = _rows(store, ("text",), instructed, _TEXTS_AT_ONCE)
    for row, verdict in _judged(answers, replies):
        if (row.verdict, row.tier) != (verdict.verdict, verdict.tier):
            key = {f"old_{column.name}": row[n] for n, column in enumerate(_KEY)}
            yield key | {"verdict": verdict.verdict, "tier": verdict.tier}


def _judged(answers: _Rows, replies: _Rows) -> Iterator[tuple[sa.Row[Any], Verdict]]:
    ahead, rows = tee(answers)  # the grader reads ahead, by a bounded number of cases
    yield from zip(rows, _verdicts(ahead), strict=True)
    for row in replies:
        yield row, judge_reply(read_instructions(row.gold) or (), row.text)


def _verdicts(rows: _Rows) -> Iterator[Verdict]:
    # An answer that was stored by an earlier version may be a sentence; reading the answer out of
    # it once more changes nothing in one that was read to its end.
    return grade_each(GradingCase.from_reply(row.answer, row.gold, row.posed) for row in rows)


def _rows(
    store: Store, columns: Sequence[str], where: sa.ColumnElement[bool], at_once: int
) -> _Rows:
    attempts, problems = schema.attempts, schema.problems
    query = (
        sa.select(
            *_KEY,
            *(attempts.c[name] for name in (*columns, "verdict", "tier")),
            problems.c.answer.label("gold"),
            problems.c.text.label("posed"),
        )
        .join(problems, attempts.c.problem == problems.c.id)
        .where(attempts.c.status != "failed", problems.c.answer.is_not(None), where)
        .order_by(*_KEY)
        .limit(at_once)
    )
    page = query
    while True:
        found = store.read(page)
        yield from found
        if len(found) < at_once:
            return
        page = query.where(sa.tuple_(*_KEY) > found[-1][: len(_KEY)])
