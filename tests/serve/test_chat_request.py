from typing import Any

import pytest

from constraint_first.protocol import Message
from constraint_first.serve.request import ChatRequest, check_length, is_foreign, read_request
from constraint_first.serve.setting import RequestError

USER = {"role": "user", "content": "What is 2 + 2?"}


def request(*before: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"model": "direct@m", "messages": [*before, USER], **fields}


def test_the_last_message_is_the_problem_and_all_before_it_its_context() -> None:
    asked = read_request(
        request(
            {"role": "developer", "content": "Be brief."},
            {
                "role": "user",
                "content": [{"type": "text", "text": "Hi"}, {"type": "text", "text": "!"}],
            },
            {"role": "assistant", "content": None, "reasoning_content": "hm"},
        )
    )
    assert asked == ChatRequest(
        "What is 2 + 2?",
        (Message("system", "Be brief."), Message("user", "Hi\n!"), Message("assistant", "")),
    )


def test_settings_and_fields_that_we_do_not_know() -> None:
    asked = read_request(
        request(
            temperature=0, top_p=0.5, seed=7, max_tokens=100, max_completion_tokens=50, n=3,
            stop="END", stream=True, stream_options={"include_usage": True}, user="u", top_k=4,
            response_format={"type": "text"}, tools=[], logprobs=False,
        )
    )  # fmt: skip
    assert asked.chosen == {"temperature": 0, "top_p": 0.5, "seed": 7}
    assert (asked.max_tokens, asked.n, asked.stop) == (50, 3, ("END",))
    assert (asked.stream, asked.include_usage) == (True, True)
    assert asked.extra == {"user": "u", "top_k": 4}


def test_null_is_what_is_not_there() -> None:
    nothing = dict.fromkeys(
        "temperature top_p seed max_tokens n stop stream stream_options tools logprobs "
        "response_format modalities".split()
    )
    assert not is_foreign(request(**nothing))
    assert read_request(request(**nothing)) == ChatRequest("What is 2 + 2?")


FOREIGN: list[dict[str, Any]] = [
    {"tools": [{"type": "function"}]},
    {"functions": [{}]},
    {"response_format": {"type": "json_object"}},
    {"response_format": {"type": "json_schema", "json_schema": {}}},
    {"logprobs": True},
    {"modalities": ["text", "audio"]},
    {"audio": {"voice": "x"}},
    {"guided_json": {"type": "object"}},
    {"grammar": "root ::= x"},
    {"messages": [USER, {"role": "assistant", "content": "It is"}]},
    {"messages": [{"role": "system", "content": "Be brief."}]},
    {"messages": [{"role": "tool", "content": "4"}, USER]},
    {"messages": [{"role": "assistant", "tool_calls": [{}]}, USER]},
    {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]},
    {"messages": [{"role": "user", "content": [{"type": "input_audio"}]}, USER]},
]


@pytest.mark.parametrize("fields", FOREIGN)
def test_what_no_method_gives_passes_through(fields: dict[str, Any]) -> None:
    assert is_foreign(request() | fields)


def test_a_book_is_no_problem() -> None:
    long = {"role": "user", "content": "x" * 200_001}
    with pytest.raises(RequestError, match="200,001 characters") as error:
        check_length(read_request({"messages": [long]}))
    assert error.value.code == "context_length_exceeded"
    assert read_request({"messages": [long, USER]}).context


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"messages": None}, "messages"),
        ({"messages": []}, "messages"),
        ({"messages": "hi"}, "messages"),
        ({"messages": ["hi"]}, "messages[0]"),
        ({"messages": [{"role": "boss", "content": "hi"}]}, "messages[0].role"),
        ({"messages": [{"role": "user", "content": 5}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": [{"type": "text"}]}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": " "}]}, "messages"),
        ({"temperature": 3}, "temperature"),
        ({"temperature": "hot"}, "temperature"),
        ({"temperature": True}, "temperature"),
        ({"temperature": float("nan")}, "temperature"),
        ({"top_p": -1}, "top_p"),
        ({"seed": 1.5}, "seed"),
        ({"seed": 2**70}, "seed"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"n": 0}, "n"),
        ({"n": 129}, "n"),
        ({"stop": 5}, "stop"),
        ({"stop": [""]}, "stop"),
        ({"stop": ["x"] * 17}, "stop"),
        ({"stream": "yes"}, "stream"),
        ({"stream": True, "stream_options": {"include_usage": 1}}, "include_usage"),
    ],
)
def test_what_is_wrong_is_named(fields: dict[str, Any], param: str) -> None:
    assert not is_foreign(request() | fields)
    with pytest.raises(RequestError, match="must") as error:
        read_request(request() | fields)
    assert (error.value.status, error.value.param) == (400, param)
