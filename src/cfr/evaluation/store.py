"""The store of attempts and calls: everything asked and answered, in SQLite or PostgreSQL.

Calls are written before their attempt goes on, so that whatever was paid for is there after a
crash. Attempts that are complete are never made again; a failed one leaves its reason and is made
again by the next run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, cast

import orjson
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError

from cfr.evaluation import schema
from cfr.evaluation.database import connect, without_password
from cfr.evaluation.error import StoreError, reason
from cfr.evaluation.lock import advisory_lock, file_lock
from cfr.evaluation.series import Series, fingerprint
from cfr.evaluation.writer import RowValues, Writer
from cfr.problem import Problem
from cfr.protocol import Completion, Finish, Usage

__all__ = ["AttemptKey", "Registered", "Store", "StoreError", "StoredCall", "usage_columns"]

AttemptKey = tuple[int, int]
"""A problem's number in the store and a run's index: an attempt within its series."""


@dataclass(frozen=True, slots=True)
class Registered:
    """A series and its problems under the numbers that the store gave them."""

    series: int
    problems: dict[str, int]


@dataclass(frozen=True, slots=True)
class StoredCall:
    """A call that was completed in an earlier run of an attempt that was not."""

    digest: str
    completion: Completion


class Store:
    """An open store: ``with Store("runs.db") as store``."""

    def __init__(self, url: str) -> None:
        self.url = without_password(url)
        self.database, self._lock_path = connect(url)
        try:
            self._prepare()
        except BaseException:
            self.database.dispose()
            raise
        dialect = cast("Any", postgresql if self.database.name == "postgresql" else sqlite)
        self._upserts = {t: _upsert(dialect, t) for t in (schema.attempts, schema.calls)}
        self._writer = Writer(self.url, self.database, self._upserts.__getitem__)

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._writer.close()
        self.database.dispose()

    def exclusively(self) -> AbstractContextManager[None]:
        """Hold the store for one run: two that write the same attempts would pay for them twice."""
        if self._lock_path:
            return file_lock(self.url, self._lock_path)
        return advisory_lock(self.url, self.database)

    def register(self, series: Series, problems: Sequence[Problem]) -> Registered:
        """Enter a series and its problems, or find them; what has changed since is refused."""
        with self.database.begin() as connection:
            return Registered(
                self._series(connection, series),
                self._problems(connection, series.benchmark, problems),
            )

    def finished(self, series: int) -> set[AttemptKey]:
        """Return the attempts that need not be made again."""
        table = schema.attempts
        query = sa.select(table.c.problem, table.c.run).where(
            table.c.series == series, table.c.status != "failed"
        )
        with self.database.connect() as connection:
            return {(problem, run) for problem, run in connection.execute(query).all()}

    def begun(self, series: int) -> dict[AttemptKey, dict[int, StoredCall]]:
        """Return the calls of attempts that were begun and not finished."""
        calls, attempts = schema.calls, schema.attempts
        same = sa.and_(
            *(attempts.c[name] == calls.c[name] for name in ("series", "problem", "run")),
            attempts.c.status != "failed",
        )
        query = (
            sa.select(calls)
            .outerjoin(attempts, same)
            .where(calls.c.series == series, attempts.c.series.is_(None))
        )
        found: dict[AttemptKey, dict[int, StoredCall]] = defaultdict(dict)
        with self.database.connect() as connection:
            for row in connection.execute(query).mappings():
                stored = StoredCall(row["digest"], _completion(row))
                found[row["problem"], row["run"]][row["ordinal"]] = stored
        return dict(found)

    def outcomes(
        self, registered: Registered, problems: Sequence[int], runs: int
    ) -> Iterator[tuple[Any, str | None, int, Usage]]:
        """Count finished attempts by status and verdict, each with the tokens they took together.

        The database adds up: a row for each attempt would take longer than all the rest.
        """
        table = schema.attempts
        where = [table.c.series == registered.series, table.c.status != "failed"]
        where.append(table.c.run < runs)
        if len(problems) < len(registered.problems):
            # Written into the statement: databases take only so many parameters.
            ids: sa.BindParameter[int] = sa.bindparam(
                "ids", problems, type_=sa.Integer, expanding=True, literal_execute=True
            )
            where.append(table.c.problem.in_(ids))
        by = (table.c.status, table.c.verdict)
        tokens = [sa.func.sum(table.c[name]) for name in usage_columns(Usage())]
        query = sa.select(*by, sa.func.count(), *tokens).where(*where).group_by(*by)
        with self.database.connect() as connection:
            for row in connection.execute(query).all():
                status, verdict, count, *used = cast("tuple[Any, ...]", row)
                yield status, verdict, count, Usage(*used)

    async def write_call(self, row: RowValues) -> None:
        """Write a completed call and wait until it is safe."""
        await self._writer.write(schema.calls, row)

    def write_attempt(self, row: RowValues) -> None:
        """Write how an attempt ended. If this is lost, its calls are not: it is replayed."""
        self._writer.write_later(schema.attempts, row)

    def flush(self) -> None:
        """Wait until all that was written is safe."""
        self._writer.flush()

    def _prepare(self) -> None:
        try:
            schema.METADATA.create_all(self.database)
            with self.database.begin() as connection:
                version = connection.scalar(sa.select(schema.store.c.version))
                if version is None:
                    connection.execute(schema.store.insert(), {"version": schema.VERSION})
                    version = schema.VERSION
        except DBAPIError as error:
            raise StoreError(
                f"{self.url}: cannot be opened as a store ({reason(error)}); check the address"
            ) from None
        if version != schema.VERSION:
            raise StoreError(f"{self.url}: written by another version of cfr ({version})")

    def _series(self, connection: sa.Connection, series: Series) -> int:
        table, method = schema.series, series.build()
        identity = {
            "benchmark": series.benchmark,
            "method": series.method,
            "model": series.model,
            "decoding": orjson.dumps(series.settings).decode(),
        }
        now = fingerprint(method)
        where = [table.c[name] == value for name, value in identity.items()]
        known = connection.execute(sa.select(table).where(*where)).mappings().first()
        if known is None:
            values = identity | {"label": method.label, "fingerprint": now}
            entered = connection.execute(table.insert().values(values))
            return cast("int", cast("Any", entered.inserted_primary_key)[0])
        if known["fingerprint"] != now:
            raise StoreError(
                f"{self.url}: {series.method} on {series.benchmark} was run with other prompts or "
                "settings than it has now; name a new store, so that the two are not mixed"
            )
        return known["id"]

    def _problems(
        self, connection: sa.Connection, benchmark: str, problems: Sequence[Problem]
    ) -> dict[str, int]:
        table = schema.problems
        columns = (table.c.name, table.c.id, table.c.text)
        query = sa.select(*columns).where(table.c.benchmark == benchmark)
        known = {name: (number, text) for name, number, text in connection.execute(query).all()}
        for problem in problems:
            if problem.id in known and known[problem.id][1] != problem.text:
                raise StoreError(
                    f"{self.url}: problem {problem.id} of {benchmark} has another text there; "
                    "name a new store for the changed file"
                )
        new = [
            {"benchmark": benchmark, "name": p.id, "text": p.text, "answer": p.answer}
            for p in problems
            if p.id not in known
        ]
        if not new:
            return {name: number for name, (number, _) in known.items()}
        connection.execute(table.insert(), new)
        names = sa.select(table.c.name, table.c.id).where(table.c.benchmark == benchmark)
        return {row.name: row.id for row in connection.execute(names)}


def usage_columns(usage: Usage) -> RowValues:
    """Spread token counts over their columns."""
    return {
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "reasoning_tokens": usage.reasoning,
        "cached_tokens": usage.cached,
    }


def _completion(row: sa.RowMapping) -> Completion:
    usage = Usage(
        row["input_tokens"],
        row["output_tokens"],
        row["reasoning_tokens"],
        row["cached_tokens"],
        row["reported"],
    )
    return Completion(row["text"], cast("Finish", row["finish"]), row["reasoning"], usage)


def _upsert(dialect: Any, table: sa.Table) -> sa.Insert:
    """Insert a row, or replace the one with its key: a failed attempt that was made again."""
    insert = dialect.insert(table)
    keys = [column.name for column in table.primary_key]
    rest = {c.name: insert.excluded[c.name] for c in table.columns if c.name not in keys}
    return insert.on_conflict_do_update(index_elements=keys, set_=rest)
