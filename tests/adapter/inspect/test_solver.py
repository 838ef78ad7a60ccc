"""Every method as a solver: its name, its options, what it leaves in a sample, what it refuses."""

from __future__ import annotations

import json
from typing import Any

import pytest
from inspecting import NEEDS_INSPECT, chat, run_task
from loopback import Endpoint, Reply, failure

from constraint_first.method.registry import names

pytestmark = NEEDS_INSPECT
pytest.importorskip("inspect_ai", reason="inspect_ai (the extra `inspect`) is not installed")

from inspect_ai import Task  # noqa: E402
from inspect_ai.dataset import Sample  # noqa: E402
from inspect_ai.model import (  # noqa: E402
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    ContentImage,
    GenerateConfig,
)
from inspect_ai.scorer import match  # noqa: E402
from inspect_ai.solver import Solver  # noqa: E402
from inspect_ai.solver._solver import solver_create  # noqa: E402  # pyright: ignore[reportPrivateUsage]
from inspect_ai.util import registry_create  # noqa: E402

from constraint_first.adapter.inspect import PrerequisiteError, grade, method, spell_name  # noqa: E402

TEXT = "Find the remainder when 7^2 is divided by 13."


def task(solver: Solver, given: str | list[ChatMessage] = TEXT, **options: Any) -> Task:
    sample = Sample(id="one", input=given, target="10")
    return Task(dataset=[sample], solver=solver, scorer=grade(), **options)


@pytest.mark.parametrize("name", ["auto", *names()])
def test_every_method_is_a_solver(name: str) -> None:
    assert registry_create("solver", f"cfr/{name}")


def test_options_are_spelt_as_in_a_name() -> None:
    assert spell_name("direct", {}) == "direct"
    assert spell_name("vote", {"samples": 3, "check": False}) == "vote(samples=3,check=off)"
    assert spell_name("vote", {"fallback": None}) == "vote(fallback=none)"
    assert spell_name(["vote(samples=3", "check=off)"], {}) == "vote(samples=3,check=off)"
    assert spell_name("cfr", {"prompts": "paper"}) == "cfr(prompts=paper)"
    assert spell_name("calibrated", {"policy": "a,b.json"}) == 'calibrated(policy="a,b.json")'
    assert spell_name("checked", {"base": "vote(samples=3,agree=1)"}) == (
        "checked(base=vote(samples=3,agree=1))"
    )


@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        ("method", {"name": "direkt"}, "method 'direkt': not known; did you mean 'direct'?"),
        ("vote", {"samples": "many"}, "'many' is not a whole number"),
        ("vote", {"sampels": 3}, "no option 'sampels'; did you mean 'samples'?"),
        ("direct", {"x": "[bold]"}, "no option 'x'"),
        ("auto", {"samples": 3}, "method 'auto': stands for a method"),
    ],
)
def test_what_does_not_exist_is_refused_in_inspects_way(
    name: str, options: dict[str, Any], told: str
) -> None:
    with pytest.raises(PrerequisiteError) as raised:
        solver_create(f"cfr/{name}", **options)
    assert told in str(raised.value.message)


def test_a_sample_has_the_answer_and_all_that_was_noted(endpoint: Endpoint) -> None:
    spec = {"raw_constraints": [{"id": "C1", "type": "modular", "description": "below 13"}]}
    endpoint.script(chat(json.dumps(spec)), chat("So it is \\boxed{10}."))
    log = run_task(task(method("cfr")), endpoint)
    (sample,) = log.samples
    noted = sample.store["cfr"]
    assert (noted["method"], noted["label"]) == ("cfr", "CFR (always-on)")
    assert (noted["answer"], noted["truncated"]) == ("10", False)
    assert noted["details"]["confidence"] == 0.5
    assert {one["truth"] for one in noted["details"]["checks"]} == {"holds"}
    assert "below 13" in json.dumps(noted["details"]["constraints"])
    assert sample.output.completion == "So it is \\boxed{10}."
    assert [one.role for one in sample.messages] == ["user", "assistant"]
    stages = [one.name for one in sample.events if one.event == "span_begin"]
    assert [one for one in stages if one.startswith("stage")] == ["stage1", "stage2"]
    assert log.stats.model_usage["loopback/test-model"].total_tokens == 36
    assert sample.scores["grade"].value == "C"


def test_programs_are_in_the_transcript_and_the_answer_in_the_output(endpoint: Endpoint) -> None:
    endpoint.script(chat("```python\nprint(7**2 % 13)\n```"))
    made = task(method("program"))
    made.scorer = [grade(), match()]
    (sample,) = run_task(made, endpoint).samples
    (told,) = [one.data for one in sample.events if one.event == "info"]
    assert told == {"program": "print(7**2 % 13)\n", "printed": "10\n", "error": ""}
    assert sample.store["cfr"]["details"]["programs"]
    assert "\\boxed{10}" in sample.output.completion
    assert sample.scores["grade"].value == "C"


def test_auto_is_decided_by_the_model(endpoint: Endpoint) -> None:
    endpoint.script(chat("\\boxed{10}"))
    (sample,) = run_task(task(method()), endpoint).samples
    assert sample.store["cfr"]["method"] == "calibrated(policy=unmeasured)"
    assert "no policy comes with the package for test-model" in sample.store["cfr"]["why"]
    named = run_task(task(method()), endpoint, model="loopback/Qwen2.5-Coder-1.5B-Instruct")
    (sample,) = named.samples
    assert sample.store["cfr"]["method"].startswith("calibrated(policy=qwen2.5-coder-1.5b")


def test_messages_ahead_of_the_problem_go_ahead_of_every_call(endpoint: Endpoint) -> None:
    endpoint.script(chat("\\boxed{10}"))
    given: list[ChatMessage] = [
        ChatMessageSystem(content="Be brief."),
        ChatMessageUser(content="What is 1 + 1?"),
        ChatMessageAssistant(content="2"),
        ChatMessageUser(content=TEXT),
    ]
    run_task(task(method("self-refine"), given), endpoint)
    assert len(endpoint.requests) == 3
    for sent in endpoint.requests:
        head = [(one["role"], one["content"]) for one in sent["messages"][:3]]
        assert head == [("system", "Be brief."), ("user", "What is 1 + 1?"), ("assistant", "2")]


def test_settings_of_the_evaluation_decode_every_call(endpoint: Endpoint) -> None:
    endpoint.script(chat("\\boxed{10}"))
    config = GenerateConfig(temperature=0.1, seed=7)
    log = run_task(
        task(method("vote(base=direct,samples=2)"), config=config),
        endpoint,
        epochs=2,
        top_p=0.5,
        max_tokens=99,
    )
    sent = {(one["temperature"], one["top_p"], one["max_tokens"]) for one in endpoint.requests}
    assert sent == {(0.1, 0.5, 99)}
    assert {one["seed"] for one in endpoint.requests} == {7, 8, 1007, 1008}
    assert [one.epoch for one in log.samples] == [1, 2]


def test_another_model_is_found_by_its_role(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint.script(chat("{}"), chat("\\boxed{10}"))
    monkeypatch.setenv("LOOPBACK_BASE_URL", endpoint.url)
    roles = {"reader": "loopback/other"}
    log = run_task(task(method("cfr(extractor=reader)")), endpoint, model_roles=roles)
    assert [one["model"] for one in endpoint.requests] == ["other", "test-model"]
    assert log.stats.role_usage["reader"].total_tokens == 18


def test_a_limit_of_inspect_stops_a_method(endpoint: Endpoint) -> None:
    endpoint.script(chat("\\boxed{10}"))
    (sample,) = run_task(task(method("self-refine")), endpoint, token_limit=20).samples
    assert sample.limit.type == "token"
    assert len(endpoint.requests) == 2
    assert sample.error is None


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ([ChatMessageSystem(content="x")], "sample one: has no message of a user"),
        (" ", "sample one: its input is empty"),
        (
            [ChatMessageUser(content=[ContentImage(image="data:image/png;base64,AAAA")])],
            "sample one: has a part of the kind 'image'",
        ),
    ],
)
def test_what_is_no_problem_is_an_error_of_the_sample(
    given: str | list[ChatMessage], told: str, endpoint: Endpoint
) -> None:
    log = run_task(task(method("direct"), given), endpoint, fail_on_error=False)
    assert log.samples[0].error.message.startswith(told)
    assert endpoint.requests == []


def test_a_model_that_fails_is_an_error_of_the_sample(endpoint: Endpoint) -> None:
    def respond(body: dict[str, Any]) -> Reply:
        return failure(403, "your key is no good")

    endpoint.respond = respond
    log = run_task(task(method("vote(base=direct,samples=3)")), endpoint)
    assert log.status == "error"
    assert "Refused" in log.error.message
    assert "your key is no good" in log.error.message
    assert not log.samples[0].scores


def test_a_backend_other_than_asyncio_is_refused() -> None:
    outside: Any = method("direct")
    with pytest.raises(PrerequisiteError) as raised:
        outside(None, None).send(None)  # no loop of asyncio is running
    assert str(raised.value.message).startswith("INSPECT_ASYNC_BACKEND: ")
