"""Queries on a store: attempts, series with their counts, costs, regrading."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from itertools import groupby, islice, tee
from typing import Any, Final, Literal, NamedTuple, TypeAlias, cast, get_args

import orjson
import sqlalchemy as sa

from constraint_first.answer.grade import GradingCase, Verdict, grade_each
from constraint_first.attempt.attempt import STATUSES, Attempt, Status, judge_reply
from constraint_first.benchmark.registry import (
    INSTRUCTION_MARK,
    GoldInstruction,
    describe_gold,
    name_gold,
    read_instructions,
)
from constraint_first.error import InputError
from constraint_first.method.constraint_first import NAMES
from constraint_first.method.method import suggest
from constraint_first.model.limit import Cost, PriceList
from constraint_first.model.resolve import presets, price_list
from constraint_first.pattern import lazy_pattern
from constraint_first.problem import Json
from constraint_first.protocol import Usage
from constraint_first.store import database as schema
from constraint_first.store.database import StoreError, patiently
from constraint_first.store.series import SERVED, Series, names_today, read_prompts
from constraint_first.store.store import Store
from constraint_first.store.writer import (
    EXECUTED,
    AttemptKey,
    KnownCalls,
    RowValues,
    SeriesShare,
    calls_by_attempt,
    usage_columns,
)

MODEL_AT: Final = 66
"""Position of another model's name in a call's digest: 64 characters of a hash, an @, the name."""
_KEY: Final = ("series", "problem", "run")
_ALL_SERIES: Final = sa.select(schema.series).order_by(schema.series.c.id)
_TOKENS: Final = tuple(usage_columns(Usage()))


def _same(one: sa.FromClause, other: sa.FromClause) -> sa.ColumnElement[bool]:
    return sa.and_(*(one.c[name] == other.c[name] for name in _KEY))


def _model(calls: sa.FromClause) -> sa.Function[str]:
    """Select the name of the model that answered a call; empty for the model of the series."""
    return sa.func.substr(calls.c.digest, MODEL_AT)


def _count(condition: sa.ColumnElement[bool]) -> sa.ColumnElement[int]:
    return sa.func.coalesce(sa.func.sum(sa.case((condition, 1), else_=0)), 0)


def _sum(column: sa.ColumnElement[Any]) -> sa.ColumnElement[int]:
    # A sum of integers is a decimal number in PostgreSQL.
    return sa.cast(sa.func.coalesce(sa.func.sum(column), 0), sa.BigInteger)


def shared_tokens() -> sa.ScalarSelect[int]:
    """Build a column of attempts: input tokens that repeat an earlier call's messages.

    They are computed from the calls by the rule of ``Usage.shared`` (a call whose messages are
    those of an earlier call to the same model), so that stores of any version have them.
    """
    attempts, calls, earlier = schema.attempts, schema.calls, schema.calls.alias()
    said_before = sa.exists().where(
        _same(earlier, calls),
        earlier.c.messages == calls.c.messages,
        earlier.c.ordinal < calls.c.ordinal,
        _model(earlier) == _model(calls),
    )
    return (
        sa.select(sa.func.coalesce(sa.func.sum(calls.c.input_tokens), 0))
        .where(_same(calls, attempts), calls.c.ordinal > 0, said_before.correlate(calls))
        .correlate(attempts)
        .scalar_subquery()
    )


def _summed_usage() -> list[sa.ColumnElement[int]]:
    return [_sum(column) for column in (*(schema.attempts.c[n] for n in _TOKENS), shared_tokens())]


def _usage(counts: Sequence[int]) -> Usage:
    into, out, reasoning, cached, shared = counts
    return Usage(into, out, reasoning, cached, shared=shared)


# Rows for export, for statistics, for the cases of a report.

RecordKey: TypeAlias = tuple[str, str, str, str, str, int]
"""Benchmark, method, model and decoding as stored, problem, run: an attempt in any store."""

_SERIES: Final = ("benchmark", "method", "label", "model", "decoding", "fingerprint")
_AT_ONCE: Final = 1_000
_PROBLEMS_AT_ONCE: Final = 200
_OPTIONAL: Final = ("model", "programs", "cached_tokens")
_NO_MORE: Final[tuple[None, dict[str, RowValues]]] = (None, {})


def _attempts(*left_out: str) -> sa.Select[Any]:
    s, p, a = schema.series, schema.problems, schema.attempts
    columns = (
        *(s.c[name] for name in _SERIES),
        p.c.name.label("problem"),
        p.c.text.label("problem_text"),
        p.c.answer.label("gold"),
        *(column for column in a.c if column.name not in ("series", "problem")),
        shared_tokens().label("shared_tokens"),
    )
    return (
        sa.select(*(column for column in columns if column.name not in left_out))
        .join(s, a.c.series == s.c.id)
        .join(p, a.c.problem == p.c.id)
        .order_by(*(a.c[name] for name in _KEY))
    )


def attempt_columns() -> dict[str, type]:
    columns = _attempts("fingerprint").selected_columns
    kinds = {column.name: column.type.python_type for column in columns}
    return kinds | {"names": int, "stages": str}


def attempt_rows(store: Store) -> Iterator[RowValues]:
    """List every attempt with its problem and series, without loading them all at once.

    ``names`` is the version of the methods' names. ``stages`` is JSON: the calls, tokens, seconds
    and programs of each stage, and its model if that is not the one of the series.
    """
    key = (schema.attempts.c[name].label(f"key_{name}") for name in _KEY)
    with closing(_stages_by_attempt(store)) as stages:
        at, found = next(stages, _NO_MORE)
        for row in map(_named, _stream(store, _attempts().add_columns(*key))):
            here = tuple(row.pop(f"key_{name}") for name in _KEY)
            while at is not None and at < here:  # an unfinished attempt has calls but no row
                at, found = next(stages, _NO_MORE)
            yield row | {"stages": orjson.dumps(found if at == here else {}).decode()}


def outcome_rows(store: Store) -> Iterator[RowValues]:
    return map(_named, _stream(store, _attempts("problem_text", "text", "error")))


def problem_rows(store: Store) -> Iterator[RowValues]:
    return _stream(store, sa.select(schema.problems).order_by(schema.problems.c.id))


def stage_rows(store: Store) -> Iterator[RowValues]:
    """Add up calls, tokens and seconds by series and stage, over judged attempts; no programs."""
    s, a, c = schema.series, schema.attempts, schema.calls
    names = [s.c[name] for name in _SERIES]
    same = sa.and_(_same(a, c), a.c.verdict.is_not(None))
    query = (
        sa.select(*names, c.c.stage, *_spent(), sa.func.max(_model(c)).label("answered_by"))
        .join(s, c.c.series == s.c.id)
        .join(a, same)
        .where(c.c.finish != EXECUTED)
        .group_by(*names, c.c.stage)
    )
    return map(_named, _stream(store, query))


def transcript_rows(
    store: Store, wanted: Collection[RecordKey]
) -> Iterator[tuple[RecordKey, RowValues]]:
    """Find attempts with their texts and calls, many problems of a series per query."""
    p, a = schema.problems, schema.attempts
    names = ("benchmark", "method", "model", "decoding")
    runs: dict[tuple[str, str, str, str], dict[str, set[int]]] = {}
    for *series, problem, run in wanted:
        here = runs.setdefault((series[0], series[1], series[2], series[3]), {})
        here.setdefault(problem, set()).add(run)
    known = store.read(_ALL_SERIES)
    for series, problems in runs.items():
        alike = find_numbers(known, **dict(zip(names, series, strict=True)))
        same = a.c.series.in_(alike)
        left = iter(problems)
        while some := list(islice(left, _PROBLEMS_AT_ONCE)):
            numbers = set[int]().union(*(problems[name] for name in some))
            query = _attempts().where(same, p.c.name.in_(some), a.c.run.in_(numbers))
            for row in map(_named, _stream(store, query)):
                if row["run"] in problems[row["problem"]]:
                    yield (*series, row["problem"], row["run"]), row


def _named(row: RowValues) -> RowValues:
    method, label, _ = _names_today(row["method"], row["label"], row.pop("fingerprint"))
    return row | {"method": method, "label": label, "names": NAMES}


_names_today = lru_cache(names_today)


def find_numbers(rows: Iterable[Any], **wanted: str) -> list[int]:
    """Find series among rows of their table by their current names."""
    found: list[int] = []
    for row in rows:
        method, label, _ = _names_today(row.method, row.label, row.fingerprint)
        named = {**row._mapping, "method": method, "label": label}
        if all(named[name] == value for name, value in wanted.items()):
            found.append(row.id)
    return found


def _stages_by_attempt(store: Store) -> Generator[tuple[tuple[Any, ...], dict[str, RowValues]]]:
    c = schema.calls
    key = [c.c[name] for name in _KEY]
    model = sa.func.max(_model(c)).label("model")
    ran = sa.func.sum(sa.case((c.c.finish == EXECUTED, 1), else_=0)).label("programs")
    spent = sa.select(*key, c.c.stage, *_spent(), ran, model)
    query = spent.group_by(*key, c.c.stage).order_by(*key)
    with closing(_stream(store, query)) as rows:
        for at, group in groupby(rows, key=lambda row: tuple(row.pop(name) for name in _KEY)):
            yield at, {row.pop("stage"): _stage(row) for row in group}


def _stage(row: RowValues) -> RowValues:
    """Count calls without programs; drop optional fields that are zero or empty."""
    row["calls"] -= row["programs"]
    return {name: value for name, value in row.items() if name not in _OPTIONAL or value}


def _spent() -> list[sa.Label[Any]]:
    c = schema.calls.c
    names = ("input_tokens", "output_tokens", "cached_tokens", "seconds")
    return [
        sa.func.count().label("calls"),
        *(sa.func.sum(c[name]).label(name) for name in names),
    ]


def _stream(store: Store, query: sa.Select[Any]) -> Generator[RowValues]:
    with ExitStack() as opened, store.reading():

        def begin() -> sa.CursorResult[Any]:
            connection = opened.enter_context(store.database.connect())
            chosen = connection.execution_options(yield_per=_AT_ONCE)
            # A server-side cursor must be closed even if its rows are not read to the end.
            return opened.enter_context(chosen.execute(query))

        for row in patiently(store.url, "read", begin).mappings():
            yield dict(row)


# One stored series problem by problem, and how a store has grown; for the pages.
#
# Selection and counting happen in SQL: a series may have too many attempts to load at once.

Shown: TypeAlias = Literal["all", "right", "mixed", "wrong", "unanswered", "failed"]
"""Filter of problems: all runs right, some right, none right, a run without an answer, a failed
run."""
SHOWN: Final[tuple[Shown, ...]] = get_args(Shown)
_OPENING: Final = 300
_MOST_POINTS: Final = 400


@dataclass(frozen=True, slots=True)
class AttemptLine:
    run: int
    status: str
    verdict: str | None
    answer: str | None


@dataclass(frozen=True, slots=True)
class ProblemLine:
    name: str
    opening: str
    right: int
    judged: int
    tokens: int
    seconds: float
    attempts: tuple[AttemptLine, ...]


@dataclass(frozen=True, slots=True)
class ProblemPage:
    lines: tuple[ProblemLine, ...]
    total: int


@dataclass(frozen=True, slots=True)
class SeriesGrowth:
    """The growth of a series or a store: attempts and right attempts up to each time."""

    times: tuple[float, ...]
    attempts: tuple[int, ...]
    right: tuple[int, ...]


def all_series(store: Store) -> list[Series]:
    with store.reading():
        return [Series.read(row._mapping) for row in store.read(_ALL_SERIES)]


def read_series(store: Store, number: int) -> Series:
    rows = store.read(_ALL_SERIES.where(schema.series.c.id == number))
    if not rows:
        raise InputError(f"{store.url}: has no series {number}; 'cfr runs' lists them")
    with store.reading():
        return Series.read(rows[0]._mapping)


def find_series(store: Store, benchmark: str, method: str, model: str, decoding: str) -> int:
    wanted = {"benchmark": benchmark, "method": method, "model": model, "decoding": decoding}
    found = find_numbers(store.read(_ALL_SERIES), **wanted)
    if not found:
        raise InputError(f"{store.url}: has no series of {method} on {benchmark} with {model}")
    return found[0]


def list_problems(
    store: Store, series: int, shown: Shown = "all", search: str = "", *, at: int = 0, most: int
) -> ProblemPage:
    """List problems of a series from the ``at``-th on whose name or text contains some words."""
    a, p = schema.attempts.c, schema.problems.c
    counted = {
        "right": _count(a.verdict == "correct"),
        "judged": _count(a.verdict.is_not(None)),
        "failed": _count(a.status == "failed"),
        "unanswered": _count(a.status.in_(("truncated", "unparsed"))),
        "tokens": _sum(a.input_tokens + a.output_tokens),
        "seconds": sa.func.sum(a.seconds),
    }
    found = (
        sa.select(a.problem, *(column.label(name) for name, column in counted.items()))
        .where(a.series == series)
        .group_by(a.problem)
        .subquery()
    )
    query = (
        sa.select(p.name, sa.func.substr(p.text, 1, _OPENING).label("opening"), found)
        .join(found, found.c.problem == p.id)
        .where(_wanted(found, shown))
    )
    if search.strip():
        has = (column.icontains(search.strip(), autoescape=True) for column in (p.name, p.text))
        query = query.where(sa.or_(*has))
    (total,) = store.read(sa.select(sa.func.count()).select_from(query.subquery()))[0]
    rows = store.read(query.order_by(p.id).limit(most).offset(at))
    return ProblemPage(_lines(store, series, rows), total)


def _wanted(found: sa.Subquery, shown: Shown) -> sa.ColumnElement[bool]:
    right, judged = found.c.right, found.c.judged
    return {
        "all": sa.true(),
        "right": sa.and_(judged > 0, right == judged),
        "mixed": sa.and_(right > 0, right < judged),
        "wrong": sa.and_(judged > 0, right == 0),
        "unanswered": found.c.unanswered > 0,
        "failed": found.c.failed > 0,
    }[shown]


def _lines(store: Store, series: int, rows: Sequence[Any]) -> tuple[ProblemLine, ...]:
    a = schema.attempts.c
    numbers = [row.problem for row in rows]
    # Gold instructions judge the whole reply, so an extracted answer has no meaning there.
    answer = sa.case((a.tier == "instructions", None), else_=a.answer)
    query = sa.select(a.problem, a.run, a.status, a.verdict, answer).where(
        a.series == series, a.problem.in_(numbers)
    )
    runs: dict[int, list[AttemptLine]] = {number: [] for number in numbers}
    for problem, *ended in store.read(query.order_by(a.problem, a.run)):
        runs[problem].append(AttemptLine(*ended))
    return tuple(
        ProblemLine(
            *(row.name, row.opening, row.right, row.judged, row.tokens, row.seconds),
            attempts=tuple(runs[row.problem]),
        )
        for row in rows
    )


def count_problems(store: Store) -> dict[str, int]:
    name = schema.problems.c.benchmark
    return {row[0]: row[1] for row in store.read(sa.select(name, sa.func.count()).group_by(name))}


def count_begun(store: Store) -> dict[int, int]:
    c = schema.calls.c
    ended = sa.exists().where(_same(schema.attempts, schema.calls))
    query = sa.select(c.series, sa.func.count()).where(c.ordinal == 0, ~ended).group_by(c.series)
    return {row[0]: row[1] for row in store.read(query)}


def read_growth(store: Store, series: int | None = None) -> SeriesGrowth:
    """Read how a store or one of its series grew, in at most a few hundred steps."""
    a = schema.attempts.c
    query = sa.select(a.finished_at, a.verdict).order_by(a.finished_at)
    if series is not None:
        query = query.where(a.series == series)
    rows = store.read(query.where(a.status != "failed"))
    step = max(1, -(-len(rows) // _MOST_POINTS))
    times, attempts, right, so_far = list[float](), list[int](), list[int](), 0
    for number, (time, verdict) in enumerate(rows, start=1):
        so_far += verdict == "correct"
        if number % step == 0 or number == len(rows):
            times.append(time)
            attempts.append(number)
            right.append(so_far)
    return SeriesGrowth(tuple(times), tuple(attempts), tuple(right))


# One stored attempt in full: its problem, every call and program, and how it ended.

_MOST_NAMED: Final = 8
_ENDED: Final = ("status", "answer", "verdict", "tier", "error", "text", *_TOKENS)


@dataclass(frozen=True, slots=True)
class SeriesName:
    """A series as a user names it: by number or method, with more fields if ambiguous."""

    name: str
    benchmark: str | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class StoredAttempt:
    """A stored attempt with its calls; an unfinished attempt has no status."""

    series: dict[str, Json]
    problem: dict[str, Json]
    run: int
    ending: dict[str, Json] | None
    details: dict[str, Json]
    steps: tuple[dict[str, Json], ...]
    """Calls and programs in their order; a program has the field ``program``."""

    @property
    def gold_name(self) -> str:
        return name_gold(self._gold)

    @property
    def gold_shown(self) -> str:
        """The gold answer, or the gold instructions in words; "none" if it has neither."""
        return "none" if self._gold is None else describe_gold(self._gold)

    @property
    def _gold(self) -> str | None:
        gold = self.problem["gold"]
        return None if gold is None else str(gold)

    @property
    def instructions(self) -> tuple[GoldInstruction, ...]:
        return read_instructions(self._gold) or ()

    def to_json(self) -> dict[str, Json]:
        ended = self.ending or {"status": None}
        named: dict[str, Json] = {"series": self.series, "problem": self.problem, "run": self.run}
        said: dict[str, Json] = {"details": self.details, "steps": [*self.steps]}
        return named | ended | said


def read_attempt(store: Store, named: SeriesName, problem: str, run: int) -> StoredAttempt:
    """Find an attempt; a problem is named by its id or by its place in the benchmark, from 1."""
    series = _find_series(store, named)
    number, posed = _find_problem(store, series, problem)
    key = {"series": series.number, "problem": posed.id, "run": run}
    ended = _rows(store, schema.attempts, key)
    calls = _rows(store, schema.calls, key)
    if not ended and not calls:
        raise InputError(_not_there(store, series, posed, run))
    with store.reading(), store.database.connect() as connection:
        found = ended[0] if ended else None
        ending = {n: found[n] for n in (*_ENDED, "seconds", "finished_at")} if found else None
        return StoredAttempt(
            {
                "id": series.number,
                **{n: getattr(series, n) for n in ("benchmark", "method", "label", "model")},
                "decoding": series.settings,
                "prompts": {**read_prompts(connection, series.number)},
            },
            {"id": posed.name, "number": number, "text": posed.text, "gold": posed.answer},
            run,
            ending,
            orjson.loads(found["details"]) if found else {},
            tuple(map(_step, calls)),
        )


def _rows(store: Store, table: sa.Table, key: dict[str, int]) -> list[Any]:
    query = sa.select(table).where(*(table.c[name] == value for name, value in key.items()))
    return [row._mapping for row in store.read(query.order_by(*table.primary_key))]


def _step(row: Any) -> dict[str, Json]:
    messages = orjson.loads(row["messages"])
    if row["finish"] == EXECUTED:
        source = "\n".join(str(message["content"]) for message in messages)
        done = {"output": row["text"], "error": row["reasoning"], "seconds": row["seconds"]}
        return {"stage": row["stage"], "program": source} | done
    answered = row["digest"][MODEL_AT - 1 :]
    return {
        "stage": row["stage"],
        **({"model": answered} if answered else {}),
        "messages": messages,
        "max_tokens": row["max_tokens"],
        "reply": row["text"],
        "reasoning": row["reasoning"],
        "finish": row["finish"],
        **{name: row[name] if row["reported"] else None for name in _TOKENS},
        "seconds": row["seconds"],
    }


def _find_series(store: Store, named: SeriesName) -> Series:
    rows = all_series(store)
    for what, wanted in (("benchmark", named.benchmark), ("model", named.model)):
        known = list(dict.fromkeys(getattr(row, what) for row in rows))
        if wanted is not None and wanted not in known:
            raise InputError(f"{store.url}: has no {what} {wanted!r}; {suggest(wanted, known)}")
        rows = [row for row in rows if wanted in (None, getattr(row, what))]
    if not rows:
        raise InputError(f"{store.url}: nothing has been run yet; run 'cfr eval' first")
    found = _called(rows, named.name)
    if not found:
        known = [str(row.number) if named.name.isdecimal() else row.method for row in rows]
        hint = suggest(named.name, list(dict.fromkeys(known)))
        raise InputError(
            f"{store.url}: has no series {named.name!r} ('cfr runs' lists them); {hint}"
        )
    if len(found) > 1:
        listed = ", ".join(f"{r.number} ({r.benchmark}, {r.model})" for r in found[:_MOST_NAMED])
        more = ", …" if len(found) > _MOST_NAMED else ""
        raise InputError(
            f"{store.url}: {named.name!r} is {len(found)} series: {listed}{more}; name one by its "
            "number, or narrow it down with --benchmark or --model"
        )
    return found[0]


def _called(rows: Sequence[Series], name: str) -> list[Series]:
    """Find series by number, else by the method's name, else by its label or family."""
    wanted = name.casefold()
    by_number = [row for row in rows if str(row.number) == name]
    by_method = [row for row in rows if row.method == name]
    by_label = [
        row for row in rows if wanted in (row.label.casefold(), row.method.partition("(")[0])
    ]
    return by_number or by_method or by_label


def _find_problem(store: Store, series: Series, name: str) -> tuple[int, sa.Row[Any]]:
    table = schema.problems
    query = sa.select(table).where(table.c.benchmark == series.benchmark).order_by(table.c.id)
    rows = list(enumerate(store.read(query), start=1))
    by_id = [(number, row) for number, row in rows if row.name == name]
    if found := by_id or [(number, row) for number, row in rows if str(number) == name]:
        return found[0]
    names = [row.name for _, row in rows]
    close = suggest(name, names) if names else ""
    hint = f"{close} " if close.startswith("did you") else ""
    raise InputError(
        f"{store.url}: {series.benchmark} has no problem {name!r}; {hint}"
        f"give its id (the first is {names[0]!r}) or its number, 1 to {len(names)}"
    )


def _not_there(store: Store, series: Series, posed: sa.Row[Any], run: int) -> str:
    where = f"{store.url}: series {series.number} ({series.method})"
    runs: set[int] = set()
    for table in (schema.attempts, schema.calls):
        same = (table.c.series == series.number, table.c.problem == posed.id)
        runs.update(number for (number,) in store.read(sa.select(table.c.run).where(*same)))
    if not runs:
        return f"{where} has no attempt at problem {posed.name} yet; 'cfr eval' makes it"
    listed = ", ".join(map(str, sorted(runs)[:_MOST_NAMED]))
    return f"{where} has no run {run} of problem {posed.name}; it has {listed}"


def describe_cost(step: Mapping[str, Any]) -> str:
    if step["input_tokens"] is None:
        tokens = "tokens not reported"
    else:
        thought = f" ({step['reasoning_tokens']:,} of them reasoning)"
        tokens = f"{step['input_tokens']:,} tokens in, {step['output_tokens']:,} out"
        tokens += thought if step["reasoning_tokens"] else ""
    limit = f"of at most {step['max_tokens']:,}, finish {step['finish']}"
    return f"{tokens} {limit}, {write_seconds(step)}"


def write_seconds(step: Mapping[str, Any]) -> str:
    return f"{step['seconds']:.1f} s"


def explain_ending(found: StoredAttempt) -> Iterator[str]:
    if found.ending is None:
        yield f"not finished; {len(found.steps)} calls are stored, and 'cfr eval' goes on with them"
        return
    ending, gold = found.ending, found.gold_shown
    answer, verdict = ending["answer"], ending["verdict"]
    if ending["status"] == "failed":
        yield f"failed: {ending['error']}"
        yield "'cfr eval' makes it again"
        return
    if not found.instructions:
        if answer is not None:
            yield f"answer: {answer}"
        elif ending["status"] == "truncated":
            yield "no answer: a reply was cut off at its token limit"
        else:
            yield "no answer: none could be read in the reply"
    if verdict is None:
        yield "not judged: the problem has no gold answer"
    elif found.instructions:
        yield f"{verdict}: it {judge_reply(found.instructions, str(ending['text'])).why}"
    elif answer is None:
        yield f"{verdict}: there is no answer to compare with the gold answer {gold}"
    else:
        how = {"correct": "is", "incorrect": "is not"}.get(str(verdict), "may or may not be")
        yield f"{verdict}: it {how} the gold answer {gold} (compared by the {ending['tier']} tier)"
    used = f"{ending['input_tokens']:,} tokens in, {ending['output_tokens']:,} out"
    yield f"{used}, {write_seconds(ending)}"


# Regrading: stored answers are judged again by the current grader. No model is called.
#
# Memory does not grow with the store. Attempts are read in pages (keyset pagination) and without
# their texts, and changed verdicts are written in batches. Pages are small if gold instructions
# need the whole texts. No read is open during grading or writing: it would hold a lock on SQLite
# and a transaction on PostgreSQL.

_REGRADE_KEY: Final = tuple(schema.attempts.primary_key)
_REGRADE_AT_ONCE: Final = 500
"""Attempts in a page that is read, and verdicts in a batch that is written."""
_TEXTS_AT_ONCE: Final = 20
"""Attempts in a page that includes their texts, each of which may have millions of characters."""
_Rows: TypeAlias = Iterator[sa.Row[Any]]


def regrade(store: Store) -> int:
    """Grade every attempt that has a gold answer, a batch at a time; count changed verdicts."""
    same = [column == sa.bindparam(f"old_{column.name}") for column in _REGRADE_KEY]
    update = schema.attempts.update().where(*same)
    changes, changed = _changes(store), 0
    while batch := list(islice(changes, _REGRADE_AT_ONCE)):
        store.change(lambda connection, rows=batch: connection.execute(update, rows), "regraded")
        changed += len(batch)
    return changed


def _changes(store: Store) -> Iterator[RowValues]:
    """Yield the key and the new verdict of each attempt whose verdict changes."""
    beginning = sa.func.substr(schema.problems.c.answer, 1, len(INSTRUCTION_MARK))
    instructed = beginning == INSTRUCTION_MARK  # LIKE ignores case on SQLite
    answers = _regraded(store, ("answer",), sa.not_(instructed), _REGRADE_AT_ONCE)
    replies = _regraded(store, ("text",), instructed, _TEXTS_AT_ONCE)
    for row, verdict in _judged(answers, replies):
        if (row.verdict, row.tier) != (verdict.verdict, verdict.tier):
            key = {f"old_{column.name}": row[n] for n, column in enumerate(_REGRADE_KEY)}
            yield key | {"verdict": verdict.verdict, "tier": verdict.tier}


def _judged(answers: _Rows, replies: _Rows) -> Iterator[tuple[sa.Row[Any], Verdict]]:
    ahead, rows = tee(answers)  # the grader reads ahead by a bounded number of cases
    # An earlier version may have stored a whole sentence as the answer. Extraction is idempotent,
    # so repeating it does not change answers that are extracted already.
    cases = (GradingCase.from_reply(row.answer, row.gold, row.posed) for row in ahead)
    yield from zip(rows, grade_each(cases), strict=True)
    for row in replies:
        yield row, judge_reply(read_instructions(row.gold) or (), row.text)


def _regraded(
    store: Store, columns: Sequence[str], where: sa.ColumnElement[bool], at_once: int
) -> _Rows:
    attempts, problems = schema.attempts, schema.problems
    query = (
        sa.select(
            *_REGRADE_KEY,
            *(attempts.c[name] for name in (*columns, "verdict", "tier")),
            problems.c.answer.label("gold"),
            problems.c.text.label("posed"),
        )
        .join(problems, attempts.c.problem == problems.c.id)
        .where(attempts.c.status != "failed", problems.c.answer.is_not(None), where)
        .order_by(*_REGRADE_KEY)
        .limit(at_once)
    )
    page = query
    while True:
        found = store.read(page)
        yield from found
        if len(found) < at_once:
            return
        page = query.where(sa.tuple_(*_REGRADE_KEY) > found[-1][: len(_REGRADE_KEY)])


# The counts of a series: how its attempts ended, during a run and as stored.

ProblemScores: TypeAlias = Counter[tuple[int, int]]
"""The number of problems by right runs and judged runs."""

_NUMBERED: Final = lazy_pattern(r"(?<!HTTP )\b[\w.-]*\d[\w.-]*")
_COUNTED: Final = ("ok", "truncated", "unparsed", "failed", "correct", "undecided")
_AGAIN: Final = "run the same 'cfr eval' command again"


@dataclass(slots=True)
class Tally:
    total: int
    ok: int = 0
    truncated: int = 0
    unparsed: int = 0
    failed: int = 0
    correct: int = 0
    undecided: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: Cost | None = None
    """At current prices; None if no model has a price."""
    resumed: int = 0
    """Attempts that were stored before this run."""
    made: int = 0
    """Attempts that this run made and that did not fail."""
    refused: str = ""
    """Why the endpoint refuses every call, if it did so before any success."""
    left: str = ""
    """The same reason, if the series was left to other workers."""
    reasons: Counter[str] = field(default_factory=Counter[str])
    """Why attempts of this run failed, and how many for each reason."""

    @property
    def scored(self) -> int:
        """Attempts that count for the score; failed ones do not."""
        return self.ok + self.truncated + self.unparsed

    @property
    def complete(self) -> bool:
        return self.scored == self.total

    def add(self, status: Status, verdict: str | None, usage: Usage, count: int = 1) -> None:
        setattr(self, status, getattr(self, status) + count)
        self.correct += count * (verdict == "correct")
        self.undecided += count * (verdict == "undecided")
        self.usage += usage

    def count(self, made: Attempt, usage: Usage) -> None:
        """Add an attempt of this run, with its tokens that are not counted yet."""
        self.add(made.status, made.verdict and made.verdict.verdict, usage)
        if made.error is not None:
            self.reasons[made.error] += 1
        else:
            self.made += 1

    def uncount(self, made: Attempt) -> None:
        """Subtract an attempt that could not be stored; its tokens stay counted as spent."""
        self.add(made.status, made.verdict and made.verdict.verdict, Usage(), count=-1)

    def recount(self, found: Tally) -> None:
        for name in ("total", "usage", "cost", "reasons", *_COUNTED):
            setattr(self, name, getattr(found, name))


@dataclass(frozen=True, slots=True)
class SeriesResult:
    """A series and its counts; the counts by problem are set when the run has ended."""

    series: Series
    tally: Tally
    scores: ProblemScores = field(default_factory=Counter[tuple[int, int]])

    @property
    def accuracy(self) -> float | None:
        """The mean over problems of the share of right runs; None if no attempt was judged."""
        return mean_share(self.scores)

    def to_json(self) -> dict[str, Json]:
        one, tally = self.series, self.tally
        return {
            "series": one.number,
            "benchmark": one.benchmark,
            "method": one.method,
            "label": one.label,
            "model": one.model,
            "decoding": one.settings,
            "attempts": tally.total,
            **{name: getattr(tally, name) for name in (*STATUSES, "undecided")},
            "accuracy": self.accuracy,
            "tokens": tally.usage.total,
            "input_tokens": tally.usage.input,
            "output_tokens": tally.usage.output,
            "shared_tokens": tally.usage.shared,
            **(tally.cost.to_json() if tally.cost else {}),
        }


def mean_share(scores: Mapping[tuple[int, int], int], whole: float = 1.0) -> float | None:
    """Average the share of right runs over problems, times ``whole``; None without problems."""
    problems = sum(scores.values())
    shares = (count * right / runs for (right, runs), count in scores.items())
    return whole * math.fsum(shares) / problems if problems else None


def explain_missing(results: Sequence[SeriesResult]) -> str:
    """Say how many attempts are missing and why; empty if none is missing."""
    failed = sum(one.tally.failed for one in results)
    total = sum(one.tally.total for one in results)
    if failed:
        reason, count = most_frequent_reason(results)
        said = f"{failed} of {total} attempts failed and are not scored"
        return f"{said}, {count} of them with: {reason}; run the same command again"
    if missing := sum(one.tally.total - one.tally.scored for one in results):
        left = next((one.tally.left for one in results if one.tally.left), "")
        why = f": {left}" if left else ""
        return f"{missing} of {total} attempts are left to other workers{why}"
    return ""


def most_frequent_reason(results: Iterable[SeriesResult]) -> tuple[str, int]:
    """Return the most frequent reason of failures and its count; at least one must have failed."""
    together = sum((result.tally.reasons for result in results), Counter[str]())
    alike: Counter[str] = Counter()
    for reason, count in together.items():
        alike[without_numbers(reason)] += count
    most, count = alike.most_common(1)[0]
    return next(reason for reason in together if without_numbers(reason) == most), count


def without_numbers(reason: str) -> str:
    """Replace what differs between calls in a reason by #: times, counts, names of requests."""
    return _NUMBERED.sub("#", reason)


def summaries(store: Store) -> list[SeriesResult]:
    s, a = schema.series, schema.attempts
    scores = problem_scores(store)
    counted = (
        sa.func.count(a.c.series),
        *(_count(a.c.status == status) for status in STATUSES),
        _count(a.c.verdict == "undecided"),
        *_summed_usage(),
    )
    query = sa.select(*s.c, *counted).outerjoin(a, a.c.series == s.c.id).group_by(*s.c)
    found: list[SeriesResult] = []
    with store.reading():
        for row in store.read(query.order_by(s.c.id)):
            series = Series.read(row._mapping)
            total, *counts = cast("tuple[int, ...]", tuple(row))[len(s.c) :]
            tally = Tally(total, usage=_usage(counts[len(STATUSES) + 1 :]))
            for name, count in zip((*STATUSES, "undecided"), counts, strict=False):
                setattr(tally, name, count)
            own = scores.get(series.number, ProblemScores())
            tally.correct = sum(right * problems for (right, _), problems in own.items())
            found.append(SeriesResult(series, tally, own))
    costs = series_costs(store, {one.series.number: one.series.model for one in found})
    for one in found:
        one.tally.cost = costs[one.series.number]
    return found


def problem_scores(store: Store, *where: sa.ColumnElement[bool]) -> dict[int, ProblemScores]:
    """Count the problems of each series by their right runs and judged runs."""
    a = schema.attempts
    problems = (
        sa.select(
            a.c.series,
            _count(a.c.verdict == "correct").label("right"),
            sa.func.count().label("runs"),
        )
        .where(a.c.verdict.is_not(None), *where)
        .group_by(a.c.series, a.c.problem)
        .subquery()
    )
    key = (problems.c.series, problems.c.right, problems.c.runs)
    found: dict[int, ProblemScores] = {}
    for number, correct, runs, count in store.read(sa.select(*key, sa.func.count()).group_by(*key)):
        found.setdefault(number, Counter())[correct, runs] = count
    return found


def mean_output(store: Store, method: str, model: str) -> float | None:
    a = schema.attempts
    series = find_numbers(store.read(_ALL_SERIES), method=method, model=model)
    query = sa.select(sa.func.avg(a.c.output_tokens)).where(
        a.c.series.in_(series), a.c.output_tokens > 0
    )
    found = store.read(query)[0][0]
    return None if found is None else float(found)


@dataclass(frozen=True, slots=True)
class Failure:
    reason: str
    count: int
    benchmark: str
    method: str
    model: str
    problem: str
    run: int

    @property
    def way_out(self) -> str:
        """The remedy for a user: the text after the last semicolon of a reason, if any."""
        if self.benchmark == SERVED:
            return "nothing is left to do: whoever asked was told"
        told = self.reason.rpartition("; ")[2]
        known = told != self.reason and not told.endswith(")")
        return f"{told}, then {_AGAIN}" if known else _AGAIN

    def to_json(self) -> dict[str, Json]:
        return asdict(self) | {"way_out": self.way_out}


def failures(store: Store) -> list[Failure]:
    """List why attempts failed, the most frequent first; reasons differ by more than numbers."""
    s, p, a = schema.series, schema.problems, schema.attempts
    query = (
        sa.select(s, a.c.error, p.c.name, a.c.run)
        .join(s, a.c.series == s.c.id)
        .join(p, a.c.problem == p.c.id)
        .where(a.c.status == "failed")
        .order_by(a.c.series, a.c.problem, a.c.run)
    )
    found: dict[str, Failure] = {}
    for row in store.read(query):
        reason = row.error or ""
        alike = without_numbers(reason)
        method = _names_today(row.method, row.label, row.fingerprint)[0]
        attempt = (row.benchmark, method, row.model, row.name, row.run)
        first = found.get(alike) or Failure(reason, 0, *attempt)
        found[alike] = replace(first, count=first.count + 1)
    return sorted(found.values(), key=lambda failure: -failure.count)


# The attempts of one run: finished ones, begun ones, their statuses.


def finished_keys(store: Store, series: int) -> set[AttemptKey]:
    a = schema.attempts.c
    query = sa.select(a.problem, a.run).where(a.series == series, a.status != "failed")
    return {(problem, run) for problem, run in store.read(query)}


def begun_calls(store: Store, series: int) -> dict[AttemptKey, KnownCalls]:
    calls, attempts = schema.calls, schema.attempts
    same = sa.and_(_same(attempts, calls), attempts.c.status != "failed")
    query = (
        sa.select(calls)
        .outerjoin(attempts, same)
        .where(calls.c.series == series, attempts.c.series.is_(None))
    )
    return calls_by_attempt(store.read(query))


def count_attempts(
    store: Store, share: SeriesShare, prices: PriceList, *, total: int | None, resumed: bool = False
) -> Tally:
    """Count how attempts of a series ended, whichever worker made them.

    At the start of a run (``resumed``) none counts as failed. Without a ``total``, every queued
    attempt counts as missing.
    """
    tally, a = Tally(total or 0), schema.attempts.c
    by = (a.status, a.verdict)
    # Sums are computed in SQL: fetching a row for each attempt would dominate the time.
    query = sa.select(*by, sa.func.count(), *_summed_usage()).where(*share.finished).group_by(*by)
    for status, verdict, count, *used in store.read(query):
        tally.add(status, verdict, _usage(used), count)
    for reason, count, *used in () if resumed else _count_failures(store, share):
        tally.add("failed", None, Usage(*used), count)
        tally.reasons[reason or ""] += count
    if prices.has_prices:
        tally.cost = cost_of(use_by_model(store, *share.finished).get(share.series, {}), prices)
    if total is None:
        queued = schema.leases.c.series == share.series
        left = sa.select(sa.func.count()).select_from(schema.leases).where(queued)
        tally.total = tally.scored + tally.failed + store.read(left)[0][0]
    return tally


def _count_failures(store: Store, share: SeriesShare) -> Sequence[Any]:
    """Count the failed attempts that are not queued again."""
    a = schema.attempts.c
    where = [*share.attempts, a.status == "failed"]
    if store.has_leases:
        where.append(~sa.exists().where(_same(schema.leases, schema.attempts)))
    sums = (_sum(a[name]) for name in _TOKENS)
    return store.read(sa.select(a.error, sa.func.count(), *sums).where(*where).group_by(a.error))


def require_finished(store: Store, share: SeriesShare, count: int) -> None:
    """Raise if fewer finished attempts can be read than were written."""
    query = sa.select(sa.func.count()).select_from(schema.attempts).where(*share.finished)
    found = store.read_from_disk(query)[0][0]
    if found < count:
        raise StoreError(
            f"{store.url}: holds {found} of the {count} attempts that were written to it, so "
            "another program changed it during the run; run the same command again to make "
            "those that are lost"
        )


# Calls and tokens by the model that answered, and their cost.
#
# A store has tokens but no prices, except the price factor of batches. The cost is computed when
# it is shown, at the current prices of ``models.toml``: a price that is added or corrected later
# applies to old runs too.

_NOTHING: Final = Usage()


class ModelUse(NamedTuple):
    calls: int
    usage: Usage
    saved: Usage = _NOTHING
    """The tokens that the price factor of batches made free of charge."""


UseByModel = Mapping[str, ModelUse]
"""By the model's name in the method; the series' own model has an empty name."""


def use_by_model(store: Store, *where: sa.ColumnElement[bool]) -> dict[int, UseByModel]:
    """Add up the calls of attempts by series and model; ``where`` selects the attempts."""
    c, a = schema.calls, schema.attempts
    by = (c.c.series, _model(c))
    counted = sa.func.min(sa.case((c.c.reported, 1), else_=0))
    query = (
        sa.select(*by, sa.func.count(), *(_sum(c.c[name]) for name in _TOKENS), counted)
        .join(a, _same(a, c))
        .where(c.c.finish != EXECUTED, *where)
        .group_by(*by)
    )
    saved = saved_by_batches(store, *where)
    found: dict[int, dict[str, ModelUse]] = {}
    for series, model, calls, *used, reported in store.read(query):
        free = saved.get((series, model), _NOTHING)
        use = ModelUse(calls, Usage(*used, reported=bool(reported)), free)
        found.setdefault(series, {})[model] = use
    return dict(found)


def saved_by_batches(store: Store, *where: sa.ColumnElement[bool]) -> dict[tuple[int, str], Usage]:
    """Add up the tokens that batches saved, by series and model; ``where`` selects attempts."""
    c, a, r, b = schema.calls, schema.attempts, schema.requests, schema.batches
    if not sa.inspect(store.database).has_table(r.name):
        return {}
    key = (*_KEY, "ordinal")
    answered = sa.func.coalesce(r.c.status, 200) == 200
    made = (
        sa.select(*(r.c[name] for name in key), sa.func.min(b.c.price_factor).label("factor"))
        .join(b)
        .where(answered, b.c.state != "forgotten")
        .group_by(*(r.c[name] for name in key))
        .subquery()
    )
    by = (c.c.series, _model(c))
    sums = [sa.func.sum(c.c[name] * (1.0 - made.c.factor)) for name in _TOKENS]
    query = (
        sa.select(*by, *sums)
        .join(made, sa.and_(*(made.c[name] == c.c[name] for name in key)))
        .join(a, _same(a, c))
        .where(*where)
        .group_by(*by)
    )
    return {
        (series, model): Usage(*(round(amount) for amount in saved))
        for series, model, *saved in store.read(query)
    }


def cost_of(use: UseByModel, prices: PriceList) -> Cost | None:
    """Compute the cost of models' usage; None if none of them has a price."""
    if not prices.has_prices:
        return None
    full = sum((prices.cost(one.usage, model) for model, one in use.items()), Cost())
    saved = sum((prices.cost(one.saved, model).dollars for model, one in use.items()), 0.0)
    return Cost(full.dollars - saved, full.complete)


def series_costs(store: Store, models: Mapping[int, str]) -> dict[int, Cost | None]:
    """Compute the cost of series at current prices; ``models`` has the model of each."""
    if not any(preset.price for preset in presets().values()):
        return dict.fromkeys(models)
    used = use_by_model(store)
    return {
        number: cost_of(use, price_list(model, filter(None, use)))
        for number, model in models.items()
        for use in [used.get(number, {})]
    }


class EarlierUse(NamedTuple):
    series: Series
    attempts: int
    seconds: float
    by_model: UseByModel


def earlier_use(store: Store, model: str) -> list[EarlierUse]:
    """Read the usage of a model's finished attempts, for series whose tokens were all counted."""
    s, a = schema.series, schema.attempts
    finished = (a.c.status != "failed", s.c.model == model)
    columns = (s, sa.func.count().label("attempts"), sa.func.sum(a.c.seconds).label("seconds"))
    query = sa.select(*columns).join(s, a.c.series == s.c.id).where(*finished)
    rows = store.read(query.group_by(*s.c))
    used = use_by_model(store, a.c.series.in_([row.id for row in rows]), finished[0])
    with store.reading():
        return [
            EarlierUse(Series.read(row._mapping), row.attempts, float(row.seconds), by_model)
            for row in rows
            for by_model in [used.get(row.id, {})]
            if by_model and all(one.usage.reported for one in by_model.values())
        ]


def attempt_times(store: Store, model: str) -> list[tuple[float, float]]:
    s, a = schema.series, schema.attempts
    query = sa.select(a.c.finished_at, a.c.seconds).join(s, a.c.series == s.c.id)
    rows = store.read(query.where(a.c.status != "failed", s.c.model == model))
    return [(end - took, end) for end, took in rows]
