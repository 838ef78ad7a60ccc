from collections.abc import Sequence

import pytest

from constraint_first.method.constraint_first import Routed
from constraint_first.method.method import MethodError
from constraint_first.method.registry import make
from constraint_first.method.vote import SelfConsistency, ballot
from constraint_first.problem import Problem, Solution
from constraint_first.protocol import Completion, Run

PROBLEM = Problem("What is $2+2$?")


def vote(*answers: str | None) -> Solution:
    run = Run(SelfConsistency(samples=len(answers)).solve(PROBLEM))
    replies = ["" if a is None else f"\\boxed{{{a}}}" for a in answers]
    run.advance(tuple(map(Completion, replies)))
    return run.result


@pytest.mark.parametrize(
    ("answers", "winner"),
    [
        (("4", "5", "4"), "4"),
        (("5", "4", "4"), "4"),
        (("5", "4"), "5"),
        (("4", "5", "5", "4"), "4"),
        ((None, "5", "4", "4", "5"), "5"),
        ((None, None, "7"), "7"),
        ((None, None), None),
        (("", "", "7"), "7"),
        (("4.0", "5", "$4$"), "4.0"),
    ],
)
def test_the_majority_wins_and_a_tie_goes_to_the_earliest(
    answers: Sequence[str | None], winner: str | None
) -> None:
    assert vote(*answers).answer == winner


def test_the_count_is_remembered() -> None:
    details = vote("1,000", "7", "1000", None).details
    assert details["votes"] == {"1000": 2, "7": 1}
    assert details["samples"] == ["1,000", "7", "1000", None]


def test_all_samples_are_asked_at_once_and_can_be_told_apart() -> None:
    run = Run(SelfConsistency(samples=3).solve(PROBLEM))
    assert [call.sample for call in run.calls] == [0, 1, 2]
    nested = Run(SelfConsistency(SelfConsistency(samples=2), 3).solve(PROBLEM))
    assert len({call.sample for call in nested.calls}) == 6


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("self-consistency(samples=0)", "samples must be at least 1"),
        ("self-consistency(samples=99999999)", "samples must be at most 1000, .* are 99999999"),
        (
            "self-consistency(samples=40,base=self-consistency(samples=40))",
            "votes within votes multiplied; these are 1600",
        ),
        (
            "self-consistency(samples=98,base=self-consistency(samples=2))",
            "a vote over votes must be at most 97",
        ),
    ],
)
def test_a_vote_has_a_limit(text: str, message: str) -> None:
    with pytest.raises(MethodError, match=f"method 'self-consistency': .*{message}"):
        make(text)


def test_votes_are_counted_however_deep_they_stand() -> None:
    inner = Routed(otherwise=SelfConsistency(samples=40))
    assert SelfConsistency(samples=1_000).samples == 1_000
    assert SelfConsistency(inner, 25).samples == 25
    with pytest.raises(ValueError, match="these are 1040"):
        SelfConsistency(inner, 26)


def test_any_method_can_be_the_base() -> None:
    run = Run(SelfConsistency(Routed(), 2).solve(Problem("Find the remainder of 9 modulo 7.")))
    assert [call.stage for call in run.calls] == ["stage1", "stage1"]
    run.advance((Completion('{"raw_constraints": [{"description": "mod 7"}]}'), Completion("?")))
    assert [call.stage for call in run.calls] == ["stage2", "direct"]
    run.advance((Completion(r"\boxed{3}"), Completion(r"\boxed{2}")))
    assert run.result.answer == "3"
    assert run.result.details["routed"] is True


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("025", "25"),
        ("25.0", "25"),
        ("25.", "25"),
        ("-0", "0"),
        ("1{,}234", "1234"),
        (r"\dfrac{1}{2}", r"\frac12".replace("12", "{1}{2}")),
        (r"\left( 3, \frac{\pi}{2} \right)", r"(3,\frac{\pi}{2})"),
        (r"\text{Monday}", "Monday"),
        (r"\(x+1\)", "$x + 1$"),
    ],
)
def test_notation_does_not_split_the_vote(one: str, other: str) -> None:
    assert ballot(one) == ballot(other)


def test_a_hostile_answer_is_counted_in_no_time() -> None:
    assert ballot("0" * 200_000 + "x").endswith("x")
    assert ballot("\\text{" * 50_000)
    assert ballot("1,000" * 50_000)


@pytest.mark.parametrize(
    ("one", "other"), [("1,2", "12"), ("-3", "3"), (r"a\rightarrow b", "aarrow b"), ("0.5", "5")]
)
def test_different_answers_stay_different(one: str, other: str) -> None:
    assert ballot(one) != ballot(other)
