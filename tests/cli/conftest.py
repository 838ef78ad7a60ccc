"""The command line as a person runs it: a process of its own."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass
class Ran:
    code: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture
def cfr(tmp_path: Path) -> Run:
    def run(*arguments: str, stdin: bytes = b"", **environment: str) -> Ran:
        done = subprocess.run(
            [sys.executable, "-m", "cfr", *arguments],
            input=stdin,
            capture_output=True,
            env=os.environ | {"CFR_CACHE": str(tmp_path / "cache")} | environment,
            cwd=tmp_path,
            timeout=120,
            check=False,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run
