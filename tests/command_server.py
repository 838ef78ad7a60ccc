"""Runs of the command line, each in a process of its own, without starting Python for each.

A server imports what commands import, which takes most of a second, and forks for every command.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

_LONGEST = 2**20
_COMMONLY_IMPORTED = (
    "constraint_first.report.reader",
    "constraint_first.attempt.solve",
    "constraint_first.run.run",
    "constraint_first.run.forecast",
    "constraint_first.store.query",
)


class CommandServer:
    """A server of commands: ``run`` is what ``python -m constraint_first`` would do in a folder."""

    def __init__(self) -> None:
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = [sys.executable, __file__, str(theirs.fileno())]
            self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()])

    def run(
        self, arguments: tuple[str, ...], stdin: bytes, environment: dict[str, str], folder: Path
    ) -> tuple[int, bytes, bytes]:
        """Run a command to its end; return its exit code and all that it wrote."""
        with (
            tempfile.TemporaryFile() as asked,
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
        ):
            asked.write(stdin)
            asked.seek(0)
            order = json.dumps([arguments, environment, str(folder)]).encode()
            files = [one.fileno() for one in (asked, out, err)]
            socket.send_fds(self._ours, [order], files)
            code = int(self._ours.recv(_LONGEST))
            out.seek(0)
            err.seek(0)
            return code, out.read(), err.read()

    def close(self) -> None:
        """End the server."""
        self._ours.close()
        self._process.wait()


def _serve(orders: socket.socket) -> None:
    import constraint_first.cli

    names = [
        f"constraint_first.cli.{one.name}"
        for one in pkgutil.iter_modules(constraint_first.cli.__path__)
    ]
    for name in (*names, *_COMMONLY_IMPORTED):
        importlib.import_module(name)
    while True:
        order, files, _, _ = socket.recv_fds(orders, _LONGEST, 3)
        if not order:
            return
        if (child := os.fork()) == 0:
            orders.close()
            arguments, environment, folder = json.loads(order)
            _become(arguments, environment, folder, files)
        for file in files:
            os.close(file)
        _, status = os.waitpid(child, 0)
        orders.send(str(os.waitstatus_to_exitcode(status)).encode())


def _become(
    arguments: list[str], environment: dict[str, str], folder: str, files: list[int]
) -> None:
    """Be ``python -m constraint_first`` from here on; what ends it ends this process."""
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.stdin, sys.stdout, sys.stderr = (open(n, mode) for n, mode in enumerate("rww"))  # noqa: SIM115, PTH123
    sys.argv = ["cfr", *arguments]
    runpy.run_module("constraint_first", run_name="__main__", alter_sys=True)
    sys.exit()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _serve(socket.socket(fileno=int(sys.argv[1])))
