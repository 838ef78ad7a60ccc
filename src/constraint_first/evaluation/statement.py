"""The statements that write a store's rows, for SQLite and for PostgreSQL."""

from __future__ import annotations

from typing import Any, cast

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from constraint_first.evaluation import schema

__all__ = ["WriteStatements"]


class WriteStatements:
    """How rows are written."""

    def __init__(self, *, is_shared: bool) -> None:
        dialect = cast("Any", postgresql if is_shared else sqlite)
        self.put_attempt = _upsert(dialect, schema.attempts)
        now = sa.extract("epoch", sa.func.clock_timestamp())
        self.put_attempt_now = self.put_attempt.values(finished_at=now)
        """By the clock of the server: those of workers may differ."""
        self.put_call = _upsert(dialect, schema.calls)
        if is_shared:  # a commit that was made although the server broke off is made once
            self.put_call = cast("sa.Insert", dialect.insert(schema.calls).on_conflict_do_nothing())
        same = (schema.calls.c[name] == sa.bindparam(name) for name in ("series", "problem", "run"))
        self.delete_calls = schema.calls.delete().where(*same)


def _upsert(dialect: Any, table: sa.Table) -> sa.Insert:
    """Insert a row, or replace the one with its key: a failed attempt that was made again."""
    insert = dialect.insert(table)
    keys = [column.name for column in table.primary_key]
    rest = {c.name: insert.excluded[c.name] for c in table.columns if c.name not in keys}
    return insert.on_conflict_do_update(index_elements=keys, set_=rest)
