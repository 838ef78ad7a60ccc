import pytest

from constraint_first.method.registry import make
from constraint_first.problem import Problem
from constraint_first.protocol import Completion, Run


@pytest.mark.parametrize(
    ("method", "stage"),
    [
        ("reminder", "solve"),
        ("list-first", "solve"),
        ("check", "solve"),
        ("plan-and-solve", "plan"),
    ],
)
def test_each_asks_once_with_the_whole_budget(method: str, stage: str) -> None:
    run = Run(make(method).solve(Problem("What is $2+2$?")))
    (call,) = run.calls
    assert (call.stage, call.max_tokens, call.json) == (stage, 32_768, False)
    run.advance((Completion(r"So it is \boxed{4}."),))
    assert run.result.answer == "4"
