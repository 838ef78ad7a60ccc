import pytest
from played import play, stages
from snapshot import Golden

from constraint_first.method.baselines import (
    CFR_OUTPUT,
    Direct,
    ExtendedCoT,
    Plain,
    SelfRefine,
    whole_reply,
)
from constraint_first.method.constraint_first import FormatOnly
from constraint_first.method.method import prompts_of
from constraint_first.method.registry import make
from constraint_first.problem import Problem
from constraint_first.protocol import Completion, Message, Run, Usage

PROBLEM = Problem("What is $2+2$?")


@pytest.mark.parametrize(
    ("method", "stage"),
    [
        ("direct", "direct"), ("reminder", "solve"), ("list-first", "solve"), ("check", "solve"),
        ("plan-and-solve", "plan"),
    ],
)  # fmt: skip
def test_one_call_has_the_whole_budget(golden: Golden, method: str, stage: str) -> None:
    run = Run(make(method).solve(Problem("What is $2+2$? {x}", benchmark="aime24", answer="4")))
    (call,) = run.calls
    assert (call.stage, call.max_tokens, call.json) == (stage, 32_768, False)
    if method == "direct":
        assert call.messages[0].content == golden("direct.txt")
    run.advance((Completion(r"So it is \boxed{4}."),))
    assert (run.result.answer, run.result.details["how"]) == ("4", "boxed")


def test_a_reply_cut_off_before_its_answer_has_none() -> None:
    result = play(Direct(), PROBLEM, Completion("First we add the", finish="length")).result
    assert (result.answer, result.truncated, result.text) == (None, True, "First we add the")


def wrote(tokens: int, text: str, finish: str = "stop") -> Completion:
    return Completion(text, "length" if finish == "length" else "stop", usage=Usage(50, tokens))


@pytest.mark.parametrize(
    ("method", "replies"),
    [
        (ExtendedCoT(), [(CFR_OUTPUT, r"\boxed{4}")]),
        (ExtendedCoT(rounds=1), [(5, r"\boxed{4}"), (5, "I am sure.")]),
        (ExtendedCoT(rounds=0), [(5, r"\boxed{4}")]),
        (ExtendedCoT(tokens=99, budget=50), [(50, r"\boxed{4}")]),  # its target is not chased
    ],
)
def test_a_reply_that_is_long_enough_or_the_last_stands(
    method: ExtendedCoT, replies: list[tuple[int, str]]
) -> None:
    run = play(method, PROBLEM, *(wrote(*reply) for reply in replies))
    assert run.result.answer == "4"
    assert run.result.details["output"] == sum(tokens for tokens, _ in replies)
    assert run.result.details["rounds"] == len(replies) - 1
    assert f"{method.tokens:,} tokens" in run.exchanges[0].call.messages[0].content


def test_it_reasons_on_until_the_counted_tokens_reach_the_target() -> None:
    run = play(
        ExtendedCoT(tokens=1_000),
        PROBLEM,
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


def test_where_nothing_can_be_counted_or_continued_the_first_reply_stands() -> None:
    uncounted = Completion(r"\boxed{4}", usage=Usage(reported=False))
    for reply in (uncounted, wrote(9, "cut", "length"), wrote(9, "<think>only this")):
        assert len(play(ExtendedCoT(), PROBLEM, reply).exchanges) == 1


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


def test_draft_feedback_revision() -> None:
    run = play(SelfRefine(), PROBLEM, r"<think>hm</think>\boxed{5}", "It is not 5.", r"\boxed{4}")
    stages = [(e.call.stage, e.call.max_tokens) for e in run.exchanges]
    assert stages == [("draft", 32_768), ("feedback", 32_768), ("revise", 32_768)]
    revise = run.exchanges[2].call.messages[0].content
    assert revise.endswith("Proposed solution:\n\\boxed{5}\n\nRemarks:\nIt is not 5.")
    assert run.result.answer == "4"
    assert run.result.details["drafts"] == ["5", "4"]


def test_each_iteration_works_on_the_latest_answer() -> None:
    run = play(SelfRefine(2), PROBLEM, r"\boxed{5}", "No.", r"\boxed{6}", "No.", r"\boxed{4}")
    assert r"\boxed{6}" in run.exchanges[3].call.messages[0].content
    assert run.result.answer == "4"
    kept = play(SelfRefine(), PROBLEM, r"\boxed{4}", "Fine.", "")  # a revision without an answer
    assert (kept.result.answer, kept.result.text) == ("4", r"\boxed{4}")


REQUEST = Problem("Write about rain. Use no commas.")


def test_the_request_goes_out_and_the_reply_comes_back_as_they_are() -> None:
    run = play(Plain(), REQUEST, "<think>hm</think>\nRain falls. \n")
    assert run.exchanges[0].call.messages == (Message("user", REQUEST.text),)
    assert (run.result.answer, run.result.text) == ("Rain falls.", "Rain falls.")
    assert [one.name for one in prompts_of(Plain())] == ["reply"]
    assert play(Plain(), REQUEST, " \n").result.answer is None
    assert whole_reply(Completion("Rain fa", finish="length")).truncated


def test_a_reminder_stands_behind_the_request() -> None:
    run = play(Plain("reminder"), REQUEST, "Rain falls.")
    assert run.exchanges[0].call.messages[0].content.startswith(f"{REQUEST.text}\n\n")
    assert [one.name for one in prompts_of(Plain("reminder"))] == ["reply-reminder"]


def test_the_model_may_list_the_demands_first() -> None:
    method = make("plain(mind=list)")
    assert isinstance(method, Plain)
    run = play(method, REQUEST, "- no commas", "Rain falls.")
    assert stages(run) == ["list", "reply"]
    assert run.exchanges[1].call.messages[0].content.endswith("- no commas")
    assert run.result.details["listed"] == "- no commas"
    assert run.result.text == "Rain falls."
    again = play(method, REQUEST, " ", "Rain falls.")
    assert again.exchanges[1].call.messages[0].content == REQUEST.text
