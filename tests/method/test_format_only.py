from constraint_first.method.baselines import Direct
from constraint_first.method.constraint_first import FormatOnly
from constraint_first.problem import Problem
from constraint_first.protocol import Completion, Run

PROBLEM = Problem("What is $2+2$?")


def test_the_form_is_asked_for_first_and_handed_on() -> None:
    run = Run(FormatOnly().solve(PROBLEM))
    run.advance((Completion("<think>hm</think>\nAn integer.\n"),))
    (call,) = run.calls
    assert call.messages[0].content.endswith("Form of the answer:\nAn integer.")
    run.advance((Completion(r"\boxed{4}"),))
    budgets = [(e.call.stage, e.call.max_tokens) for e in run.exchanges]
    assert budgets == [("format", 1_024), ("solve", 31_744)]
    assert run.result.answer == "4"
    assert run.result.details["format"] == "An integer."


def test_without_a_form_it_is_direct() -> None:
    run = Run(FormatOnly().solve(PROBLEM))
    run.advance((Completion("<think>I wonder whether", "length"),))
    assert run.calls == Run(Direct().solve(PROBLEM)).calls
    run.advance((Completion(r"\boxed{4}"),))
    assert run.result.details["format_truncated"] is True
