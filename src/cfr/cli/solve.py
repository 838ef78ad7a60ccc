"""``cfr solve``: one problem, and everything that happens on the way to its answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cfr.cli.option import bound_options, decoding_options, model_options
from cfr.cli.output import print_json, print_text
from cfr.error import CfrError

if TYPE_CHECKING:
    from cfr.engine.engine import Decoding
    from cfr.engine.resolve import ModelRef
    from cfr.engine.solve import Solved
    from cfr.engine.transport import Bounds

__all__ = ["NoAnswer", "command"]


class NoAnswer(CfrError):
    """The model replied, but its reply has no final answer."""

    exit_code = 4


@click.command("solve")
@click.argument("source", metavar="TEXT|FILE|-")
@click.option(
    "--method",
    default="auto",
    show_default=True,
    help="direct, cfr, program, vote, …; options in brackets: 'cfr(reply=json)'; auto is what "
    "measured best on the model, else routed-cfr.",
)
@model_options
@decoding_options
@bound_options
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object a problem.")
@click.option("--quiet", is_flag=True, help="Write the final answer alone.")
def command(
    source: str,
    method: str,
    ref: ModelRef,
    decoding: Decoding,
    bounds: Bounds,
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    """Solve a problem; show its cues, constraints, solution and cost.

    Without --model and --base-url a small model runs on this machine; it is fetched the first time.

    \b
    cfr solve "Find the remainder when 7^100 is divided by 13."
    cfr solve problem.txt --method direct --quiet
    cfr solve - --base-url http://127.0.0.1:8000/v1 < problem.txt
    """
    # All that can be wrong with the input is found before a model is fetched or loaded.
    from cfr.benchmark.source import read_problems
    from cfr.engine.automatic import AUTO
    from cfr.engine.engine import SILENT
    from cfr.method import make
    from cfr.method.method import models_of

    problems, named = read_problems(source), None if method == AUTO else make(method)

    from cfr.cli.interrupt import run_interruptible
    from cfr.cli.session import Session

    solved_so_far: list[Solved] = []

    async def run() -> int:
        unanswered = 0
        silent, others = quiet or as_json, models_of(named)
        async with Session(ref, decoding, bounds, others=others, quiet=silent) as session:
            chosen = named or session.choose_method(quiet=quiet)
            for problem in problems:
                watcher = SILENT if silent else None
                solved = await session.solve(chosen, problem, watcher)
                solved_so_far.append(solved)
                unanswered += solved.answer is None
                if as_json:
                    print_json(solved.to_json())
                elif quiet:
                    print_text(solved.answer or "")
        return unanswered

    def stopped() -> str:
        return f"stopped; {len(solved_so_far)} of {len(problems)} problem(s) solved; none is stored"

    if unanswered := run_interruptible(run(), stopped):
        raise NoAnswer(f"{unanswered} of {len(problems)} problem(s): the reply has no final answer")
