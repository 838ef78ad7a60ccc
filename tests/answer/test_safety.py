"""No model text ever reaches what could run it as code."""

import ast
import builtins
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import constraint_first.answer
from constraint_first.answer.extract import extract
from constraint_first.answer.grade import decide
from constraint_first.answer.symbolic import judge
from constraint_first.answer.value import interpret

from .collection import grade_cases, read_cases

SOURCES = sorted(Path(constraint_first.answer.__file__).parent.rglob("*.py"))
WORKERS = ["constraint_first.answer.symbolic"]
"""What runs in a worker process alone."""
FORBIDDEN = {
    "eval",
    "exec",
    "compile",
    "__import__",
    "sympify",
    "parse_expr",
    "lambdify",
    "literal_eval",
}


def refuse(name: str) -> Callable[..., Any]:
    def call(*_: object, **__: object) -> Any:
        raise AssertionError(f"{name} was called")

    return call


@pytest.mark.long
def test_the_collection_is_graded_with_every_evaluator_refusing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sympy = pytest.importorskip("sympy")
    parser = pytest.importorskip("sympy.parsing.sympy_parser")
    interpret.cache_clear()
    cases = [case for case in grade_cases() if case.tag != "completion"]
    replies = read_cases()
    judge("x", "2x")  # imports are done before the doors close
    for name in ("eval", "exec", "compile"):
        monkeypatch.setattr(builtins, name, refuse(name))
    for module, name in ((sympy, "sympify"), (sympy, "parse_expr"), (parser, "parse_expr")):
        monkeypatch.setattr(module, name, refuse(name))
    wrong: list[str] = []
    for case in cases:
        ruling = decide(case.pred, case.gold)
        if ruling.same is None:
            ruling = judge(case.pred, case.gold)
        if ruling.same is not (case.verdict == "correct"):
            wrong.append(case.pred)
    read = [reply for reply in replies if extract(reply.text).answer != reply.answer]
    monkeypatch.undo()
    assert (wrong, read) == ([], [])


def test_a_worker_imports_no_library_that_could_run_text() -> None:
    script = (
        "import sys\nfrom constraint_first.answer.symbolic import judge\n"
        "assert judge('2x', 'x+x').same\n"
        "print(sorted({'sympy', 'latex2sympy2_extended', 'math_verify'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stdout.decode().strip() == "[]"


def test_only_a_worker_imports_the_library_of_many_digits() -> None:
    script = (
        "import importlib, pkgutil, sys, constraint_first\n"
        "from constraint_first.answer import grade\n"
        "for module in pkgutil.walk_packages(constraint_first.__path__, 'constraint_first.'):\n"
        "    optional = ('constraint_first.adapter.', 'constraint_first.sandbox.cpython')\n"
        "    skipped = module.name.startswith(optional) or module.name.endswith('__main__')\n"
        "    if module.name not in {workers} and not skipped:\n"
        "        importlib.import_module(module.name)\n"
        "from constraint_first.report.exhibit.marks import Demands, mistake\n"
        "assert grade('2x', 'x+x').correct\n"
        "assert mistake('2+e', Demands.of_text('Find x.', '3')) == 'not_an_integer'\n"
        "print('mpmath' in sys.modules)"
    ).replace("{workers}", repr(WORKERS))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stdout.decode().strip() == "False"


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_the_source_calls_none_of_them(source: Path) -> None:
    tree = ast.parse(source.read_text(encoding="utf-8"))
    called = {
        node.func.id if isinstance(node.func, ast.Name) else node.func.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute)
    }
    # re.compile is not the builtin.
    assert called & (FORBIDDEN - {"compile"}) == set()
