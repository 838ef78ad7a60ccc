"""Judge stored answers anew, with the grader as it is now. No model is asked."""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa

from cfr.answer import Case, grade_each
from cfr.evaluation import schema
from cfr.evaluation.store import Store
from cfr.evaluation.writer import RowValues

__all__ = ["regrade"]


def regrade(store: Store) -> int:
    """Grade every attempt that has a gold answer; return how many verdicts changed."""
    attempts, problems = schema.attempts, schema.problems
    query = (
        sa.select(attempts, problems.c.answer.label("gold"), problems.c.text.label("posed"))
        .join(problems, attempts.c.problem == problems.c.id)
        .where(attempts.c.status != "failed", problems.c.answer.is_not(None))
    )
    with store.database.connect() as connection:
        rows = list(connection.execute(query).mappings())
    changed: list[RowValues] = []
    for row, verdict in zip(rows, grade_each(_cases(rows)), strict=True):
        if (row["verdict"], row["tier"]) != (verdict.verdict, verdict.tier):
            key = {f"old_{name}": row[name] for name in ("series", "problem", "run")}
            changed.append(key | {"verdict": verdict.verdict, "tier": verdict.tier})
    if changed:
        same = [attempts.c[n] == sa.bindparam(f"old_{n}") for n in ("series", "problem", "run")]
        with store.database.begin() as connection:
            connection.execute(attempts.update().where(*same), changed)
    return len(changed)


def _cases(rows: list[sa.RowMapping]) -> Iterator[Case]:
    for row in rows:
        yield Case(row["answer"], row["gold"], row["posed"])
