"""Stored runs: what each store holds, live while something is added to it, down to one attempt."""

from __future__ import annotations

import time
from functools import partial
from typing import Any, Final
from urllib.parse import urlencode

from aiohttp import web

from constraint_first.constraint.recovery import read_spec
from constraint_first.constraint.router import route
from constraint_first.engine.ordered_watcher import stage_title
from constraint_first.error import CfrError
from constraint_first.evaluation.stored_attempt import (
    SeriesName,
    describe_cost,
    explain_ending,
    read_attempt,
)
from constraint_first.evaluation.stored_series import (
    SHOWN,
    Shown,
    list_problems,
    read_growth,
    read_series,
)
from constraint_first.evaluation.summary import summaries
from constraint_first.file.printable import printable_json
from constraint_first.method.check_summary import read_summary
from constraint_first.serve.page.library import RunSource
from constraint_first.serve.page.marked_text import cue_marks, mark_text
from constraint_first.serve.page.query import read_number, write_query
from constraint_first.serve.page.site import SITE, in_thread, render
from constraint_first.serve.page.store_view import StoreView, line_of, view_store

__all__ = ["ROUTES"]

ROUTES: Final = web.RouteTableDef()
_MOST: Final = 50
"""Problems on one page."""
_READ_ELSEWHERE: Final = ("checks", "confidence", "interventions", "programs")


@ROUTES.get("/runs")
async def list_sources(request: web.Request) -> web.Response:
    """List the stores and files, or go to the only one."""
    sources = request.app[SITE].library.sources
    if len(sources) == 1 and sources[0].is_store:
        raise web.HTTPSeeOther("/runs/1")
    seen = await in_thread(lambda: [(source, _glance(source)) for source in sources])
    return render(request, "sources.html", sources=seen)


def _glance(source: RunSource) -> StoreView | str:
    """Look into a store; say why that cannot be."""
    try:
        return view_store(source) if source.is_store else "a file of attempts"
    except CfrError as error:
        return str(error)


@ROUTES.get(r"/runs/{source:\d{1,6}}")
async def show_store(request: web.Request) -> web.Response:
    """Show what a store holds."""
    return await _show_store(request, "store.html")


@ROUTES.get(r"/runs/{source:\d{1,6}}/series")
async def show_series_table(request: web.Request) -> web.Response:
    """Show the table alone, as it is now."""
    return await _show_store(request, "series_table_part.html")


async def _show_store(request: web.Request, template: str) -> web.Response:
    source, search = _source(request), request.query.get("q", "")
    view = await in_thread(view_store, source, search)
    again = f"/runs/{source.number}/series?{urlencode({'q': search})}"
    now = time.strftime("%H:%M:%S")
    return render(request, template, source=source, view=view, q=search, again=again, now=now)


def _source(request: web.Request) -> RunSource:
    return request.app[SITE].library.source(int(request.match_info["source"]))


@ROUTES.get(r"/runs/{source:\d{1,6}}/growth")
async def tell_growth(request: web.Request) -> web.Response:
    """Give a chart its numbers."""
    source, named = _source(request), request.query.get("series", "")
    series = read_number(request.query, "series", 1) if named else None

    def read() -> dict[str, Any]:
        with source.open() as store:
            found = read_growth(store, series)
        return {"times": found.times, "attempts": found.attempts, "right": found.right}

    return web.json_response(await in_thread(read), headers={"Cache-Control": "no-store"})


@ROUTES.get(r"/runs/{source:\d{1,6}}/{series:\d{1,9}}")
async def show_series(request: web.Request) -> web.Response:
    """Show a series, problem by problem."""
    source, number = _source(request), int(request.match_info["series"])
    query = request.query
    shown = _shown(query.get("show", ""))
    search, at = query.get("q", ""), read_number(query, "at", 0, least=0)

    def read() -> dict[str, Any]:
        with source.open() as store:
            series = read_series(store, number)
            page = list_problems(store, number, shown, search, at=at, most=_MOST)
            (line,) = (one for one in summaries(store) if one.series == number)
        return {"series": series, "page": page, "line": line_of(line)}

    values = await in_thread(read)
    turn = partial(_turned, {"show": shown, "q": search})
    return render(
        request,
        "series.html" if "HX-Request" not in request.headers else "problem_table_part.html",
        source=source,
        shown=shown,
        q=search,
        kinds=SHOWN,
        at=at,
        back=turn(at - _MOST) if at else None,
        on=turn(at + _MOST) if at + _MOST < values["page"].total else None,
        **values,
    )


def _shown(name: str) -> Shown:
    for one in SHOWN:
        if one == name:
            return one
    return "all"


def _turned(kept: dict[str, str], at: int) -> str:
    return "?" + write_query(kept | {"at": max(0, at)})


@ROUTES.get(r"/runs/{source:\d{1,6}}/{series:\d{1,9}}/attempt")
async def show_attempt(request: web.Request) -> web.Response:
    """Show one attempt in full."""
    source, series = _source(request), request.match_info["series"]
    problem = request.query.get("problem", "1")
    run = read_number(request.query, "run", 0, least=0)

    def read() -> Any:
        with source.open() as store:
            return read_attempt(store, SeriesName(series), problem, run)

    found = await in_thread(read)
    text = str(found.problem["text"])
    rest = {name: value for name, value in found.details.items() if name not in _READ_ELSEWHERE}
    return render(
        request,
        "attempt.html",
        source=source,
        found=found,
        marked=mark_text(text, cue_marks(route(text))),
        ending=list(explain_ending(found)),
        summary=read_summary(found.details, text),
        rest=printable_json(rest, indent=2) if rest else "",
        stage_title=stage_title,
        describe_cost=describe_cost,
        read_spec=read_spec,
    )
