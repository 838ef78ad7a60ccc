"""The runner with its durable journal, beside a bare aiohttp loop; and a store of 100,000 attempts.

python perf/harness.py [calls] [scale]     (both by default)

Everything measured runs in a process of its own, and so does the server: CPU seconds and peak
memory are those of the client alone.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

REPLY = json.dumps(
    {
        "choices": [{"message": {"content": "It is \\boxed{4}."}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 40, "completion_tokens": 8},
    }
).encode()
RESPONSE = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(REPLY)
) + REPLY
PROCESSES = multiprocessing.get_context("spawn")


class Server(asyncio.Protocol):
    """Reads a request's head and body and sends the same reply each time, after a delay."""

    def __init__(self, delay: float) -> None:
        self.delay = delay
        self.buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: Any = transport

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            head = self.buffer[:end].lower()
            length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
            if len(self.buffer) < end + 4 + length:
                return
            self.buffer = self.buffer[end + 4 + length :]
            asyncio.get_running_loop().call_later(self.delay, self._reply)

    def _reply(self) -> None:
        if not self.transport.is_closing():
            self.transport.write(RESPONSE)


def serve(delay: float, told: Connection) -> None:
    async def forever() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: Server(delay), "127.0.0.1", 0, backlog=1024)
        told.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(forever())


async def floor(url: str, calls: int, concurrency: int) -> None:
    """Post and read, nothing else: no retries, no limits, no journal, no grading."""
    import aiohttp
    import orjson

    body = orjson.dumps(
        {
            "model": "m",
            "messages": [{"role": "user", "content": "What is 3 + 1? " * 8}],
            "temperature": 0.7,
            "top_p": 0.95,
            "max_tokens": 32_768,
        }
    )
    left = iter(range(calls))

    async def work() -> None:
        for _ in left:
            async with session.post(f"{url}/chat/completions", data=body) as response:
                assert orjson.loads(await response.read())["choices"]

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=concurrency)) as session:
        await asyncio.gather(*(work() for _ in range(concurrency)))


async def ours(url: str, calls: int, concurrency: int) -> None:
    """Make as many attempts of one call each, as ``cfr eval`` does."""
    from constraint_first.model.client import Client, OpenAI, ServedModel
    from constraint_first.model.limit import Limiter
    from constraint_first.model.transport import Endpoint
    from constraint_first.model.wire import Decoding
    from constraint_first.problem import Problem
    from constraint_first.run.job import prepare, run
    from constraint_first.store.series import Series
    from constraint_first.store.store import Store

    problems = tuple(Problem(f"What is {n} + 1?", f"p{n}", "4") for n in range(calls))
    with tempfile.TemporaryDirectory() as folder, Store(f"{folder}/runs.db") as store:
        async with OpenAI(Endpoint(url, "m"), connections=concurrency) as served:
            engine = Client(ServedModel(served, Limiter(concurrency)), decoding=Decoding())
            job = prepare(store, Series("sums", "direct", "m"), problems, 1, engine)
            await run(store, [job], 2 * concurrency)
        assert job.tally.ok == calls


MODULES = (
    "aiohttp",
    "orjson",
    "constraint_first.model.client",
    "constraint_first.run.job",
    "constraint_first.benchmark",
)


def measured(work: Callable[[], None], modules: Sequence[str], told: Connection) -> None:
    """Do some work and tell its seconds, CPU seconds and peak memory in MB, less start-up."""
    for module in modules:
        importlib.import_module(module)
    began, cpu = time.perf_counter(), time.process_time()
    work()
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    told.send((seconds, cpu, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))


def in_process(
    work: Callable[[], None], modules: Sequence[str] = MODULES
) -> tuple[float, float, float]:
    receiving, sending = PROCESSES.Pipe()
    process = PROCESSES.Process(target=measured, args=(work, modules, sending))
    process.start()
    sending.close()
    told = receiving.recv()
    process.join()
    return told


def loop(client: Callable[[str, int, int], Any], url: str, calls: int, concurrency: int) -> None:
    asyncio.run(client(url, calls, concurrency))


def compare(calls: int, concurrency: int, delay: float) -> None:
    receiving, sending = PROCESSES.Pipe()
    server = PROCESSES.Process(target=serve, args=(delay, sending), daemon=True)
    server.start()
    url = f"http://127.0.0.1:{receiving.recv()}/v1"
    ideal = f", ideal {concurrency / delay:,.0f} calls a second" if delay else ""
    print(f"\n{calls:,} calls, {concurrency} at a time, {delay * 1000:.0f} ms each{ideal}")
    print(f"{'':28}{'calls/s':>10}{'CPU s/1000':>12}{'peak MB':>9}{'of floor':>10}")
    rates: list[float] = []
    for name, client in (("bare aiohttp (floor)", floor), ("cfr, journal on disk", ours)):
        modules = MODULES[:2] if client is floor else MODULES
        work = partial(loop, client, url, calls, concurrency)
        seconds, cpu, peak = in_process(work, modules)
        rates.append(calls / seconds)
        share = f"{rates[-1] / rates[0]:.0%}"
        print(f"{name:28}{rates[-1]:10,.0f}{cpu / calls * 1000:12.2f}{peak:9.0f}{share:>10}")
    server.terminate()
    server.join()


METHODS = ("direct", "check", "reminder", "list-first")
PROBLEMS, RUNS = 6_250, 4


def fill(path: str) -> None:
    """Put 100,000 finished attempts into a store, each with a call and 2 kB of text."""
    from constraint_first.protocol import Usage
    from constraint_first.store import database as schema
    from constraint_first.store.series import Series
    from constraint_first.store.store import Store
    from constraint_first.store.writer import usage_columns

    tokens = usage_columns(Usage(300, 900))
    text = "We proceed step by step. " * 80
    ended = {"status": "ok", "answer": "4", "text": text, "details": "{}", "verdict": "correct"}
    ended |= {"tier": "exact", "error": None, "seconds": 1.0, "finished_at": 0.0} | tokens
    called = {"ordinal": 0, "stage": "direct", "digest": "0" * 64, "messages": "[]"} | tokens
    called |= {"max_tokens": 32_768, "text": text, "reasoning": "", "finish": "stop"}
    called |= {"reported": True, "seconds": 1.0}
    with Store(path) as store:
        for method in METHODS:
            known = store.register(Series("sums", method, "m"), _problems())
            keys = [
                {"series": known.series, "problem": number, "run": run}
                for number in known.problems.values()
                for run in range(RUNS)
            ]
            with store.database.begin() as connection:
                connection.execute(schema.attempts.insert(), [ended | key for key in keys])
                connection.execute(schema.calls.insert(), [called | key for key in keys])


def _problems() -> tuple[Any, ...]:
    from constraint_first.problem import Problem

    return tuple(Problem(f"What is {n} + 1?", f"p{n}", str(n + 1)) for n in range(PROBLEMS))


def resume(path: str) -> None:
    """Find out what is missing, which is nothing."""
    from constraint_first.attempt.drive import Scripted
    from constraint_first.run.job import prepare
    from constraint_first.store.series import Series
    from constraint_first.store.store import Store

    problems = _problems()
    with Store(path) as store:
        for method in METHODS:
            job = prepare(store, Series("sums", method, "m"), problems, RUNS, Scripted([]))
            assert job.tally.complete
            assert not list(job.missing())


def summarise(path: str) -> None:
    """Summarise every series."""
    from constraint_first.store.query import summaries
    from constraint_first.store.store import Store

    with Store(path) as store:
        assert sum(s.tally.total for s in summaries(store)) == len(METHODS) * PROBLEMS * RUNS


def count_rows(path: str) -> None:
    """The floor: let SQLite read every attempt's verdict."""
    import sqlite3

    database = sqlite3.connect(path)
    database.execute("SELECT verdict, count(*) FROM attempts GROUP BY verdict").fetchall()
    database.close()


def scale() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/runs.db"
        in_process(partial(fill, path))
        size = Path(path).stat().st_size / 2**20
        print(f"\n{len(METHODS) * PROBLEMS * RUNS:,} stored attempts, {size:,.0f} MB")
        print(f"{'':28}{'seconds':>10}{'peak MB':>9}")
        for name, work in (
            ("one verdict each (floor)", count_rows),
            ("resume check", resume),
            ("summary", summarise),
        ):
            seconds, _, peak = in_process(partial(work, path))
            print(f"{name:28}{seconds:10.2f}{peak:9.0f}")


def main() -> None:
    wanted = sys.argv[1:] or ["calls", "scale"]
    if "calls" in wanted:
        compare(2_000, 64, 0.0)
        compare(10_000, 256, 0.2)
    if "scale" in wanted:
        scale()


if __name__ == "__main__":
    main()
