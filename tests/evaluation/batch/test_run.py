"""Evaluations in batches against a provider's API over real HTTP, also where it goes wrong."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from batch_evaluation import BATCH, CALLS, GRID, Told, batches, calls, evaluate, rows
from batch_server import BatchServer, Provider
from batch_sums import SEED, finds_sums, play_model, respond
from loopback import Endpoint, failure
from postgres import empty_database
from sums import number_in, reply_right, right, sums

from constraint_first import EvaluationProgress, RunOptions, Scripted, aevaluate
from constraint_first.benchmark.registry import Benchmark
from constraint_first.error import CfrError, InputError
from constraint_first.model.client import OpenAI
from constraint_first.model.error import Unreachable
from constraint_first.model.resolve import ModelRef
from constraint_first.model.transport import Endpoint as Address
from constraint_first.model.wire import Decoding
from constraint_first.run.batch import check_options
from constraint_first.run.grid import BatchOptions, Experiment
from constraint_first.run.shared import NothingRunnable, awork
from constraint_first.store.database import StoreError
from constraint_first.store.query import summaries
from constraint_first.store.store import Store

DIRECT = replace(GRID, methods=("direct",))


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


"""What goes wrong with batches: odd results, refusals, faults of the provider, cancellation."""


async def test_results_that_are_odd_are_told_and_their_requests_made_again(
    server: BatchServer, provider: Provider, options: RunOptions
) -> None:
    odd = {"s1-p1-r0": "garbage", "s1-p2-r0": "cut_out", "s1-p3-r0": "twice", "s1-p4-r0": "expired"}
    provider.fate = lambda name, seen: "performed" if seen else odd.get(name[:8], "performed")
    told = Told()
    done = await evaluate(server, options, DIRECT, watcher=told)
    assert done.complete
    assert len(provider.performed) == 12
    assert set(provider.performed.values()) == {1}
    assert told.notes == [
        "batch_1 completed: 1 × a line that is no result (not JSON); "
        "1 × a second line for one request; requests without a result, to be made again: 2"
    ]
    assert len(provider.requests("batch_2")) == 3


async def test_a_result_that_nobody_asked_for_changes_nothing(
    server: BatchServer, provider: Provider, options: RunOptions
) -> None:
    told, look = Told(), provider.look

    def add_strangers(name: str) -> dict[str, Any]:
        found = look(name)
        if found["status"] == "completed":
            strange = {"response": {"status_code": 200, "body": respond_to(1)}, "error": None}
            lines = [strange | {"custom_id": one} for one in ("request-1", "s1-p1-r0-c9-x-y")]
            data = "".join(json.dumps(line) + "\n" for line in lines).encode()
            provider.files[found["output_file_id"]].data += data
        return found

    provider.look = add_strangers
    assert (await evaluate(server, options, DIRECT, watcher=told)).complete
    assert told.notes == ["batch_1 completed: 2 × a result that nobody asked for"]
    assert len(calls(options.store)) == 12


def respond_to(n: int) -> Any:
    return respond({"messages": f"What is {n} + 1?"})[1]


async def test_a_request_that_always_expires_is_given_up_and_made_by_the_next_command(
    server: BatchServer, provider: Provider, options: RunOptions
) -> None:
    provider.fate = lambda name, _seen: "expired" if name.startswith("s1-p1-r0") else "performed"
    done = await evaluate(server, options, DIRECT)
    assert not done.complete
    assert "it could not be executed in time" in done.stopped
    assert len(provider.batches) == 3
    provider.fate = lambda _name, _seen: "performed"
    assert (await evaluate(server, options, DIRECT)).complete
    assert set(provider.performed.values()) == {1}


@pytest.mark.parametrize("states", [("validating", "failed"), ("validating", "expired")])
async def test_a_batch_that_fails_as_a_whole_is_made_again_so_many_times(
    server: BatchServer, provider: Provider, options: RunOptions, states: tuple[str, ...]
) -> None:
    provider.states, provider.fate = states, lambda _name, _seen: "expired"
    done = await evaluate(server, options, DIRECT)
    assert done.series[0].tally.failed == 12
    assert len(provider.batches) == 3
    why = "too many tokens are enqueued" if "failed" in states else "could not be executed in time"
    assert why in done.stopped


async def test_a_cancelled_batch_is_left_alone_until_the_next_command(
    server: BatchServer, provider: Provider, options: RunOptions
) -> None:
    provider.states = ("validating", "cancelled")
    provider.fate = lambda name, _seen: "performed" if "-r0-" in name else "cut_out"
    done = await evaluate(server, options, DIRECT)
    assert (done.series[0].tally.scored, done.series[0].tally.failed) == (6, 6)
    assert "cancelled" in done.stopped
    assert len(provider.batches) == 1
    provider.states = ("validating", "completed")
    provider.fate = lambda _name, _seen: "performed"
    assert (await evaluate(server, options, DIRECT)).complete
    assert set(provider.performed.values()) == {1}


async def test_a_refusal_is_the_one_of_an_ordinary_run(
    server: BatchServer, provider: Provider, options: RunOptions, endpoint: Endpoint
) -> None:
    def refuse(body: dict[str, Any]) -> tuple[int, Any]:
        if number_in(body) == 2:
            return 400, {"error": {"message": "this prompt is not to our liking"}}
        return respond(body)

    provider.respond = refuse
    done = await evaluate(server, options, DIRECT)
    assert done.series[0].tally.failed == 2
    assert len(provider.batches) == 1
    endpoint.respond = lambda body: (
        failure(400, "this prompt is not to our liking")
        if number_in(body) == 2
        else play_model(body)
    )
    ordinary = replace(options, store=options.store + "2", batch=BatchOptions())
    alike = await evaluate(endpoint, ordinary, DIRECT)
    assert done.stopped.replace(server.url, "") == alike.stopped.replace(endpoint.url, "")
    provider.respond = respond
    assert (await evaluate(server, options, DIRECT)).complete


async def test_what_an_endpoint_will_not_have_is_left_out_also_after_a_restart(
    server: BatchServer, provider: Provider, options: RunOptions
) -> None:
    def refuse(body: dict[str, Any]) -> tuple[int, Any]:
        if "response_format" in body:
            return 400, {"error": {"message": "response_format is not known here"}}
        return respond(body)

    provider.respond = refuse
    grid = replace(GRID, methods=("cfr",))

    def stop(route: str, moment: str) -> str | None:
        return "401" if (route, moment) == ("look", "before") and second_wave() else None

    def second_wave() -> bool:
        return len(provider.batches) == 2

    server.interrupt = stop
    with pytest.raises(CfrError, match="401"):
        await evaluate(server, options, grid)
    server.interrupt = lambda _route, _moment: None
    assert (await evaluate(server, options, grid)).complete
    # Wave 1 was refused; the restart knows that, and what it collects is the wave under way.
    assert len(provider.batches) == 3
    assert set(provider.performed.values()) == {1}


async def test_a_setting_that_a_model_refuses_changes_the_series_name(
    server: BatchServer, provider: Provider, options: RunOptions
) -> None:
    def refuse(body: dict[str, Any]) -> tuple[int, Any]:
        if "temperature" in body:
            return 400, {"error": {"message": "temperature is not supported with this model"}}
        return respond(body)

    provider.respond = refuse
    done = await evaluate(server, options, DIRECT)
    assert done.complete
    assert done.series[0].series.decoding == Decoding(None, 0.95, SEED)
    assert set(provider.performed.values()) == {1}


async def test_faults_of_every_route_are_outlasted(
    server: BatchServer, provider: Provider, options: RunOptions
) -> None:
    seen: Counter[tuple[str, str]] = Counter()
    faults = ("500", "cut")

    def fail(route: str, moment: str) -> str | None:
        seen[route, moment] += 1
        n = seen[route, moment] - 1
        return faults[n] if n < len(faults) else None

    server.interrupt = fail
    assert (await evaluate(server, options)).complete
    assert {route for route, _ in seen} >= {"upload", "create", "list", "look", "download"}
    assert set(provider.performed.values()) == {1}
    assert len(provider.performed) == CALLS


async def test_a_batch_is_found_again_by_its_file_where_metadata_is_not_kept(
    server: BatchServer, provider: Provider, options: RunOptions
) -> None:
    provider.keeps_metadata = False
    lost = iter(["cut"])
    server.interrupt = lambda route, moment: (
        next(lost, None) if (route, moment) == ("create", "after") else None
    )
    assert (await evaluate(server, options)).complete
    assert set(provider.performed.values()) == {1}


async def test_where_batches_are_not_listed_a_person_decides(
    server: BatchServer, provider: Provider, options: RunOptions
) -> None:
    provider.lists = False
    server.interrupt = lambda route, moment: (
        "cut" if (route, moment) == ("create", "after") and len(provider.batches) == 1 else None
    )
    for _ in range(2):
        with pytest.raises(CfrError, match=r"file-1; look there, and pass --forget-batches"):
            await evaluate(server, options, DIRECT)
    assert len(provider.batches) == 1
    anew = replace(options, batch=replace(BATCH, forget_batches=True))
    assert (await evaluate(server, anew, DIRECT)).complete
    assert [one.state for one in batches(options.store)] == ["forgotten", "closed"]


async def test_a_batch_that_is_gone_is_not_silently_paid_for_again(
    server: BatchServer, provider: Provider, options: RunOptions
) -> None:
    def lose(route: str, moment: str) -> None:
        if (route, moment) == ("look", "before"):
            provider.batches.clear()

    server.interrupt = lose
    with pytest.raises(CfrError, match="batch_1 is not there any more; pass --forget-batches"):
        await evaluate(server, options, DIRECT)


async def test_a_provider_that_stays_away_ends_the_run_and_loses_nothing(
    server: BatchServer, provider: Provider, options: RunOptions
) -> None:
    with BatchServer(provider) as gone:
        port = gone.port
    away = ModelRef("m", f"http://127.0.0.1:{port}/v1")
    with pytest.raises(Unreachable):
        await aevaluate(GRID, model=away, options=options)
    assert [one.state for one in batches(options.store)] == ["collected"]
    with BatchServer(provider, port) as back:
        assert (await evaluate(back, options)).complete
    assert set(provider.performed.values()) == {1}


TWO = Benchmark("sums", "Sums", sums(2))


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"concurrency": 4}, "--concurrency: goes with single calls"),
        ({"requests_per_minute": 4.0}, "--requests-per-minute: goes with single calls"),
        ({"tokens_per_minute": 4.0}, "--tokens-per-minute: goes with single calls"),
        ({"batch": BatchOptions(batch=True, batch_dir="x")}, "--batch and --batch-dir: one or"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    options: RunOptions, given: dict[str, Any], why: str
) -> None:
    check_options(options)
    with pytest.raises(InputError, match=why):
        check_options(replace(options, **given))


async def test_a_model_that_runs_here_has_no_batches(options: RunOptions) -> None:
    why = "--batch needs an endpoint with a batch API; name it with --base-url"
    with pytest.raises(InputError, match=why):
        await aevaluate(TWO, "direct", options=options)
    with pytest.raises(InputError, match=why):
        await aevaluate(TWO, "direct", engine=Scripted(right), options=options)


async def test_an_engine_that_somebody_made_is_asked_in_batches(options: RunOptions) -> None:
    provider = finds_sums()
    with BatchServer(provider) as server:
        engine = OpenAI(Address(server.url, "m"))
        done = await aevaluate(TWO, "direct", runs=1, engine=engine, options=options)
    assert done.complete
    assert len(provider.performed) == 2


async def test_each_model_has_batches_of_its_own(options: RunOptions) -> None:
    provider = finds_sums()
    method = "llm-router(model=small)"
    with BatchServer(provider) as server:
        ref = ModelRef("m", server.url)
        done = await aevaluate(TWO, method, runs=1, model=ref, options=options)
    assert done.complete
    models = [
        {one["body"]["model"] for one in provider.requests(name)} for name in provider.batches
    ]
    assert models[0] == {"small"}
    assert all(len(one) == 1 for one in models)
    assert set().union(*models) == {"small", "m"}


async def test_several_models_of_a_grid_share_waves(options: RunOptions) -> None:
    provider = finds_sums()
    grid = Experiment(benchmarks=(TWO,), methods=("direct",), models=("a", "b"), runs=1)
    with BatchServer(provider) as server:
        done = await aevaluate(grid, model=ModelRef(None, server.url), options=options)
    assert done.complete
    assert len(provider.batches) == 2
    assert set(provider.performed.values()) == {1}


async def test_a_budget_in_money_needs_a_price_in_a_folder_too(
    options: RunOptions, tmp_path: Path
) -> None:
    folder = BatchOptions(batch_dir=str(tmp_path / "waves"))
    with pytest.raises(InputError, match="model m: --max-cost needs its price"):
        await aevaluate(
            TWO, "direct", model="m", options=replace(options, batch=folder, max_cost=1.0)
        )


async def test_batches_go_to_one_endpoint(options: RunOptions) -> None:
    with BatchServer(finds_sums()) as one, BatchServer(finds_sums()) as other:
        several = ModelRef("m", (one.url, other.url))
        with pytest.raises(InputError, match="model m: --batch goes to one endpoint, and several"):
            await aevaluate(TWO, "direct", model=several, options=options)


@pytest.fixture
def shared(postgres: str) -> Iterator[RunOptions]:
    yield RunOptions(store=postgres, batch=BATCH, lease=1.0)
    empty_database(postgres)


async def test_a_run_in_batches_has_the_store_alone(
    server: BatchServer, provider: Provider, shared: RunOptions
) -> None:
    with Store(shared.store) as store, store.running(), pytest.raises(StoreError, match="is using"):
        await evaluate(server, shared, DIRECT)
    assert not provider.batches
    with (
        Store(shared.store) as store,
        store.exclusively(),
        pytest.raises(StoreError, match="alone"),
    ):
        await awork(shared)
    assert (await evaluate(server, shared, DIRECT)).complete
    assert set(provider.performed.values()) == {1}


async def test_it_makes_what_workers_left_and_leaves_them_nothing(
    server: BatchServer, provider: Provider, shared: RunOptions, endpoint: Endpoint
) -> None:
    endpoint.respond = lambda body: reply_right(body) if "1 +" in str(body) else failure(400, "no")
    single = replace(shared, batch=BatchOptions())
    left = await evaluate(endpoint, single, DIRECT)
    assert 0 < left.series[0].tally.failed < 12
    made = len(calls(shared.store))
    assert (await evaluate(server, shared, DIRECT)).complete
    assert sum(provider.performed.values()) == 12 - made
    assert (await awork(single)).series == ()


async def test_a_worker_does_not_pay_for_what_is_in_a_batch(
    server: BatchServer, provider: Provider, shared: RunOptions, endpoint: Endpoint
) -> None:
    endpoint.script(failure(400, "not now"))
    await evaluate(endpoint, replace(shared, batch=BatchOptions()), DIRECT)
    endpoint.requests.clear()
    server.interrupt = lambda route, _moment: "401" if route == "look" else None
    with pytest.raises(CfrError, match="401"):
        await evaluate(server, shared, DIRECT)
    with pytest.raises(NothingRunnable, match="1 batch has not been collected yet"):
        await awork(replace(shared, batch=BatchOptions()))
    assert not endpoint.requests
    server.interrupt = lambda _route, _moment: None
    assert (await evaluate(server, shared, DIRECT)).complete
    assert [one.state for one in batches(shared.store)] == ["closed"]
    assert set(provider.performed.values()) == {1}
