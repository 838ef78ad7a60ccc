from snapshot import assert_unchanged

from constraint_first.method.baselines import Direct
from constraint_first.problem import Problem
from constraint_first.protocol import Completion, Run


def test_direct_asks_once_with_the_whole_budget() -> None:
    run = Run(Direct().solve(Problem("What is $2+2$? {x}", benchmark="aime24", answer="4")))
    (call,) = run.calls
    assert (call.stage, call.max_tokens, call.json) == ("direct", 32_768, False)
    assert_unchanged("direct.txt", call.messages[0].content)
    run.advance((Completion(r"So it is \boxed{4}."),))
    assert run.result.answer == "4"
    assert run.result.details["how"] == "boxed"


def test_a_reply_cut_off_before_its_answer_has_none() -> None:
    run = Run(Direct().solve(Problem("?")))
    run.advance((Completion("First we add the", finish="length"),))
    assert run.result.answer is None
    assert run.result.truncated
    assert run.result.text == "First we add the"
