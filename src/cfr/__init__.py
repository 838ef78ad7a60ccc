"""Constraint-First: make language models respect what a problem demands of its answer.

The names below are the public ones; each is imported from its module when it is first used, so
that ``import cfr`` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cfr.analysis.statistics.comparison import compare
    from cfr.answer import extract, grade, grade_reply
    from cfr.benchmark import Benchmark
    from cfr.constraint.router import route
    from cfr.constraint.spec import ConstraintSpec
    from cfr.engine.dispatch import Dispatch
    from cfr.engine.drive import drive
    from cfr.engine.engine import Decoding
    from cfr.engine.local import Local
    from cfr.engine.openai import Endpoint, OpenAI
    from cfr.engine.progress import SolveProgress
    from cfr.engine.resolve import ModelRef
    from cfr.engine.scripted import Scripted
    from cfr.engine.solve import Solved, asolve, solve
    from cfr.engine.transport import Bounds
    from cfr.error import CfrError
    from cfr.evaluation.evaluate import Evaluated, aevaluate, evaluate
    from cfr.evaluation.experiment import Experiment
    from cfr.evaluation.progress import EvaluationProgress
    from cfr.evaluation.run_options import RunOptions
    from cfr.method import Method, make
    from cfr.problem import Problem, Solution
    from cfr.protocol import (
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
    "cfr.analysis.statistics.comparison": ("compare",),
    "cfr.answer": ("extract", "grade", "grade_reply"),
    "cfr.benchmark": ("Benchmark",),
    "cfr.constraint.router": ("route",),
    "cfr.constraint.spec": ("ConstraintSpec",),
    "cfr.engine.dispatch": ("Dispatch",),
    "cfr.engine.drive": ("drive",),
    "cfr.engine.engine": ("Decoding",),
    "cfr.engine.local": ("Local",),
    "cfr.engine.openai": ("Endpoint", "OpenAI"),
    "cfr.engine.progress": ("SolveProgress",),
    "cfr.engine.resolve": ("ModelRef",),
    "cfr.engine.scripted": ("Scripted",),
    "cfr.engine.solve": ("Solved", "asolve", "solve"),
    "cfr.engine.transport": ("Bounds",),
    "cfr.error": ("CfrError",),
    "cfr.evaluation.evaluate": ("Evaluated", "aevaluate", "evaluate"),
    "cfr.evaluation.experiment": ("Experiment",),
    "cfr.evaluation.progress": ("EvaluationProgress",),
    "cfr.evaluation.run_options": ("RunOptions",),
    "cfr.method": ("Method", "make"),
    "cfr.problem": ("Problem", "Solution"),
    "cfr.protocol": (
        *("Call", "Completion", "Output", "Program", "Run", "Steps"),
        *("ask", "execute", "together"),
    ),
}


def __getattr__(name: str) -> object:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(module), name)
    raise AttributeError(f"module 'cfr' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
