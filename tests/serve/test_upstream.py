import asyncio
import re
from dataclasses import replace
from pathlib import Path

import pytest
from doubling import Doubling
from loopback import Endpoint as Server
from loopback import completion
from served import chat, events, served

from constraint_first.model.error import ModelNotFound, Rejected, Unreachable
from constraint_first.model.resolve import ModelRef
from constraint_first.protocol import Call, Completion
from constraint_first.serve import service as module
from constraint_first.serve.request import ChatRequest
from constraint_first.serve.service import UpstreamOptions, opened_upstream, request_decoding

CALL = Call.user("What is 2 + 2?", stage="direct", max_tokens=99)
OPTIONS = UpstreamOptions()
ASKED = request_decoding(ChatRequest("?"))


def ignore(call: Call, completion: Completion, seconds: float) -> None:
    """Hear of a call and do nothing."""


async def test_an_endpoint_that_is_away_can_be_opened() -> None:
    async with opened_upstream(ModelRef("m", "http://127.0.0.1:9/v1"), OPTIONS) as upstream:
        assert await upstream.find("") == "m"
        assert await upstream.models() == [{"id": "m", "object": "model", "owned_by": "upstream"}]
        assert upstream.shown == "m at http://127.0.0.1:9/v1"
    async with opened_upstream(ModelRef(None, "http://127.0.0.1:9/v1"), OPTIONS) as upstream:
        with pytest.raises(Unreachable):
            await upstream.models()


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


async def test_a_pace_holds_for_all(endpoint: Server) -> None:
    options = UpstreamOptions(requests_per_minute=6_000)
    async with opened_upstream(ModelRef("m", endpoint.url), options) as upstream:
        engine = upstream.client("m", (), ASKED, ignore)
        for _ in range(3):
            await engine.complete(CALL)
        assert len(endpoint.requests) == 3


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


async def test_models_of_several_endpoints_are_those_of_one_that_answers(
    endpoint: Server,
) -> None:
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
