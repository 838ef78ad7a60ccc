"""The final answer: reading it out of a completion, and judging whether it is right."""

from cfr.answer.extraction.extract import Extracted, extract
from cfr.answer.judgement.grade import Case, Verdict, grade, grade_all, grade_each

__all__ = ["Case", "Extracted", "Verdict", "extract", "grade", "grade_all", "grade_each"]
