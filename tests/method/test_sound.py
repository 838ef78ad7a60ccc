from typing import Any, cast

import pytest

from constraint_first.method.baselines import Plain
from constraint_first.method.checked import assess
from constraint_first.method.method import prompts_of
from constraint_first.method.registry import make
from constraint_first.method.sound import Sound
from constraint_first.problem import Problem, Solution
from constraint_first.protocol import Completion, Run

COMMAS = Problem("Write about rain. Do not use any commas in your response.")
WORDS = Problem('Write about rain. Use at least 12 words and include "umbrella".')
GERMAN = Problem("Write about rain. Your entire response should be in German, no other language.")
GERMAN_REPLY = "Der Regen fällt auf die Stadt und auf den Fluss."
TWO = Problem("Give two different responses about rain. Separate them with six asterisks: ******.")


def play(method: Sound, problem: Problem, *replies: str) -> Run[Solution]:
    run = Run(method.solve(problem))
    for reply in replies:
        run.advance((Completion(reply),))
    assert run.done, run.calls
    return run


def interventions(run: Run[Solution]) -> list[dict[str, Any]]:
    return cast("list[dict[str, Any]]", run.result.details["interventions"])


def stages(run: Run[Solution]) -> list[str]:
    return [one.call.stage for one in run.exchanges]


def test_a_sound_reply_is_never_touched() -> None:
    run = play(Sound(), COMMAS, "Rain falls.")
    assert (run.result.text, interventions(run)) == ("Rain falls.", [])


def test_a_request_without_a_demand_goes_straight_to_the_model() -> None:
    run = play(Sound(), Problem("Tell me about rain."), "Rain, rain, rain.")
    assert (run.result.text, interventions(run)) == ("Rain, rain, rain.", [])


def test_an_edit_that_is_certain_costs_no_call() -> None:
    run = play(Sound(), COMMAS, "Rain, rain, rain.")
    assert run.result.text == run.result.answer == "Rain rain rain."
    (done,) = interventions(run)
    assert (done["what"], done["before"]) == ("repair", "Rain, rain, rain.")
    assert done["broken"] == ["The reply does without “,”."]


def test_what_is_missing_is_asked_for_by_itself() -> None:
    more = "I take my umbrella with me and walk to the river in it."
    run = play(Sound(), WORDS, "Rain falls.", more)
    assert stages(run) == ["reply", "addition"]
    asked = run.exchanges[1].call
    assert [one.role for one in asked.messages] == ["user", "assistant", "user"]
    assert asked.max_tokens < 300
    assert run.result.text == f"Rain falls.\n\n{more}"
    assert [one["what"] for one in interventions(run)] == ["addition"]


def test_else_a_fresh_sample_is_drawn() -> None:
    run = play(Sound(), GERMAN, "The rain falls on the fields.", "Der Regen fällt auf das Feld.")
    first, fresh = (one.call for one in run.exchanges)
    assert (fresh.messages, fresh.sample != first.sample) == (first.messages, True)
    assert run.result.text == "Der Regen fällt auf das Feld."
    (done,) = interventions(run)
    assert (done["what"], done["before"]) == ("fresh sample", "The rain falls on the fields.")


def test_or_a_turn_that_names_what_is_broken() -> None:
    run = play(Sound(then="turn"), GERMAN, "The rain falls on us.", "Der Regen fällt auf uns alle.")
    assert stages(run) == ["reply", "correct"]
    assert "in German" in run.exchanges[1].call.messages[-1].content
    assert run.result.text == "Der Regen fällt auf uns alle."


def test_where_nothing_helps_the_reply_that_breaks_least_stands_and_says_so() -> None:
    run = play(Sound(), GERMAN, "The rain falls on us all.", "It is the rain that falls on us.")
    assert run.result.text == "The rain falls on us all."
    checks = cast("list[dict[str, Any]]", assess(GERMAN, run.result).details["checks"])
    assert [one["truth"] for one in checks] == ["violated"]
    assert assess(GERMAN, run.result).details["confidence"] == 0.0


def test_two_responses_are_put_together_from_two() -> None:
    run = play(Sound(), TWO, "Rain is wet.", "Rain is cold.")
    assert run.result.text == "Rain is wet.\n\n******\n\nRain is cold."


@pytest.mark.parametrize("most", [1, 2, 4])
def test_it_never_asks_for_more_replies_than_it_may(most: int) -> None:
    replies = ["The rain falls on us all."] * most
    run = play(Sound(most=most), GERMAN, *replies)
    assert len(run.exchanges) == most


def test_every_mechanism_can_be_switched_off() -> None:
    off = make("sound(repair=off,add=off,then=off)")
    assert isinstance(off, Sound)
    assert play(off, COMMAS, "Rain, rain.").result.text == "Rain, rain."
    assert [one.name for one in prompts_of(off)] == ["reply"]
    asked = [one.name for one in prompts_of(Sound(then="turn"))]
    assert asked == ["reply", "reply-add", "reply-correct"]
    assert Sound().base == Plain()


def test_an_empty_reply_is_left_as_it_is() -> None:
    run = play(Sound(), COMMAS, "")
    assert (run.result.answer, interventions(run)) == (None, [])


def test_nothing_more_is_asked_for_demands_that_contradict_each_other() -> None:
    both = Problem("Write about rain. Answer only in German. Answer only in French.")
    run = play(Sound(most=4), both, GERMAN_REPLY)
    assert len(run.exchanges) == 1
    details = assess(both, run.result).details
    assert details["conflicts"] == [
        "No reply can meet both: The reply is in German; the reply is in French."
    ]
    neither = play(Sound(most=2), both, "The rain falls on us all today.", GERMAN_REPLY)
    assert neither.result.text.startswith("Der Regen"), "one of the two could be met"
