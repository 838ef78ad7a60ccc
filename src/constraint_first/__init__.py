"""Constraint-First: make language models respect what a problem demands of its answer.

The names below are the public ones; each is imported from its module when it is first used, so
that ``import constraint_first`` stays fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from constraint_first.answer.extract import extract
    from constraint_first.answer.grade import grade, grade_reply
    from constraint_first.attempt.attempt import Attempt
    from constraint_first.attempt.drive import Scripted, drive
    from constraint_first.attempt.events import SolveProgress
    from constraint_first.attempt.solve import asolve, solve
    from constraint_first.benchmark.registry import Benchmark
    from constraint_first.constraint.router import route
    from constraint_first.constraint.stage1 import ConstraintSpec
    from constraint_first.error import CfrError
    from constraint_first.method.method import Method
    from constraint_first.method.registry import make
    from constraint_first.model.client import Client, OpenAI
    from constraint_first.model.local import Local
    from constraint_first.model.resolve import ModelRef
    from constraint_first.model.transport import Bounds, Endpoint
    from constraint_first.model.wire import Decoding
    from constraint_first.problem import Problem, Solution
    from constraint_first.protocol import (
        Call,
        Completion,
        Output,
        Program,
        Run,
        Steps,
        ask,
        execute,
        together,
    )
    from constraint_first.report.comparison import compare
    from constraint_first.run.grid import Experiment, RunOptions
    from constraint_first.run.job import Evaluated, EvaluationProgress
    from constraint_first.run.run import aevaluate, evaluate

__all__ = [
    "Attempt",
    "Benchmark",
    "Bounds",
    "Call",
    "CfrError",
    "Client",
    "Completion",
    "ConstraintSpec",
    "Decoding",
    "Endpoint",
    "Evaluated",
    "EvaluationProgress",
    "Experiment",
    "Local",
    "Method",
    "ModelRef",
    "OpenAI",
    "Output",
    "Problem",
    "Program",
    "Run",
    "RunOptions",
    "Scripted",
    "Solution",
    "SolveProgress",
    "Steps",
    "aevaluate",
    "ask",
    "asolve",
    "compare",
    "drive",
    "evaluate",
    "execute",
    "extract",
    "grade",
    "grade_reply",
    "make",
    "route",
    "solve",
    "together",
]

_NAMES = {
    "answer": "extract grade grade_reply",
    "attempt.attempt": "Attempt",
    "attempt.drive": "Scripted drive",
    "attempt.events": "SolveProgress",
    "attempt.solve": "asolve solve",
    "benchmark": "Benchmark",
    "constraint.router": "route",
    "constraint.stage1": "ConstraintSpec",
    "error": "CfrError",
    "method": "Method make",
    "model.client": "Client OpenAI",
    "model.local": "Local",
    "model.resolve": "ModelRef",
    "model.transport": "Bounds Endpoint",
    "model.wire": "Decoding",
    "problem": "Problem Solution",
    "protocol": "Call Completion Output Program Run Steps ask execute together",
    "report.comparison": "compare",
    "run.grid": "Experiment RunOptions",
    "run.job": "Evaluated EvaluationProgress",
    "run.run": "aevaluate evaluate",
}


def __getattr__(name: str) -> object:
    for module, names in _NAMES.items():
        if name in names.split():
            return getattr(importlib.import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
