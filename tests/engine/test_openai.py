import json
from typing import Any

import pytest
from loopback import Endpoint as Server
from loopback import Reply, completion, cut_stream, failure, stream

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
    Transient,
    Unauthorized,
    Unreachable,
)
from constraint_first.model.limit import Retry
from constraint_first.model.openai import OpenAI
from constraint_first.model.transport import Bounds, Endpoint, Transport
from constraint_first.model.wire import Decoding, Watcher
from constraint_first.protocol import Call, Completion, Usage

CALL = Call.user("What is $2+2$?", stage="stage1", max_tokens=32_768, json=True)
IMPATIENT = Retry(attempts=2, first_pause=0.001)


class Watching(Watcher):
    def __init__(self) -> None:
        self.text, self.thought, self.retries = "", "", list[str]()

    def wrote(self, call: Call, piece: str, *, reasoning: bool) -> None:
        if reasoning:
            self.thought += piece
        else:
            self.text += piece

    def retrying(self, call: Call, fault: Transient, seconds: float) -> None:
        self.retries.append(str(fault))
        self.text = ""


def engine(server: Server, **options: Any) -> OpenAI:
    endpoint = Endpoint(server.url, "test-model", **options)
    return OpenAI(endpoint, Decoding(seed=3), IMPATIENT, bounds=Bounds(silence=5))


async def ask(server: Server, call: Call = CALL, **options: Any) -> Completion:
    async with engine(server, **options) as asked:
        return await asked.complete(call)


async def test_a_call_and_its_completion(endpoint: Server) -> None:
    endpoint.script(completion("4", reasoning_content="2+2"))
    result = await ask(endpoint)
    assert result == Completion("4", "stop", "2+2", Usage(11, 7))
    assert endpoint.requests[0]["messages"] == [{"role": "user", "content": "What is $2+2$?"}]
    assert endpoint.requests[0]["response_format"] == {"type": "json_object"}
    assert endpoint.requests[0]["seed"] == 3
    assert "stream" not in endpoint.requests[0]


async def test_a_watched_call_is_streamed(endpoint: Server) -> None:
    endpoint.script(stream("The answer", " is ", "4"))
    watcher = Watching()
    async with engine(endpoint) as asked:
        result = await asked.complete(CALL, watcher)
    assert watcher.text == result.text == "The answer is 4"
    assert result.usage == Usage(11, 3)
    assert endpoint.requests[0]["stream"] is True


async def test_reasoning_is_streamed_apart(endpoint: Server) -> None:
    endpoint.script(completion("4", reasoning_content="two and two"))
    watcher = Watching()
    async with engine(endpoint) as asked:
        result = await asked.complete(CALL, watcher)
    assert (watcher.thought, watcher.text) == ("two and two", "4")
    assert (result.reasoning, result.text) == ("two and two", "4")


async def test_a_stream_without_its_closing_line_is_whole_if_it_says_it_finished(
    endpoint: Server,
) -> None:
    endpoint.script(stream("4", done=False))
    async with engine(endpoint) as asked:
        assert (await asked.complete(CALL, Watching())).text == "4"


async def test_a_cut_stream_is_asked_again_from_the_start(endpoint: Server) -> None:
    endpoint.script(cut_stream("The ans"), stream("4"))
    watcher = Watching()
    async with engine(endpoint) as asked:
        assert (await asked.complete(CALL, watcher)).text == "4"
    assert watcher.text == "4"
    assert len(watcher.retries) == 1


async def test_a_stream_that_keeps_breaking_is_a_fault(endpoint: Server) -> None:
    endpoint.script(stream("The ans", finish=None, done=False))
    async with engine(endpoint) as asked:
        with pytest.raises(StreamCut, match="before the reply did"):
            await asked.complete(CALL, Watching())
    endpoint.script(cut_stream("The ans"))
    async with engine(endpoint) as asked:
        with pytest.raises(StreamCut):
            await asked.complete(CALL, Watching())


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (failure(401, "bad key"), Unauthorized),
        (failure(404, "no such model"), ModelNotFound),
        (failure(429, "slow down"), RateLimited),
        (failure(500, "oops"), ServerFault),
        (failure(400, "what?"), Rejected),
        (failure(400, "prompt is too long"), PromptTooLong),
        (Reply(body="<html>welcome</html>"), BadReply),
        (Reply(body='{"choices": []}'), BadReply),
    ],
)
async def test_faults_by_name(endpoint: Server, reply: Reply, kind: type[EngineError]) -> None:
    endpoint.script(reply)
    with pytest.raises(kind, match=r"endpoint's reply|127\.0\.0\.1") as caught:
        await ask(endpoint)
    assert type(caught.value) is kind


@pytest.mark.parametrize(
    ("fault", "asked"), [(failure(500, "oops"), 2), (failure(429, "slow", Retry_After="0"), 2)]
)
async def test_a_fault_that_passes_leaves_no_trace(
    endpoint: Server, fault: Reply, asked: int
) -> None:
    endpoint.script(fault, completion("4"))
    assert (await ask(endpoint)).text == "4"
    assert len(endpoint.requests) == asked


async def test_silence_is_a_fault(endpoint: Server) -> None:
    endpoint.script(Reply(delay=1.0))
    quick = OpenAI(
        Endpoint(endpoint.url, "m"), retry=Retry(attempts=1), bounds=Bounds(silence=0.05)
    )
    async with quick as asked:
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
    endpoint.respond = lambda body: (
        failure(400, "response_format is not supported")
        if "response_format" in body
        else completion("{}")
    )
    async with engine(endpoint) as asked:
        await asked.complete(CALL)
        await asked.complete(CALL)
    assert ["response_format" in request for request in endpoint.requests] == [True, False, False]


async def test_an_endpoint_that_refuses_what_is_not_sent_is_not_asked_forever(
    endpoint: Server,
) -> None:
    endpoint.script(failure(400, "response_format is not supported"))
    with pytest.raises(Rejected):
        await ask(endpoint)
    assert len(endpoint.requests) == 2


async def test_the_newer_name_of_the_budget(endpoint: Server) -> None:
    endpoint.respond = lambda body: (
        failure(400, "Unsupported 'max_tokens': use 'max_completion_tokens' instead.")
        if "max_tokens" in body
        else completion("4")
    )
    await ask(endpoint)
    assert endpoint.requests[-1]["max_completion_tokens"] == 32_768


async def test_a_small_context_lowers_the_budget(endpoint: Server) -> None:
    await ask(endpoint, context=4_096)
    assert endpoint.requests[0]["max_tokens"] == 4_096 - 7 - 64
    brief = Call.user("Hi", stage="stage1", max_tokens=1_024)
    await ask(endpoint, brief, context=4_096)
    assert endpoint.requests[1]["max_tokens"] == 1_024


async def test_a_context_that_the_endpoint_tells_is_learned(endpoint: Server) -> None:
    endpoint.respond = lambda body: (
        failure(400, "This model's maximum context length is 2048 tokens.")
        if body["max_tokens"] > 2_000
        else completion("4")
    )
    async with engine(endpoint) as asked:
        assert (await asked.complete(CALL)).text == "4"
        await asked.complete(CALL)
    assert len(endpoint.requests) == 3


async def test_a_prompt_longer_than_any_budget_leaves_room_for(endpoint: Server) -> None:
    endpoint.script(failure(400, "This model's maximum context length is 2048 tokens."))
    with pytest.raises(PromptTooLong, match="shorten the problem"):
        await ask(endpoint)
    assert len(endpoint.requests) == 2


async def test_the_only_model_need_not_be_named(endpoint: Server) -> None:
    async with OpenAI(Endpoint(endpoint.url, "")) as asked:
        await asked.complete(CALL)
    assert endpoint.requests[0]["model"] == "test-model"
    endpoint.served = [{"id": "a"}, {"id": "b"}]
    with pytest.raises(ModelNotFound, match="it serves a, b"):
        async with OpenAI(Endpoint(endpoint.url, "")):
            pass


async def test_the_key_is_sent_and_never_shown(endpoint: Server) -> None:
    key = "sk-secret-0123456789"
    await ask(endpoint, key=key)
    assert endpoint.headers[0]["Authorization"] == f"Bearer {key}"
    assert key not in repr(Endpoint("http://h", "m", key=key))
    for reply in (failure(401, f"wrong key {key}"), Reply(body=f"not json {key}")):
        endpoint.script(reply)
        with pytest.raises(EngineError) as caught:
            await ask(endpoint, key=key)
        assert key not in str(caught.value)
        assert "[key]" in str(caught.value)


async def test_no_key_no_header(endpoint: Server) -> None:
    await ask(endpoint)
    assert "Authorization" not in endpoint.headers[0]


def test_an_address_is_shown_without_its_password() -> None:
    endpoint = Endpoint("https://me:hush@host:8000/v1?token=hush", "m")
    assert endpoint.shown == "https://host:8000/v1"


async def test_text_that_is_no_text_is_refused_before_it_is_sent(endpoint: Server) -> None:
    with pytest.raises(Rejected, match="cannot be sent"):
        await ask(endpoint, Call.user("\ud800", stage="direct", max_tokens=5))
    assert endpoint.requests == []


async def test_problem_text_survives_the_wire(endpoint: Server) -> None:
    text = json.dumps({"a": "\\frac{1}{2} {x} \u2028 “quotes” \x00"}) + "\n[[problem]]"
    await ask(endpoint, Call.user(text, stage="direct", max_tokens=5))
    assert endpoint.requests[0]["messages"][0]["content"] == text


async def test_a_refusal_in_two_pieces_is_understood(endpoint: Server) -> None:
    pieces = ['{"error": {"message": "sorry, ', 'response_format is not supported here"}}']
    endpoint.respond = lambda body: (
        Reply(400, chunks=pieces) if "response_format" in body else completion("{}")
    )
    assert (await ask(endpoint)).text == "{}"


async def test_a_list_of_models_is_asked_for_again(endpoint: Server) -> None:
    endpoint.served = [{"id": 5}, {"id": "only"}, {"id": "no\0name"}, {}]
    async with OpenAI(Endpoint(endpoint.url, "")) as asked:
        assert asked.model == "only"
    with pytest.raises(ModelNotFound, match=r"HTTP 404 .* try http://127\.0\.0\.1:\d+/v1$"):
        async with OpenAI(Endpoint(endpoint.url.removesuffix("/v1"), "")):
            pass


async def test_several_engines_share_one_transport(endpoint: Server) -> None:
    shared = Transport(Endpoint(endpoint.url, ""), Bounds(), connections=4)
    shared.open()
    try:
        for name in ("one", "other"):
            lent = OpenAI(Endpoint(endpoint.url, name), retry=IMPATIENT, transport=shared)
            assert lent.is_open
            assert (await lent.complete(CALL)).text
        assert [asked["model"] for asked in endpoint.requests] == ["one", "other"]
    finally:
        await shared.close()
