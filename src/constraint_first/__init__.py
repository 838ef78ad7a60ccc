"""Constraint-First: make language models respect what a problem demands of its answer.

The names below are the public ones; each is imported from its module when it is first used, so
that ``import constraint_first`` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from constraint_first.analysis.statistics.comparison import compare
    from constraint_first.answer import extract, grade, grade_reply
    from constraint_first.benchmark import Benchmark
    from constraint_first.constraint.router import route
    from constraint_first.constraint.spec import ConstraintSpec
    from constraint_first.engine.dispatch import Dispatch
    from constraint_first.engine.drive import drive
    from constraint_first.engine.engine import Decoding
    from constraint_first.engine.local import Local
    from constraint_first.engine.openai import Endpoint, OpenAI
    from constraint_first.engine.progress import SolveProgress
    from constraint_first.engine.resolve import ModelRef
    from constraint_first.engine.scripted import Scripted
    from constraint_first.engine.solve import Solved, asolve, solve
    from constraint_first.engine.transport import Bounds
    from constraint_first.error import CfrError
    from constraint_first.evaluation.evaluate import Evaluated, aevaluate, evaluate
    from constraint_first.evaluation.experiment import Experiment
    from constraint_first.evaluation.progress import EvaluationProgress
    from constraint_first.evaluation.run_options import RunOptions
    from constraint_first.method import Method, make
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

__all__ = [
    "Benchmark",
    "Bounds",
    "Call",
    "CfrError",
    "Completion",
    "ConstraintSpec",
    "Decoding",
    "Dispatch",
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
    "Solved",
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
    "constraint_first.analysis.statistics.comparison": ("compare",),
    "constraint_first.answer": ("extract", "grade", "grade_reply"),
    "constraint_first.benchmark": ("Benchmark",),
    "constraint_first.constraint.router": ("route",),
    "constraint_first.constraint.spec": ("ConstraintSpec",),
    "constraint_first.engine.dispatch": ("Dispatch",),
    "constraint_first.engine.drive": ("drive",),
    "constraint_first.engine.engine": ("Decoding",),
    "constraint_first.engine.local": ("Local",),
    "constraint_first.engine.openai": ("Endpoint", "OpenAI"),
    "constraint_first.engine.progress": ("SolveProgress",),
    "constraint_first.engine.resolve": ("ModelRef",),
    "constraint_first.engine.scripted": ("Scripted",),
    "constraint_first.engine.solve": ("Solved", "asolve", "solve"),
    "constraint_first.engine.transport": ("Bounds",),
    "constraint_first.error": ("CfrError",),
    "constraint_first.evaluation.evaluate": ("Evaluated", "aevaluate", "evaluate"),
    "constraint_first.evaluation.experiment": ("Experiment",),
    "constraint_first.evaluation.progress": ("EvaluationProgress",),
    "constraint_first.evaluation.run_options": ("RunOptions",),
    "constraint_first.method": ("Method", "make"),
    "constraint_first.problem": ("Problem", "Solution"),
    "constraint_first.protocol": (
        *("Call", "Completion", "Output", "Program", "Run", "Steps"),
        *("ask", "execute", "together"),
    ),
}


def __getattr__(name: str) -> object:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(module), name)
    raise AttributeError(f"module 'constraint_first' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
