import asyncio
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from sums import sums

from constraint_first.attempt.drive import Scripted
from constraint_first.cli.progress import TerminalWatcher, write_duration
from constraint_first.model.error import Unreachable
from constraint_first.model.limit import Limiter
from constraint_first.model.replicas import Balanced
from constraint_first.model.transport import Endpoint
from constraint_first.run.job import Job, prepare
from constraint_first.store.series import Series
from constraint_first.store.store import Store

from .conftest import open_terminal


def series(model: str = "m") -> Series:
    return Series("aime24", "routed-cfr(reply=json)", model)


@pytest.fixture
def job(tmp_path: Path) -> Iterator[Job]:
    """Twenty attempts, of which four were there before."""
    with Store(str(tmp_path / "runs.db")) as store:
        prepared = prepare(store, series(), sums(10), 2, Scripted([]))
        prepared.tally.ok = prepared.tally.resumed = 4
        yield prepared


class Clock:
    """Stands in for the time that the display reads."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr(
            "constraint_first.cli.progress.time", SimpleNamespace(monotonic=lambda: self.now)
        )
        monkeypatch.setattr("constraint_first.cli.progress._PLAIN_EVERY", 0.0)


async def one_line(capsys: pytest.CaptureFixture[str]) -> str:
    """Wait for the next line that a watcher writes."""
    capsys.readouterr()
    async with asyncio.timeout(60):
        while not (shown := capsys.readouterr().err):
            await asyncio.sleep(0)
    return shown.splitlines()[0]


def test_a_time_has_no_parts_that_are_zero_ahead_of_others() -> None:
    times = [write_duration(seconds) for seconds in (0.2, 52, 60, 3_599, 7_260)]
    assert times == ["0 s", "52 s", "1 min 00 s", "59 min 59 s", "2 h 01 min"]


async def test_elsewhere_than_on_a_terminal_it_is_a_line_now_and_then(
    job: Job, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock, limiter = Clock(monkeypatch), Limiter(8)
    assert limiter.take(2)
    async with TerminalWatcher().running([job], [limiter]):
        waiting = "4 of 20 attempts, 2 calls in flight, 0 failed, waiting for replies"
        assert await one_line(capsys) == waiting
        # Two of the sixteen that are to be made took 10 seconds: fourteen more take 70.
        clock.now += 10
        job.tally.ok, job.tally.failed = 5, 1
        left = "6 of 20 attempts, 2 calls in flight, 1 failed, about 1 min 10 s left"
        assert await one_line(capsys) == left
        clock.now += 3_600
        assert (await one_line(capsys)).endswith("about 7 h 01 min left")
    capsys.readouterr()
    await asyncio.sleep(0)
    assert capsys.readouterr() == ("", ""), "it stops with the run"


async def test_calls_that_are_made_elsewhere_are_not_counted(
    job: Job, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Clock(monkeypatch)
    watcher = TerminalWatcher()
    async with watcher.running([job], []):
        assert await one_line(capsys) == "4 of 20 attempts, 0 failed, waiting for replies"
        watcher.interrupted()
    assert watcher.left_behind() == (4, 20, None)


async def test_the_endpoints_of_a_model_are_in_the_line(
    job: Job, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Clock(monkeypatch)
    watcher = TerminalWatcher()
    both = Balanced([Endpoint(f"http://me:hush@h/{n}", "m") for n in "ab"])
    both.notes = ("http://h/b: 9 tokens of context",)
    watcher.opened([both, Scripted([])])
    assert capsys.readouterr().err == "http://h/b: 9 tokens of context\n"
    async with watcher.running([job], []):
        assert (await one_line(capsys)).endswith("waiting for replies; 2 of 2 endpoints in use")
        both.balancer.rest(both.balancer.replicas[1], Unreachable("gone"))
        assert (await one_line(capsys)).endswith("; 1 of 2 endpoints in use, http://h/b rests")
    await both.balancer.close()


async def test_on_a_terminal_it_is_a_table(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    async with TerminalWatcher().running([job], [Limiter(8)]):
        async with asyncio.timeout(60):
            while "waiting for replies" not in terminal.getvalue():
                await asyncio.sleep(0)
    shown = terminal.getvalue()
    assert "accuracy so far" in shown
    assert "95 %" not in shown, "an interval is for a run that has ended"
    assert "4/20" in shown
    assert shown.count("\x1b[?25l") == shown.count("\x1b[?25h") == 1, "the cursor comes back"


async def test_a_run_that_fails_ends_its_display(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)

    async def fail() -> None:
        async with TerminalWatcher().running([job], []):
            await asyncio.sleep(0)
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        await fail()
    assert len(asyncio.all_tasks()) == 1
    assert terminal.getvalue().count("\x1b[?25h") == 1


@pytest.mark.parametrize("on_terminal", [True, False])
async def test_quiet_shows_nothing(
    job: Job, monkeypatch: pytest.MonkeyPatch, on_terminal: bool
) -> None:
    screen = open_terminal(monkeypatch)
    if not on_terminal:
        monkeypatch.setattr(screen, "isatty", lambda: False)
    Clock(monkeypatch)
    watcher = TerminalWatcher(quiet=True)
    async with watcher.running([job], []):
        await asyncio.sleep(0.01)
    with watcher.fetching("qwen") as report:
        report(1, 2, "checking")
    assert screen.getvalue() == ""


def test_a_models_way_to_this_machine(capsys: pytest.CaptureFixture[str]) -> None:
    with TerminalWatcher().fetching("qwen") as report:
        report(5_000_000, 10_000_000, "from Hugging Face")
    assert capsys.readouterr().err == "qwen: from Hugging Face, 5 of 10 MB\n"
