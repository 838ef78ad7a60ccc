import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stored import attempt
from sums import right
from sums_run import PROBLEMS, SERIES, evaluate

from constraint_first.attempt.drive import Scripted
from constraint_first.file.safe import storable_json, storable_text
from constraint_first.problem import Problem
from constraint_first.protocol import Usage
from constraint_first.run.job import prepare, run
from constraint_first.store import schema
from constraint_first.store.database import StoreError
from constraint_first.store.query import attempt_rows, summaries
from constraint_first.store.store import Store
from constraint_first.store.writer import usage_columns


async def test_attempts_are_there_once_and_not_made_again(url: str) -> None:
    with Store(url) as store:
        assert len((await evaluate(store)).asked) == 10
        assert len((await evaluate(store)).asked) == 0
        assert len((await evaluate(store, runs=3)).asked) == 5
    with Store(url) as store:
        rows = list(attempt_rows(store))
    assert len(rows) == 15
    assert {(row["problem"], row["run"]) for row in rows} == {
        (p.id, r) for p in PROBLEMS for r in range(3)
    }
    assert {row["verdict"] for row in rows} == {"correct"}


async def test_a_series_of_which_nothing_was_made_can_be_taken_out(url: str) -> None:
    with Store(url) as store:
        made = prepare(store, SERIES, PROBLEMS, 1, Scripted(right))
        await run(store, [made], width=4)
        empty = store.register(replace(SERIES, model="model-b"), PROBLEMS)
        other = store.register(replace(SERIES, model="model-c"), PROBLEMS)
        store.withdraw([made.number, empty.series])
        assert [one.series.model for one in summaries(store)] == ["model-a", "model-c"]
        assert other.series != made.number


def test_a_store_of_another_version_is_refused(url: str) -> None:
    with Store(url) as store, store.database.begin() as connection:
        connection.execute(schema.store.update().values(version=99))
    with pytest.raises(StoreError, match=r"written by another version of cfr \(99\)"):
        Store(url)


async def test_text_of_any_kind_is_stored(url: str) -> None:
    odd = Problem("“ſ” \u2028 \U0001f600 {x} \\frac", id="odd", answer="1")
    with Store(url) as store:
        engine = Scripted(["\x01 \ufffd \U0001f600 \\boxed{1}"])
        await run(store, [prepare(store, SERIES, (odd,), 1, engine)], width=1)
        (row,) = attempt_rows(store)
    assert row["text"].startswith("\x01 \ufffd \U0001f600")


def test_a_store_closes_with_everything_written(tmp_path: Path) -> None:
    url = str(tmp_path / "runs.db")
    with Store(url) as store:
        asyncio.run(evaluate(store))
    with Store(url) as store:
        assert len(list(attempt_rows(store))) == 10


ODD = st.text() | st.text(st.sampled_from('a\0\ud83d\ude00\U0001f600\x1b\u2028\\"é'))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ODD,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ODD, inner, max_size=4),
    max_leaves=10,
)


UNWORRIED = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


@given(st.data())
@settings(max_examples=20, deadline=None, suppress_health_check=UNWORRIED)
def test_what_has_passed_the_gate_is_read_back_as_it_was_written(url: str, data: Any) -> None:
    """Each example is many rows: to open a store takes longer than to fill it."""
    values = data.draw(st.lists(st.tuples(ODD, JSON, st.integers() | st.floats()), min_size=20))
    kept = [
        {
            "text": storable_text(text),
            "details": storable_json(value),
            **usage_columns(Usage(cast("int", count), 1)),
        }
        for text, value, count in values
    ]
    with Store(url) as store:
        registered = store.register(SERIES, PROBLEMS[:1])
        key = registered.series, registered.problems["p0"]
        rows = [attempt(*key, n, **one) for n, one in enumerate(kept)]
        with store.database.begin() as connection:
            connection.execute(schema.attempts.delete())
            connection.execute(schema.attempts.insert(), rows)
        columns = [schema.attempts.c[name] for name in kept[0]]
        found = store.read(sa.select(*columns).order_by(schema.attempts.c.run))
    assert [row._asdict() for row in found] == kept
