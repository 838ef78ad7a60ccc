"""Many workers on one PostgreSQL store: attempts a second of one and of four, and what claims cost.

python perf/scale.py [run] [claims]     (both by default)

The endpoint replies after 200 ms and runs in a process of its own, as does each worker; all of them
are started and have imported everything before the clock runs. One worker and four are measured in
one go, and the ratio is what to read.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

sys.path += [str(Path(__file__).parent), str(Path(__file__).parents[1] / "tests")]

from harness import MODULES, PROCESSES, serve

DELAY, CONCURRENCY, SECONDS = 0.2, 64, 12
RATE = CONCURRENCY / DELAY
CLAIMS, RUNS = 20_000, 50


def _series(name: str) -> Any:
    from constraint_first.store.series import Series

    return Series(name, "direct", "m")


def _problems(count: int) -> tuple[Any, ...]:
    from constraint_first.problem import Problem

    return tuple(Problem(f"What is {n} + 1?", f"p{n}", "4") for n in range(count))


def make(url: str, store_url: str, name: str, attempts: int) -> dict[str, float]:
    """Be one worker on a grid, and say how long claims took of its time."""
    from constraint_first.model.client import Client, OpenAI, ServedModel
    from constraint_first.model.limit import Limiter
    from constraint_first.model.transport import Endpoint
    from constraint_first.model.wire import Decoding
    from constraint_first.run.job import prepare, run
    from constraint_first.store.store import Store
    from constraint_first.store.writer import Leases

    claiming = [0.0, 0]
    plain = Leases.claim

    def claim(self: Any, *given: Any) -> Any:
        began = time.perf_counter()
        try:
            return plain(self, *given)
        finally:
            claiming[0] += time.perf_counter() - began
            claiming[1] += 1

    Leases.claim = claim

    async def work() -> float:
        with Store(store_url) as store, store.running():
            async with OpenAI(Endpoint(url, "m"), connections=CONCURRENCY) as served:
                engine = Client(ServedModel(served, Limiter(CONCURRENCY)), decoding=Decoding())
                job = prepare(store, _series(name), _problems(attempts), 1, engine)
                began = time.perf_counter()
                await run(store, [job], 2 * CONCURRENCY)
            assert job.tally.ok == attempts, job.tally
        return time.perf_counter() - began

    cpu = time.process_time()
    seconds = asyncio.run(work())
    return {
        "seconds": seconds,
        "claim": claiming[0],
        "claims": claiming[1],
        "cpu": time.process_time() - cpu,
    }


def take(store_url: str, name: str, problems: int, runs: int, at_once: int) -> dict[str, float]:
    """Claim until nothing is left, and make nothing."""
    from constraint_first.store.store import Store
    from constraint_first.store.writer import SeriesShare

    with Store(store_url) as store:
        registered = store.register(_series(name), _problems(problems))
        share, began, claimed = SeriesShare(registered.series, runs), time.perf_counter(), 0
        with store.leasing(600.0) as leases:
            while found := leases.claim(share, at_once):
                claimed += len(found)
            seconds = time.perf_counter() - began
            leases._named["owner"] = "nobody"  # what was claimed stays claimed
        return {"seconds": seconds, "claimed": claimed}


def worker(told: Connection) -> None:
    """Import everything, then do what is asked for."""
    import importlib

    for module in (*MODULES, "psycopg", "constraint_first.run.job"):
        importlib.import_module(module)
    told.send("ready")
    while (order := told.recv()) is not None:
        told.send(order())


@contextmanager
def workers(count: int) -> Iterator[list[Connection]]:
    pipes = [PROCESSES.Pipe() for _ in range(count)]
    crew = [PROCESSES.Process(target=worker, args=(theirs,), daemon=True) for _, theirs in pipes]
    for process in crew:
        process.start()
    for ours, _ in pipes:
        assert ours.recv() == "ready"
    try:
        yield [ours for ours, _ in pipes]
    finally:
        for process in crew:
            process.terminate()
            process.join()


def together(
    crew: list[Connection], order: Callable[[], dict[str, float]]
) -> tuple[float, list[dict[str, float]]]:
    began = time.perf_counter()
    for one in crew:
        one.send(order)
    told = [one.recv() for one in crew]
    return time.perf_counter() - began, told


def compare(address: str, crew: list[Connection]) -> None:
    """Measure one worker and four on grids that take each of them equally long."""
    receiving, sending = PROCESSES.Pipe()
    server = PROCESSES.Process(target=serve, args=(DELAY, sending), daemon=True)
    server.start()
    url = f"http://127.0.0.1:{receiving.recv()}/v1"
    print(
        f"\n{DELAY * 1000:.0f} ms a call, {CONCURRENCY} at a time a worker, ideal {RATE:,.0f} each"
    )
    titles = ("workers", "attempts", "seconds", "a second", "ratio", "claims", "of run", "CPU s")
    print("".join(f"{title:>10}" for title in titles))
    rates: list[float] = []
    for count in (1, 4, 1, 4):
        attempts, name = round(RATE * SECONDS * count), f"sums-{len(rates)}"
        # Entered beforehand, so that nobody measures how long that takes.
        together(crew[:1], partial(enter, address, name, attempts, 1))
        _, told = together(crew[:count], partial(make, url, address, name, attempts))
        seconds = max(one["seconds"] for one in told)
        rates.append(attempts / seconds)
        share = sum(one["claim"] for one in told) / sum(one["seconds"] for one in told)
        ratio = f"{rates[-1] / rates[-2]:.2f}" if count > 1 else ""
        claims, cpu = sum(one["claims"] for one in told), sum(one["cpu"] for one in told)
        cells = (f"{count}", f"{attempts:,}", f"{seconds:.1f}", f"{rates[-1]:,.0f}", ratio)
        costs = (f"{claims:,.0f}", f"{share:.1%}", f"{cpu:.1f}")
        print("".join(f"{cell:>10}" for cell in (*cells, *costs)))
    server.terminate()
    server.join()


def enter(store_url: str, name: str, problems: int, runs: int) -> dict[str, float]:
    from constraint_first.store.store import Store

    with Store(store_url) as store:
        store.register(_series(name), _problems(problems), runs)
    return {}


def claims(address: str, crew: list[Connection]) -> None:
    """Claim all that is waiting: few attempts and very many, 32 at once and one at a time."""
    print(f"\n{'waiting':>10}{'at once':>9}{'workers':>9}{'claims a second':>17}{'entered in':>12}")
    for problems, runs, at_once in ((CLAIMS // 8, 1, 1), (CLAIMS, 1, 32), (CLAIMS, RUNS, 32)):
        name, attempts = f"claims-{problems}-{runs}", problems * runs
        entering, _ = together(crew[:1], partial(enter, address, name, problems, runs))
        _, told = together(crew, partial(take, address, name, problems, runs, at_once))
        assert sum(one["claimed"] for one in told) == attempts
        rate = sum(one["claimed"] / one["seconds"] for one in told)
        print(f"{attempts:10,}{at_once:9}{len(crew):9}{rate:17,.0f}{entering:10.1f} s")


def main() -> None:
    from postgres import Postgres

    wanted = sys.argv[1:] or ["run", "claims"]
    with Postgres() as server, workers(4) as crew:
        if "run" in wanted:
            compare(server.url, crew)
        if "claims" in wanted:
            claims(server.url, crew)


if __name__ == "__main__":
    main()
