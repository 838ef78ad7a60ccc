"""Constraint-First: make language models respect what a problem demands of its answer.

The names below are the public ones; each is imported from its module when it is first used, so
that ``import constraint_first`` costs nothing.
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
    from constraint_first.model.client import Client
    from constraint_first.model.local import Local
    from constraint_first.model.openai import OpenAI
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
    from constraint_first.run.job import EvaluationProgress
    from constraint_first.run.run import Evaluated, aevaluate, evaluate

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


_HOMES = {
    "constraint_first.answer": (
        "extract",
        "grade",
        "grade_reply",
    ),
    "constraint_first.attempt.drive": (
        "Scripted",
        "drive",
    ),
    "constraint_first.attempt.attempt": ("Attempt",),
    "constraint_first.attempt.events": ("SolveProgress",),
    "constraint_first.attempt.solve": (
        "asolve",
        "solve",
    ),
    "constraint_first.benchmark": ("Benchmark",),
    "constraint_first.constraint.router": ("route",),
    "constraint_first.constraint.stage1": ("ConstraintSpec",),
    "constraint_first.error": ("CfrError",),
    "constraint_first.method": (
        "Method",
        "make",
    ),
    "constraint_first.model.client": ("Client",),
    "constraint_first.model.local": ("Local",),
    "constraint_first.model.openai": ("OpenAI",),
    "constraint_first.model.resolve": ("ModelRef",),
    "constraint_first.model.transport": (
        "Bounds",
        "Endpoint",
    ),
    "constraint_first.model.wire": ("Decoding",),
    "constraint_first.problem": (
        "Problem",
        "Solution",
    ),
    "constraint_first.protocol": (
        "Call",
        "Completion",
        "Output",
        "Program",
        "Run",
        "Steps",
        "ask",
        "execute",
        "together",
    ),
    "constraint_first.report.comparison": ("compare",),
    "constraint_first.run.grid": (
        "Experiment",
        "RunOptions",
    ),
    "constraint_first.run.job": ("EvaluationProgress",),
    "constraint_first.run.run": (
        "Evaluated",
        "aevaluate",
        "evaluate",
    ),
}


def __getattr__(name: str) -> object:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(module), name)
    raise AttributeError(f"module 'constraint_first' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
