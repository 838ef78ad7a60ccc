"""Tokens of attempts: means, ratios between methods, and what each stage takes.

Paper: Matched Prompting Baselines, Token Overhead.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cfr.analysis.study.study import Arm, StageCost

__all__ = ["StageMean", "Tokens", "mean_tokens", "output_ratio", "stage_means", "token_ratio"]


class Tokens(NamedTuple):
    """Mean tokens of an attempt, in and out."""

    input: float
    output: float

    @property
    def total(self) -> float:
        """Both together."""
        return self.input + self.output


def mean_tokens(arms: Iterable[Arm]) -> Tokens | None:
    """Average over the judged attempts of arms; None where tokens were not counted."""
    judged = [a for arm in arms for a in arm.all_attempts() if a.correct is not None]
    used = sum(a.input_tokens for a in judged), sum(a.output_tokens for a in judged)
    return Tokens(used[0] / len(judged), used[1] / len(judged)) if any(used) else None


def token_ratio(arms: Iterable[Arm], bases: Iterable[Arm]) -> float | None:
    """Divide the mean tokens of arms by those of others; None where either is not known."""
    one, other = mean_tokens(arms), mean_tokens(bases)
    return one.total / other.total if one and other else None


def output_ratio(arm: Arm, base: Arm) -> float | None:
    """Divide the mean output tokens of an arm by those of another."""
    one, other = mean_tokens([arm]), mean_tokens([base])
    return one.output / other.output if one and other and other.output else None


@dataclass(frozen=True, slots=True)
class StageMean:
    """Calls and tokens that one stage takes of a judged attempt, on average."""

    stage: str
    calls: float
    tokens: Tokens
    share: float
    """Of the tokens of all stages, from 0 to 1."""


def stage_means(arms: Sequence[Arm]) -> list[StageMean]:
    """Average over judged attempts; those that did not reach a stage count as zero there."""
    attempts = sum(runs for arm in arms for _, runs in arm.scores.values())
    stages: dict[str, StageCost] = {}
    for arm in arms:
        for stage, cost in arm.stages.items():
            stages[stage] = stages.get(stage, StageCost()) + cost
    everything = sum(cost.tokens for cost in stages.values())
    if not attempts or not everything:
        return []
    return [
        StageMean(
            stage,
            cost.calls / attempts,
            Tokens(cost.input_tokens / attempts, cost.output_tokens / attempts),
            cost.tokens / everything,
        )
        for stage, cost in stages.items()
    ]
