"""Sentences that stand under several tables: how right is counted, sizes, what was lost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from constraint_first.analysis.audit.error_rule import RightRule
from constraint_first.analysis.audit.outcomes import changed_by_chance
from constraint_first.analysis.notation import percent, several
from constraint_first.analysis.statistics.subset import ModelPairs
from constraint_first.analysis.study.by_model import ModelArms, count_statuses, sizes_by_benchmark
from constraint_first.analysis.study.study import Arm, benchmark_label, model_label
from constraint_first.evaluation.status import STATUSES

__all__ = [
    "ACCURACY_INTERVAL",
    "GAIN_INTERVAL",
    "RIGHT_RULES",
    "not_routed",
    "size_note",
    "status_note",
    "unequal_runs",
]

ACCURACY_INTERVAL: Final = (
    "The interval of an accuracy is Wilson's for one run of each problem and where all problems "
    "score alike, otherwise the percentile interval of a bootstrap over problems."
)
"""How the interval beside an accuracy was found."""
GAIN_INTERVAL: Final = "The interval of a gain is the BCa interval of a bootstrap over problems."
"""How the interval beside a gain was found."""

RIGHT_RULES: Final[Mapping[RightRule, str]] = {
    "any": "A problem is right where any of its runs is (pass@k).",
    "first": "A problem is right where its first judged run is.",
}
"""When a problem counts as right, in words."""


def unequal_runs(found: Sequence[ModelPairs], rule: RightRule) -> Iterator[str]:
    """Warn of chances that are not the same: more runs make it easier for any to be right."""
    pairs = [(one.model, base, arm) for one in found for base, arm in one.pairs]
    for model, base, arm in pairs if rule == "any" else ():
        if base.runs != arm.runs:
            yield (
                f"{model_label(model)} on {benchmark_label(base.benchmark) or 'this set'}: up "
                f"to {several(base.runs, 'run')} before and {arm.runs} after, so chances differ."
            )


def not_routed(found: Sequence[ModelPairs], rule: RightRule, how: str) -> Iterator[str]:
    """Say how many problems changed sides that the method's router left to the baseline."""
    pairs = [pair for one in found for pair in one.pairs]
    if count := sum(changed_by_chance(*pair, rule) for pair in pairs):
        base, method = found[0].names
        yield (
            f"{several(count, 'problem')} that changed sides {'was' if count == 1 else 'were'} not "
            f"routed: {method} solves such a problem as {base} does, so it changed by chance{how}."
        )


def status_note(arms: Iterable[Arm]) -> str:
    """Say how many attempts gave no answer or failed, for all rows of a table together."""
    counts = count_statuses(arms)
    total = counts.total()
    if not total:
        return "No attempts."
    rates = ", ".join(
        f"{counts[status]:,} {status} ({percent(counts[status] / total)})"
        for status in STATUSES
        if status != "ok"
    )
    return f"Of {total:,} attempts: {rates}; failed ones are not scored."


def size_note(parts: Iterable[ModelArms]) -> str:
    """Say how many problems and runs each benchmark of a table has."""
    said = (
        f"{benchmark_label(name) or 'all'} "
        + " or ".join(f"{problems:,} × {runs}" for problems, runs in sizes)
        for name, sizes in sizes_by_benchmark(parts).items()
    )
    return f"Problems × runs: {', '.join(said)}."
