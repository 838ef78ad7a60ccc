"""Evaluations in batches against a provider's API over real HTTP, also where it goes wrong."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
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
from constraint_first.run.job import Evaluated
from constraint_first.run.shared import NothingRunnable, awork
from constraint_first.store.database import StoreError
from constraint_first.store.query import summaries
from constraint_first.store.store import Store

DIRECT = replace(GRID, methods=("direct",))
SUMS = Benchmark("sums", "Sums", sums(2))


@dataclass
class Service:
    """A provider, the server in front of it, and the runs that send batches there."""

    provider: Provider
    server: BatchServer
    options: RunOptions

    @property
    def single(self) -> RunOptions:
        """Options of a run in the same store that asks call by call."""
        return replace(self.options, batch=BatchOptions())

    async def run(self, grid: Experiment = GRID, **more: Any) -> Evaluated:
        return await evaluate(self.server, self.options, grid, **more)

    async def end(self, grid: Experiment = GRID, **more: Any) -> Evaluated:
        """Run to the end, when each request must have been performed once."""
        done = await self.run(grid, **more)
        assert done.complete
        assert set(self.provider.performed.values()) == {1}
        return done

    def fail(self, fault: str, route: str, *moments: str) -> None:
        self.server.interrupt = lambda asked, moment: (
            fault if asked == route and (not moments or moment in moments) else None
        )

    def heal(self) -> None:
        self.server.interrupt = lambda _route, _moment: None

    def refuse(self, refused: Callable[[dict[str, Any]], bool], message: str) -> None:
        self.provider.respond = lambda body: (
            (400, {"error": {"message": message}}) if refused(body) else respond(body)
        )


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    options, provider = RunOptions(store=str(tmp_path / "runs.db"), batch=BATCH), finds_sums()
    with BatchServer(provider) as server:
        yield Service(provider, server, options)


async def test_waves_bring_what_single_calls_do(service: Service, endpoint: Endpoint) -> None:
    told, options = Told(), service.options
    done = await service.end(watcher=told)
    assert len(service.provider.performed) == CALLS
    sizes = [len(service.provider.requests(name)) for name in service.provider.batches]
    assert sizes == [60, 12]
    endpoint.respond = play_model
    ordinary = replace(service.single, store=options.store + "2")
    alike = await evaluate(endpoint, ordinary)
    assert rows(options.store) == rows(ordinary.store)
    assert calls(options.store) == calls(ordinary.store)
    assert done.usage == alike.usage
    assert [one.tally.truncated for one in done.series] == [2, 2, 2]
    assert [(one.wave, one.requests, one.done) for one in told.waves][-1] == (2, 12, 12)
    assert told.notes == []
    closed = [(one.state, one.status, one.batch) for one in batches(options.store)]
    assert closed == [("closed", "completed", "batch_1"), ("closed", "completed", "batch_2")]
    asked = len(service.server.asked)
    await service.end()
    assert (len(service.server.asked), len(service.provider.batches)) == (asked, 2)
    assert service.server.keys == {"Bearer sk-very-secret-key"}
    assert all(b"secret" not in file.data for file in service.provider.files.values())
    assert b"very-secret" not in Path(options.store).read_bytes()


async def test_programs_go_on_in_the_interpreter_of_their_series(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = replace(GRID, methods=("program",), runs=1)
    await service.end(programs)
    monkeypatch.setattr("constraint_first.store.series.interpreter", lambda: "another 1")
    await service.end(programs)
    with pytest.raises(StoreError, match=r"programs ran in .+here they run in another 1;"):
        await service.run(replace(programs, runs=2))


async def test_a_run_that_breaks_off_between_waves_goes_on(service: Service) -> None:
    def stop_at(count: int) -> Callable[[EvaluationProgress], None]:
        def stop(found: EvaluationProgress) -> None:
            if found.done == count:
                raise RuntimeError("enough")

        return stop

    for count in (1, 13, 25):
        with pytest.raises(RuntimeError, match="enough"):
            await service.run(progress=stop_at(count))
    await service.end()
    assert len(service.provider.performed) == CALLS


async def test_requests_in_flight_are_paid_once(service: Service, endpoint: Endpoint) -> None:
    service.fail("401", "look")
    with pytest.raises(CfrError, match="401"):
        await service.run()
    elsewhere = Provider(respond)
    why = r"1 batch has not been collected yet, of m at http://127.*; run the command that made"
    with pytest.raises(InputError, match=why):
        await evaluate(endpoint, service.single)
    with BatchServer(elsewhere) as other, pytest.raises(InputError, match=why):
        await evaluate(other, service.options)
    assert not endpoint.requests
    assert not elsewhere.batches
    # Other series have nothing to do with it.
    check = replace(GRID, methods=("check",), runs=1)
    assert (await evaluate(endpoint, service.single, check)).complete
    service.heal()
    await service.end()


async def test_files_keep_to_the_limits(service: Service) -> None:
    options, provider = service.options, service.provider
    service.options = replace(options, batch=replace(BATCH, batch_file_requests=25))
    await service.end()
    assert [len(provider.requests(name)) for name in provider.batches] == [25, 25, 10, 12]
    tight = replace(BATCH, batch_file_bytes=9_000)
    service.options = replace(options, store=options.store + "2", batch=tight)
    assert (await service.run()).complete
    uploaded = [file.data for file in provider.files.values() if file.purpose == "batch"]
    assert max(map(len, uploaded[4:])) <= 9_000
    assert len(uploaded) > 8


async def test_a_budget_holds_a_wave_back(service: Service) -> None:
    grid, options = replace(DIRECT, max_tokens=100), service.options
    service.options = replace(options, max_tokens_total=350)
    done = await service.run(grid)
    assert "the budget is spent" in done.stopped
    assert 0 < sum(service.provider.performed.values()) < 12
    assert done.usage.total <= 350
    # What came back cheaper than it could have made room for more.
    assert len(service.provider.batches) > 1
    service.options = options
    await service.end(grid)


async def test_a_batch_costs_a_part_of_the_price(
    service: Service, endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "models.toml"
    path.write_text("[m]\nprice = { input = 1000, output = 1000 }\n")
    monkeypatch.setenv("CFR_MODELS", str(path))
    grid = replace(DIRECT, runs=1)
    done = await service.run(grid)
    half = 6 * 18 * 1_000 / 10**6 / 2
    assert (await service.run(grid)).cost == done.cost
    endpoint.respond = play_model
    both = await evaluate(endpoint, service.single, replace(grid, runs=2))
    with Store(service.options.store, existing=True) as store:
        (row,) = summaries(store)
    for cost, expected in ((done.cost, half), (both.cost, 3 * half), (row.tally.cost, 3 * half)):
        assert cost is not None
        assert cost.dollars == pytest.approx(expected)  # pyright: ignore


async def test_odd_results_are_told_and_asked_for_again(service: Service) -> None:
    odd = {"s1-p1-r0": "garbage", "s1-p2-r0": "cut_out", "s1-p3-r0": "twice", "s1-p4-r0": "expired"}
    service.provider.fate = lambda name, seen: (
        "performed" if seen else odd.get(name[:8], "performed")
    )
    told = Told()
    await service.end(DIRECT, watcher=told)
    assert len(service.provider.performed) == 12
    assert told.notes == [
        "batch_1 completed: 1 × a line that is no result (not JSON); "
        "1 × a second line for one request; requests without a result, to be made again: 2"
    ]
    assert len(service.provider.requests("batch_2")) == 3


async def test_a_result_that_nobody_asked_for_changes_nothing(service: Service) -> None:
    told, look = Told(), service.provider.look

    def add_strangers(name: str) -> dict[str, Any]:
        found = look(name)
        if found["status"] == "completed":
            body = respond({"messages": "What is 1 + 1?"})[1]
            strange = {"response": {"status_code": 200, "body": body}, "error": None}
            lines = [strange | {"custom_id": one} for one in ("request-1", "s1-p1-r0-c9-x-y")]
            data = "".join(json.dumps(line) + "\n" for line in lines).encode()
            service.provider.files[found["output_file_id"]].data += data
        return found

    service.provider.look = add_strangers
    assert (await service.run(DIRECT, watcher=told)).complete
    assert told.notes == ["batch_1 completed: 2 × a result that nobody asked for"]
    assert len(calls(service.options.store)) == 12


async def test_a_request_that_always_expires_is_given_up(service: Service) -> None:
    service.provider.fate = lambda name, _: "expired" if name[:8] == "s1-p1-r0" else "performed"
    done = await service.run(DIRECT)
    assert not done.complete
    assert "it could not be executed in time" in done.stopped
    assert len(service.provider.batches) == 3
    service.provider.fate = lambda _name, _seen: "performed"
    await service.end(DIRECT)


@pytest.mark.parametrize(
    ("state", "why"),
    [("failed", "too many tokens are enqueued"), ("expired", "could not be executed in time")],
)
async def test_a_failed_batch_is_made_three_times(service: Service, state: str, why: str) -> None:
    service.provider.states = ("validating", state)
    service.provider.fate = lambda _name, _seen: "expired"
    done = await service.run(DIRECT)
    assert done.series[0].tally.failed == 12
    assert len(service.provider.batches) == 3
    assert why in done.stopped


async def test_a_cancelled_batch_is_left_to_the_next_command(service: Service) -> None:
    service.provider.states = ("validating", "cancelled")
    service.provider.fate = lambda name, _seen: "performed" if "-r0-" in name else "cut_out"
    done = await service.run(DIRECT)
    assert (done.series[0].tally.scored, done.series[0].tally.failed) == (6, 6)
    assert "cancelled" in done.stopped
    assert len(service.provider.batches) == 1
    service.provider.states = ("validating", "completed")
    service.provider.fate = lambda _name, _seen: "performed"
    await service.end(DIRECT)


async def test_a_refusal_is_that_of_a_single_call(service: Service, endpoint: Endpoint) -> None:
    message = "this prompt is not to our liking"
    service.refuse(lambda body: number_in(body) == 2, message)
    done = await service.run(DIRECT)
    assert done.series[0].tally.failed == 2
    assert len(service.provider.batches) == 1
    endpoint.respond = lambda body: (
        failure(400, message) if number_in(body) == 2 else play_model(body)
    )
    ordinary = replace(service.single, store=service.options.store + "2")
    alike = await evaluate(endpoint, ordinary, DIRECT)
    assert done.stopped.replace(service.server.url, "") == alike.stopped.replace(endpoint.url, "")
    service.provider.respond = respond
    assert (await service.run(DIRECT)).complete


async def test_a_refused_field_stays_left_out_after_a_restart(service: Service) -> None:
    service.refuse(lambda body: "response_format" in body, "response_format is not known here")
    grid, provider = replace(GRID, methods=("cfr",)), service.provider
    service.server.interrupt = lambda route, moment: (
        "401" if (route, moment) == ("look", "before") and len(provider.batches) == 2 else None
    )
    with pytest.raises(CfrError, match="401"):
        await service.run(grid)
    service.heal()
    await service.end(grid)
    # Wave 1 was refused; the restart knows that, and what it collects is the wave under way.
    assert len(provider.batches) == 3


async def test_a_refused_setting_changes_the_series(service: Service) -> None:
    message = "temperature is not supported with this model"
    service.refuse(lambda body: "temperature" in body, message)
    done = await service.end(DIRECT)
    assert done.series[0].series.decoding == Decoding(None, 0.95, SEED)


async def test_faults_of_every_route_are_outlasted(service: Service) -> None:
    seen: Counter[tuple[str, str]] = Counter()
    faults = ("500", "cut")

    def fail(route: str, moment: str) -> str | None:
        seen[route, moment] += 1
        n = seen[route, moment] - 1
        return faults[n] if n < len(faults) else None

    service.server.interrupt = fail
    await service.end()
    assert {route for route, _ in seen} >= {"upload", "create", "list", "look", "download"}
    assert len(service.provider.performed) == CALLS


async def test_a_batch_without_metadata_is_found_by_its_file(service: Service) -> None:
    service.provider.keeps_metadata = False
    lost = iter(["cut"])
    service.server.interrupt = lambda route, moment: (
        next(lost, None) if (route, moment) == ("create", "after") else None
    )
    await service.end()


async def test_where_batches_are_not_listed_a_person_decides(service: Service) -> None:
    service.provider.lists = False
    service.fail("cut", "create", "after")
    for _ in range(2):
        with pytest.raises(CfrError, match=r"file-1; look there, and pass --forget-batches"):
            await service.run(DIRECT)
    assert len(service.provider.batches) == 1
    service.heal()
    service.options = replace(service.options, batch=replace(BATCH, forget_batches=True))
    assert (await service.run(DIRECT)).complete
    assert [one.state for one in batches(service.options.store)] == ["forgotten", "closed"]


async def test_a_batch_that_is_gone_is_not_paid_for_again(service: Service) -> None:
    def lose(route: str, moment: str) -> None:
        if (route, moment) == ("look", "before"):
            service.provider.batches.clear()

    service.server.interrupt = lose
    with pytest.raises(CfrError, match="batch_1 is not there any more; pass --forget-batches"):
        await service.run(DIRECT)


async def test_a_provider_that_stays_away_ends_the_run(service: Service) -> None:
    options = service.options
    with BatchServer(service.provider) as gone:
        port = gone.port
    away = ModelRef("m", f"http://127.0.0.1:{port}/v1")
    with pytest.raises(Unreachable):
        await aevaluate(GRID, model=away, options=options)
    assert [one.state for one in batches(options.store)] == ["collected"]
    with BatchServer(service.provider, port) as back:
        assert (await evaluate(back, options)).complete
    assert set(service.provider.performed.values()) == {1}


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"concurrency": 4}, "--concurrency: goes with single calls"),
        ({"requests_per_minute": 4.0}, "--requests-per-minute: goes with single calls"),
        ({"tokens_per_minute": 4.0}, "--tokens-per-minute: goes with single calls"),
        ({"batch": BatchOptions(batch=True, batch_dir="x")}, "--batch and --batch-dir: one or"),
    ],
)
def test_options_that_exclude_each_other_are_refused(given: dict[str, Any], why: str) -> None:
    check_options(RunOptions(batch=BATCH))
    with pytest.raises(InputError, match=why):
        check_options(replace(RunOptions(batch=BATCH), **given))


async def test_what_has_no_batches_is_refused(service: Service, tmp_path: Path) -> None:
    folder = BatchOptions(batch_dir=str(tmp_path / "waves"))
    priced = replace(service.options, batch=folder, max_cost=1.0)
    with pytest.raises(InputError, match="model m: --max-cost needs its price"):
        await aevaluate(SUMS, "direct", model="m", options=priced)
    several = ModelRef("m", (service.server.url, f"{service.server.url}/other"))
    with pytest.raises(InputError, match="model m: --batch goes to one endpoint, and several"):
        await aevaluate(SUMS, "direct", model=several, options=service.options)
    why = "--batch needs an endpoint with a batch API; name it with --base-url"
    for engine in (None, Scripted(right)):
        with pytest.raises(InputError, match=why):
            await aevaluate(SUMS, "direct", engine=engine, options=service.options)


async def test_a_given_engine_is_asked_in_batches(service: Service) -> None:
    engine = OpenAI(Address(service.server.url, "m"))
    done = await aevaluate(SUMS, "direct", runs=1, engine=engine, options=service.options)
    assert done.complete
    assert len(service.provider.performed) == 2


async def test_each_model_has_batches_of_its_own(service: Service) -> None:
    provider, ref = service.provider, ModelRef("m", service.server.url)
    method = "llm-router(model=small)"
    assert (await aevaluate(SUMS, method, runs=1, model=ref, options=service.options)).complete
    models = [
        {one["body"]["model"] for one in provider.requests(name)} for name in provider.batches
    ]
    assert models[0] == {"small"}
    assert all(len(one) == 1 for one in models)
    assert set().union(*models) == {"small", "m"}


async def test_several_models_of_a_grid_share_waves(service: Service) -> None:
    grid = Experiment(benchmarks=(SUMS,), methods=("direct",), models=("a", "b"), runs=1)
    ref = ModelRef(None, service.server.url)
    assert (await aevaluate(grid, model=ref, options=service.options)).complete
    assert len(service.provider.batches) == 2
    assert set(service.provider.performed.values()) == {1}


# On a store that workers share one run sends and collects batches, and no other beside it.


@pytest.fixture
def shared(service: Service, postgres: str) -> Iterator[Service]:
    service.options = RunOptions(store=postgres, batch=BATCH, lease=1.0)
    yield service
    empty_database(postgres)


async def test_a_run_in_batches_has_the_store_alone(shared: Service) -> None:
    with Store(shared.options.store) as store:
        with store.running(), pytest.raises(StoreError, match="is using"):
            await shared.run(DIRECT)
        assert not shared.provider.batches
        with store.exclusively(), pytest.raises(StoreError, match="alone"):
            await awork(shared.options)
    await shared.end(DIRECT)


async def test_batches_make_what_workers_left(shared: Service, endpoint: Endpoint) -> None:
    endpoint.respond = lambda body: reply_right(body) if "1 +" in str(body) else failure(400, "no")
    left = await evaluate(endpoint, shared.single, DIRECT)
    assert 0 < left.series[0].tally.failed < 12
    made = len(calls(shared.options.store))
    assert (await shared.run(DIRECT)).complete
    assert sum(shared.provider.performed.values()) == 12 - made
    assert (await awork(shared.single)).series == ()


async def test_a_worker_leaves_batches_in_flight(shared: Service, endpoint: Endpoint) -> None:
    endpoint.script(failure(400, "not now"))
    await evaluate(endpoint, shared.single, DIRECT)
    endpoint.requests.clear()
    shared.fail("401", "look")
    with pytest.raises(CfrError, match="401"):
        await shared.run(DIRECT)
    with pytest.raises(NothingRunnable, match="1 batch has not been collected yet"):
        await awork(shared.single)
    assert not endpoint.requests
    shared.heal()
    await shared.end(DIRECT)
    assert [one.state for one in batches(shared.options.store)] == ["closed"]
