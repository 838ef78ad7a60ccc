"""An exhibit: the tables, figures and sentences on one topic, made from a study.

Each file in this folder computes the numbers of one topic, lays them out and lists its exhibits in
``EXHIBITS``. A report iterates over these lists; ``cfr audit`` prints the same tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Literal

from constraint_first.report.canvas import Figure
from constraint_first.report.comparison import (
    Comparison,
    ComparisonError,
    Pair,
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


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """Options of a report: methods, number of cases, files in addition to the study."""

    baseline: str = ""
    """The method that gains are measured against; Direct CoT if it is empty."""
    method: str = ""
    """The method whose gains, errors and cases are shown; chosen automatically if it is empty."""
    cases: int = 12
    figures: bool = True
    labels: tuple[Label, ...] = ()
    """Marks of annotators on Stage 1's constraints."""
    error_rule: ErrorRule = DEFAULT_RULE
    variants: tuple[str, ...] = ()
    """The variants that represent their families; chosen automatically unless named."""


class Context:
    """A study, the options of its report, and shared results, computed once."""

    def __init__(self, study: Study, options: ReportOptions) -> None:
        self.study = study
        self.options = options
        self._chosen = check_variants(study, options.variants)
        # A study without Direct CoT has other exhibits; each comparison reports that it is
        # missing.
        self.baseline = find_baseline(study, options.baseline, self._chosen)
        self.comparisons: list[Comparison] = []
        """All methods against the baseline: a family of tests for each model, as in the paper."""
        self.uncompared: dict[str, str] = {}
        """The reason for a missing comparison, by model."""
        main = study.primary_only()
        for model in main.names("model"):
            try:
                self.comparisons.append(compare(main.only(model=[model]), self.baseline))
            except ComparisonError as error:
                self.uncompared[model] = str(error)
        self.method = self._closer_look()
        # The annotators' marks on the study's attempts, and the number of marks on others.
        self.labels, self.marked_elsewhere = labels_of(options.labels, study)

    def _closer_look(self) -> str:
        """Find the method to examine closely: as named, a kind of CFR, or the best supported."""
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
    def pairs(self) -> list[Pair]:
        every = (pair for comparison in self.comparisons for pair in comparison.pairs)
        return [pair for pair in every if pair.method == self.method]

    def variant(self, family: str) -> str | None:
        """Find the method that represents a family: the named one, or else by rule."""
        return find_variant(self.study, family, (*self._chosen, self.method, self.baseline))


@dataclass(frozen=True, slots=True)
class Exhibit:
    """One topic of a report, as functions that make its parts."""

    section: str
    tables: Callable[[Context], Iterable[Table]] = lambda _: ()
    figures: Callable[[Context], Iterable[Figure | None]] = lambda _: ()
    paper: tuple[str, ...] = ()
    """The paper's corresponding tables, by our names for them."""
    claims: Callable[[Context], Iterable[str]] = lambda _: ()
    notes: Callable[[Context], Iterable[str]] = lambda _: ()
    """Sentences below the claims."""
    about: Literal["", "method", "families"] = ""
    """The methods whose variants its tables name: the one that is examined closely, or the
    representatives of each kind of CFR."""

    def variant_notes(self, context: Context) -> tuple[str, ...]:
        """Name the variants in its tables, if the study has several of a family."""
        if not self.about:
            return ()
        families = map(context.variant, CONSTRAINED)
        methods = families if self.about == "families" else (context.method,)
        return variant_notes(context.study, (context.baseline, *methods))
