"""``cfr solve``: problems one by one, and everything that happens on the way to an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from constraint_first.cli.option import (
    bound_options,
    columns_option,
    decoding_options,
    limit_options,
    model_options,
    prompts_option,
    system_option,
)
from constraint_first.cli.output import print_json, print_note, print_text
from constraint_first.error import CfrError

if TYPE_CHECKING:
    from constraint_first.cli.scoring import Scoring
    from constraint_first.cli.session import Session
    from constraint_first.engine.allowance import AttemptLimit
    from constraint_first.engine.engine import Decoding
    from constraint_first.engine.resolve import ModelRef
    from constraint_first.engine.transport import Bounds
    from constraint_first.method import Method
    from constraint_first.method.rewording import Wording
    from constraint_first.problem import Problem

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
    help="direct, cfr, program, vote, …; options in brackets: 'vote(samples=5)'; auto is the "
    "policy for the model, which passes on untouched what is no problem.",
)
@columns_option()
@model_options
@decoding_options
@bound_options
@limit_options
@prompts_option
@system_option
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object a problem.")
@click.option("--quiet", is_flag=True, help="Write the final answer alone.")
def command(
    source: str,
    method: str,
    columns: dict[str, str],
    ref: ModelRef,
    decoding: Decoding,
    bounds: Bounds,
    limit: AttemptLimit,
    prompts: str | None,
    system: str | None,
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    """Solve a problem; show its cues, constraints, solution and cost.

    A FILE of rows (.jsonl, .json, .csv, .tsv, .parquet) has a problem a row, solved in turn. Gold
    answers in it are never sent: they say afterwards which answers are right. Any other FILE is the
    text of one problem.

    Without --model and --base-url a small model runs on this machine; it is fetched the first time.

    \b
    cfr solve "Find the remainder when 7^100 is divided by 13."
    cfr solve problem.txt --method direct --quiet
    cfr solve exam.csv --columns problem=question,answer=solution
    cfr solve - --base-url http://127.0.0.1:8000/v1 < problem.txt
    """
    # All that can be wrong with the input is found before a model is fetched or loaded.
    from constraint_first.benchmark.source import read_problems
    from constraint_first.engine.automatic import AUTO
    from constraint_first.engine.prompt_file import read_wording, with_wording
    from constraint_first.method import make
    from constraint_first.method.method import models_of, prompts_of

    read, named = read_problems(source, columns), None if method == AUTO else make(method)
    problems = read.problems
    own = read_wording(prompts, prompts_of(named)) if prompts else None
    named = named and with_wording(named, own)
    if read.taken and not quiet:
        print_note(read.taken)

    from constraint_first.analysis.notation import several
    from constraint_first.cli.interrupt import run_interruptible, typed_command
    from constraint_first.cli.scoring import Scoring
    from constraint_first.cli.session import Session

    scoring, silent = Scoring(len(problems)), quiet or as_json

    async def run() -> None:
        others = models_of(named)
        async with Session(
            ref, decoding, bounds, others=others, system=system or "", limit=limit, quiet=silent
        ) as session:
            chosen = named or with_wording(session.choose_method(quiet=quiet), own)
            if own and not quiet:
                _note_prompts(chosen, own)
            for problem in problems:
                if silent:
                    await _solve_silently(session, chosen, problem, scoring, as_json=as_json)
                else:
                    await _solve_visibly(session, chosen, problem, scoring)

    def stopped() -> str:
        solved = f"{scoring.solved} of {several(len(problems), 'problem')} solved"
        return f"stopped; {solved}, and nothing is stored; to begin anew: {typed_command()}"

    run_interruptible(run(), stopped)
    if scoring.total and not quiet:
        if as_json:
            print_note(scoring.total)
        else:
            print_text(f"\n{scoring.total}")
    if scoring.unanswered:
        unanswered = f"{scoring.unanswered} of {several(len(problems), 'problem')}"
        raise NoAnswer(f"{unanswered}: the reply has no final answer")


def _note_prompts(method: Method, own: Wording) -> None:
    """Say which prompts of a folder are used."""
    from constraint_first.method.method import prompts_of

    used = [f"{one.name}.txt" for one in prompts_of(method) if one.replaced]
    print_note(f"own prompts of {own.name}: {', '.join(used) or 'all as they were'}")


async def _solve_visibly(
    session: Session, method: Method, problem: Problem, scoring: Scoring
) -> None:
    """Show a solution as it is written, and whether it is right."""
    session.console.print(scoring.heading(problem))
    solved = await session.solve(method, problem)
    scoring.count(solved)
    session.console.print(scoring.said(problem, scoring.judge(solved)))


async def _solve_silently(
    session: Session, method: Method, problem: Problem, scoring: Scoring, *, as_json: bool
) -> None:
    """Write a line for a problem."""
    from constraint_first.engine.engine import SILENT

    solved = await session.solve(method, problem, SILENT)
    scoring.count(solved)
    if as_json:
        print_json(solved.to_json() | scoring.judge(solved))
    else:
        print_text(solved.answer or "")
