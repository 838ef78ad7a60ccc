from constraint_first.method.baselines import CFR_OUTPUT, ExtendedCoT
from constraint_first.problem import Problem, Solution
from constraint_first.protocol import Completion, Message, Run, Usage

PROBLEM = Problem("What is $2+2$?")


def play(method: ExtendedCoT, *replies: Completion) -> Run[Solution]:
    run = Run(method.solve(PROBLEM))
    for reply in replies:
        run.advance((reply,))
    assert run.done
    return run


def wrote(tokens: int, text: str, finish: str = "stop") -> Completion:
    return Completion(text, "length" if finish == "length" else "stop", usage=Usage(50, tokens))


def test_a_reply_that_is_long_enough_stands() -> None:
    run = play(ExtendedCoT(), wrote(CFR_OUTPUT, r"\boxed{4}"))
    assert run.result.answer == "4"
    assert run.result.details["output"] == CFR_OUTPUT
    assert run.result.details["rounds"] == 0
    assert "25,338 tokens" in run.exchanges[0].call.messages[0].content


def test_it_reasons_on_until_the_counted_tokens_reach_the_target() -> None:
    run = play(
        ExtendedCoT(tokens=1_000),
        wrote(400, r"<think>hm</think> \boxed{5}"),
        wrote(500, "Let me see."),
        wrote(100, r"\boxed{4}"),
    )
    first, second, third = (exchange.call for exchange in run.exchanges)
    assert [first.stage, second.stage, third.stage] == ["solve", "continue", "continue"]
    assert [c.max_tokens for c in (first, second, third)] == [32_768, 32_368, 31_868]
    assert second.messages[:2] == (*first.messages, Message("assistant", r"\boxed{5}"))
    assert "about 600 tokens" in second.messages[2].content
    assert third.messages[:4] == (*second.messages, Message("assistant", "Let me see."))
    assert "about 100 tokens" in third.messages[4].content
    assert run.result.answer == "4"
    assert run.result.details["output"] == 1_000
    assert run.result.details["rounds"] == 2


def test_the_rounds_are_limited() -> None:
    run = play(ExtendedCoT(rounds=1), wrote(5, r"\boxed{4}"), wrote(5, "I am sure."))
    assert run.result.answer == "4"
    assert run.result.details["rounds"] == 1
    assert play(ExtendedCoT(rounds=0), wrote(5, r"\boxed{4}")).done


def test_a_target_beyond_the_budget_is_not_chased() -> None:
    run = play(ExtendedCoT(tokens=99, budget=50), wrote(50, r"\boxed{4}"))
    assert len(run.exchanges) == 1


def test_where_nothing_can_be_counted_or_continued_the_first_reply_stands() -> None:
    uncounted = Completion(r"\boxed{4}", usage=Usage(reported=False))
    for reply in (uncounted, wrote(9, "cut", "length"), wrote(9, "<think>only this")):
        assert len(play(ExtendedCoT(), reply).exchanges) == 1
