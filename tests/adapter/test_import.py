"""Importing cfr imports none of the tools that it has adapters for."""

import subprocess
import sys

TOOLS = {"inspect_ai", "pydantic", "rich"}


def test_importing_cfr_imports_no_tool() -> None:
    code = (
        "import sys, cfr, cfr.adapter; [getattr(cfr, name) for name in cfr.__all__]; "
        f"print(sorted({TOOLS!r} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
