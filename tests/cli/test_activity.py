from dataclasses import dataclass

from constraint_first.cli.console import Activity
from constraint_first.protocol import Call, Completion, Stage, Usage


@dataclass
class Clock:
    now: float = 100.0

    def __call__(self) -> float:
        return self.now


def call(stage: Stage) -> Call:
    return Call.user("Q", stage=stage, max_tokens=9)


def test_stage_1_with_its_tokens_and_seconds() -> None:
    clock = Clock()
    activity, first = Activity(clock=clock), call("stage1")
    assert not activity
    clock.now += 50
    activity.started(first)
    assert activity
    assert str(activity.__rich__()) == "Stage 1: what must the answer satisfy?  0 s"
    for _ in range(1_234):
        activity.wrote(first)
    clock.now += 7
    shown = "Stage 1: what must the answer satisfy?  about 1,234 tokens, 7 s"
    assert str(activity.__rich__()) == shown
    activity.restarted(first)
    assert "tokens" not in str(activity.__rich__())
    activity.finished(first, Completion("{}", usage=Usage(5, 40)))
    assert not activity


def test_what_is_told_counts_for_more_than_what_was_seen() -> None:
    activity = Activity("Vote", Clock())
    for usage in (Usage(5, 40), Usage(5, 7, reported=False)):
        one = call("direct")
        activity.started(one)
        activity.wrote(one)
        activity.finished(one, Completion("R", usage=usage))
    assert str(activity.__rich__()) == "Vote  about 41 tokens, 0 s"


def test_samples_and_programs_under_way() -> None:
    activity, calls = Activity(clock=Clock()), [call("direct"), call("direct")]
    for one in calls:
        activity.started(one)
    assert str(activity.__rich__()) == "2 more replies are written  0 s"
    activity.finished(calls[0], Completion("R", usage=Usage(1, 30)))
    assert str(activity.__rich__()) == "1 more reply is written  about 30 tokens, 0 s"
    activity.finished(calls[1], Completion("R", usage=Usage(1, 30)))
    activity.programs = 1
    assert str(activity.__rich__()) == "A program runs  about 60 tokens, 0 s"
    activity.programs = 3
    assert str(activity.__rich__()).startswith("3 programs run")
