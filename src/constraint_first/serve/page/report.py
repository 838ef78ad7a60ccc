"""The report: ordered on a page, made by the code of ``cfr report``, read here or downloaded."""

from __future__ import annotations

import asyncio
import base64
import hashlib
from functools import cache
from typing import Any, Final
from urllib.parse import quote

from aiohttp import web

from constraint_first.report.page import report_style
from constraint_first.report.study import benchmark_label, model_label
from constraint_first.serve.page.site import (
    ALL,
    SITE,
    STEPS,
    ZIP,
    ReportJob,
    ReportOrder,
    Site,
    check_same_origin,
    in_thread,
    read_form,
    read_number,
    read_runs,
    render,
)
from constraint_first.serve.setting import RequestError

ROUTES: Final = web.RouteTableDef()
_PAGE: Final = "report.html"
_MOST_CASES: Final = 200
_NAMES: Final = ("baseline", "method", "benchmark", "model")
_JOB: Final = r"/report/{number:\d{1,9}}"


@ROUTES.get("/report")
async def show_form(request: web.Request) -> web.Response:
    """Ask what a report should be about, and list those that were made."""
    site, runs = request.app[SITE], read_runs(request)
    if not site.library.sources:
        return render(request, "no_runs.html", title="Report")
    values = await in_thread(_choices, site, runs)
    return render(
        request,
        "report_form.html",
        library=site.library,
        runs=runs,
        jobs=site.reports.jobs,
        **values,
    )


def _choices(site: Site, runs: int) -> dict[str, Any]:
    study = site.library.study(runs)
    return {
        "methods": [(name, study.method_name(name)) for name in study.names("method")],
        "models": [(name, model_label(name)) for name in study.names("model")],
        "benchmarks": [(name, benchmark_label(name)) for name in study.names("benchmark")],
        "marked": bool(_marks(site)),
    }


def _marks(site: Site) -> dict[str, str]:
    """Name the files of marks that there are."""
    files = {"labels": site.options.labels, "classes": site.options.classes}
    return {name: str(path) for name, path in files.items() if path.is_file()}


@ROUTES.post("/report")
async def order_report(request: web.Request) -> web.Response:
    """Have a report made."""
    check_same_origin(request)
    site = request.app[SITE]
    sent = await read_form(request)
    runs = read_number(sent, "runs", 1, least=0)
    sources = site.library.sources if runs == ALL else (site.library.source(runs),)
    cases = min(read_number(sent, "cases", 12, least=0), _MOST_CASES)
    order = ReportOrder(
        tuple(source.url for source in sources),
        **{name: sent.get(name, "") for name in _NAMES},
        cases=cases,
        figures="figures" in sent,
        **(_marks(site) if "marks" in sent else {}),
    )
    job = await site.reports.take(order, ", ".join(source.name for source in sources))
    return _go(job)


@ROUTES.get(_JOB)
async def show_report(request: web.Request) -> web.Response:
    """Say how far a report is, or what it found and where its files are."""
    part = "HX-Request" in request.headers
    template = "report_job_part.html" if part else "report_job.html"
    return render(request, template, job=_job(request), steps=STEPS, zip=ZIP)


@ROUTES.post(_JOB + "/stop")
async def stop_report(request: web.Request) -> web.Response:
    """Give a report up."""
    check_same_origin(request)
    job = _job(request)
    await request.app[SITE].reports.stop(job)
    return _go(job)


def _job(request: web.Request) -> ReportJob:
    return request.app[SITE].reports.find(int(request.match_info["number"]))


def _go(job: ReportJob) -> web.Response:
    return web.Response(status=303, headers={"Location": f"/report/{job.number}"})


@ROUTES.get(_JOB + "/view")
async def view_report(request: web.Request) -> web.Response:
    """Show the page of a report, under a policy of its own."""
    headers = {"Content-Security-Policy": _policy(), "Content-Type": "text/html; charset=utf-8"}
    return await _send(_job(request), _PAGE, headers)


@cache
def _policy() -> str:
    """Allow a report its one style, and nothing else: no script, no origin, no frame around it."""
    style = base64.b64encode(hashlib.sha256(report_style().encode()).digest()).decode()
    return (
        f"sandbox; default-src 'none'; style-src 'sha256-{style}'; img-src data:; "
        "form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
    )


@ROUTES.get(_JOB + "/files/{name:.+}")
async def download(request: web.Request) -> web.Response:
    """Send a file to be kept; a browser must not open it as a page of ours."""
    name = request.match_info["name"]
    headers = {
        "Content-Security-Policy": "sandbox; default-src 'none'",
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(name.rpartition('/')[2])}",
        "Content-Type": "application/zip" if name == ZIP else "application/octet-stream",
    }
    return await _send(_job(request), name, headers)


async def _send(job: ReportJob, name: str, headers: dict[str, str]) -> web.Response:
    try:
        body = await asyncio.to_thread(job.find(name).read_bytes)
    except OSError:  # it was removed just now, for a newer one
        raise RequestError(f"report {job.number}: not here any more; make it again", 404) from None
    return web.Response(body=body, headers=headers | {"Cache-Control": "no-store"})
