"""Lines of batch files against the documented formats of OpenAI's batch API and vLLM."""

import json
from typing import Any

import orjson
import pytest

from constraint_first.model.batch import NOT_PERFORMED, BadResult, Result, read_result, request_line
from constraint_first.model.wire import error_message

BODY = {"model": "m", "messages": [{"role": "user", "content": "1 + 1 = \n ü?"}], "max_tokens": 9}


def test_a_request_is_one_line_with_the_four_documented_fields() -> None:
    line = request_line("s1-p1-r0-c0", orjson.dumps(BODY))
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert json.loads(line) == {
        "custom_id": "s1-p1-r0-c0",
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": BODY,
    }


def written(**fields: Any) -> bytes:
    return json.dumps({"id": "batch_req_1", "custom_id": "a", **fields}).encode()


def test_a_result_is_a_status_and_a_body() -> None:
    reply = {"choices": [{"message": {"content": "2"}}]}
    response = {"status_code": 200, "request_id": "req_1", "body": reply}
    name, result = read_result(written(response=response, error=None))
    assert (name, result.status, json.loads(result.body)) == ("a", 200, reply)
    assert result.succeeded


def test_a_refusal_is_that_of_the_endpoint() -> None:
    body = {"error": {"message": "no such model", "type": "invalid_request_error"}}
    response = {"status_code": 400, "request_id": "req_1", "body": body}
    _, result = read_result(written(response=response, error=None))
    assert not result.succeeded
    assert (result.status, error_message(result.body)) == (400, "no such model")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ({"error": {"message": "too long", "code": 400}}, "too long"),
        ({"message": "too long", "code": 400}, "too long"),
        ("too long", '"too long"'),
    ],
)
def test_vllm_refuses_with_a_status_and_an_error_beside_it(error: Any, said: str) -> None:
    response = {"status_code": 400, "request_id": "vllm-batch-1", "body": None}
    _, result = read_result(written(response=response, error=error))
    assert (result.status, error_message(result.body)) == (400, said)


def test_a_request_that_was_not_performed_says_why() -> None:
    error = {"code": "batch_expired", "message": "the completion window expired"}
    _, result = read_result(written(response=None, error=error))
    assert (result.status, result.cancelled) == (NOT_PERFORMED, False)
    assert error_message(result.body) == "the completion window expired"
    _, result = read_result(written(response=None, error={"code": "batch_cancelled"}))
    assert result.cancelled


def test_a_body_that_is_text_is_taken_as_it_is() -> None:
    response = {"status_code": 502, "body": "<html>"}
    assert read_result(written(response=response)) == ("a", Result(502, b"<html>"))


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"", "not JSON"),
        (b'{"custom_id": "a", "resp', "not JSON"),
        (b"[1]", "not a JSON object"),
        (b"{}", "no custom_id"),
        (b'{"custom_id": 3}', "no custom_id"),
        (b'{"custom_id": "a"}', "neither a response nor an error"),
        (b'{"custom_id": "a", "response": {}}', "no status_code"),
        (b'{"custom_id": "a", "response": {"status_code": true}}', "no status_code"),
        (b'{"custom_id": "a", "response": {"status_code": 9999}}', "no status_code"),
    ],
)
def test_what_is_no_result_says_what_is_wrong(line: bytes, why: str) -> None:
    with pytest.raises(BadResult, match=why):
        read_result(line)
