"""Models that refuse a setting of the decoding: met once, said, and never behind anybody's back."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from loopback import Endpoint as Server
from loopback import Reply, completion, failure

from constraint_first.model.error import Rejected
from constraint_first.model.openai import OpenAI
from constraint_first.model.transport import DecodingRefused, Endpoint
from constraint_first.model.wire import SILENT, Decoding, Watcher
from constraint_first.protocol import Call

CALL = Call.user("What is $2+2$?", stage="direct", max_tokens=32_768)


class Watching(Watcher):
    """A watcher that keeps what it is told about settings."""

    def __init__(self) -> None:
        self.changes: list[str] = []

    def adapted(self, call: Call, change: str) -> None:
        self.changes.append(change)


def engine(server: Server) -> OpenAI:
    return OpenAI(Endpoint(server.url, "m"), Decoding(seed=3))


def refusing(*names: str, message: str = "") -> Callable[[dict[str, Any]], Reply]:
    """Play a model that does not take some parameters."""

    def respond(body: dict[str, Any]) -> Reply:
        for name in names:
            if name in body:
                return failure(400, message or f"Unsupported parameter: '{name}' is not supported.")
        return completion("4")

    return respond


async def test_a_setting_that_the_model_refuses_is_left_out_once_and_said(endpoint: Server) -> None:
    endpoint.respond = refusing("temperature", "top_p", "seed")
    watcher = Watching()
    async with engine(endpoint) as asked:
        assert (await asked.complete(CALL, watcher)).text == "4"
        assert asked.decoding == Decoding(None, None, None)
        await asked.complete(CALL, watcher)
    assert len(endpoint.requests) == 5
    assert [change.split()[0] for change in watcher.changes] == ["temperature", "top_p", "seed"]


async def test_calls_at_the_same_time_hear_of_a_refusal_once(endpoint: Server) -> None:
    endpoint.respond = refusing("temperature")
    watcher = Watching()
    async with engine(endpoint) as asked:
        await asyncio.gather(*(asked.complete(CALL, watcher) for _ in range(8)))
    assert len(watcher.changes) == 1


@pytest.mark.parametrize(
    "message",
    [
        "max_tokens is too large: 32768. This model supports at most 4096 completion tokens",
        "Invalid max_tokens value, the valid range of max_tokens is [1, 4096]",
    ],
)
async def test_a_budget_that_the_model_refuses_is_lowered_once_and_said(
    endpoint: Server, message: str
) -> None:
    endpoint.respond = lambda body: (
        failure(400, message) if body["max_tokens"] > 4_096 else completion("4")
    )
    watcher = Watching()
    async with engine(endpoint) as asked:
        await asked.complete(CALL, watcher)
        assert asked.decoding.max_tokens == 4_096
    assert [body["max_tokens"] for body in endpoint.requests] == [32_768, 4_096]
    assert watcher.changes == ["max_tokens is lowered to 4096, the most that the model takes"]


async def test_a_decoding_that_is_given_is_kept_or_refused(endpoint: Server) -> None:
    endpoint.respond = refusing("temperature")
    async with engine(endpoint) as asked:
        with pytest.raises(
            DecodingRefused, match="choose another --temperature, or none"
        ) as caught:
            await asked.complete(CALL, SILENT, Decoding())
        without = caught.value.adapt(Decoding())
        assert (await asked.complete(CALL, SILENT, without)).text == "4"
    assert len(endpoint.requests) == 2


@pytest.mark.parametrize("given", [None, Decoding(None, None, max_tokens=9)])
async def test_a_refusal_of_what_is_not_sent_is_final(
    endpoint: Server, given: Decoding | None
) -> None:
    for message in ("temperature is not supported", "max_tokens must be <= 5"):
        endpoint.script(failure(400, message))
        async with engine(endpoint) as asked:
            with pytest.raises(Rejected) as caught:
                await asked.complete(CALL, SILENT, given)
        assert type(caught.value) is Rejected
