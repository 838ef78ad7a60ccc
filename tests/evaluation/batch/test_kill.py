"""Kill an evaluation in batches at every step: nothing is paid for twice and nothing is lost."""

import os
import re
import shlex
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from batch_server import STATES, BatchServer, Provider
from batch_sums import Launcher, finds_sums, outcomes, start, sums_at
from loopback import Endpoint
from postgres import empty_database
from sums import write_sums

PROBLEMS = 6
ATTEMPTS = PROBLEMS * 2 * 3
CALLS = PROBLEMS * 2 * (1 + 2 + 3)
BATCH = ("--batch", "--batch-poll", "0.01", "--batch-file-requests", "40")


def fate(name: str, seen: int) -> str:
    """Let some requests go wrong at first, each in its own way."""
    if seen:
        return "twice" if "-p2-" in name else "performed"
    if "-p5-r0-" in name:
        return "expired"
    return {"-p6-r0-": "cut_out", "-p6-r1-": "garbage"}.get(name[2:9], "performed")


class Killer:
    """Kills a process at each step that it comes to for the first time, and says which."""

    def __init__(self, provider: Provider, steps: set[tuple[str, str]]) -> None:
        self.killed: list[str] = []
        self.launcher: Launcher | None = None
        self._provider = provider
        self._steps = steps

    def __call__(self, route: str, moment: str) -> str | None:
        batches = list(self._provider.batches.values())
        status = batches[-1]["status"] if batches else "nothing"
        step = f"{moment} {route} {status} {min(len(batches), 2)}"
        if step in self.killed or self.launcher is None or (moment, route) not in self._steps:
            return None
        self.killed.append(step)
        os.kill(self.launcher.pid, signal.SIGKILL)
        return "cut"


@pytest.fixture(params=["sqlite", "postgresql"])
def steps_and_store(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[tuple[set[tuple[str, str]], str]]:
    """Every step on SQLite; on PostgreSQL those whose replies are dear to lose."""
    routes = ("upload", "create", "list", "look", "download")
    every = {(moment, route) for route in routes for moment in ("before", "after")}
    if request.param == "sqlite":
        yield every, str(tmp_path / "runs.db")
        return
    address: str = request.getfixturevalue("postgres")
    yield {("after", route) for route in ("upload", "create", "download")}, address
    empty_database(address)


@pytest.mark.long
def test_killed_at_every_step_nothing_is_paid_for_twice_and_nothing_is_lost(
    endpoint: Endpoint, tmp_path: Path, steps_and_store: tuple[set[tuple[str, str]], str]
) -> None:
    steps, store = steps_and_store
    write_sums(tmp_path / "sums.jsonl", PROBLEMS)
    provider = finds_sums(fate)
    killer = Killer(provider, steps)
    port, ended = 0, -signal.SIGKILL
    with Launcher(tmp_path) as killer.launcher:
        while ended == -signal.SIGKILL:
            # Another server each time: the provider is all that lasts.
            with BatchServer(provider, port) as server:
                server.interrupt, port = killer, server.port
                ended = killer.launcher.run(server.url, "--store", store, *BATCH)
    assert ended == 0
    assert {tuple(step.split()[:2]) for step in killer.killed} == steps
    if ("after", "look") in steps:
        assert {f"after look {state} 1" for state in STATES[1:]} <= set(killer.killed)
    assert all(count == 1 for count in provider.performed.values())
    assert len(provider.performed) == CALLS
    assert sum(provider.lost.values()) >= 6
    found = outcomes(store)
    assert len(found) == ATTEMPTS
    assert found == sums_at(endpoint, tmp_path)


def test_an_interrupt_leaves_the_batch_to_go_on_and_says_how_to_collect_it(tmp_path: Path) -> None:
    write_sums(tmp_path / "sums.jsonl", 2)
    provider = finds_sums()
    with BatchServer(provider) as server:
        process = start(server.url, tmp_path, "--batch", "--batch-poll", "600", listened=True)

        def interrupt(route: str, moment: str) -> None:
            if (route, moment) == ("look", "after"):
                process.send_signal(signal.SIGINT)

        server.interrupt = interrupt
        _, said = process.communicate(timeout=30)
        assert process.returncode == 130
        *_, last = said.decode().strip().splitlines()
        found = re.fullmatch(
            r"cfr: stopped; 0 of 12 attempts are stored in runs\.db; 20 requests of wave 1 go on "
            r"without us; to collect them: (cfr eval sums\.jsonl .* --batch .*)",
            last,
        )
        assert found, said.decode()
        assert shlex.split(found[1])[2:] == process.args[4:]  # pyright: ignore[reportIndexIssue]
        assert server.asked == ["upload", "create", "look"]
        server.interrupt = lambda _route, _moment: None
        assert start(server.url, tmp_path, "--batch", "--batch-poll", "0.01").wait(60) == 0
    assert len(provider.batches) == 2
    assert set(provider.performed.values()) == {1}
    assert len(outcomes(str(tmp_path / "runs.db"))) == 12
