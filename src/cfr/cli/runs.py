"""``cfr runs``: what is in a store."""

from __future__ import annotations

import click

from cfr.cli.option import json_option, store_option
from cfr.cli.output import print_json, print_note

__all__ = ["command"]


@click.command("runs")
@store_option
@json_option
@click.option("--regrade", is_flag=True, help="Grade every stored answer anew; asks no model.")
def command(store: str, *, as_json: bool, regrade: bool) -> None:
    """List what a store holds: each method on each benchmark, with its score and its cost.

    \b
    cfr runs
    cfr runs --store results.db --json
    cfr runs --regrade
    """
    from cfr.analysis.study.reader import existing_store
    from cfr.evaluation.summary import summaries

    with existing_store(store) as opened:
        if regrade:
            from cfr.evaluation.regrade import regrade as grade_anew

            changed = grade_anew(opened)
            print_note(f"{changed} verdict(s) changed")
        found = summaries(opened)
    if as_json:
        print_json([summary.to_json() for summary in found])
    else:
        from cfr.cli.console import SafeConsole
        from cfr.cli.live import summary_table

        SafeConsole().print(
            summary_table(found) if found else f"{opened.url}: nothing has been run yet"
        )
