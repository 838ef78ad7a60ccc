import json
from collections.abc import Callable
from typing import Any

import pytest

from constraint_first.model.batch import (
    NOT_PERFORMED,
    BatchModel,
    Deferred,
    Place,
    PlacedCall,
    Request,
    RequestId,
    Result,
)
from constraint_first.model.error import Rejected, ServerFault
from constraint_first.model.resolve import Price
from constraint_first.model.transport import Bounds, DecodingRefused, Endpoint
from constraint_first.model.wire import Decoding
from constraint_first.protocol import Message, Usage

CALL = PlacedCall(
    (Message("user", "What is 1 + 1?"),),
    "direct",
    100,
    json=True,
    place=Place(1, 2, 3, 4),
    asked="x",
)
REPLY = {
    "choices": [{"message": {"content": "2"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 5, "completion_tokens": 1},
}


class Waves:
    """Plays a wave: results by body, and all that it is told."""

    def __init__(self, find: Callable[[RequestId], Result | None], tries: int = 1) -> None:
        self._find = find
        self.requests: list[Request] = []
        self.used: list[Usage | None] = []
        self._tries = tries

    def find(self, name: RequestId) -> Result | None:
        return self._find(name)

    def failed(self, name: RequestId) -> bool:
        self._tries -= 1
        return self._tries >= 0

    def spent(self, name: RequestId, used: Usage | None, price: Price | None) -> None:
        self.used.append(used)

    def ask(self, request: Request) -> None:
        self.requests.append(request)


def said(status: int, body: Any) -> Result:
    return Result(status, json.dumps(body).encode())


def model(waves: Waves) -> BatchModel:
    made = BatchModel(Endpoint("http://a/v1", "m"), "http://a/v1", Bounds())
    made.wave = waves
    return made


async def test_a_call_without_a_result_is_deferred_and_becomes_a_request() -> None:
    waves = Waves(lambda _: None)
    with pytest.raises(Deferred):
        await model(waves).complete(CALL, decoding=Decoding(seed=5))
    (request,) = waves.requests
    assert request.name.place == CALL.place
    assert json.loads(request.body) == {
        "model": "m",
        "messages": [{"role": "user", "content": "What is 1 + 1?"}],
        "max_tokens": 100,
        "temperature": 0.7,
        "top_p": 0.95,
        "seed": 5,
        "response_format": {"type": "json_object"},
    }
    assert request.most == Usage(14 + 64, 100)


async def test_a_result_is_the_completion() -> None:
    waves = Waves(lambda _: said(200, REPLY))
    completion = await model(waves).complete(CALL)
    assert (completion.text, completion.usage) == ("2", Usage(5, 1))
    assert waves.used == [Usage(5, 1)]
    assert not waves.requests


async def test_a_parameter_that_is_refused_is_left_out_of_the_next_request() -> None:
    refused: list[str] = []

    def find(name: RequestId) -> Result | None:
        refused.append(name.body)
        known = {refused[0]: said(400, {"error": {"message": "response_format is unknown"}})}
        return known.get(name.body)

    waves = Waves(find)
    with pytest.raises(Deferred):
        await model(waves).complete(CALL)
    (request,) = waves.requests
    assert "response_format" not in json.loads(request.body)
    assert waves.used == [Usage()]


async def test_a_refusal_and_a_refused_setting_are_those_of_an_ordinary_call() -> None:
    waves = Waves(lambda _: said(400, {"error": {"message": "bad"}}))
    with pytest.raises(Rejected, match=r"http://a/v1: HTTP 400 \(bad\)"):
        await model(waves).complete(CALL)
    waves = Waves(lambda _: said(400, {"error": {"message": "temperature is not supported"}}))
    with pytest.raises(DecodingRefused):
        await model(waves).complete(CALL, decoding=Decoding())


@pytest.mark.parametrize(
    ("result", "used"),
    [
        (said(500, {"error": {"message": "down"}}), Usage()),
        (Result(NOT_PERFORMED, b'{"error": {"message": "expired"}}'), Usage()),
        (said(200, {"odd": True}), None),
    ],
)
async def test_what_may_pass_is_asked_again_as_often_as_it_may(
    result: Result, used: Usage | None
) -> None:
    waves = Waves(lambda _: result)
    asked = model(waves)
    with pytest.raises(Deferred):
        await asked.complete(CALL)
    assert len(waves.requests) == 1
    assert waves.used == [used]
    with pytest.raises(Exception, match=r"down|expired|no choices"):
        await asked.complete(CALL)
    assert len(waves.requests) == 1


async def test_what_somebody_cancelled_is_not_asked_again() -> None:
    waves = Waves(lambda _: Result(NOT_PERFORMED, b"cancelled", cancelled=True))
    with pytest.raises(Rejected, match="not performed"):
        await model(waves).complete(CALL)
    with pytest.raises(ServerFault):
        await model(Waves(lambda _: Result(NOT_PERFORMED, b"x"), tries=0)).complete(CALL)


async def test_it_is_asked_between_waves_alone() -> None:
    made = BatchModel(Endpoint("http://a/v1", "m", context=4_096), "http://a/v1", Bounds())
    assert (made.model, made.context) == ("m", 4_096)
    with pytest.raises(RuntimeError, match="between two waves"):
        await made.complete(CALL)
