import json
from dataclasses import replace
from typing import Any

import pytest

from cfr.engine.chat import StreamedReply, completion_from, error_message, request_for
from cfr.engine.engine import Decoding
from cfr.engine.error import BadReply, ServerFault
from cfr.protocol import Call, Usage

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


def test_samples_of_one_question_have_seeds_of_their_own() -> None:
    seeds = [
        request_for(replace(CALL, sample=n), "m", Decoding(seed=5), "off")["seed"] for n in (0, 1)
    ]
    assert seeds == [5, 6]


def test_decoding_is_the_papers_unless_told_otherwise() -> None:
    request = request_for(CALL, "m", Decoding(), "off")
    assert (request["temperature"], request["top_p"]) == (0.7, 0.95)
    assert "seed" not in request
    assert "response_format" not in request


def test_samples_of_one_call_have_seeds_of_their_own() -> None:
    second = request_for(replace(CALL, sample=1), "m", Decoding(seed=5), "object")
    assert second["seed"] == 6


def test_a_schema_is_sent_where_it_can_be_enforced() -> None:
    wanted = request_for(CALL, "m", Decoding(), "schema")["response_format"]
    assert wanted == {
        "type": "json_schema",
        "json_schema": {"name": "stage1", "schema": {"type": "object"}, "strict": True},
    }
    without = Call.user("Hi", stage="stage2", max_tokens=9, json=True)
    format_ = request_for(without, "m", Decoding(), "schema")["response_format"]
    assert format_ == {"type": "json_object"}


@pytest.mark.parametrize(
    ("message", "text", "reasoning"),
    [
        ({"content": "4"}, "4", ""),
        ({"content": None}, "", ""),
        ({}, "", ""),
        ({"content": "4", "reasoning_content": "2+2"}, "4", "2+2"),
        ({"content": "4", "reasoning": "2+2"}, "4", "2+2"),
        ({"content": [{"type": "text", "text": "4"}, {"type": "text", "text": "!"}]}, "4!", ""),
    ],
)
def test_text_and_reasoning(message: dict[str, Any], text: str, reasoning: str) -> None:
    completion = completion_from(body(message))
    assert (completion.text, completion.reasoning) == (text, reasoning)


def test_text_that_no_database_takes_is_replaced_before_a_method_sees_it() -> None:
    assert completion_from(body({"content": "a\0b\ud800c"})).text == "a�b?c"


@pytest.mark.parametrize(
    ("reason", "finish"),
    [("stop", "stop"), ("length", "length"), ("content_filter", "other"), (None, "other")],
)
def test_finish_reasons(reason: str | None, finish: str) -> None:
    assert completion_from(body({"content": ""}, reason)).finish == finish


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 3, "completion_tokens": 4}, Usage(3, 4)),
        (
            {
                "prompt_tokens": 3,
                "completion_tokens": 4,
                "completion_tokens_details": {"reasoning_tokens": 2},
                "prompt_tokens_details": {"cached_tokens": 1},
            },
            Usage(3, 4, reasoning=2, cached=1),
        ),
        (
            {"prompt_tokens": 3, "completion_tokens": 4, "prompt_cache_hit_tokens": 2},
            Usage(3, 4, cached=2),
        ),
        ({"prompt_tokens": None, "completion_tokens_details": None}, Usage()),
        (None, Usage(reported=False)),
    ],
)
def test_token_counts_wherever_they_stand(usage: dict[str, Any] | None, expected: Usage) -> None:
    assert completion_from(body({"content": ""}, usage=usage)).usage == expected


@pytest.mark.parametrize(
    "data", [b"<html>", b"", b"[]", b'"x"', b"{}", b'{"choices": []}', b'{"choices": [3]}']
)
def test_what_is_not_a_completion_is_a_fault_and_no_answer(data: bytes) -> None:
    with pytest.raises(BadReply, match="endpoint's reply"):
        completion_from(data)


def test_an_error_in_a_good_status_is_a_fault() -> None:
    with pytest.raises(ServerFault, match="overloaded"):
        completion_from(b'{"error": {"message": "overloaded"}}')


def test_a_streamed_reply_grows_line_by_line() -> None:
    reply = StreamedReply()
    assert reply.add_line(b": ping\n") == ("", "")
    assert reply.add_line(b'data: {"choices":[{"delta":{"content":"4"}}]}\n') == ("4", "")
    assert reply.finish is None
    reply.add_line(b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n')
    reply.add_line(b'data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}\n')
    completion = reply.completion()
    assert (completion.text, completion.finish, completion.usage) == ("4", "stop", Usage(1, 2))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"error": {"message": "no\\nsuch  model"}}', "no such model"),
        (b'{"error": "bad"}', '"bad"'),
        (b'{"detail": "Not Found"}', '"Not Found"'),
        (b"<h1>Bad\nGateway</h1>", "<h1>Bad Gateway</h1>"),
        (b"", ""),
    ],
)
def test_error_bodies_become_one_line(data: bytes, message: str) -> None:
    assert error_message(data) == message
