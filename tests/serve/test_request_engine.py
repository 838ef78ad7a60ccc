import json

import pytest
from loopback import Endpoint as Server
from loopback import completion, failure

from constraint_first.model.client import Client
from constraint_first.model.error import Rejected
from constraint_first.model.limit import Retry
from constraint_first.model.openai import OpenAI
from constraint_first.model.transport import DecodingRefused, Endpoint
from constraint_first.model.wire import Decoding
from constraint_first.protocol import Call, Completion
from constraint_first.serve.request import ChatRequest
from constraint_first.serve.service import request_decoding

SOLVING = Call.user("What is 2 + 2?", stage="direct", max_tokens=99)
STAGE1 = Call.user("What is asked?", stage="stage1", max_tokens=99, json=True)
NO_TOP_P = failure(400, "top_p is not supported with this model")


async def ask(server: Server, asked: ChatRequest, *calls: Call) -> tuple[OpenAI, list[str]]:
    done: list[str] = []

    def note(call: Call, completion: Completion, seconds: float) -> None:
        assert seconds >= 0
        done.append(f"{call.stage}: {completion.text}")

    async with OpenAI(Endpoint(server.url, "m"), Decoding(seed=3), Retry(attempts=1)) as served:
        engine = Client(served, decoding=request_decoding(asked).over, done=note)
        for call in calls:
            await engine.complete(call)
    return served, done


async def test_what_a_request_says_goes_over_what_is_usual(endpoint: Server) -> None:
    asked = ChatRequest("?", chosen={"temperature": 0.1}, stop=("END",), extra={"top_k": 4})
    _, done = await ask(endpoint, asked, SOLVING, STAGE1)
    solving, stage1 = endpoint.requests
    assert [r["temperature"] for r in endpoint.requests] == [0.1, 0.1]
    assert [(r["top_p"], r["seed"], r["top_k"]) for r in endpoint.requests] == [(0.95, 3, 4)] * 2
    assert solving["stop"] == ["END"]
    assert "stop" not in stage1  # it would cut a list of constraints off
    assert [one.partition(":")[0] for one in done] == ["direct", "stage1"]


async def test_a_request_that_says_nothing_is_decoded_as_usual(endpoint: Server) -> None:
    await ask(endpoint, ChatRequest("?"), SOLVING)
    (sent,) = endpoint.requests
    assert (sent["temperature"], sent["top_p"], sent["seed"]) == (0.7, 0.95, 3)


async def test_a_setting_of_the_server_that_is_refused_is_left_out_for_everybody(
    endpoint: Server,
) -> None:
    endpoint.script(NO_TOP_P, completion("4"))
    served, _ = await ask(endpoint, ChatRequest("?", chosen={"temperature": 0.1}), SOLVING)
    assert [("top_p" in sent, sent["temperature"]) for sent in endpoint.requests] == [
        (True, 0.1),
        (False, 0.1),
    ]
    assert served.decoding.top_p is None
    assert served.decoding.temperature == 0.7


async def test_a_setting_of_the_client_that_is_refused_is_the_clients_error(
    endpoint: Server,
) -> None:
    endpoint.script(NO_TOP_P)
    with pytest.raises(DecodingRefused):
        await ask(endpoint, ChatRequest("?", chosen={"top_p": 0.5}), SOLVING)
    assert len(endpoint.requests) == 1


async def test_a_refusal_that_goes_on_is_an_error(endpoint: Server) -> None:
    endpoint.script(NO_TOP_P)
    with pytest.raises(Rejected):
        await ask(endpoint, ChatRequest("?", extra={"top_k": 4}), SOLVING)
    assert len(endpoint.requests) == 2


def test_fields_are_written_once() -> None:
    decoding = request_decoding(ChatRequest("?", stop=("a", "b"), extra={"user": "ü"}))
    assert json.loads(decoding.extra) == {"user": "ü"}
    assert json.loads(decoding.extra_solving) == {"user": "ü", "stop": ["a", "b"]}
