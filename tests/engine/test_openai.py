"""One endpoint: what is sent, what is learned, what goes wrong."""

import asyncio
import json
from collections.abc import Callable
from typing import Any, cast

import pytest
from loopback import Endpoint as Server
from loopback import Reply, answer, completion, cut_stream, failure, stream

from constraint_first.model.client import OpenAI
from constraint_first.model.error import (
    BadReply,
    EngineError,
    ModelNotFound,
    PromptTooLong,
    RateLimited,
    Rejected,
    ServerFault,
    StreamCut,
    TimedOut,
    TookTooLong,
    Transient,
    Unreachable,
)
from constraint_first.model.limit import Retry
from constraint_first.model.transport import Bounds, DecodingRefused, Endpoint, Transport
from constraint_first.model.wire import SILENT, Decoding, Watcher
from constraint_first.protocol import Call, Completion, Usage

CALL = Call.user("What is $2+2$?", stage="stage1", max_tokens=32_768, json=True)
IMPATIENT = Retry(attempts=2, first_pause=0.001)


class Watching(Watcher):
    def __init__(self) -> None:
        self.text, self.thought, self.retries = "", "", list[str]()
        self.changes = list[str]()

    def wrote(self, call: Call, piece: str, *, reasoning: bool) -> None:
        if reasoning:
            self.thought += piece
        else:
            self.text += piece

    def retrying(self, call: Call, fault: Transient, seconds: float) -> None:
        self.retries.append(str(fault))
        self.text = ""

    def adapted(self, call: Call, change: str) -> None:
        self.changes.append(change)


def refusing(*names: str, message: str = "") -> Callable[[dict[str, Any]], Reply]:
    """Play a model that does not take some parameters."""

    def respond(body: dict[str, Any]) -> Reply:
        for name in names:
            if name in body:
                return failure(400, message or f"Unsupported parameter: '{name}' is not supported.")
        return completion("4")

    return respond


def engine(server: Server, **options: Any) -> OpenAI:
    endpoint = Endpoint(server.url, "test-model", **options)
    return OpenAI(endpoint, Decoding(seed=3), IMPATIENT, bounds=Bounds(silence=5))


async def ask(
    server: Server, call: Call = CALL, watcher: Watcher = SILENT, **options: Any
) -> Completion:
    async with engine(server, **options) as asked:
        return await asked.complete(call, watcher)


async def test_a_call_and_its_completion(endpoint: Server) -> None:
    endpoint.script(completion("4", reasoning_content="2+2"))
    assert await ask(endpoint) == Completion("4", "stop", "2+2", Usage(11, 7))
    (sent,), (headers,) = endpoint.requests, endpoint.headers
    assert sent["messages"] == [{"role": "user", "content": "What is $2+2$?"}]
    assert (sent["response_format"], sent["seed"]) == ({"type": "json_object"}, 3)
    assert "stream" not in sent
    assert "Authorization" not in headers


async def test_a_watched_call_is_streamed_with_its_reasoning_apart(endpoint: Server) -> None:
    endpoint.script(stream("The answer", " is ", "4"))
    watcher = Watching()
    result = await ask(endpoint, watcher=watcher)
    assert watcher.text == result.text == "The answer is 4"
    assert result.usage == Usage(11, 3)
    assert endpoint.requests[0]["stream"] is True
    endpoint.script(completion("4", reasoning_content="two and two"))
    watcher = Watching()
    result = await ask(endpoint, watcher=watcher)
    assert (watcher.thought, watcher.text) == ("two and two", "4")
    assert (result.reasoning, result.text) == ("two and two", "4")


async def test_a_stream_without_its_closing_line_is_whole_if_it_says_it_finished(
    endpoint: Server,
) -> None:
    endpoint.script(stream("4", done=False))
    assert (await ask(endpoint, watcher=Watching())).text == "4"
    endpoint.script(stream("The ans", finish=None, done=False))
    with pytest.raises(StreamCut, match="before the reply did"):
        await ask(endpoint, watcher=Watching())


async def test_a_cut_stream_is_asked_again_from_the_start(endpoint: Server) -> None:
    endpoint.script(cut_stream("The ans"), stream("4"))
    watcher = Watching()
    assert (await ask(endpoint, watcher=watcher)).text == watcher.text == "4"
    assert len(watcher.retries) == 1
    endpoint.script(cut_stream("The ans"))
    with pytest.raises(StreamCut):
        await ask(endpoint, watcher=Watching())


async def test_silence_is_a_fault(endpoint: Server) -> None:
    endpoint.script(Reply(delay=1.0))
    quick = Retry(attempts=1)
    async with OpenAI(Endpoint(endpoint.url, "m"), None, quick, bounds=Bounds(0.05)) as asked:
        with pytest.raises(TimedOut, match="nothing came for too long"):
            await asked.complete(CALL)


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("http://127.0.0.1:1/v1", Unreachable),
        ("http://no-such-host.invalid/v1", Unreachable),
        ("not an address", Rejected),
        ("", Rejected),
        ("http://me:hush@[::1/v1", Rejected),
    ],
)
async def test_an_address_that_leads_nowhere(url: str, kind: type[EngineError]) -> None:
    with pytest.raises(kind, match=r"cannot be reached|not an address") as caught:
        async with OpenAI(Endpoint(url, "m"), retry=IMPATIENT) as asked:
            await asked.complete(CALL)
    assert "hush" not in str(caught.value)


async def test_json_mode_is_dropped_for_good_where_it_is_refused(endpoint: Server) -> None:
    endpoint.respond = refusing("response_format")
    async with engine(endpoint) as asked:
        await asked.complete(CALL)
        await asked.complete(CALL)
    assert ["response_format" in request for request in endpoint.requests] == [True, False, False]
    # What is not sent and refused all the same is not asked for ever.
    endpoint.respond = lambda _body: failure(400, "response_format is not supported")
    with pytest.raises(Rejected):
        await ask(endpoint)
    assert len(endpoint.requests) == 5


async def test_the_newer_name_of_the_budget(endpoint: Server) -> None:
    message = "Unsupported 'max_tokens': use 'max_completion_tokens' instead."
    endpoint.respond = refusing("max_tokens", message=message)
    await ask(endpoint)
    assert endpoint.requests[-1]["max_completion_tokens"] == 32_768


async def test_a_small_context_lowers_the_budget(endpoint: Server) -> None:
    brief = Call.user("Hi", stage="stage1", max_tokens=1_024)
    for call in (CALL, brief):
        await ask(endpoint, call, context=4_096)
    assert [body["max_tokens"] for body in endpoint.requests] == [4_096 - 7 - 64, 1_024]


async def test_a_context_that_the_endpoint_tells_is_learned(endpoint: Server) -> None:
    limit = failure(400, "This model's maximum context length is 2048 tokens.")
    endpoint.respond = lambda body: limit if body["max_tokens"] > 2_000 else completion("4")
    async with engine(endpoint) as asked:
        assert (await asked.complete(CALL)).text == "4"
        await asked.complete(CALL)
    assert len(endpoint.requests) == 3
    endpoint.respond = lambda _body: limit  # the prompt is longer than any budget leaves room for
    with pytest.raises(PromptTooLong, match="shorten the problem"):
        await ask(endpoint)
    assert len(endpoint.requests) == 5


async def test_the_only_model_need_not_be_named(endpoint: Server) -> None:
    endpoint.served = [{"id": 5}, {"id": "only"}, {"id": "no\0name"}, {}]
    async with OpenAI(Endpoint(endpoint.url, "")) as asked:
        await asked.complete(CALL)
    assert asked.model == endpoint.requests[0]["model"] == "only"
    endpoint.served = [{"id": "a"}, {"id": "b"}]
    with pytest.raises(ModelNotFound, match="it serves a, b"):
        await OpenAI(Endpoint(endpoint.url, "")).__aenter__()
    with pytest.raises(ModelNotFound, match=r"HTTP 404 .* try http://127\.0\.0\.1:\d+/v1$"):
        await OpenAI(Endpoint(endpoint.url.removesuffix("/v1"), "")).__aenter__()


async def test_the_key_is_sent_and_never_shown(endpoint: Server) -> None:
    key = "sk-secret-0123456789"
    await ask(endpoint, key=key)
    assert endpoint.headers[0]["Authorization"] == f"Bearer {key}"
    for reply in (failure(401, f"wrong key {key}"), Reply(body=f"not json {key}")):
        endpoint.script(reply)
        with pytest.raises(EngineError, match=r"\[key\]") as caught:
            await ask(endpoint, key=key)
        assert key not in str(caught.value)


async def test_problem_text_survives_the_wire(endpoint: Server) -> None:
    text = json.dumps({"a": "\\frac{1}{2} {x} \u2028 “quotes” \x00"}) + "\n[[problem]]"
    await ask(endpoint, Call.user(text, stage="direct", max_tokens=5))
    assert endpoint.requests[0]["messages"][0]["content"] == text
    with pytest.raises(Rejected, match="cannot be sent"):
        await ask(endpoint, Call.user("\ud800", stage="direct", max_tokens=5))
    assert len(endpoint.requests) == 1


async def test_a_refusal_in_two_pieces_is_understood(endpoint: Server) -> None:
    pieces = ['{"error": {"message": "sorry, ', 'response_format is not supported here"}}']
    refused = Reply(400, chunks=pieces)
    endpoint.respond = lambda body: refused if "response_format" in body else completion("{}")
    assert (await ask(endpoint)).text == "{}"


async def test_several_engines_share_one_transport(endpoint: Server) -> None:
    shared = Transport(Endpoint(endpoint.url, ""), Bounds(), connections=4)
    shared.open()
    for name in ("one", "other"):
        lent = OpenAI(Endpoint(endpoint.url, name), retry=IMPATIENT, transport=shared)
        assert lent.is_open
        assert (await lent.complete(CALL)).text
    assert [asked["model"] for asked in endpoint.requests] == ["one", "other"]
    await shared.close()


# --- Models that refuse a setting of the decoding: met once, said, and never behind anybody's back.


QUESTION = Call.user("What is $2+2$?", stage="direct", max_tokens=32_768)


def seeded(server: Server) -> OpenAI:
    return OpenAI(Endpoint(server.url, "m"), Decoding(seed=3))


async def test_a_setting_that_the_model_refuses_is_left_out_once_and_said(endpoint: Server) -> None:
    endpoint.respond = refusing("temperature", "top_p", "seed")
    watcher = Watching()
    async with seeded(endpoint) as asked:
        assert (await asked.complete(QUESTION, watcher)).text == "4"
        assert asked.decoding == Decoding(None, None, None)
        await asked.complete(QUESTION, watcher)
    assert len(endpoint.requests) == 5
    assert [change.split()[0] for change in watcher.changes] == ["temperature", "top_p", "seed"]
    watcher = Watching()
    async with seeded(endpoint) as asked:
        await asyncio.gather(*(asked.complete(QUESTION, watcher) for _ in range(8)))
    assert len(watcher.changes) == 3  # calls at the same time hear of each once


async def test_a_budget_that_the_model_refuses_is_lowered_once_and_said(endpoint: Server) -> None:
    message = "max_tokens is too large: 32768. This model supports at most 4096 completion tokens"
    endpoint.respond = lambda body: (
        failure(400, message) if body["max_tokens"] > 4_096 else completion("4")
    )
    watcher = Watching()
    async with seeded(endpoint) as asked:
        await asked.complete(QUESTION, watcher)
        assert asked.decoding.max_tokens == 4_096
    assert [body["max_tokens"] for body in endpoint.requests] == [32_768, 4_096]
    assert watcher.changes == ["max_tokens is lowered to 4096, the most that the model takes"]


async def test_a_decoding_that_is_given_is_kept_or_refused(endpoint: Server) -> None:
    endpoint.respond = refusing("temperature")
    async with seeded(endpoint) as asked:
        with pytest.raises(DecodingRefused, match="choose another --temperature, or") as caught:
            await asked.complete(QUESTION, SILENT, Decoding())
        without = caught.value.adapt(Decoding())
        assert (await asked.complete(QUESTION, SILENT, without)).text == "4"
    assert len(endpoint.requests) == 2


@pytest.mark.parametrize("given", [None, Decoding(None, None, max_tokens=9)])
@pytest.mark.parametrize("message", ["temperature is not supported", "max_tokens must be <= 5"])
async def test_a_refusal_of_what_is_not_sent_is_final(
    endpoint: Server, message: str, given: Decoding | None
) -> None:
    endpoint.script(failure(400, message))
    async with seeded(endpoint) as asked:
        with pytest.raises(Rejected) as caught:
            await asked.complete(QUESTION, SILENT, given)
    assert type(caught.value) is Rejected


# --- Replies that are no replies, whole or streamed: asked again, and never scored as an answer.


ODD = Call.user("What is $2+2$?", stage="direct", max_tokens=100)

NO_COMPLETIONS: list[Any] = [
    *(None, True, 5, "x", [], [1], {}),
    *({"choices": choices} for choices in cast("list[Any]", [None, {}, [], [None], [3]])),
    {"error": "no"},
]

WHOLE = str(completion("4").body)


def impatient(server: Server) -> OpenAI:
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
    async with impatient(endpoint) as asked:
        with pytest.raises(Transient) as caught:
            await asked.complete(ODD, watcher)
    assert len(endpoint.requests) == 2
    assert isinstance(caught.value, BadReply | ServerFault | StreamCut)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("missing", [choice(), choice(message=None)])
async def test_a_reply_without_a_message_is_no_reply(endpoint: Server, missing: Reply) -> None:
    endpoint.script(missing)
    async with impatient(endpoint) as asked:
        with pytest.raises(BadReply, match="the endpoint's reply has no message"):
            await asked.complete(ODD)


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
    async with impatient(endpoint) as asked:
        assert (await asked.complete(ODD, watcher)).text == text


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
async def test_an_endpoint_that_does_not_stream_is_followed_all_the_same(
    endpoint: Server, kind: str
) -> None:
    endpoint.script(Reply(chunks=[WHOLE], headers={"Content-Type": kind}))
    watcher = Watching()
    async with impatient(endpoint) as asked:
        assert (await asked.complete(ODD, watcher)).text == watcher.text == "4"


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
    async with impatient(endpoint) as asked:
        with pytest.raises(Transient, match=said):
            await asked.complete(ODD, Watching())
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
    async with impatient(endpoint) as asked:
        assert (await asked.complete(ODD, Watching())).text == "The answer is 4"


@pytest.mark.parametrize("watcher", [SILENT, Watching()], ids=["whole", "streamed"])
@pytest.mark.parametrize("drip", [b" ", b"\n", b": ping\n\n"])
async def test_a_call_has_a_limit_that_no_dripping_puts_off(
    endpoint: Server, drip: bytes, watcher: Watcher
) -> None:
    endpoint.script(Reply(endless=drip))
    said = r"not done after 0\.2 s; allow more with --call-timeout"
    async with OpenAI(Endpoint(endpoint.url, "m"), bounds=Bounds(seconds=0.2)) as asked:
        with pytest.raises(TookTooLong, match=said):
            await asked.complete(ODD, watcher)
        assert len(endpoint.requests) == 1
        endpoint.script(failure(429, "slow", Retry_After="30"))
        with pytest.raises(RateLimited):  # and nothing is asked again after it
            await asked.complete(ODD)
    assert len(endpoint.requests) == 2
    assert endpoint.left.wait(10)
