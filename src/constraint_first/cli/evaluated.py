"""The end of a run as a person sees it: its table, or how it goes on after Ctrl-C."""

from __future__ import annotations

from constraint_first.cli.console import SafeConsole
from constraint_first.cli.interrupt import typed_command
from constraint_first.cli.live import TerminalWatcher
from constraint_first.cli.run_table import COST_NOTE, ratios, results
from constraint_first.error import CfrError
from constraint_first.evaluation.database import without_password
from constraint_first.evaluation.evaluate import Evaluated

__all__ = ["Incomplete", "print_evaluated", "tell_stopped"]


class Incomplete(CfrError):
    """Some attempts are missing; the same command makes them."""

    exit_code = 7


def print_evaluated(done: Evaluated) -> None:
    """Print the table of all series; raise where attempts are missing."""
    console = SafeConsole()
    console.print(results(done.series))
    if (compared := ratios(done.series)) is not None:
        console.print()
        console.print(compared)
    if done.cost is not None:
        console.print(f"\nAll together {done.cost}, {COST_NOTE}.")
    if not done.complete:
        failed = any(one.tally.failed for one in done.series)
        raise Incomplete(done.stopped + ("; 'cfr runs --failures' lists why" if failed else ""))


def tell_stopped(watcher: TerminalWatcher, store: str) -> str:
    """Say what an evaluation that was interrupted leaves behind, and how it goes on."""
    left = watcher.left_behind()
    stored = f"stopped; {left.made:,} of {left.total:,} attempts are stored in "
    stored += without_password(store)
    if wave := watcher.wave:
        return (
            f"{stored}; {wave.requests:,} requests of wave {wave.wave} go on without us; to "
            f"collect them: {typed_command()}"
        )
    if not left.total:
        return f"stopped before anything was asked; to begin anew: {typed_command()}"
    lost = "those" if left.in_flight is None else f"{left.in_flight:,}"
    return (
        f"{stored}, with all calls that have ended; {lost} in flight are lost; to go on: "
        f"{typed_command()}"
    )
