"""One choice of a stream: work as reasoning, the solution as content."""

from dataclasses import dataclass
from typing import ClassVar

import pytest

from constraint_first.attempt.attempt import Attempt
from constraint_first.attempt.events import Executed, Finished, Retrying, Started, Wrote
from constraint_first.method.baselines import Direct
from constraint_first.model.error import StreamCut
from constraint_first.problem import Json, Problem, Solution
from constraint_first.protocol import Call, Completion, Output, Program
from constraint_first.serve.attempt import CONTENT, REASONING, Outbox, StreamWriter
from constraint_first.serve.setting import RequestError

FINAL = Call.user("?", stage="direct", max_tokens=9, final=True)
DRAFT = Call.user("?", stage="draft", max_tokens=9)
STAGE1 = Call.user("?", stage="stage1", max_tokens=9, json=True)
SPEC = '{"raw_constraints": [{"id": "C1", "type": "modular", "description": "modulo 7"}]}'
CUT = StreamCut("the stream was cut")


def ended(text: str, answer: str | None = "5") -> Attempt:
    checks: list[Json] = [{"sentence": "It is small.", "truth": "holds"}]
    solution = Solution(answer, text, details={"checks": checks})
    return Attempt(Problem("?"), Direct(), solution, name="direct", model="m")


class Foreign(Direct):
    """A method of another package."""

    label: ClassVar[str] = "Foreign"


@dataclass
class Choice:
    outbox: Outbox
    writer: StreamWriter

    def reply(self, call: Call, *pieces: str, thought: str = "") -> None:
        self.writer.tell(Started(call))
        if thought:
            self.writer.tell(Wrote(call, thought, True))
        for piece in pieces:
            self.writer.tell(Wrote(call, piece))
        self.writer.tell(Finished(call, Completion("".join(pieces))))

    @property
    def all(self) -> list[tuple[str, str]]:
        return [(one.name, one.text.getvalue()) for one in self.outbox.waiting]


@pytest.fixture
async def choice() -> Choice:
    outbox = Outbox()
    return Choice(outbox, StreamWriter(outbox, 0, Direct(), "Cues: none"))


def test_nothing_is_sent_before_a_reply_is_there(choice: Choice) -> None:
    choice.writer.tell(Started(STAGE1))
    assert choice.all == []
    choice.writer.tell(Finished(STAGE1, Completion(SPEC)))
    ((name, text),) = choice.all
    assert name == REASONING
    assert text.startswith("Cues: none\n\n**Stage 1: constraints**")
    assert text.endswith("- C1 (modular): modulo 7")


def test_the_reply_of_a_final_call_is_content_word_by_word(choice: Choice) -> None:
    choice.reply(FINAL, "\n\n", "So ", r"\boxed{5}", thought="Hm.")
    choice.writer.conclude(ended(r"So \boxed{5}"))
    assert choice.all == [(REASONING, "Cues: noneHm."), (CONTENT, r"So \boxed{5}"), ("", "")]


def test_a_method_of_another_package_is_not_believed_unless_it_says_so() -> None:
    outbox = Outbox()
    choice = Choice(outbox, StreamWriter(outbox, 0, Foreign(), ""))
    choice.reply(FINAL, r"So \boxed{5}")
    choice.writer.conclude(ended(r"SO \boxed{5}"))
    assert [name for name, _ in choice.all] == [REASONING, CONTENT, ""]
    assert choice.all[1] == (CONTENT, r"SO \boxed{5}")


def test_a_draft_is_reasoning_and_the_solution_follows(choice: Choice) -> None:
    choice.reply(DRAFT, "a draft")
    choice.writer.conclude(ended(r"So \boxed{5}"))
    reasoning, content, _ = choice.all
    assert reasoning[1].startswith("Cues: none\n\n**Draft**\n\na draft")
    assert "✓ It is small." in reasoning[1]
    assert content == (CONTENT, r"So \boxed{5}")


def test_an_answer_that_the_text_does_not_say_follows_it(choice: Choice) -> None:
    choice.reply(FINAL, "a text\n")
    choice.writer.conclude(ended("a text\n", "7"))
    assert choice.all[1] == (CONTENT, "a text\n\n\n**Answer:** $\\boxed{7}$")


def test_a_solution_that_is_another_after_all_is_an_error_and_not_sent_too(choice: Choice) -> None:
    choice.reply(FINAL, "first")
    with pytest.raises(RequestError, match="direct changed its reply after it was sent"):
        choice.writer.conclude(ended(r"second \boxed{5}"))
    assert choice.all[1:] == [(CONTENT, "first")]


def test_programs_and_replies_beside_the_one_that_is_followed(choice: Choice) -> None:
    other = Call.user("!", stage="draft", max_tokens=9)
    for event in (
        Started(DRAFT),
        Started(other),
        Finished(other, Completion("the other")),
        Wrote(DRAFT, "print(5)"),
        Executed(Program("print(5)\n"), Output("5")),
        Finished(DRAFT, Completion("print(5)")),
        Executed(Program("print(6)"), Output("6")),
    ):
        choice.writer.tell(event)
    ((_, text),) = choice.all
    at = 0
    for part in ("print(5)", "the other", "Output", "print(6)", "Output"):
        at = text.index(part, at) + len(part)
    assert text.count("print(5)") == 1


def test_work_that_begins_anew_says_so_and_content_cannot(choice: Choice) -> None:
    choice.writer.tell(Started(DRAFT))
    choice.writer.tell(Retrying(DRAFT, CUT, 0.1))
    assert choice.all == []  # it may fail altogether
    choice.writer.tell(Wrote(DRAFT, "again"))
    assert "(the stream was cut: asked again)" in choice.all[0][1]
    choice.writer.tell(Finished(DRAFT, Completion("again")))
    choice.writer.tell(Started(FINAL))
    choice.writer.tell(Retrying(FINAL, CUT, 0.1))
    choice.writer.tell(Wrote(FINAL, "So"))
    with pytest.raises(StreamCut, match="was cut"):
        choice.writer.tell(Retrying(FINAL, CUT, 0.1))
