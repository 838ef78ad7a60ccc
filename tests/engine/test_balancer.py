import asyncio
from collections.abc import AsyncIterator, Callable

import pytest
from loopback import Endpoint as Server

from constraint_first.model.error import ModelNotFound, RateLimited, TimedOut, Unreachable
from constraint_first.model.limit import Limiter, Retry
from constraint_first.model.replicas import Balancer, Replica, Visit, list_models
from constraint_first.model.transport import Bounds, Endpoint

NOWHERE = frozenset[Replica]()
GONE = Unreachable("http://b/v1: cannot be reached")


@pytest.fixture
async def balancer() -> AsyncIterator[Balancer]:
    """Three endpoints of two places each; nothing is sent to them."""
    endpoints = [Endpoint(f"http://127.0.0.1:9/{name}", "m") for name in "abc"]
    made = Balancer.over(endpoints, Bounds(), 2)
    made.pauses = Retry(first_pause=60)
    await made.open()
    yield made
    await made.close()


async def take(balancer: Balancer, places: int = 1, *tried: Replica) -> Visit:
    visit = await balancer.turn(places, frozenset(tried))
    assert visit
    return visit


async def until(holds: Callable[[], object]) -> None:
    async with asyncio.timeout(20):
        while not holds():
            await asyncio.sleep(0.005)


async def test_the_least_busy_comes_first_and_of_equals_the_least_asked(
    balancer: Balancer,
) -> None:
    a, b, c = balancer.replicas
    visits = [await take(balancer) for _ in range(6)]
    assert [one.replica for one in visits] == [a, b, c, a, b, c]
    balancer.leave(visits[1])
    assert (await take(balancer)).replica is b
    for one in (visits[2], visits[5], visits[0]):
        balancer.leave(one)
    assert (await take(balancer)).replica is c
    assert (await take(balancer)).replica is a  # as busy as c, and asked less


async def test_whoever_waits_gets_the_place_that_is_free_first(balancer: Balancer) -> None:
    visits = [await take(balancer) for _ in range(6)]
    waiting = [asyncio.create_task(take(balancer)) for _ in range(2)]
    await asyncio.sleep(0)
    balancer.leave(visits[2])
    balancer.leave(visits[0])
    found = await asyncio.gather(*waiting)
    assert [one.replica for one in found] == [visits[2].replica, visits[0].replica]


async def test_a_group_is_not_overtaken_for_ever(balancer: Balancer) -> None:
    visits = [await take(balancer) for _ in range(6)]
    group = asyncio.create_task(take(balancer, 2))
    await asyncio.sleep(0)
    single = asyncio.create_task(take(balancer))
    await asyncio.sleep(0)
    balancer.leave(visits[0])
    await asyncio.sleep(0)
    assert not single.done()
    balancer.leave(visits[3])
    assert (await group).replica is visits[0].replica
    balancer.leave(visits[1])
    assert (await single).replica is visits[1].replica


async def test_a_call_that_failed_goes_elsewhere_and_holds_nobody_up(balancer: Balancer) -> None:
    a, b, c = balancer.replicas
    visits = [await take(balancer) for _ in range(6)]
    elsewhere = asyncio.create_task(take(balancer, 1, a, b))
    anywhere = asyncio.create_task(take(balancer))
    await asyncio.sleep(0)
    balancer.leave(visits[0])
    assert (await anywhere).replica is a
    assert not elsewhere.done()
    balancer.leave(visits[2])
    assert (await elsewhere).replica is c
    assert await balancer.turn(1, frozenset(balancer.replicas)) is None


async def test_whoever_gives_up_waiting_passes_its_turn_on(balancer: Balancer) -> None:
    visits = [await take(balancer) for _ in range(6)]
    first, second = (asyncio.create_task(take(balancer)) for _ in range(2))
    await asyncio.sleep(0)
    balancer.leave(visits[0])  # the turn of the first one
    first.cancel()
    assert (await second).replica is visits[0].replica
    third = asyncio.create_task(balancer.turn(1, NOWHERE))
    await asyncio.sleep(0)
    third.cancel()
    await asyncio.gather(first, third, return_exceptions=True)
    balancer.leave(visits[1])
    assert sum(one.limiter.in_flight for one in balancer.replicas) == 5


async def test_one_that_rests_is_passed_over(balancer: Balancer) -> None:
    a, _, c = balancer.replicas
    visit = await take(balancer, 1, a, c)
    balancer.failed(visit, GONE)
    balancer.leave(visit)
    assert [(await take(balancer)).replica for _ in range(4)] == [a, c, a, c]
    assert balancer.status == "2 of 3 endpoints in use, http://127.0.0.1:9/b rests"
    assert balancer.has_other(frozenset([a]))
    assert not balancer.has_other(frozenset([a, c]))
    assert balancer.seconds_to_next() == 0


async def test_those_who_wait_for_one_that_begins_to_rest_are_told(balancer: Balancer) -> None:
    a, b, c = balancer.replicas
    visits = [await take(balancer, 1, a, c) for _ in range(2)]
    waiting = asyncio.create_task(balancer.turn(1, frozenset([a, c])))
    await asyncio.sleep(0)
    balancer.failed(visits[0], GONE)
    assert await waiting is None
    assert b.resting


async def test_while_all_rest_each_may_be_asked_and_a_reply_ends_a_rest(
    balancer: Balancer,
) -> None:
    for one in balancer.replicas:
        balancer.rest(one, GONE)
    await asyncio.sleep(0)
    assert balancer.status.startswith("0 of 3 endpoints in use, http://127.0.0.1:9/a, ")
    assert balancer.status.endswith("/b and 1 more rest")
    assert 10 < balancer.seconds_to_next() <= 60
    visit = await take(balancer)
    assert await balancer.turn(1, frozenset([visit.replica])) is None
    balancer.answered(visit)
    assert balancer.status.startswith("1 of 3 endpoints in use")
    assert (visit.replica.resting, visit.replica.in_a_row) == (None, 0)


@pytest.fixture
async def looked(endpoint: Server) -> AsyncIterator[tuple[Balancer, list[str]]]:
    """Two that rest briefly, the second of which can be asked; and what is told of them."""
    told: list[str] = []
    endpoints = [Endpoint("http://127.0.0.1:9/v1", "test-model"), Endpoint(endpoint.url, "")]
    made = Balancer.over(endpoints, Bounds(), 2)
    made.tell, made.pauses = told.append, Retry(first_pause=0.001, longest_pause=0.001)
    await made.open()
    yield made, told
    await made.close()


async def test_after_a_rest_it_is_looked_at(looked: tuple[Balancer, list[str]]) -> None:
    balancer, told = looked
    away, there = balancer.replicas
    balancer.rest(away, GONE)
    balancer.rest(there, GONE)
    await until(lambda: not there.resting and away.in_a_row > 2)
    assert away.resting
    assert told[0].startswith("http://127.0.0.1:9/v1: cannot be reached")
    assert len(told) == 1  # the other came back before it was worth a word
    assert there in balancer.listings


async def test_one_that_comes_back_with_another_model_goes_on_resting(
    looked: tuple[Balancer, list[str]], endpoint: Server
) -> None:
    balancer, told = looked
    _, there = balancer.replicas
    balancer.listings[balancer.replicas[0]] = await list_models(there)
    there.name_model("test-model")
    endpoint.served = [{"id": "another"}]
    balancer.rest(there, GONE)
    await until(lambda: isinstance(there.fault, ModelNotFound) and told)
    assert "serves another, and" in told[-1]
    endpoint.served = [{"id": "test-model"}]
    await until(lambda: not there.resting)
    assert told[-1].endswith(": asked again; 2 of 2 endpoints in use")


async def test_one_without_a_list_is_back_when_it_answers_at_all(
    looked: tuple[Balancer, list[str]], endpoint: Server
) -> None:
    balancer, _ = looked
    _, there = balancer.replicas
    there.transport.endpoint = Endpoint(endpoint.url + "/other", "m")
    balancer.rest(there, GONE)
    await until(lambda: not there.resting)


async def test_one_that_asked_for_a_pause_is_not_looked_at(
    looked: tuple[Balancer, list[str]], endpoint: Server
) -> None:
    balancer, _ = looked
    _, there = balancer.replicas
    balancer.rest(there, RateLimited("slow down", 0.001))
    await until(lambda: not there.resting)
    assert not endpoint.headers


async def test_a_list_that_does_not_come(
    looked: tuple[Balancer, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("constraint_first.model.replicas._LISTING", 0.0)
    with pytest.raises(TimedOut, match="did not list its models in time"):
        await list_models(looked[0].replicas[1])


async def test_every_endpoint_has_limits_of_its_own(balancer: Balancer) -> None:
    balancer.limit(lambda: Limiter(1))
    assert len({id(one.limiter) for one in balancer.replicas}) == 3
    assert [(await take(balancer)).places for _ in range(3)] == [1, 1, 1]
