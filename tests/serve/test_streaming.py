"""Answers as they are written: over real sockets, and choice by choice."""

import asyncio
import json
from dataclasses import dataclass
from typing import Any, ClassVar

import aiohttp
import pytest
from loopback import Endpoint as Server
from loopback import Reply, completion, cut_stream, failure, stream
from served import CUED, PLAIN, SPEC, Served, chat, events, said, send, served

from constraint_first.adapter.llm_plugin import AsyncMethodModel
from constraint_first.attempt.attempt import Attempt
from constraint_first.attempt.events import Executed, Finished, Retrying, Started, Wrote
from constraint_first.method.baselines import Direct
from constraint_first.model.error import StreamCut
from constraint_first.model.transport import Bounds
from constraint_first.problem import Json, Problem, Solution
from constraint_first.protocol import Call, Completion, Output, Program
from constraint_first.serve.attempt import CONTENT, REASONING, Outbox, StreamWriter
from constraint_first.serve.request import RequestError
from constraint_first.serve.upstream import UpstreamOptions

PROGRAM = "```python\nprint(3**5 % 7)\n```"


async def test_a_stream_from_its_role_to_its_end(endpoint: Server, server: Served) -> None:
    endpoint.script(completion(SPEC), stream("243 = 34 · 7 ", "+ 5: ", r"\boxed{5}"))
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


async def test_thinking_is_reasoning_wherever_the_endpoint_puts_it(
    endpoint: Server, server: Served
) -> None:
    endpoint.script(stream("<think>Let me ", "see.</think>", "\n\nIt is ", r"\boxed{243}"))
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
    endpoint: Server, server: Served, *, streams: bool
) -> None:
    endpoint.respond = vote_or_program
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
    status, reply, headers = await send(server, body)
    return status, json.loads(reply), headers


@pytest.mark.parametrize("streams", [True, False])
async def test_a_limit_of_the_endpoint_reaches_the_client(
    endpoint: Server, server: Served, *, streams: bool
) -> None:
    endpoint.script(failure(429, "too many requests", Retry_After="17"))
    status, body, headers = await refused(server, stream=streams)
    assert (status, headers["Retry-After"]) == (429, "17")
    assert body["error"]["type"] == "rate_limit_error"
    assert len(endpoint.requests) == 1


async def test_a_short_push_back_is_waited_for(endpoint: Server, server: Served) -> None:
    busy = failure(429, "too many requests", Retry_After="0.01")
    endpoint.script(busy, busy, completion(r"\boxed{243}"))
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


async def test_a_stream_that_fails_after_its_first_word_says_so(
    endpoint: Server, server: Served
) -> None:
    endpoint.script(cut_stream("It ", "is "))
    found = await events(server)
    (line,) = await server.logged(1)
    assert said(found, "content") == "It is "
    assert found[-1]["error"]["code"] == "upstream_failed"
    assert "cut" in line["error"]
    assert len(endpoint.requests) == 1  # what was said cannot be said anew


async def test_work_that_is_cut_is_done_again(endpoint: Server, server: Served) -> None:
    endpoint.script(cut_stream("```py"), stream(PROGRAM))
    found = await events(server, "program@", CUED)
    assert "asked again" in said(found, "reasoning_content")
    assert said(found, "content").startswith(PROGRAM)


async def test_one_attempt_that_fails_fails_the_request(endpoint: Server, server: Served) -> None:
    bad, good = failure(400, "no"), completion(r"\boxed{243}")
    good.delay = 5
    endpoint.script(good, bad, good)
    status, body = await chat(server, n=3)
    assert (status, "HTTP 400" in body["error"]["message"]) == (400, True)


async def test_a_reply_that_the_budget_cut_says_length(endpoint: Server, server: Served) -> None:
    endpoint.script(completion("It goes on and", "length"))
    _, body = await chat(server, max_tokens=5)
    found = await events(server, max_tokens=5)
    assert body["choices"][0]["finish_reason"] == "length"
    assert found[-2]["choices"][0]["finish_reason"] == "length"


FINAL = Call.user("?", stage="direct", max_tokens=9, final=True)
DRAFT = Call.user("?", stage="draft", max_tokens=9)
STAGE1 = Call.user("?", stage="stage1", max_tokens=9, json=True)
LISTED = '{"raw_constraints": [{"id": "C1", "type": "modular", "description": "modulo 7"}]}'
CUT = StreamCut("the stream was cut")


def ended(text: str, answer: str | None = "5") -> Attempt:
    checks: list[Json] = [{"sentence": "It is small.", "truth": "holds"}]
    solution = Solution(answer, text, details={"checks": checks})
    return Attempt(Problem("?"), Direct(), solution, name="direct", model="m")


class Foreign(Direct):
    """A method of another package."""

    label: ClassVar[str] = "Foreign"


@dataclass
class Choice:
    outbox: Outbox
    writer: StreamWriter

    def reply(self, call: Call, *pieces: str, thought: str = "") -> None:
        self.writer.tell(Started(call))
        if thought:
            self.writer.tell(Wrote(call, thought, True))
        for piece in pieces:
            self.writer.tell(Wrote(call, piece))
        self.writer.tell(Finished(call, Completion("".join(pieces))))

    @property
    def all(self) -> list[tuple[str, str]]:
        return [(one.name, one.text.getvalue()) for one in self.outbox.waiting]


@pytest.fixture
async def choice() -> Choice:
    outbox = Outbox()
    return Choice(outbox, StreamWriter(outbox, 0, Direct(), "Cues: none"))


def test_nothing_is_sent_before_a_reply_is_there(choice: Choice) -> None:
    choice.writer.tell(Started(STAGE1))
    assert choice.all == []
    choice.writer.tell(Finished(STAGE1, Completion(LISTED)))
    ((name, text),) = choice.all
    assert name == REASONING
    assert text.startswith("Cues: none\n\n**Stage 1: constraints**")
    assert text.endswith("- C1 (modular): modulo 7")


def test_the_reply_of_a_final_call_is_content_word_by_word(choice: Choice) -> None:
    choice.reply(FINAL, "\n\n", "So ", r"\boxed{5}", thought="Hm.")
    choice.writer.conclude(ended(r"So \boxed{5}"))
    assert choice.all == [(REASONING, "Cues: noneHm."), (CONTENT, r"So \boxed{5}"), ("", "")]


def test_a_method_of_another_package_is_not_believed_unless_it_says_so() -> None:
    outbox = Outbox()
    choice = Choice(outbox, StreamWriter(outbox, 0, Foreign(), ""))
    choice.reply(FINAL, r"So \boxed{5}")
    choice.writer.conclude(ended(r"SO \boxed{5}"))
    assert [name for name, _ in choice.all] == [REASONING, CONTENT, ""]
    assert choice.all[1] == (CONTENT, r"SO \boxed{5}")


def test_a_solution_that_is_another_after_all_is_an_error_and_not_sent_too(choice: Choice) -> None:
    choice.reply(FINAL, "first")
    with pytest.raises(RequestError, match="direct changed its reply after it was sent"):
        choice.writer.conclude(ended(r"second \boxed{5}"))
    assert choice.all[1:] == [(CONTENT, "first")]


def test_programs_and_replies_beside_the_one_that_is_followed(choice: Choice) -> None:
    other = Call.user("!", stage="draft", max_tokens=9)
    for event in (
        Started(DRAFT),
        Started(other),
        Finished(other, Completion("the other")),
        Wrote(DRAFT, "print(5)"),
        Executed(Program("print(5)\n"), Output("5")),
        Finished(DRAFT, Completion("print(5)")),
        Executed(Program("print(6)"), Output("6")),
    ):
        choice.writer.tell(event)
    ((_, text),) = choice.all
    at = 0
    for part in ("print(5)", "the other", "Output", "print(6)", "Output"):
        at = text.index(part, at) + len(part)
    assert text.count("print(5)") == 1


def test_work_that_begins_anew_says_so_and_content_cannot(choice: Choice) -> None:
    choice.writer.tell(Started(DRAFT))
    choice.writer.tell(Retrying(DRAFT, CUT, 0.1))
    assert choice.all == []  # it may fail altogether
    choice.writer.tell(Wrote(DRAFT, "again"))
    assert "(the stream was cut: asked again)" in choice.all[0][1]
    choice.writer.tell(Finished(DRAFT, Completion("again")))
    choice.writer.tell(Started(FINAL))
    choice.writer.tell(Retrying(FINAL, CUT, 0.1))
    choice.writer.tell(Wrote(FINAL, "So"))
    with pytest.raises(StreamCut, match="was cut"):
        choice.writer.tell(Retrying(FINAL, CUT, 0.1))


ROME = "Rome, founded in 753, grew. It fell in 476, or so they say! " * 11 + "The end."
BRIEF = "Rome grew, and fell."
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
    texts = (ROME, BRIEF, GERMAN)
    text = texts[(asked - 1) % 3] if "Rome" in prompt or len(body["messages"]) > 1 else ""
    text = text or rf"It is {('243', '250')[asked % 2]}, so \boxed{{{('243', '5')[asked % 2]}}}."
    if not body.get("stream"):
        return completion(text)
    return stream(*(text[n : n + 40] for n in range(0, len(text), 40)))


_SMOKE = {"auto", "sound", "vote(base=direct)"}


@pytest.mark.parametrize(
    "method",
    [one if one in _SMOKE else pytest.param(one, marks=pytest.mark.long) for one in METHODS],
)
async def test_the_content_of_a_stream_is_the_final_reply_once(
    endpoint: Server, method: str, server: Served
) -> None:
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


@pytest.mark.long
@pytest.mark.parametrize("method", ["sound", "sound(then=off)", "auto", "checked(base=sound)"])
@pytest.mark.parametrize("text", REQUESTS)
async def test_adapters_have_the_final_reply_once(endpoint: Server, method: str, text: str) -> None:
    endpoint.respond = upstream
    model: Any = AsyncMethodModel(method)
    asked = model.prompt(text, model="test-model", base_url=endpoint.url, seed=0)
    content = "".join([piece async for piece in asked])
    assert content == asked.response_json["answer"]
