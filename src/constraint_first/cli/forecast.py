"""A forecast of ``cfr eval`` as a person reads it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from math import ceil
from typing import Final

from constraint_first.analysis.notation import NONE, several
from constraint_first.analysis.study.family import short_method_names
from constraint_first.cli.console import SafeConsole
from constraint_first.cli.live import write_duration
from constraint_first.cli.run_table import COST_NOTE
from constraint_first.cli.show import print_notes
from constraint_first.cli.table import Column, Table
from constraint_first.engine.price import Cost, write_dollars
from constraint_first.evaluation.call_bound import Demand, Span
from constraint_first.evaluation.forecast import Basis, Forecast, SeriesForecast
from constraint_first.evaluation.run_options import RunOptions
from constraint_first.file.printable import one_line

__all__ = ["print_forecast"]

_BASES: Final[dict[Basis, str]] = {
    "same set": "the mean of earlier attempts of the method with this model on the same set",
    "other sets": "the mean of earlier attempts of the method with this model on other sets",
    "bounds": "no earlier attempts, so the most that calls allow: prompts at three characters a "
    "token, every reply as long as it may be; most replies are far shorter",
}
_Cells = tuple[str, ...]


def print_forecast(found: Forecast, options: RunOptions) -> None:
    """Print what an evaluation would take: by benchmark and model, all together, and why."""
    console = SafeConsole()
    several_decodings = len({_decoding(one) for one in found.series}) > 1
    table = _table(decoded=several_decodings, priced=found.has_prices)
    for heading, group in groupby(found.series, key=_heading):
        table.add_section(heading)
        for one in group:
            decoding = (_decoding(one),) if several_decodings else ()
            table.add_row(one_line(one.series.method), *decoding, *_cells(one, found))
    if len(found.series) > 1:
        table.add_section("All together")
        total = _amounts(found.missing, found.demand, priced=found.has_prices)
        table.add_row("all", *([""] if several_decodings else []), *total, "")
    console.print(table)
    console.print()
    print_notes(map(one_line, _notes(found, options)))


def _table(*, decoded: bool, priced: bool) -> Table:
    """Make a table whose calls, tokens and dollars stay where room is short."""
    return Table(
        Column("method", "name", shorten=short_method_names),
        *((Column("decoding", "prose"),) if decoded else ()),
        Column("to make", rank=1),
        Column("calls"),
        Column("input"),
        Column("output"),
        *((Column("cost"),) if priced else ()),
        Column("from", "name", rank=2),
    )


def _heading(one: SeriesForecast) -> str:
    series, problems = one.series, several(one.problems, "problem")
    by = f" with {series.model}" if series.model else ""
    return one_line(f"{series.benchmark}{by}: {problems} × {several(one.runs, 'run')}")


def _decoding(one: SeriesForecast) -> str:
    decoding = one.series.decoding
    seed = "" if decoding.seed is None else f", seed {decoding.seed}"
    return f"temperature {decoding.temperature}{seed}"


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
