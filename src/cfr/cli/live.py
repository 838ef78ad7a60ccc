"""A running evaluation as a person sees it: a table that moves on a terminal, lines elsewhere."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractContextManager, asynccontextmanager

from rich.live import Live
from rich.table import Table
from rich.text import Text

from cfr.analysis.statistics.interval import wilson
from cfr.cli.console import SafeConsole
from cfr.cli.progress import bytes_bar
from cfr.engine.limit import Limiter
from cfr.engine.pull import Progress
from cfr.evaluation.evaluate import EvaluationWatcher
from cfr.evaluation.runner import Job
from cfr.evaluation.summary import Summary
from cfr.evaluation.tally import SeriesResult
from cfr.file.printable import one_line
from cfr.protocol import Usage

__all__ = ["TerminalWatcher", "results", "summary_table"]

_PLAIN_EVERY = 15.0


class TerminalWatcher(EvaluationWatcher):
    """Shows on standard error how an evaluation gets on."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._console = SafeConsole(stderr=True, quiet=quiet)
        self._quiet = quiet

    def fetching(self, model: str) -> AbstractContextManager[Progress]:
        """Show a model file's way to this machine."""
        return bytes_bar(model, quiet=self._quiet)

    @asynccontextmanager
    async def running(
        self, jobs: Sequence[Job], limiters: Sequence[Limiter]
    ) -> AsyncGenerator[None]:
        """Show the counts of the series while they are run."""
        display = _Display(jobs, limiters, self._console)
        shown = display.animate() if self._console.is_terminal else display.report()
        task = asyncio.create_task(shown)
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def adapted(self, model: str, change: str) -> None:
        """Say which setting a model will not have."""
        said = f"{model}: {change}; its series are named accordingly"
        self._console.print(Text(one_line(said)))


class _Display:
    def __init__(
        self, jobs: Sequence[Job], limiters: Sequence[Limiter], console: SafeConsole
    ) -> None:
        self._jobs = jobs
        self._limiters = limiters
        self._console = console
        self._started = time.monotonic()

    async def animate(self) -> None:
        """Redraw the table a few times a second."""
        with Live(self._table(), console=self._console, transient=True) as live:
            while True:
                live.update(self._table())
                await asyncio.sleep(0.25)

    async def report(self) -> None:
        """Write a line now and then."""
        while True:
            await asyncio.sleep(_PLAIN_EVERY)
            self._console.print(self._status())

    def _table(self) -> Table:
        table = results([job.result for job in self._jobs])
        table.caption = self._status()
        return table

    def _status(self) -> str:
        done = sum(job.tally.scored + job.tally.failed for job in self._jobs)
        total = sum(job.tally.total for job in self._jobs)
        resumed = sum(job.tally.resumed for job in self._jobs)
        failed = sum(job.tally.failed for job in self._jobs)
        in_flight = sum(limiter.in_flight for limiter in self._limiters)
        elapsed = time.monotonic() - self._started
        left = (total - done) * elapsed / (done - resumed) if done > resumed else None
        return f"{done:,} of {total:,} attempts, {in_flight} calls in flight, {failed} failed, " + (
            f"about {_duration(left)} left" if left is not None else "waiting for replies"
        )


def results(found: Sequence[SeriesResult]) -> Table:
    """Tabulate the counts of every series of a run."""
    table = _table()
    for one in found:
        tally, series = one.tally, one.series
        done = f"{tally.scored:,}/{tally.total:,}"
        counts = (tally.correct, tally.scored, tally.truncated, tally.unparsed)
        name = (series.benchmark, series.method, series.model)
        _add_row(table, name, done, tally.failed, counts, tally.usage)
    return table


def summary_table(found: list[Summary]) -> Table:
    """Tabulate every series of a store."""
    table = _table()
    for s in found:
        counts = (s.correct, s.graded, s.truncated, s.unparsed)
        name = (s.benchmark, s.method, s.model)
        _add_row(table, name, f"{s.attempts - s.failed:,}", s.failed, counts, s.usage)
    return table


def _table() -> Table:
    columns = ("benchmark", "method", "model", "done", "accuracy", "95 %", "no answer", "tokens")
    table = Table(*columns, box=None, padding=(0, 2, 0, 0), header_style="dim")
    for column in table.columns[3:]:
        column.justify = "right"
    return table


def _add_row(
    table: Table,
    name: tuple[str, str, str],
    done: str,
    failed: int,
    counts: tuple[int, int, int, int],
    usage: Usage,
) -> None:
    correct, scored, truncated, unparsed = counts
    low, high = wilson(correct, scored)
    table.add_row(
        *(Text(one_line(one)) for one in name),
        done + (f" ({failed} failed)" if failed else ""),
        f"{correct / scored:.1%}" if scored else "–",
        f"{low:.1%} – {high:.1%}" if scored else "–",
        f"{truncated} cut, {unparsed} unread" if truncated or unparsed else "0",
        f"{usage.total:,}" + ("" if usage.reported else "+"),
    )


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"
