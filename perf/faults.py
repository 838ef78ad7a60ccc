"""2,000 attempts against an endpoint that misbehaves, beside the same run when all is well.

python perf/faults.py [share of faults]     (0.3 by default)

Faults come at once, each kind as often as the others: server errors, rate limits, cut and damaged
replies, replies without an answer's place. Client and server run in processes of their own.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import tempfile
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

from harness import PROCESSES, REPLY, RESPONSE, Server, in_process

ATTEMPTS = 2_000
DELAY = 0.02


def response(status: str, body: bytes, *headers: bytes) -> bytes:
    lines = (f"HTTP/1.1 {status}".encode(), *headers, b"Content-Length: %d" % len(body), b"", body)
    return b"\r\n".join(lines)


def completion(choice: Any) -> bytes:
    return response("200 OK", json.dumps({"choices": choice}).encode())


FAULTS = (
    response("500 Internal Server Error", b"out of order"),
    response("503 Service Unavailable", b""),
    response("429 Too Many Requests", b"slow down", b"Retry-After: 0"),
    response("200 OK", REPLY)[:-20],  # and then the connection is closed
    response("200 OK", REPLY[:-20]),
    response("200 OK", b"<html>busy</html>"),
    completion([]),
    completion([{"finish_reason": "error", "message": {"content": ""}}]),
    b"",  # the connection is closed without a word
)


class Faulty(Server):
    """Replies with a fault now and then."""

    def __init__(self, share: float) -> None:
        super().__init__(DELAY)
        self.share = share

    def _reply(self) -> None:
        if self.transport.is_closing():
            return
        fault = random.choice(FAULTS) if random.random() < self.share else RESPONSE  # noqa: S311
        self.transport.write(fault)
        if fault in (FAULTS[3], b""):
            self.transport.close()


def serve(share: float, told: Connection) -> None:
    async def forever() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: Faulty(share), "127.0.0.1", 0, backlog=1024)
        told.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    random.seed(1)
    asyncio.run(forever())


def evaluate(url: str) -> None:
    """Evaluate as a program does, and run again whatever failed until all is there."""
    import constraint_first

    problems = (
        constraint_first.Problem(f"What is {n} + 1?", f"p{n}", "4") for n in range(ATTEMPTS)
    )
    benchmark = constraint_first.Benchmark("sums", "Sums", tuple(problems))
    with tempfile.TemporaryDirectory() as folder:
        options = constraint_first.RunOptions(store=f"{folder}/runs.db")
        model = constraint_first.ModelRef("m", base_url=url)
        for again in range(5):
            done = constraint_first.evaluate(
                benchmark, "direct", runs=1, model=model, options=options
            )
            if done.complete:
                break
            print(f"  run {again + 1}: {done.stopped}", file=sys.stderr)
        assert done.complete
        assert done.series[0].tally.ok == ATTEMPTS


def measure(share: float) -> tuple[float, float]:
    receiving, sending = PROCESSES.Pipe()
    server = PROCESSES.Process(target=serve, args=(share, sending), daemon=True)
    server.start()
    url = f"http://127.0.0.1:{receiving.recv()}/v1"
    modules = (
        "aiohttp",
        "orjson",
        "constraint_first.model.client",
        "constraint_first.run.run",
        "constraint_first.benchmark",
    )
    seconds, cpu, peak = in_process(partial(evaluate, url), modules)
    rate = ATTEMPTS / seconds
    print(f"{f'{share:.0%} faults':16}{rate:12,.0f}{cpu / ATTEMPTS * 1000:12.2f}{peak:9.0f}")
    server.terminate()
    server.join()
    return rate, peak


if __name__ == "__main__":
    share = float(sys.argv[1]) if len(sys.argv) > 1 else 0.3
    print(f"{ATTEMPTS:,} attempts, {DELAY * 1000:.0f} ms a reply")
    print(f"{'':16}{'attempts/s':>12}{'CPU s/1000':>12}{'peak MB':>9}")
    well, _ = measure(0.0)
    faulty, _ = measure(share)
    print(f"with faults {faulty / well:.0%} of the throughput without")
