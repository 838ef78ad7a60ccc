"""Samples in one request, all the way from a vote to its rows in the store."""

import asyncio
from collections import Counter
from typing import Any

import pytest
import sqlalchemy as sa
from loopback import Endpoint as Server
from loopback import Reply, choices, failure
from sums import number_in, sums

from constraint_first.model.budget import Budget
from constraint_first.model.client import Client, ServedModel
from constraint_first.model.limit import Limiter, Retry
from constraint_first.model.openai import OpenAI
from constraint_first.model.resolve import Price
from constraint_first.model.transport import Endpoint
from constraint_first.model.wire import Decoding
from constraint_first.run.job import Job, prepare, run
from constraint_first.store import schema
from constraint_first.store.series import Series
from constraint_first.store.store import Store

PROBLEMS = sums(6)
SERIES = Series("sums", "self-consistency(samples=3)", "m", Decoding(seed=5))


def sampling(body: dict[str, Any]) -> Reply:
    """Play an endpoint that has ``n``, and says in each reply which seed it had."""
    number, count = number_in(body), body.get("n") or 1
    texts = [f"Seed {body['seed'] + n}: \\boxed{{{number + 1}}}" for n in range(count)]
    return choices(*texts)


async def evaluate(url: str, server: Server, budget: Budget | None = None) -> Job:
    retry = Retry(first_pause=0.001)
    async with OpenAI(Endpoint(server.url, "m"), retry=retry) as engine:
        served = ServedModel(engine, Limiter(4), Price(1.0, 1.0))
        with Store(url) as store, store.exclusively():
            asking = Client(served, decoding=SERIES.decoding, budget=budget)
            job = prepare(store, SERIES, PROBLEMS, 2, asking)
            await run(store, [job], width=8)
    return job


def stored(url: str) -> Counter[tuple[int, int, int, str]]:
    calls = schema.calls.c
    query = sa.select(calls.problem, calls.run, calls.ordinal, calls.text)
    with Store(url) as store:
        return Counter(tuple(row) for row in store.read(query))


def expected() -> Counter[tuple[int, int, int, str]]:
    return Counter(
        (n + 1, run, sample, f"Seed {5 + 1_000 * run + sample}: \\boxed{{{n + 1}}}")
        for n in range(len(PROBLEMS))
        for run in range(2)
        for sample in range(3)
    )


async def test_a_vote_is_one_request_and_three_calls_in_the_store(
    url: str, endpoint: Server
) -> None:
    endpoint.respond = sampling
    job = await evaluate(url, endpoint)
    assert [body["n"] for body in endpoint.requests] == [3] * 12
    assert {body["seed"] for body in endpoint.requests} == {5, 1_005}
    assert job.tally.correct == 12
    assert stored(url) == expected()
    usage = job.tally.usage
    assert (usage.input, usage.shared, usage.output) == (36 * 11, 24 * 11, 36 * 7)


async def test_of_a_round_that_was_cut_short_only_the_missing_samples_are_asked_for(
    url: str, endpoint: Server
) -> None:
    endpoint.respond = sampling
    await evaluate(url, endpoint)
    calls = schema.calls
    with Store(url) as store:
        store.change(lambda connection: connection.execute(schema.attempts.delete()))
        lost = calls.delete().where(calls.c.problem == 1, calls.c.ordinal > 0)
        store.change(lambda connection: connection.execute(lost))
        last = calls.delete().where(calls.c.problem == 2, calls.c.ordinal == 2)
        store.change(lambda connection: connection.execute(last))
    endpoint.requests.clear()
    job = await evaluate(url, endpoint)
    asked = Counter((body.get("n"), body["seed"]) for body in endpoint.requests)
    assert asked == Counter([(2, 6), (2, 1_006), (None, 7), (None, 1_007)])
    assert stored(url) == expected()
    assert (job.tally.usage.input, job.tally.usage.shared) == (36 * 11, 24 * 11)


async def test_a_budget_pays_the_prompt_of_a_group_once(url: str, endpoint: Server) -> None:
    endpoint.respond = sampling
    budget = Budget(max_tokens=10**9)
    await evaluate(url, endpoint, budget)
    assert budget.tokens == 12 * (11 + 3 * 7)


@pytest.mark.parametrize("fault", [failure(503, "busy"), None])
async def test_whatever_an_endpoint_makes_of_several_every_attempt_is_there(
    url: str, endpoint: Server, fault: Reply | None
) -> None:
    def respond(body: dict[str, Any]) -> Reply:
        return fault if fault and "n" in body else sampling({**body, "n": 1})

    endpoint.respond = respond
    async with asyncio.timeout(60):
        job = await evaluate(url, endpoint)
    assert job.tally.complete
    assert stored(url) == expected()
