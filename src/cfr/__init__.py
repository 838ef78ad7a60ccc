"""Constraint-First: make language models respect what a problem demands of its answer.

The names below are the public ones; each is imported from its module when it is first used, so
that ``import cfr`` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cfr.answer import extract, grade
    from cfr.constraint.router import route
    from cfr.constraint.spec import ConstraintSpec
    from cfr.engine.drive import drive
    from cfr.engine.engine import Decoding
    from cfr.engine.scripted import Scripted
    from cfr.engine.solve import solve
    from cfr.method import Method, make
    from cfr.problem import Problem, Solution
    from cfr.protocol import Call, Completion, Run, Steps, ask, together

__all__ = [
    "Call",
    "Completion",
    "ConstraintSpec",
    "Decoding",
    "Method",
    "Problem",
    "Run",
    "Scripted",
    "Solution",
    "Steps",
    "ask",
    "drive",
    "extract",
    "grade",
    "make",
    "route",
    "solve",
    "together",
]

_HOMES = {
    "cfr.answer": ("extract", "grade"),
    "cfr.constraint.router": ("route",),
    "cfr.constraint.spec": ("ConstraintSpec",),
    "cfr.engine.drive": ("drive",),
    "cfr.engine.engine": ("Decoding",),
    "cfr.engine.scripted": ("Scripted",),
    "cfr.engine.solve": ("solve",),
    "cfr.method": ("Method", "make"),
    "cfr.problem": ("Problem", "Solution"),
    "cfr.protocol": ("Call", "Completion", "Run", "Steps", "ask", "together"),
}


def __getattr__(name: str) -> object:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(module), name)
    raise AttributeError(f"module 'cfr' has no attribute {name!r}")
