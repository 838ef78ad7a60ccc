"""Replies in OpenAI's format: answers, the work before them, errors, the log and the counts."""

import json
from io import StringIO
from typing import Any

import pytest
from aiohttp.test_utils import make_mocked_request
from snapshot import Golden

from constraint_first.attempt.attempt import Attempt
from constraint_first.error import InputError
from constraint_first.method.baselines import Direct
from constraint_first.method.method import MethodError, mended, stated_in
from constraint_first.method.registry import make
from constraint_first.method.sound import assess
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
from constraint_first.model.limit import Cost
from constraint_first.model.transport import DecodingRefused
from constraint_first.problem import Json, Problem, Solution
from constraint_first.protocol import (
    Call,
    Completion,
    Entry,
    Exchange,
    Execution,
    Output,
    Program,
    Usage,
)
from constraint_first.sandbox.interpreter import SandboxMissing
from constraint_first.serve.attempt import (
    Metrics,
    ReplyHead,
    Words,
    describe_checks,
    describe_start,
    final_text,
    message,
    own_part,
)
from constraint_first.serve.guard import Served
from constraint_first.serve.request import RequestError, request_error
from constraint_first.serve.server import access_line, describe_access
from constraint_first.store.database import StoreError

PROBLEM = Problem("Find the remainder when $3^5$ is divided by 7.", id="p")


def exchange(stage: str, text: str, **more: Any) -> Exchange:
    reply = Completion(text, usage=Usage(10, 5, 2, 3), **more)
    return Exchange(Call.user("?", stage=stage, max_tokens=9), reply)


def answered(solution: Solution, *transcript: Entry, **more: Any) -> Attempt:
    more |= {"name": "direct", "model": "m", "run": 0}
    return Attempt(PROBLEM, Direct(), solution, transcript, 1.23456, **more)


def test_a_solution_says_its_answer() -> None:
    assert final_text(Solution("5", r"So \boxed{5}.")) == r"So \boxed{5}."
    printed = final_text(Solution("5", "```python\nprint(5)\n```"))
    assert printed.endswith("\n\n**Answer:** $\\boxed{5}$")
    assert final_text(Solution("6", r"So \boxed{5}.")).endswith(r"$\boxed{6}$")
    assert final_text(Solution(None, "I do not know.")) == "I do not know."
    twice = r"First \boxed{5}, no, \boxed{7}."
    assert final_text(Solution("7", twice)) == twice
    assert final_text(Solution("5", twice)).endswith(r"$\boxed{5}$")
    assert final_text(Solution("5", "")) == "**Answer:** $\\boxed{5}$"


def test_the_reply_that_became_the_content_is_not_repeated() -> None:
    text = r"So \boxed{5}."
    steps = exchange("draft", "a draft"), exchange("revise", text, reasoning="Hm.")
    told = message(answered(Solution("5", text), *steps))
    assert told["content"] == text
    reasoning = str(told["reasoning_content"])
    assert "a draft" in reasoning
    assert reasoning.endswith("Hm.")
    assert text not in reasoning


def test_the_object_that_only_we_tell() -> None:
    details: dict[str, Json] = {"confidence": 0.5, "checks": [], "how": "boxed"}
    solution = Solution("5", "5", truncated=True, details=details)
    twice = (exchange("direct", "4"), exchange("direct", "5"), exchange("check", "5"))
    told = own_part(answered(solution, *twice, cost=Cost(0.25)))
    assert told["calls"] == {
        "direct": {"calls": 2, "input_tokens": 20, "output_tokens": 10},
        "check": {"calls": 1, "input_tokens": 10, "output_tokens": 5},
    }
    named = ("method", "label", "upstream", "answer", "truncated", "confidence", "checks")
    assert [told[name] for name in named] == ["direct", "Direct CoT", "m", "5", True, 0.5, []]
    assert (told["details"], told["stored"]) == ({"how": "boxed"}, {"problem": "p", "run": 0})
    assert told["seconds"] == 1.235
    assert any("0.25" in str(value) for value in told.values())


def test_the_answer_from_before_a_repair_is_told_with_the_words_it_rests_on() -> None:
    repaired = mended(stated_in(PROBLEM), Solution("243", r"\boxed{243}"), PROBLEM.text)
    told = own_part(answered(repaired))
    assert (told["answer"], told["original_answer"]) == ("5", "243")
    reasoning = str(message(answered(repaired))["reasoning_content"])
    assert "- repair: 243 → 5, because of “Find the remainder when $3^5$ is divided by 7”" in (
        reasoning
    )
    assert "original_answer" not in own_part(answered(Solution("5", r"\boxed{5}")))


def test_chunks() -> None:
    head = ReplyHead('a "quoted"\ud800 name', include_usage=True)
    one = answered(Solution("5", "5", truncated=True), exchange("direct", "5"))
    said = Words(1, "content", StringIO('say "hi"\n\ud800\0'))
    ended = head.event(Words(1, "", ended=one))
    chunks = (head.role(0), head.event(said), ended, head.usage(Usage(1, 2)))
    told = [json.loads(chunk.removeprefix(b"data: ")) for chunk in chunks]
    assert all(chunk.endswith(b"}\n\n") for chunk in chunks)
    assert {one["id"] for one in told} == {head.id}
    assert told[1]["choices"][0]["index"] == 1
    assert told[1]["choices"][0]["delta"] == {"content": 'say "hi"\n��'}
    assert told[2]["choices"][0]["finish_reason"] == "length"
    assert [one["usage"] for one in told[:3]] == [None] * 3
    assert told[3]["usage"]["total_tokens"] == 3
    assert b"usage" not in ReplyHead("m").role(0)


def test_what_a_method_noted_and_no_json_can_hold_is_told_all_the_same() -> None:
    odd: Any = {"huge": 2**80, "half": "\ud800"}
    one = answered(Solution("5", "5", details=odd), exchange("direct", "5"))
    told = json.loads(ReplyHead("m").whole([one]))
    assert told["cfr"]["details"]["huge"] == str(2**80)
    assert make("direct").label == told["cfr"]["label"]


CUED = Problem("Find the remainder when $3^5$ is divided by 7.")
PLAIN = Problem("Compute $3^5$.")
LIST = (
    '{"raw_constraints": [{"id": "C1", "type": "modular", "description": "taken modulo 7"}],'
    ' "propagated_constraints": [{"from": ["C1"], "description": "0 to 6"}],'
    ' "answer_format": "integer"}'
)


def test_what_is_known_before_anything_is_asked() -> None:
    told = describe_start(make("routed-cfr"), CUED)
    assert "Cues:\n- modular_remainder: “remainder”" in told
    assert "The text demands:\n- The answer is a remainder: an integer from 0 to 6." in told
    assert describe_start(make("routed-cfr"), PLAIN) == "No restrictive cue."
    assert describe_start(make("direct"), PLAIN) == ""
    assert describe_start(make("calibrated"), CUED).startswith("Policy: ")


def test_work_from_its_start_on(golden: Golden) -> None:
    source = "print(5)"
    reply = Completion(f"```python\n{source}\n```", reasoning="Let me see.")
    wrong = Execution(Program("print(1/0)\n"), Output("", "ZeroDivisionError: division by zero"))
    checks: list[Json] = [
        {"sentence": f"S{n}.", "truth": t} for n, t in enumerate(("holds", "violated", "odd"))
    ]
    more: dict[str, Json] = {"checks": checks, "conflicts": ["No!"]}
    work: list[Entry] = [
        exchange("stage1", LIST),
        exchange("stage1", "no idea"),
        Exchange(Call.user("?", stage="program", max_tokens=9), reply),
        Execution(Program(f"{source}\n"), Output("5\n")),
        wrong,
    ]
    solutions = (assess(CUED, Solution("5", "5")), Solution("5", "5", details=more))
    made = [Attempt(CUED, make("routed-cfr"), one, tuple(work)) for one in solutions]
    told = [str(message(one)["reasoning_content"]) for one in made]
    assert "\n\n====\n\n".join(told) == golden("served-work.txt")
    assert describe_checks(Solution("5", "")) == ""
    assert describe_checks(Solution(None, "", details={"checks": "odd"})) == ""


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
    told = json.loads(reply.body())["error"]
    assert (reply.status, told["type"], told["code"]) == (status, kind, code)
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


def test_a_line_for_programs_and_one_for_people() -> None:
    headers = {"Authorization": "Bearer a-token"}
    request = make_mocked_request("POST", "/v1/chat/completions?token=secret", headers)
    served = Served(id="chatcmpl-1", model="direct@m", method="direct", upstream="m", stream=True)
    served.usage, served.error = Usage(10, 5), "it went wrong"
    served.spoke()
    line = access_line(request, served, 502)
    assert {"time", "id", "verb", "path", "status", "seconds", "first_word_seconds"} <= set(line)
    assert (line["path"], line["status"]) == ("/v1/chat/completions", 502)
    assert (line["input_tokens"], line["output_tokens"]) == (10, 5)
    said = describe_access(line)
    assert " 502 " in said
    assert said.endswith("POST /v1/chat/completions direct@m 10+5 tokens: it went wrong")
    assert "secret" not in f"{line}{said}"
    assert "a-token" not in f"{line}{said}"


def test_what_is_not_known_is_left_out() -> None:
    line = access_line(make_mocked_request("GET", "/health"), Served(), 200)
    assert not {"model", "method", "stream", "error", "input_tokens"} & set(line)
    assert describe_access(line).endswith("GET /health")


COUNTED = Call.user("?", stage="stage1", max_tokens=9)
COUNTED_REPLY = Completion("4", usage=Usage(10, 5, 2))


def test_what_is_counted() -> None:
    metrics = Metrics()
    metrics.answered("direct", 200, 0.3, 0.1)
    metrics.answered("direct", 429, 0.3, None)
    metrics.watch(lambda: 3, lambda: 1)
    metrics.called(COUNTED, COUNTED_REPLY, 0.2)
    metrics.executed(Output("1"))
    metrics.executed(Output("", "ValueError"))
    shown = (metrics.exposed() or b"").decode()
    for line in (
        'cfr_requests_total{method="direct",status="200"} 1.0',
        'cfr_requests_total{method="direct",status="429"} 1.0',
        'cfr_request_seconds_count{method="direct"} 2.0',
        'cfr_first_token_seconds_count{method="direct"} 1.0',
        "cfr_requests_under_way 3.0",
        "cfr_requests_waiting 1.0",
        'cfr_stage_calls_total{stage="stage1"} 1.0',
        'cfr_stage_seconds_sum{stage="stage1"} 0.2',
        'cfr_tokens_total{direction="input",stage="stage1"} 10.0',
        'cfr_tokens_total{direction="output",stage="stage1"} 5.0',
        'cfr_tokens_total{direction="reasoning",stage="stage1"} 2.0',
        'cfr_programs_total{outcome="error"} 1.0',
        "process_resident_memory_bytes",
    ):
        assert line in shown, line


def test_stages_that_are_made_up_are_one() -> None:
    metrics = Metrics()
    for number in range(300):
        metrics.called(Call.user("?", stage=f"stage-{number}", max_tokens=9), COUNTED_REPLY, 0.1)
    shown = (metrics.exposed() or b"").decode()
    assert 'cfr_stage_calls_total{stage="other"} 200.0' in shown
    assert shown.count("cfr_stage_calls_total{") == 101
