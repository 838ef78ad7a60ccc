import asyncio

import pytest
from instructed import NO_COMMA, TITLE, requests

from constraint_first.answer.grade import Verdict
from constraint_first.attempt.attempt import judge, judge_attempt, judge_reply
from constraint_first.benchmark.registry import GoldInstruction, write_instructions
from constraint_first.problem import Problem

UNKNOWN = GoldInstruction("emoji:count", {"count": 3})


async def both(problem: Problem, answer: str | None, text: str) -> Verdict | None:
    """Judge with and without an event loop; both must say the same."""
    one, two = await judge_attempt(problem, answer, text), judge(problem, answer, text)
    assert (one and (one.verdict, one.tier, one.why)) == (two and (two.verdict, two.tier, two.why))
    return one


async def test_a_gold_answer_is_compared_with_the_answer() -> None:
    problem = Problem("What is 1 + 1?", answer="2")
    for answer, word in (("2", "correct"), ("3", "incorrect"), (None, "incorrect")):
        found = await both(problem, answer, "no commas, but \\boxed{2}")
        assert found
        assert (found.verdict, found.tier) == (word, "exact")
    assert await both(Problem("What is 1 + 1?"), "2", "2") is None


async def test_the_answer_is_found_in_a_reply_that_is_given_whole() -> None:
    problem = Problem("What is 1 + 1?", answer="2")
    for text, word in (("One and one make \\boxed{2}.", "correct"), ("It is 3.", "incorrect")):
        found = await both(problem, text, text)
        assert found
        assert found.verdict == word


@pytest.mark.parametrize(
    ("text", "word", "why"),
    [
        ("<<One>>\nIt is.", "correct", "follows 3 of 3 instructions"),
        ("It is.", "incorrect", "follows 2 of 3 instructions; broken: The reply has a title"),
        ("One, two", "incorrect", "follows 1 of 3 instructions; broken: The reply does without"),
        ("", "incorrect", "follows 0 of 3 instructions; broken"),
    ],
)
async def test_gold_instructions_are_checked_on_the_whole_reply(
    text: str, word: str, why: str
) -> None:
    """The answer that was read from it does not matter, whatever it is."""
    for answer in (None, "42", requests(2)[1].answer):
        found = await both(requests(2)[1], answer, text)
        assert found
        assert (found.verdict, found.tier, found.answer) == (word, "instructions", None)
        assert found.why.startswith(why)


@pytest.mark.parametrize(
    ("text", "word"), [("Yes.", "undecided"), ("No, no.", "incorrect"), ("", "incorrect")]
)
def test_what_cannot_be_decided(text: str, word: str) -> None:
    found = judge_reply([NO_COMMA, UNKNOWN], text)
    assert found.verdict == word
    assert not found.correct


async def test_the_event_loop_is_not_held_up() -> None:
    """A long reply is checked in a thread: what else there is to do goes on meanwhile."""
    problem = Problem("Write much.", answer=write_instructions([NO_COMMA, TITLE] * 20))
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    await judge_attempt(problem, None, "word " * 200_000)
    counting.cancel()
    assert turns > 1
