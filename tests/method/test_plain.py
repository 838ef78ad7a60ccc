from constraint_first.method.baselines import Plain, whole_reply
from constraint_first.method.method import prompts_of
from constraint_first.method.registry import make
from constraint_first.problem import Problem, Solution
from constraint_first.protocol import Completion, Run

REQUEST = Problem("Write about rain. Use no commas.")


def play(method: Plain, *replies: str) -> Run[Solution]:
    run = Run(method.solve(REQUEST))
    for reply in replies:
        run.advance((Completion(reply),))
    assert run.done
    return run


def test_the_request_goes_out_and_the_reply_comes_back_as_they_are() -> None:
    run = play(Plain(), "<think>hm</think>\nRain falls. \n")
    (asked,) = run.exchanges[0].call.messages
    assert (asked.role, asked.content) == ("user", REQUEST.text)
    assert (run.result.answer, run.result.text) == ("Rain falls.", "Rain falls.")
    assert [one.name for one in prompts_of(Plain())] == ["reply"]


def test_a_reply_that_says_nothing_is_no_answer() -> None:
    assert play(Plain(), " \n").result.answer is None
    assert whole_reply(Completion("Rain fa", finish="length")).truncated


def test_a_reminder_stands_behind_the_request() -> None:
    run = play(Plain("reminder"), "Rain falls.")
    assert run.exchanges[0].call.messages[0].content.startswith(f"{REQUEST.text}\n\n")
    assert [one.name for one in prompts_of(Plain("reminder"))] == ["reply-reminder"]


def test_the_model_may_list_the_demands_first() -> None:
    method = make("plain(mind=list)")
    assert isinstance(method, Plain)
    run = play(method, "- no commas", "Rain falls.")
    assert [one.call.stage for one in run.exchanges] == ["list", "reply"]
    assert run.exchanges[1].call.messages[0].content.endswith("- no commas")
    assert run.result.details["listed"] == "- no commas"
    assert run.result.text == "Rain falls."
    again = play(method, " ", "Rain falls.")
    assert again.exchanges[1].call.messages[0].content == REQUEST.text
