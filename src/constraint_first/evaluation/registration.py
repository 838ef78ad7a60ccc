"""The registration of a series and its problems: the numbers under which a store knows them.

What has changed since it was entered is refused: old attempts would be mixed with new ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import sqlalchemy as sa

from constraint_first.benchmark.constraintbench.split import find_item, is_constraintbench
from constraint_first.error import InputError
from constraint_first.evaluation import schema
from constraint_first.evaluation.error import StoreError
from constraint_first.evaluation.series import Series, fingerprint, own_prompts
from constraint_first.evaluation.series_name import ALL_SERIES, bring_up_to_date, find_rows, marked
from constraint_first.evaluation.stored_prompt import read_prompts, write_prompts
from constraint_first.file.storable import storable_json, storable_text
from constraint_first.method.former import spelled
from constraint_first.problem import Problem

__all__ = [
    "Registered",
    "current_name",
    "enter_problem",
    "enter_series",
    "find_registered",
    "register",
    "set_old_version_apart",
]

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
    entered = connection.execute(schema.series.insert().values(_identity(series) | named))
    number = cast("int", cast("Any", entered.inserted_primary_key)[0])
    write_prompts(connection, number, own_prompts(method))
    return number


def _identity(series: Series) -> dict[str, str]:
    return {
        "benchmark": series.benchmark,
        "method": series.method,
        "model": series.model,
        "decoding": storable_json(series.settings),
    }


def _find_series(connection: sa.Connection, url: str, series: Series) -> int | None:
    others, method = _identity(series), series.build()
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
