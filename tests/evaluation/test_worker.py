import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from loopback import Endpoint as Server
from loopback import failure
from postgres import empty_database
from sums import reply_right, right, sums

import constraint_first
from constraint_first.benchmark.registry import Benchmark
from constraint_first.run.job import EvaluationWatcher
from constraint_first.run.shared import NothingRunnable, awork, work
from constraint_first.store import schema
from constraint_first.store.database import StoreError
from constraint_first.store.query import attempt_rows
from constraint_first.store.series import Series
from constraint_first.store.store import Store

SUMS = Benchmark("sums", "Sums", sums(6))


@pytest.fixture
def options(postgres: str) -> Iterator[constraint_first.RunOptions]:
    yield constraint_first.RunOptions(store=postgres, concurrency=4, lease=1.0)
    empty_database(postgres)


class Hearing(EvaluationWatcher):
    def __init__(self) -> None:
        self.heard: list[str] = []

    def skipped(self, what: str, why: str) -> None:
        self.heard.append(f"{what}: {why}")


async def enter(
    options: constraint_first.RunOptions, server: Server, *methods: str, model: str = "m"
) -> None:
    """Enter a grid whose every call is refused: nothing of it is made, and all is to be made."""
    server.script(failure(400, "not now"))
    server.respond = None
    ref = constraint_first.ModelRef(model, base_url=server.url)
    await constraint_first.aevaluate(SUMS, methods or "direct", runs=2, model=ref, options=options)
    server.respond = reply_right


def statuses(options: constraint_first.RunOptions) -> list[str]:
    with Store(options.store, existing=True) as store:
        return [row["status"] for row in attempt_rows(store)]


async def test_a_worker_makes_what_others_entered(
    options: constraint_first.RunOptions, endpoint: Server
) -> None:
    await enter(options, endpoint, "direct", "cfr")
    done = await awork(options)
    assert done.complete, done.stopped
    assert [(one.series.method, one.tally.ok, one.tally.total) for one in done.series] == [
        ("direct", 12, 12),
        ("cfr", 12, 12),
    ]
    assert [one.accuracy for one in done.series] == [1.0, 1.0]
    assert statuses(options) == ["ok"] * 24
    asked = len(endpoint.requests)
    assert (await awork(options)).series == ()
    assert len(endpoint.requests) == asked


async def test_several_workers_and_an_evaluation_share_the_work(
    options: constraint_first.RunOptions, endpoint: Server
) -> None:
    await enter(options, endpoint)
    endpoint.requests.clear()
    ref = constraint_first.ModelRef("m", base_url=endpoint.url)
    every = [awork(options), awork(options)]
    more = constraint_first.aevaluate(SUMS, "direct", runs=4, model=ref, options=options)
    await asyncio.gather(*every, more)
    assert len(endpoint.requests) == 24
    assert statuses(options) == ["ok"] * 24


async def test_what_is_missing_on_a_machine_is_said_and_the_rest_is_made(
    options: constraint_first.RunOptions,
    endpoint: Server,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    presets = tmp_path / "models.toml"
    presets.write_text(f'["keyed"]\nbase_url = "{endpoint.url}"\nkey_env = "ODD_KEY"\n')
    monkeypatch.setenv("CFR_MODELS", str(presets))
    monkeypatch.setenv("ODD_KEY", "sk-secret")
    endpoint.script(failure(400, "not now"))
    await constraint_first.aevaluate(SUMS, "direct", runs=1, model="keyed", options=options)
    await enter(options, endpoint)
    monkeypatch.delenv("ODD_KEY")
    hearing = Hearing()
    done = await awork(options, watcher=hearing)
    (heard,) = hearing.heard
    assert "(direct on sums with keyed): model 'keyed': " in heard
    assert "ODD_KEY is not set" in heard
    assert [one.series.model for one in done.series] == ["m"]
    assert "cannot be run here" in done.stopped
    with pytest.raises(NothingRunnable, match="ODD_KEY is not set"):
        await awork(options)
    monkeypatch.setenv("ODD_KEY", "sk-secret")
    assert (await awork(options)).complete


async def test_a_worker_may_bring_its_own_engine_or_address(
    options: constraint_first.RunOptions, endpoint: Server
) -> None:
    await enter(options, endpoint)
    await enter(options, endpoint, model="other")
    endpoint.requests.clear()
    engine = constraint_first.Scripted(right, name="m")
    done = await awork(options, engine=engine)
    assert (len(engine.asked), len(endpoint.requests)) == (12, 0)
    assert "served here as m" in done.stopped
    with Server() as elsewhere:
        elsewhere.respond = reply_right
        assert (
            await awork(options, instead=constraint_first.ModelRef(base_url=elsewhere.url))
        ).complete
        assert len(elsewhere.requests) == 12


async def test_the_budget_of_the_grid_is_that_of_the_worker(
    options: constraint_first.RunOptions, endpoint: Server
) -> None:
    endpoint.respond = reply_right
    ref = constraint_first.ModelRef("m", base_url=endpoint.url)
    limited = constraint_first.RunOptions(store=options.store, concurrency=1, max_tokens_total=350)
    grid = constraint_first.Experiment(
        benchmarks=(SUMS,), methods=("direct",), runs=1, max_tokens=100
    )
    stopped = await constraint_first.aevaluate(grid, model=ref, options=limited)
    made = stopped.series[0].tally.ok
    assert "raise --max-tokens-total" in stopped.stopped
    done = await awork(options)
    assert "the budget is spent" in done.stopped
    assert done.series[0].tally.ok == made
    with Store(options.store) as store, store.database.begin() as connection:
        connection.execute(sa.update(schema.budgets).values(max_tokens=None))
    assert (await awork(options)).complete


def test_a_file_has_no_workers(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="workers share a PostgreSQL database"):
        work(constraint_first.RunOptions(store=str(tmp_path / "runs.db")))


def test_ordinary_code_can_be_a_worker(options: constraint_first.RunOptions) -> None:
    engine, told = constraint_first.Scripted(right), list[int]()
    with Store(options.store) as store:
        registered = store.register(Series("sums", "direct", engine.model), sums(2), 1)
        assert registered.problems
    done = work(options, engine=engine, progress=lambda now: told.append(now.done))
    assert done.complete
    assert told[-1] == 2
