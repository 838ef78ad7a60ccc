"""Settings of every row of a study's tables: decoding, runs, and what its method asks for.

Paper: appendix Implementation Details, "API Configuration".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from constraint_first.analysis.study.study import Arm, Study
from constraint_first.evaluation.series import all_probe_calls
from constraint_first.method.registry import MethodError, make
from constraint_first.method.rewording import plain_name

__all__ = ["RowSettings", "StageRequest", "row_settings", "stage_requests"]


@dataclass(frozen=True, slots=True)
class StageRequest:
    """What a method asks for in the calls of one stage."""

    stage: str
    budgets: tuple[int, ...]
    """Output tokens, the smallest first; several where calls of the stage differ."""
    json: bool
    """Whether any call of the stage asks for JSON."""
    models: tuple[str, ...] = ()
    """Other models that answer it, by the names that the method has for them."""


@dataclass(frozen=True, slots=True)
class RowSettings:
    """A method with one model and one decoding, on all its benchmarks."""

    model: str
    method: str
    """As tables print it."""
    benchmarks: tuple[str, ...]
    decoding: str
    """As stored: a JSON object."""
    runs: tuple[int, int]
    """The fewest and the most among the benchmarks."""
    requests: tuple[StageRequest, ...]
    """Stage by stage; none where the method is not installed here."""


def row_settings(study: Study) -> tuple[RowSettings, ...]:
    """List the settings of every model, method and decoding that has attempts."""
    groups: dict[tuple[str, str, str], list[Arm]] = {}
    for arm in study.arms:
        if arm.attempts:
            groups.setdefault((arm.model, arm.method, arm.decoding), []).append(arm)
    return tuple(map(_settings, groups.values()))


def _settings(arms: Sequence[Arm]) -> RowSettings:
    first, runs = arms[0], [arm.runs for arm in arms]
    return RowSettings(
        first.model,
        first.name,
        tuple(arm.benchmark for arm in arms),
        first.decoding,
        (min(runs), max(runs)),
        stage_requests(first.method),
    )


@cache
def stage_requests(method: str) -> tuple[StageRequest, ...]:
    """Find the stages that a method may ask for; none for a method that is not installed."""
    try:
        made = make(plain_name(method))  # own prompts change no budget
    except MethodError:
        return ()
    calls = [*all_probe_calls(made)]
    return tuple(
        StageRequest(
            stage,
            tuple(sorted({call.max_tokens for call in calls if call.stage == stage})),
            any(call.json for call in calls if call.stage == stage),
            tuple(sorted({call.model for call in calls if call.stage == stage and call.model})),
        )
        for stage in dict.fromkeys(call.stage for call in calls)
    )
