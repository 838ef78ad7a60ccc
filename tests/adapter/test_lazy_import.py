"""Importing ``constraint_first`` imports none of the tools that it has adapters for."""

import subprocess
import sys

import pytest

TOOLS = {"inspect_ai", "llm", "mcp", "dspy", "litellm", "lm_eval", "datasets", "ray", "rich"}


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "imported",
    [
        "constraint_first",
        "constraint_first.adapter",
        "constraint_first.cli",
        "constraint_first.serve.server",
    ],
)
def test_no_tool_is_imported(imported: str) -> None:
    code = f"import sys, constraint_first as cf, {imported}; [getattr(cf, n) for n in cf.__all__]; "
    ran = python(f"{code} print(*({TOOLS} & sys.modules.keys()))")
    assert (ran.stdout.strip(), ran.stderr) == ("", "")


def test_without_dspy_its_module_says_what_to_install() -> None:
    ran = python(
        "import sys; sys.modules['dspy'] = None; import constraint_first.adapter.dspy_module"
    )
    assert ran.returncode == 1
    assert ran.stderr.splitlines()[-1] == (
        "ImportError: constraint_first.adapter.dspy_module needs DSPy from 3.4 on (import of dspy "
        "halted; None in sys.modules): pip install 'constraint-first[dspy]'"
    )
