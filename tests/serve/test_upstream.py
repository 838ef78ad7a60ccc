"""The endpoint behind a server."""

import asyncio
import re
from dataclasses import replace
from pathlib import Path

import pytest
from doubling import Doubling
from loopback import Endpoint as Server
from loopback import completion, failure
from served import chat, events, served

from constraint_first.model.client import Client, OpenAI
from constraint_first.model.error import ModelNotFound, Rejected
from constraint_first.model.limit import Retry
from constraint_first.model.resolve import ModelRef
from constraint_first.model.transport import DecodingRefused, Endpoint
from constraint_first.model.wire import Decoding
from constraint_first.protocol import Call, Completion
from constraint_first.serve import upstream as module
from constraint_first.serve.request import ChatRequest
from constraint_first.serve.upstream import RequestDecoding, UpstreamOptions, opened_upstream

CALL = Call.user("What is 2 + 2?", stage="direct", max_tokens=99)
OPTIONS = UpstreamOptions()
ASKED = RequestDecoding.of(ChatRequest("?"))


def ignore(call: Call, completion: Completion, seconds: float) -> None:
    """Hear of a call and do nothing."""


async def test_an_address_that_is_none_is_refused_at_once() -> None:
    with pytest.raises(Rejected):
        async with opened_upstream(ModelRef("m", "nowhere"), OPTIONS):
            pass


async def test_the_endpoint_lists_its_models_and_is_not_asked_all_the_time(
    endpoint: Server,
) -> None:
    endpoint.served = [{"id": "one", "owned_by": "me"}, {"id": "two"}]
    async with opened_upstream(ModelRef(None, endpoint.url), OPTIONS) as upstream:
        for _ in range(3):
            assert await upstream.models() == endpoint.served
        assert len(endpoint.headers) == 1
        with pytest.raises(ModelNotFound, match="METHOD@MODEL"):
            await upstream.find("")
        assert await upstream.find("any-other") == "any-other"


async def test_what_it_listed_last_holds_while_it_is_away(
    endpoint: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_FRESH", 0.0)
    async with opened_upstream(ModelRef(None, endpoint.url), OPTIONS) as upstream:
        assert await upstream.find("") == "test-model"
        endpoint.served = "nonsense"  # pyright: ignore[reportAttributeAccessIssue]
        assert await upstream.find("") == "test-model"


async def test_each_model_has_its_engine_over_the_same_connections(
    endpoint: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_KEPT", 2)
    async with opened_upstream(ModelRef("m", endpoint.url, context=5_000), OPTIONS) as upstream:
        first = upstream.engine("m")
        assert upstream.engine("m") is first
        assert (first.context, upstream.engine("other").context) == (5_000, None)
        for name in ("a", "b"):
            await upstream.engine(name).complete(CALL)
            upstream.prices(name, ())
        assert upstream.engine("m") is not first  # names that are made up push others out
        assert [sent["model"] for sent in endpoint.requests] == ["a", "b"]


async def test_a_method_with_another_model_beside_it(endpoint: Server) -> None:
    endpoint.script(completion("4"))
    ref = ModelRef("m", endpoint.url)
    async with opened_upstream(ref, OPTIONS, ["beside"]) as upstream:
        engine = upstream.client("m", ("beside",), ASKED, ignore)
        await engine.complete(CALL)
        beside = Call.user("?", stage="stage1", max_tokens=9, model="beside")
        await engine.complete(beside)
        assert [sent["model"] for sent in endpoint.requests] == ["m", "beside"]
        assert not upstream.prices("m", ("beside",)).has_prices


async def test_a_model_that_runs_here_has_one_name_and_local(pulled: list[str]) -> None:
    with pytest.raises(Exception, match="gguf"):
        async with opened_upstream(ModelRef(), OPTIONS):
            pass
    assert pulled
    assert not Path("/models").exists()


async def test_several_endpoints_are_one_upstream(endpoint: Server) -> None:
    with Server() as other:
        ref = ModelRef("test-model", [endpoint.url, other.url])
        async with opened_upstream(ref, UpstreamOptions(connections=7), ["small"]) as upstream:
            assert upstream.shown == f"test-model at {endpoint.url}, {other.url}"
            engine = upstream.client("test-model", ["small"], ASKED, ignore)
            for _ in range(4):
                await engine.complete(CALL)
            await engine.complete(replace(CALL, model="small"))
            assert upstream.balancer
            assert [one.limiter.most for one in upstream.balancer.replicas] == [7, 7]
            assert (len(endpoint.requests), len(other.requests)) == (3, 2)
            endpoint.die()
            assert (await engine.complete(CALL)).text
            assert (await engine.complete(CALL)).text


async def test_models_of_several_endpoints_are_those_of_one_that_answers(endpoint: Server) -> None:
    ref = ModelRef(None, ["http://127.0.0.1:9/v1", endpoint.url])
    async with opened_upstream(ref, OPTIONS) as upstream:
        assert await upstream.find("") == "test-model"


async def test_what_is_odd_about_several_endpoints_is_told(endpoint: Server) -> None:
    told: list[str] = []
    endpoint.served = [{"id": "test-model", "max_model_len": 9_000}]
    with Server() as other, Server() as third:
        other.served = [{"id": "another"}]
        third.served = [{"id": "test-model", "max_model_len": 8_000}]
        ref = ModelRef("test-model", [endpoint.url, other.url, third.url])
        async with opened_upstream(ref, OPTIONS) as upstream:
            await upstream.survey(told.append)
            assert f"{third.url}: 8000 tokens of context" in told[0]
            await asyncio.sleep(0)
            assert f"{other.url}: serves another, and {endpoint.url} test-model" in told[1]
            assert told[1].endswith(f"2 of 3 endpoints in use, {other.url} rests")


@pytest.mark.long
@pytest.mark.parametrize("ids", ["distinct", "x"])
@pytest.mark.parametrize("again", [0.01, 0.1])
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("model", ["test-model", "direct@"])
async def test_nobody_gets_the_reply_to_another(
    model: str, again: float, ids: str, *, stream: bool
) -> None:
    with Doubling(again=again, ids=ids) as endpoint:
        async with served(endpoint.url) as server:
            left = iter(range(60))

            async def ask() -> None:
                for number in left:
                    found = await (events if stream else chat)(
                        server, model, f"What is {number} + 1?"
                    )
                    assert set(re.findall(r"boxed\{(\d+)", str(found))) == {str(number + 1)}

            await asyncio.gather(*(ask() for _ in range(6)))
            assert sum("no longer kept alive" in note for note in server.notes) == 1


SOLVING = Call.user("What is 2 + 2?", stage="direct", max_tokens=99)
STAGE1 = Call.user("What is asked?", stage="stage1", max_tokens=99, json=True)
NO_TOP_P = failure(400, "top_p is not supported with this model")


async def ask(server: Server, asked: ChatRequest, *calls: Call) -> tuple[OpenAI, list[str]]:
    done: list[str] = []

    def note(call: Call, completion: Completion, seconds: float) -> None:
        assert seconds >= 0
        done.append(f"{call.stage}: {completion.text}")

    async with OpenAI(Endpoint(server.url, "m"), Decoding(seed=3), Retry(attempts=1)) as served:
        engine = Client(served, decoding=RequestDecoding.of(asked).over, done=note)
        for call in calls:
            await engine.complete(call)
    return served, done


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
