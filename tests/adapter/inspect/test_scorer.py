"""The grader as a scorer: what is correct, what is not, and what nobody can decide."""

from __future__ import annotations

import math
from typing import Any

import pytest
from inspecting import NEEDS_INSPECT, chat, run_task
from loopback import Endpoint

from constraint_first.answer.grade import Verdict

pytestmark = NEEDS_INSPECT
pytest.importorskip("inspect_ai", reason="inspect_ai (the extra `inspect`) is not installed")

from inspect_ai import Task  # noqa: E402
from inspect_ai.dataset import Sample  # noqa: E402
from inspect_ai.solver import generate  # noqa: E402

from constraint_first.adapter import inspect as scorer  # noqa: E402
from constraint_first.adapter.inspect import grade, method  # noqa: E402


def run(endpoint: Endpoint, target: Any = "1/2", solver: Any = None, **options: Any) -> Any:
    samples = [Sample(id="one", input="What is half of one?", target=target)]
    return run_task(
        Task(dataset=samples, solver=solver or generate(), scorer=grade()), endpoint, **options
    )


@pytest.mark.parametrize(
    ("text", "finish", "value", "answer"),
    [
        ("So it is $\\boxed{0.5}$.", "stop", "C", "0.5"),
        ("The final answer is 3.", "stop", "I", "3"),
        ("Let us see. If x = 0.5 then", "length", "I", None),
        ("", "stop", "I", None),
    ],
)
def test_any_reply_is_graded_by_its_final_answer(
    text: str, finish: str, value: str, answer: str | None, endpoint: Endpoint
) -> None:
    endpoint.script(chat(text, finish))
    (sample,) = run(endpoint).samples
    score = sample.scores["grade"]
    assert (score.value, score.answer) == (value, answer)
    assert score.explanation.startswith("correct: " if value == "C" else "incorrect: ")
    assert score.metadata["tier"] == "exact"


def test_of_several_targets_any_will_do(endpoint: Endpoint) -> None:
    endpoint.script(chat("\\boxed{3}"))
    (sample,) = run(endpoint, ["1/2", "3"]).samples
    assert sample.scores["grade"].value == "C"


def test_what_nobody_can_decide_is_not_scored(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def undecided(cases: list[Any]) -> list[Verdict]:
        return [
            Verdict("undecided", "symbolic", one.answer, "it took too long", 5) for one in cases
        ]

    monkeypatch.setattr(scorer, "grade_all", undecided)
    endpoint.script(chat("\\boxed{3}"))
    log = run(endpoint)
    score = log.samples[0].scores["grade"]
    assert math.isnan(score.value)
    assert (score.answer, score.explanation) == ("3", "undecided: it took too long")
    assert score.metadata["verdict"] == "undecided"
    (scored,) = log.results.scores
    assert (scored.scored_samples, scored.unscored_samples) == (0, 1)


def test_the_answer_of_a_method_is_graded_with_its_confidence(endpoint: Endpoint) -> None:
    endpoint.script(chat("```python\nprint(1 / 2)\n```"))
    log = run(endpoint, solver=method("program"))
    score = log.samples[0].scores["grade"]
    assert (score.value, score.answer) == ("C", "0.5")
    assert score.metadata["confidence"] == 0.5
    metrics = log.results.scores[0].metrics
    assert {name: one.value for name, one in metrics.items()} == {"accuracy": 1, "stderr": 0}


def test_an_output_that_came_after_the_method_is_graded_instead(endpoint: Endpoint) -> None:
    endpoint.script(chat("\\boxed{3}"), chat("No, it is \\boxed{1/2}."))
    (sample,) = run(endpoint, solver=[method("direct"), generate()]).samples
    assert sample.scores["grade"].answer == "1/2"
    assert "confidence" not in sample.scores["grade"].metadata


def test_a_sample_without_a_target_is_an_error(endpoint: Endpoint) -> None:
    endpoint.script(chat("\\boxed{3}"))
    log = run(endpoint, "", fail_on_error=False)
    told = log.samples[0].error.message
    assert told == "sample one: has no target, and cfr/grade compares with one"
