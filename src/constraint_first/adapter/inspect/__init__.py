"""Inspect (inspect_ai): every method is a solver, the grader a scorer, every benchmark a task.

Inspect imports this module through its entry point, and all of them are registered by that. From
Python: ``from constraint_first.adapter.inspect import benchmark, grade, method``.
"""

from constraint_first.adapter.inspect.scorer import grade
from constraint_first.adapter.inspect.solver import method
from constraint_first.adapter.inspect.task import benchmark

__all__ = ["benchmark", "grade", "method"]
