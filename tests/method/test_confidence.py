import pytest

from constraint_first.method.baselines import Direct
from constraint_first.method.checked import assess, assessed, confidence_of
from constraint_first.method.registry import make
from constraint_first.problem import Json, Problem, Solution
from constraint_first.protocol import Completion, Run

PROBLEM = Problem("Find the remainder when $3^{50}$ is divided by 7.")


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
    assert assess(PROBLEM, solved).details["confidence"] == confidence


def test_checks_say_what_was_looked_at() -> None:
    (check,) = checks("9")
    assert (check["kind"], check["truth"]) == ("modular", "violated")
    assert check["span"] == [0, 48]
    assert check["sentence"] == "The answer is a remainder: an integer from 0 to 6."
    assert [one["truth"] for one in checks("2")] == ["holds"]
    assert [one["truth"] for one in checks("some words")] == ["undecided"]
    assert [one["truth"] for one in checks(None)] == ["undecided"]
    assert assess(Problem("Simplify $x+x$."), solution("2x")).details["checks"] == []


def checks(answer: str | None) -> list[dict[str, Json]]:
    noted = assess(PROBLEM, solution(answer)).details["checks"]
    assert isinstance(noted, list)
    return [one for one in noted if isinstance(one, dict)]


def test_every_method_is_assessed_and_asks_what_it_asked_before() -> None:
    run = Run(assessed(Direct(), PROBLEM))
    assert run.calls == Run(Direct().solve(PROBLEM)).calls
    run.advance((Completion(r"\boxed{2}"),))
    assert run.result.details["how"] == "boxed"
    assert run.result.details["confidence"] == 0.5
    voting = Run(assessed(make("self-consistency(samples=2)"), PROBLEM))
    voting.advance((Completion(r"\boxed{2}"),) * 2)
    assert voting.result.details["confidence"] == 0.833
