import pytest

from constraint_first.method.registry import make
from constraint_first.method.vote import Prove
from constraint_first.problem import Problem, Solution
from constraint_first.protocol import Completion, Output, Program, Run, Step

PROBLEM = Problem("What is $2+2$?")


def play(*pairs: tuple[str, str]) -> Run[Solution]:
    """Let each chain say one thing, and its program print another."""

    def answer(step: Step, pair: tuple[str, str]) -> Completion | Output:
        if isinstance(step, Program):
            return Output(step.source.removeprefix("#").strip())
        if step.stage == "translate":
            return Completion(f"```python\n#{pair[1]}\n```")
        return Completion(f"So \\boxed{{{pair[0]}}}" if pair[0] else "")

    run = Run(Prove(samples=len(pairs)).solve(PROBLEM))
    while not run.done:
        answered = [p for p in pairs if p[0]] if run.transcript else pairs
        run.advance(tuple(map(answer, run.round, answered)))
    return run


@pytest.mark.parametrize(
    ("pairs", "answer", "confirmed"),
    [
        ((("5", "4"), ("5", "4"), ("4", "4")), "4", 1),
        ((("4", "4"), ("5", "5"), ("4", "4")), "4", 2 + 1),
        ((("5", "1"), ("4", "2"), ("4", "3")), "4", 0),
        ((("", ""), ("4", "4.0")), "4", 1),
        ((("", ""), ("", "")), None, 0),
        ((("1/2", "Fraction(1, 2)"), ("3", "")), "1/2", 1),
    ],
)
def test_chains_that_their_program_confirms_vote(
    pairs: tuple[tuple[str, str], ...], answer: str | None, confirmed: int
) -> None:
    run = play(*pairs)
    assert run.result.answer == answer
    assert run.result.details["confirmed"] == confirmed


def test_a_chain_is_shown_to_whoever_translates_it() -> None:
    run = play(("4", "4"), ("5", "4"))
    chains, translations = run.exchanges[:2], run.exchanges[2:]
    assert [e.call.sample for e in chains] == [e.call.sample for e in translations] == [0, 1]
    assert {e.call.stage for e in translations} == {"translate"}
    assert translations[1].call.messages[0].content.endswith("Solution:\nSo \\boxed{5}")
    assert run.result.details["samples"] == ["4", "5"]
    assert run.result.details["votes"] == {"4": 1}


def test_its_samples_can_be_set() -> None:
    assert make("prove") == Prove()
    assert make("prove(samples=3)") == Prove(samples=3)
    with pytest.raises(Exception, match="samples must be at least 1"):
        make("prove(samples=0)")
