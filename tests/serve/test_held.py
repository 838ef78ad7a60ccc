"""A reply that a method may still change is sent once, when it is final: over real sockets."""

from typing import Any

import pytest
from loopback import Endpoint as Server
from loopback import Reply, completion, stream
from served import chat, events, said, served

from constraint_first.adapter.llm_plugin import Piece, Question, stream_answer
from constraint_first.model.client import Client
from constraint_first.model.resolve import ModelRef, resolve
from constraint_first.model.wire import Decoding
from constraint_first.problem import Problem

ROME = "Rome, founded in 753, grew. It fell in 476, or so they say! " * 11 + "The end."
SHORT = "Rome grew, and fell."
GERMAN = "Rom wuchs über viele Jahrhunderte, und dann ging das Reich unter."

REQUESTS = [
    "Summarize the history of Rome in under 50 words.",
    "Summarize the history of Rome. Do not use any commas in your response.",
    "Write about Rome. Do not include the word fell in your response.",
    "Write about Rome in at most 2 sentences, all in lowercase letters.",
    'Write about Rome. End your response with the exact phrase "So it goes."',
    'Write about Rome with at least 400 words and include the word "senate".',
    "Write about Rome. Your entire response should be in German, no other language.",
    "Write about Rome. Highlight at least 3 sections in markdown, i.e. *highlighted section*.",
    "Write about Rome. Your entire response should be wrapped in double quotation marks.",
    "Give two different responses about Rome. Separate them with six asterisks: ******.",
]
SUMS = ["Find the remainder when $3^5$ is divided by 7.", "How many sheep are there in all?"]
METHODS = [
    "auto",
    "sound",
    "sound(most=4)",
    "sound(then=off)",
    "sound(then=turn)",
    "sound(add=off,then=off)",
    "sound(repair=off)",
    "sound(repair=off,then=off)",
    "sound(repair=off,add=off,then=turn)",
    "sound(base=direct)",
    "sound(base='self-consistency(samples=2)')",
    "self-consistency(base=sound,samples=2)",
    "checked(base=sound)",
    "checked",
    "sound(base=checked)",
    "vote(base=direct)",
    "plain",
]

WHOLE = {"auto", "plain", *(one for one in METHODS if "sound" in one and "base" not in one)}
"""Methods whose answer is the whole reply, whatever it is."""


def upstream(body: dict[str, Any]) -> Reply:
    """Reply at length at first, then otherwise.

    Samples are asked at the same time and come in any order, so their seeds tell them apart.
    """
    asked: int = body["seed"] + len(body["messages"]) // 2 + 1
    prompt = body["messages"][-1]["content"]
    texts = (ROME, SHORT, GERMAN)
    text = texts[(asked - 1) % 3] if "Rome" in prompt or len(body["messages"]) > 1 else ""
    text = text or rf"It is {('243', '250')[asked % 2]}, so \boxed{{{('243', '5')[asked % 2]}}}."
    if not body.get("stream"):
        return completion(text)
    return stream(*(text[n : n + 40] for n in range(0, len(text), 40)))


@pytest.mark.parametrize("method", METHODS)
async def test_the_content_of_a_stream_is_the_final_reply_once(
    endpoint: Server, method: str
) -> None:
    async with served(endpoint.url) as server:
        for text in (*REQUESTS, *SUMS):
            endpoint.respond = upstream
            _, body = await chat(server, f"{method}@", text, seed=0)
            found = await events(server, f"{method}@", text, seed=0)
            assert said(found, "content") == body["choices"][0]["message"]["content"], text
            if text == SUMS[1] and method == "auto":  # it has no number, and passes through
                assert "cfr" not in body
                continue
            told = found[-2]["cfr"]
            assert told["answer"] == body["cfr"]["answer"], text
            if text in REQUESTS and method in WHOLE:
                assert said(found, "content") == told["answer"], text


@pytest.mark.parametrize("method", ["sound", "sound(then=off)", "auto", "checked(base=sound)"])
@pytest.mark.parametrize("text", REQUESTS)
async def test_adapters_have_the_final_reply_once(endpoint: Server, method: str, text: str) -> None:
    endpoint.respond = upstream
    engine = Client(resolve(ModelRef("test-model", endpoint.url), Decoding(seed=0)))
    found = [one async for one in stream_answer(Question(Problem(text), method), engine)]
    content = "".join(one.text for one in found if isinstance(one, Piece) and not one.is_work)
    last = found[-1]
    assert not isinstance(last, Piece)
    assert content == last.answer
