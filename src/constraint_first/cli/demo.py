"""``cfr demo``: a few problems, Direct CoT beside what ``auto`` stands for, with a real model."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import click
from rich.console import RenderableType
from rich.rule import Rule
from rich.text import Text

from constraint_first.answer.grade import grade
from constraint_first.cli import show
from constraint_first.cli.console import Column, Table
from constraint_first.cli.options import decoding_options, model_options
from constraint_first.cli.output import run_interruptible
from constraint_first.cli.solve import Session, open_session
from constraint_first.constraint.stage1 import read_spec
from constraint_first.file.safe import printable
from constraint_first.method.baselines import Direct
from constraint_first.method.policy import Calibrated
from constraint_first.method.program import read_output
from constraint_first.method.registry import make
from constraint_first.problem import Problem
from constraint_first.protocol import Usage

if TYPE_CHECKING:
    from constraint_first.attempt.attempt import Attempt
    from constraint_first.method.method import Method
    from constraint_first.method.policy import Evidence
    from constraint_first.model.resolve import ModelRef
    from constraint_first.model.wire import Decoding


class Example(NamedTuple):
    """A problem of the demonstration, with a name for its row."""

    name: str
    text: str
    answer: str


# Each text states a demand on its answer, and is many steps by hand or a few lines of a program.
# The first two are from ConstraintBench: programs solved them in all of four runs.
EXAMPLES: Final = (
    Example(
        "a number on a ticket",
        "Elif's raffle ticket carries a number from $51$ to $71$. It is divisible by $5$, and its "
        "digits add up to $11$. What number is on the ticket?",
        "65",
    ),
    Example(
        "the multiple below a sum",
        "Find the largest multiple of $13$ that is not greater than $242 + 155 + 154 + 388$.",
        "936",
    ),
    Example(
        "a sum of digits",
        "How many three-digit positive integers have digits whose sum is 10?",
        "54",
    ),
    Example(
        "two remainders",
        "Find the largest integer less than 500 that leaves a remainder of 3 when divided by 7 and "
        "a remainder of 2 when divided by 5.",
        "472",
    ),
)
_NEXT: Final = """\
On your own model, in three commands, with its key in OPENAI_API_KEY:
  {cfr} eval constraintbench --limit 240 --runs 1 --model NAME --base-url URL \\
      --method direct --method program --method until-agreed
  {cfr} calibrate runs.db -o policy.toml
  {cfr} solve problem.txt --method 'calibrated(policy=policy.toml)' \\
      --model NAME --base-url URL"""


@click.command("demo")
@model_options
@decoding_options
def demo_command(ref: ModelRef, decoding: Decoding) -> None:
    """Solve a few problems with Direct CoT and with auto, and compare.

    For each it shows what the text demands of the answer, with a mark for whether that holds, and
    the program that printed the answer. auto is the policy that comes with the package for the
    model. Where there is none it would be Direct CoT as well, so Routed-CFR takes its place.

    \b
    cfr demo
    cfr demo --base-url http://127.0.0.1:8000/v1
    """

    async def run() -> None:
        async with open_session(ref, decoding) as session:
            method = _compared(session.choose_method())
            for line in _introduction(method):
                session.console.print(line)
            pairs = [await _solve_twice(session, method, at) for at in range(len(EXAMPLES))]
            for part in _conclusion(method, pairs):
                session.console.print(part)

    run_interruptible(run(), lambda: "stopped")


def _compared(automatic: Method) -> Method:
    """Choose the method beside Direct CoT: Routed-CFR where ``auto`` would be Direct CoT too."""
    if not isinstance(automatic, Calibrated) or automatic.methods:
        return automatic
    same = isinstance(automatic.otherwise, Direct)
    return make("routed-cfr") if same else automatic.otherwise


def _introduction(method: Method) -> Iterator[str]:
    """Name the method beside Direct CoT, and the rules of a policy."""
    yield f"{len(EXAMPLES)} problems, each with Direct CoT and then with {method.label}."
    if isinstance(method, Calibrated):
        rules = [f"{rule.method} on problems {rule.words}" for rule in method.policy.rules]
        yield f"{method.label} is {'; '.join([*rules, method.policy.otherwise + ' on others'])}."
    yield ""


async def _solve_twice(session: Session, method: Method, at: int) -> tuple[Attempt, Attempt]:
    """Solve an example with Direct CoT and with a method, and show both results."""
    console, example = session.console, EXAMPLES[at]
    problem = Problem(example.text, answer=example.answer)
    title = Text(f"{at + 1} of {len(EXAMPLES)}: {example.name}", style="bold")
    console.print(Rule(title, align="left", style="dim"))
    console.print(problem.text)
    console.print()
    direct = await session.solve_unseen(Direct(), problem)
    console.print(_result(direct))
    console.print()
    solved = await session.solve_unseen(method, problem)
    for part in _way(solved):
        console.print(part)
    console.print(_result(solved))
    console.print(show.shown_checks(solved.solution.details, problem.text))
    console.print()
    return direct, solved


def _way(solved: Attempt) -> Iterator[RenderableType]:
    """Show where an answer comes from: Stage 1's constraints, the program that printed it."""
    for exchange in solved.exchanges:
        if exchange.call.stage == "stage1":
            yield show.constraints(read_spec(exchange.completion.text))
    for execution in solved.executions:
        if read_output(execution.output).answer == solved.answer:
            yield show.listing(execution.program)
            yield show.output(execution.output)
            return
    if solved.executions:
        yield f"No program of {len(solved.executions)} printed this answer.\n"


def _result(solved: Attempt) -> Text:
    """Show a method's answer, whether it is right, and its tokens."""
    label = (f"{solved.method.label}  ", "bold")
    return Text.assemble(label, _verdict(solved), (f"  {_written(solved)} output tokens", "dim"))


def _written(solved: Attempt) -> str:
    return f"{solved.usage.output:,}" if solved.usage.reported else "unknown"


def _verdict(solved: Attempt) -> Text:
    mark = ("✓ ", "green") if _is_right(solved) else ("✗ ", "red")
    return Text.assemble(mark, printable(solved.answer or "no answer"))


def _is_right(solved: Attempt) -> bool:
    return grade(solved.answer, solved.problem.answer or "", solved.problem.text).correct


def _conclusion(
    method: Method, pairs: Sequence[tuple[Attempt, Attempt]]
) -> Iterator[RenderableType]:
    yield _side_by_side(pairs)
    yield ""
    yield _totals(pairs)
    policy = method.policy if isinstance(method, Calibrated) else None
    yield _measured(policy.by_problem if policy and policy.rules else None)
    yield ""
    # `make demo` runs .venv/bin/cfr, which need not be on the PATH.
    hidden = not shutil.which("cfr") and sys.argv[0].endswith("/cfr")
    yield _NEXT.format(cfr=sys.argv[0] if hidden else "cfr")


def _side_by_side(pairs: Sequence[tuple[Attempt, Attempt]]) -> Table:
    answers = (
        column
        for solved in pairs[0]
        for column in (Column(solved.method.label, "prose"), Column("output tokens"))
    )
    table = Table("problem", Column("right answer"), *answers, more="")
    for example, pair in zip(EXAMPLES, pairs, strict=True):
        cells = (cell for one in pair for cell in (_verdict(one), _written(one)))
        table.add_row(example.name, example.answer, *cells)
    return table


def _totals(pairs: Sequence[tuple[Attempt, Attempt]]) -> str:
    """Say in words how many answers were right, and at which price."""
    columns = tuple(zip(*pairs, strict=True))
    said = [
        f"{column[0].method.label} got {sum(map(_is_right, column))} of {len(column)} right"
        for column in columns
    ]
    before, after = (sum((one.usage for one in column), Usage()) for column in columns)
    if before.output and before.reported and after.reported:
        said[0] += f" with {before.output:,} output tokens"
        all_tokens = (after.total - after.shared) / (before.total - before.shared)
        said[1] += (
            f" with {after.output:,}: {after.output / before.output:.2f} times as many, and "
            f"{all_tokens:.2f} times with the prompts"
        )
    return f"{said[0]}, {said[1]}."


def _measured(seen: Evidence | None) -> str:
    """Say that the examples measure nothing, and where measured figures are."""
    few = f"{len(EXAMPLES)} examples measure nothing, and other replies come each time."
    if seen is None:
        return f"{few} Measured figures are in docs/results/README.md."
    tokens = "" if seen.tokens is None else f", at {seen.tokens:.2f} times the output tokens"
    return (
        f"{few} Measured on {seen.problems:,} other problems with this model, each by rules learnt "
        f"without it: {seen.before:.1f} % right before, {seen.after:.1f} % after{tokens} "
        "(docs/results/README.md)."
    )
