import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from sums import sums

from constraint_first.attempt.drive import Scripted
from constraint_first.model.resolve import Price, PriceList
from constraint_first.protocol import Completion, Usage
from constraint_first.run.forecast import EarlierRuns, Span, read_earlier_runs
from constraint_first.run.job import prepare, run
from constraint_first.store import schema
from constraint_first.store.series import Series
from constraint_first.store.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Two sets of sums, of three and of one, and one whose tokens nobody counted."""
    with Store(str(tmp_path / "runs.db")) as store:
        for name, count, usage in (
            ("sums", 3, Usage(100, 10)),
            ("others", 1, Usage(500, 50)),
            ("uncounted", 1, Usage(1, 1, reported=False)),
        ):
            engine = Scripted(lambda _, used=usage: Completion(r"\boxed{1}", usage=used))
            job = prepare(store, Series(name, "direct", "m"), sums(count), 1, engine)
            asyncio.run(run(store, [job], 1))
        yield store


def test_means_are_by_method_and_benchmark_or_by_method(store: Store) -> None:
    found = read_earlier_runs(store, "m")
    prices = PriceList(Price(1, 10))
    same, all_sets = (found.find("direct", name, prices) for name in ("sums", None))
    assert same is not None
    assert all_sets is not None
    one = same.demand
    assert (one.calls, one.input, one.output) == (Span(1, 1), Span(100, 100), Span(10, 10))
    assert one.dollars.most == pytest.approx(200e-6)  # pyright: ignore
    assert all_sets.demand.input == Span(200, 200)
    unpriced = found.find("direct", None, PriceList())
    assert unpriced
    assert not unpriced.demand.complete


def test_what_was_not_counted_or_is_of_another_model_tells_nothing(store: Store) -> None:
    found = read_earlier_runs(store, "m")
    assert found.find("direct", "uncounted", PriceList()) is None
    assert found.find("cfr", None, PriceList()) is None
    assert read_earlier_runs(store, "another") == EarlierRuns()


def test_attempts_at_the_same_time_are_counted(store: Store) -> None:
    with store.database.begin() as connection:
        times = schema.attempts.update()
        connection.execute(times.values(seconds=10.0, finished_at=100.0))
        alone = schema.attempts.c.series == 3
        connection.execute(times.where(alone).values(finished_at=900.0))
    # Four within ten seconds, and one within ten others.
    assert read_earlier_runs(store, "m").at_a_time == pytest.approx(2.5)  # pyright: ignore
