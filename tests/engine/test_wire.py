"""The chat format: requests, replies, several choices, repeated events."""

import contextlib
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.file.safe import printable, storable_text
from constraint_first.model.error import BadReply, EngineError, Redaction, ServerFault, Transient
from constraint_first.model.wire import (
    Decoding,
    PairedEvents,
    SampledCall,
    SampledCompletion,
    StreamedReply,
    completion_from,
    divide,
    error_message,
    request_for,
    sampled_from,
)
from constraint_first.protocol import Call, Completion, Usage

CALL = Call.user("Hi {x}", stage="stage1", max_tokens=99, json=True, schema='{"type":"object"}')


def body(message: dict[str, Any], finish: str | None = "stop", **more: Any) -> bytes:
    choice = {"message": message, "finish_reason": finish}
    return json.dumps({"choices": [choice], **more}).encode()


def test_a_request_carries_call_and_decoding() -> None:
    request = request_for(CALL, "m", Decoding(0.2, 0.9, seed=5), "object")
    assert request == {
        "model": "m",
        "messages": [{"role": "user", "content": "Hi {x}"}],
        "max_tokens": 99,
        "temperature": 0.2,
        "top_p": 0.9,
        "seed": 5,
        "response_format": {"type": "json_object"},
    }
    sampled = request_for(replace(CALL, sample=1), "m", Decoding(seed=5), "off")
    assert sampled["seed"] == 6
    # What a decoding leaves open is not sent.
    request = request_for(CALL, "m", Decoding(None, None, max_tokens=50), "off")
    assert request == {"model": "m", "messages": request["messages"], "max_tokens": 50}
    plain = request_for(CALL, "m", Decoding(max_tokens=500), "off")
    assert plain["max_tokens"] == 99
    # Fields that we do not know ride along and change nothing else.
    extra = '{"stop": ["END"], "top_k": 5, "model": "another"}'
    request = request_for(CALL, "m", Decoding(extra=extra), "off")
    assert request == plain | {"stop": ["END"], "top_k": 5}


def test_a_schema_is_sent_where_it_can_be_enforced() -> None:
    wanted = request_for(CALL, "m", Decoding(), "schema")["response_format"]
    assert wanted == {
        "type": "json_schema",
        "json_schema": {"name": "stage1", "schema": {"type": "object"}, "strict": True},
    }
    without = request_for(replace(CALL, schema=""), "m", Decoding(), "schema")
    assert without["response_format"] == {"type": "json_object"}


@pytest.mark.parametrize(
    ("message", "text", "reasoning"),
    [
        ({"content": "4"}, "4", ""),
        ({"content": None}, "", ""),
        ({}, "", ""),
        ({"content": "a\0b\ud800c"}, "a\0b\ud800c", ""),  # whoever stores it makes it fit
        ({"content": "4", "reasoning_content": "2+2"}, "4", "2+2"),
        ({"content": "4", "reasoning": "2+2"}, "4", "2+2"),
        ({"content": [{"type": "text", "text": "4"}, {"type": "text", "text": "!"}]}, "4!", ""),
    ],
)
def test_text_and_reasoning(message: dict[str, Any], text: str, reasoning: str) -> None:
    completion = completion_from(body(message))
    assert (completion.text, completion.reasoning) == (text, reasoning)


@pytest.mark.parametrize(
    ("reason", "finish"),
    [("stop", "stop"), ("length", "length"), ("content_filter", "other"), (None, "other")],
)
def test_finish_reasons(reason: str | None, finish: str) -> None:
    assert completion_from(body({"content": ""}, reason)).finish == finish


UNKNOWN = Usage(reported=False)


def counts(given: Any, written: Any = None, **more: Any) -> dict[str, Any]:
    return {"prompt_tokens": given, "completion_tokens": written} | more


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (counts(3, 4), Usage(3, 4)),
        (counts(3, 4, completion_tokens_details={"reasoning_tokens": 2}), Usage(3, 4, reasoning=2)),
        (counts(3, 4, prompt_tokens_details={"cached_tokens": 1}), Usage(3, 4, cached=1)),
        (counts(3, 4, prompt_cache_hit_tokens=2), Usage(3, 4, cached=2)),
        (counts(3, 4, prompt_cache_hit_tokens=99), Usage(3, 4, cached=3)),
        (counts(50.0, "20"), Usage(50, 20)),
        # What cannot be a count was not reported, so that no budget takes it for nothing.
        ({"prompt_tokens": None, "completion_tokens_details": None}, UNKNOWN),
        (None, UNKNOWN),
        ({}, UNKNOWN),
        ({"prompt_tokens": 3}, Usage(3, reported=False)),
        (counts(True, 4), Usage(0, 4, reported=False)),
        (counts(-500, -500), UNKNOWN),
        (counts(2**63, 3 * 10**9), UNKNOWN),
        (counts(1e999, "٣" * 400), UNKNOWN),
    ],
)
def test_token_counts_wherever_they_stand(usage: dict[str, Any] | None, expected: Usage) -> None:
    assert completion_from(body({"content": ""}, usage=usage)).usage == expected


def test_a_streamed_reply_grows_line_by_line() -> None:
    reply = StreamedReply()
    assert reply.add_line(b": ping\n") == ("", "")
    assert reply.add_line(b'data: {"choices":[{"delta":{"content":"4"}}]}\n') == ("4", "")
    assert reply.finish is None
    reply.add_line(b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n')
    reply.add_line(b'data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}\n')
    assert reply.completion() == Completion("4", "stop", usage=Usage(1, 2))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"error": {"message": "no\\nsuch  model"}}', "no\nsuch  model"),
        (b'{"error": "bad"}', '"bad"'),
        (b'{"detail": "Not Found"}', '"Not Found"'),
        (b"<h1>Bad\nGateway</h1>", "<h1>Bad\nGateway</h1>"),
        (b"", ""),
        (b'{"error": {"code": "\\ud83d"}}', '{"error": {"code": "\\ud83d"}}'),
        (b'{"error": null, "detail": null, "oops": 1}', '{"error":null,"detail":null,"oops":1}'),
        (b"\xff", "\N{REPLACEMENT CHARACTER}"),
    ],
)
def test_what_an_error_body_says(data: bytes, message: str) -> None:
    assert error_message(data) == message


@pytest.mark.parametrize("data", [b"not json %s", b'{"error": "%s"}', b'{"oops": "%s"}', b"<p>%s"])
def test_a_quoted_reply_holds_no_key(data: bytes) -> None:
    key = "sk-0123456789abcdef"
    with pytest.raises(EngineError, match=r"\[key\]") as caught:
        completion_from(data % key.encode(), Redaction((key,)))
    assert key not in str(caught.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)

SHAPED = st.fixed_dictionaries(
    {
        "choices": st.lists(
            st.dictionaries(
                st.sampled_from(["message", "delta", "finish_reason", "index", "error"]),
                st.dictionaries(
                    st.sampled_from(["content", "reasoning", "refusal", "text"]), JSON | st.text()
                )
                | JSON,
            )
            | JSON
        )
        | JSON
    },
    optional={"error": JSON, "usage": JSON | st.dictionaries(st.text(), JSON)},
)


def outcome(data: bytes, key: str) -> str:
    """Read a body; what came of it in words: all that is stored or shown of it."""
    reply = StreamedReply()
    try:
        reply.add(data, key)
        completion = reply.completion()
    except Transient as fault:
        return str(fault)
    assert 0 <= completion.usage.cached <= completion.usage.input < 2**31
    return storable_text(completion.text + completion.reasoning)


@given(JSON | SHAPED, st.sampled_from(["message", "delta"]))
def test_any_json_at_all_is_a_completion_or_a_fault_with_a_name(value: object, key: str) -> None:
    said = outcome(json.dumps(value).encode("utf-8", "surrogatepass"), key)
    assert said.encode().decode() == said
    assert "\0" not in said


@given(st.binary() | st.binary().map(b"data: ".__add__))
def test_any_bytes_at_all_are_a_completion_or_a_fault_with_a_name(data: bytes) -> None:
    assert printable(outcome(data, "message")) == outcome(data, "message")
    with contextlib.suppress(Transient):
        StreamedReply().add_line(data)
    assert isinstance(error_message(data), str)


# --- Several samples in one reply: each read by itself, their tokens divided without a remainder.


USAGE = {"prompt_tokens": 100, "completion_tokens": 30}


def choice(text: Any, **more: Any) -> dict[str, Any]:
    return {"message": {"content": text}, "finish_reason": "stop"} | more


def several(*choices: Any, usage: Any = USAGE) -> bytes:
    return json.dumps({"choices": choices, "usage": usage}).encode()


def read(data: bytes, samples: int) -> tuple[SampledCompletion, int]:
    return sampled_from(data, SampledCall((), "direct", 64, samples=samples))


def texts(data: bytes, samples: int) -> list[str | None]:
    found, _ = read(data, samples)
    return [one.text if one else None for one in found.replies]


def test_every_choice_is_a_completion_of_its_own() -> None:
    cut = choice("b", finish_reason="length")
    thought = {"message": {"content": "c", "reasoning_content": "why"}, "finish_reason": "stop"}
    found, came = read(several(choice("a"), cut, thought), 3)
    assert came == 3
    assert found.replies == (
        Completion("a", usage=Usage(100, 5)),
        Completion("b", "length", usage=Usage(100, 5)),
        Completion("c", reasoning="why", usage=Usage(100, 20)),
    )
    assert (found.text, found.usage) == ("a", Usage(100, 30))
    unknown, _ = read(several(choice("a"), choice("b"), usage=None), 2)
    assert [one.usage.reported for one in unknown.replies if one] == [False, False]


def test_choices_go_by_their_index_and_by_their_order_where_that_makes_no_sense() -> None:
    assert texts(several(choice("b", index=1), choice("a", index=0)), 2) == ["a", "b"]
    assert texts(several(choice("b", index=2)), 3) == [None, None, "b"]
    for odd in (0, "x", None, 7, True, 1.0):
        same = (choice("a", index=odd), choice("b", index=odd))
        assert texts(several(*same), 2) == ["a", "b"]
    # Fewer than were asked for are counted, and more left out.
    assert read(several(choice("a")), 3)[1] == 1
    assert texts(several(choice("a")), 3) == ["a", None, None]
    assert texts(several(choice("a"), choice("b"), choice("c")), 2) == ["a", "b"]


@pytest.mark.parametrize(
    "bad",
    [
        *(None, "text", {"finish_reason": "stop"}, choice(5)),
        *(choice("x", finish_reason="error"), choice("x", error={"message": "no"})),
    ],
)
def test_a_choice_that_nobody_can_read_costs_no_other(bad: Any) -> None:
    data = several(choice("a"), bad, choice(""))
    assert texts(data, 3) == ["a", None, ""]
    found, came = read(data, 3)
    assert came == 3
    assert sum(one.usage.output for one in found.replies if one) == 30
    assert texts(several(bad, choice("b")), 2) == [None, "b"]
    with pytest.raises(BadReply):
        read(several(bad, bad), 2)


def test_a_reply_without_any_choice_is_a_fault() -> None:
    with pytest.raises(BadReply, match="no choices"):
        read(several(), 2)
    with pytest.raises(ServerFault, match="full"):
        read(b'{"error": {"message": "full"}}', 2)


def test_of_a_reply_that_counts_the_first_alone_only_the_first_is_taken() -> None:
    whole = {"choices": [choice("a"), choice("b")], "usage": USAGE}
    llama = json.dumps(whole | {"timings": {"predicted_n": 30}}).encode()
    found, came = read(llama, 2)
    assert (came, found.replies) == (1, (Completion("a", usage=Usage(100, 30)), None))
    for fine in ({"predicted_n": 15}, {}, None, 30):
        assert texts(json.dumps(whole | {"timings": fine}).encode(), 2) == ["a", "b"]


def test_what_came_from_the_cache_did_so_once() -> None:
    assert divide(Usage(10, 9, 6, 4), [2, 1]) == [Usage(10, 6, 4, 4), Usage(10, 3, 2, 0)]
    assert [one.output for one in divide(Usage(1, 7), [0, 0, 0])] == [2, 2, 3]


@given(
    st.integers(0, 10**9),
    st.integers(0, 10**9),
    st.lists(st.integers(0, 10**6), min_size=1, max_size=20),
)
def test_parts_add_up_and_reasoning_is_within_the_output(
    written: int, thought: int, lengths: list[int]
) -> None:
    whole = Usage(5, written, min(thought, written))
    parts = divide(whole, lengths)
    assert sum(one.output for one in parts) == whole.output
    assert sum(one.reasoning for one in parts) == whole.reasoning
    assert all(0 <= one.reasoning <= one.output for one in parts)


CHOICES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["index", "message", "content", "error"]), inner)
    ),
    max_leaves=10,
)


@given(st.lists(CHOICES, max_size=4), st.integers(1, 4))
def test_any_choices_at_all_are_completions_or_a_fault_with_a_name(
    found: list[Any], samples: int
) -> None:
    try:
        whole, _ = read(several(*found), samples)
    except EngineError:
        return
    assert len(whole.replies) == samples
    assert any(isinstance(one, Completion) for one in whole.replies)


@pytest.mark.parametrize(
    ("events", "tokens", "twice"),
    [
        *((events, tokens, True) for events, tokens in (("aabbcc", 3), ("aabb", 2))),
        *(
            (events, tokens, True)
            for events, tokens in (("aabbaabb", 4), ("aabbccddeeffgghh", None))
        ),
        *((events, 3, False) for events in ("abc", "aabbc", "aabcc", "abbcca")),
        ("", 0, False),
        ("aabbcc", 6, False),  # as many events as tokens: the model wrote it so
        ("00", 2, False),
        ("00000000000000000000", None, False),  # a model that has got stuck
        ("aabbcc", None, False),  # nothing counted, and too few to be certain
    ],
)
def test_events_that_all_came_twice(events: str, tokens: int | None, *, twice: bool) -> None:
    paired = PairedEvents()
    for event in events:
        paired.add(event.encode())
    assert paired.doubled(tokens) is twice
