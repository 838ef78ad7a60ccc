"""A forecast of ``cfr eval`` as a person reads it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from math import ceil
from typing import Final

from rich.table import Table
from rich.text import Text

from cfr.analysis.notation import NONE, several
from cfr.cli.console import SafeConsole
from cfr.cli.live import COST_NOTE, write_duration
from cfr.engine.price import Cost, write_dollars
from cfr.evaluation.call_bound import Demand, Span
from cfr.evaluation.forecast import Basis, Forecast, SeriesForecast
from cfr.evaluation.run_options import RunOptions
from cfr.file.printable import one_line

__all__ = ["print_forecast"]

_BASES: Final[dict[Basis, str]] = {
    "same set": "the mean of earlier attempts of the method with this model on the same set",
    "other sets": "the mean of earlier attempts of the method with this model on other sets",
    "bounds": "no earlier attempts, so the most that calls allow: prompts at three characters a "
    "token, every reply as long as it may be; most replies are far shorter",
}
_Cells = tuple[str, ...]


def print_forecast(found: Forecast, options: RunOptions) -> None:
    """Print what an evaluation would take: a table a benchmark and model, the total, and why."""
    console = SafeConsole()
    counted = ("to make", "calls", "input", "output", *(("cost",) if found.has_prices else ()))
    rows = [(one, _cells(one, found)) for one in found.series]
    total = (*_amounts(found.missing, found.demand, priced=found.has_prices), "")
    widths = [
        max(map(len, column))
        for column in zip((*counted, "from"), total, *(cells for _, cells in rows), strict=True)
    ]
    most = console.width - sum(widths) - 2 * len(widths) - 2
    name = min(max(len(_name(one, found)) for one in found.series), max(most, 12))
    for heading, group in groupby(rows, key=lambda pair: _heading(pair[0])):
        console.print(Text(one_line(heading), style="bold"))
        table = _table((*counted, "from"), name, widths)
        for one, cells in group:
            table.add_row(Text(_name(one, found), overflow="fold"), *cells)
        console.print(table)
        console.print()
    if len(rows) > 1:
        table = _table((), name, widths)
        table.add_row("all", *total, style="bold")
        console.print(table)
        console.print()
    for note in _notes(found, options):
        console.print(Text(one_line(note), style="dim"))


def _table(titles: Sequence[str], name: int, widths: Sequence[int]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", show_header=bool(titles))
    table.add_column("method", width=name)
    for number, width in enumerate(widths):
        last = number == len(widths) - 1
        title = titles[number] if titles else ""
        table.add_column(title, justify="left" if last else "right", min_width=width, no_wrap=True)
    return table


def _heading(one: SeriesForecast) -> str:
    series, problems = one.series, several(one.problems, "problem")
    by = f" with {series.model}" if series.model else ""
    return f"{series.benchmark}{by}: {problems} × {several(one.runs, 'run')}"


def _name(one: SeriesForecast, found: Forecast) -> str:
    """Name a method, with its decoding where there are several."""
    series = one.series
    if len({each.series.decoding for each in found.series}) == 1:
        return one_line(series.method)
    seed = "" if series.decoding.seed is None else f", seed {series.decoding.seed}"
    return one_line(f"{series.method} at temperature {series.decoding.temperature}{seed}")


def _cells(one: SeriesForecast, found: Forecast) -> _Cells:
    amounts = _amounts(one.missing, one.demand, priced=found.has_prices)
    return *amounts, one.basis if one.missing else "all stored"


def _amounts(missing: int, demand: Demand, *, priced: bool) -> _Cells:
    least, most = ceil(demand.calls.least), ceil(demand.calls.most)
    calls = f"{most:,}" if least == most else f"{least:,}–{most:,}"
    cost = (_cost(demand),) if priced else ()
    return f"{missing:,}", calls, _count(demand.input), _count(demand.output), *cost


def _cost(demand: Demand) -> str:
    dollars = demand.dollars
    if not dollars.most and not demand.complete:
        return NONE
    bound = "" if dollars.least == dollars.most else "≤ "
    return f"{bound}{Cost(dollars.most, demand.complete)}"


def _count(span: Span) -> str:
    """Write tokens; of a range only the most, which is what a budget has to reach for."""
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
            yield f"{NONE} and +: a model has no price in models.toml, and comes on top."
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
