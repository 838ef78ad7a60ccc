"""The report: a button that runs ``cfr report``, and links to what it wrote."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import os
import shutil
import signal
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, cast

from aiohttp import web

from constraint_first.report.report import report_style
from constraint_first.serve.page import site
from constraint_first.serve.request import RequestError

ROUTES: Final = web.RouteTableDef()

_SECONDS: Final = 1_800.0
"""Longest time that a report may take."""
_LONGEST_LINE: Final = 1 << 20
# The arguments come on standard input: the address of a store may hold a password, which must not
# show in the list of processes.
_PROGRAM: Final = (
    "import json, os, sys; os.nice(5); sys.argv[1:] = json.load(sys.stdin); "
    "from constraint_first.cli import main; main()"
)
_ERROR: Final = "cfr: "
_DIED: Final = (
    "the report could not be made: its process ended early; 'cfr report' on the same runs says why"
)


@dataclass(slots=True)
class _Report:
    place: Path
    said: str = ""
    """The last line that the command wrote: the step that it is at."""
    error: str = ""
    task: asyncio.Task[None] | None = None

    @property
    def under_way(self) -> bool:
        return self.task is not None and not self.task.done()


class Reports:
    """The last report on each choice of runs; one is made at a time."""

    def __init__(self, options: site.SiteOptions, seconds: float = _SECONDS) -> None:
        self.made: dict[int, _Report] = {}
        self._marks = (("--labels", options.labels), ("--classes", options.classes))
        self._seconds = seconds
        self._turn = asyncio.Lock()

    def begin(self, runs: int, urls: list[str]) -> None:
        """Begin a report, unless the one on these runs is being made already."""
        known = self.made.get(runs)
        if known is None or not known.under_way:
            place = known.place if known else Path(tempfile.mkdtemp(prefix="cfr-report-"))
            report = self.made[runs] = _Report(place)
            report.task = asyncio.create_task(self._make(report, urls))

    def find(self, runs: int) -> _Report:
        report = self.made.get(runs)
        if report is None or report.under_way or report.error:
            raise RequestError(f"report {runs}: not here; make it again", 404)
        return report

    async def close(self) -> None:
        """End what is under way, and remove all files."""
        for report in self.made.values():
            if report.task:
                report.task.cancel()
                await asyncio.wait([report.task])
            await asyncio.to_thread(shutil.rmtree, report.place, ignore_errors=True)

    async def _make(self, report: _Report, urls: list[str]) -> None:
        marks = [word for name, path in self._marks if path.is_file() for word in (name, str(path))]
        arguments = ["report", "-o", str(report.place / "report"), *marks, "--", *urls]
        try:
            async with self._turn, asyncio.timeout(self._seconds):
                await asyncio.to_thread(shutil.rmtree, report.place, ignore_errors=True)
                if await _run(report, json.dumps(arguments)):
                    wrong = report.said.startswith(_ERROR)
                    report.error = report.said.removeprefix(_ERROR) if wrong else _DIED
                else:
                    pack = ("zip", report.place, "report")
                    await asyncio.to_thread(
                        shutil.make_archive, str(report.place / "report"), *pack
                    )
        except TimeoutError:
            report.error = f"the report took longer than {self._seconds:g} s and was given up"
        except OSError as error:
            report.error = f"the report could not be made ({error.strerror})"
        except ValueError:  # a line without an end
            report.error = _DIED


async def _run(report: _Report, arguments: str) -> int:
    """Run the command to its end, and end it whatever happens; return its exit status."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-c", _PROGRAM),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env={
            **os.environ,
            "PYTHONUTF8": "1",
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        },
        start_new_session=True,  # Ctrl-C is for the server, which then ends it
        limit=_LONGEST_LINE,
    )
    try:
        given = cast("asyncio.StreamWriter", process.stdin)
        given.write(arguments.encode())
        given.close()
        async for line in cast("asyncio.StreamReader", process.stderr):
            report.said = line.decode("utf-8", "replace").strip() or report.said
        return await process.wait()
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


REPORTS: Final = web.AppKey("reports", Reports)


@ROUTES.get("/report")
async def show_report(request: web.Request) -> web.Response:
    library, runs = request.app[site.SITE].library, site.read_runs(request.query)
    if not library.sources:
        return site.render(request, "no_runs.html", title="Report")
    library.chosen(runs)
    return site.render(
        request,
        "report_part.html" if "HX-Request" in request.headers else "report.html",
        library=library,
        runs=runs,
        report=request.app[REPORTS].made.get(runs),
    )


@ROUTES.post("/report")
async def make_report(request: web.Request) -> web.Response:
    site.check_same_origin(request)
    runs = site.read_runs(await site.read_form(request))
    sources = request.app[site.SITE].library.chosen(runs)
    request.app[REPORTS].begin(runs, [source.url for source in sources])
    return site.go_to(f"/report?runs={runs}")


@ROUTES.get(r"/report/{runs:\d{1,9}}/view")
async def view_report(request: web.Request) -> web.Response:
    """Show the page of a report, under a policy of its own."""
    headers = {"Content-Security-Policy": _policy(), "Content-Type": "text/html; charset=utf-8"}
    return await _send(request, "report/report.html", headers)


@cache
def _policy() -> str:
    """Allow a report its one style, and nothing else: no script, no origin, no frame around it."""
    style = base64.b64encode(hashlib.sha256(report_style().encode()).digest()).decode()
    return (
        f"sandbox; default-src 'none'; style-src 'sha256-{style}'; img-src data:; "
        "form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
    )


@ROUTES.get(r"/report/{runs:\d{1,9}}/report.zip")
async def download_report(request: web.Request) -> web.Response:
    headers = {
        "Content-Disposition": "attachment; filename=report.zip",
        "Content-Type": "application/zip",
    }
    return await _send(request, "report.zip", headers)


async def _send(request: web.Request, name: str, headers: dict[str, str]) -> web.Response:
    runs = int(request.match_info["runs"])
    report = request.app[REPORTS].find(runs)
    try:
        body = await asyncio.to_thread((report.place / name).read_bytes)
    except OSError:  # it is being made anew
        raise RequestError(f"report {runs}: not here; make it again", 404) from None
    return web.Response(body=body, headers=headers | {"Cache-Control": "no-store"})
