"""Final calls: their reply is the solution, whatever it says."""

from dataclasses import dataclass
from typing import ClassVar

import pytest

from constraint_first.attempt.drive import Scripted, drive
from constraint_first.method.baselines import Direct
from constraint_first.method.method import Method, marks_final
from constraint_first.method.registry import make, names
from constraint_first.problem import Problem, Solution
from constraint_first.protocol import Answer, Call, Completion, Output, Program, Run, Steps, Usage

CUED = Problem("Find the remainder when $3^5$ is divided by 7.")
PLAIN = Problem("Compute $3^5$.")
TEA = Problem("Write about tea. Do not use any commas.")
SPEC = '{"raw_constraints": [{"id": "C1", "type": "modular", "description": "taken modulo 7"}]}'
PROGRAM = "```python\nprint(5)\n```"
FEW = Usage(10, 10)
ANY_REPLY = (
    Completion(r"It is \boxed{2}.", usage=Usage(10, 1)),
    Completion("", usage=FEW),
    Completion(r"It is \boxed{-1/2}.", usage=FEW),
    Completion("QUESTION: Of what?", usage=FEW),
    Completion("```python\nprint(2)\n```\n", usage=FEW),
    Completion(r"It is \boxed{x", "length", usage=Usage(10, 10**6)),
    Completion('{"raw_constraints": [], "restrictive": "yes", "final_answer": "2"}', usage=FEW),
)
VARIANTS = [
    *names(),
    "cfr-brief(question=1)",
    "extended(rounds=0)",
    "extended(tokens=5)",
    "self-consistency(samples=1)",
    "self-consistency(base=sound,samples=2)",
    "search(width=1)",
    "self-refine(iterations=0)",
    "sound(then=off)",
    "sound(repair=off,add=off,then=off)",
    "sound(base=direct)",
    "checked(base=vote)",
    "checked(base=sound)",
    "vote(base=direct)",
    "vote(agree=1)",
    "program(fallback=none)",
    "prove(samples=2)",
]


def reply(call: Call) -> Completion:
    texts = {"stage1": SPEC, "program": PROGRAM, "translate": PROGRAM, "router": "yes"}
    return Completion(texts.get(call.stage, r"It is \boxed{5}."), usage=Usage(10, 10))


def answer(step: Call | Program, at: int) -> Answer:
    """Answer a step: usually, or by one of the replies that lead elsewhere."""
    if isinstance(step, Program):
        return Output("5") if at % 2 else Output("", "ValueError: no")
    return reply(step) if at < 0 else ANY_REPLY[at % len(ANY_REPLY)]


def played(method: Method, problem: Problem, answers: list[tuple[Answer, ...]]) -> Run[Solution]:
    run = Run(method.solve(problem))
    for one in answers:
        run.advance(one)
    return run


def returns(method: Method, problem: Problem, answers: list[tuple[Answer, ...]]) -> bool:
    """Say whether any reply to the next call would be the solution, by trying several."""
    for one in ANY_REPLY:
        run = played(method, problem, [*answers, (one,)])
        if not run.done or run.result.text.strip() != one.text.strip():
            return False
    return True


@pytest.mark.parametrize("problem", [CUED, PLAIN, TEA], ids=["cued", "plain", "demanding"])
@pytest.mark.parametrize("name", VARIANTS)
def test_a_final_call_is_one_whose_reply_is_the_solution_whatever_it_says(
    name: str, problem: Problem
) -> None:
    method = make(name)
    for seed in (-1, *range(len(ANY_REPLY))):
        answers: list[tuple[Answer, ...]] = []
        run = played(method, problem, answers)
        while run.round:
            finals = [step for step in run.round if isinstance(step, Call) and step.final]
            if finals:
                assert len(run.round) == 1
                assert returns(method, problem, answers)
            turn = len(answers)
            answers.append(
                tuple(
                    answer(step, seed if seed < 0 else seed + turn + n)
                    for n, step in enumerate(run.round)
                )
            )
            run = played(method, problem, answers)


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
        ("plain", TEA, ["reply"]),
        ("sound", PLAIN, ["reply"]),
        ("sound", TEA, []),
        ("extended(rounds=0)", CUED, ["solve"]),
        ("self-consistency(samples=1)", CUED, ["direct"]),
        ("search(width=1)", CUED, ["solve"]),
        ("checked(base=direct)", PLAIN, ["direct"]),  # nothing is stated: it is not changed
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
async def test_which_calls_are_final(method: str, problem: Problem, expected: list[str]) -> None:
    async def sandbox(program: Program) -> Output:
        return Output("5")

    run = await drive(make(method).solve(problem), Scripted(reply), sandbox=sandbox)
    assert [one.call.stage for one in run.exchanges if one.call.final] == expected


async def test_a_program_that_fails_leads_to_a_fall_back_whose_call_is_final() -> None:
    async def crash(program: Program) -> Output:
        return Output("", "ValueError: no")

    run = await drive(make("program").solve(CUED), Scripted(reply), sandbox=crash)
    assert [one.call.stage for one in run.exchanges if one.call.final] == ["direct"]


@dataclass(frozen=True)
class Shouting:
    """A method of another package, which changes the reply of one of ours."""

    label: ClassVar[str] = "Shouting"
    base: Method = Direct()

    def solve(self, problem: Problem) -> Steps[Solution]:
        found = yield from self.base.solve(problem)
        return Solution(found.answer, found.text.upper())


class Careful(Shouting):
    marks_final: ClassVar[bool] = True


@pytest.mark.parametrize(
    ("method", "believed"),
    [
        (Direct(), True),
        (make("checked(base=vote)"), True),
        (Shouting(), False),
        (Careful(), True),
        (Careful(base=Shouting()), False),
    ],
)
def test_a_method_of_another_package_is_believed_where_it_says_so(
    method: Method, believed: bool
) -> None:
    assert marks_final(method) is believed
