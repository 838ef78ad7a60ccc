"""The tables of series as a person sees them: of a run, of a store, and their tokens compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from constraint_first.analysis.notation import NONE, times
from constraint_first.analysis.statistics.cost import Tokens, divide_tokens
from constraint_first.analysis.statistics.score import score_problems
from constraint_first.analysis.statistics.subset import BASELINE
from constraint_first.analysis.study.family import short_method_names
from constraint_first.analysis.table.token_ratio import COUNTED
from constraint_first.cli.table import Column, Table
from constraint_first.engine.price import Cost
from constraint_first.evaluation.series import Series
from constraint_first.evaluation.summary import Summary
from constraint_first.evaluation.tally import ProblemScores, SeriesResult, Tally
from constraint_first.file.printable import one_line

__all__ = ["COST_NOTE", "progress_table", "ratios", "results", "summary_table"]

COST_NOTE: Final = "at the prices that your models.toml has now"

_STORED: Final = "'cfr runs --json'"
_NAMED: Final = (
    Column("benchmark", "name", shared=True),
    Column("method", "name", shorten=short_method_names),
    Column("model", "name", shared=True),
)
"""What names a series; what is shared may stand in a line above."""


def progress_table(found: Sequence[SeriesResult]) -> Table:
    """Tabulate the series of a run as far as they are."""
    table = _table("accuracy so far", cost=_has_costs(one.tally for one in found))
    for one in found:
        tally = one.tally
        so_far = f"{tally.correct / tally.scored:.1%}" if tally.scored else "–"
        _add_row(table, one, _done(one), so_far)
    return table


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
