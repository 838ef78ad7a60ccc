"""The final answer: extracting it from a completion, and judging whether it is right."""

from constraint_first.answer.extract import Extracted, extract
from constraint_first.answer.grade import (
    GradingCase,
    Verdict,
    grade,
    grade_all,
    grade_each,
    grade_reply,
)

__all__ = [
    "Extracted",
    "GradingCase",
    "Verdict",
    "extract",
    "grade",
    "grade_all",
    "grade_each",
    "grade_reply",
]
