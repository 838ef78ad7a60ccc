"""``cfr demo``: three problems, Routed-CFR and Direct CoT side by side, with a real model."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

import click

from cfr.cli.solve import decoding_options, model_options

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from cfr.cli.session import Report

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
def command(
    model: str | None,
    base_url: str | None,
    key_env: str | None,
    context: int | None,
    temperature: float,
    top_p: float,
    seed: int | None,
) -> None:
    """Solve three problems with and without constraints, and compare.

    \b
    cfr demo
    cfr demo --base-url http://127.0.0.1:8000/v1
    """
    from cfr.cli.session import Session
    from cfr.engine.engine import Decoding
    from cfr.engine.resolve import Wanted
    from cfr.method import Direct, Routed
    from cfr.problem import Problem

    async def run() -> None:
        wanted = Wanted(model, base_url, key_env, context)
        pairs: list[tuple[Report, Report]] = []
        async with Session(wanted, Decoding(temperature, top_p, seed)) as session:
            for text, answer in PROBLEMS:
                problem = Problem(text, answer=answer)
                routed = await session.solve(Routed(), problem)
                direct = await session.solve(Direct(), problem)
                pairs.append((direct, routed))
            session.console.print(_side_by_side(pairs))

    asyncio.run(run())


def _side_by_side(pairs: list[tuple[Report, Report]]) -> Table:
    from rich.table import Table

    from cfr.cli import show

    table = Table("problem", "answer", *(report.method.label for report in pairs[0]))
    for pair in pairs:
        problem = pair[0].problem
        cells = (_verdict(report) for report in pair)
        table.add_row(show.printable(problem.text), problem.answer, *cells)
    return table


def _verdict(report: Report) -> Text:
    from rich.text import Text

    from cfr.answer import grade

    answer = report.outcome.result.answer
    verdict = grade(answer, report.problem.answer or "", report.problem.text)
    mark = ("✓ ", "green") if verdict.correct else ("✗ ", "red")
    return Text.assemble(
        mark, f"{answer or 'no answer'}\n", (f"{report.usage.total:,} tokens", "dim")
    )
