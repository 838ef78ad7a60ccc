"""``cfr merge``: several stores as one."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import click

from constraint_first.cli.output import print_text

if TYPE_CHECKING:
    from constraint_first.evaluation.merge import Merged, Prefer

__all__ = ["command"]


@click.command("merge")
@click.argument("runs", metavar="RUNS...", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    "--store",
    "target",
    metavar="RUNS",
    required=True,
    help="The store to merge into, new or not: a file, or postgresql://….",
)
@click.option(
    "--prefer",
    type=click.Choice(["first", "last"]),
    help="Where stores differ, keep what the first or the last has.  [stop, and name it]",
)
def command(runs: tuple[str, ...], target: str, prefer: Prefer | None) -> None:
    """Join stores in one: attempts, failures and every call that was made.

    RUNS are stores: files, or postgresql://…. Series that are the same (benchmark, method, model
    and decoding) are joined; an attempt that two stores have must be the same in both. One that
    failed or was broken off gives way to one that got further. The stores that are read are not
    changed, nor is the one that is written until all of it is there.

    \b
    cfr merge monday.db tuesday.db -o all.db
    cfr merge laptop.db -o runs.db --prefer first
    """
    from constraint_first.analysis.study.reader import existing_store
    from constraint_first.cli.progress import count_bar
    from constraint_first.evaluation.merge import merge

    with ExitStack() as opened, count_bar("merging") as progress:
        stores = [opened.enter_context(existing_store(url)) for url in runs]
        merged = merge(stores, target, prefer, progress)
    from constraint_first.evaluation.database import without_password
    from constraint_first.evaluation.error import StoreError

    print_text(f"{without_password(target)}: {_summary(merged)}")
    if merged.left_out:
        raise StoreError(_tell_left_out(merged))


def _tell_left_out(merged: Merged) -> str:
    stores = ", ".join(f"{count:,} of {url}" for url, count in merged.left_out)
    return (
        f"{stores}: these attempts were left out, since rows of their series or problem are "
        "missing there; all else was merged; restore that store from a copy and merge it again to "
        "add them"
    )


def _summary(merged: Merged) -> str:
    failed = f" ({merged.failed:,} failed)" if merged.failed else ""
    holds = (
        f"{merged.series:,} series, {merged.problems:,} problems, "
        f"{merged.attempts:,} attempts{failed}, {merged.calls:,} calls"
    )
    replaced = f", {merged.replaced:,} replaced" if merged.replaced else ""
    known = f", {merged.known:,} in both kept as they were" if merged.known else ""
    return f"{holds}; {merged.added:,} added{replaced}{known}"
