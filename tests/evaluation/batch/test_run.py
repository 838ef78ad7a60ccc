"""Evaluations in batches, in the test's own process, against a provider's API over real HTTP."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from batch_evaluation import BATCH, CALLS, GRID, Told, batches, calls, evaluate, rows
from batch_server import BatchServer, Provider
from batch_sums import play_model, respond
from loopback import Endpoint

from constraint_first import EvaluationProgress, RunOptions
from constraint_first.error import CfrError, InputError
from constraint_first.run.grid import BatchOptions
from constraint_first.store.query import summaries
from constraint_first.store.store import Store


async def test_waves_bring_what_single_calls_do(
    server: BatchServer, provider: Provider, endpoint: Endpoint, options: RunOptions
) -> None:
    told = Told()
    done = await evaluate(server, options, watcher=told)
    assert done.complete
    assert set(provider.performed.values()) == {1}
    assert len(provider.performed) == CALLS
    assert [len(provider.requests(name)) for name in provider.batches] == [60, 12]
    endpoint.respond = play_model
    ordinary = replace(options, store=options.store + "2", batch=BatchOptions())
    alike = await evaluate(endpoint, ordinary)
    assert rows(options.store) == rows(ordinary.store)
    assert calls(options.store) == calls(ordinary.store)
    assert done.usage == alike.usage
    assert [one.tally.truncated for one in done.series] == [2, 2, 2]
    assert [(one.wave, one.requests, one.done) for one in told.waves][-1] == (2, 12, 12)
    assert told.notes == []
    assert [(one.state, one.status, one.batch) for one in batches(options.store)] == [
        ("closed", "completed", "batch_1"),
        ("closed", "completed", "batch_2"),
    ]


async def test_what_is_done_is_not_asked_again(
    server: BatchServer, provider: Provider, options: RunOptions
) -> None:
    await evaluate(server, options)
    before = len(server.asked)
    assert (await evaluate(server, options)).complete
    assert len(server.asked) == before
    assert len(provider.batches) == 2


async def test_a_run_that_breaks_off_between_waves_goes_on(
    server: BatchServer, provider: Provider, options: RunOptions
) -> None:
    def stop_at(count: int) -> Callable[[EvaluationProgress], None]:
        def stop(found: EvaluationProgress) -> None:
            if found.done == count:
                raise RuntimeError("enough")

        return stop

    for count in (1, 13, 25):
        with pytest.raises(RuntimeError, match="enough"):
            await evaluate(server, options, progress=stop_at(count))
    assert (await evaluate(server, options)).complete
    assert set(provider.performed.values()) == {1}
    assert len(provider.performed) == CALLS


async def test_ordinary_calls_do_not_pay_for_what_is_in_a_batch(
    server: BatchServer, provider: Provider, options: RunOptions, endpoint: Endpoint
) -> None:
    server.interrupt = lambda route, _moment: "401" if route == "look" else None
    with pytest.raises(CfrError, match="401"):
        await evaluate(server, options)
    ordinary, elsewhere = replace(options, batch=BatchOptions()), Provider(respond)
    why = r"1 batch has not been collected yet, of m at http://127.*; run the command that made"
    with pytest.raises(InputError, match=why):
        await evaluate(endpoint, ordinary)
    with BatchServer(elsewhere) as other, pytest.raises(InputError, match=why):
        await evaluate(other, options)
    assert not endpoint.requests
    assert not elsewhere.batches
    # Other series have nothing to do with it.
    assert (await evaluate(endpoint, ordinary, replace(GRID, methods=("check",), runs=1))).complete
    server.interrupt = lambda _route, _moment: None
    assert (await evaluate(server, options)).complete
    assert set(provider.performed.values()) == {1}


async def test_files_keep_to_the_limits(
    server: BatchServer, provider: Provider, options: RunOptions
) -> None:
    small = replace(options, batch=replace(BATCH, batch_file_requests=25))
    assert (await evaluate(server, small)).complete
    sizes = [len(provider.requests(name)) for name in provider.batches]
    assert sizes == [25, 25, 10, 12]
    tight = replace(
        options, store=options.store + "2", batch=replace(BATCH, batch_file_bytes=9_000)
    )
    assert (await evaluate(server, tight)).complete
    uploaded = [file.data for file in provider.files.values() if file.purpose == "batch"]
    assert max(map(len, uploaded[4:])) <= 9_000
    assert len(uploaded) > 8


async def test_a_budget_holds_a_wave_back(
    server: BatchServer, provider: Provider, options: RunOptions
) -> None:
    grid = replace(GRID, methods=("direct",), max_tokens=100)
    bounded = replace(options, max_tokens_total=350)
    done = await evaluate(server, bounded, grid)
    assert "the budget is spent" in done.stopped
    assert 0 < sum(provider.performed.values()) < 12
    assert done.usage.total <= 350
    # What came back cheaper than it could have made room for more.
    assert len(provider.batches) > 1
    assert (await evaluate(server, options, grid)).complete
    assert set(provider.performed.values()) == {1}


async def test_a_batch_costs_a_part_of_the_price_also_when_somebody_looks_later(
    server: BatchServer,
    endpoint: Endpoint,
    options: RunOptions,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:

    path = tmp_path / "models.toml"
    path.write_text("[m]\nprice = { input = 1000, output = 1000 }\n")
    monkeypatch.setenv("CFR_MODELS", str(path))
    grid = replace(GRID, methods=("direct",), runs=1)
    done = await evaluate(server, options, grid)
    half = 6 * 18 * 1_000 / 10**6 / 2
    assert done.cost is not None
    assert done.cost.dollars == pytest.approx(half)  # pyright: ignore
    again = await evaluate(server, options, grid)
    assert again.cost == done.cost
    endpoint.respond = play_model
    ordinary = replace(options, batch=BatchOptions())
    both = await evaluate(endpoint, ordinary, replace(grid, runs=2))
    assert both.cost is not None
    assert both.cost.dollars == pytest.approx(3 * half)  # pyright: ignore
    with Store(options.store, existing=True) as store:
        (row,) = summaries(store)
    assert row.tally.cost is not None
    assert row.tally.cost.dollars == pytest.approx(3 * half)  # pyright: ignore


async def test_no_key_is_anywhere(
    server: BatchServer, provider: Provider, options: RunOptions
) -> None:
    await evaluate(server, options)
    assert server.keys == {"Bearer sk-very-secret-key"}
    assert all(b"secret" not in file.data for file in provider.files.values())
    assert b"very-secret" not in Path(options.store).read_bytes()
