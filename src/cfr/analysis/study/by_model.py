"""A study sorted for tables: one block for each model, with its methods and benchmarks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cfr.analysis.notation import percent
from cfr.analysis.study.study import Arm, Study, benchmark_label, model_label
from cfr.evaluation.status import STATUSES

__all__ = ["Block", "benchmarks_of", "blocks", "health", "mean_cost", "relative", "sizes"]


@dataclass(frozen=True)
class Block:
    """One model's arms in their primary decoding: by method, then by benchmark."""

    model: str
    methods: dict[str, dict[str, Arm]]

    @property
    def title(self) -> str:
        """The model as the paper prints it."""
        return model_label(self.model) or "All attempts"

    def name(self, method: str) -> str:
        """Name a method as tables print it."""
        return next(iter(self.methods[method].values())).name

    def arms(self) -> list[Arm]:
        """List the arms."""
        return [arm for arms in self.methods.values() for arm in arms.values()]

    def keep(self, methods: Iterable[str]) -> Block:
        """Leave out all other methods."""
        return Block(self.model, {m: self.methods[m] for m in methods if m in self.methods})


def blocks(study: Study) -> list[Block]:
    """Sort a study by model."""
    found: dict[str, dict[str, dict[str, Arm]]] = {}
    for arm in study.main_arms():
        if arm.scores:
            methods = found.setdefault(arm.model, {})
            methods.setdefault(arm.method, {})[arm.benchmark] = arm
    return [Block(model, methods) for model, methods in found.items()]


def benchmarks_of(parts: Sequence[Block]) -> list[str]:
    """List the benchmarks of several blocks, in order."""
    return list(dict.fromkeys(arm.benchmark for part in parts for arm in part.arms()))


def health(arms: Iterable[Arm]) -> str:
    """Say how many attempts gave no answer or failed, for all rows of a table together."""
    counts: dict[str, int] = {}
    for arm in arms:
        for status, count in arm.statuses.items():
            counts[status] = counts.get(status, 0) + count
    total = sum(counts.values())
    if not total:
        return "No attempts."
    rates = ", ".join(
        f"{counts.get(status, 0):,} {status} ({percent(counts.get(status, 0) / total)})"
        for status in STATUSES
        if status != "ok"
    )
    return f"Of {total:,} attempts: {rates}; failed ones are not scored."


def sizes(parts: Iterable[Block]) -> str:
    """Say how many problems and runs each benchmark of a table has."""
    found: dict[str, set[tuple[int, int]]] = {}
    for part in parts:
        for arm in part.arms():
            found.setdefault(arm.benchmark, set()).add((len(arm.scores), arm.runs))
    said = (
        f"{benchmark_label(name) or 'all'} "
        + " or ".join(f"{problems:,} × {runs}" for problems, runs in sorted(counts))
        for name, counts in found.items()
    )
    return f"Problems × runs: {', '.join(said)}."


def mean_cost(arms: Iterable[Arm]) -> tuple[float, float] | None:
    """Return mean input and output tokens over the judged attempts of arms; None if uncounted."""
    used = [0, 0]
    attempts = 0
    for arm in arms:
        for attempt in arm.all_attempts():
            if attempt.correct is not None:
                used[0] += attempt.input_tokens
                used[1] += attempt.output_tokens
                attempts += 1
    return (used[0] / attempts, used[1] / attempts) if sum(used) else None


def relative(arms: Iterable[Arm], bases: Iterable[Arm]) -> float | None:
    """Divide the mean tokens of arms by those of others."""
    one, other = mean_cost(arms), mean_cost(bases)
    return sum(one) / sum(other) if one and other else None
