"""The interpreter that programs run in here, by the metadata of the installed packages alone."""

from __future__ import annotations

from importlib.metadata import version
from importlib.util import find_spec
from typing import Final

from constraint_first.model.error import EngineError
from constraint_first.sandbox.snapshot import has_sympy

PYTHON: Final = "3.14"
"""The version of CPython inside the releases of pyeryx that pyproject.toml admits."""


class SandboxMissing(EngineError):
    """The interpreter for programs is not installed, or does not start."""

    exit_code = 2
    ends = "series"


def has_cpython() -> bool:
    return find_spec("eryx") is not None


def interpreter() -> str:
    """Name the interpreter with the versions that a program's output may depend on."""
    if has_cpython():
        sympy = f"sympy {version('sympy')}" if has_sympy() else "no sympy"
        return f"eryx {version('pyeryx')} (Python {PYTHON}, {sympy})"
    if find_spec("pydantic_monty"):
        return f"pydantic-monty {version('pydantic-monty')}"
    raise SandboxMissing(
        "programs need pyeryx (from Python 3.12 on) or pydantic-monty: "
        "pip install 'constraint-first[programs]'"
    )
