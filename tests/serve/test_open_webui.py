"""What Open WebUI sends in a short session: models, chat, title, another turn, stop."""

import asyncio
import json
from pathlib import Path
from typing import Any

import aiohttp
from loopback import Endpoint as Server
from loopback import Reply, completion, stream
from served import SPEC, Served, served

STEPS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "open_webui.json").read_text(encoding="utf-8")
)
TOKEN = "a-token-of-ours"  # noqa: S105
HEADERS = {
    "Authorization": f"Bearer {TOKEN}",
    "Content-Type": "application/json",
    "User-Agent": "Python/3.11 aiohttp/3.12",
    "X-OpenWebUI-User-Name": "somebody",
}


def respond(body: dict[str, Any]) -> Reply:
    asked = body["messages"][-1]["content"]
    if "title" in asked:
        return completion("🔢 Remainders of Powers")
    if "million" in asked:
        return Reply(chunks=(stream("1 2 3 ").chunks or ())[:2], endless=b": wait\n\n")
    return completion(SPEC) if "response_format" in body else stream("So ", r"\boxed{5}.")


async def follow(reply: aiohttp.ClientResponse) -> tuple[str, str]:
    """Read a stream as Open WebUI does: thinking apart, until the closing line."""
    thought = answer = ""
    async for line in reply.content:
        data = line.decode().strip()
        if data == "data: [DONE]":
            return thought, answer
        if data.startswith("data: "):
            for choice in json.loads(data[6:])["choices"]:
                thought += choice["delta"].get("reasoning_content") or ""
                answer += choice["delta"].get("content") or ""
    raise AssertionError("the stream has no end")


async def take(session: aiohttp.ClientSession, server: Served, step: dict[str, Any]) -> str:
    address, body = server.root + step["path"], step.get("body")
    async with session.request(step["verb"], address, json=body, headers=HEADERS) as reply:
        assert reply.status == 200, await reply.text()
        if step["expect"] == "stream":
            assert reply.headers["Content-Type"].startswith("text/event-stream")
            thought, answer = await follow(reply)
            assert "taken modulo 7" in thought
            return answer
        if step["expect"] == "stop":
            return (await reply.content.readany()).decode()  # and hang up in the middle
        return await reply.text()


async def test_a_session(endpoint: Server) -> None:
    endpoint.respond = respond
    async with (
        served(endpoint.url, token=TOKEN, methods=("routed-cfr-brief",)) as server,
        aiohttp.ClientSession() as session,
    ):
        models, first, title, second, begun = [await take(session, server, one) for one in STEPS]
        assert await asyncio.to_thread(endpoint.left.wait, 10)
        await server.logged(len(STEPS))
    names = [model["id"] for model in json.loads(models)["data"]]
    assert names == ["routed-cfr-brief@test-model", "test-model"]
    assert first == second == r"So \boxed{5}."
    assert "Remainders" in title
    assert "assistant" in begun
    assert [line["status"] for line in server.log] == [200, 200, 200, 200, 499]
    turns = endpoint.requests[-2]["messages"]
    assert [turn["role"] for turn in turns] == ["system", "user", "assistant", "user"]
    assert "$3^6$" in turns[-1]["content"]
    assert endpoint.requests[-2]["temperature"] == 0.3
