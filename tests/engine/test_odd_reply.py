"""Replies that are no replies, whole or streamed: asked again, and never scored as an answer."""

import json
from typing import Any, cast

import pytest
from loopback import Endpoint as Server
from loopback import Reply, answer, completion, failure

from constraint_first.model.error import (
    BadReply,
    RateLimited,
    ServerFault,
    StreamCut,
    TookTooLong,
    Transient,
)
from constraint_first.model.limit import Retry
from constraint_first.model.openai import OpenAI
from constraint_first.model.transport import Bounds, Endpoint
from constraint_first.model.wire import SILENT, Watcher
from constraint_first.protocol import Call

CALL = Call.user("What is $2+2$?", stage="direct", max_tokens=100)
NO_COMPLETIONS: list[Any] = [
    *(None, True, 5, "x", [], [1], {}),
    *({"choices": choices} for choices in cast("list[Any]", [None, {}, [], [None], [3]])),
    {"error": "no"},
]
WHOLE = str(completion("4").body)


class Watching(Watcher):
    """A watcher that keeps what was written since the last retry."""

    def __init__(self) -> None:
        self.text = ""

    def wrote(self, call: Call, piece: str, *, reasoning: bool) -> None:
        self.text += piece

    def retrying(self, call: Call, fault: Transient, seconds: float) -> None:
        self.text = ""


def engine(server: Server) -> OpenAI:
    bounds = Bounds(silence=5, reply_bytes=100_000)
    return OpenAI(Endpoint(server.url, "m"), retry=Retry(2, first_pause=0.001), bounds=bounds)


def choice(**fields: Any) -> Reply:
    return answer({"choices": [{"finish_reason": "stop"} | fields]})


def says(content: Any, **more: Any) -> Reply:
    return choice(message={"content": content} | more)


@pytest.mark.parametrize("watcher", [SILENT, Watching()], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    "reply",
    [
        Reply(),
        Reply(status=204),
        Reply(body="<html>welcome</html>"),
        Reply(body=WHOLE[:-9]),
        Reply(body=WHOLE + "x"),
        Reply(body=WHOLE.encode().replace(b"4", b"\xff\xfe", 1)),
        Reply(body="[" * 100_000),
        Reply(body='{"oops": "\\ud83d"}'),
        Reply(body='{"oops": NaN, "n": 123456789012345678901234567890}'),
        Reply(body='{"n": ' + "9" * 5_000 + "}"),
        Reply(body='{"x": ' + "[" * 900 + "]" * 900 + "}"),
        Reply(body='{"error": {"code": "\\ud83d"}}'),
        *map(answer, NO_COMPLETIONS),
        choice(finish_reason="error", message={"content": ""}),
        choice(error={"code": 502, "message": "upstream died"}, message={"content": ""}),
        choice(message=5),
        *map(says, (42, True, 4.5, {"text": "4"}, [4], [[4]], [{"type": "text", "text": 4}])),
        says([{"type": "text", "text": [{"type": "text", "text": "4"}]}]),
    ],
)
async def test_where_nobody_answers_it_is_asked_again_and_never_an_answer(
    endpoint: Server, reply: Reply, watcher: Watcher
) -> None:
    endpoint.script(reply)
    async with engine(endpoint) as asked:
        with pytest.raises(Transient) as caught:
            await asked.complete(CALL, watcher)
    assert len(endpoint.requests) == 2
    assert isinstance(caught.value, BadReply | ServerFault | StreamCut)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("missing", [choice(), choice(message=None)])
async def test_a_reply_without_a_message_is_no_reply(endpoint: Server, missing: Reply) -> None:
    endpoint.script(missing)
    async with engine(endpoint) as asked:
        with pytest.raises(BadReply, match="the endpoint's reply has no message"):
            await asked.complete(CALL)


@pytest.mark.parametrize("watcher", [SILENT, Watching()], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (answer(json.loads(WHOLE) | {"error": None}), "4"),
        (answer(json.loads(WHOLE) | {"error": {}}), "4"),
        (Reply(body=b"\xef\xbb\xbf" + WHOLE.encode()), "4"),
        (Reply(body=WHOLE.encode("utf-16")), "4"),
        (Reply(body="\n\n  " + WHOLE), "4"),
        (Reply(body=WHOLE, headers={"Content-Type": "text/plain"}), "4"),
        (Reply(body=WHOLE.replace('"4"', '"5", "content": "4"')), "4"),
        (says([{"type": "image_url"}, {"type": "text", "text": "4"}, "!"]), "4!"),
        (says(None), ""),
        (says("", tool_calls=[{"id": "1"}]), ""),
        (says(None, refusal="I cannot say."), "I cannot say."),
        (choice(index="0", message={"content": "4"}), "4"),
        (choice(finish_reason=["stop"], message={"content": "4"}), "4"),
    ],
)
async def test_what_a_model_wrote_is_a_result_however_odd(
    endpoint: Server, reply: Reply, text: str, watcher: Watcher
) -> None:
    endpoint.script(reply)
    async with engine(endpoint) as asked:
        assert (await asked.complete(CALL, watcher)).text == text


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
async def test_an_endpoint_that_does_not_stream_is_followed_all_the_same(
    endpoint: Server, kind: str
) -> None:
    endpoint.script(Reply(chunks=[WHOLE], headers={"Content-Type": kind}))
    watcher = Watching()
    async with engine(endpoint) as asked:
        assert (await asked.complete(CALL, watcher)).text == watcher.text == "4"


USED = ['data: {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 3}}\n\n']


def event(content: str, **fields: Any) -> str:
    return f"data: {json.dumps({'choices': [{'delta': {'content': content}} | fields]})}\n\n"


END = event("", finish_reason="stop")
DONE = "data: [DONE]\n\n"
PIECES = [event("Th"), event("e an"), event("swer is 4")]


@pytest.mark.parametrize(
    ("chunks", "said"),
    [
        ([*(one for one in PIECES for _ in "12"), END, *USED], "every event twice"),
        ([*PIECES, END, *PIECES, END, DONE], "goes on after its end"),
        ([*PIECES, "<html>502 Bad Gateway</html>\n"], "is an HTML page"),
        (["<html>welcome</html>"], "is an HTML page"),
        ([event("4", finish_reason="error")], "ended in an error"),
        (['data: {"error": {"message": "died in the middle"}}\n\n'], "died in the middle"),
        (["data: {not json\n\n"], "not JSON"),
        (["data: null\n\n"], "not a chat completion"),
        (['data: {"choices": [{"delta": {"content": 4}}]}\n\n'], "has no text"),
        ([event("a" * 200_000)], "larger than 0.1 MB"),
        ([event("a" * 60_000), event("b" * 60_000)], "larger than 0.1 MB"),
        ([], "the stream ended before the reply did"),
        ([": ping\n\n"], "the stream ended before the reply did"),
    ],
)
async def test_a_stream_that_is_none(endpoint: Server, chunks: list[str], said: str) -> None:
    endpoint.script(Reply(chunks=chunks or [""]))
    async with engine(endpoint) as asked:
        with pytest.raises(Transient, match=said):
            await asked.complete(CALL, Watching())
    assert len(endpoint.requests) == 2


@pytest.mark.parametrize(
    "chunks",
    [
        [*PIECES, END, DONE],
        ["".join([*PIECES, END, DONE]).replace("\n", "\r\n")],
        ["".join([*PIECES, END, DONE]).replace("\n", "\r")],
        [": ping\n\nevent: x\nretry: 5\n", *PIECES, END],
        [f"id: {n}\n{one}" for n, one in enumerate([*PIECES, END]) for _ in "12"],
        [event("Th", index=0), event("No", index=1), *PIECES[1:], END],
        [event("Th", finish_reason=""), *PIECES[1:], END],
        [*PIECES, 'data: {"choices": [{"delta": null, "finish_reason": "stop"}]}\n\n'],
        ["\ufeff", *PIECES, END],
    ],
)
async def test_a_stream_is_read_as_far_as_the_protocol_goes(
    endpoint: Server, chunks: list[str]
) -> None:
    endpoint.script(Reply(chunks=["".join(chunks)]))
    async with engine(endpoint) as asked:
        assert (await asked.complete(CALL, Watching())).text == "The answer is 4"


@pytest.mark.parametrize("watcher", [SILENT, Watching()], ids=["whole", "streamed"])
@pytest.mark.parametrize("drip", [b" ", b"\n", b": ping\n\n"])
async def test_a_call_has_a_limit_that_no_dripping_puts_off(
    endpoint: Server, drip: bytes, watcher: Watcher
) -> None:
    endpoint.script(Reply(endless=drip))
    brief = OpenAI(Endpoint(endpoint.url, "m"), bounds=Bounds(seconds=0.2))
    async with brief as asked:
        with pytest.raises(
            TookTooLong, match=r"not done after 0\.2 s; allow more with --call-timeout"
        ):
            await asked.complete(CALL, watcher)
    assert len(endpoint.requests) == 1
    assert endpoint.left.wait(10)


async def test_nothing_is_asked_again_after_the_time_of_a_call(endpoint: Server) -> None:
    endpoint.script(failure(429, "slow", Retry_After="30"))
    async with OpenAI(Endpoint(endpoint.url, "m"), bounds=Bounds(seconds=0.2)) as asked:
        with pytest.raises(RateLimited):
            await asked.complete(CALL)
    assert len(endpoint.requests) == 1
