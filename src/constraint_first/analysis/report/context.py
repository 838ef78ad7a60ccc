"""Options of a report, and the results that several of its sections share, computed once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from constraint_first.analysis.audit.error_rule import DEFAULT_RULE, ErrorRule
from constraint_first.analysis.audit.manual.label import Label
from constraint_first.analysis.audit.routing import RouterAudit, audit_router
from constraint_first.analysis.figure.figure import Figure
from constraint_first.analysis.report.verdict import best_supported
from constraint_first.analysis.statistics.comparison import (
    Comparison,
    ComparisonError,
    Pair,
    Plan,
    compare,
    constrained_method,
    find_baseline,
)
from constraint_first.analysis.study.family import (
    CONSTRAINED,
    check_variants,
    family_of,
    find_variant,
)
from constraint_first.analysis.study.study import Study

__all__ = ["ReportContext", "ReportOptions"]


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """Options of a report: which methods, how many cases, which files beside the study."""

    baseline: str = ""
    """The method that gains are measured against; Direct CoT where it is empty."""
    method: str = ""
    """The method whose gains, errors and cases are shown; found by itself where it is empty."""
    cases: int = 12
    figures: bool = True
    plan: Plan = field(default_factory=Plan)
    labels: tuple[Label, ...] = ()
    """What people marked of Stage 1's constraints."""
    error_rule: ErrorRule = DEFAULT_RULE
    variants: tuple[str, ...] = ()
    """The variants that stand for their families; found by themselves where none is named."""


class ReportContext:
    """A study, the options of its report, and what several sections need, computed once."""

    def __init__(self, study: Study, options: ReportOptions) -> None:
        self.study = study
        self.options = options
        self._chosen = check_variants(study, options.variants)
        # A study without Direct CoT still has much to show; each comparison says what it lacks.
        self.baseline = find_baseline(study, options.baseline, self._chosen)
        self.method = self._closer_look()

    def _closer_look(self) -> str:
        """Find the method to look at closely: as named, a kind of CFR, or the best supported."""
        wanted = self.options.method
        found = constrained_method(self.study, self.baseline, wanted, self._chosen)
        families = {arm.method: family_of(arm) for arm in self.study.arms}
        best = [best_supported(comparison) for comparison in self.compared[0]]
        if wanted or families.get(found) in CONSTRAINED or not best:
            return found
        return min(best, key=lambda pair: pair.p_holm).method

    @cached_property
    def compared(self) -> tuple[tuple[Comparison, ...], str]:
        """All methods against the baseline, a family of tests for each model; or why there is none.

        The paper has a table of its own for each model, too.
        """
        return self._by_model[0], "".join([*self.uncompared.values()][-1:])

    @property
    def uncompared(self) -> Mapping[str, str]:
        """The models with which nothing can be compared, and why."""
        return self._by_model[1]

    @cached_property
    def _by_model(self) -> tuple[tuple[Comparison, ...], Mapping[str, str]]:
        main, found, reasons = self.study.primary_only(), list[Comparison](), dict[str, str]()
        for model in main.names("model"):
            try:
                here = main.only(model=[model])
                found.append(compare(here, self.baseline, (), self.options.plan))
            except ComparisonError as error:
                reasons[model] = str(error)
        return tuple(found), reasons

    def variant(self, family: str) -> str | None:
        """Find the method that stands for a family: one that was named, or else by rule."""
        return find_variant(self.study, family, (*self._chosen, self.method, self.baseline))

    @property
    def pairs(self) -> list[Pair]:
        """The comparisons of the method that is looked at closely."""
        every = (pair for comparison in self.compared[0] for pair in comparison.pairs)
        return [pair for pair in every if pair.method == self.method]

    @cached_property
    def router(self) -> RouterAudit:
        """The audit of the router on the study's problems."""
        return audit_router(self.study)

    def draw(self, *figures: Callable[[], Figure | None]) -> tuple[Figure, ...]:
        """Draw figures; those that have nothing to show are left out."""
        if not self.options.figures:
            return ()
        return tuple(figure for make in figures if (figure := make()))

    def draw_all(self, figures: Callable[[], Iterator[Figure]]) -> tuple[Figure, ...]:
        """Draw several figures of a kind."""
        return tuple(figures()) if self.options.figures else ()
