import pytest

from constraint_first.attempt.drive import Scripted, drive
from constraint_first.method.registry import make
from constraint_first.problem import Problem
from constraint_first.protocol import (
    Call,
    Completion,
    Output,
    Program,
    Steps,
    Usage,
    ask,
    execute,
    together,
)
from constraint_first.serve.reading import within

CUED = Problem("Find the remainder when $3^5$ is divided by 7.")
SPEC = '{"raw_constraints": [{"id": "C1", "type": "modular", "description": "taken modulo 7"}]}'


def replies(*counts: int) -> Scripted:
    left = iter(counts)

    def reply(call: Call) -> Completion:
        text = SPEC if call.stage == "stage1" else r"\boxed{5}"
        return Completion(text, usage=Usage(1, next(left)))

    return Scripted(reply)


async def budgets(method: str, most: int, *counts: int) -> list[int]:
    engine = replies(*counts)
    await drive(within(make(method).solve(CUED), most), engine)
    return [call.max_tokens for call in engine.asked]


@pytest.mark.parametrize(
    ("method", "most", "counts", "expected"),
    [
        ("direct", 500, (100,), [500]),
        ("direct", 10**6, (100,), [32_768]),
        ("cfr", 1_000, (200, 300), [250, 800]),
        ("cfr", 10_000, (200, 300), [1_024, 9_800]),
        ("self-refine", 1_000, (400, 100, 50), [1_000, 600, 500]),
        ("self-consistency(samples=3)", 1_000, (400, 100, 50), [1_000, 1_000, 1_000]),
    ],
)
async def test_stages_share_a_budget_and_samples_do_not(
    method: str, most: int, counts: tuple[int, ...], expected: list[int]
) -> None:
    assert await budgets(method, most, *counts) == expected


async def test_where_nothing_is_left_nothing_is_asked() -> None:
    engine = replies(1_000)
    outcome = await drive(within(make("self-refine").solve(CUED), 1_000), engine)
    assert len(engine.asked) == 1
    assert outcome.result.answer == "5"  # the draft stands


async def test_programs_are_run_even_then() -> None:
    call = Call.user("?", stage="direct", max_tokens=9)

    def method() -> Steps[tuple[object, ...]]:
        yield from ask(call)
        return (yield from together([ask(call), execute(Program("print(1)"))]))

    async def sandbox(program: Program) -> Output:
        return Output("1")

    outcome = await drive(within(method(), 5), replies(5), sandbox=sandbox)
    cut, printed = outcome.result
    assert cut == Completion("", "length", usage=Usage())
    assert printed == Output("1")
