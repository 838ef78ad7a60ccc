"""A running evaluation as a person sees it: a table that moves on a terminal, lines elsewhere."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import replace
from typing import NamedTuple

from rich.live import Live
from rich.text import Text

from constraint_first.cli.console import SafeConsole
from constraint_first.cli.output import print_note
from constraint_first.cli.progress import bytes_bar
from constraint_first.cli.run_table import progress_table
from constraint_first.cli.table import Table
from constraint_first.engine.automatic import AutoChoice
from constraint_first.engine.balanced import Balanced
from constraint_first.engine.balancer import Balancer
from constraint_first.engine.engine import Served
from constraint_first.engine.limit import Limiter
from constraint_first.engine.pull import Progress
from constraint_first.evaluation.batch.progress import WaveProgress
from constraint_first.evaluation.progress import measure_progress
from constraint_first.evaluation.runner import Job
from constraint_first.evaluation.time_left import progress_of, seconds_left
from constraint_first.evaluation.watcher import EvaluationWatcher
from constraint_first.file.printable import one_line

__all__ = [
    "LeftBehind",
    "TerminalWatcher",
    "write_duration",
]

_PLAIN_EVERY = 15.0


class LeftBehind(NamedTuple):
    """What an evaluation had when it was interrupted: attempts made, of how many; calls lost."""

    made: int
    total: int
    in_flight: int | None
    """None where they are made elsewhere."""


class TerminalWatcher(EvaluationWatcher):
    """Shows on standard error how an evaluation gets on."""

    def __init__(self, notes: Sequence[str] = (), *, quiet: bool = False) -> None:
        self._console = SafeConsole(stderr=True, quiet=quiet)
        self._quiet = quiet
        self._notes = () if quiet else notes
        self._jobs: Sequence[Job] = ()
        self._limiters: Sequence[Limiter] = ()
        self._balancers: list[Balancer] = []
        self._in_flight: int | None = 0
        self._display: _Display | None = None
        self.wave: WaveProgress | None = None
        """How the batches stand, where there are any."""

    def interrupted(self) -> None:
        """Note how many calls are waiting for their replies: soon none will be."""
        in_flight = sum(limiter.in_flight for limiter in self._limiters)
        self._in_flight = in_flight if self._limiters else None

    def left_behind(self) -> LeftBehind:
        """Count what a run that was interrupted has made."""
        found = measure_progress(self._jobs, 0.0)
        return LeftBehind(found.done, found.total, self._in_flight)

    def fetching(self, model: str) -> AbstractContextManager[Progress]:
        """Show a model file's way to this machine."""
        return bytes_bar(model, quiet=self._quiet)

    @asynccontextmanager
    async def running(
        self, jobs: Sequence[Job], limiters: Sequence[Limiter]
    ) -> AsyncGenerator[None]:
        """Show the counts of the series while they are run, and the notes ahead of them."""
        for note in self._notes:
            print_note(note)
        self._notes, self._jobs, self._limiters = (), jobs, limiters
        display = _Display(jobs, limiters, self._balancers, self._console)
        self._display = display
        shown = display.animate() if self._console.is_terminal else display.report()
        task = asyncio.create_task(shown)
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def opened(self, models: Sequence[Served]) -> None:
        """Say where the endpoints of a model are not alike, and follow which of them rest."""
        several = [one for one in models if isinstance(one, Balanced)]
        self._balancers = [one.balancer for one in several]
        for note in (note for one in several for note in one.notes):
            self._console.print(Text(one_line(note)))

    def batches(self, progress: WaveProgress) -> None:
        """Show how a wave gets on: below the table, or as a line where something has changed."""
        before, self.wave = self.wave, progress
        if self._display and self._console.is_terminal:
            self._display.show_wave(progress)
        elif before is None or before.batches != progress.batches or progress.trouble:
            self._console.print(Text(one_line(str(progress))))

    def noted(self, line: str) -> None:
        """Write a line about something that a person should know, or copy."""
        self._console.print(Text(one_line(line)), soft_wrap=True)

    def chose(self, model: str, choice: AutoChoice) -> None:
        """Say what ``auto`` stands for."""
        self._console.print(Text(one_line(f"{model}: {choice}")))

    def skipped(self, what: str, why: str) -> None:
        """Say what this worker leaves to others."""
        self._console.print(Text(one_line(f"{what} cannot be run here: {why}")))

    def adapted(self, model: str, change: str) -> None:
        """Say which setting a model will not have."""
        self._console.print(Text(one_line(f"{model}: {change}")))


class _Display:
    def __init__(
        self,
        jobs: Sequence[Job],
        limiters: Sequence[Limiter],
        balancers: Sequence[Balancer],
        console: SafeConsole,
    ) -> None:
        self._jobs = jobs
        self._limiters = limiters
        self._balancers = balancers
        self._console = console
        self._started = time.monotonic()
        self._wave: tuple[WaveProgress, float] | None = None

    def show_wave(self, progress: WaveProgress) -> None:
        """Keep how a wave gets on in view."""
        self._wave = progress, time.monotonic()

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
        table = progress_table([job.result for job in self._jobs])
        table.caption = self._status()
        return table

    def _status(self) -> str:
        elapsed = time.monotonic() - self._started
        found = measure_progress(self._jobs, elapsed)
        if self._wave:
            progress, seen = self._wave
            if progress.next_look is not None:
                left = max(0.0, seen + progress.next_look - time.monotonic())
                progress = replace(progress, next_look=left)
            return one_line(f"{found.done:,} of {found.total:,} attempts; {progress}")
        in_flight = sum(limiter.in_flight for limiter in self._limiters)
        left = seconds_left([progress_of(job) for job in self._jobs], elapsed)
        calls = "1 call in flight, " if in_flight == 1 else f"{in_flight} calls in flight, "
        counts = f"{found.done:,} of {found.total:,} attempts, {calls if self._limiters else ''}"
        spent = "" if found.cost is None else f"{found.cost} so far, "
        time_left = "waiting for replies" if left is None else f"about {write_duration(left)} left"
        endpoints = "".join(f"; {one.status}" for one in self._balancers)
        return f"{counts}{found.failed} failed, {spent}{time_left}{endpoints}"


def write_duration(seconds: float) -> str:
    """Write a time in hours and minutes, or in minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
