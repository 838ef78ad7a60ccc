from dataclasses import dataclass
from typing import ClassVar

import pytest

from constraint_first.attempt.drive import Scripted, drive
from constraint_first.method.method import Method
from constraint_first.method.registry import make, names
from constraint_first.problem import Problem, Solution
from constraint_first.protocol import Call, Completion, Output, Program, Steps, Usage, ask
from constraint_first.serve.service import announcing

CUED = Problem("Find the remainder when $3^5$ is divided by 7.")
PLAIN = Problem("Compute $3^5$.")
SPEC = '{"raw_constraints": [{"id": "C1", "type": "modular", "description": "taken modulo 7"}]}'
PROGRAM = "```python\nprint(5)\n```"


def reply(call: Call) -> Completion:
    texts = {"stage1": SPEC, "program": PROGRAM, "translate": PROGRAM, "router": "yes"}
    return Completion(texts.get(call.stage, r"It is \boxed{5}."), usage=Usage(10, 10))


async def sandbox(program: Program) -> Output:
    return Output("5")


async def announced(method: Method, problem: Problem) -> tuple[list[str], Solution, list[Call]]:
    """Return the stages of the calls that were announced, the solution, and all calls."""
    told: list[Call] = []
    engine = Scripted(reply)
    steps = announcing(method.solve(problem), method, problem, told.append)
    outcome = await drive(steps, engine, sandbox=sandbox)
    assert all(call in engine.asked for call in told)
    return [call.stage for call in told], outcome.result, engine.asked


@pytest.mark.parametrize(
    ("method", "problem", "expected"),
    [
        ("direct", CUED, ["direct"]),
        ("plan-and-solve", CUED, ["plan"]),
        ("cfr", CUED, ["stage2"]),
        ("cfr-brief", CUED, ["stage2"]),
        ("routed-cfr", CUED, ["stage2"]),
        ("routed-cfr", PLAIN, ["direct"]),
        ("stated-cfr", CUED, ["stage2"]),
        ("llm-router", PLAIN, ["stage2"]),
        ("format-only", PLAIN, ["solve"]),
        ("checked(base=direct)", PLAIN, ["direct"]),  # nothing is stated: it stands in any case
        ("checked(base=direct)", CUED, []),
        ("cfr-brief(question=1)", CUED, []),
        ("self-refine", CUED, []),
        ("extended(tokens=5)", CUED, []),
        ("self-consistency(samples=2)", CUED, []),
        ("program", CUED, []),
        ("program(fallback=none)", CUED, []),
        ("vote", CUED, []),
        ("until-agreed", CUED, []),
        ("prove(samples=2)", CUED, []),
        ("search", CUED, []),
    ],
)
async def test_the_solving_call_is_known_before_it_is_asked(
    method: str, problem: Problem, expected: list[str]
) -> None:
    assert (await announced(make(method), problem))[0] == expected


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("problem", [CUED, PLAIN])
async def test_what_is_announced_becomes_the_solution(name: str, problem: Problem) -> None:
    stages, solution, asked = await announced(make(name), problem)
    if stages:
        assert stages == [asked[-1].stage]
        assert solution.text == reply(asked[-1]).text


async def test_a_program_that_fails_leads_to_a_fall_back_that_solves() -> None:
    async def crash(program: Program) -> Output:
        return Output("", "ValueError: no")

    told: list[Call] = []
    method = make("program")
    steps = announcing(method.solve(CUED), method, CUED, told.append)
    outcome = await drive(steps, Scripted(reply), sandbox=crash)
    assert [call.stage for call in told] == ["direct"]
    assert outcome.result.text == r"It is \boxed{5}."


@dataclass(frozen=True)
class Fragile:
    """A method of somebody else's that breaks on a reply that it did not expect."""

    label: ClassVar[str] = "Fragile"

    def solve(self, problem: Problem) -> Steps[Solution]:
        text = (yield from ask(Call.user(problem.text, stage="own", max_tokens=9))).text
        return Solution(text[text.index("{") + 1], text)


async def test_a_method_that_breaks_on_what_is_made_up_is_not_trusted() -> None:
    stages, solution, _ = await announced(Fragile(), PLAIN)
    assert stages == []
    assert solution.answer == "5"


@pytest.mark.parametrize(
    ("text", "streams"),
    [
        ("Write about tea.", True),
        ("Write about tea. Do not use any commas.", False),
        ("Write about tea. Do not include the word mug in your response.", False),
        ("Write about tea. Your response should be less than 900 words.", False),
        ("Write about tea. Your response should be in German.", False),
    ],
)
async def test_a_reply_that_may_have_to_be_repaired_is_whole_before_it_is_content(
    text: str, streams: bool
) -> None:
    told, _, _ = await announced(make("sound(then=off)"), Problem(text))
    assert bool(told) is streams
