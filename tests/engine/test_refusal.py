import pytest

from constraint_first.model.error import (
    EngineError,
    ModelNotFound,
    PromptTooLong,
    RateLimited,
    Rejected,
    ServerFault,
    Transient,
    Unauthorized,
)
from constraint_first.model.transport import (
    DecodingRefused,
    Endpoint,
    ParameterRefused,
    Setting,
    refusal,
)
from constraint_first.model.wire import Decoding

ENDPOINT = Endpoint("http://h/v1", "m", key_name="MY_KEY")


def refused(status: int, message: str = "no", **headers: str) -> EngineError:
    body = b'{"error": {"message": "%s"}}' % message.encode()
    return refusal(ENDPOINT, status, headers, body)


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


def test_the_status_is_kept() -> None:
    assert [refused(status).status for status in (401, 404, 429, 500)] == [401, 404, 429, 500]


def test_retry_after_is_passed_on() -> None:
    error = refused(429, **{"Retry-After": "7"})
    assert isinstance(error, Transient)
    assert error.retry_after == 7


def test_a_spent_account_is_not_asked_again() -> None:
    assert not isinstance(refused(429, "You exceeded your current quota"), Transient)


@pytest.mark.parametrize(
    ("message", "after", "pause"),
    [
        ("Quota exceeded for requests per minute", "1", 1),
        ("You exceeded your current quota", "20", 20),
        ("Quota exceeded for requests per minute", None, None),
        ("You exceeded your current quota. Please retry in 38.5s.", None, 38.5),
        ("Rate limit reached. Please try again in 20s.", None, 20),
        ("slow down", "Mon, 01 Jan 2030 00:00:00 +99999999999999999", None),
        ("slow down", "nan", None),
    ],
)
def test_a_quota_that_time_refills_is_waited_for(
    message: str, after: str | None, pause: float | None
) -> None:
    error = refused(429, message, **({"Retry-After": after} if after else {}))
    assert isinstance(error, RateLimited)
    assert error.retry_after == pause


@pytest.mark.parametrize(
    ("url", "way_out"),
    [
        ("http://h:8000", "most addresses end in /v1: try http://h:8000/v1"),
        ("http://me:hush@h/?token=hush", "try http://h/v1"),
        ("http://h/v1", "check the model name 'm' and the address"),
    ],
)
@pytest.mark.parametrize("status", [404, 405])
def test_a_path_that_leads_nowhere_suggests_the_usual_one(
    url: str, way_out: str, status: int
) -> None:
    error = refusal(Endpoint(url, "m"), status, {}, b"Not Found")
    assert type(error) is ModelNotFound
    assert way_out in str(error)
    assert "hush" not in str(error)


@pytest.mark.parametrize(
    ("message", "setting"),
    [
        ("Unsupported value: 'temperature' does not support 0.7 with this model.", "temperature"),
        ("temperature is not supported with this model", "temperature"),
        ("invalid temperature: only 1 is allowed for this model", "temperature"),
        ("Unrecognized request argument supplied: top_p", "top_p"),
        ("`temperature` and `top_p` cannot both be specified for this model.", "top_p"),
        ("body.top_p: Extra inputs are not permitted", "top_p"),
        ("seed: unexpected field", "seed"),
    ],
)
def test_a_setting_that_the_model_does_not_take(message: str, setting: Setting) -> None:
    error = refused(400, message)
    assert isinstance(error, DecodingRefused)
    assert (error.model, error.setting, error.most) == ("m", setting, None)
    assert error.change == f"{setting} is refused by the model and not sent"
    without = error.adapt(Decoding(seed=5))
    assert getattr(without, setting) is None
    assert error.adapt(without) == without


@pytest.mark.parametrize(
    "message",
    [
        "max_tokens is too large: 32768. This model supports at most 8192 completion tokens",
        "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]",
        "Range of max_tokens should be [1, 8192]",
        "max_tokens: 32768 > 8192, which is the maximum allowed number of output tokens",
        "`max_tokens` must be less than or equal to `8192`, the maximum value",
        "max_completion_tokens must be <= 8192",
        "x" * 300 + "max_tokens exceeds the maximum of 8192",
    ],
)
def test_a_budget_that_the_model_does_not_take(message: str) -> None:
    error = refused(400, message)
    assert isinstance(error, DecodingRefused)
    assert (error.setting, error.most) == ("max_tokens", 8192)
    assert "--max-tokens" in str(error)
    assert error.adapt(Decoding()) == Decoding(max_tokens=8192)
    assert error.adapt(Decoding(max_tokens=9000)) == Decoding(max_tokens=9000)


@pytest.mark.parametrize(
    ("message", "way_out"),
    [
        ("temperature must be between 0 and 1", "choose another --temperature, or none"),
        ("seed must be positive", "leave --seed out"),
        ("max_tokens must be > 0", "HTTP 400"),
        ("max_tokens must be at most 99999999999999999999", "HTTP 400"),
        ("The temperature in the problem" + " is high." * 20 + " This is not supported", "none"),
    ],
)
def test_a_value_that_is_refused_is_not_replaced(message: str, way_out: str) -> None:
    error = refused(400, message)
    assert type(error) is Rejected
    assert way_out in str(error)


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
