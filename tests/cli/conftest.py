"""The command line as a person runs it: a process of its own."""

import io
import os
import pty
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from command_server import CommandServer
from loopback import Endpoint
from sums import reply_right, write_sums


@dataclass
class Ran:
    code: int
    out: str
    err: str


Run = Callable[..., Ran]
CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


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


def on_terminal(endpoint: Endpoint, folder: Path, *arguments: str, columns: int = 40) -> str:
    """Run the command on a terminal and return all that was written there."""
    ours, theirs = pty.openpty()
    size = {"COLUMNS": str(columns), "LINES": "24", "TERM": "xterm"}
    process = subprocess.Popen(
        [sys.executable, "-m", "constraint_first", *arguments, "--base-url", endpoint.url],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        cwd=folder,
        env=os.environ | size | {"CFR_CACHE": str(folder)},
    )
    os.close(theirs)
    shown = bytearray()
    try:
        while piece := os.read(ours, 4_096):
            shown += piece
    except OSError:  # the terminal is gone with whoever wrote to it
        pass
    finally:
        os.close(ours)
    assert process.wait(60) == 0, shown.decode()
    return CODES.sub("", shown.decode()).replace("\r", "")


def played(cfr: Run, commands: str, folder: Path) -> str:
    """Run commands, one a line; return all that was typed and said. ``cat`` shows a file."""
    shown: list[str] = []
    for line in commands.splitlines():
        command, *words = shlex.split(line)
        if command == "cat":
            shown.append(f"$ {line}\n{(folder / words[0]).read_text(encoding='utf-8')}")
        else:
            ran = cfr(command, *words)
            said = f"{ran.out}{ran.err}" + f"[exit code {ran.code}]\n" * bool(ran.code)
            shown.append(f"$ cfr {line}\n{said}")
    return re.sub(r'("seconds": )[\d.e-]+', r"\1…", "\n".join(shown))


@pytest.fixture(scope="session")
def commands() -> Iterator[CommandServer]:
    server = CommandServer()
    yield server
    server.close()


@pytest.fixture
def cfr(tmp_path: Path, commands: CommandServer) -> Run:
    def run(*arguments: str | Path, stdin: bytes = b"", **environment: str) -> Ran:
        own = dict(os.environ | {"CFR_CACHE": str(tmp_path / "cache")} | environment)
        code, out, err = commands.run(tuple(map(str, arguments)), stdin, own, tmp_path)
        return Ran(code, out.decode(), err.decode())

    return run


@pytest.fixture
def program_cache(tmp_path: Path, snapshots: Path) -> None:
    """Give ``cfr`` the snapshot that all tests share; its cache folder is a new one."""
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / snapshots.name).symlink_to(snapshots)


@pytest.fixture
def served(endpoint: Endpoint, tmp_path: Path) -> Endpoint:
    """An endpoint that adds correctly (11 tokens in, 7 out), and a file of six sums."""
    endpoint.respond = reply_right
    write_sums(tmp_path / "sums.jsonl", 6)
    return endpoint


@pytest.fixture
def priced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A reply of the endpoint costs 11 + 2 * 7 = 25 millionths of a dollar."""
    path = tmp_path / "models.toml"
    path.write_text("[m]\nprice = { input = 1.0, cached = 0.5, output = 2.0 }\n")
    monkeypatch.setenv("CFR_MODELS", str(path))
    return path
