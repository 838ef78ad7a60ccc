import pytest

from constraint_first.method.registry import make
from constraint_first.method.vote import Search
from constraint_first.problem import Problem, Solution
from constraint_first.protocol import Completion, Run

PROBLEM = Problem("Find the remainder when $3^{50}$ is divided by 7.")


def play(begun: tuple[str, ...], *finished: str) -> Run[Solution]:
    run = Run(Search(len(begun)).solve(PROBLEM))
    run.advance(tuple(map(Completion, begun)))
    run.advance(tuple(Completion(f"\\boxed{{{answer}}}") for answer in finished))
    return run


@pytest.mark.parametrize(
    ("claim", "survives"),
    [
        ("CLAIM: The answer is less than 7.", True),
        ("CLAIM: The answer is 4.", True),
        ("CLAIM: The answer is even.", True),
        ("CLAIM: The answer is at least 10.", False),
        ("**CLAIM:** The final answer is 12.", False),
        ("- CLAIM: the answer is below 0", False),
        ("CLAIM: The order of 3 modulo 7 is 6.", True),
        ("I claim that the answer is 12.", True),
        ("", True),
    ],
)
def test_a_branch_whose_claim_breaks_a_constraint_is_dropped(claim: str, survives: bool) -> None:
    run = play((f"Steps.\n{claim}",), "2")
    assert run.exchanges[1].call.stage == ("solve" if survives else "direct")
    assert run.result.details["dropped"] == (0 if survives else 1)
    assert run.result.answer == "2"


def test_surviving_branches_are_finished_and_vote() -> None:
    begun = ("A.\nCLAIM: The answer is 70.", "B.", "C.\nCLAIM: the answer is odd", "D.")
    run = play(begun, "5", "12", "5")
    calls = [exchange.call for exchange in run.exchanges]
    assert [call.stage for call in calls] == ["explore"] * 4 + ["solve"] * 3
    assert [call.sample for call in calls] == [0, 1, 2, 3, 1, 2, 3]
    assert [call.messages[1].content[:1] for call in calls[4:]] == ["B", "C", "D"]
    assert run.result.answer == "5"
    assert run.result.details["votes"] == {"5": 2}
    assert run.result.details["samples"] == ["5", "12", "5"]
    assert (run.result.details["branches"], run.result.details["dropped"]) == (4, 1)


def test_unsound_answers_vote_where_there_are_no_others() -> None:
    assert play(("A.", "B."), "12", "12").result.answer == "12"


def test_its_width_can_be_set() -> None:
    assert make("search(width=2)") == Search(2)
    with pytest.raises(Exception, match="at least 1"):
        make("search(width=0)")
