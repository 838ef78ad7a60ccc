"""Answers as they are written: over real sockets, from a real endpoint."""

import asyncio
from typing import Any

import aiohttp
import pytest
from loopback import Endpoint as Server
from loopback import Reply, completion, cut_stream, failure, stream
from served import CUED, PLAIN, SPEC, Served, chat, events, said, served

from constraint_first.model.transport import Bounds
from constraint_first.serve.service import UpstreamOptions

PROGRAM = "```python\nprint(3**5 % 7)\n```"


async def test_a_stream_from_its_role_to_its_end(endpoint: Server) -> None:
    endpoint.script(completion(SPEC), stream("243 = 34 · 7 ", "+ 5: ", r"\boxed{5}"))
    async with served(endpoint.url) as server:
        found = await events(server, "routed-cfr@", CUED, stream_options={"include_usage": True})
        (line,) = await server.logged(1)
    first, *_, finish, usage, done = found
    assert first["object"] == "chat.completion.chunk"
    assert first["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert said(found, "content") == r"243 = 34 · 7 + 5: \boxed{5}"
    reasoning = said(found, "reasoning_content")
    for part in ("Cues:", "“remainder”", "The text demands:", "Stage 1", "taken modulo 7"):
        assert part in reasoning
    assert "Stage 2" not in reasoning
    assert finish["choices"] == [
        {"index": 0, "delta": {}, "logprobs": None, "finish_reason": "stop"}
    ]
    assert finish["cfr"]["answer"] == "5"
    assert (usage["choices"], usage["usage"]["total_tokens"]) == ([], 18 + 14)
    assert done == "data: [DONE]"
    pieces = [e["choices"][0]["delta"].get("content") for e in found[1:-3]]
    assert [piece for piece in pieces if piece] == ["243 = 34 · 7 ", "+ 5: ", r"\boxed{5}"]
    assert (line["stream"], line["input_tokens"], line["output_tokens"]) == (True, 22, 10)


async def test_words_arrive_while_the_endpoint_still_writes(endpoint: Server) -> None:
    begun = stream("one ").chunks or ()
    endpoint.script(Reply(chunks=begun[:2], endless=b": wait\n\n"))
    body = {"model": "direct@", "stream": True, "messages": [{"role": "user", "content": PLAIN}]}
    async with served(endpoint.url) as server, aiohttp.ClientSession() as session:
        async with session.post(f"{server.url}/chat/completions", json=body) as reply:
            seen = b""
            while b"one " not in seen:
                seen += await reply.content.readany()
        assert await asyncio.to_thread(endpoint.left.wait, 10)


async def test_thinking_is_reasoning_wherever_the_endpoint_puts_it(endpoint: Server) -> None:
    endpoint.script(stream("<think>Let me ", "see.</think>", "\n\nIt is ", r"\boxed{243}"))
    async with served(endpoint.url) as server:
        found = await events(server)
        endpoint.script(completion(r"It is \boxed{243}", reasoning_content="Let me see."))
        _, body = await chat(server)
    assert said(found, "reasoning_content") == "Let me see."
    assert said(found, "content") == r"It is \boxed{243}"
    message = body["choices"][0]["message"]
    assert message["reasoning_content"] == "Let me see."
    assert message["content"] == r"It is \boxed{243}"


def vote_or_program(body: dict[str, Any]) -> Reply:
    asked = body["messages"][-1]["content"]
    if "program" in asked.lower() or "python" in asked.lower():
        return completion(PROGRAM)
    return completion(r"By hand: \boxed{5}")


@pytest.mark.parametrize("streams", [True, False])
async def test_a_program_is_work_and_its_answer_the_content(
    endpoint: Server, *, streams: bool
) -> None:
    endpoint.respond = vote_or_program
    async with served(endpoint.url) as server:
        if streams:
            found = await events(server, "program@", CUED)
            content, reasoning = said(found, "content"), said(found, "reasoning_content")
        else:
            _, body = await chat(server, "program@", CUED)
            message = body["choices"][0]["message"]
            content, reasoning = message["content"], message["reasoning_content"]
    assert content == f"{PROGRAM}\n\n**Answer:** $\\boxed{{5}}$"
    for part in ("**Output**", "```\n5\n```", "✓ The answer is a remainder"):
        assert part in reasoning


async def test_a_vote_works_first_and_answers_at_the_end(endpoint: Server) -> None:
    endpoint.respond = vote_or_program
    async with served(endpoint.url) as server:
        found = await events(server, "self-consistency(samples=3)@", CUED)
    assert said(found, "content") == r"By hand: \boxed{5}"
    assert said(found, "reasoning_content").count("By hand") == 3
    assert found[-2]["cfr"]["confidence"] > 0.8


async def test_a_comment_while_nothing_flows(endpoint: Server) -> None:
    slow = stream(r"\boxed{243}")
    slow.delay = 0.3
    endpoint.script(slow)
    async with served(endpoint.url, silence=0.05) as server:
        found = await events(server)
    comments = [one for one in found if one == ": still at work"]
    assert len(comments) >= 2
    assert found.index(": still at work") < len(found) - 3
    assert said(found, "content") == r"\boxed{243}"
    assert found[-1] == "data: [DONE]"


async def refused(server: Served, **fields: Any) -> tuple[int, Any, Any]:
    body = {"model": "direct@", "messages": [{"role": "user", "content": PLAIN}], **fields}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{server.url}/chat/completions", json=body) as reply,
    ):
        return reply.status, await reply.json(), reply.headers


@pytest.mark.parametrize("streams", [True, False])
async def test_a_limit_of_the_endpoint_reaches_the_client(
    endpoint: Server, *, streams: bool
) -> None:
    endpoint.script(failure(429, "too many requests", Retry_After="17"))
    async with served(endpoint.url) as server:
        status, body, headers = await refused(server, stream=streams)
    assert (status, headers["Retry-After"]) == (429, "17")
    assert body["error"]["type"] == "rate_limit_error"
    assert len(endpoint.requests) == 1


async def test_a_short_push_back_is_waited_for(endpoint: Server) -> None:
    busy = failure(429, "too many requests", Retry_After="0.01")
    endpoint.script(busy, busy, completion(r"\boxed{243}"))
    async with served(endpoint.url) as server:
        assert (await chat(server))[0] == 200
    assert len(endpoint.requests) == 3


@pytest.mark.parametrize("model", ["direct@", "test-model"])
@pytest.mark.parametrize("streams", [True, False])
async def test_an_endpoint_that_says_nothing_is_given_up(
    endpoint: Server, model: str, *, streams: bool
) -> None:
    silent = completion("too late")
    silent.delay = 30
    endpoint.script(silent)
    options = UpstreamOptions(bounds=Bounds(silence=0.1))
    async with served(endpoint.url, options=options) as server:
        status, body, _ = await refused(server, model=model, stream=streams)
    assert (status, body["error"]["code"]) == (504, "upstream_timeout")


async def test_a_stream_that_fails_after_its_first_word_says_so(endpoint: Server) -> None:
    endpoint.script(cut_stream("It ", "is "))
    async with served(endpoint.url) as server:
        found = await events(server)
        (line,) = await server.logged(1)
    assert said(found, "content") == "It is "
    assert found[-1]["error"]["code"] == "upstream_failed"
    assert "cut" in line["error"]
    assert len(endpoint.requests) == 1  # what was said cannot be said anew


async def test_work_that_is_cut_is_done_again(endpoint: Server) -> None:
    endpoint.script(cut_stream("```py"), stream(PROGRAM))
    async with served(endpoint.url) as server:
        found = await events(server, "program@", CUED)
    assert "asked again" in said(found, "reasoning_content")
    assert said(found, "content").startswith(PROGRAM)


async def test_one_attempt_that_fails_fails_the_request(endpoint: Server) -> None:
    bad, good = failure(400, "no"), completion(r"\boxed{243}")
    good.delay = 5
    endpoint.script(good, bad, good)
    async with served(endpoint.url) as server:
        status, body = await chat(server, n=3)
    assert (status, "HTTP 400" in body["error"]["message"]) == (400, True)


async def test_a_reply_that_the_budget_cut_says_length(endpoint: Server) -> None:
    endpoint.script(completion("It goes on and", "length"))
    async with served(endpoint.url) as server:
        _, body = await chat(server, max_tokens=5)
        found = await events(server, max_tokens=5)
    assert body["choices"][0]["finish_reason"] == "length"
    assert found[-2]["choices"][0]["finish_reason"] == "length"
