import pytest

from constraint_first.method.constraint_first import LLMRouted, read_decision
from constraint_first.problem import Problem
from constraint_first.protocol import Completion, Run

PROBLEM = Problem("Find the remainder when $3^5$ is divided by 7.")


@pytest.mark.parametrize(
    ("reply", "decision"),
    [
        ('{"restrictive": "yes"}', True),
        ('{"restrictive": "No"}', False),
        ('{"restrictive": true}', True),
        ('```json\n{"restrictive": "no"}\n```', False),
        ("<think>maybe no</think> Yes.", True),
        ("It depends.", None),
        ('{"restrictive": "perhaps"}', None),
        ("", None),
    ],
)
def test_the_decision_is_read(reply: str, decision: bool | None) -> None:
    assert read_decision(reply) is decision
    run = Run(LLMRouted().solve(PROBLEM))
    (call,) = run.calls
    assert (call.stage, call.json) == ("router", True)
    run.advance((Completion(reply),))
    assert run.calls[0].stage == ("stage1" if decision else "direct")


def test_what_was_decided_is_remembered() -> None:
    run = Run(LLMRouted().solve(PROBLEM))
    run.advance((Completion("It depends."),))
    run.advance((Completion(r"\boxed{5}"),))
    assert run.result.answer == "5"
    assert run.result.details["routed"] is False
    assert run.result.details["router_readable"] is False
