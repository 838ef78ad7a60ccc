"""Accuracy and gains of the same methods under several decodings.

Paper: appendix Implementation Details, "Robustness Across Decoding Settings".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from constraint_first.analysis.statistics.score import Score, score
from constraint_first.analysis.statistics.subset import BASELINE, Gain, ModelPairs
from constraint_first.analysis.study.study import Arm, Study

__all__ = ["Setting", "robustness"]


@dataclass(frozen=True, slots=True)
class Setting:
    """A model under one decoding: what each method scores, and what they gain."""

    model: str
    decoding: str
    """As stored: a JSON object."""
    baseline: str
    """The method that the others gain over."""
    scores: Mapping[tuple[str, str], Score]
    """By method and benchmark."""
    gains: Mapping[tuple[str, str], Gain]
    """By method and benchmark, for all methods but the baseline."""


def robustness(
    study: Study, methods: Sequence[str], baseline: str = BASELINE
) -> tuple[Setting, ...]:
    """Score methods under every decoding of the models that have several."""
    found: list[Setting] = []
    for model in study.names("model"):
        arms = [
            arm
            for arm in study.select(model=model)
            if arm.scores and arm.method in (baseline, *methods)
        ]
        decodings = list(dict.fromkeys(arm.decoding for arm in arms))
        if len(decodings) > 1:
            found += [
                _setting([arm for arm in arms if arm.decoding == decoding], baseline)
                for decoding in decodings
            ]
    return tuple(found)


def _setting(arms: Sequence[Arm], baseline: str) -> Setting:
    model, decoding = arms[0].model, arms[0].decoding
    scores = {(a.method, a.benchmark): found for a in arms if (found := score(a))}
    bases = {arm.benchmark: arm for arm in arms if arm.method == baseline}
    gains = {
        (arm.method, arm.benchmark): gain
        for arm in arms
        if arm.method != baseline
        and (base := bases.get(arm.benchmark))
        and (gain := ModelPairs(model, ((base, arm),)).gain())
    }
    return Setting(model, decoding, baseline, scores, gains)
