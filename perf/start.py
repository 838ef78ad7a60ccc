"""CPU seconds from the start of a command to its first request at a model.

python perf/start.py [SRC ...]     (source folders; by default the one beside this file)

A server on loopback reads, when the first request arrives, how much processor time the process
that sent it has used in all its threads (Linux: /proc), and ends it. Source folders take turns,
round by round, so that load on the machine falls on all of them; the least of the rounds is
printed, because load can only add. Each folder runs once before, to write its bytecode, which goes
to a temporary folder: also where Python is told to write none, a start is measured with it.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

ROUNDS = 5
PROBLEM = "What is the remainder when 7^2024 is divided by 10?"
COMMANDS = {
    "eval": "eval constraintbench-mini --limit 2 --runs 1 --concurrency 1 --store runs.db",
    "eval, auto": "eval constraintbench-mini --limit 2 --runs 1 --concurrency 1 --method auto"
    " --store runs.db",
    "solve": "solve",
}


def first_request(source: Path, command: str, bytecode: str) -> float:
    """Run a command of the package in a folder until it asks; return its CPU seconds so far."""
    package = "constraint_first" if (source / "constraint_first").is_dir() else "cfr"
    with socket.create_server(("127.0.0.1", 0)) as server, tempfile.TemporaryDirectory() as folder:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        arguments = [*command.split(), *([PROBLEM] if command == "solve" else [])]
        process = subprocess.Popen(
            [sys.executable, "-m", package, *arguments, "--model", "m", "--base-url", url],
            cwd=folder,
            env={
                **os.environ,
                "PYTHONPATH": str(source),
                "PYTHONPYCACHEPREFIX": bytecode,
                "PYTHONDONTWRITEBYTECODE": "",
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        server.settimeout(60)
        try:
            while True:
                connection, _ = server.accept()
                with connection:
                    head = connection.recv(65_536)
                    if head.startswith(b"POST"):
                        return cpu_seconds(process.pid)
                    connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
        except TimeoutError:
            process.kill()
            raise SystemExit(process.communicate()[1].decode()) from None
        finally:
            process.kill()
            process.communicate()


def cpu_seconds(pid: int) -> float:
    """User and system time of all threads of a process."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def main() -> None:
    beside = Path(__file__).parents[1] / "src"
    sources = [Path(one).resolve() for one in sys.argv[1:]] or [beside]
    with tempfile.TemporaryDirectory() as bytecode:
        for name, command in COMMANDS.items():
            seconds: dict[Path, list[float]] = {source: [] for source in sources}
            for _ in range(ROUNDS + 1):
                for source in sources:
                    seconds[source].append(first_request(source, command, bytecode))
            for source, measured in seconds.items():
                print(f"{name:12}{min(measured[1:]):8.2f} s of CPU to the first request   {source}")


if __name__ == "__main__":
    main()
