"""Samples of one prompt in one request: where the endpoint can do it, and where it cannot."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from loopback import Endpoint as Server
from loopback import Reply, answer, choices, failure

from constraint_first.attempt.drive import MemoryJournal, Scripted, drive
from constraint_first.method.registry import make
from constraint_first.model.client import Client, Sampler
from constraint_first.model.error import EngineError, ServerFault, Unauthorized
from constraint_first.model.limit import Retry
from constraint_first.model.openai import OpenAI
from constraint_first.model.transport import Bounds, Endpoint
from constraint_first.model.wire import SILENT, Decoding, SampledCall, Watcher
from constraint_first.problem import Problem, Solution
from constraint_first.protocol import Answer, Call, Completion, Run, Step, Usage

PROBLEM = Problem("Compute $1 + 1$.")
VOTE = "self-consistency(base=direct,samples=3)"
CALL = Call.user("x", stage="direct", max_tokens=8)


def engine(server: Server, **changes: Any) -> OpenAI:
    retry = Retry(first_pause=0.001)
    return OpenAI(Endpoint(server.url, "m"), Decoding(seed=7), retry, **changes)


async def vote(performing: Any, **rest: Any) -> Run[Solution]:
    return await drive(make(VOTE).solve(PROBLEM), performing, **rest)


def replies(outcome: Run[Solution]) -> list[str]:
    return [exchange.completion.text for exchange in outcome.exchanges]


def asked(server: Server) -> list[tuple[int | None, int]]:
    """List what each request asked for: how many samples, from which seed on."""
    return [(body.get("n"), body["seed"]) for body in server.requests]


def sampling(body: dict[str, Any]) -> Reply:
    """Play an endpoint that has ``n``: the seed of each reply follows that of the one before."""
    return choices(*(f"seed {body['seed'] + n}" for n in range(body.get("n") or 1)))


async def test_samples_of_one_prompt_are_one_request(endpoint: Server) -> None:
    endpoint.respond = sampling
    async with engine(endpoint) as asking:
        outcome = await vote(asking)
    assert asked(endpoint) == [(3, 7)]
    assert replies(outcome) == ["seed 7", "seed 8", "seed 9"]
    usages = [exchange.completion.usage for exchange in outcome.exchanges]
    assert usages == [Usage(11, 7), Usage(11, 7, shared=11), Usage(11, 7, shared=11)]


async def test_together_or_one_by_one_the_transcript_is_the_same(endpoint: Server) -> None:
    endpoint.respond = sampling
    async with engine(endpoint) as asking:
        told = list[object]()
        together, streamed = await vote(asking), await vote(asking, tell=told.append)
    assert together.transcript == streamed.transcript
    assert asked(endpoint) == [(3, 7), (None, 7), (None, 8), (None, 9)]


async def test_only_what_differs_in_nothing_but_its_sample_is_asked_for_together(
    endpoint: Server,
) -> None:
    endpoint.respond = sampling
    longer = replace(CALL, max_tokens=9)
    calls = [CALL, longer, *(replace(CALL, sample=n) for n in (5, 1, 4, 1))]
    async with engine(endpoint) as asking:
        together = Sampler(asking)
        found = await asyncio.gather(*map(together.complete, calls))
    assert [one.text for one in found] == [f"seed {7 + call.sample}" for call in calls]
    assert Counter(asked(endpoint)) == Counter([(2, 7), (2, 11), (None, 7), (None, 8)])


async def test_no_more_than_the_engine_takes_at_once(endpoint: Server) -> None:
    class Two(OpenAI):
        def most_samples(self, group: SampledCall) -> int:
            return 2

    endpoint.respond = sampling
    async with Two(Endpoint(endpoint.url, "m"), Decoding(seed=7)) as asking:
        outcome = await vote(asking)
    assert Counter(asked(endpoint)) == Counter([(2, 7), (None, 9)])
    assert replies(outcome) == ["seed 7", "seed 8", "seed 9"]


REFUSALS = [
    (500, "Only one completion choice is allowed"),
    (400, "n_cmpl cannot be greater than the number of slots, please increase -np"),
    (400, "Field 'n': Value must be between 1 <= value <= 2, but got 3"),
    (400, "Invalid n value (currently only n = 1 is supported)"),
    (400, "n must be 1 when using greedy sampling, got 3."),
    (400, "Unsupported value: 'n' does not support 3 with this model."),
    (422, '[{"loc": ["body", "n"], "msg": "Extra inputs are not permitted"}]'),
]


@pytest.mark.parametrize(("status", "message"), REFUSALS)
async def test_an_endpoint_that_refuses_several_is_asked_one_by_one(
    endpoint: Server, status: int, message: str
) -> None:
    endpoint.respond = lambda body: failure(status, message) if "n" in body else sampling(body)
    async with engine(endpoint) as asking:
        assert replies(await vote(asking)) == ["seed 7", "seed 8", "seed 9"]
        assert asked(endpoint) == [(3, 7), (None, 7), (None, 8), (None, 9)]
        await vote(asking)
    assert [n for n, _ in asked(endpoint)[4:]] == [None] * 3


async def test_an_endpoint_that_gives_fewer_is_asked_for_the_rest_and_never_for_several_again(
    endpoint: Server,
) -> None:
    endpoint.respond = lambda body: choices(f"seed {body['seed']}")
    async with engine(endpoint) as asking:
        assert replies(await vote(asking)) == ["seed 7", "seed 8", "seed 9"]
        assert asked(endpoint) == [(3, 7), (None, 8), (None, 9)]
        await vote(asking)
    assert [n for n, _ in asked(endpoint)[3:]] == [None] * 3


async def test_an_endpoint_that_counts_the_first_alone_is_asked_one_by_one(
    endpoint: Server,
) -> None:
    """llama.cpp as it is in 2026: the tokens of the other replies cannot be known."""

    def respond(body: dict[str, Any]) -> Reply:
        reply = json.loads(sampling(body).body)
        reply["usage"]["completion_tokens"] = 7
        return answer(reply | {"timings": {"predicted_n": 7}})

    endpoint.respond = respond
    async with engine(endpoint) as asking:
        outcome = await vote(asking)
    assert asked(endpoint) == [(3, 7), (None, 8), (None, 9)]
    assert [one.completion.usage.output for one in outcome.exchanges] == [7, 7, 7]


async def test_a_refusal_without_a_known_reason_is_tried_without(endpoint: Server) -> None:
    endpoint.respond = lambda body: failure(400, "no") if "n" in body else sampling(body)
    async with engine(endpoint) as asking:
        assert replies(await vote(asking)) == ["seed 7", "seed 8", "seed 9"]
        endpoint.respond = sampling
        await drive(make(VOTE).solve(Problem("Compute $2 + 2$.")), asking)
    assert asked(endpoint) == [(3, 7), (None, 7), (None, 8), (None, 9), (3, 7)]


def once_spoilt(spoil: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, Any]], Reply]:
    """Play an endpoint whose second choice, where there is one, is spoilt."""

    def respond(body: dict[str, Any]) -> Reply:
        found = [
            {
                "index": n,
                "message": {"content": f"seed {body['seed'] + n}"},
                "finish_reason": "stop",
            }
            for n in range(body.get("n") or 1)
        ]
        if len(found) > 1:
            spoil(found[1])
        counts = {"prompt_tokens": 11, "completion_tokens": 7 * len(found)}
        return answer({"choices": found, "usage": counts})

    return respond


async def test_a_choice_that_nobody_can_read_is_asked_for_by_itself(endpoint: Server) -> None:
    endpoint.respond = once_spoilt(lambda found: found.pop("message"))
    async with engine(endpoint) as asking:
        assert replies(await vote(asking)) == ["seed 7", "seed 8", "seed 9"]
        assert asked(endpoint) == [(3, 7), (None, 8)]
        await vote(asking)
    assert asked(endpoint)[2] == (3, 7)


async def test_a_choice_that_is_cut_or_empty_is_a_reply_like_any_other(endpoint: Server) -> None:
    endpoint.respond = once_spoilt(lambda found: found.update(finish_reason="length"))
    async with engine(endpoint) as asking:
        outcome = await vote(asking)
        assert [one.completion.truncated for one in outcome.exchanges] == [False, True, False]
        endpoint.respond = once_spoilt(lambda found: found.update(message={"content": ""}))
        assert replies(await vote(asking)) == ["seed 7", "", "seed 9"]
    assert len(endpoint.requests) == 2


@pytest.mark.parametrize("fault", [failure(503, "busy"), answer([]), Reply(body="<html>")])
async def test_a_fault_is_asked_again_and_at_last_one_by_one(
    endpoint: Server, fault: Reply
) -> None:
    endpoint.respond = lambda body: fault if "n" in body else sampling(body)
    async with engine(endpoint) as asking:
        assert replies(await vote(asking)) == ["seed 7", "seed 8", "seed 9"]
    assert [n for n, _ in asked(endpoint)] == [3, 3, None, None, None]


async def test_too_many_requests_is_no_reason_against_several(endpoint: Server) -> None:
    slow = failure(429, "slow down", Retry_After="0")
    waits = [slow, slow, slow]
    endpoint.respond = lambda body: waits.pop() if waits else sampling(body)
    async with engine(endpoint) as asking:
        await vote(asking)
    assert [n for n, _ in asked(endpoint)] == [3, 3, 3, 3]


async def test_several_that_take_too_long_are_asked_for_one_by_one(endpoint: Server) -> None:
    def respond(body: dict[str, Any]) -> Reply:
        reply = sampling(body)
        reply.delay = 30 if "n" in body else 0
        return reply

    endpoint.respond = respond
    async with engine(endpoint, bounds=Bounds(seconds=0.5)) as asking:
        assert replies(await vote(asking)) == ["seed 7", "seed 8", "seed 9"]
    assert asked(endpoint) == [(3, 7), (None, 7), (None, 8), (None, 9)]


async def test_what_fails_for_good_fails_every_sample_once(endpoint: Server) -> None:
    endpoint.respond = lambda _: failure(401, "no key")
    async with engine(endpoint) as asking:
        with pytest.raises(Unauthorized):
            await vote(asking)
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("lost", [{0}, {1}, {2}, {0, 1}, {1, 2}, {0, 2}])
async def test_a_resumed_round_asks_only_for_the_samples_that_it_lacks(
    endpoint: Server, lost: set[int]
) -> None:
    endpoint.respond = sampling
    whole, journal = MemoryJournal(), MemoryJournal()
    async with engine(endpoint) as asking:
        outcome = await vote(asking, journal=whole)
        for n, exchange in enumerate(outcome.exchanges):
            if n not in lost:
                await journal.record(n, exchange.call, exchange.completion)
        endpoint.requests.clear()
        again = await vote(asking, journal=journal)
        assert (again.result, again.transcript) == (outcome.result, outcome.transcript)
    if lost in ({0, 1}, {1, 2}):
        assert asked(endpoint) == [(2, 7 + min(lost))]
    else:
        assert sorted(asked(endpoint)) == [(None, 7 + n) for n in sorted(lost)]


async def test_each_sample_is_stored_by_itself(endpoint: Server) -> None:
    class Full(MemoryJournal):
        async def record(self, ordinal: int, step: Step, answer: Answer) -> None:
            if ordinal == 1:
                raise OSError("the disk is full")
            await super().record(ordinal, step, answer)

    endpoint.respond = sampling
    journal = Full()
    async with engine(endpoint) as asking:
        with pytest.raises(OSError, match="full"):
            await vote(asking, journal=journal)
    first, *_ = next(make(VOTE).solve(PROBLEM))
    assert isinstance(first, Call)
    assert journal.recall(0, first) == Completion("seed 7", usage=Usage(11, 7))
    assert journal.recall(1, first) is None


async def test_a_model_beside_another_is_asked_for_its_own_samples(endpoint: Server) -> None:
    endpoint.respond = sampling
    for_it = [replace(CALL, model="small", sample=n) for n in range(3)]
    async with engine(endpoint) as small:
        dispatch = Client(Scripted(["main"]), {"small": small})
        together = Sampler(dispatch)
        found = await asyncio.gather(together.complete(CALL), *map(together.complete, for_it))
    assert [one.text for one in found] == ["main", "seed 7", "seed 8", "seed 9"]
    assert asked(endpoint) == [(3, 7)]


class Takes:
    """An engine that takes groups, and answers them with one reply or an error."""

    def __init__(self, result: Completion | Exception) -> None:
        self.result = result
        self.asked: list[Call] = []

    def most_samples(self, group: SampledCall) -> int:
        return group.samples

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
        self.asked.append(call)
        if isinstance(self.result, Exception) and isinstance(call, SampledCall):
            raise self.result
        return Completion("single") if isinstance(self.result, Exception) else self.result


@pytest.mark.parametrize("error", [ServerFault("down"), ValueError("a bug")])
async def test_an_error_of_a_group_is_that_of_each_of_its_calls(error: Exception) -> None:
    together = Sampler(Takes(error))
    calls = [*(replace(CALL, sample=n) for n in range(2)), replace(CALL, stage="other")]
    results = await asyncio.gather(*map(together.complete, calls), return_exceptions=True)
    assert results == [error, error, Completion("single")]


async def test_an_engine_that_knows_no_groups_has_answered_the_first() -> None:
    takes = Takes(Completion("one"))
    together = Sampler(takes)
    calls = [replace(CALL, sample=n) for n in range(3)]
    assert len(await asyncio.gather(*map(together.complete, calls))) == 3
    assert [type(call) for call in takes.asked] == [SampledCall, Call, Call]


async def test_who_stops_waiting_stops_the_request() -> None:
    started, stopped = asyncio.Event(), asyncio.Event()

    class Waits(Takes):
        async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
            started.set()
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                stopped.set()
                raise
            return Completion("late")

    running = asyncio.create_task(vote(Waits(Completion(""))))
    await started.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert stopped.is_set()


async def test_scripts_reply_to_samples_one_by_one_and_in_order() -> None:
    script = Scripted(["a", "b", "c"])
    assert replies(await vote(script)) == ["a", "b", "c"]
    assert [call.sample for call in script.asked] == [0, 1, 2]
    with pytest.raises(EngineError, match="no reply left"):
        await vote(Scripted(["a", "b"]))
