import re
from importlib.util import find_spec

import pytest

from constraint_first.protocol import Program
from constraint_first.sandbox import interpreter as module
from constraint_first.sandbox.interpreter import PYTHON, interpreter, shortfall
from constraint_first.sandbox.sandbox import Sandbox


def have(monkeypatch: pytest.MonkeyPatch, *packages: str) -> None:
    monkeypatch.setattr(module, "find_spec", dict.fromkeys(packages, True).get)
    versions = {"pyeryx": "0.11.0", "sympy": "1.14.0", "pydantic-monty": "1.4.0"}
    monkeypatch.setattr(module, "version", versions.__getitem__)


@pytest.mark.parametrize(
    ("packages", "name"),
    [
        (("eryx", "sympy", "pydantic_monty"), f"eryx 0.11.0 (Python {PYTHON}, sympy 1.14.0)"),
        (("eryx",), f"eryx 0.11.0 (Python {PYTHON}, no sympy)"),
    ],
)
def test_the_interpreter_is_named_with_what_an_output_may_depend_on(
    monkeypatch: pytest.MonkeyPatch, packages: tuple[str, ...], name: str
) -> None:
    have(monkeypatch, *packages)
    assert (interpreter(), shortfall()) == (name, "")


def test_the_lack_of_sympy_is_said_where_programs_run(monkeypatch: pytest.MonkeyPatch) -> None:
    have(monkeypatch, "pydantic_monty")
    assert interpreter() == "pydantic-monty 1.4.0"
    assert shortfall() == "programs run without sympy; Python 3.12 or newer has it"
    have(monkeypatch)
    assert shortfall() == ""


@pytest.mark.skipif(not find_spec("eryx"), reason="pyeryx is not here")
def test_a_program_finds_the_versions_that_the_name_has() -> None:
    source = "import sys, sympy\nprint(*sys.version_info[:2], sep='.')\nprint(sympy.__version__)"
    with Sandbox(count=1) as sandbox:
        python, sympy = sandbox.run_now(Program(source)).text.split()
    assert re.search(rf"\(Python {python}, sympy {sympy}\)$", interpreter())
