"""Final calls: their reply is the solution, whatever it says."""

from collections.abc import Sequence
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


def played(
    method: Method, problem: Problem, answers: Sequence[tuple[Answer, ...]]
) -> Run[Solution]:
    run = Run(method.solve(problem))
    for one in answers:
        run.advance(one)
    return run


@pytest.mark.parametrize("problem", [CUED, PLAIN, TEA], ids=["cued", "plain", "demanding"])
@pytest.mark.parametrize("name", VARIANTS)
def test_a_final_call_is_one_whose_reply_is_the_solution_whatever_it_says(
    name: str, problem: Problem
) -> None:
    method = make(name)
    for seed in (-1, *range(len(ANY_REPLY))):
        answers: list[tuple[Answer, ...]] = []
        while steps := played(method, problem, answers).round:
            if any(isinstance(step, Call) and step.final for step in steps):
                assert len(steps) == 1
                for one in ANY_REPLY:
                    run = played(method, problem, [*answers, (one,)])
                    assert run.done
                    assert run.result.text.strip() == one.text.strip()
            at = [seed if seed < 0 else seed + len(answers) + n for n in range(len(steps))]
            answers.append(tuple(map(answer, steps, at)))


async def run_stages(method: str, problem: Problem, output: Output) -> list[str]:
    async def sandbox(program: Program) -> Output:
        return output

    run = await drive(make(method).solve(problem), Scripted(reply), sandbox=sandbox)
    return [one.call.stage for one in run.exchanges if one.call.final]


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
        *(
            (method, CUED, list[str]())
            for method in (
                *("checked(base=direct)", "cfr-brief(question=1)", "self-refine", "program"),
                *("extended(tokens=5)", "self-consistency(samples=2)", "program(fallback=none)"),
                *("vote", "until-agreed", "prove(samples=2)", "search"),
            )
        ),
    ],
)
async def test_which_calls_are_final(method: str, problem: Problem, expected: list[str]) -> None:
    assert await run_stages(method, problem, Output("5")) == expected


async def test_a_program_that_fails_leads_to_a_fall_back_whose_call_is_final() -> None:
    assert await run_stages("program", CUED, Output("", "ValueError: no")) == ["direct"]


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
