"""Progress bars on standard error: shown on a terminal, a few plain lines elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from constraint_first.cli.console import SafeConsole
from constraint_first.engine.pull import Progress as Report
from constraint_first.file.printable import one_line

__all__ = ["bytes_bar", "count_bar"]


@contextmanager
def bytes_bar(name: str, *, quiet: bool = False) -> Generator[Report]:
    """Show how a long file operation gets on."""
    console, name = SafeConsole(stderr=True, quiet=quiet), one_line(name)
    if not console.is_terminal:
        yield _plain(console, name)
        return
    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    progress = Progress(TextColumn("{task.description}", markup=False), *columns, console=console)
    task = progress.add_task(name, total=None)

    def report(done: int, total: int, doing: str) -> None:
        progress.start()  # only now: where nothing is fetched there is no bar
        progress.update(task, completed=done, total=total, description=f"{name}: {doing}")

    try:
        yield report
    finally:
        progress.stop()


def _plain(console: SafeConsole, name: str) -> Report:
    said = ("", -1)

    def report(done: int, total: int, doing: str) -> None:
        nonlocal said
        step = (doing, done * 4 // max(total, 1))
        if step != said:
            said = step
            text = f"{name}: {doing}, {done / 1e6:,.0f} of {total / 1e6:,.0f} MB"
            console.print(text)

    return report


@contextmanager
def count_bar(name: str) -> Generator[Callable[[int, int], None]]:
    """Show on a terminal how many things of how many are done; elsewhere nothing."""
    console = SafeConsole(stderr=True)
    if not console.is_terminal:
        yield lambda _done, _total: None
        return
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    label = TextColumn("{task.description}", markup=False)
    with Progress(label, *columns, console=console, transient=True) as progress:
        task = progress.add_task(one_line(name), total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
