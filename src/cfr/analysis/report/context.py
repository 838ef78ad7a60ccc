"""What a report is to look at, and what several of its sections need, made once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from cfr.analysis.audit.error_rule import Judging
from cfr.analysis.audit.manual.label import Label
from cfr.analysis.audit.routing import RouterAudit, audit_router
from cfr.analysis.figure.figure import Figure
from cfr.analysis.statistics.comparison import (
    Comparison,
    ComparisonError,
    Pair,
    Plan,
    compare,
    constrained_method,
)
from cfr.analysis.study.study import Study

__all__ = ["Choice", "Desk"]


@dataclass(frozen=True, slots=True)
class Choice:
    """What a report is to look at."""

    baseline: str = "direct"
    method: str = ""
    """The method whose gains, errors and cases are shown; found by itself where it is empty."""
    cases: int = 12
    figures: bool = True
    plan: Plan = field(default_factory=Plan)
    labels: tuple[Label, ...] = ()
    """What people said of Stage 1's constraints."""
    judging: Judging = field(default_factory=Judging)


class Desk:
    """What several sections need, made once."""

    def __init__(self, study: Study, choice: Choice) -> None:
        self.study = study
        self.choice = choice
        self.baseline = choice.baseline
        self.method = constrained_method(study, choice.baseline, choice.method)

    @cached_property
    def compared(self) -> tuple[tuple[Comparison, ...], str]:
        """All methods against the baseline, a family of tests for each model; or why there is none.

        The paper has a table of its own for each model, too.
        """
        main, found, why = self.study.mainly(), list[Comparison](), ""
        for model in main.names("model"):
            try:
                here = main.only(model=[model])
                found.append(compare(here, self.baseline, (), self.choice.plan))
            except ComparisonError as error:
                why = str(error)
        return tuple(found), why

    @property
    def pairs(self) -> list[Pair]:
        """The comparisons of the method that is looked at closely."""
        every = (pair for comparison in self.compared[0] for pair in comparison.pairs)
        return [pair for pair in every if pair.method == self.method]

    @cached_property
    def router(self) -> RouterAudit:
        """What the router sees in the study's problems."""
        return audit_router(self.study)

    def draw(self, *figures: Callable[[], Figure | None]) -> tuple[Figure, ...]:
        """Draw figures; those that have nothing to show are left out."""
        if not self.choice.figures:
            return ()
        return tuple(figure for make in figures if (figure := make()))

    def draw_all(self, figures: Callable[[], Iterator[Figure]]) -> tuple[Figure, ...]:
        """Draw several figures of a kind."""
        return tuple(figures()) if self.choice.figures else ()
