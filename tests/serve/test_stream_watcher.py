import asyncio

import pytest

from constraint_first.attempt.solve import Solved
from constraint_first.method.baselines import Direct
from constraint_first.model.error import StreamCut
from constraint_first.problem import Json, Problem, Solution
from constraint_first.protocol import Call, Completion, Output, Program
from constraint_first.serve.attempt import CONTENT, REASONING, Outbox, StreamWatcher
from constraint_first.serve.reply import ServedAnswer
from constraint_first.serve.setting import RequestError

SOLVING = Call.user("?", stage="direct", max_tokens=9)
DRAFT = Call.user("?", stage="draft", max_tokens=9)
STAGE1 = Call.user("?", stage="stage1", max_tokens=9, json=True)
SPEC = '{"raw_constraints": [{"id": "C1", "type": "modular", "description": "modulo 7"}]}'


def ended(text: str, answer: str | None = "5") -> ServedAnswer:
    checks: list[Json] = [{"sentence": "It is small.", "truth": "holds"}]
    solution = Solution(answer, text, details={"checks": checks})
    return ServedAnswer(Solved(Problem("?"), Direct(), solution, (), 1.0), "direct", "m")


class Told:
    """What a watcher has written."""

    def __init__(self, start: str = "") -> None:
        self.outbox = Outbox()
        self.watcher = StreamWatcher(self.outbox, 0, start)

    def all(self) -> list[tuple[str, str]]:
        async def take() -> list[tuple[str, str]]:
            return [(w.name, w.text.getvalue()) for w in await self.outbox.take(0.01) or ()]

        return asyncio.run(take())


@pytest.fixture
def told() -> Told:
    return Told("Cues: none")


def test_nothing_is_said_before_a_reply_is_there(told: Told) -> None:
    told.watcher.started(STAGE1)
    assert told.all() == []
    told.watcher.finished(STAGE1, Completion(SPEC))
    ((name, text),) = told.all()
    assert name == REASONING
    assert text.startswith("Cues: none\n\n**Stage 1: constraints**")
    assert text.endswith("- C1 (modular): modulo 7")


def test_the_solving_call_is_content_word_by_word(told: Told) -> None:
    told.watcher.announce(SOLVING)
    told.watcher.started(SOLVING)
    told.watcher.wrote(SOLVING, "Hm.", reasoning=True)
    for piece in ("\n\n", "So ", r"\boxed{5}"):
        told.watcher.wrote(SOLVING, piece, reasoning=False)
    told.watcher.finished(SOLVING, Completion(r"So \boxed{5}"))
    told.watcher.conclude(ended(r"So \boxed{5}"))
    assert told.all() == [(REASONING, "Cues: noneHm."), (CONTENT, r"So \boxed{5}"), ("", "")]


def test_a_draft_is_reasoning_and_the_solution_follows(told: Told) -> None:
    told.watcher.started(DRAFT)
    told.watcher.wrote(DRAFT, "a draft", reasoning=False)
    told.watcher.finished(DRAFT, Completion("a draft"))
    told.watcher.conclude(ended(r"So \boxed{5}"))
    reasoning, content, _ = told.all()
    assert reasoning[1].startswith("Cues: none\n\n**Draft**\n\na draft")
    assert "✓ It is small." in reasoning[1]
    assert content == (CONTENT, r"So \boxed{5}")


def test_an_answer_that_the_text_does_not_say_follows_it(told: Told) -> None:
    told.watcher.announce(SOLVING)
    told.watcher.started(SOLVING)
    told.watcher.wrote(SOLVING, "a text\n", reasoning=False)
    told.watcher.finished(SOLVING, Completion("a text\n"))
    told.watcher.conclude(ended("a text\n", "7"))
    assert told.all()[1] == (CONTENT, "a text\n\n\n**Answer:** $\\boxed{7}$")


def test_a_solution_that_is_another_after_all_is_an_error_and_not_sent_too(told: Told) -> None:
    told.watcher.announce(SOLVING)
    told.watcher.started(SOLVING)
    told.watcher.wrote(SOLVING, "first", reasoning=False)
    told.watcher.finished(SOLVING, Completion("first"))
    with pytest.raises(RequestError, match="direct changed its reply after it was sent"):
        told.watcher.conclude(ended(r"second \boxed{5}"))
    assert told.all()[1:] == [(CONTENT, "first")]


def test_programs_and_replies_beside_the_one_that_is_followed(told: Told) -> None:
    other = Call.user("!", stage="draft", max_tokens=9)
    told.watcher.started(DRAFT)
    told.watcher.started(other)
    told.watcher.finished(other, Completion("the other"))
    told.watcher.wrote(DRAFT, "print(5)", reasoning=False)
    told.watcher.executed(Program("print(5)\n"), Output("5"))
    told.watcher.finished(DRAFT, Completion("print(5)"))
    told.watcher.executed(Program("print(6)"), Output("6"))
    ((_, text),) = told.all()
    order = ("print(5)", "the other", "Output", "print(6)", "Output")
    at = 0
    for part in order:
        at = text.index(part, at) + len(part)
    assert text.count("print(5)") == 1


def test_work_that_begins_anew_says_so_and_content_cannot(told: Told) -> None:
    told.watcher.started(DRAFT)
    told.watcher.retrying(DRAFT, StreamCut("the stream was cut"), 0.1)
    assert told.all() == []  # it may fail altogether
    told.watcher.wrote(DRAFT, "again", reasoning=False)
    assert "(the stream was cut: asked again)" in told.all()[0][1]
    told.watcher.finished(DRAFT, Completion("again"))
    told.watcher.announce(SOLVING)
    told.watcher.started(SOLVING)
    told.watcher.retrying(SOLVING, StreamCut("nothing was lost"), 0.1)
    told.watcher.wrote(SOLVING, "So", reasoning=False)
    with pytest.raises(StreamCut, match="too late"):
        told.watcher.retrying(SOLVING, StreamCut("too late"), 0.1)
