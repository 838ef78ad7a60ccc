"""The display of an evaluation: its forecast, its progress on standard error, tables of series."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import replace
from itertools import groupby
from math import ceil
from typing import TYPE_CHECKING, Final

from rich.text import Text

from constraint_first.cli import print_note, typed_command
from constraint_first.cli.console import Column, SafeConsole, Table, bytes_bar, print_notes
from constraint_first.error import CfrError
from constraint_first.file.safe import one_line
from constraint_first.method.policy import runs_programs
from constraint_first.model.limit import Cost, Limiter, write_dollars
from constraint_first.model.local import Progress
from constraint_first.model.replicas import Balanced, Balancer
from constraint_first.model.resolve import AutoChoice
from constraint_first.model.wire import Served
from constraint_first.run.job import (
    EvaluationWatcher,
    Job,
    WaveProgress,
    measure_progress,
    progress_of,
    seconds_left,
)
from constraint_first.sandbox.interpreter import shortfall
from constraint_first.store.database import without_password
from constraint_first.store.query import ProblemScores, SeriesResult, Tally
from constraint_first.store.series import Series

if TYPE_CHECKING:
    from constraint_first.report.comparison import Tokens
    from constraint_first.run.forecast import Basis, Demand, Forecast, SeriesForecast, Span
    from constraint_first.run.grid import RunOptions
    from constraint_first.run.job import Evaluated


COST_NOTE: Final = "at the prices that your models.toml has now"

_STORED: Final = "'cfr runs --json'"
_NAMED: Final = (Column("benchmark", "name"), Column("method", "name"), Column("model", "name"))


def series_table(
    found: Sequence[SeriesResult], *, numbered: bool = False, running: bool = False
) -> Table:
    """Tabulate series with their counts; stored series have their numbers in the store."""
    costs = any(one.tally.cost is not None for one in found)
    table = Table(
        *([Column("#")] if numbered else []),
        *_NAMED,
        Column("done", rank=2),
        *([Column("accuracy so far")] if running else [Column("accuracy"), Column("95 %", rank=1)]),
        Column("no answer", rank=5),
        Column("tokens", rank=4),
        *([Column("cost", rank=3)] if costs else []),
        more="--json" if numbered else _STORED,
    )
    for one in found:
        tally = one.tally
        done = f"{tally.scored:,}" + ("" if numbered else f"/{tally.total:,}")
        lost, used = (tally.truncated, tally.unparsed), tally.usage
        so_far = f"{tally.correct / tally.scored:.1%}" if tally.scored else "–"
        table.add_row(
            *([str(one.series.number)] if numbered else []),
            *_named(one.series),
            done + (f" ({tally.failed} failed)" if tally.failed else ""),
            *([so_far] if running else _accuracy(one.scores)),
            "{} cut, {} unread".format(*lost) if any(lost) else "0",
            f"{used.total:,}" + ("" if used.reported else "+"),
            *(["–" if tally.cost is None else str(tally.cost)] if costs else []),
        )
    return table


def ratios(found: Sequence[SeriesResult]) -> Table | None:
    """Tabulate the tokens of each series relative to Direct CoT; None if it was not run."""
    from constraint_first.report.comparison import BASELINE, divide_tokens
    from constraint_first.report.exhibit.cost import COUNTED
    from constraint_first.report.table import times

    # Tokens are compared only for the same benchmark, model and decoding.
    plain = [one for one in found if one.series.method.partition("(")[0] == BASELINE]
    bases = {replace(one.series, method=""): one for one in plain}
    counted = (Column(title.lower()) for title in COUNTED)
    table = Table(*_NAMED, *counted, title=f"tokens relative to {BASELINE}", more=_STORED)
    for one in found:
        base = bases.get(replace(one.series, method=""))
        if base and base is not one:
            divided = divide_tokens(_mean_tokens(one.tally), _mean_tokens(base.tally))
            table.add_row(*_named(one.series), *map(times, divided))
    return table if table.row_count else None


def _mean_tokens(tally: Tally) -> Tokens | None:
    from constraint_first.report.comparison import Tokens

    attempts, used = tally.scored + tally.failed, tally.usage
    if not attempts or not used.total:
        return None
    return Tokens(*(count / attempts for count in (used.input, used.output, used.shared)))


def _named(one: Series) -> Iterator[str]:
    return map(one_line, (one.benchmark, one.method, one.model))


def _accuracy(scores: ProblemScores) -> tuple[str, str]:
    from constraint_first.report.comparison import score_problems

    found = score_problems(scores)
    if found is None:
        return "–", "–"
    low, high = found.interval
    return f"{found.accuracy:.1f}%", f"{low:.1f}% – {high:.1f}%"


# A running evaluation: a live table on a terminal, a line at intervals elsewhere.

_PLAIN_EVERY: Final = 15.0
"""Seconds between two lines of progress."""


class TerminalWatcher(EvaluationWatcher):
    def __init__(self, notes: Sequence[str] = (), *, quiet: bool = False) -> None:
        self._console = SafeConsole(stderr=True, quiet=quiet)
        self._quiet = quiet
        self._notes = () if quiet else notes
        self._jobs: Sequence[Job] = ()
        self._limiters: Sequence[Limiter] = ()
        self._balancers: list[Balancer] = []
        self._began = 0.0
        self._lost = "0"
        self._wave: WaveProgress | None = None
        self._seen = 0.0
        """The time of the last progress of the wave."""

    def interrupted(self) -> None:
        """Count this process's calls in flight before they are cancelled."""
        self._lost = f"{self._in_flight():,}" if self._limiters else "those"

    def _in_flight(self) -> int:
        return sum(limiter.in_flight for limiter in self._limiters)

    def stopped(self, store: str) -> str:
        """Describe what is stored of an interrupted evaluation, and how to resume it."""
        made = measure_progress(self._jobs, 0.0)
        stored = f"stopped; {made.done:,} of {made.total:,} attempts are stored in "
        stored += without_password(store)
        if wave := self._wave:
            return (
                f"{stored}; {wave.requests:,} requests of wave {wave.wave} go on without us; to "
                f"collect them: {typed_command()}"
            )
        if not made.total:
            return f"stopped before anything was asked; to begin anew: {typed_command()}"
        return (
            f"{stored}, with all calls that have ended; {self._lost} in flight are lost; to go on: "
            f"{typed_command()}"
        )

    def fetching(self, model: str) -> AbstractContextManager[Progress]:
        return bytes_bar(model, quiet=self._quiet)

    @asynccontextmanager
    async def running(
        self, jobs: Sequence[Job], limiters: Sequence[Limiter]
    ) -> AsyncGenerator[None]:
        """Show the counts of the series while they are run, below the notes."""
        for note in self._notes:
            print_note(note)
        if (
            not self._jobs
            and any(runs_programs(job.method) for job in jobs)
            and (lacks := shortfall())
        ):
            self._print(lacks)
        self._notes, self._jobs, self._limiters = (), jobs, limiters
        self._began = time.monotonic()
        shown = self._animate() if self._console.is_terminal else self._report()
        task = asyncio.create_task(shown)
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _animate(self) -> None:
        from rich.live import Live

        with Live(self._table(), console=self._console, transient=True) as live:
            while True:
                live.update(self._table())
                await asyncio.sleep(0.25)

    async def _report(self) -> None:
        while True:
            await asyncio.sleep(_PLAIN_EVERY)
            self._console.print(self._status())

    def _table(self) -> Table:
        table = series_table(
            [SeriesResult(job.series, job.tally) for job in self._jobs], running=True
        )
        table.caption = self._status()
        return table

    def _status(self) -> str:
        now = time.monotonic()
        found = measure_progress(self._jobs, now - self._began)
        if wave := self._wave:
            if wave.next_look is not None:
                wave = replace(wave, next_look=max(0.0, self._seen + wave.next_look - now))
            return one_line(f"{found.done:,} of {found.total:,} attempts; {wave}")
        in_flight = self._in_flight()
        left = seconds_left([progress_of(job) for job in self._jobs], now - self._began)
        calls = "1 call in flight, " if in_flight == 1 else f"{in_flight} calls in flight, "
        counts = f"{found.done:,} of {found.total:,} attempts, {calls if self._limiters else ''}"
        spent = "" if found.cost is None else f"{found.cost} so far, "
        time_left = "waiting for replies" if left is None else f"about {write_duration(left)} left"
        endpoints = "".join(f"; {one.status}" for one in self._balancers)
        return f"{counts}{found.failed} failed, {spent}{time_left}{endpoints}"

    def opened(self, models: Sequence[Served]) -> None:
        """Report differences between the endpoints of a model, and which of them pause."""
        several = [one for one in models if isinstance(one, Balanced)]
        self._balancers = [one.balancer for one in several]
        for note in (note for one in several for note in one.notes):
            self._print(note)

    def batches(self, progress: WaveProgress) -> None:
        """Show the progress of a wave: below the table, or as a line at each change."""
        before, self._wave, self._seen = self._wave, progress, time.monotonic()
        changed = before is None or before.batches != progress.batches or progress.trouble
        if changed and not (self._jobs and self._console.is_terminal):
            self._print(str(progress))

    def noted(self, line: str) -> None:
        """Print a line without wrapping, so that it can be copied."""
        self._console.print(Text(one_line(line)), soft_wrap=True)

    def chose(self, model: str, choice: AutoChoice) -> None:
        self._print(f"{model}: {choice}")

    def skipped(self, what: str, why: str) -> None:
        self._print(f"{what} cannot be run here: {why}")

    def adapted(self, model: str, change: str) -> None:
        self._print(f"{model}: {change}")

    def _print(self, line: str) -> None:
        self._console.print(Text(one_line(line)))


def write_duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


# The end of a run.


class Incomplete(CfrError):
    """Some attempts are missing; the same command makes them."""

    exit_code = 7


def print_evaluated(done: Evaluated) -> None:
    """Print the table of all series; raise where attempts are missing."""
    console = SafeConsole()
    console.print(series_table(done.series))
    if (compared := ratios(done.series)) is not None:
        console.print()
        console.print(compared)
    if done.cost is not None:
        console.print(f"\nAll together {done.cost}, {COST_NOTE}.")
    if not done.complete:
        failed = any(one.tally.failed for one in done.series)
        raise Incomplete(done.stopped + ("; 'cfr runs --failures' lists why" if failed else ""))


# What ``cfr eval --dry-run`` prints.

_BASES: Final[dict[Basis, str]] = {
    "same set": "the mean of earlier attempts of the method with this model on the same set",
    "other sets": "the mean of earlier attempts of the method with this model on other sets",
    "bounds": "no earlier attempts, so the most that calls allow: prompts at three characters a "
    "token, every reply as long as it may be; most replies are far shorter",
}


def print_forecast(found: Forecast, options: RunOptions) -> None:
    """Print the forecast of an evaluation: by benchmark and model, in total, and its basis."""
    console, priced = SafeConsole(), found.has_prices
    decoded = len({_decoding(one) for one in found.series}) > 1
    # Calls, tokens and dollars are kept in narrow terminals.
    table = Table(
        Column("method", "name"),
        *([Column("decoding", "prose")] if decoded else []),
        Column("to make", rank=1),
        *(Column(title) for title in ("calls", "input", "output", *["cost"] * priced)),
        Column("from", "name", rank=2),
    )
    for heading, group in groupby(found.series, key=_heading):
        table.add_section(heading)
        for one in group:
            decoding = [_decoding(one)] if decoded else []
            amounts = _amounts(one.missing, one.demand, priced=priced)
            basis = one.basis if one.missing else "all stored"
            table.add_row(one_line(one.series.method), *decoding, *amounts, basis)
    if len(found.series) > 1:
        table.add_section("All together")
        total = _amounts(found.missing, found.demand, priced=priced)
        table.add_row("all", *([""] if decoded else []), *total, "")
    console.print(table)
    console.print()
    print_notes(map(one_line, _notes(found, options)))


def _heading(one: SeriesForecast) -> str:
    from constraint_first.report.table import several

    series, problems = one.series, several(one.problems, "problem")
    by = f" with {series.model}" if series.model else ""
    return one_line(f"{series.benchmark}{by}: {problems} × {several(one.runs, 'run')}")


def _decoding(one: SeriesForecast) -> str:
    decoding = one.series.decoding
    seed = "" if decoding.seed is None else f", seed {decoding.seed}"
    return f"temperature {decoding.temperature}{seed}"


def _amounts(missing: int, demand: Demand, *, priced: bool) -> tuple[str, ...]:
    least, most = ceil(demand.calls.least), ceil(demand.calls.most)
    calls = f"{most:,}" if least == most else f"{least:,}–{most:,}"
    cost = (_cost_forecast(demand),) if priced else ()
    return f"{missing:,}", calls, _count(demand.input), _count(demand.output), *cost


def _cost_forecast(demand: Demand) -> str:
    dollars = demand.dollars
    if not dollars.most and not demand.complete:
        return "–"
    bound = "" if dollars.least == dollars.most else "≤ "
    return f"{bound}{Cost(dollars.most, demand.complete)}"


def _count(span: Span) -> str:
    """Write tokens; of a range only the upper bound, which a budget has to cover."""
    most = ceil(span.most)
    written = f"{most:,}" if most < 10**6 else f"{most / 10**6:,.1f}M"
    return written if span.least == span.most else f"≤ {written}"


def _notes(found: Forecast, options: RunOptions) -> Iterator[str]:
    bases = {one.basis for one in found.series if one.missing}
    yield from (f"{name}: {why}." for name, why in _BASES.items() if name in bases)
    if not all(one.series.model for one in found.series):
        yield "With --model NAME earlier runs and the price of the endpoint's model are found."
    if found.missing and found.seconds is not None:
        yield f"About {write_duration(found.seconds)}, at the pace of the earlier runs."
    if found.has_prices:
        yield f"Costs are US dollars, {COST_NOTE}; failed tries come on top."
        if not found.demand.complete:
            yield "– and +: a model has no price in models.toml, and comes on top."
        yield from _budget_note(found.demand.dollars, options.max_cost)
    yield "Nothing was asked, and no store was made or changed."


def _budget_note(dollars: Span, limit: float | None) -> Iterator[str]:
    if limit is None:
        return
    if dollars.least > limit:
        reach = "it would be spent before the end"
    else:
        reach = "it is enough" if dollars.most <= limit else "it may be spent before the end"
    yield f"--max-cost is {write_dollars(limit)}: {reach}."
