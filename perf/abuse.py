"""``cfr serve`` under mixed abuse: what a polite client, /health and memory see of it.

python perf/abuse.py [--minutes 2] [--baseline 20]

A real ``cfr serve`` stands in front of a small endpoint. The abusers and the endpoint run at low
priority, so that what is measured is the server. Everything is on loopback and bounded in number:
each kind of abuse is repeated at a fixed pace by one task. Beside them one polite client asks again
and again, and /health is asked every 100 ms. The first ``--baseline`` seconds are without abuse;
the table compares the same client before and during it.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import multiprocessing
import os
import random
import re
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

PROCESSES = multiprocessing.get_context("spawn")
TOKEN = "polite"  # noqa: S105
HEALTH_EVERY = 0.1
POLITE_EVERY = 0.5
MEMORY_EVERY = 5.0
TEXTS = (
    "\n" * 20_000,
    " \n" * 10_000,
    "a " * 20_000,
    '"a" ' * 5_000,
    "(" * 50_000,
    "{" * 50_000,
    "," * 50_000,
    "1" * 50_000,
    "- a\n" * 10_000,
    "\u2003" * 20_000,
    "$x$ " * 10_000,
    "Use exactly 3 words. " * 1_000,
    "\\boxed{" * 5_000,
)
METHODS = (
    "self-refine(iterations=999999999)@",
    "self-refine(iterations=120)@",
    "self-consistency(base=self-consistency(samples=31),samples=31)@",
    "until-agreed(base=self-refine(iterations=9999),most=97)@",
    "sound(base=self-refine(iterations=99),most=99)@",
    "prove(base=prove(samples=9),samples=9)@",
    "extended(tokens=999999999,rounds=99999)@",
    "calibrated(policy=/etc/passwd)@",
    "direct(" * 60 + "@",
)
WRONG: tuple[dict[str, Any], ...] = (
    {"modalities": 5},
    {"messages": [{"role": ["user"], "content": "x"}]},
    {"messages": 5},
    {"stop": {"a": 1}},
    {"n": 10**30},
    {"temperature": "hot"},
    {"model": 5},
    {"response_format": [1]},
    {"metadata": {"a": 2**70}},
)


# The endpoint: a small server that answers each call at once, or as a stream.


def endpoint(told: Connection) -> None:
    os.setpriority(os.PRIO_PROCESS, 0, 10)
    reply = {
        "choices": [
            {"index": 0, "message": {"content": "It is \\boxed{4}."}, "finish_reason": "stop"}
        ],
        "usage": {"prompt_tokens": 40, "completion_tokens": 8},
    }
    body = json.dumps(reply).encode()
    whole = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    whole = whole % len(body) + body
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            while True:
                asked = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = re.search(rb"content-length: (\d+)", asked)
                sent = await reader.readexactly(int(length[1]) if length else 0)
                if b'"stream":true' not in sent:
                    writer.write(whole)
                    await writer.drain()
                    continue
                writer.write(head)
                count = 2_000 if b"never-reads" in sent else 20
                for number in range(count):
                    text = "word " * (100 if count > 20 else 1)
                    event = {"choices": [{"index": 0, "delta": {"content": f"{text}{number} "}}]}
                    writer.write(b"data: " + json.dumps(event).encode() + b"\n\n")
                    await writer.drain()
                    await asyncio.sleep(0.001)
                last = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
                writer.write(b"data: " + json.dumps(last).encode() + b"\n\ndata: [DONE]\n\n")
                await writer.drain()
                break
        writer.close()

    async def forever() -> None:
        server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=1_024, limit=2**26)
        told.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(forever())


# The abusers.


def post(
    body: bytes, *headers: str, token: str = TOKEN, path: str = "/v1/chat/completions"
) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {token}"]
    lines += headers or [f"Content-Length: {len(body)}", "Content-Type: application/json"]
    return "\r\n".join((*lines, "", "")).encode() + body


def chat(model: str = "auto@", text: str = "What is 2 + 2?", **more: Any) -> bytes:
    asked = {"model": model, "messages": [{"role": "user", "content": text}], **more}
    return post(json.dumps(asked).encode())


def page(text: str) -> bytes:
    """Send a text to the page that says what it demands."""
    body = urlencode({"problem": text[:50_000]}).encode()
    kind = "Content-Type: application/x-www-form-urlencoded"
    return post(body, kind, f"Content-Length: {len(body)}", path="/playground/problem")


async def send(port: int, data: bytes, *, reads: bool = True, holds: float = 0.0) -> str:
    """Send bytes on a connection of their own; the status that came, if any."""
    status = "closed"
    with suppress(OSError, TimeoutError, asyncio.IncompleteReadError):
        async with asyncio.timeout(60 + holds):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                writer.write(data)
                await writer.drain()
                await asyncio.sleep(holds)
                if reads:
                    status = (await reader.read(12)).decode("latin-1")[-3:] or "closed"
                    while await reader.read(2**16):
                        if b"event-stream" not in data:
                            break
            finally:
                writer.transport.abort()
    return status


@dataclass
class Abuse:
    """One kind: what is done, and how many seconds lie between two times."""

    name: str
    every: float
    act: Callable[[random.Random], Awaitable[str]]


async def flood(port: int, data: bytes, count: int, holds: float) -> str:
    found = Counter(
        await asyncio.gather(*(send(port, data, holds=holds, reads=False) for _ in range(count)))
    )
    return max(found, key=lambda one: found[one])


async def drip(port: int, data: bytes, pause: float, count: int) -> str:
    """Send a byte now and then."""
    with suppress(OSError):
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        for at in range(min(count, len(data))):
            writer.write(data[at : at + 1])
            await writer.drain()
            await asyncio.sleep(pause)
        writer.transport.abort()
    return "dripped"


async def never_read(port: int) -> str:
    import socket

    with suppress(OSError):
        taken = socket.socket()
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        taken.setblocking(False)
        await asyncio.get_running_loop().sock_connect(taken, ("127.0.0.1", port))
        await asyncio.get_running_loop().sock_sendall(
            taken, chat("direct@", "never-reads", stream=True)
        )
        await asyncio.sleep(45)
        taken.close()
    return "unread"


def kinds(port: int) -> list[Abuse]:
    big = b'{"model":"auto@","messages":[' + b"{}," * 6_000_000 + b"{}]}"
    deep = (
        b'{"model":"auto@","messages":[{"role":"user","content":"x"}],"a":'
        + b"[" * 900
        + b"]" * 900
    )
    bomb = gzip.compress(b'{"messages":"' + b"x" * 50_000_000 + b'"}')
    zipped = ("Content-Encoding: gzip", f"Content-Length: {len(bomb)}")
    chunked = ("Transfer-Encoding: chunked", "Content-Type: application/json")
    forged = "GET /%0A12:00:00%20200%20GET%20/admin%1b[31m HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    half = b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
    upgrade = ("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13")
    pipelined = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 500

    def text(dice: random.Random) -> bytes:
        return chat(dice.choice(("auto@", "sound@", "checked@")), f"Hi. {dice.choice(TEXTS)} Go!")

    return [
        Abuse("half-open connections, 300 at once", 5, lambda _: flood(port, half, 300, 4)),
        Abuse("silent connections, 300 at once", 7, lambda _: flood(port, b"", 300, 6)),
        Abuse("heads, a byte at a time", 1, lambda _: drip(port, half + b"a" * 200, 0.5, 40)),
        Abuse("bodies, a byte at a time", 1, lambda _: drip(port, chat(), 0.02, 300)),
        Abuse("bodies that never end", 2, lambda _: send(port, chat()[:-5], holds=20)),
        Abuse("18 MB of {}", 4, lambda _: send(port, post(big))),
        Abuse("18 MB of {}, four at once", 30, lambda _: flood(port, post(big), 4, 2)),
        Abuse("25 MB", 10, lambda _: send(port, post(b"x" * 25_000_000))),
        Abuse("a gzip bomb", 3, lambda _: send(port, post(bomb, *zipped))),
        Abuse("900 levels of nesting", 0.5, lambda _: send(port, post(deep + b"}"))),
        Abuse("fields of wrong types", 0.1, lambda d: send(port, chat(**d.choice(WRONG)))),
        Abuse("hostile texts", 1, lambda d: send(port, text(d))),
        Abuse("methods without end", 0.3, lambda d: send(port, chat(d.choice(METHODS)))),
        Abuse("streams that nobody reads", 3, lambda _: never_read(port)),
        Abuse("streams that are left", 0.3, lambda _: send(
            port, chat("direct@", stream=True), reads=False, holds=0.05)),
        Abuse("forged lines for the log", 0.2, lambda _: send(port, forged.encode())),
        Abuse("forged names of models", 0.2, lambda _: send(
            port, chat("m\n12:00:00 200 GET /\x1b[31m\u2028x"))),
        Abuse("no HTTP", 0.2, lambda d: send(port, d.randbytes(2_000))),
        Abuse("wrong tokens", 0.1, lambda _: send(port, post(b"{}", token="x"))),
        Abuse("pipelined requests, 500", 3, lambda _: send(port, pipelined, holds=0.5)),
        Abuse("upgrades to WebSocket", 1, lambda _: send(port, post(b"", *upgrade))),
        Abuse("chunks, one byte each", 2, lambda _: drip(
            port, post(b"1\r\na\r\n" * 200, *chunked), 0.01, 1_000)),
        Abuse("pages", 0.5, lambda d: send(port, page(d.choice(TEXTS)))),
    ]  # fmt: skip


def _outcome(task: asyncio.Task[str]) -> str:
    if task.cancelled():
        return "under way at the end"
    return type(error).__name__ if (error := task.exception()) else task.result()


def abusers(port: int, seconds: float, told: Connection) -> None:
    os.setpriority(os.PRIO_PROCESS, 0, 10)
    counted: dict[str, Counter[str]] = {}

    async def repeat(kind: Abuse, ends: float) -> None:
        dice = random.Random(kind.name)  # noqa: S311
        found = counted.setdefault(kind.name, Counter())
        under_way: set[asyncio.Task[str]] = set()
        while time.monotonic() < ends:
            if len(under_way) < 64:
                task = asyncio.ensure_future(kind.act(dice))
                under_way.add(task)
                task.add_done_callback(under_way.discard)
                task.add_done_callback(lambda one: found.update([_outcome(one)]))
            await asyncio.sleep(kind.every)
        for task in under_way:
            task.cancel()

    async def run() -> None:
        ends = time.monotonic() + seconds
        await asyncio.gather(*(repeat(kind, ends) for kind in kinds(port)))

    _raise_limit()
    asyncio.run(run())
    told.send({name: dict(found) for name, found in counted.items()})


# The measurement.


@dataclass
class Seen:
    """What was seen while something went on."""

    health: list[float] = field(default_factory=list)
    own: list[float] = field(default_factory=list)
    """Of the same, what is left when the waits of both processes for a processor are taken off."""
    polite: list[float] = field(default_factory=list)
    streamed: list[float] = field(default_factory=list)
    failed: Counter[str] = field(default_factory=Counter)
    memory: list[float] = field(default_factory=list)
    files: list[int] = field(default_factory=list)
    load: list[float] = field(default_factory=list)


async def ask(port: int, data: bytes) -> tuple[str, float]:
    began = time.perf_counter()
    try:
        async with asyncio.timeout(30):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(data)
            status = (await reader.read(12)).decode("latin-1")[-3:]
            rest = b""
            while piece := await reader.read(2**16):
                rest += piece
            writer.close()
    except (OSError, TimeoutError) as error:
        return type(error).__name__, time.perf_counter() - began
    if status == "200" and b"cfr" not in rest and b"status" not in rest:
        status = "cut"
    return status, time.perf_counter() - began


def closing(data: bytes) -> bytes:
    return data.replace(b"Host: ", b"Connection: close\r\nHost: ", 1)


HEALTH = closing(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
LONG = "A farmer has 12 rows of 8 trees each. " * 15 + "How many trees are there?"
POLITE = (
    closing(chat("auto@")),
    closing(chat("direct@", stream=True)),
    closing(chat("routed-cfr@", LONG)),
    closing(chat("auto@", "Write about tea. Use exactly 3 words.")),
)


async def watch(port: int, pid: int, seconds: float, told: Callable[[Seen], None]) -> Seen:
    seen = Seen()
    ends = time.monotonic() + seconds

    async def health() -> None:
        while time.monotonic() < ends:
            waited = queued(pid) + queued(os.getpid())
            status, took = await ask(port, HEALTH)
            waited = queued(pid) + queued(os.getpid()) - waited
            seen.health.append(took)
            seen.own.append(max(0.0, took - waited))
            if status != "200":
                seen.failed[f"/health {status}"] += 1
            await asyncio.sleep(max(0.0, HEALTH_EVERY - took))

    async def polite() -> None:
        number = 0
        while time.monotonic() < ends:
            which = number % len(POLITE)
            status, took = await ask(port, POLITE[which])
            (seen.streamed if which == 1 else seen.polite).append(took)
            if status != "200":
                seen.failed[f"polite {status}"] += 1
            number += 1
            await asyncio.sleep(max(0.0, POLITE_EVERY - took))

    async def memory() -> None:
        while time.monotonic() < ends:
            seen.memory.append(resident(pid))
            seen.files.append(len(list(Path(f"/proc/{pid}/fd").iterdir())))
            seen.load.append(os.getloadavg()[0])
            told(seen)
            await asyncio.sleep(MEMORY_EVERY)

    await asyncio.gather(health(), polite(), memory())
    return seen


def queued(pid: int) -> float:
    """Seconds that the main thread of a process has waited for a processor."""
    return int(Path(f"/proc/{pid}/task/{pid}/schedstat").read_text().split()[1]) / 1e9


def resident(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def at(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] * 1_000


def table(before: Seen, during: Seen) -> None:
    print(f"\n{'':34}{'without':>12}{'with abuse':>12}{'ratio':>8}")
    for name, one, two in (
        ("/health", before.health, during.health),
        ("/health less waits", before.own, during.own),
        ("polite, whole", before.polite, during.polite),
        ("polite, streamed", before.streamed, during.streamed),
    ):
        if not one or not two:
            continue
        print(f"{name + ', n':34}{len(one):12,}{len(two):12,}")
        for label, share in (("p50 ms", 0.5), ("p99 ms", 0.99), ("most ms", 1.0)):
            was, now = at(one, share), at(two, share)
            print(f"{name + ', ' + label:34}{was:12.1f}{now:12.1f}{now / was:8.1f}")
        late = sum(took > 0.1 for took in two)
        print(f"{name + ', over 100 ms':34}{sum(took > 0.1 for took in one):12,}{late:12,}")
    fifth = max(1, len(during.memory) // 5)
    first, last = statistics.mean(during.memory[:fifth]), statistics.mean(during.memory[-fifth:])
    print(f"{'memory, MB, most':34}{max(before.memory):12.0f}{max(during.memory):12.0f}")
    print(f"{'memory, first and last fifth, MB':34}{first:12.0f}{last:12.0f}{last / first:8.2f}")
    print(f"{'open files, most':34}{max(before.files):12,}{max(during.files):12,}")
    loads = statistics.mean(before.load), statistics.mean(during.load)
    print(f"{'load of the machine, mean':34}{loads[0]:12.1f}{loads[1]:12.1f}")
    print(f"failed without abuse: {dict(before.failed) or 'none'}")
    print(f"failed with abuse:    {dict(during.failed) or 'none'}", flush=True)


def _raise_limit() -> None:
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 65_536), most))


def main() -> None:
    parser = argparse.ArgumentParser(description="cfr serve under mixed abuse")
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--baseline", type=float, default=20.0, help="seconds without abuse")
    parser.add_argument("--nice", type=int, default=-10, help="priority of server and clients")
    given = parser.parse_args()
    _raise_limit()
    receiving, sending = PROCESSES.Pipe()
    upstream = PROCESSES.Process(target=endpoint, args=(sending,), daemon=True)
    upstream.start()
    with suppress(PermissionError):
        os.nice(given.nice)  # only a privileged user may; the rest of the machine disturbs less
    address = f"http://127.0.0.1:{receiving.recv()}/v1"
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        command = [
            sys.executable,
            "-m",
            "constraint_first",
            "serve",
            "--port",
            "0",
            "--base-url",
            address,
        ]
        with log.open("w") as written:
            server = subprocess.Popen(
                [*command, "--model", "m", "--token", TOKEN],
                stdout=written,
                stderr=subprocess.PIPE,
                text=True,
                cwd=folder,
            )
            assert server.stderr
            line = ""
            while "serving" not in line:
                line = server.stderr.readline()
            port = int(line.split("http://127.0.0.1:")[1].split("/")[0])
            try:
                run(given.minutes, given.baseline, port, server.pid)
            finally:
                server.send_signal(signal.SIGTERM)
                _, errors = server.communicate(timeout=90)
        lines = log.read_text(errors="replace").splitlines()
        whole = re.compile(r"\d\d:\d\d:\d\d \d{3} [\d.e-]+ s \w+ \S+")
        odd = [one for one in lines if not whole.match(one) or not one.isprintable()]
        print(f"log: {len(lines):,} lines, {log.stat().st_size / 1e6:.1f} MB, {len(odd)} odd")
        print(f"tracebacks: {errors.count('Traceback')}; exit status {server.returncode}")
        for one in odd[:5]:
            print(f"  odd: {one[:200]!r}")
        print(errors[-2_000:])
    upstream.terminate()


def run(minutes: float, baseline: float, port: int, pid: int) -> None:
    began = time.monotonic()

    def tell(seen: Seen) -> None:
        if len(seen.memory) % 12 == 0 and seen.health:
            print(
                f"{time.monotonic() - began:7.0f} s  {seen.memory[-1]:6.0f} MB  "
                f"{seen.files[-1]:5} files  /health most {max(seen.health) * 1_000:.0f} ms  "
                f"load {seen.load[-1]:.1f}  failed {dict(seen.failed)}",
                flush=True,
            )

    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}, priority {os.nice(0)}")
    asyncio.run(watch(port, pid, 5, tell))  # warms up
    before = asyncio.run(watch(port, pid, baseline, tell))
    receiving, sending = PROCESSES.Pipe()
    abusing = PROCESSES.Process(target=abusers, args=(port, minutes * 60, sending), daemon=True)
    abusing.start()
    during = asyncio.run(watch(port, pid, minutes * 60, tell))
    done: dict[str, dict[str, int]] = receiving.recv() if receiving.poll(90) else {}
    table(before, during)
    print("\nabuse, how often, and what came of it")
    for name, found in done.items():
        print(f"  {name:36}{sum(found.values()):8,}  {found}")


if __name__ == "__main__":
    main()
