"""What the tools for other programs return: typed values with a description of every field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, Field

from constraint_first.answer import Verdict
from constraint_first.constraint.predicate import Truth
from constraint_first.constraint.spec import Kind
from constraint_first.constraint.stated import check_stated, read_stated
from constraint_first.engine.solve import Solved
from constraint_first.error import InputError
from constraint_first.serve.reply import final_text

__all__ = [
    "AnswerCheck",
    "CheckedConstraint",
    "ConstraintsResult",
    "GradeResult",
    "SolveResult",
    "StatedConstraint",
    "check_answer",
    "require_text",
    "stated_in",
]


class StatedConstraint(BaseModel):
    """A demand that a problem's text makes of any answer."""

    sentence: str = Field(description="The demand in words.")
    kind: Kind
    words: str = Field(description="The words of the problem that state it.")


class CheckedConstraint(StatedConstraint):
    """A demand, and whether an answer meets it."""

    truth: Truth = Field(description="Whether the answer meets it.")


class AnswerCheck(BaseModel):
    """An answer checked against everything that the text demands of it."""

    sound: bool = Field(
        description="False where a demand is broken. True does not mean that the answer is right: "
        "it may be wrong and still meet every demand."
    )
    summary: str = Field(description="The same in a sentence, with the demands that are broken.")
    checks: list[CheckedConstraint]


class SolveResult(BaseModel):
    """A solved problem."""

    answer: str | None = Field(description="The final answer; null where the reply has none.")
    solution: str = Field(description="The reply that argues for the answer.")
    truncated: bool = Field(description="Whether that reply was cut off by its token budget.")
    confidence: float = Field(description="How far to trust the answer, from 0 to 1.")
    checks: list[CheckedConstraint] = Field(
        description="What the text demands of any answer, and whether this answer meets it."
    )
    method: str = Field(description="The method that was used.")
    model: str = Field(description="The model that was asked.")
    calls: int = Field(description="How many calls it took.")
    input_tokens: int
    output_tokens: int
    seconds: float
    dollars: float | None = Field(description="What it cost; null where no price is known.")

    @classmethod
    def of(cls, solved: Solved, model: str) -> SolveResult:
        """Take from a solution what a client needs."""
        solution, usage = solved.solution, solved.usage
        confidence = solution.details.get("confidence")
        return cls(
            answer=solution.answer,
            solution=final_text(solution),
            truncated=solution.truncated,
            confidence=confidence if isinstance(confidence, int | float) else 0.0,
            checks=_checks_of(solved.problem.text, solution.answer or ""),
            method=solved.method.label,
            model=model,
            calls=len(solved.exchanges),
            input_tokens=usage.input,
            output_tokens=usage.output,
            seconds=round(solved.seconds, 3),
            dollars=solved.cost.dollars if solved.cost else None,
        )


class ConstraintsResult(BaseModel):
    """What a text demands."""

    constraints: list[StatedConstraint]


class GradeResult(BaseModel):
    """A verdict on an answer."""

    verdict: Literal["correct", "incorrect", "undecided"]
    why: str = Field(description="What the verdict rests on.")
    answer: str | None = Field(description="The answer that was judged, as it was written.")

    @classmethod
    def of(cls, found: Verdict) -> GradeResult:
        """Take from a verdict what a client needs."""
        return cls(verdict=found.verdict, why=found.why, answer=found.answer)


def stated_in(problem: str) -> list[StatedConstraint]:
    """Read what a problem's text demands; no model is asked."""
    return [
        StatedConstraint(sentence=one.sentence, kind=one.kind, words=problem[slice(*one.span)])
        for one in read_stated(require_text(problem, "problem"))
    ]


def check_answer(problem: str, answer: str) -> AnswerCheck:
    """Check an answer against what the problem's text demands; no model is asked."""
    checks = _checks_of(require_text(problem, "problem"), require_text(answer, "answer"))
    broken = [one.sentence for one in checks if one.truth == "violated"]
    return AnswerCheck(sound=not broken, summary=_summary(checks, broken), checks=checks)


def _checks_of(problem: str, answer: str) -> list[CheckedConstraint]:
    """Say of each demand whether an answer meets it."""
    return [
        CheckedConstraint(
            sentence=one.sentence, kind=one.kind, words=problem[slice(*one.span)], truth=truth
        )
        for one, truth in check_stated(read_stated(problem), answer)
    ]


def require_text(text: str, name: str) -> str:
    """Refuse a text that is empty, by its name."""
    if not text.strip():
        raise InputError(f"{name}: is empty; give its text")
    return text


def _summary(checks: Sequence[CheckedConstraint], broken: Sequence[str]) -> str:
    if not checks:
        return "The text states no demand that can be checked."
    if broken:
        return f"The answer breaks {len(broken)} of {len(checks)} demands: {' '.join(broken)}"
    met = sum(one.truth == "holds" for one in checks)
    return f"The answer breaks no demand: {met} met, {len(checks) - met} undecided."
