import asyncio
from typing import Any

import pytest

from constraint_first.serve.context import Served
from constraint_first.serve.guard import Admission
from constraint_first.serve.setting import RequestError


class Crowd:
    """Requests that hold their places until they are told to leave."""

    def __init__(self, most: int = 2, waiting: int = 2, seconds: float = 60) -> None:
        self.admission = Admission(most, waiting, seconds)
        self.leave: dict[str, asyncio.Event] = {}
        self.inside: list[str] = []
        self.served: dict[str, Served] = {}

    @property
    def counts(self) -> tuple[int, int]:
        return self.admission.under_way, self.admission.waiting

    def come(self, name: str) -> asyncio.Task[Any]:
        self.leave[name], self.served[name] = asyncio.Event(), Served()

        async def visit() -> None:
            async with self.admission.place(self.served[name]):
                self.inside.append(name)
                await self.leave[name].wait()

        return asyncio.create_task(visit())


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_so_many_at_a_time_and_the_rest_in_order() -> None:
    crowd = Crowd()
    tasks = [crowd.come(name) for name in "abcd"]
    await settle()
    assert crowd.inside == ["a", "b"]
    assert crowd.counts == (2, 2)
    crowd.leave["b"].set()
    await settle()
    assert crowd.inside == ["a", "b", "c"]
    for event in crowd.leave.values():
        event.set()
    await asyncio.gather(*tasks)
    assert (crowd.inside, crowd.counts) == (["a", "b", "c", "d"], (0, 0))


async def test_too_many_are_refused_with_a_time_to_come_back() -> None:
    crowd = Crowd(most=1, waiting=1)
    tasks = [crowd.come(name) for name in "abc"]
    await settle()
    with pytest.raises(RequestError, match="1 wait") as error:
        await tasks[2]
    assert (error.value.status, error.value.retry_after) == (503, 1)
    for name in "ab":
        crowd.leave[name].set()
    await asyncio.gather(*tasks[:2])


async def test_whoever_gives_up_leaves_the_queue_in_order() -> None:
    crowd = Crowd(most=1)
    tasks = [crowd.come(name) for name in "abc"]
    await settle()
    tasks[1].cancel()
    await settle()
    assert crowd.counts == (1, 1)
    crowd.leave["a"].set()
    await settle()
    assert crowd.inside == ["a", "c"]
    tasks[2].cancel()
    await settle()
    assert crowd.counts == (0, 0)


async def test_a_turn_that_comes_as_it_is_given_up_goes_to_the_next() -> None:
    crowd = Crowd(most=1)
    tasks = [crowd.come(name) for name in "abc"]
    await settle()
    crowd.leave["a"].set()
    await tasks[0]  # b has its turn now, and has not noticed yet
    tasks[1].cancel()
    await settle()
    assert crowd.inside[-1] == "c"
    crowd.leave["c"].set()
    await tasks[2]
    assert crowd.admission.under_way == 0


async def test_a_request_has_an_end_and_waiting_counts() -> None:
    crowd = Crowd(most=1, seconds=0.05)
    tasks = [crowd.come(name) for name in "ab"]
    for task in tasks:
        with pytest.raises(RequestError, match=r"not done after 0\.05 s") as error:
            await task
        assert error.value.status == 504
    assert crowd.admission.under_way == 0


async def test_an_error_of_the_request_itself_is_its_own() -> None:
    with pytest.raises(TimeoutError, match="mine"):
        async with Crowd().admission.place(Served()):
            raise TimeoutError("mine")


async def test_at_the_end_nobody_comes_in_and_those_inside_have_their_grace() -> None:
    crowd = Crowd(most=2)
    quick, slow = crowd.come("quick"), crowd.come("slow")
    await settle()
    crowd.admission.stop(0.05)
    with pytest.raises(RequestError, match="being stopped") as error:
        await crowd.come("late")
    assert error.value.status == 503
    crowd.leave["quick"].set()
    await quick
    with pytest.raises(RequestError, match="being stopped"):
        await slow
    assert crowd.served["slow"].why_cancelled == "the server is being stopped"
