"""Tokens of attempts: means, ratios between methods, and what each stage takes.

Paper: Matched Prompting Baselines, Token Overhead.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from constraint_first.analysis.study.study import Arm, StageCost
from constraint_first.engine.presets import price_list
from constraint_first.engine.price import Cost
from constraint_first.protocol import Usage

__all__ = [
    "StageMean",
    "TokenRatios",
    "Tokens",
    "divide_tokens",
    "mean_cost",
    "mean_tokens",
    "stage_means",
    "token_ratios",
]


class Tokens(NamedTuple):
    """Mean tokens of an attempt, in and out."""

    input: float
    output: float
    shared: float = 0.0
    """Those of the input that an earlier call of the attempt had sent already."""

    @property
    def total(self) -> float:
        """All together; a prompt that several samples share counts every time."""
        return self.input + self.output

    @property
    def shared_once(self) -> float:
        """All together; a prompt that several samples share counts once."""
        return self.total - self.shared


class TokenRatios(NamedTuple):
    """The tokens of a method in multiples of a baseline's, counted in three ways."""

    output: float | None = None
    shared_once: float | None = None
    """Input and output; a prompt that several samples share counts once."""
    every_time: float | None = None
    """Input and output; every prompt counts as often as it was sent."""


def mean_tokens(arms: Iterable[Arm]) -> Tokens | None:
    """Average over the judged attempts of arms; None where tokens were not counted."""
    judged = [a for arm in arms for a in arm.all_attempts() if a.correct is not None]
    used = [(a.input_tokens, a.output_tokens, a.shared_tokens) for a in judged]
    sums = [sum(counts) for counts in zip(*used, strict=True)]
    return Tokens(*(count / len(judged) for count in sums)) if any(sums) else None


def mean_cost(arms: Iterable[Arm]) -> Cost | None:
    """Average what judged attempts cost, each stage at the price of the model that answered it.

    Prices are those of today. None where the arms' models have none, or where stages are not on
    record.
    """
    total, attempts = Cost(), 0
    for arm in arms:
        stages = arm.stages.values()
        prices = price_list(arm.model, {one.answered_by for one in stages if one.answered_by})
        if not stages or not prices.has_prices:
            return None
        attempts += sum(runs for _, runs in arm.scores.values())
        for one in stages:
            used = Usage(one.input_tokens, one.output_tokens, cached=one.cached_tokens)
            total += prices.cost(used, one.answered_by)
    return Cost(total.dollars / attempts, total.complete) if attempts else None


def token_ratios(arms: Iterable[Arm], bases: Iterable[Arm]) -> TokenRatios:
    """Divide the mean tokens of arms by those of others."""
    return divide_tokens(mean_tokens(arms), mean_tokens(bases))


def divide_tokens(one: Tokens | None, other: Tokens | None) -> TokenRatios:
    """Divide tokens by others in each way of counting; None where either is not known."""
    if one is None or other is None:
        return TokenRatios()
    counts = [(each.output, each.shared_once, each.total) for each in (one, other)]
    return TokenRatios(*(mine / base if base else None for mine, base in zip(*counts, strict=True)))


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
