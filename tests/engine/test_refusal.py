import pytest

from cfr.engine.error import (
    EngineError,
    ModelNotFound,
    PromptTooLong,
    RateLimited,
    Rejected,
    ServerFault,
    Transient,
    Unauthorized,
)
from cfr.engine.refusal import ParameterRefused, refusal


def refused(status: int, message: str = "no", **headers: str) -> EngineError:
    body = b'{"error": {"message": "%s"}}' % message.encode()
    return refusal("http://h/v1", "m", "MY_KEY", status, headers, body)


@pytest.mark.parametrize(
    ("status", "kind", "way_out"),
    [
        (401, Unauthorized, "MY_KEY"),
        (403, Unauthorized, "MY_KEY"),
        (404, ModelNotFound, "check the model name 'm'"),
        (302, Rejected, "final address"),
        (400, Rejected, "HTTP 400"),
        (422, Rejected, "HTTP 422"),
        (429, RateLimited, "try again later"),
        (500, ServerFault, "try again later"),
        (503, ServerFault, "try again later"),
        (408, ServerFault, "try again later"),
    ],
)
def test_each_status_names_the_place_and_the_way_out(
    status: int, kind: type[EngineError], way_out: str
) -> None:
    error = refused(status)
    assert type(error) is kind
    assert str(error).startswith(f"http://h/v1: HTTP {status} (no)")
    assert way_out in str(error)


def test_retry_after_is_passed_on() -> None:
    error = refused(429, **{"Retry-After": "7"})
    assert isinstance(error, Transient)
    assert error.retry_after == 7


def test_a_spent_account_is_not_asked_again() -> None:
    assert not isinstance(refused(429, "You exceeded your current quota"), Transient)


@pytest.mark.parametrize(
    ("message", "parameter"),
    [
        ("response_format is not supported", "response_format"),
        ("json_object mode unknown", "response_format"),
        ("Unknown field stream_options", "stream_options"),
        ("'max_tokens' is not supported. Use 'max_completion_tokens' instead.", "max_tokens"),
    ],
)
def test_a_parameter_that_is_not_known_is_named(message: str, parameter: str) -> None:
    error = refused(400, message)
    assert isinstance(error, ParameterRefused)
    assert error.parameter == parameter


@pytest.mark.parametrize(
    ("message", "limit"),
    [
        ("This model's maximum context length is 8192 tokens. However", 8192),
        ("request (6031 tokens) exceeds the available context size (2048 tokens)", None),
        ("prompt is too long", None),
    ],
)
def test_a_problem_too_long(message: str, limit: int | None) -> None:
    error = refused(400, message)
    assert isinstance(error, PromptTooLong)
    assert error.limit == limit
    assert "shorten the problem" in str(error)
