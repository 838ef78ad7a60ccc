"""An exhibit: the tables, figures and sentences of one thing, made from a study.

Each file beside this one computes the numbers of one thing, lays them out and lists what it shows
in ``EXHIBITS``. A report goes through these lists; ``cfr audit`` prints the same tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal, TypeVar, cast

from constraint_first.report.canvas import Figure
from constraint_first.report.comparison import (
    Comparison,
    ComparisonError,
    Pair,
    Plan,
    best_supported,
    compare,
    constrained_method,
    find_baseline,
)
from constraint_first.report.exhibit.marks import DEFAULT_RULE, ErrorRule, Label, labels_of
from constraint_first.report.study import (
    CONSTRAINED,
    Study,
    check_variants,
    family_of,
    find_variant,
    variant_notes,
)
from constraint_first.report.table import Table

SECTIONS: Final = {
    "verdict": "What the data show",
    "overview": "Scores and settings",
    "main": "Main results",
    "prompting": "All methods, and what they cost",
    "paired": "Paired statistics",
    "routing": "Routing",
    "stage-1": "Stage 1",
    "errors": "Errors and outcomes",
    "robustness": "Robustness",
}
"""The sections of a report by name, in order, with their titles."""
_T = TypeVar("_T")


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


class Context:
    """A study, the options of its report, and what several exhibits need, computed once."""

    def __init__(self, study: Study, options: ReportOptions) -> None:
        self.study = study
        self.options = options
        self._once: dict[object, Any] = {}
        self._chosen = check_variants(study, options.variants)
        # A study without Direct CoT still has much to show; each comparison says what it lacks.
        self.baseline = find_baseline(study, options.baseline, self._chosen)
        self.method = self._closer_look()

    def _closer_look(self) -> str:
        """Find the method to look at closely: as named, a kind of CFR, or the best supported."""
        wanted = self.options.method
        found = constrained_method(self.study, self.baseline, wanted, self._chosen)
        families = {arm.method: family_of(arm) for arm in self.study.arms}
        best = [best_supported(comparison) for comparison in self.comparisons]
        if wanted or families.get(found) in CONSTRAINED or not best:
            return found
        return min(best, key=lambda pair: pair.p_holm).method

    @property
    def compared(self) -> tuple[Study, str, str]:
        return self.study, self.method, self.baseline

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """All methods against the baseline: a family of tests for each model, as in the paper."""
        return self._by_model[0]

    @property
    def uncompared(self) -> Mapping[str, str]:
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

    @property
    def pairs(self) -> list[Pair]:
        every = (pair for comparison in self.comparisons for pair in comparison.pairs)
        return [pair for pair in every if pair.method == self.method]

    def variant(self, family: str) -> str | None:
        """Find the method that stands for a family: one that was named, or else by rule."""
        return find_variant(self.study, family, (*self._chosen, self.method, self.baseline))

    @cached_property
    def labels(self) -> tuple[list[Label], int]:
        """The marks of people on the study's attempts, and how many are on others."""
        return labels_of(self.options.labels, self.study)

    def once(self, make: Callable[[Study], _T]) -> _T:
        """Compute something of the study once, for all exhibits that need it."""
        if make not in self._once:
            self._once[make] = make(self.study)
        return cast("_T", self._once[make])


def _nothing(_: Context) -> tuple[()]:
    return ()


@dataclass(frozen=True, slots=True)
class Exhibit:
    """One thing that a report shows, as functions that make its parts."""

    section: str
    tables: Callable[[Context], Iterable[Table]] = _nothing
    figures: Callable[[Context], Iterable[Figure | None]] = _nothing
    paper: tuple[str, ...] = ()
    """What the paper printed in the place of these, by our names for its tables."""
    claims: Callable[[Context], Iterable[str]] = _nothing
    notes: Callable[[Context], Iterable[str]] = _nothing
    """Sentences that belong under the claims."""
    about: Literal["", "method", "families"] = ""
    """The methods whose variants its tables name: the one that is looked at closely, or those that
    stand for each kind of CFR."""

    def variant_notes(self, context: Context) -> tuple[str, ...]:
        """Say which variants its tables are about, where the study has several of a family."""
        methods = {
            "": (),
            "method": (context.method,),
            "families": tuple(map(context.variant, CONSTRAINED)),
        }[self.about]
        return variant_notes(context.study, (context.baseline, *methods)) if methods else ()
