"""Rows of a store: its attempts for export, for statistics, for the cases of a report."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator
from contextlib import ExitStack, closing
from itertools import groupby, islice
from typing import Any, Final, TypeAlias

import orjson
import sqlalchemy as sa

from constraint_first.evaluation import schema
from constraint_first.evaluation.database import patiently
from constraint_first.evaluation.series_name import ALL_SERIES, SeriesRow, find_rows, read_row
from constraint_first.evaluation.shared_prompt import MODEL_AT, shared_tokens
from constraint_first.evaluation.store import EXECUTED, Store
from constraint_first.evaluation.writer import RowValues
from constraint_first.method.former import NAMES

__all__ = [
    "RecordKey",
    "attempt_columns",
    "attempt_rows",
    "outcome_rows",
    "problem_rows",
    "stage_rows",
    "transcript_rows",
]

RecordKey: TypeAlias = tuple[str, str, str, str, str, int]
"""Benchmark, method, model and decoding as stored, problem, run: an attempt in any store."""

_KEY: Final = ("series", "problem", "run")
_SERIES: Final = SeriesRow._fields[1:]
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
    """Name what each row of an attempt has, with its type."""
    columns = _attempts("fingerprint").selected_columns
    kinds = {column.name: column.type.python_type for column in columns}
    return kinds | {"names": int, "stages": str}


def attempt_rows(store: Store) -> Iterator[RowValues]:
    """List every attempt with its problem and series, without loading them all at once.

    ``names`` is the version of methods' names: a reader must know which ones these are.
    ``stages`` says as JSON how many calls, tokens and seconds each stage took, how many programs it
    ran, and which model answered it where that is not the one of the series.
    """
    key = (schema.attempts.c[name].label(f"key_{name}") for name in _KEY)
    with closing(_stages_by_attempt(store)) as stages:
        at, found = next(stages, _NO_MORE)
        for row in map(_named, _stream(store, _attempts().add_columns(*key))):
            here = tuple(row.pop(f"key_{name}") for name in _KEY)
            while at is not None and at < here:  # an attempt that was begun and not finished
                at, found = next(stages, _NO_MORE)
            yield row | {"stages": orjson.dumps(found if at == here else {}).decode()}


def outcome_rows(store: Store) -> Iterator[RowValues]:
    """List every attempt without its long texts."""
    return map(_named, _stream(store, _attempts("problem_text", "text", "error")))


def problem_rows(store: Store) -> Iterator[RowValues]:
    """List the problems: benchmark, name, text, answer."""
    return _stream(store, sa.select(schema.problems).order_by(schema.problems.c.id))


def stage_rows(store: Store) -> Iterator[RowValues]:
    """Add up calls, tokens and seconds for each stage of each series, over judged attempts.

    Programs are left out: they are no calls and cost nothing.
    """
    s, a, c = schema.series, schema.attempts, schema.calls
    names = [s.c[name] for name in _SERIES]
    same = sa.and_(*(a.c[name] == c.c[name] for name in _KEY), a.c.verdict.is_not(None))
    query = (
        sa.select(*names, c.c.stage, *_spent(), _answering_model().label("answered_by"))
        .join(s, c.c.series == s.c.id)
        .join(a, same)
        .where(c.c.finish != EXECUTED)
        .group_by(*names, c.c.stage)
    )
    return map(_named, _stream(store, query))


def transcript_rows(
    store: Store, wanted: Collection[RecordKey]
) -> Iterator[tuple[RecordKey, RowValues]]:
    """Find attempts with all that they have, those of many problems of a series at once."""
    p, a = schema.problems, schema.attempts
    names = ("benchmark", "method", "model", "decoding")
    runs: dict[tuple[str, str, str, str], dict[str, set[int]]] = {}
    for *series, problem, run in wanted:
        here = runs.setdefault((series[0], series[1], series[2], series[3]), {})
        here.setdefault(problem, set()).add(run)
    known = store.read(ALL_SERIES)
    for series, problems in runs.items():
        alike = find_rows(known, **dict(zip(names, series, strict=True)))
        same = a.c.series.in_([row.id for row in alike])
        left = iter(problems)
        while some := list(islice(left, _PROBLEMS_AT_ONCE)):
            numbers = set[int]().union(*(problems[name] for name in some))
            query = _attempts().where(same, p.c.name.in_(some), a.c.run.in_(numbers))
            for row in map(_named, _stream(store, query)):
                if row["run"] in problems[row["problem"]]:
                    yield (*series, row["problem"], row["run"]), row


def _named(row: RowValues) -> RowValues:
    """Give a row the names that its series has today."""
    named = read_row({"id": 0, **row})
    row.pop("fingerprint")
    return row | {"method": named.method, "label": named.label, "names": NAMES}


def _stages_by_attempt(store: Store) -> Generator[tuple[tuple[Any, ...], dict[str, RowValues]]]:
    c = schema.calls
    key = [c.c[name] for name in _KEY]
    model = _answering_model().label("model")
    ran = sa.func.sum(sa.case((c.c.finish == EXECUTED, 1), else_=0)).label("programs")
    spent = sa.select(*key, c.c.stage, *_spent(), ran, model)
    query = spent.group_by(*key, c.c.stage).order_by(*key)
    with closing(_stream(store, query)) as rows:
        for at, group in groupby(rows, key=lambda row: tuple(row.pop(name) for name in _KEY)):
            yield at, {row.pop("stage"): _stage(row) for row in group}


def _stage(row: RowValues) -> RowValues:
    """Tell calls from programs; leave out what is zero, and the series' own model."""
    row["calls"] -= row["programs"]
    return {name: value for name, value in row.items() if name not in _OPTIONAL or value}


def _spent() -> list[sa.Label[Any]]:
    c = schema.calls.c
    names = ("input_tokens", "output_tokens", "cached_tokens", "seconds")
    return [
        sa.func.count().label("calls"),
        *(sa.func.sum(c[name]).label(name) for name in names),
    ]


def _answering_model() -> sa.ColumnElement[str]:
    """Name another model that answered a stage than the one of the series; empty without one."""
    return sa.func.max(sa.func.substr(schema.calls.c.digest, MODEL_AT))


def _stream(store: Store, query: sa.Select[Any]) -> Generator[RowValues]:
    with ExitStack() as opened, store.reading():

        def begin() -> sa.CursorResult[Any]:
            connection = opened.enter_context(store.database.connect())
            chosen = connection.execution_options(yield_per=_AT_ONCE)
            # A cursor on the server, which must be closed also if it is not read to its end.
            return opened.enter_context(chosen.execute(query))

        for row in patiently(store.url, "read", begin).mappings():
            yield dict(row)
