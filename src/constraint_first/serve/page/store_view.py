"""What a store holds at one moment: each series with its score and its cost, and what failed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from constraint_first.analysis.notation import NONE, decimal, interval
from constraint_first.analysis.statistics.score import score_problems
from constraint_first.analysis.study.study import benchmark_label, model_label
from constraint_first.engine.price import Cost, sum_costs
from constraint_first.evaluation.stored_series import count_begun, count_problems
from constraint_first.evaluation.summary import Failure, Summary, failures, summaries
from constraint_first.serve.page.library import RunSource

__all__ = ["SeriesLine", "StoreView", "line_of", "view_store"]


@dataclass(frozen=True, slots=True)
class SeriesLine:
    """A series as the table of a store shows it."""

    summary: Summary
    accuracy: str
    interval: str
    begun: int
    problems: int
    """Problems of its benchmark that the store knows."""

    @property
    def attempted(self) -> int:
        """Problems of which a run was judged."""
        return sum(self.summary.scores.values())


@dataclass(frozen=True, slots=True)
class StoreView:
    """What a store holds at one moment."""

    lines: tuple[SeriesLine, ...]
    shown: tuple[SeriesLine, ...]
    """Those that were asked for."""
    failures: tuple[Failure, ...]
    running: bool

    @property
    def attempts(self) -> int:
        """All attempts."""
        return sum(line.summary.attempts for line in self.lines)

    @property
    def tokens(self) -> int:
        """All tokens."""
        return sum(line.summary.usage.total for line in self.lines)

    @property
    def begun(self) -> int:
        """Attempts that are under way, or were left in the middle."""
        return sum(line.begun for line in self.lines)

    @property
    def cost(self) -> Cost | None:
        """What all of it cost; None where no model has a price."""
        return sum_costs(line.summary.cost for line in self.lines)


def view_store(source: RunSource, search: str = "") -> StoreView:
    """Look into a store; the series that are shown are those whose names have all the words."""
    with source.open() as store:
        known, begun = count_problems(store), count_begun(store)
        lines = tuple(
            line_of(one, begun.get(one.series, 0), known.get(one.benchmark, 0))
            for one in summaries(store)
        )
        failed = tuple(failures(store))
        return StoreView(lines, tuple(_matching(lines, search)), failed, store.is_taken)


def line_of(summary: Summary, begun: int = 0, problems: int = 0) -> SeriesLine:
    """Write the numbers of a series."""
    found = score_problems(summary.scores)
    if found is None:
        return SeriesLine(summary, NONE, "", begun, problems)
    return SeriesLine(
        summary, decimal(found.accuracy), interval(found.interval).strip(), begun, problems
    )


def _matching(lines: Iterable[SeriesLine], search: str) -> Iterable[SeriesLine]:
    """Keep the series whose names have all the words."""
    words = search.casefold().split()
    for line in lines:
        one = line.summary
        names = (one.benchmark, benchmark_label(one.benchmark), one.method, one.label, one.model)
        told = " ".join((str(one.series), *names, model_label(one.model))).casefold()
        if all(word in told for word in words):
            yield line
