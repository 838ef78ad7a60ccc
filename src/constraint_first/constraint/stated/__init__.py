"""Constraints that a problem's own text states, read without a model and checked on answers."""

from constraint_first.constraint.stated.read import read_stated
from constraint_first.constraint.stated.statement import Stated, check_stated, repair

__all__ = [
    "Stated",
    "check_stated",
    "read_stated",
    "repair",
]
