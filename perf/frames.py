"""Our frames on the way from a command to its HTTP request.

python perf/frames.py [SRC]     (a source folder; by default the one beside this file)

`cfr eval` and `cfr serve` run in a process of their own against a server on loopback. When aiohttp
is asked for a connection for the first request at the model, the frames of the package that lead
there are counted: those on the stack, from the command line down, and, since a task of asyncio
starts a stack of its own, those that were on the stack when the task was created, and so on for the
task that created it.
A frame counts once. Frames of libraries do not count, nor do those of comprehensions, which later
versions of Python do without.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Coroutine
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import FrameType
from typing import Any, TypeAlias

REPLY = {
    "choices": [{"message": {"content": "It is \\boxed{4}."}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 40, "completion_tokens": 8},
}
QUESTION = {"messages": [{"role": "user", "content": "What is the remainder of 7^20 modulo 10?"}]}
Frame: TypeAlias = tuple[int, str, str]
"""Which frame it is, its file inside the package, its function."""


def frames_of(frame: FrameType | None, package: Path) -> list[Frame]:
    """List the package's frames on a stack, the outermost first."""
    found: list[Frame] = []
    while frame:
        code, path = frame.f_code, Path(frame.f_code.co_filename)
        if path.is_relative_to(package) and not code.co_name.endswith(("comp>", "expr>")):
            found.append((id(frame), path.relative_to(package).as_posix(), code.co_qualname))
        frame = frame.f_back
    return found[::-1]


def child(package: str, found: str, arguments: list[str]) -> None:
    """Run a command; write the frames above its first request to a file."""
    import aiohttp

    folder = Path(importlib.import_module(package).__path__[0])
    created: dict[asyncio.Task[Any], list[Frame]] = {}
    kept: list[FrameType | None] = []  # so that no two frames have the same identity
    original: Any = aiohttp.BaseConnector.connect
    create = asyncio.BaseEventLoop.create_task

    def creating(
        self: asyncio.BaseEventLoop, coro: Coroutine[Any, Any, Any], **options: Any
    ) -> asyncio.Task[Any]:
        task = create(self, coro, **options)
        frame = sys._getframe(1)
        kept.append(frame)
        created[task] = above(frame)
        return task

    def above(frame: FrameType | None) -> list[Frame]:
        now = frames_of(frame, folder)
        with suppress(RuntimeError):  # no loop is running yet
            if task := asyncio.current_task():
                return [*dict.fromkeys((*created.get(task, ()), *now))]
        return now

    async def connecting(
        self: Any, request: aiohttp.ClientRequest, *options: Any, **more: Any
    ) -> Any:
        if request.method == "POST" and not Path(found).exists():
            Path(found).write_text(json.dumps(above(sys._getframe(1))))
        return await original(self, request, *options, **more)

    aiohttp.BaseConnector.connect = connecting
    asyncio.BaseEventLoop.create_task = creating  # pyright: ignore[reportAttributeAccessIssue]
    sys.argv = ["cfr", *arguments]
    importlib.import_module(f"{package}.cli").main()


class Model(BaseHTTPRequestHandler):
    """Gives the same reply to each request."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        body = json.dumps(REPLY).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def count(source: Path, command: str, url: str) -> None:
    package = "constraint_first" if (source / "constraint_first").is_dir() else "cfr"
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
        free.close()
        arguments = {
            "eval": "eval constraintbench-mini --limit 1 --runs 1 --method direct --store r.db",
            "serve": f"serve --port {port}",
        }[command].split()
        model = ("--model", "m", "--base-url", url)
        file = Path(folder, "frames.json")
        process = subprocess.Popen(
            [sys.executable, __file__, "child", package, str(file), *arguments, *model],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(source)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        until = time.monotonic() + 60
        while not file.exists() or not file.read_text():
            if time.monotonic() > until or process.poll():
                process.kill()
                raise SystemExit(process.communicate()[1].decode())
            time.sleep(0.2)
            if command == "serve":
                _ask(f"http://127.0.0.1:{port}/v1")
        process.kill()
        process.communicate()
        frames: list[Frame] = json.loads(file.read_text())
    files = {path for _, path, _ in frames}
    print(f"\ncfr {command}: {len(frames)} frames in {len(files)} files   {source}")
    for _, path, name in frames:
        print(f"    {path:32} {name}")


def _ask(url: str) -> None:
    body = json.dumps({"model": "cfr@m", **QUESTION}).encode()
    headers = {"Content-Type": "application/json"}
    with suppress(OSError):  # it does not listen yet
        asking = urllib.request.Request(f"{url}/chat/completions", body, headers)  # noqa: S310
        urllib.request.urlopen(asking, timeout=20).read()  # noqa: S310


def main() -> None:
    if sys.argv[1:2] == ["child"]:
        child(sys.argv[2], sys.argv[3], sys.argv[4:])
        return
    sources = [Path(one).resolve() for one in sys.argv[1:]] or [Path(__file__).parents[1] / "src"]
    with ThreadingHTTPServer(("127.0.0.1", 0), Model) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for source in sources:
            for command in ("eval", "serve"):
                count(source, command, f"http://127.0.0.1:{server.server_port}/v1")
        server.shutdown()


if __name__ == "__main__":
    main()
