from typing import Any, cast

import pytest
from played import play, stages

from constraint_first.method.baselines import Direct, Plain
from constraint_first.method.method import (
    Method,
    broken,
    configuration,
    is_sound,
    mended,
    prompts_of,
    sentences,
    stated_in,
)
from constraint_first.method.program import Programmed
from constraint_first.method.registry import make
from constraint_first.method.sound import (
    Checked,
    CheckedSentence,
    Intervention,
    Sound,
    assess,
    assessed,
    confidence_of,
    read_summary,
)
from constraint_first.method.vote import SelfConsistency
from constraint_first.problem import Json, Problem, Solution
from constraint_first.protocol import Completion, Output, Run

REMAINDER = Problem("Find the remainder when $3^{50}$ is divided by 7.")
SAID = "The answer is a remainder: an integer from 0 to 6."
COUNT = Problem("How many integers from 1 to 100 are divisible by 3?")


def interventions(run: Run[Solution]) -> list[dict[str, Any]]:
    return cast("list[dict[str, Any]]", run.result.details["interventions"])


def made(run: Run[Solution]) -> list[tuple[str, str, str | None]]:
    return [(one["what"], one["before"], one["after"]) for one in interventions(run)]


def test_a_sound_answer_passes_untouched() -> None:
    run = play(Checked(), REMAINDER, r"\boxed{2}")
    assert run.exchanges[0].call == Run(Direct().solve(REMAINDER)).calls[0]
    assert (run.result.answer, made(run)) == ("2", [])
    assert play(Checked(), REMAINDER, "I cannot tell the answer.").result.answer is None


def test_a_repair_says_which_words_it_rests_on_and_can_be_left_out() -> None:
    run = play(Checked(), REMAINDER, r"\boxed{16}")
    assert (run.result.answer, made(run)) == ("2", [("repair", "16", "2")])
    (done,) = interventions(run)
    assert done["words"] == ["Find the remainder when $3^{50}$ is divided by 7"]
    off = make("checked(repair=off)")
    assert isinstance(off, Checked)
    run = play(off, REMAINDER, r"\boxed{16}", r"\boxed{16}")
    assert (run.result.answer, made(run)) == ("16", [("turn", "16", "16")])
    assert "repair" in repr(off)
    assert "repair" not in repr(Checked()), "attempts in old stores are still its own"
    assert configuration(off) != configuration(Checked())


def test_a_model_that_gives_the_same_answer_again_is_believed() -> None:
    run = play(Checked(), COUNT, r"\boxed{33.5}", r"It is \boxed{33.5}, I am sure.")
    assert (run.result.answer, stages(run)) == ("33.5", ["direct", "correct"])


def test_texts_that_were_misread_overrule_no_answer() -> None:
    bills = (
        "Tye withdraws $300 from each of two banks, in 20 dollar bills. How many bills are they?"
    )
    letters = "Which?\nAnswer Choices: (A)550 (B)570 (C)600 (D)700 (E)none of these"
    for text, answer in ((bills, "30"), (letters, "E")):
        assert play(Checked(), Problem(text), rf"\boxed{{{answer}}}").result.answer == answer


def test_else_one_turn_names_what_is_broken() -> None:
    run = play(Checked(), COUNT, r"Say \boxed{33.5}", r"No: \boxed{33}")
    assert stages(run) == ["direct", "correct"]
    asked, replied, told = run.exchanges[1].call.messages
    assert (asked.role, replied.role, told.role) == ("user", "assistant", "user")
    assert COUNT.text in asked.content
    assert replied.content == r"Say \boxed{33.5}"
    assert "Your final answer 33.5 cannot be right" in told.content
    assert f"- {interventions(run)[0]['broken'][0]}" in told.content
    assert (made(run), run.result.answer) == ([("turn", "33.5", "33")], "33")


def test_else_a_fresh_sample_is_drawn() -> None:
    run = play(Checked(), COUNT, r"\boxed{33.5}", "I am not sure.", r"\boxed{34}")
    first, _, fresh = (exchange.call for exchange in run.exchanges)
    assert (fresh.messages, fresh.sample != first.sample) == (first.messages, True)
    assert made(run) == [("turn", "33.5", None), ("fresh sample", "33.5", "34")]
    assert run.result.answer == "34"
    none = play(Checked(), COUNT, r"\boxed{33.5}", r"\boxed{0.5}", r"\boxed{1.5}")
    assert (none.result.answer, len(made(none))) == ("33.5", 2)  # nothing helps


def test_interventions_within_a_sample_are_kept_beside_that_of_drawing_it() -> None:
    block = "```python\nprint(1)\n```"
    checked = Checked(Programmed(fallback=None, check="repair"))
    run = play(checked, REMAINDER, block, Output("1/2"), "?", block, Output("16"))
    assert run.result.answer == "2"
    assert made(run) == [
        ("turn", "1/2", None), ("repair", "16", "2"), ("fresh sample", "1/2", "2")
    ]  # fmt: skip


def test_a_fresh_sample_of_a_vote_repeats_no_call() -> None:
    run = Run(make("checked(base=self-consistency(samples=3))").solve(COUNT))
    seen = [call.sample for call in run.calls]
    run.advance((Completion(r"\boxed{0.5}"),) * 3)
    run.advance((Completion("?"),))
    assert not {call.sample for call in run.calls} & set(seen)
    assert make("checked(base=self-consistency(samples=3))") == Checked(
        SelfConsistency(Direct(), 3)
    )


@pytest.mark.parametrize(
    ("answer", "sound"),
    [("6", True), ("some words", True), ("7", False), ("", False), (None, False)],
)
def test_an_answer_is_sound_where_it_breaks_nothing(answer: str | None, *, sound: bool) -> None:
    stated = stated_in(REMAINDER)
    assert is_sound(stated, answer) is sound
    assert [one.kind for one in broken(stated, answer or "")] == ["modular"] * (answer == "7")
    assert stated_in(REMAINDER, "off") == ()
    assert sentences((*stated, *stated)) == "\n".join(f"- {one.sentence}" for one in stated)


def test_a_certain_repair_is_made_and_noted() -> None:
    stated = stated_in(REMAINDER, "repair")
    assert stated == stated_in(REMAINDER)
    repaired = mended(stated, Solution("16", "", details={"how": "boxed"}))
    done: Json = {"what": "repair", "before": "16", "after": "2", "broken": [stated[0].sentence]}
    assert repaired == Solution("2", "", details={"how": "boxed", "interventions": [done]})
    for answer in ("6", "1/2", "words", None):
        untouched = Solution(answer, "")
        assert mended(stated, untouched) is untouched


def test_a_solution_gives_its_checks_back() -> None:
    details = assess(REMAINDER, Solution("9", "")).details
    found = read_summary(details, REMAINDER.text)
    words = "Find the remainder when $3^{50}$ is divided by 7"
    assert found.checks == (CheckedSentence("violated", SAID, words),)
    assert (found.known, found.confidence) == (True, 0)
    done: Json = {"what": "repair", "before": "16", "after": "2"}
    found = read_summary({"interventions": [done], "samples": ["2", None]}, "")
    assert found.interventions == (Intervention("repair", "16", "2"),)
    assert found.samples == ("2", None)


def test_details_of_any_form_can_be_read() -> None:
    odd: Json = [{"span": [1]}, 3, {"sentence": "a", "span": "x", "truth": "maybe"}]
    found = read_summary({"checks": [*odd, odd[2]], "confidence": "high", "samples": 3}, "text")
    assert [one.truth for one in found.checks] == ["undecided", "undecided"]
    assert (found.confidence, found.samples) == (0.0, ())
    assert not read_summary({"cues": []}, "").known


@pytest.mark.parametrize(
    ("own", "votes", "confidence"),
    [
        (1, [], 0.5),
        (1, [1], 0.5),
        (2, [2], 0.833),
        (3, [3], 0.962),
        (2, [2, 1], 0.735),
        (1, [1, 1], 0.357),
        (1, [1, 1, 1], 0.278),
        (1, [1] * 9, 0.111),
        (900, [900, 100], 1.0),
    ],
)
def test_agreement_is_confidence(own: int, votes: list[int], confidence: float) -> None:
    assert confidence_of(own, votes) == confidence


def solution(answer: str | None, **details: Json) -> Solution:
    return Solution(answer, "", details=details)


@pytest.mark.parametrize(
    ("solved", "confidence"),
    [
        (solution("2"), 0.5),
        (solution("9"), 0.0),
        (solution(None), 0.0),
        (solution("2", votes={"2": 2, "3": 1}), 0.735),
        (solution("9", votes={"9": 3}), 0.0),
        (solution(r"\text{2}", votes={"2": 2}), 0.833),
        (solution(r"\frac12", votes={"1/2": 2}), 0.0),
        (solution("2", votes="none"), 0.5),
        (solution("2", votes={"2": "three", "3": -1, "4": None}), 0.5),
        (solution("2", votes={}), 0.5),
    ],
)
def test_an_answer_that_breaks_a_constraint_is_worth_nothing(
    solved: Solution, confidence: float
) -> None:
    assert assess(REMAINDER, solved).details["confidence"] == confidence


def test_checks_say_what_was_looked_at() -> None:
    for answer, truth in (
        ("9", "violated"), ("2", "holds"), ("words", "undecided"), (None, "undecided")
    ):  # fmt: skip
        checks = assess(REMAINDER, solution(answer)).details["checks"]
        assert checks == [{"sentence": SAID, "kind": "modular", "span": [0, 48], "truth": truth}]
    assert assess(Problem("Simplify $x+x$."), solution("2x")).details["checks"] == []


def test_every_method_is_assessed_and_asks_what_it_asked_before() -> None:
    run = Run(assessed(Direct(), REMAINDER))
    assert run.calls == Run(Direct().solve(REMAINDER)).calls
    run.advance((Completion(r"\boxed{2}"),))
    assert (run.result.details["how"], run.result.details["confidence"]) == ("boxed", 0.5)


COMMAS = Problem("Write about rain. Do not use any commas in your response.")
WORDS = Problem('Write about rain. Use at least 12 words and include "umbrella".')
GERMAN = Problem("Write about rain. Your entire response should be in German, no other language.")
GERMAN_REPLY = "Der Regen fällt auf die Stadt und auf den Fluss."
TWO = Problem("Give two different responses about rain. Separate them with six asterisks: ******.")


@pytest.mark.parametrize(
    ("method", "problem", "reply"),
    [
        (Sound(), COMMAS, "Rain falls."),
        (Sound(), Problem("Tell me about rain."), "Rain, rain, rain."),  # no demand
        (make("sound(repair=off,add=off,then=off)"), COMMAS, "Rain, rain."),
        (Sound(), COMMAS, ""),
    ],
)
def test_a_sound_reply_is_never_touched(method: Method, problem: Problem, reply: str) -> None:
    run = play(method, problem, reply)
    assert (run.result.text, run.result.answer, made(run)) == (reply, reply or None, [])


def test_an_edit_that_is_certain_costs_no_call() -> None:
    run = play(Sound(), COMMAS, "Rain, rain, rain.")
    assert run.result.text == run.result.answer == "Rain rain rain."
    assert made(run) == [("repair", "Rain, rain, rain.", "Rain rain rain.")]
    assert interventions(run)[0]["broken"] == ["The reply does without “,”."]


def test_what_is_missing_is_asked_for_by_itself() -> None:
    more = "I take my umbrella with me and walk to the river in it."
    run = play(Sound(), WORDS, "Rain falls.", more)
    assert stages(run) == ["reply", "addition"]
    asked = run.exchanges[1].call
    assert [one.role for one in asked.messages] == ["user", "assistant", "user"]
    assert asked.max_tokens < 300
    assert run.result.text == f"Rain falls.\n\n{more}"
    assert made(run) == [("addition", "Rain falls.", run.result.text)]


def test_else_a_fresh_sample_is_drawn_sound() -> None:
    replies = ("The rain falls on the fields.", "Der Regen fällt auf das Feld.")
    run = play(Sound(), GERMAN, *replies)
    first, fresh = (one.call for one in run.exchanges)
    assert (fresh.messages, fresh.sample != first.sample) == (first.messages, True)
    assert run.result.text == replies[1]
    assert made(run) == [("fresh sample", *replies)]
    turned = play(Sound(then="turn"), GERMAN, *replies)
    assert stages(turned) == ["reply", "correct"]
    assert "in German" in turned.exchanges[1].call.messages[-1].content
    assert (turned.result.text, made(turned)) == (replies[1], [("turn", *replies)])


@pytest.mark.parametrize("most", [1, 2, 4])
def test_where_nothing_helps_the_reply_that_breaks_least_stands_and_says_so(most: int) -> None:
    others = ["It is the rain that falls on us."] * (most - 1)
    run = play(Sound(most=most), GERMAN, "The rain falls on us all.", *others)
    assert len(run.exchanges) == most
    assert run.result.text == "The rain falls on us all."
    details = cast("dict[str, Any]", assess(GERMAN, run.result).details)
    assert [one["truth"] for one in details["checks"]] == ["violated"]
    assert details["confidence"] == 0.0


def test_two_responses_are_put_together_from_two() -> None:
    run = play(Sound(), TWO, "Rain is wet.", "Rain is cold.")
    assert run.result.text == "Rain is wet.\n\n******\n\nRain is cold."


def test_a_mechanism_that_is_off_asks_with_no_prompt() -> None:
    off, turn = make("sound(repair=off,add=off,then=off)"), Sound(then="turn")
    assert [one.name for one in prompts_of(off)] == ["reply"]
    assert [one.name for one in prompts_of(turn)] == ["reply", "reply-add", "reply-correct"]
    assert Sound().base == Plain()


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
