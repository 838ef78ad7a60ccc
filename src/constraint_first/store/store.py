"""A series: one method on one benchmark with one model and one decoding, over several runs."""

from __future__ import annotations

import hashlib
import sqlite3
import time
from asyncio import Future
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NamedTuple, TypeVar, cast

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from constraint_first.attempt.drive import digest
from constraint_first.benchmark.constraintbench.item import find_item, is_constraintbench
from constraint_first.error import InputError
from constraint_first.file.safe import storable_count, storable_json, storable_text
from constraint_first.method.former import NAMES, changed_meaning, renamed, renamed_label, spelled
from constraint_first.method.method import Method, prompts_of
from constraint_first.method.policy import Calibrated
from constraint_first.method.registry import make
from constraint_first.method.rewording import Wording, reword, worded_name
from constraint_first.model.wire import Decoding
from constraint_first.problem import Json, Problem
from constraint_first.protocol import Call, Completion, Output, Program, Run, Usage
from constraint_first.store import schema
from constraint_first.store.database import (
    AdvisoryLock,
    LeaseLost,
    Lock,
    LockFile,
    StoreError,
    StoreFile,
    cannot_be,
    open_database,
    opening,
    patiently,
    reason,
    save_copy,
    sqlite_path,
    sqlite_tables,
    without_password,
)
from constraint_first.store.writer import (
    AttemptKey,
    KnownCalls,
    Leases,
    RowValues,
    SeriesShare,
    Writer,
    WriteStatements,
    calls_by_attempt,
    enqueue,
    free_all,
    name_owner,
)


@dataclass(frozen=True, slots=True)
class Series:
    """What all attempts of one row in a table have in common."""

    benchmark: str
    method: str
    """As written on the command line: ``routed-cfr(reply=json)``."""
    model: str
    decoding: Decoding = field(default_factory=Decoding)
    system: str = ""
    """A system prompt that goes ahead of every call; the paper's main runs have none."""
    given: Method | None = field(default=None, compare=False)
    """The method itself, where it was given as an object and cannot be made from its name."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "method", spelled(self.method))

    @property
    def settings(self) -> dict[str, Json]:
        """How it is decoded, in a form that can be stored and compared."""
        decoding = asdict(self.decoding)
        for name in ("max_tokens", "extra"):
            if not decoding[name]:  # as in stores that were made before there was one
                del decoding[name]
        return decoding | ({"system": self.system} if self.system else {})

    def build(self) -> Method:
        """Make the method."""
        return self.given or make(self.method)

    def reworded(self, wording: Wording) -> Series:
        """Return the series with own prompts, under a name that says so; itself without any."""
        method = self.build()
        own = reword(method, wording)
        if own is method:
            return self
        return replace(self, method=worded_name(self.method, wording), given=own)


# One problem with cues and one without, so that both branches of a router are seen.
_PROBES: Final = (
    Problem("Find the remainder when $2^{10}$ is divided by 7.", benchmark="probe"),
    Problem("Compute $1 + 1$.", benchmark="probe"),
)
_REQUEST: Final = Problem(
    "Write about rain in at least 40 words. Do not use any commas. Your entire response should be "
    "in German.",
    benchmark="probe",
)
"""For methods that reply to requests, which have no fingerprints in older stores."""
_PROBE_REPLY: Final = Completion(
    '{"raw_constraints": [{"id": "C1", "type": "domain", "description": "an integer"}],'
    ' "answer_format": "integer", "final_answer": "2"}\n\\boxed{2}',
    usage=Usage(10, 10),
)
_CONSTRAINTS: Final = (
    '{"restrictive": "yes", "raw_constraints": [{"id": "C1", "type": "domain", "description": '
    '"an integer"}], "answer_format": "integer", "final_answer": "2"}'
)
# A method asks for different stages after different replies. The first of these is an answer, a
# list of constraints and a router's yes in one; the second is nothing, which a router takes for a
# no and which sends a method with two stages to its fallback; the third is an answer that breaks a
# constraint; the fourth asks back.
_REPLIES: Final = tuple(
    Completion(text, usage=Usage(10, 10))
    for text in (
        f"{_CONSTRAINTS}\n\\boxed{{2}}",
        "",
        r"\boxed{-1/2}",
        f"QUESTION: Of what?\n{_CONSTRAINTS}",
    )
)
_LATER_STAGES: Final = frozenset({"program", "translate", "correct", "clarify", "explore"})
"""Stages of methods that are known by all that they may ask. Those that are older have their
fingerprints in stores already, made of what they ask after one reply."""
_PROBE_OUTPUT: Final = Output("2")
_MOST_ROUNDS: Final = 64


def fingerprint(method: Method) -> str:
    """Name a method by its configuration and by all that it asks: prompts, budgets, formats.

    Two versions of the code that would ask anything different have different fingerprints.
    """
    seen = hashlib.sha256(repr(method).encode("utf-8", "surrogatepass"))
    for own in own_prompts(method).items():  # also one that the probes below do not lead to
        seen.update(repr(own).encode("utf-8", "surrogatepass"))
    calls, more = [*probe_calls(method)], [*all_probe_calls(method)]
    if any(call.stage in _LATER_STAGES for call in more):
        calls += more
    if any(call.stage == "reply" for call in more):
        calls += probe_calls(method, problems=(_REQUEST,))
    for call in calls:
        seen.update(digest(call).encode("utf-8", "surrogatepass"))
    return seen.hexdigest()[:16]


def own_prompts(method: Method) -> dict[str, str]:
    """Return the texts of the prompts that were replaced in a method, by name."""
    return {prompt.name: prompt.text for prompt in prompts_of(method) if prompt.replaced}


def all_probe_calls(method: Method) -> Iterator[Call]:
    """List what a method asks about two small problems after replies of several kinds.

    Of a policy, it is what each of its methods asks: its rules are for other problems than these.
    """
    made = (*method.methods, method.otherwise) if isinstance(method, Calibrated) else (method,)
    for one in made:
        for reply in _REPLIES:
            yield from probe_calls(one, reply)


def probe_calls(
    method: Method, reply: Completion = _PROBE_REPLY, problems: tuple[Problem, ...] = _PROBES
) -> Iterator[Call]:
    """List what a method asks about two small problems, where every reply is the same.

    One that breaks on a reply is known by what it asked until then; its attempts will say why.
    """
    for problem in problems:
        with suppress(Exception):
            run = Run(method.solve(problem))
            for _ in range(_MOST_ROUNDS):
                if run.done:
                    break
                asked = cast("tuple[object, ...]", run.round)  # a plugin may yield anything
                yield from (step for step in asked if isinstance(step, Call))
                run.advance(
                    tuple(_PROBE_OUTPUT if isinstance(step, Program) else reply for step in asked)
                )


# Own prompts of a series, kept beside it, so that a later reader sees what was asked.

_TABLE = schema.prompts


def write_prompts(connection: sa.Connection, series: int, texts: Mapping[str, str]) -> None:
    """Keep the prompts of a series that is new; a store from before there were any gets room."""
    if texts:
        _TABLE.create(connection, checkfirst=True)
        rows = [{"series": series, "name": name, "text": text} for name, text in texts.items()]
        connection.execute(_TABLE.insert(), rows)


def read_prompts(connection: sa.Connection, series: int) -> dict[str, str]:
    """Return the own prompts of a series by name; none where it has the originals."""
    if not sa.inspect(connection).has_table(_TABLE.name):
        return {}
    query = sa.select(_TABLE.c.name, _TABLE.c.text).where(_TABLE.c.series == series)
    return {row.name: row.text for row in connection.execute(query.order_by(_TABLE.c.name))}


def drop_prompts(connection: sa.Connection, numbers: Sequence[int]) -> None:
    """Forget the prompts of series that are taken out."""
    if sa.inspect(connection).has_table(_TABLE.name):
        connection.execute(_TABLE.delete().where(_TABLE.c.series.in_(numbers)))


# The names of series in stores, also in stores from before CFR-brief had a name of its own.
#
# A row says by its fingerprint which names it has: one with a mark behind it was written with the
# names of today. Only names that meant something else before need the mark.

_MARK: Final = f"@{NAMES}"
SERVED: Final = "served"
"""The benchmark that questions are filed under which somebody asked a server."""


ALL_SERIES: Final = sa.select(schema.series).order_by(schema.series.c.id)


class SeriesRow(NamedTuple):
    """A series as its store describes it, by the names of today and without any mark."""

    id: int
    benchmark: str
    method: str
    label: str
    model: str
    decoding: str
    fingerprint: str


def marked(method: str, fingerprint: str) -> str:
    """Mark the fingerprint of a method whose name meant something else before."""
    return f"{fingerprint}{_MARK}" if changed_meaning(method) else fingerprint


def current(stored: SeriesRow) -> SeriesRow:
    """Give a series as it is stored its names of today."""
    name, label, fingerprint = stored.method, stored.label, stored.fingerprint
    if fingerprint.endswith(_MARK):
        return stored._replace(fingerprint=fingerprint.removesuffix(_MARK))
    return stored._replace(method=renamed(name), label=renamed_label(name, label))


def read_row(row: Mapping[Any, Any]) -> SeriesRow:
    """Read a row of the table of series, whatever else it has."""
    return current(SeriesRow(*(row[name] for name in SeriesRow._fields)))


def find_rows(rows: Iterable[Any], **wanted: str) -> list[SeriesRow]:
    """Find series among rows of their table by what is given of their names."""
    found = (read_row(row._mapping) for row in rows)
    return [row for row in found if all(getattr(row, n) == value for n, value in wanted.items())]


def bring_up_to_date(connection: sa.Connection) -> None:
    """Give the series of a store from before their names of today; what they asked stays."""
    table = schema.series
    stored = connection.execute(sa.select(table)).mappings().all()
    changed = [(row, read_row(row)) for row in stored]
    changed = [(row, new) for row, new in changed if (row["method"], row["label"]) != new[2:4]]
    taken = {_identity(SeriesRow(**row)) for row in stored}
    # The variant's first: the paper's protocol gets the names that those leave.
    for row, new in sorted(changed, key=lambda one: changed_meaning(one[1].method)):
        before, after = _identity(SeriesRow(**row)), _identity(new)
        if after != before and after in taken:  # one that was spelled in two ways
            continue
        taken = taken - {before} | {after}
        values = {"method": new.method, "label": new.label}
        values["fingerprint"] = marked(new.method, new.fingerprint)
        connection.execute(table.update().where(table.c.id == new.id).values(values))


def _identity(row: SeriesRow) -> tuple[str, ...]:
    return row.benchmark, row.method, row.model, row.decoding


# The registration of a series and its problems: the numbers under which a store knows them.
#
# What has changed since it was entered is refused: old attempts would be mixed with new ones.

_ODD: Final = "a character that cannot be stored (NUL, or half of a pair)"


@dataclass(frozen=True, slots=True)
class Registered:
    """A series and its problems under the numbers that the store gave them."""

    series: int
    problems: dict[str, int]


def register(
    connection: sa.Connection, url: str, series: Series, problems: Sequence[Problem]
) -> Registered:
    """Enter a series and its problems into the store at ``url``, or find them there."""
    _require_storable(series, problems)
    set_old_version_apart(connection, series.benchmark)
    bring_up_to_date(connection)
    return Registered(
        _enter_series(connection, url, series),
        _enter_problems(connection, url, series.benchmark, problems),
    )


def enter_series(connection: sa.Connection, url: str, series: Series) -> int:
    """Enter a series whose problems are not known yet, or find it; return its number."""
    _require_storable(series, ())
    bring_up_to_date(connection)
    return _enter_series(connection, url, series)


def enter_problem(connection: sa.Connection, benchmark: str, problem: Problem) -> int:
    """Enter one problem, or find it by its name; return its number."""
    table = schema.problems
    named = (table.c.benchmark == benchmark, table.c.name == problem.id)
    known = connection.scalar(sa.select(table.c.id).where(*named))
    if known is not None:
        return known
    row = {"benchmark": benchmark, "name": problem.id, "text": problem.text}
    entered = connection.execute(table.insert().values(row | {"answer": problem.answer}))
    return cast("int", cast("Any", entered.inserted_primary_key)[0])


def find_registered(
    connection: sa.Connection, url: str, series: Series, problems: Sequence[Problem]
) -> Registered | None:
    """Find a series and those of its problems that are there, and change nothing.

    What has changed since it was entered is refused here too.
    """
    if current_name(connection, series.benchmark) != series.benchmark:
        return None
    number = _find_series(connection, url, series)
    found = _find_problems(connection, url, series.benchmark, problems)
    return None if number is None else Registered(number, found)


def set_old_version_apart(connection: sa.Connection, benchmark: str) -> None:
    """Give ConstraintBench's first version its name of today, in a store from before the second.

    Its attempts would otherwise be mixed with those on the second, and never be gone on with.
    """
    name = benchmark.removesuffix("@1")
    if (today := current_name(connection, name)) != name:
        for one in (schema.problems, schema.series):
            renamed = one.update().where(one.c.benchmark == name)
            connection.execute(renamed.values(benchmark=today))


def current_name(connection: sa.Connection, benchmark: str) -> str:
    """Return the name that a benchmark of a store, however old, has today."""
    if not is_constraintbench(benchmark) or benchmark.endswith("@1"):
        return benchmark
    table = schema.problems
    names = sa.select(table.c.name).where(table.c.benchmark == benchmark).limit(1)
    item = find_item(connection.scalars(names).first() or "")
    return f"{benchmark}@1" if item and item.version == 1 else benchmark


def _require_storable(series: Series, problems: Sequence[Problem]) -> None:
    """Refuse what no database holds: the words of a person are not changed."""
    for name in (series.benchmark, series.method, series.model, series.system):
        if storable_text(name) != name:
            raise InputError(f"{name[:80]!a}: has {_ODD} or is too long; give it another name")
    for name, text in own_prompts(series.build()).items():
        if storable_text(text) != text:
            raise InputError(f"prompt {name}: has {_ODD} or is too long; correct it")
    for problem in problems:
        for text in (problem.id, problem.text, problem.answer or ""):
            if storable_text(text) != text:
                where = f"problem {problem.id[:80]!a} of {series.benchmark}"
                raise InputError(f"{where}: has {_ODD} or is too long; correct it")


def _enter_series(connection: sa.Connection, url: str, series: Series) -> int:
    known = _find_series(connection, url, series)
    if known is not None:
        return known
    method = series.build()
    named = {
        "label": storable_text(method.label),
        "fingerprint": marked(series.method, fingerprint(method)),
    }
    entered = connection.execute(
        schema.series.insert().values(_identity_registration(series) | named)
    )
    number = cast("int", cast("Any", entered.inserted_primary_key)[0])
    write_prompts(connection, number, own_prompts(method))
    return number


def _identity_registration(series: Series) -> dict[str, str]:
    return {
        "benchmark": series.benchmark,
        "method": series.method,
        "model": series.model,
        "decoding": storable_json(series.settings),
    }


def _find_series(connection: sa.Connection, url: str, series: Series) -> int | None:
    others, method = _identity_registration(series), series.build()
    name = others.pop("method")
    alike = find_rows(connection.execute(ALL_SERIES), **others)
    same = [row for row in alike if row.method == name]
    if not (found := same or [row for row in alike if spelled(row.method) == name]):
        return None
    known = found[0]
    if known.fingerprint != fingerprint(method):
        what = f"{url}: {series.method} on {series.benchmark} was run with other"
        raise StoreError(
            f"{what} {_difference(read_prompts(connection, known.id), own_prompts(method))}"
        )
    return known.id


def _difference(stored: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Say what differs from what was run, and the way out."""
    names = sorted(name for name in {*stored, *now} if stored.get(name) != now.get(name))
    if not names:
        return (
            "prompts or settings than it has now; name a new store, so that the two are not mixed"
        )
    listed = ", ".join(f"{name}.txt" for name in names)
    return (
        f"words in {listed} than there are now; put them back ('cfr show' has them), give the "
        "folder another name, or name a new store"
    )


def _enter_problems(
    connection: sa.Connection, url: str, benchmark: str, problems: Sequence[Problem]
) -> dict[str, int]:
    table, known = schema.problems, _find_problems(connection, url, benchmark, problems)
    new = [
        {"benchmark": benchmark, "name": p.id, "text": p.text, "answer": p.answer}
        for p in problems
        if p.id not in known
    ]
    if not new:
        return known
    connection.execute(table.insert(), new)
    names = sa.select(table.c.name, table.c.id).where(table.c.benchmark == benchmark)
    return {row.name: row.id for row in connection.execute(names)}


def _find_problems(
    connection: sa.Connection, url: str, benchmark: str, problems: Sequence[Problem]
) -> dict[str, int]:
    table = schema.problems
    columns = (table.c.name, table.c.id, table.c.text)
    query = sa.select(*columns).where(table.c.benchmark == benchmark)
    known = {name: (number, text) for name, number, text in connection.execute(query).all()}
    for problem in problems:
        if problem.id in known and known[problem.id][1] != problem.text:
            raise StoreError(
                f"{url}: problem {problem.id} of {benchmark} has another text there; "
                "name a new store for the changed file"
            )
    return {name: number for name, (number, _) in known.items()}


# Shared prompts in a store: input tokens that an earlier call of the same attempt had sent.
#
# They follow from the calls themselves, by the rule that ``Usage.shared`` states: a call whose
# messages are those of an earlier call to the same model. So every store tells them, also one that
# was written before anybody counted them.

MODEL_AT: Final = 66
"""Where a call's digest has the name of another model: 64 characters of a hash, an @, the name."""
_KEY: Final = ("series", "problem", "run")


def shared_tokens() -> sa.ScalarSelect[int]:
    """Build the column of attempts that counts them."""
    attempts, calls, earlier = schema.attempts, schema.calls, schema.calls.alias()
    said_before = sa.exists().where(
        *(earlier.c[name] == calls.c[name] for name in (*_KEY, "messages")),
        earlier.c.ordinal < calls.c.ordinal,
        _model(earlier) == _model(calls),
    )
    return (
        sa.select(sa.func.coalesce(sa.func.sum(calls.c.input_tokens), 0))
        .where(
            *(calls.c[name] == attempts.c[name] for name in _KEY),
            calls.c.ordinal > 0,
            said_before.correlate(calls),
        )
        .correlate(attempts)
        .scalar_subquery()
    )


def _model(calls: sa.FromClause) -> sa.Function[str]:
    return sa.func.substr(calls.c.digest, MODEL_AT)


# Selections of a store's attempts, and the columns of their tokens.


def share_of(registered: Registered, problems: Sequence[Problem], runs: int) -> SeriesShare:
    """Select the first runs at some problems of a series, all of them where these are all."""
    numbers = tuple(registered.problems[problem.id] for problem in problems)
    all_of_them = len(numbers) == len(registered.problems)
    return SeriesShare(registered.series, runs, None if all_of_them else numbers)


def finished_attempts(
    registered: Registered, problems: Sequence[int], runs: int
) -> list[sa.ColumnElement[bool]]:
    """Select the attempts of a series that were made, at some problems and in the first runs."""
    table = schema.attempts
    where = [table.c.series == registered.series, table.c.status != "failed", table.c.run < runs]
    if len(problems) < len(registered.problems):
        # Written into the statement: databases take only so many parameters.
        ids: sa.BindParameter[int] = sa.bindparam(
            "ids", problems, type_=sa.Integer, expanding=True, literal_execute=True
        )
        where.append(table.c.problem.in_(ids))
    return where


def usage_columns(usage: Usage) -> dict[str, int]:
    """Spread token counts over their columns."""
    return {
        "input_tokens": storable_count(usage.input),
        "output_tokens": storable_count(usage.output),
        "reasoning_tokens": storable_count(usage.reasoning),
        "cached_tokens": storable_count(usage.cached),
    }


def summed_usage() -> list[sa.ColumnElement[int]]:
    """Add up the tokens of attempts: their columns, then those of prompts that were shared."""
    columns = (*(schema.attempts.c[name] for name in usage_columns(Usage())), shared_tokens())
    # A sum of sums is a decimal number in PostgreSQL.
    return [sa.cast(sa.func.coalesce(sa.func.sum(c), 0), sa.BigInteger) for c in columns]


# The store of attempts and calls: everything asked and answered, in SQLite or PostgreSQL.
#
# Calls are written before their attempt goes on, so that whatever was paid for is there after a
# crash. Attempts that are complete are never made again; a failed one leaves its reason and is made
# again by the next run.

T = TypeVar("T")

_THERE_AGAIN: Final = 10.0
"""Seconds after which every worker has found a server again that was restarted."""


class Store:
    """An open store: ``with Store("runs.db") as store``.

    One that must be ``existing`` is opened without being touched, on a medium that takes no writes
    if need be.
    """

    def __init__(self, url: str, *, existing: bool = False) -> None:
        self.url = without_password(url)
        path = sqlite_path(url)
        self._file: StoreFile | None = None
        self._is_saved = False
        with opening(), ExitStack() as undo:
            if path and path.exists():
                self._file = StoreFile(path)
                undo.callback(self._file.close)
                self._require_one_name(self._file)
                self._require_store(sqlite_tables(self.url, path), existing=existing)
            self.database = open_database(url, existing=existing)
            undo.callback(self.database.dispose)
            self._prepare(existing=existing)
            self._file = StoreFile(path) if path and not self._file else self._file
            undo.pop_all()
        self.has_leases = self.is_shared = path is None
        """Whether any number of workers may run on it at the same time: on PostgreSQL, as long as
        nobody holds it alone."""
        self.owner = name_owner()
        """The name of this worker, which no other has."""
        self._lock: Lock = (
            LockFile(self.url, self._file, self._save)
            if self._file
            else AdvisoryLock(self.url, self.database)
        )
        self._statements = WriteStatements(is_shared=self.has_leases)
        self._writer = Writer(self.url, self.database, self._lock.check)

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
        if self._file:
            if self._is_saved:
                self._file.drop_log()
            self._file.close()

    @contextmanager
    def exclusively(self) -> Generator[None]:
        """Hold the store alone. A worker that does not know yet that it is cut off loses all."""
        self._writer.start()  # it keeps an eye on the lock
        with self._lock.held():
            if self.has_leases:
                self.change(free_all)
            self.is_shared = False
            try:
                yield
            finally:
                self.is_shared = self.has_leases

    def running(self) -> AbstractContextManager[None]:
        """Hold the store for a run: with other workers where leases tell them apart, else alone.

        The first of them finds the leases of workers that are all gone, and need not wait for them.
        """
        self._writer.start()
        return self._lock.shared(lambda: self.change(lambda one: free_all(one, _THERE_AGAIN)))

    @contextmanager
    def leasing(self, seconds: float) -> Generator[Leases]:
        """Write only what this worker has a lease on; give the leases back at the end."""
        self._writer.leases = leases = Leases(self.url, self.database, self.owner, seconds)
        try:
            yield leases
        finally:
            self._writer.leases = None
            leases.release()

    def require_lease(self, key: RowValues) -> None:
        """Refuse to go on with an attempt that another worker is known to have."""
        leases = self._writer.leases
        if leases and leases.is_lost((key["series"], key["problem"], key["run"])):
            raise LeaseLost(f"{self.url}: another worker has taken this attempt over")

    @property
    def is_taken(self) -> bool:
        """Whether a run has the store now: an evaluation, or a server that keeps its answers."""
        return self._lock.is_taken()

    def read(self, query: sa.Executable) -> Sequence[Any]:
        """Return all rows that a query finds."""

        def rows() -> Sequence[Any]:
            with self.database.connect() as connection:
                return connection.execute(query).all()

        return patiently(self.url, "read", rows)

    def require_finished(
        self, registered: Registered, problems: Sequence[int], runs: int, count: int
    ) -> None:
        """Raise where fewer finished attempts can be read than were written."""
        where = finished_attempts(registered, problems, runs)
        query = sa.select(sa.func.count()).select_from(schema.attempts).where(*where)
        if self._file:
            self._lock.check()
            # What an open connection has in memory would hide that the file was overwritten.
            fresh = open_database(str(self._file.path), existing=True)
            try:
                with self.reading(), fresh.connect() as connection:
                    found: int = connection.execute(query).scalar_one()
            finally:
                fresh.dispose()
        else:
            found = self.read(query)[0][0]
        if found < count:
            raise StoreError(
                f"{self.url}: holds {found} of the {count} attempts that were written to it, so "
                "another program changed it during the run; run the same command again to make "
                "those that are lost"
            )

    @contextmanager
    def reading(self) -> Generator[None]:
        """Tell in words where what is stored cannot be read, or makes no sense."""
        try:
            yield
        except (SQLAlchemyError, ValueError, TypeError, KeyError) as error:
            raise cannot_be("read", self.url, error) from None

    def change(self, work: Callable[[sa.Connection], T], done: str = "written") -> T:
        """Do some work in a transaction; it is done again where the server broke off."""

        def transaction() -> T:
            if self._file:  # a lock of PostgreSQL is looked at by the writer
                self._lock.check()
            with self.database.begin() as connection:
                return work(connection)

        return patiently(self.url, done, transaction)

    def register(
        self, series: Series, problems: Sequence[Problem], runs: int | None = None
    ) -> Registered:
        """Enter a series and its problems, or find them; what has changed since is refused.

        Where workers share the store, what is missing of so many ``runs`` is noted as to be made.
        """

        def work(connection: sa.Connection) -> Registered:
            if self.has_leases:  # two that enter the same would otherwise both find it missing
                connection.execute(schema.ONE_BY_ONE)
            found = register(connection, self.url, series, problems)
            if self.is_shared and runs:
                enqueue(connection, series.benchmark, share_of(found, problems, runs))
            return found

        return self.change(work)

    def withdraw(self, numbers: Sequence[int]) -> None:
        """Take series out again of which nothing was ever made."""
        table, made = schema.series, (schema.attempts.c.series, schema.calls.c.series)
        unused = [~sa.exists().where(series == table.c.id) for series in made]
        query = sa.select(table.c.id).where(table.c.id.in_(numbers), *unused)

        def work(connection: sa.Connection) -> None:
            found = connection.scalars(query).all()
            drop_prompts(connection, found)
            if self.has_leases:
                for one in (schema.leases, schema.run_settings):
                    connection.execute(one.delete().where(one.c.series.in_(found)))
            connection.execute(table.delete().where(table.c.id.in_(found)))

        self.change(work)

    def finished(self, series: int) -> set[AttemptKey]:
        """Return the attempts that need not be made again."""
        table = schema.attempts
        query = sa.select(table.c.problem, table.c.run).where(
            table.c.series == series, table.c.status != "failed"
        )
        return {(problem, run) for problem, run in self.read(query)}

    def begun(self, series: int) -> dict[AttemptKey, KnownCalls]:
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
        return calls_by_attempt(self.read(query))

    def outcomes(
        self, registered: Registered, problems: Sequence[int], runs: int
    ) -> Iterator[tuple[Any, str | None, int, Usage]]:
        """Count finished attempts by status and verdict, each with the tokens they took together.

        The database adds up: a row for each attempt would take longer than all the rest.
        """
        table = schema.attempts
        where = finished_attempts(registered, problems, runs)
        by = (table.c.status, table.c.verdict)
        query = sa.select(*by, sa.func.count(), *summed_usage()).where(*where).group_by(*by)
        for row in self.read(query):
            status, verdict, count, *used, shared = cast("tuple[Any, ...]", row)
            yield status, verdict, count, Usage(*used, shared=shared)

    def write_call(self, row: RowValues) -> Future[None]:
        """Write a completed call; await what is returned, and it is safe."""
        return self._writer.write(self._statements.put_call, row)

    def write_attempt(self, row: RowValues) -> Future[None]:
        """Write how an attempt ended. If this is lost, its calls are not: it is replayed."""
        if "finished_at" in row:
            return self._writer.write(self._statements.put_attempt, row)
        if self.is_shared:
            return self._writer.write(self._statements.put_attempt_now, row)
        return self._writer.write(self._statements.put_attempt, row | {"finished_at": time.time()})

    def forget_calls(self, key: RowValues) -> Future[None]:
        """Delete the calls of an attempt, of which its method can make nothing."""
        return self._writer.write(self._statements.delete_calls, key)

    async def watch(self) -> None:
        """Wait until nothing can be written any more, and raise that."""
        await self._writer.watch()

    def flush(self) -> None:
        """Wait until all that was written is safe."""
        self._writer.flush()

    def hasten(self) -> None:
        """Wait for no server any more: somebody wants to leave."""
        self._writer.hasten()
        if self._writer.leases:
            self._writer.leases.hasten()

    def _save(self, path: Path) -> str:
        """Copy what was written to a file that is gone, and say where it is, or that it is lost."""
        try:
            copy, attempts = save_copy(self.database, path)
        except (OSError, sqlite3.Error, SQLAlchemyError) as error:
            return (
                f"what was stored is lost ({reason(error)}); restore it from a copy, or run the "
                "same command again to make it anew"
            )
        self._is_saved = True
        were = "attempt was" if attempts == 1 else "attempts were"
        return (
            f"its {attempts} {were} saved to {copy}; rename that to {path.name} and run the same "
            "command again"
        )

    def _require_one_name(self, file: StoreFile) -> None:
        """Refuse a file in use that has several names: SQLite keeps a log for each of them."""
        if file.has_other_names and file.is_locked():
            raise StoreError(
                f"{self.url}: another run is using this store, and it has several names (hard "
                "links); wait, or use the name which that run was given"
            )

    def _require_store(self, tables: set[str], *, existing: bool) -> None:
        """Refuse a file that is somebody else's; a new one, or one just begun, is made a store."""
        ours = set(schema.METADATA.tables)
        if schema.store.name not in tables and (existing or tables - ours):
            raise StoreError(f"{self.url}: not a store of runs; name one that 'cfr eval' made")

    def _prepare(self, *, existing: bool) -> None:
        """Make the tables where nothing was made yet, or see that they are all there."""
        try:
            with self.database.begin() as connection:
                made = existing or schema.make_tables(connection)
                version = connection.scalar(sa.select(schema.store.c.version)) if made else None
                for table in schema.METADATA.sorted_tables:  # all columns, and not a single row
                    if table not in (schema.prompts, *schema.SHARED):
                        connection.execute(sa.select(table).limit(0))
        except SQLAlchemyError as error:
            raise cannot_be("opened as a store", self.url, error) from None
        if version not in (None, schema.VERSION):
            raise StoreError(f"{self.url}: written by another version of cfr ({version})")
