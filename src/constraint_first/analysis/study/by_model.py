"""A study by model: each model's arms, by method and by benchmark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from constraint_first.analysis.study.study import Arm, Study, model_label

__all__ = ["ModelArms", "benchmarks_of", "by_model", "count_statuses", "sizes_by_benchmark"]


@dataclass(frozen=True)
class ModelArms:
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

    def keep(self, methods: Iterable[str]) -> ModelArms:
        """Leave out all other methods."""
        return ModelArms(self.model, {m: self.methods[m] for m in methods if m in self.methods})

    def paired(self, baseline: str, method: str) -> list[tuple[Arm, Arm]]:
        """Pair the arms of two methods on each benchmark that both have."""
        others = self.methods.get(method, {})
        own = self.methods.get(baseline, {})
        return [(arm, others[name]) for name, arm in own.items() if name in others]

    def shared_benchmarks(self, baseline: str) -> list[str]:
        """List the benchmarks of a method that all other methods have too."""
        own = self.methods.get(baseline, {})
        return [name for name in own if all(name in arms for arms in self.methods.values())]


def by_model(study: Study) -> list[ModelArms]:
    """Sort the judged arms of a study by model."""
    found: dict[str, dict[str, dict[str, Arm]]] = {}
    for arm in study.main_arms():
        if arm.scores:
            methods = found.setdefault(arm.model, {})
            methods.setdefault(arm.method, {})[arm.benchmark] = arm
    return [ModelArms(model, methods) for model, methods in found.items()]


def benchmarks_of(parts: Sequence[ModelArms]) -> list[str]:
    """List the benchmarks of several models, in order."""
    return list(dict.fromkeys(arm.benchmark for part in parts for arm in part.arms()))


def sizes_by_benchmark(parts: Iterable[ModelArms]) -> dict[str, list[tuple[int, int]]]:
    """List the sizes that arms have on each benchmark: judged problems and most runs."""
    found: dict[str, set[tuple[int, int]]] = {}
    for part in parts:
        for arm in part.arms():
            found.setdefault(arm.benchmark, set()).add((len(arm.scores), arm.runs))
    return {name: sorted(sizes) for name, sizes in found.items()}


def count_statuses(arms: Iterable[Arm]) -> Counter[str]:
    """Count how the attempts of arms ended."""
    counts: Counter[str] = Counter()
    for arm in arms:
        counts.update(arm.statuses)
    return counts
