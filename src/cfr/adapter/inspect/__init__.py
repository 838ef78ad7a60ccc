"""Inspect (inspect_ai): every method is a solver, the grader a scorer, every benchmark a task.

Inspect imports this module through its entry point, and all of them are registered by that. From
Python: ``from cfr.adapter.inspect import benchmark, grade, method``.
"""

from cfr.adapter.inspect.scorer import grade
from cfr.adapter.inspect.solver import method
from cfr.adapter.inspect.task import benchmark

__all__ = ["benchmark", "grade", "method"]
