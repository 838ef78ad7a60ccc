"""OpenAI's own client against our server: what works there works anywhere."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import openai
import pytest
from loopback import Endpoint as Server
from loopback import Reply, completion, failure, stream
from openai.types.chat import ChatCompletionUserMessageParam
from served import CUED, SPEC, Served, served

ASKED: list[ChatCompletionUserMessageParam] = [{"role": "user", "content": CUED}]


@asynccontextmanager
async def clients(
    endpoint: Server, key: str = "none", **settings: Any
) -> AsyncGenerator[tuple[openai.AsyncOpenAI, Served]]:
    async with served(endpoint.url, **settings) as server:
        client = openai.AsyncOpenAI(base_url=server.url, api_key=key, max_retries=0)
        async with client:
            yield client, server


@pytest.mark.parametrize("streams", [True, False])
async def test_a_completion(endpoint: Server, *, streams: bool) -> None:
    endpoint.script(completion(SPEC), stream("So ", r"\boxed{5}."))
    if not streams:
        endpoint.script(completion(SPEC), completion(r"So \boxed{5}."))
    asked: Any = {"model": "routed-cfr@test-model", "messages": ASKED, "stream": streams}
    asked |= {"stream_options": {"include_usage": True}} if streams else {}
    async with clients(endpoint) as (client, _):
        create: Any = client.chat.completions.create
        got: Any = await create(**asked)
        parts: list[Any] = [chunk async for chunk in got] if streams else [got]
    choices: list[Any] = [choice for part in parts for choice in part.choices]
    said: list[Any] = [choice.delta if streams else choice.message for choice in choices]
    assert said[0].role == "assistant"
    assert "".join(one.content or "" for one in said) == r"So \boxed{5}."
    thoughts = "".join(getattr(one, "reasoning_content", None) or "" for one in said)
    assert "taken modulo 7" in thoughts
    assert choices[-1].finish_reason == "stop"
    assert parts[-1].usage.total_tokens == 2 * 11 + 7 + (2 if streams else 7)
    assert parts[-2 if streams else 0].model_extra["cfr"]["answer"] == "5"


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (failure(400, "no"), openai.BadRequestError),
        (failure(404, "no"), openai.NotFoundError),
        (failure(422, "no"), openai.UnprocessableEntityError),
        (failure(429, "no", Retry_After="60"), openai.RateLimitError),
        (failure(500, "no"), openai.InternalServerError),
        (failure(401, "no"), openai.InternalServerError),
    ],
)
@pytest.mark.parametrize("streams", [True, False])
async def test_errors_are_the_clients_own(
    endpoint: Server, reply: Reply, kind: type[openai.APIStatusError], *, streams: bool
) -> None:
    endpoint.script(reply)
    async with clients(endpoint) as (client, _):
        with pytest.raises(kind) as error:
            await client.chat.completions.create(model="direct@", messages=ASKED, stream=streams)
    assert "HTTP" in error.value.message


@pytest.mark.parametrize("streams", [True, False])
async def test_a_client_that_goes_away_ends_the_call_upstream(
    endpoint: Server, *, streams: bool
) -> None:
    begun = stream("So ").chunks or ()
    endpoint.script(Reply(chunks=begun[:2] if streams else (), endless=b": wait\n\n"))
    async with clients(endpoint) as (client, server):
        asking = asyncio.create_task(
            client.chat.completions.create(model="direct@", messages=ASKED, stream=streams)
        )
        if streams:
            streaming: Any = await asking
            await anext(aiter(streaming))
            await streaming.close()
        else:
            while not endpoint.requests:
                await asyncio.sleep(0.01)
            asking.cancel()
        assert await asyncio.to_thread(endpoint.left.wait, 10)
        (line,) = await server.logged(1)
        assert (line["status"], line["error"]) == (499, "the client went away")


async def test_tools_pass_through_to_the_model(endpoint: Server) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "add", "arguments": "{}"}}
    reply = completion(None, "tool_calls", tool_calls=[call])
    reply.headers["Content-Type"] = "application/json"
    endpoint.script(reply)
    async with clients(endpoint) as (client, _):
        got = await client.chat.completions.create(
            model="auto@test-model",
            messages=ASKED,
            tools=[{"type": "function", "function": {"name": "add", "parameters": {}}}],
        )
    assert got.choices[0].message.tool_calls
    assert endpoint.requests[0]["model"] == "test-model"
    assert "temperature" not in endpoint.requests[0]  # nothing was added
