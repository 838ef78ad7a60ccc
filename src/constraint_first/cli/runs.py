"""``cfr runs``: what is in a store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from constraint_first.cli.option import json_option, store_argument
from constraint_first.cli.output import print_json, print_note, print_text
from constraint_first.file.printable import one_line

if TYPE_CHECKING:
    from constraint_first.evaluation.summary import Failure, Summary
    from constraint_first.problem import Json

__all__ = ["command"]


@click.command("runs")
@store_argument
@json_option
@click.option("--regrade", is_flag=True, help="Grade every stored answer anew; asks no model.")
@click.option("--failures", "only_failures", is_flag=True, help="List why attempts failed instead.")
def command(store: str, *, as_json: bool, regrade: bool, only_failures: bool) -> None:
    """List what a store holds: each method on each benchmark, with its score and its cost.

    RUNS is a store: runs.db unless named, another file, or postgresql://…. The number before a
    series is its name for 'cfr show'.

    \b
    cfr runs
    cfr runs results.db --json
    cfr runs --regrade
    cfr runs --failures
    """
    from constraint_first.analysis.study.reader import existing_store
    from constraint_first.evaluation.summary import failures, summaries

    with existing_store(store) as opened:
        if regrade:
            from constraint_first.evaluation.regrade import regrade as grade_anew

            changed = grade_anew(opened)
            print_note(f"{changed} verdict(s) changed")
        if only_failures:
            _print_failures(opened.url, failures(opened), as_json=as_json)
        else:
            _print_series(opened.url, summaries(opened), as_json=as_json)


def _print_series(url: str, found: list[Summary], *, as_json: bool) -> None:
    if as_json:
        print_json([_to_json(summary) for summary in found])
    elif not found:
        print_text(f"{url}: nothing has been run yet")
    else:
        from constraint_first.cli.console import SafeConsole
        from constraint_first.cli.run_table import COST_NOTE, summary_table
        from constraint_first.engine.price import sum_costs

        console = SafeConsole()
        console.print(summary_table(found))
        if (cost := sum_costs(one.cost for one in found)) is not None:
            console.print(f"\nAll together {cost}, {COST_NOTE}.")


def _to_json(summary: Summary) -> dict[str, Json]:
    from constraint_first.analysis.statistics.score import score_problems

    scored = score_problems(summary.scores)
    ends: Json = [end / 100 for end in scored.interval] if scored else None
    return summary.to_json() | {"interval": ends}


def _print_failures(url: str, found: list[Failure], *, as_json: bool) -> None:
    if as_json:
        print_json([failure.to_json() for failure in found])
        return
    for one in found:
        first = f"{one.method} on {one.benchmark} with {one.model}, problem {one.problem}"
        print_text(one_line(f"{one.count:,} failed: {one.reason}"))
        print_text("    " + one_line(f"the first: {first}, run {one.run}"))
        print_text("    " + one_line(f"way out: {one.way_out}"))
    if not found:
        print_text(f"{url}: no attempt failed")
