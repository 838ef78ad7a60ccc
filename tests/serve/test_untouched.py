"""What ``auto`` passes to the endpoint as it came, over real sockets."""

from typing import Any

import pytest
from loopback import Endpoint, completion
from served import CUED, chat, events, served

KNOWN = "qwen2.5-coder-1.5b-instruct"
PAPER = "Qwen/Qwen3.5-9B"
REPORT = "In 2023 the plant made 4,120 cars with 310 workers; in 2024 it made 5,005. " * 20


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


CHATS: list[list[dict[str, Any]]] = [
    [user("hello")],
    [user("thanks!")],
    [user("Write a haiku about 5 frogs.")],
    [user("Schreibe ein Gedicht über den Herbst.")],
    [user("Why does `x = 5 / 0` fail in Python?")],
    [user(f"{REPORT}\n\nHow many cars did it make in 2024?")],
    [user("x" * 250_000)],
    [{"role": "system", "content": "You are a pirate."}, user("Who are you?")],
    [{"role": "developer", "content": "Answer in JSON."}, user("What is 15% of 80?")],
    [user(CUED), {"role": "assistant", "content": "5"}, user("and why?")],
    [user("hi"), {"role": "assistant", "content": "Hello."}, user("What is 15% of 80?")],
    [{"role": "user", "name": "ann", "content": [{"type": "text", "text": "hello "}]}],
]


@pytest.mark.parametrize("model", [KNOWN, PAPER, "gpt-7"])
@pytest.mark.parametrize("messages", CHATS, ids=range(len(CHATS)))
async def test_chat_arrives_as_it_was_sent(
    endpoint: Endpoint, model: str, messages: list[dict[str, Any]]
) -> None:
    async with served(endpoint.url, model=model) as server:
        fields: dict[str, Any] = {"temperature": 0.3, "max_tokens": 50, "user": "me"}
        status, _ = await chat(server, "auto@", messages=messages, **fields)
    assert status == 200
    assert endpoint.requests == [{"model": model, "messages": messages, **fields}]


async def test_a_stream_arrives_as_it_was_sent_too(endpoint: Endpoint) -> None:
    async with served(endpoint.url, model=KNOWN) as server:
        assert await events(server, "auto@", "hello")
    assert endpoint.requests == [{"model": KNOWN, "stream": True, "messages": [user("hello")]}]


@pytest.mark.parametrize("model", [KNOWN, "gpt-7"])
async def test_a_problem_is_solved(endpoint: Endpoint, model: str) -> None:
    endpoint.script(*(completion(r"\boxed{5}") for _ in range(9)))
    talk = [{"role": "system", "content": "You are a helpful assistant."}, user(CUED)]
    async with served(endpoint.url, model=model) as server:
        status, body = await chat(server, "auto@", messages=talk)
    assert (status, body["cfr"]["answer"]) == (200, "5")
    assert endpoint.requests[0]["messages"][1]["content"] != CUED
