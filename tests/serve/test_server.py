"""A server from its start to its end."""

import asyncio
import gc
import socket
from typing import Any

import pytest
from loopback import Endpoint as Server
from loopback import Reply, stream
from served import chat, events, served

from constraint_first.error import InputError
from constraint_first.method.method import MethodError


async def test_it_says_where_it_is_what_it_does_and_for_whom(endpoint: Server) -> None:
    async with served(endpoint.url, methods=("auto", "direct")) as server:
        (line, *_) = server.notes
        with_what = "auto (calibrated(policy=unmeasured)), direct"
        assert (
            line
            == f"serving {server.url} with {with_what} in front of test-model at {endpoint.url}"
        )
    async with served(endpoint.url, model=None) as server:
        assert server.notes[0].endswith(f"with auto in front of its models at {endpoint.url}")


@pytest.mark.parametrize(("method", "said"), [("vote", True), ("direct", False)])
async def test_a_lack_of_sympy_is_said_where_programs_run(
    endpoint: Server, monkeypatch: pytest.MonkeyPatch, method: str, *, said: bool
) -> None:
    monkeypatch.setattr(
        "constraint_first.sandbox.interpreter.find_spec", {"pydantic_monty": True}.get
    )
    async with served(endpoint.url, methods=("direct", method)) as server:
        assert any("without sympy" in note for note in server.notes) is said


async def test_an_endpoint_that_is_away_is_named_and_no_reason_not_to_start() -> None:
    async with served("http://127.0.0.1:9/v1") as server:
        while len(server.notes) < 2:
            await asyncio.sleep(0.01)
        assert "cannot be reached" in server.notes[1]
        assert "requests are tried all the same" in server.notes[1]
        assert (await chat(server))[0] == 502


async def test_a_port_that_is_taken_is_said_before_anything_else(pulled: list[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(InputError, match=f"--port {port}: taken already on 127.0.0.1"):
            async with served("", model=None, port=port):
                pass
    assert pulled == []


@pytest.mark.parametrize(
    ("settings", "kind", "words"),
    [
        ({"methods": ("dirct",)}, MethodError, "did you mean 'direct'"),
        ({"host": "nowhere.invalid", "token": "x"}, InputError, "no address of this machine"),
        ({"host": "192.0.2.1", "token": "x"}, InputError, "cannot listen there"),
        ({"host": "0.0.0.0"}, InputError, "CFR_TOKEN"),  # noqa: S104
    ],
)
async def test_what_cannot_be_served_is_said_in_a_line(
    endpoint: Server, settings: dict[str, Any], kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind, match=words):
        async with served(endpoint.url, **settings):
            pass


async def test_the_grace_has_an_end_and_the_client_is_told(endpoint: Server) -> None:
    pieces = stream("one ").chunks or ()
    endpoint.respond = lambda body: (
        Reply(chunks=pieces[:2], endless=b": wait\n\n") if body.get("stream") else Reply(delay=60)
    )
    async with served(endpoint.url, grace=0.2) as server:
        whole = asyncio.create_task(chat(server))
        streamed = asyncio.create_task(events(server))
        while len(endpoint.requests) < 2:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        server.stop.set()
        status, body = await whole
        assert (status, body["error"]["code"]) == (503, "stopping")
        found = await streamed
        assert found[-1]["error"]["code"] == "stopping"
        await server.task
    assert await asyncio.to_thread(endpoint.left.wait, 10)
    assert {line["status"] for line in server.log} == {200, 503}


async def test_what_is_there_at_the_start_is_not_collected_again(endpoint: Server) -> None:
    """A collection of everything would stop all requests."""
    gc.unfreeze()
    async with served(endpoint.url):
        assert gc.get_freeze_count() > 10_000
    assert gc.get_freeze_count() == 0
    gc.freeze()  # as it was
