"""An attempt pays what its allowance lets it, whatever its method."""

import pytest

from constraint_first.attempt.drive import Allowance, AttemptLimit, MemoryJournal, drive
from constraint_first.attempt.solve import asolve
from constraint_first.method.registry import make
from constraint_first.model.error import TooExpensive
from constraint_first.model.wire import SILENT, Watcher
from constraint_first.problem import Problem
from constraint_first.protocol import Call, Completion, Usage

PROBLEM = Problem("Find the remainder when $3^5$ is divided by 7.")


class Counting:
    """An engine that counts; no two of its answers agree, and each reply has so many tokens."""

    def __init__(self, tokens: int = 10) -> None:
        self.tokens = tokens
        self.asked = 0
        self.beside = 0
        self.most_beside = 0

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
        self.asked += 1
        self.beside += 1
        self.most_beside = max(self.most_beside, self.beside)
        text = rf"It is \boxed{{{self.asked}}}."
        self.beside -= 1
        return Completion(text, usage=Usage(0, self.tokens))


UNBOUNDED = [
    "self-refine(iterations=999999999)",
    "extended(tokens=999999999,rounds=999999999)",
    "until-agreed(base=self-refine(iterations=999999999))",
    "self-consistency(base=self-consistency(samples=10),samples=10)",
    "self-consistency(base=prove(base=self-consistency(samples=10),samples=10),samples=2)",
    "vote(base=self-refine(iterations=9999)+direct,samples=60)",
    "prove(samples=900)",
    "search(width=900)",
    "checked(base=self-refine(iterations=9999))",
]


@pytest.mark.parametrize("method", UNBOUNDED)
async def test_no_method_asks_more_than_its_attempt_may(method: str) -> None:
    engine, allowance = Counting(), Allowance(AttemptLimit(calls=40))
    with pytest.raises(TooExpensive, match=r"more than 40 calls .*--max-calls"):
        await drive(make(method).solve(PROBLEM), engine, allowance=allowance)
    assert engine.asked == allowance.calls <= 40
    assert allowance.usage == Usage(0, 10 * engine.asked)


@pytest.mark.parametrize("method", ["self-refine(iterations=99)", "self-consistency(samples=64)"])
async def test_tokens_are_bounded_within_a_round_too(method: str) -> None:
    engine, allowance = Counting(1_000), Allowance(AttemptLimit(tokens=5_500))
    with pytest.raises(TooExpensive, match=r"more than 5,500 tokens .*--max-attempt-tokens"):
        await drive(make(method).solve(PROBLEM), engine, allowance=allowance)
    assert engine.asked == 6
    assert allowance.usage.output == 6_000


async def test_a_prompt_that_is_too_much_by_itself_is_not_asked() -> None:
    engine = Counting()
    steps = make("self-consistency(samples=64)").solve(Problem("x" * 200_000))
    with pytest.raises(TooExpensive, match="after 0 calls"):
        await drive(steps, engine, allowance=Allowance(AttemptLimit(tokens=3_000_000)))
    assert engine.asked == 0


async def test_replayed_calls_count_as_they_did() -> None:
    journal, limit = MemoryJournal(), AttemptLimit(calls=4)
    for _ in range(2):
        with pytest.raises(TooExpensive, match="after 4 calls and 40 tokens"):
            await drive(
                make("self-refine(iterations=9)").solve(PROBLEM),
                Counting(),
                journal=journal,
                allowance=Allowance(limit),
            )


@pytest.mark.parametrize(
    "method", ["self-consistency(samples=64)", "vote(samples=128)", "self-refine(iterations=60)"]
)
async def test_what_is_usual_passes_by_default(method: str) -> None:
    assert (await asolve(PROBLEM, method, engine=Counting(2_000))).answer


async def test_solve_takes_a_limit() -> None:
    with pytest.raises(TooExpensive):
        await asolve(PROBLEM, "self-refine", engine=Counting(), limit=AttemptLimit(calls=2))
