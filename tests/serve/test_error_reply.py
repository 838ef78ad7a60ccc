import json

import pytest

from constraint_first.error import InputError
from constraint_first.method.method import MethodError
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
    Unauthorized,
    Unreachable,
)
from constraint_first.model.transport import DecodingRefused
from constraint_first.sandbox.sandbox import SandboxMissing
from constraint_first.serve.setting import RequestError, request_error
from constraint_first.store.database import StoreError


def refused(status: int) -> Rejected:
    error = Rejected("no")
    error.status = status
    return error


def unavailable() -> ServerFault:
    error = ServerFault("busy", 3)
    error.status = 503
    return error


@pytest.mark.parametrize(
    ("error", "status", "kind", "code"),
    [
        (RateLimited("slow down", 6.2), 429, "rate_limit_error", "rate_limit_exceeded"),
        (Unreachable("away"), 502, "server_error", "upstream_failed"),
        (StreamCut("cut"), 502, "server_error", "upstream_failed"),
        (BadReply("odd"), 502, "server_error", "upstream_failed"),
        (unavailable(), 503, "server_error", "upstream_failed"),
        (TimedOut("silent"), 504, "server_error", "upstream_timeout"),
        (TookTooLong("long"), 504, "server_error", "upstream_timeout"),
        (Unauthorized("no key"), 502, "server_error", "upstream_unauthorized"),
        (ModelNotFound("none"), 404, "not_found_error", "model_not_found"),
        (MethodError("none"), 404, "not_found_error", "model_not_found"),
        (PromptTooLong("long"), 400, "invalid_request_error", "context_length_exceeded"),
        (DecodingRefused("no", "m", "top_p"), 400, "invalid_request_error", "unsupported_value"),
        (refused(422), 422, "invalid_request_error", None),
        (refused(429), 429, "rate_limit_error", "insufficient_quota"),
        (refused(302), 502, "server_error", "upstream_failed"),
        (EngineError("odd"), 502, "server_error", "upstream_failed"),
        (SandboxMissing("none"), 501, "server_error", "sandbox_missing"),
        (StoreError("full"), 500, "server_error", "journal"),
        (InputError("odd"), 400, "invalid_request_error", None),
        (RequestError("no", 403, code="x"), 403, "permission_error", "x"),
        (ExceptionGroup("several", [RateLimited("slow down")]), 429, "rate_limit_error",
         "rate_limit_exceeded"),
    ],
)  # fmt: skip
def test_each_error_has_its_status_and_its_name(
    error: Exception, status: int, kind: str, code: str | None
) -> None:
    reply = request_error(error)
    assert (reply.status, reply.type, reply.code) == (status, kind, code)
    told = json.loads(reply.body())["error"]
    assert set(told) == {"message", "type", "param", "code"}
    response = reply.response()
    assert response.status == status
    assert response.content_type == "application/json"


def test_the_time_to_wait_is_a_header_in_whole_seconds() -> None:
    assert request_error(RateLimited("x", 6.2)).response().headers["Retry-After"] == "7"
    assert "Retry-After" not in request_error(RateLimited("x")).response().headers
    assert "Retry-After" not in request_error(RateLimited("x", float("inf"))).response().headers


def test_an_error_that_we_have_no_words_for_is_not_quoted() -> None:
    reply = request_error(KeyError("sk-secret"))
    assert reply.status == 500
    assert b"sk-secret" not in reply.body()


def test_half_a_surrogate_pair_is_told_all_the_same() -> None:
    assert b"odd" in request_error(RequestError("odd \ud800")).body()
