"""The command line as a person runs it: a process of its own."""

import io
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


class Terminal(io.StringIO):
    """A screen that keeps all that was written on it."""

    def isatty(self) -> bool:
        return True


def open_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Put a terminal in the place of standard error, for what runs in the test's own process.

    It is no fixture: pytest captures standard error anew when the test itself begins.
    """
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    return screen


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
