"""``cfr demo``: three problems, Routed-CFR and Direct CoT side by side, with a real model."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

import click

from cfr.cli.option import decoding_options, model_options

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from cfr.engine.engine import Decoding
    from cfr.engine.resolve import ModelRef
    from cfr.engine.solve import Solved

__all__ = ["command"]

# Each asks for something other than the number that the work leads to: a remainder, an encoded
# fraction, a count under two conditions. (text, gold answer)
PROBLEMS: Final = (
    (
        "Mira puts 45 coins into a chest every day for 31 days. Find the remainder when the number "
        "of coins in the chest is divided by 100.",
        "95",
    ),
    (
        "A bag holds 3 red and 5 blue marbles. Two marbles are drawn at random without "
        "replacement. The probability that both are blue can be written as $\\frac{m}{n}$, where "
        "$m$ and $n$ are relatively prime positive integers. Find $m+n$.",
        "19",
    ),
    (
        "How many positive integers less than 100 are divisible by 6?",
        "16",
    ),
)


@click.command("demo")
@model_options
@decoding_options
def command(ref: ModelRef, decoding: Decoding) -> None:
    """Solve three problems with and without constraints, and compare.

    \b
    cfr demo
    cfr demo --base-url http://127.0.0.1:8000/v1
    """
    from cfr.cli.session import Session
    from cfr.method import Direct, Routed
    from cfr.problem import Problem

    async def run() -> None:
        pairs: list[tuple[Solved, Solved]] = []
        async with Session(ref, decoding) as session:
            for text, answer in PROBLEMS:
                problem = Problem(text, answer=answer)
                routed = await session.solve(Routed(), problem)
                direct = await session.solve(Direct(), problem)
                pairs.append((direct, routed))
            session.console.print(_side_by_side(pairs))

    asyncio.run(run())


def _side_by_side(pairs: list[tuple[Solved, Solved]]) -> Table:
    from rich.table import Table

    from cfr.cli import show

    table = Table("problem", "answer", *(solved.method.label for solved in pairs[0]))
    for pair in pairs:
        problem = pair[0].problem
        cells = (_verdict(solved) for solved in pair)
        table.add_row(show.printable(problem.text), problem.answer, *cells)
    return table


def _verdict(solved: Solved) -> Text:
    from rich.text import Text

    from cfr.answer import grade
    from cfr.cli.show import printable

    answer = solved.answer
    verdict = grade(answer, solved.problem.answer or "", solved.problem.text)
    mark = ("✓ ", "green") if verdict.correct else ("✗ ", "red")
    return Text.assemble(
        mark, f"{printable(answer or 'no answer')}\n", (f"{solved.usage.total:,} tokens", "dim")
    )
