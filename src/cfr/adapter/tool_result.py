"""What the tools for other programs return: typed values with a description of every field."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field

from cfr.constraint.predicate import Truth
from cfr.constraint.stated import Stated, check_stated, read_stated
from cfr.error import InputError

__all__ = ["AnswerCheck", "CheckedConstraint", "StatedConstraint", "check_answer", "stated_in"]


class StatedConstraint(BaseModel):
    """A demand that a problem's text makes of any answer."""

    sentence: str = Field(description="The demand in words.")
    kind: str = Field(description="Its kind: integer, range, modular, parity, …")
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


def stated_in(problem: str) -> tuple[Stated, ...]:
    """Read what a problem's text demands; no model is asked."""
    return read_stated(_require_text(problem, "problem"))


def check_answer(problem: str, answer: str) -> AnswerCheck:
    """Check an answer against what the problem's text demands; no model is asked."""
    _require_text(answer, "answer")
    checks = [
        CheckedConstraint(
            sentence=one.sentence, kind=one.kind, words=problem[slice(*one.span)], truth=truth
        )
        for one, truth in check_stated(stated_in(problem), answer)
    ]
    broken = [one.sentence for one in checks if one.truth == "violated"]
    return AnswerCheck(sound=not broken, summary=_summary(checks, broken), checks=checks)


def _summary(checks: Sequence[CheckedConstraint], broken: Sequence[str]) -> str:
    if not checks:
        return "The text states no demand that can be checked."
    if broken:
        return f"The answer breaks {len(broken)} of {len(checks)} demands: {' '.join(broken)}"
    met = sum(one.truth == "holds" for one in checks)
    return f"The answer breaks no demand: {met} of {len(checks)} hold, the others are undecided."


def _require_text(text: str, name: str) -> str:
    if not text.strip():
        raise InputError(f"{name}: is empty; give its text")
    return text
