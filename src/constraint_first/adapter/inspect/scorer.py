"""Our grader as a scorer of Inspect: ``cfr/grade``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, cast

from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    Score,
    Scorer,
    Target,
    accuracy,
    scorer,
    stderr,
)
from inspect_ai.solver import TaskState

from constraint_first.adapter.inspect.internal import as_sample_error, qualify
from constraint_first.adapter.inspect.solver import NOTES
from constraint_first.answer import GradingCase, Verdict, grade_all
from constraint_first.error import InputError
from constraint_first.file.storable import storable_text

__all__ = ["grade", "score_of"]

_TRUNCATED: Final = ("max_tokens", "model_length")
_VALUES: Final[dict[str, str | float]] = {
    "correct": CORRECT,
    "incorrect": INCORRECT,
    # Inspect leaves it out of all metrics, and counts it as unscored.
    "undecided": float("nan"),
}


def _grade() -> Scorer:
    """Judge the answer against the target, by value and not by wording.

    It reads the answer that a solver of cfr found, and otherwise the final answer in the reply. Of
    several targets any will do.
    """

    async def score(state: TaskState, target: Target) -> Score:
        with as_sample_error():
            cases = [_case(state, gold) for gold in target if gold.strip()]
            if not cases:
                raise InputError(
                    f"sample {state.sample_id}: has no target, and cfr/grade compares with one"
                )
            return score_of(await grade_all(cases), state)

    return score


grade: Final = scorer(metrics=[accuracy(), stderr()], name=qualify(_grade, "grade"))(_grade)


def _case(state: TaskState, gold: str) -> GradingCase:
    problem, output = state.input_text, state.output
    if NOTES in (output.metadata or {}):  # a solver of cfr has read the answer already
        answer = _noted(state)["answer"]
        return GradingCase(None if answer is None else storable_text(answer), gold, problem)
    truncated = bool(output.choices) and output.stop_reason in _TRUNCATED
    return GradingCase.from_reply(
        storable_text(output.completion), gold, problem, truncated=truncated
    )


def _noted(state: TaskState) -> dict[str, Any]:
    return cast("dict[str, Any]", (state.output.metadata or {}).get(NOTES, {}))


def score_of(verdicts: Sequence[Verdict], state: TaskState) -> Score:
    """Write the verdict on the best of several comparisons as a score."""
    order = ("correct", "undecided", "incorrect")
    best = min(verdicts, key=lambda one: order.index(one.verdict))
    confidence = _confidence(state)
    return Score(
        value=_VALUES[best.verdict],
        answer=best.answer,
        explanation=f"{best.verdict}: {best.why}",
        metadata={"verdict": best.verdict, "tier": best.tier, **confidence},
    )


def _confidence(state: TaskState) -> dict[str, float]:
    """How far the answer is to be trusted, where the solver was one of cfr."""
    noted = cast("dict[str, Any]", state.store.get(NOTES, None) or {}) if _noted(state) else {}
    details = cast("dict[str, Any]", noted.get("details", {}))
    return {"confidence": details["confidence"]} if "confidence" in details else {}
