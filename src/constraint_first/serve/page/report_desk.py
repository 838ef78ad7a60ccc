"""Reports on order: one is made at a time, in a process of its own, and the last few are kept."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, cast

from constraint_first.serve.error_reply import RequestError
from constraint_first.serve.page.report_writer import FOLDER, STEPS, ZIP, ReportOrder

__all__ = ["ReportDesk", "ReportJob"]

State: TypeAlias = Literal["waiting", "working", "done", "failed"]

_MOST: Final = 6
"""Reports that are kept, and those that may wait."""
_SECONDS: Final = 1_800.0
"""How long one may take."""
_LONGEST_LINE: Final = 1 << 20
_STOPPED: Final = "stopped"
_PROGRAM: Final = "constraint_first.serve.page.report_writer"
_DIED: Final = (
    "the report could not be made: its process ended early; 'cfr report' on the same runs says why"
)


@dataclass(slots=True)
class ReportJob:
    """A report on order: how far it is, and what came of it."""

    number: int
    order: ReportOrder
    title: str
    """What it is about, in words."""
    place: Path
    state: State = "waiting"
    step: str = ""
    error: str = ""
    claims: tuple[str, ...] = ()
    """Its verdicts."""
    files: dict[str, int] = field(default_factory=dict[str, int])
    """Files that were made, by their paths in the folder, with their sizes."""
    seconds: float = 0.0
    task: asyncio.Task[None] | None = None

    @property
    def under_way(self) -> bool:
        """Whether it is still to come."""
        return self.state in ("waiting", "working")

    @property
    def steps_done(self) -> int:
        """How many steps are behind it."""
        return STEPS.index(self.step) if self.step in STEPS else 0

    def find(self, name: str) -> Path:
        """Find a file by its path in the folder; there are no others, whatever the name."""
        if name == ZIP and self.state == "done":
            return self.place / ZIP
        if name not in self.files:
            raise RequestError(f"{name[:80]}: this report has no such file", 404)
        return self.place / FOLDER / name


class ReportDesk:
    """All reports of a server, the last one first."""

    def __init__(self, seconds: float = _SECONDS) -> None:
        self.jobs: list[ReportJob] = []
        self._seconds = seconds
        self._turn = asyncio.Lock()
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._count = 0

    def find(self, number: int) -> ReportJob:
        """Find a report by its number."""
        for job in self.jobs:
            if job.number == number:
                return job
        raise RequestError(f"report {number}: not here, or not any more; make it again", 404)

    async def take(self, order: ReportOrder, title: str) -> ReportJob:
        """Take an order; one that is under way already is not begun twice."""
        waiting = [job for job in self.jobs if job.under_way]
        for job in waiting:
            if job.order == order:
                return job
        if len(waiting) >= _MOST:
            raise RequestError(
                f"{len(waiting)} reports are being made already; try again later",
                503,
                code="overloaded",
                retry_after=10,
            )
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="cfr-reports-")
        self._count += 1
        place = Path(self._folder.name) / str(self._count)
        job = ReportJob(self._count, order, title, place)
        self.jobs.insert(0, job)
        job.task = asyncio.create_task(self._make(job))
        await self._forget()
        return job

    async def stop(self, job: ReportJob) -> None:
        """Give a report up."""
        if job.task and job.under_way:
            job.task.cancel()
            await asyncio.wait([job.task])
            if job.under_way:  # it had not even begun
                _fail(job, _STOPPED)

    async def close(self) -> None:
        """Give up what is under way, and remove all files."""
        for job in self.jobs:
            await self.stop(job)
        self.jobs.clear()
        if self._folder is not None:
            await asyncio.to_thread(self._folder.cleanup)

    async def _forget(self) -> None:
        """Remove the oldest reports beyond those that are kept."""
        over = [job for job in self.jobs[_MOST:] if not job.under_way]
        for job in over:
            self.jobs.remove(job)
            await asyncio.to_thread(shutil.rmtree, job.place, ignore_errors=True)

    async def _make(self, job: ReportJob) -> None:
        try:
            async with self._turn:
                job.state, began = "working", time.monotonic()
                async with asyncio.timeout(self._seconds):
                    await self._follow(job)
                job.seconds = time.monotonic() - began
        except TimeoutError:
            _fail(job, f"the report took longer than {self._seconds:g} s and was given up")
        except asyncio.CancelledError:
            _fail(job, _STOPPED)
        except OSError as error:
            _fail(job, f"the report could not be made ({error.strerror})")
        except ValueError:  # a line that is none of ours
            _fail(job, _DIED)

    async def _follow(self, job: ReportJob) -> None:
        """Read what the process says until it ends."""
        job.place.mkdir(parents=True)
        claims: list[str] | None = None
        async with _writer(job) as output:
            async for line in output:
                told: dict[str, Any] = json.loads(line)
                job.step = told.get("step", job.step)
                job.error = told.get("error", job.error)
                claims = told.get("done", claims)
        if claims is None:
            _fail(job, job.error or _DIED)
        else:
            job.files = await asyncio.to_thread(_list, job.place / FOLDER)
            job.state, job.claims = "done", tuple(claims)


def _fail(job: ReportJob, why: str) -> None:
    job.state, job.error = "failed", why


@asynccontextmanager
async def _writer(job: ReportJob) -> AsyncGenerator[asyncio.StreamReader]:
    """Start the process, and end it whatever happens."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", _PROGRAM, str(job.place)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        start_new_session=True,  # Ctrl-C is for the server, which then ends it
        limit=_LONGEST_LINE,
    )
    try:
        told = cast("asyncio.StreamWriter", process.stdin)
        told.write(job.order.to_json().encode() + b"\n")
        with suppress(ConnectionError):
            await told.drain()
        yield cast("asyncio.StreamReader", process.stdout)
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


def _list(folder: Path) -> dict[str, int]:
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.stat().st_size for path in paths}
