"""What goes wrong with batches: odd results, refusals, faults of the provider, cancellation."""

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from batch_evaluation import BATCH, CALLS, GRID, Told, batches, calls, evaluate
from batch_server import BatchServer, Provider
from batch_sums import SEED, play_model, respond
from loopback import Endpoint
from sums import number_in

from constraint_first import RunOptions, aevaluate
from constraint_first.error import CfrError
from constraint_first.model.error import Unreachable
from constraint_first.model.resolve import ModelRef
from constraint_first.model.wire import Decoding
from constraint_first.run.grid import BatchOptions


async def test_results_that_are_odd_are_told_and_their_requests_made_again(
    server: BatchServer, provider: Provider, options: RunOptions
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
    grid = replace(GRID, methods=("direct",))
    assert (await evaluate(server, options, grid, watcher=told)).complete
    assert told.notes == ["batch_1 completed: 2 × a result that nobody asked for"]
    assert len(calls(options.store)) == 12


def respond_to(n: int) -> Any:
    return respond({"messages": f"What is {n} + 1?"})[1]


async def test_a_request_that_always_expires_is_given_up_and_made_by_the_next_command(
    server: BatchServer, provider: Provider, options: RunOptions
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
    server: BatchServer, provider: Provider, options: RunOptions, states: tuple[str, ...]
) -> None:
    provider.states, provider.fate = states, lambda _name, _seen: "expired"
    done = await evaluate(server, options, replace(GRID, methods=("direct",)))
    assert done.series[0].tally.failed == 12
    assert len(provider.batches) == 3
    why = "too many tokens are enqueued" if "failed" in states else "could not be executed in time"
    assert why in done.stopped


async def test_a_cancelled_batch_is_left_alone_until_the_next_command(
    server: BatchServer, provider: Provider, options: RunOptions
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
    server: BatchServer, provider: Provider, options: RunOptions, endpoint: Endpoint
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
    done = await evaluate(server, options, replace(GRID, methods=("direct",)))
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
    grid = replace(GRID, methods=("direct",))
    for _ in range(2):
        with pytest.raises(CfrError, match=r"file-1; look there, and pass --forget-batches"):
            await evaluate(server, options, grid)
    assert len(provider.batches) == 1
    anew = replace(options, batch=replace(BATCH, forget_batches=True))
    assert (await evaluate(server, anew, grid)).complete
    assert [one.state for one in batches(options.store)] == ["forgotten", "closed"]


async def test_a_batch_that_is_gone_is_not_silently_paid_for_again(
    server: BatchServer, provider: Provider, options: RunOptions
) -> None:
    def lose(route: str, moment: str) -> None:
        if (route, moment) == ("look", "before"):
            provider.batches.clear()

    server.interrupt = lose
    grid = replace(GRID, methods=("direct",))
    with pytest.raises(CfrError, match="batch_1 is not there any more; pass --forget-batches"):
        await evaluate(server, options, grid)


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
