"""Merge several stores into one, with all series, problems, attempts and calls.

All goes into the target in one transaction, and a new file takes its name only when it is
complete: an interrupted merge changes nothing. Rows that two stores have in common must be equal.
Only an unfinished attempt is replaced, by a finished one or by one with more calls.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import sqlalchemy as sa

from constraint_first.benchmark.registry import describe_gold, name_gold
from constraint_first.file.safe import atomic_file
from constraint_first.store import database as schema
from constraint_first.store.database import StoreError, sqlite_path, without_password
from constraint_first.store.series import (
    UNKNOWN,
    Series,
    bring_up_to_date,
    current_name,
    insert,
    marked,
    names_today,
    read_prompts,
    set_old_version_apart,
    write_prompts,
)
from constraint_first.store.store import Store
from constraint_first.store.writer import AttemptKey, drop_finished

Prefer: TypeAlias = Literal["first", "last"]
"""Which of two differing attempts is kept: that of the store named first, or last."""
Progress: TypeAlias = Callable[[int, int], None]
"""Called with the number of rows merged so far, and of all rows."""

_IDENTITY: Final = ("benchmark", "method", "model", "decoding")
_KEY: Final = ("series", "problem", "run")
_ATTEMPT_TABLES: Final = (schema.attempts, schema.calls)
_ROWS_AT_ONCE: Final = 500
_STREAMED: Final = {"yield_per": _ROWS_AT_ONCE}
"""The options of a query whose rows do not all fit into memory."""
_PREFER: Final = "--prefer first keeps that one, --prefer last this one"


@dataclass(frozen=True, slots=True)
class Merged:
    series: int
    problems: int
    attempts: int
    failed: int
    calls: int
    added: int
    known: int
    """Attempts that the target or an earlier store already had, equal or further along."""
    replaced: int
    left_out: tuple[tuple[str, int], ...] = ()
    """Stores that have attempts without their series or problem, and how many of these."""


class Standing(NamedTuple):
    """How far an attempt got: of two, the one that got further is kept."""

    finished: bool
    calls: int
    finished_at: float = 0.0


def merge(
    sources: Sequence[Store],
    target: str,
    prefer: Prefer | None = None,
    progress: Progress = lambda _done, _total: None,
) -> Merged:
    """Merge stores into a new file or an existing store."""
    others = [store for store in sources if not _is_at(store, target)]
    path = sqlite_path(target)
    if path is None or path.exists():
        with Store(target) as store, store.exclusively():
            return _merge_into(store, store.url, others, prefer, progress)
    with atomic_file(path) as temporary:
        with Store(str(temporary)) as store:
            merged = _merge_into(store, "", others, prefer, progress)
        if path.exists():
            raise StoreError(f"{target}: was made by somebody else meanwhile; name another file")
    return merged


def _is_at(store: Store, target: str) -> bool:
    one, other = sqlite_path(store.url), sqlite_path(target)
    if one is None or other is None:
        return store.url == without_password(target)
    return other.exists() and one.samefile(other)


def _merge_into(
    target: Store, name: str, sources: Sequence[Store], prefer: Prefer | None, progress: Progress
) -> Merged:
    total = sum(_count(source.read, table) for source in sources for table in _ATTEMPT_TABLES)

    def work(connection: sa.Connection) -> Merged:
        merging = _Merging(connection, prefer, progress, total, [name] if name else [])
        for source in sources:
            merging.add(source)
        if target.has_leases:  # merged attempts must leave the queue
            drop_finished(connection)
        return merging.result()

    return target.change(work, "merged")


def _count(read: Callable[[sa.Select[Any]], Any], table: sa.Table, *where: Any) -> int:
    ((found,),) = read(sa.select(sa.func.count()).select_from(table).where(*where))
    return found


@contextmanager
def snapshot(store: Store) -> Generator[sa.Connection]:
    """Open a read transaction, which does not see rows that a run adds later."""
    with store.database.connect() as connection:
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("BEGIN")
            yield connection
        else:
            yield connection.execution_options(isolation_level="REPEATABLE READ")


class MergeSource:
    def __init__(self, store: Store, reading: sa.Connection) -> None:
        self.url = store.url
        self.reading = reading
        self._store = store
        found = (
            reading.scalars(sa.select(table.c.benchmark).distinct()).all()
            for table in (schema.series, schema.problems)
        )
        self.names = {name: current_name(reading, name) for names in found for name in names}
        """The name that each of its benchmarks has today."""
        self.problems: dict[int, int] = {}
        """The numbers that its problems have in the target."""

    def rows(self, table: sa.Table, series: int | None = None) -> Iterator[dict[str, Any]]:
        query = sa.select(table).order_by(*table.primary_key)
        query = query if series is None else query.where(table.c.series == series)
        with self._store.reading():
            for row in self.reading.execute(query, execution_options=_STREAMED).mappings():
                yield dict(row)

    def move(self, rows: Iterable[Mapping[str, Any]], series: int) -> Iterator[dict[str, Any]]:
        """Translate the rows' numbers to those of the target; leave out rows without a problem."""
        for row in rows:
            if row["problem"] in self.problems:
                yield {**row, "series": series, "problem": self.problems[row["problem"]]}

    def count_lone(self) -> int:
        keys = [
            sa.select(*(table.c[name] for name in _KEY)).where(
                sa.or_(
                    table.c.series.not_in(sa.select(schema.series.c.id)),
                    table.c.problem.not_in(sa.select(schema.problems.c.id)),
                )
            )
            for table in _ATTEMPT_TABLES
        ]
        lone = sa.union(*keys).subquery()
        return self.reading.execute(sa.select(sa.func.count()).select_from(lone)).scalar_one()


def read_standing(connection: sa.Connection, series: int) -> dict[AttemptKey, Standing]:
    """Return how far each attempt of a series got, also if it has only calls."""
    calls, attempts = schema.calls.c, schema.attempts.c
    key = (calls.problem, calls.run)
    counted = sa.select(*key, sa.func.count()).where(calls.series == series).group_by(*key)
    made = {(problem, run): count for problem, run, count in connection.execute(counted)}
    found = {at: Standing(finished=False, calls=count) for at, count in made.items()}
    columns = (attempts.problem, attempts.run, attempts.status, attempts.finished_at)
    ended = sa.select(*columns).where(attempts.series == series)
    for problem, run, status, when in connection.execute(ended):
        found[problem, run] = Standing(status != "failed", made.get((problem, run), 0), when)
    return found


@dataclass
class _Merging:
    """A merge under way: one transaction of the target, and the stores that are in it so far."""

    connection: sa.Connection
    prefer: Prefer | None
    progress: Progress
    total: int
    before: list[str]
    done: int = 0
    added: int = 0
    known: int = 0
    replaced: int = 0
    left_out: list[tuple[str, int]] = field(default_factory=list)

    def add(self, store: Store) -> None:
        with snapshot(store) as reading:
            source = MergeSource(store, reading)
            for name in source.names.values():
                set_old_version_apart(self.connection, name)
            bring_up_to_date(self.connection)
            self._enter_problems(source)
            if lone := source.count_lone():
                self.left_out.append((store.url, lone))
            for row in source.rows(schema.series):
                method, label, own = names_today(row["method"], row["label"], row["fingerprint"])
                row |= {"method": method, "label": label, "fingerprint": marked(method, own)}
                row["benchmark"] = source.names[row["benchmark"]]
                self._add_attempts(source, row, self._enter_series(source, row))
        self.before.append(store.url)

    def result(self) -> Merged:
        read, attempts = self.connection.execute, schema.attempts
        return Merged(
            series=_count(read, schema.series),
            problems=_count(read, schema.problems),
            attempts=_count(read, attempts),
            failed=_count(read, attempts, attempts.c.status == "failed"),
            calls=_count(read, schema.calls),
            added=self.added,
            known=self.known,
            replaced=self.replaced,
            left_out=tuple(self.left_out),
        )

    def _enter_problems(self, source: MergeSource) -> None:
        table = schema.problems
        known = {(r.benchmark, r.name): r for r in self.connection.execute(sa.select(table))}
        for row in source.rows(table):
            number = row.pop("id")
            row["benchmark"] = source.names[row["benchmark"]]
            same = known.get((row["benchmark"], row["name"]))
            if same is None:
                source.problems[number] = insert(self.connection, table, row)
                continue
            source.problems[number] = same.id
            named = f"{source.url}: problem {row['name']} of {row['benchmark']}"
            if row["text"] != same.text:
                raise StoreError(f"{named} has another text than in {self._earlier}; leave one out")
            if row["answer"] != same.answer and self.prefer is None:
                raise StoreError(
                    f"{named} has the {name_gold(row['answer'])} {_gold(row['answer'])}, and "
                    f"{_gold(same.answer)} in "
                    f"{self._earlier}; {_PREFER}, and 'cfr runs --regrade' then judges by it"
                )
            if row["answer"] != same.answer and self.prefer == "last":
                update = table.update().where(table.c.id == same.id)
                self.connection.execute(update.values(answer=row["answer"]))

    def _enter_series(self, source: MergeSource, row: Mapping[str, Any]) -> int:
        table = schema.series
        query = sa.select(table).where(*(table.c[name] == row[name] for name in _IDENTITY))
        same = self.connection.execute(query).mappings().first()
        if same is None:
            new = {name: row[name] for name in row if name != "id"}
            number = insert(self.connection, table, new)
            write_prompts(self.connection, number, read_prompts(source.reading, row["id"]))
            return number
        if same["fingerprint"] != row["fingerprint"]:
            raise StoreError(
                f"{source.url}: {_named(row)} was run with {_difference(same, row)} than in "
                f"{self._earlier}; leave one of the stores out, or run that series again in a new "
                "store with one version of cfr"
            )
        return same["id"]

    def _add_attempts(self, source: MergeSource, series: Mapping[str, Any], number: int) -> None:
        ours = read_standing(self.connection, number)
        theirs = {
            (source.problems[problem], run): standing
            for (problem, run), standing in read_standing(source.reading, series["id"]).items()
            if problem in source.problems
        }
        both = theirs.keys() & ours.keys()
        finished = {at for at in both if theirs[at].finished and ours[at].finished}
        better = {at for at in both - finished if theirs[at] > ours[at]}
        if finished:
            better |= self._differing(source, series, number, finished)
        self._delete(number, better)
        taken = (theirs.keys() - both) | better
        for table in _ATTEMPT_TABLES:
            rows = source.rows(table, series["id"])
            while batch := list(islice(rows, _ROWS_AT_ONCE)):
                moved = source.move(batch, number)
                chosen = [row for row in moved if (row["problem"], row["run"]) in taken]
                if chosen:
                    self.connection.execute(table.insert(), chosen)
                self.done += len(batch)
                self.progress(self.done, self.total)
        self.added += len(taken) - len(better)
        self.replaced += len(better)
        self.known += len(both) - len(better)

    def _differing(
        self, source: MergeSource, series: Mapping[str, Any], number: int, both: set[AttemptKey]
    ) -> set[AttemptKey]:
        """Return differing attempts that the later store replaces; raise without ``prefer``."""
        table = schema.attempts
        query = sa.select(table).where(table.c.series == number)
        streamed = self.connection.execute(query, execution_options=_STREAMED).mappings()
        found = (((row["problem"], row["run"]), row) for row in streamed)
        known = {at: _digest(dict(row)) for at, row in found if at in both}
        differing: set[AttemptKey] = set()
        for row in source.move(source.rows(table, series["id"]), number):
            at = (row["problem"], row["run"])
            if at in known and known[at] != _digest(row):
                if self.prefer is None:
                    raise self._conflict(source, series, row)
                differing.add(at)
        return differing if self.prefer == "last" else set()

    def _conflict(
        self, source: MergeSource, series: Mapping[str, Any], row: Mapping[str, Any]
    ) -> StoreError:
        table, problems = schema.attempts, schema.problems
        query = sa.select(table).where(*(table.c[name] == row[name] for name in _KEY))
        same = self.connection.execute(query).mappings().one()
        named = sa.select(problems.c.name).where(problems.c.id == row["problem"])
        problem = self.connection.scalar(named)
        other = " and ".join([name for name in row if row[name] != same[name]][:3])
        return StoreError(
            f"{source.url}: {_named(series)}, problem {problem}, run {row['run']} has another "
            f"{other} than in {self._earlier}; {_PREFER}"
        )

    def _delete(self, series: int, keys: Iterable[AttemptKey]) -> None:
        rows = [{"of": series, "at": problem, "nth": run} for problem, run in keys]
        for table in _ATTEMPT_TABLES if rows else ():
            where = zip((table.c[name] for name in _KEY), ("of", "at", "nth"), strict=True)
            query = table.delete().where(*(column == sa.bindparam(n) for column, n in where))
            self.connection.execute(query, rows)

    @property
    def _earlier(self) -> str:
        return ", ".join(self.before)


def _digest(row: Mapping[str, Any]) -> bytes:
    return blake2b(repr(sorted(row.items())).encode("utf-8", "surrogatepass")).digest()


def _gold(gold: str | None) -> str:
    return repr(gold and describe_gold(gold))


def _difference(same: Mapping[Any, Any], row: Mapping[Any, Any]) -> str:
    before, now = Series.read(same), Series.read(row)
    if before.fingerprint != now.fingerprint:
        return "other prompts or settings"
    return (
        f"another interpreter ({now.interpreter or UNKNOWN}, not {before.interpreter or UNKNOWN})"
    )


def _named(row: Mapping[str, Any]) -> str:
    return f"{row['method']} on {row['benchmark']} with {row['model']}"
