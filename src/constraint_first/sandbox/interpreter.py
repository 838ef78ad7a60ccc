"""The interpreter that programs run in here, by the metadata of the installed packages alone."""

from __future__ import annotations

from importlib.metadata import version
from importlib.util import find_spec
from typing import Final, Literal, TypeAlias

from constraint_first.model.error import EngineError

Interpreter: TypeAlias = Literal["cpython", "monty"]

# The packages of the interpreters, the preferred one first.
_PACKAGES: Final[dict[Interpreter, str]] = {"cpython": "eryx", "monty": "pydantic_monty"}

PYTHON: Final = "3.14"
"""The version of CPython inside the releases of pyeryx that pyproject.toml admits."""


class SandboxMissing(EngineError):
    """The interpreter for programs is not installed, or does not start."""

    exit_code = 2
    ends = "series"


def installed() -> Interpreter:
    if found := _find():
        return found
    raise SandboxMissing(
        "programs need pyeryx (from Python 3.12 on) or pydantic-monty: "
        "pip install 'constraint-first[programs]'"
    )


def _find() -> Interpreter | None:
    return next((one for one, package in _PACKAGES.items() if find_spec(package)), None)


def interpreter() -> str:
    """Name the interpreter with the versions that a program's output may depend on."""
    if installed() == "monty":
        return f"pydantic-monty {version('pydantic-monty')}"
    sympy = f"sympy {version('sympy')}" if find_spec("sympy") else "no sympy"
    return f"eryx {version('pyeryx')} (Python {PYTHON}, {sympy})"


def shortfall() -> str:
    """Say in one line what programs lack in this interpreter; empty if nothing."""
    return "programs run without sympy; Python 3.12 or newer has it" if _find() == "monty" else ""
