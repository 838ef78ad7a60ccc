"""``cfr work``: a worker on a store that many share."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from constraint_first.cli.option import grouped, store_option
from constraint_first.cli.speed_option import call_options, load_run_options, speed_options

if TYPE_CHECKING:
    from constraint_first.evaluation.run_options import RunOptions

__all__ = ["command"]

_run_settings = grouped("options", load_run_options, store_option, *speed_options, *call_options)


@click.command("work")
@_run_settings
@click.option(
    "--base-url",
    multiple=True,
    help="Ask this endpoint, or these, in the place of what is stored.  [may be repeated]",
)
@click.option("--key-env", help="The variable that holds its key, in the place of the stored one.")
@click.option("--quiet", is_flag=True, help="Write no progress, only the summary.")
def command(
    options: RunOptions, base_url: tuple[str, ...], key_env: str | None, *, quiet: bool
) -> None:
    """Make what is missing in a shared store, beside any number of other workers.

    'cfr eval --store postgresql://…' enters what is to be made, and may be stopped then. A worker
    on any machine makes what is missing of it; it ends when nothing is, and takes over what a dead
    one had begun. Keys, prices and model files are those of its own machine; limits on speed are
    its own; budgets are those of the store.

    \b
    cfr work --store postgresql://user@host/runs
    cfr work --store postgresql://user@host/runs --concurrency 64
    cfr work --store postgresql://user@host/runs --base-url http://localhost:8000/v1
    srun -N 8 --ntasks-per-node 1 cfr work --store postgresql://user@host/runs
    """
    from constraint_first.cli.evaluated import print_evaluated, tell_stopped
    from constraint_first.cli.interrupt import run_interruptible
    from constraint_first.cli.live import TerminalWatcher
    from constraint_first.cli.output import print_text
    from constraint_first.engine.resolve import ModelRef
    from constraint_first.evaluation.database import without_password
    from constraint_first.evaluation.worker import awork

    watcher = TerminalWatcher(quiet=quiet)
    instead = ModelRef(base_url=base_url or None, key_name=key_env)
    work = awork(options, instead=instead, watcher=watcher)
    left = partial(tell_stopped, watcher, options.store)
    done = run_interruptible(work, left, watcher.interrupted)
    if done.series:
        print_evaluated(done)
    else:
        print_text(f"{without_password(options.store)}: nothing is missing")
