import pytest

from constraint_first.attempt.solve import OrderedWatcher, stage_title
from constraint_first.model.error import StreamCut
from constraint_first.protocol import Call, Completion, Output, Program

FIRST, SECOND = (Call.user(text, stage="direct", max_tokens=9) for text in ("one", "two"))


class Story(OrderedWatcher):
    """Keeps what it is told, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[str] = []

    def begin(self, call: Call) -> None:
        self.told.append(f"begin {call.messages[0].content}")

    def write(self, call: Call, text: str, *, thought: bool) -> None:
        self.told.append(f"({text})" if thought else text)

    def end(self, call: Call, completion: Completion, *, written: bool) -> None:
        self.told.append("end" if written else completion.text)

    def show_output(self, program: Program, output: Output) -> None:
        self.told.append(f"printed {output.text}")


def test_calls_at_the_same_time_are_told_one_after_the_other() -> None:
    story = Story()
    story.started(FIRST)
    story.started(SECOND)
    story.wrote(SECOND, "hidden", reasoning=False)
    story.wrote(FIRST, "shown", reasoning=False)
    story.executed(Program("print(1)"), Output("1"))
    story.finished(SECOND, Completion("two is whole"))
    assert story.follows
    story.finished(FIRST, Completion("shown"))
    assert story.told == ["begin one", "shown", "end", "printed 1", "two is whole"]
    assert not story.follows
    story.executed(Program("print(2)"), Output("2"))
    assert story.told[-1] == "printed 2"


def test_a_call_that_outlasts_the_one_that_is_followed_is_told_when_it_is_whole() -> None:
    story = Story()
    story.started(FIRST)
    story.started(SECOND)
    story.finished(FIRST, Completion(""))
    story.wrote(SECOND, "hidden", reasoning=False)
    story.finished(SECOND, Completion("two is whole"))
    assert story.told == ["begin one", "end", "two is whole"]


def test_thinking_is_told_apart_wherever_it_stands() -> None:
    story = Story()
    story.started(FIRST)
    story.wrote(FIRST, "apart", reasoning=True)
    for piece in ("<thi", "nk>inside</think>", "said", " <"):
        story.wrote(FIRST, piece, reasoning=False)
    story.finished(FIRST, Completion("said <"))
    assert story.told == ["begin one", "(apart)", "(inside)", "said", " ", "<", "end"]


def test_a_reply_that_begins_anew_forgets_half_a_mark() -> None:
    story = Story()
    story.started(FIRST)
    story.wrote(FIRST, "<thi", reasoning=False)
    story.retrying(FIRST, StreamCut("cut"), 0.1)
    story.wrote(FIRST, "nk", reasoning=False)
    assert story.told == ["begin one", "nk"]


@pytest.mark.parametrize(
    ("stage", "title"),
    [("stage2", "Stage 2: solution"), ("feedback", "Feedback"), ("direct", "Solution")],
)
def test_stages_have_titles(stage: str, title: str) -> None:
    assert stage_title(stage) == title
