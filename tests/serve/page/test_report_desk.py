import asyncio
import os
import signal
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio

from constraint_first.serve.page.site import ZIP, ReportDesk, ReportJob, ReportOrder
from constraint_first.serve.setting import RequestError


@pytest_asyncio.fixture
async def desk() -> AsyncGenerator[ReportDesk]:
    made = ReportDesk()
    yield made
    await made.close()


def processes(job: ReportJob) -> list[int]:
    """Find the processes that make a report."""
    found: list[int] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:  # it ended meanwhile
            continue
        if str(job.place).encode() in words:
            found.append(int(path.parent.name))
    return found


async def until_started(job: ReportJob) -> None:
    while not job.step:
        await asyncio.sleep(0.01)


async def finished(job: ReportJob) -> ReportJob:
    assert job.task
    await job.task
    return job


async def test_a_report_is_made_and_its_files_are_found(desk: ReportDesk, store: str) -> None:
    job = await desk.take(ReportOrder((store,), figures=False, cases=0), "runs.db")
    assert job.under_way
    await finished(job)
    assert (job.state, job.error) == ("done", "")
    assert job.claims
    assert job.find("report.html").read_bytes()
    assert job.find("tables/main.tex").stat().st_size == job.files["tables/main.tex"]
    assert job.find(ZIP).is_file()
    assert desk.find(job.number) is job


async def test_no_other_file_is_found(desk: ReportDesk, store: str) -> None:
    job = await desk.take(ReportOrder((store,), figures=False, cases=0), "runs.db")
    tricks = ["", "/etc/passwd", "../report.zip", "tables", "tables/../report.html", "x\0", "."]
    for state in (job, await finished(job)):
        for name in tricks:
            with pytest.raises(RequestError):
                state.find(name)


async def test_one_at_a_time_and_no_order_twice(desk: ReportDesk, silent: str, store: str) -> None:
    first = await desk.take(ReportOrder((silent,)), "a")
    await until_started(first)
    second = await desk.take(ReportOrder((store,), figures=False, cases=0), "b")
    assert await desk.take(ReportOrder((silent,)), "a") is first
    assert (first.state, second.state, processes(second)) == ("working", "waiting", [])
    await desk.stop(first)
    assert (first.state, first.error, processes(first)) == ("failed", "stopped", [])
    await finished(second)
    assert second.state == "done"


async def test_what_waits_is_bounded_and_what_is_kept_too(desk: ReportDesk, silent: str) -> None:
    jobs = [await desk.take(ReportOrder((silent,), cases=n), "a") for n in range(6)]
    with pytest.raises(RequestError, match="6 reports are being made already"):
        await desk.take(ReportOrder((silent,), cases=7), "a")
    for job in jobs:
        await desk.stop(job)
    places = [job.place for job in jobs if job.place.exists()]
    last = await desk.take(ReportOrder((silent,), cases=7), "a")
    assert [job.number for job in desk.jobs] == [7, 6, 5, 4, 3, 2]
    assert not jobs[0].place.exists()
    with pytest.raises(RequestError, match="not any more"):
        desk.find(1)
    await desk.close()
    assert last.error == "stopped"
    assert not any(place.exists() for place in places)


async def test_a_process_that_dies_is_noticed(desk: ReportDesk, silent: str) -> None:
    job = await desk.take(ReportOrder((silent,)), "a")
    await until_started(job)
    (number,) = processes(job)
    os.kill(number, signal.SIGKILL)
    await finished(job)
    assert job.state == "failed"
    assert "ended early" in job.error


async def test_a_report_that_takes_too_long_is_given_up(silent: str) -> None:
    desk = ReportDesk(seconds=0.2)
    job = await finished(await desk.take(ReportOrder((silent,)), "a"))
    assert job.error == "the report took longer than 0.2 s and was given up"
    assert processes(job) == []
    await desk.close()


async def test_what_is_wrong_is_said(desk: ReportDesk, tmp_path: Path) -> None:
    job = await finished(await desk.take(ReportOrder((str(tmp_path / "gone.db"),)), "gone"))
    assert (job.state, "there is no such store" in job.error) == ("failed", True)
    assert job.files == {}


async def test_a_passwords_place_is_not_the_command_line(desk: ReportDesk, silent: str) -> None:
    job = await desk.take(ReportOrder((silent,)), "a")
    await until_started(job)
    (number,) = processes(job)
    assert b"secret" not in Path(f"/proc/{number}/cmdline").read_bytes()
