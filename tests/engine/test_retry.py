import asyncio
import time
from email.utils import formatdate

import pytest

from constraint_first.model.error import (
    BadReply,
    RateLimited,
    Rejected,
    ServerFault,
    StreamCut,
    Transient,
    Unreachable,
)
from constraint_first.model.limit import Retry, parse_retry_after


def _ignore(_fault: Transient, _pause: float) -> None:
    pass


class Flaky:
    def __init__(self, *faults: Exception) -> None:
        self.faults = list(faults)
        self.tries = 0

    async def __call__(self) -> str:
        self.tries += 1
        if self.faults:
            raise self.faults.pop(0)
        return "done"


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    return slept


async def test_a_passing_fault_is_asked_again(pauses: list[float]) -> None:
    told: list[tuple[Transient, float]] = []
    operation = Flaky(ServerFault("a"), ServerFault("b"))
    result = await Retry().run(operation, lambda fault, pause: told.append((fault, pause)))
    assert result == "done"
    assert operation.tries == 3
    assert [str(fault) for fault, _ in told] == ["a", "b"]
    assert [pause for _, pause in told] == pauses
    assert 0.025 <= pauses[0] <= 0.05 < 0.075 <= pauses[1] <= 0.15


async def test_the_last_fault_is_raised(pauses: list[float]) -> None:
    operation = Flaky(*(ServerFault(str(n)) for n in range(9)))
    with pytest.raises(ServerFault, match="2"):
        await Retry(attempts=3).run(operation, _ignore)
    assert len(pauses) == 2


async def test_a_refusal_is_final(pauses: list[float]) -> None:
    operation = Flaky(Rejected("no"))
    with pytest.raises(Rejected):
        await Retry().run(operation, _ignore)
    assert operation.tries == 1
    assert pauses == []


async def test_the_endpoint_says_how_long(pauses: list[float]) -> None:
    await Retry().run(Flaky(RateLimited("slow", 7.5)), _ignore)
    assert pauses == [7.5]


async def test_an_endpoint_that_wants_an_hour_has_said_no(pauses: list[float]) -> None:
    with pytest.raises(RateLimited):
        await Retry().run(Flaky(RateLimited("slow", 3600)), _ignore)
    assert pauses == []


def test_pauses_grow_to_a_limit() -> None:
    retry = Retry(first_pause=1, longest_pause=8)
    fault = ServerFault("x")
    assert all(1.5 <= retry.pause(2, fault) <= 3 for _ in range(50))
    assert all(4 <= retry.pause(30, fault) <= 8 for _ in range(50))


@pytest.mark.parametrize(
    ("kind", "growing"), [(ServerFault, False), (StreamCut, False), (RateLimited, True)]
)
async def test_a_fault_of_one_call_among_others_is_asked_again_soon(
    kind: type[Transient], *, growing: bool, pauses: list[float]
) -> None:
    retry, faults = Retry(), [kind("x") for _ in range(4)]

    async def operation() -> str:
        await retry.run(Flaky(), _ignore)  # meanwhile another call gets through
        if faults:
            raise faults.pop()
        return "done"

    assert await retry.run(operation, _ignore) == "done"
    assert (max(pauses) > 0.05) == growing
    assert len(pauses) == 4


@pytest.mark.parametrize("kind", [Unreachable, ServerFault, BadReply])
async def test_where_nobody_ever_answered_we_give_up_sooner(
    kind: type[Transient], pauses: list[float]
) -> None:
    retry = Retry()
    with pytest.raises(kind):
        await retry.run(Flaky(*[kind("x")] * 20), _ignore)
    assert len(pauses) == 5
    assert sum(pauses) < 6.1
    await retry.run(Flaky(), _ignore)
    pauses.clear()
    with pytest.raises(kind):
        await retry.run(Flaky(*[kind("x")] * 20), _ignore)
    assert len(pauses) == 7
    assert 25 < sum(pauses) < 56


async def test_no_try_begins_after_the_time_of_a_call(pauses: list[float]) -> None:
    operation = Flaky(*[ServerFault("x", 4.0)] * 9)
    with pytest.raises(ServerFault):
        await Retry(seconds=3).run(operation, _ignore)
    assert (operation.tries, pauses) == (1, [])


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("3", 3),
        ("0.5", 0.5),
        ("-1", 0),
        (None, None),
        ("", None),
        ("x", None),
        ("nan", None),
        ("inf", float("inf")),
        ("Mon, 01 Jan 2030 00:00:00 +99999999999999999", None),
        ("Mon, 01 Jan 2030 00:00:00 +9999", None),
        ("Mon, 01 Jan 99999 00:00:00 GMT", None),
        ("Mon, 32 Foo 2030 99:99:99", None),
        (" ", None),
    ],
)
def test_retry_after_in_seconds(value: str | None, seconds: float | None) -> None:
    assert parse_retry_after(value) == seconds


def test_retry_after_as_a_date() -> None:
    seconds = parse_retry_after(formatdate(time.time() + 90, usegmt=True))
    assert seconds is not None
    assert 80 <= seconds <= 90
    assert parse_retry_after("Mon, 01 Jan 2001 00:00:00 GMT") == 0
