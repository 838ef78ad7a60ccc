"""A running evaluation as a person sees it: a table that moves on a terminal, lines elsewhere."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import replace
from typing import Final, NamedTuple

from rich.live import Live
from rich.text import Text

from cfr.analysis.notation import NONE, times
from cfr.analysis.statistics.cost import Tokens, divide_tokens
from cfr.analysis.statistics.score import score_problems
from cfr.analysis.statistics.subset import BASELINE
from cfr.analysis.study.family import short_method_names
from cfr.analysis.table.token_ratio import COUNTED
from cfr.cli.console import SafeConsole
from cfr.cli.output import print_note
from cfr.cli.progress import bytes_bar
from cfr.cli.table import Column, Table
from cfr.engine.automatic import AutoChoice
from cfr.engine.balanced import Balanced
from cfr.engine.balancer import Balancer
from cfr.engine.engine import Served
from cfr.engine.limit import Limiter
from cfr.engine.price import Cost
from cfr.engine.pull import Progress
from cfr.evaluation.batch.progress import WaveProgress
from cfr.evaluation.progress import measure_progress
from cfr.evaluation.runner import Job
from cfr.evaluation.series import Series
from cfr.evaluation.summary import Summary
from cfr.evaluation.tally import ProblemScores, SeriesResult, Tally
from cfr.evaluation.time_left import progress_of, seconds_left
from cfr.evaluation.watcher import EvaluationWatcher
from cfr.file.printable import one_line

__all__ = [
    "COST_NOTE",
    "LeftBehind",
    "TerminalWatcher",
    "ratios",
    "results",
    "summary_table",
    "write_duration",
]

COST_NOTE: Final = "at the prices that your models.toml has now"

_PLAIN_EVERY = 15.0
_STORED: Final = "'cfr runs --json'"
_NAMED: Final = (
    Column("benchmark", "name", shared=True),
    Column("method", "name", shorten=short_method_names),
    Column("model", "name", shared=True),
)
"""What names a series; what is shared may stand in a line above."""


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
        table = _table("accuracy so far", cost=_has_costs(job.tally for job in self._jobs))
        for job in self._jobs:
            tally = job.tally
            so_far = f"{tally.correct / tally.scored:.1%}" if tally.scored else "–"
            _add_row(table, job.result, _done(job.result), so_far)
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


def results(found: Sequence[SeriesResult]) -> Table:
    """Tabulate every series of a run that has ended."""
    table = _table("accuracy", "95 %", cost=_has_costs(one.tally for one in found))
    for one in found:
        _add_row(table, one, _done(one), *_accuracy(one.scores))
    return table


def ratios(found: Sequence[SeriesResult]) -> Table | None:
    """Tabulate the tokens of each series relative to Direct CoT; None where there is no such."""
    plain = [one for one in found if one.series.method.partition("(")[0] == BASELINE]
    bases = {_conditions(one): one for one in plain}
    counted = (Column(title.lower()) for title in COUNTED)
    table = Table(*_NAMED, *counted, title=f"tokens relative to {BASELINE}", more=_STORED)
    for one in found:
        base = bases.get(_conditions(one))
        if base and base is not one:
            counted = divide_tokens(_mean_tokens(one.tally), _mean_tokens(base.tally))
            table.add_row(*_named(one.series), *map(times, counted))
    return table if table.row_count else None


def _conditions(one: SeriesResult) -> Series:
    """Name what two series must have in common for their tokens to be compared."""
    return replace(one.series, method="")


def _mean_tokens(tally: Tally) -> Tokens | None:
    attempts, used = tally.scored + tally.failed, tally.usage
    if not attempts or not used.total:
        return None
    return Tokens(*(count / attempts for count in (used.input, used.output, used.shared)))


def summary_table(found: list[Summary]) -> Table:
    """Tabulate every series of a store, each under its number there."""
    table = _table("accuracy", "95 %", numbered=True, cost=_has_costs(found))
    for one in found:
        _add_row(table, one, f"{one.attempts - one.failed:,}", *_accuracy(one.scores))
    return table


def _has_costs(found: Iterable[Tally | Summary]) -> bool:
    return any(one.cost is not None for one in found)


def _table(*accuracy: str, numbered: bool = False, cost: bool = False) -> Table:
    first, *rest = accuracy
    return Table(
        *((Column("#"),) if numbered else ()),
        *_NAMED,
        Column("done", rank=2),
        Column(first),
        *(Column(title, rank=1) for title in rest),
        Column("no answer", rank=5),
        Column("tokens", rank=4),
        *((Column("cost", rank=3),) if cost else ()),
        more="--json" if numbered else _STORED,
    )


def _add_row(table: Table, one: SeriesResult | Summary, done: str, *accuracy: str) -> None:
    named, counted = (one, one) if isinstance(one, Summary) else (one.series, one.tally)
    lost, usage = (counted.truncated, counted.unparsed), counted.usage
    table.add_row(
        *((str(one.series),) if isinstance(one, Summary) else ()),
        *_named(named),
        done + (f" ({counted.failed} failed)" if counted.failed else ""),
        *accuracy,
        "{} cut, {} unread".format(*lost) if any(lost) else "0",
        f"{usage.total:,}" + ("" if usage.reported else "+"),
        *((_cost(counted.cost),) if table.columns[-1].title == "cost" else ()),
    )


def _cost(cost: Cost | None) -> str:
    return NONE if cost is None else str(cost)


def _named(one: Series | Summary) -> Iterator[str]:
    return map(one_line, (one.benchmark, one.method, one.model))


def _done(one: SeriesResult) -> str:
    return f"{one.tally.scored:,}/{one.tally.total:,}"


def _accuracy(scores: ProblemScores) -> tuple[str, str]:
    """Write the accuracy and its interval, with the problem as the unit."""
    found = score_problems(scores)
    if found is None:
        return "–", "–"
    low, high = found.interval
    return f"{found.accuracy:.1f}%", f"{low:.1f}% – {high:.1f}%"


def write_duration(seconds: float) -> str:
    """Write a time in hours and minutes, or in minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
