"""Evaluations in batches, in the test's own process, against a provider's API over real HTTP."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from batch_server import BatchServer, Provider
from batch_sums import METHODS, SEED, finds_sums, play_model, respond
from loopback import Endpoint
from sums import number_in, sums

import cfr
from cfr.benchmark import Benchmark
from cfr.engine.engine import Decoding
from cfr.engine.error import Unreachable
from cfr.engine.resolve import ModelRef
from cfr.error import CfrError, InputError
from cfr.evaluation import batch_schema, schema
from cfr.evaluation.batch_option import BatchOptions
from cfr.evaluation.batch_progress import WaveProgress
from cfr.evaluation.evaluate import Evaluated
from cfr.evaluation.experiment import Experiment
from cfr.evaluation.record import outcome_rows
from cfr.evaluation.store import Store
from cfr.evaluation.watcher import EvaluationWatcher

SUMS = Benchmark("sums", "Sums", sums(6))
GRID = Experiment(benchmarks=(SUMS,), methods=METHODS, runs=2, seeds=(SEED,))
BATCH = BatchOptions(batch=True, batch_poll=0.001)
CALLS = 6 * 2 * (1 + 2 + 3)


class Told(EvaluationWatcher):
    def __init__(self) -> None:
        self.waves: list[WaveProgress] = []
        self.notes: list[str] = []

    def batches(self, progress: WaveProgress) -> None:
        self.waves.append(progress)

    def noted(self, line: str) -> None:
        self.notes.append(line)


@pytest.fixture
def options(tmp_path: Path) -> cfr.RunOptions:
    return cfr.RunOptions(store=str(tmp_path / "runs.db"), batch=BATCH)


@pytest.fixture
def provider() -> Provider:
    return finds_sums()


@pytest.fixture
def server(provider: Provider) -> Iterator[BatchServer]:
    with BatchServer(provider) as running:
        yield running


async def evaluate(
    server: BatchServer | Endpoint, options: cfr.RunOptions, grid: Experiment = GRID, **more: Any
) -> Evaluated:
    ref = ModelRef("m", server.url, key="sk-very-secret-key")
    return await cfr.aevaluate(grid, model=ref, options=options, **more)


def rows(url: str) -> set[tuple[Any, ...]]:
    names = ("method", "problem", "run", "status", "verdict", "answer", "input_tokens")
    with Store(url, existing=True) as store:
        return {tuple(row[name] for name in names) for row in outcome_rows(store)}


def calls(url: str) -> set[tuple[Any, ...]]:
    c = schema.calls.c
    columns = (c.series, c.problem, c.run, c.ordinal, c.stage, c.digest, c.text, c.output_tokens)
    with Store(url, existing=True) as store:
        return {tuple(row) for row in store.read(sa.select(*columns))}


def batches(url: str) -> list[Any]:
    with Store(url, existing=True) as store:
        return list(store.read(sa.select(batch_schema.batches).order_by("wave")))


async def test_waves_bring_what_single_calls_do(
    server: BatchServer, provider: Provider, endpoint: Endpoint, options: cfr.RunOptions
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
    server: BatchServer, provider: Provider, options: cfr.RunOptions
) -> None:
    await evaluate(server, options)
    before = len(server.asked)
    assert (await evaluate(server, options)).complete
    assert len(server.asked) == before
    assert len(provider.batches) == 2


async def test_a_run_that_breaks_off_between_waves_goes_on(
    server: BatchServer, provider: Provider, options: cfr.RunOptions
) -> None:
    def stop_at(count: int) -> Callable[[cfr.EvaluationProgress], None]:
        def stop(found: cfr.EvaluationProgress) -> None:
            if found.done == count:
                raise RuntimeError("enough")

        return stop

    for count in (1, 13, 25):
        with pytest.raises(RuntimeError, match="enough"):
            await evaluate(server, options, progress=stop_at(count))
    assert (await evaluate(server, options)).complete
    assert set(provider.performed.values()) == {1}
    assert len(provider.performed) == CALLS


async def test_results_that_are_odd_are_told_and_their_requests_made_again(
    server: BatchServer, provider: Provider, options: cfr.RunOptions
) -> None:
    odd = {"s1-p1-r0": "garbage", "s1-p2-r0": "cut_out", "s1-p3-r0": "twice", "s1-p4-r0": "expired"}
    provider.fate = lambda name, seen: "performed" if seen else odd.get(name[:8], "performed")
    told = Told()
    done = await evaluate(server, options, replace(GRID, methods=("direct",)), watcher=told)
    assert done.complete
    assert len(provider.performed) == 12
    assert set(provider.performed.values()) == {1}
    assert told.notes == [
        "batch_1 completed: 1 × a line that is no result (not JSON); "
        "1 × a second line for one request; requests without a result, to be made again: 2"
    ]
    assert len(provider.requests("batch_2")) == 3


async def test_a_result_that_nobody_asked_for_changes_nothing(
    server: BatchServer, provider: Provider, options: cfr.RunOptions
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
    grid = replace(GRID, methods=("direct",))
    assert (await evaluate(server, options, grid, watcher=told)).complete
    assert told.notes == ["batch_1 completed: 2 × a result that nobody asked for"]
    assert len(calls(options.store)) == 12


def respond_to(n: int) -> Any:
    return respond({"messages": f"What is {n} + 1?"})[1]


async def test_a_request_that_always_expires_is_given_up_and_made_by_the_next_command(
    server: BatchServer, provider: Provider, options: cfr.RunOptions
) -> None:
    provider.fate = lambda name, _seen: "expired" if name.startswith("s1-p1-r0") else "performed"
    grid = replace(GRID, methods=("direct",))
    done = await evaluate(server, options, grid)
    assert not done.complete
    assert "it could not be executed in time" in done.stopped
    assert len(provider.batches) == 3
    provider.fate = lambda _name, _seen: "performed"
    assert (await evaluate(server, options, grid)).complete
    assert set(provider.performed.values()) == {1}


@pytest.mark.parametrize("states", [("validating", "failed"), ("validating", "expired")])
async def test_a_batch_that_fails_as_a_whole_is_made_again_so_many_times(
    server: BatchServer, provider: Provider, options: cfr.RunOptions, states: tuple[str, ...]
) -> None:
    provider.states, provider.fate = states, lambda _name, _seen: "expired"
    done = await evaluate(server, options, replace(GRID, methods=("direct",)))
    assert done.series[0].tally.failed == 12
    assert len(provider.batches) == 3
    why = "too many tokens are enqueued" if "failed" in states else "could not be executed in time"
    assert why in done.stopped


async def test_a_cancelled_batch_is_left_alone_until_the_next_command(
    server: BatchServer, provider: Provider, options: cfr.RunOptions
) -> None:
    provider.states = ("validating", "cancelled")
    provider.fate = lambda name, _seen: "performed" if "-r0-" in name else "cut_out"
    grid = replace(GRID, methods=("direct",))
    done = await evaluate(server, options, grid)
    assert (done.series[0].tally.scored, done.series[0].tally.failed) == (6, 6)
    assert "cancelled" in done.stopped
    assert len(provider.batches) == 1
    provider.states = ("validating", "completed")
    provider.fate = lambda _name, _seen: "performed"
    assert (await evaluate(server, options, grid)).complete
    assert set(provider.performed.values()) == {1}


async def test_a_refusal_is_the_one_of_an_ordinary_run(
    server: BatchServer, provider: Provider, options: cfr.RunOptions, endpoint: Endpoint
) -> None:
    from loopback import failure

    def refuse(body: dict[str, Any]) -> tuple[int, Any]:
        if number_in(body) == 2:
            return 400, {"error": {"message": "this prompt is not to our liking"}}
        return respond(body)

    provider.respond = refuse
    grid = replace(GRID, methods=("direct",))
    done = await evaluate(server, options, grid)
    assert done.series[0].tally.failed == 2
    assert len(provider.batches) == 1
    endpoint.respond = lambda body: (
        failure(400, "this prompt is not to our liking")
        if number_in(body) == 2
        else play_model(body)
    )
    ordinary = replace(options, store=options.store + "2", batch=BatchOptions())
    alike = await evaluate(endpoint, ordinary, grid)
    assert done.stopped.replace(server.url, "") == alike.stopped.replace(endpoint.url, "")
    provider.respond = respond
    assert (await evaluate(server, options, grid)).complete


async def test_what_an_endpoint_will_not_have_is_left_out_also_after_a_restart(
    server: BatchServer, provider: Provider, options: cfr.RunOptions
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
    server: BatchServer, provider: Provider, options: cfr.RunOptions
) -> None:
    def refuse(body: dict[str, Any]) -> tuple[int, Any]:
        if "temperature" in body:
            return 400, {"error": {"message": "temperature is not supported with this model"}}
        return respond(body)

    provider.respond = refuse
    done = await evaluate(server, options, replace(GRID, methods=("direct",)))
    assert done.complete
    assert done.series[0].series.decoding == Decoding(None, 0.95, SEED)
    assert set(provider.performed.values()) == {1}


async def test_faults_of_every_route_are_outlasted(
    server: BatchServer, provider: Provider, options: cfr.RunOptions
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
    server: BatchServer, provider: Provider, options: cfr.RunOptions
) -> None:
    provider.keeps_metadata = False
    lost = iter(["cut"])
    server.interrupt = lambda route, moment: (
        next(lost, None) if (route, moment) == ("create", "after") else None
    )
    assert (await evaluate(server, options)).complete
    assert set(provider.performed.values()) == {1}


async def test_where_batches_are_not_listed_a_person_decides(
    server: BatchServer, provider: Provider, options: cfr.RunOptions
) -> None:
    provider.lists = False
    server.interrupt = lambda route, moment: (
        "cut" if (route, moment) == ("create", "after") and len(provider.batches) == 1 else None
    )
    grid = replace(GRID, methods=("direct",))
    for _ in range(2):
        with pytest.raises(CfrError, match=r"file-1; look there, and pass --forget-batches"):
            await evaluate(server, options, grid)
    assert len(provider.batches) == 1
    anew = replace(options, batch=replace(BATCH, forget_batches=True))
    assert (await evaluate(server, anew, grid)).complete
    assert [one.state for one in batches(options.store)] == ["forgotten", "closed"]


async def test_a_batch_that_is_gone_is_not_silently_paid_for_again(
    server: BatchServer, provider: Provider, options: cfr.RunOptions
) -> None:
    def lose(route: str, moment: str) -> None:
        if (route, moment) == ("look", "before"):
            provider.batches.clear()

    server.interrupt = lose
    grid = replace(GRID, methods=("direct",))
    with pytest.raises(CfrError, match="batch_1 is not there any more; pass --forget-batches"):
        await evaluate(server, options, grid)


async def test_ordinary_calls_do_not_pay_for_what_is_in_a_batch(
    server: BatchServer, provider: Provider, options: cfr.RunOptions, endpoint: Endpoint
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
    server: BatchServer, provider: Provider, options: cfr.RunOptions
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
    server: BatchServer, provider: Provider, options: cfr.RunOptions
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
    options: cfr.RunOptions,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from cfr.evaluation.summary import summaries

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
    assert row.cost is not None
    assert row.cost.dollars == pytest.approx(3 * half)  # pyright: ignore


async def test_no_key_is_anywhere(
    server: BatchServer, provider: Provider, options: cfr.RunOptions
) -> None:
    await evaluate(server, options)
    assert server.keys == {"Bearer sk-very-secret-key"}
    assert all(b"secret" not in file.data for file in provider.files.values())
    assert b"very-secret" not in Path(options.store).read_bytes()


async def test_a_provider_that_stays_away_ends_the_run_and_loses_nothing(
    server: BatchServer, provider: Provider, options: cfr.RunOptions
) -> None:
    with BatchServer(provider) as gone:
        port = gone.port
    away = ModelRef("m", f"http://127.0.0.1:{port}/v1")
    with pytest.raises(Unreachable):
        await cfr.aevaluate(GRID, model=away, options=options)
    assert [one.state for one in batches(options.store)] == ["collected"]
    with BatchServer(provider, port) as back:
        assert (await evaluate(back, options)).complete
    assert set(provider.performed.values()) == {1}
