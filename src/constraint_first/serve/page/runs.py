"""Stored runs, a comparison of two methods, ConstraintBench, and the report."""

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
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import urlencode

from aiohttp import web

from constraint_first.attempt.events import stage_title
from constraint_first.benchmark.constraintbench.family import (
    SPLITS,
    TIERS,
    Item,
    Split,
    find_item,
    load,
    split_name,
)
from constraint_first.benchmark.constraintbench.make import FAMILIES
from constraint_first.constraint.router import route
from constraint_first.constraint.stage1 import KINDS, read_spec
from constraint_first.constraint.stated.read import read_stated
from constraint_first.constraint.stated.statement import Stated, check_stated
from constraint_first.error import CfrError
from constraint_first.file.safe import printable_json
from constraint_first.method.sound import read_summary
from constraint_first.model.limit import Cost, sum_costs
from constraint_first.report.canvas import Figure
from constraint_first.report.comparison import (
    Comparison,
    compare,
    constrained_method,
    find_baseline,
    find_method,
    score_problems,
)
from constraint_first.report.exhibit import gains
from constraint_first.report.exhibit.cost import ratios_table
from constraint_first.report.exhibit.errors import ChangedProblem, changed_problems, open_case
from constraint_first.report.report import report_style
from constraint_first.report.study import Study, benchmark_label, model_label, with_short_names
from constraint_first.report.table import NONE, MissingExtra, decimal, interval
from constraint_first.serve.page import site
from constraint_first.serve.request import RequestError
from constraint_first.store import query


@dataclass(frozen=True, slots=True)
class SeriesLine:
    summary: query.SeriesResult
    accuracy: str
    interval: str
    begun: int
    problems: int
    """Problems of its benchmark in the store."""

    @property
    def attempted(self) -> int:
        """Problems with a judged run."""
        return sum(self.summary.scores.values())


@dataclass(frozen=True, slots=True)
class StoreView:
    lines: tuple[SeriesLine, ...]
    shown: tuple[SeriesLine, ...]
    """The filter of problems."""
    failures: tuple[query.Failure, ...]
    running: bool

    @property
    def attempts(self) -> int:
        return sum(line.summary.tally.total for line in self.lines)

    @property
    def tokens(self) -> int:
        return sum(line.summary.tally.usage.total for line in self.lines)

    @property
    def begun(self) -> int:
        """Attempts that are under way or were interrupted."""
        return sum(line.begun for line in self.lines)

    @property
    def cost(self) -> Cost | None:
        return sum_costs(line.summary.tally.cost for line in self.lines)


def view_store(source: site.RunSource, search: str = "") -> StoreView:
    """Read a store; show the series whose names contain all the words."""
    with source.open() as store:
        known, begun = query.count_problems(store), query.count_begun(store)
        lines = tuple(
            line_of(one, begun.get(one.series.number, 0), known.get(one.series.benchmark, 0))
            for one in query.summaries(store)
        )
        words = search.casefold().split()
        shown = tuple(line for line in lines if _has_words(line, words))
        return StoreView(lines, shown, tuple(query.failures(store)), store.is_taken)


def line_of(summary: query.SeriesResult, begun: int = 0, problems: int = 0) -> SeriesLine:
    if (found := score_problems(summary.scores)) is None:
        return SeriesLine(summary, NONE, "", begun, problems)
    accuracy, around = decimal(found.accuracy), interval(found.interval).strip()
    return SeriesLine(summary, accuracy, around, begun, problems)


def _has_words(line: SeriesLine, words: Iterable[str]) -> bool:
    one = line.summary.series
    names = (one.benchmark, benchmark_label(one.benchmark), one.method, one.label, one.model)
    told = " ".join((str(one.number), *names, model_label(one.model))).casefold()
    return all(word in told for word in words)


# Stored runs: the contents of each store, updated live, down to single attempts.

ROUTES: Final = web.RouteTableDef()
_MOST: Final = 50
"""Problems on one page."""
_READ_ELSEWHERE: Final = ("checks", "confidence", "interventions", "programs")


@ROUTES.get("/runs")
async def list_sources(request: web.Request) -> web.Response:
    sources = request.app[site.SITE].library.sources
    if len(sources) == 1 and sources[0].is_store:
        raise web.HTTPSeeOther("/runs/1")
    seen = await site.in_thread(lambda: [(source, _glance(source)) for source in sources])
    return site.render(request, "sources.html", sources=seen)


def _glance(source: site.RunSource) -> StoreView | str:
    try:
        return view_store(source) if source.is_store else "a file of attempts"
    except CfrError as error:
        return str(error)


@ROUTES.get(r"/runs/{source:\d{1,6}}")
@ROUTES.get(r"/runs/{source:\d{1,6}}/series")
async def show_store(request: web.Request) -> web.Response:
    source, search = _source(request), request.query.get("q", "")
    view = await site.in_thread(view_store, source, search)
    again = f"/runs/{source.number}/series?{urlencode({'q': search})}"
    now = time.strftime("%H:%M:%S")
    template = "series_table_part.html" if request.path.endswith("/series") else "store.html"
    return site.render(request, template, source=source, view=view, q=search, again=again, now=now)


def _source(request: web.Request) -> site.RunSource:
    return request.app[site.SITE].library.source(int(request.match_info["source"]))


@ROUTES.get(r"/runs/{source:\d{1,6}}/growth")
async def tell_growth(request: web.Request) -> web.Response:
    source, named = _source(request), request.query.get("series", "")
    series = site.read_number(request.query, "series", 1) if named else None

    def read() -> dict[str, Any]:
        with source.open() as store:
            found = query.read_growth(store, series)
        return {"times": found.times, "attempts": found.attempts, "right": found.right}

    return web.json_response(await site.in_thread(read), headers={"Cache-Control": "no-store"})


@ROUTES.get(r"/runs/{source:\d{1,6}}/{series:\d{1,9}}")
async def show_series(request: web.Request) -> web.Response:
    source, number = _source(request), int(request.match_info["series"])
    sent = request.query
    found: list[query.Shown] = [one for one in query.SHOWN if one == sent.get("show")]
    shown = found[0] if found else "all"
    search, at = sent.get("q", ""), site.read_number(sent, "at", 0, least=0)

    def read() -> dict[str, Any]:
        with source.open() as store:
            series = query.read_series(store, number)
            page = query.list_problems(store, number, shown, search, at=at, most=_MOST)
            (line,) = (one for one in query.summaries(store) if one.series.number == number)
        return {"series": series, "page": page, "line": line_of(line)}

    values = await site.in_thread(read)

    def turn(at: int) -> str:
        return "?" + site.write_query({"show": shown, "q": search, "at": max(0, at)})

    return site.render(
        request,
        "series.html" if "HX-Request" not in request.headers else "problem_table_part.html",
        source=source,
        shown=shown,
        q=search,
        kinds=query.SHOWN,
        at=at,
        back=turn(at - _MOST) if at else None,
        on=turn(at + _MOST) if at + _MOST < values["page"].total else None,
        **values,
    )


@ROUTES.get(r"/runs/{source:\d{1,6}}/{series:\d{1,9}}/attempt")
async def show_attempt(request: web.Request) -> web.Response:
    source, series = _source(request), request.match_info["series"]
    problem = request.query.get("problem", "1")
    run = site.read_number(request.query, "run", 0, least=0)

    def read() -> Any:
        with source.open() as store:
            return query.read_attempt(store, query.SeriesName(series), problem, run)

    found = await site.in_thread(read)
    text = str(found.problem["text"])
    rest = {name: value for name, value in found.details.items() if name not in _READ_ELSEWHERE}
    return site.render(
        request,
        "attempt.html",
        source=source,
        found=found,
        marked=site.mark_text(text, site.cue_marks(route(text))),
        ending=list(query.explain_ending(found)),
        summary=read_summary(found.details, text),
        rest=printable_json(rest, indent=2) if rest else "",
        stage_title=stage_title,
        describe_cost=query.describe_cost,
        read_spec=read_spec,
    )


# Two methods compared: the verdict, the forest plot, and every problem on which they differ.


@dataclass(frozen=True, slots=True)
class _Choice:
    """The comparison that a query string names; for empty fields the data decide."""

    runs: int
    baseline: str = ""
    method: str = ""
    model: str = ""
    benchmark: str = ""

    @classmethod
    def read(cls, request: web.Request) -> _Choice:
        sent = request.query
        names = ("baseline", "method", "model", "benchmark")
        return cls(site.read_runs(sent), *(sent.get(name, "") for name in names))

    def to_query(self, **more: object) -> str:
        own = {name: getattr(self, name) for name in self.__slots__}
        return site.write_query(own | more)


@ROUTES.get("/compare")
async def show_comparison(request: web.Request) -> web.Response:
    library, choice = request.app[site.SITE].library, _Choice.read(request)
    if not library.sources:
        return site.render(request, "no_runs.html", title="Compare")
    return site.render(
        request, "compare.html", library=library, **await site.in_thread(_compared, library, choice)
    )


def _study(whole: Study, choice: _Choice) -> tuple[Study, _Choice]:
    """Read the compared part of the runs, and choose defaults for empty fields."""
    model = choice.model or whole.names("model")[0]
    part = whole.only(model=[model], benchmark=[choice.benchmark] if choice.benchmark else [])
    base = find_baseline(part, choice.baseline)
    if not choice.baseline and base not in part.names("method"):
        base = part.names("method")[0]
    method = find_method(part, choice.method) if choice.method else constrained_method(part, base)
    return part, _Choice(choice.runs, base, method, model, choice.benchmark)


def _compared(library: site.RunLibrary, choice: _Choice) -> dict[str, Any]:
    whole = with_short_names(library.study(choice.runs))
    study, found = _study(whole, choice)
    named: dict[str, Any] = {
        "choice": found,
        "methods": {name: study.method_name(name) for name in study.names("method")},
        "models": {name: model_label(name) for name in whole.names("model")},
        "benchmarks": {name: benchmark_label(name) for name in whole.names("benchmark")},
        "comparison": None,
    }
    if found.baseline == found.method:
        return named | {"why": f"{study.source}: has one method alone; run another to compare"}
    comparison = compare(study, found.baseline, [found.method])
    changed = changed_problems(study, found.baseline, found.method)
    return named | {
        "comparison": comparison,
        "verdict": gains.verdict(comparison, found.method),
        "note": gains.verdict_note([comparison]),
        "figure": _forest(comparison),
        "tables": [gains.paired_table(comparison), ratios_table(comparison)],
        "sides": [
            (title, [one for one in changed if one.change == change])
            for title, change in (("Improved", "fixed"), ("Degraded", "broken"))
        ],
        "most": _MOST,
    }


def _forest(comparison: Comparison) -> Figure | None:
    try:
        return gains.forest_figure(comparison, "forest", "Gains with their 95 % intervals")
    except MissingExtra:  # the table has the same numbers
        return None


@ROUTES.get("/compare/case")
async def show_case(request: web.Request) -> web.Response:
    library, choice = request.app[site.SITE].library, _Choice.read(request)
    place = tuple(request.query.get(name, "") for name in ("on", "with", "problem"))

    def read() -> Any:
        study, found = _study(with_short_names(library.study(choice.runs)), choice)
        changed = changed_problems(study, found.baseline, found.method)
        one = next((one for one in changed if one.place == place), None)
        case = open_case(study, one) if one else None
        if one is None or case is None:
            raise RequestError(f"problem {place[2]}: the two do not differ there", 404)
        return case, _links(library, choice.runs, one)

    case, links = await site.in_thread(read)
    return site.render(request, "case_part.html", case=case, links=links)


def _links(library: site.RunLibrary, runs: int, changed: ChangedProblem) -> list[tuple[str, str]]:
    """Link to the messages of both attempts, if they are in one store."""
    if not runs or not library.source(runs).is_store:
        return []
    with library.source(runs).open() as store:
        return [
            (
                arm.name,
                f"/runs/{runs}/{query.find_series(store, *arm.key)}/attempt?"
                + urlencode({"problem": changed.problem, "run": attempt.run}),
            )
            for arm, attempt in changed.attempts
        ]


# ConstraintBench problem by problem: its gold constraints, and the stated constraints that our
# reader finds.

_BENCHMARK_MOST: Final = 20
"""Problems on one page."""
_LONGEST: Final = 200
"""Characters of the search words."""


@dataclass(frozen=True, slots=True)
class _Filter:
    """A filter of problems; an empty field matches all."""

    split: Split = "public"
    tier: str = ""
    family: str = ""
    level: str = ""
    kind: str = ""
    q: str = ""

    @classmethod
    def read(cls, sent: Mapping[str, str]) -> _Filter:
        """Parse a query string; unknown values are ignored."""
        found: list[Split] = [one for one in SPLITS if one == sent.get("split")]
        split = found[0] if found else "public"
        given = {
            name: sent.get(name, "")
            for name, values in _choices(split).items()
            if sent.get(name) in values
        }
        return cls(split, **given, q=sent.get("q", "")[:_LONGEST])

    def items(self) -> list[Item]:
        words = self.q.casefold().split()
        return [
            item
            for item in load(self.split)
            if self.tier in ("", item.tier)
            and self.family in ("", item.family)
            and self.level in ("", str(item.level))
            and (not self.kind or self.kind in item.kinds)
            and all(word in f"{item.id} {item.text}".casefold() for word in words)
        ]

    def to_query(self, **more: object) -> str:
        own = {name: getattr(self, name) for name in self.__slots__}
        own["split"] = "" if self.split == "public" else self.split
        return site.write_query(own | more)


@cache
def _choices(split: Split) -> dict[str, list[str]]:
    items = load(split)
    tiers, kinds = {item.tier for item in items}, {kind for item in items for kind in item.kinds}
    return {
        "tier": [tier for tier in TIERS if tier in tiers],
        "family": sorted({item.family for item in items}),
        "level": sorted({str(item.level) for item in items}),
        "kind": [kind for kind in KINDS if kind in kinds],
    }


@ROUTES.get("/benchmark")
async def list_items(request: web.Request) -> web.Response:
    sent = request.query
    wanted, at = _Filter.read(sent), site.read_number(sent, "at", 0, least=0)
    values = await site.in_thread(_listed, wanted, at)
    part = "HX-Request" in request.headers
    return site.render(request, "benchmark_part.html" if part else "benchmark.html", **values)


def _listed(wanted: _Filter, at: int) -> dict[str, Any]:
    found, every = wanted.items(), load(wanted.split)
    here = found[at : at + _BENCHMARK_MOST]
    return {
        "wanted": wanted,
        "choices": {
            name: [("", "all"), *zip(values, values, strict=True)]
            for name, values in _choices(wanted.split).items()
        },
        "families_of": {
            tier: sorted({item.family for item in every if item.tier == tier})
            for tier in _choices(wanted.split)["tier"]
        },
        "splits": {split: split_name(split) for split in SPLITS},
        "every": every,
        "total": len(found),
        "at": at,
        "shown": [
            (item, site.mark_text(item.text, site.cue_marks(route(item.text)))) for item in here
        ],
        "back": wanted.to_query(at=max(0, at - _BENCHMARK_MOST)) if at else None,
        "on": wanted.to_query(at=at + _BENCHMARK_MOST)
        if at + _BENCHMARK_MOST < len(found)
        else None,
    }


@ROUTES.get("/benchmark/{name}")
async def show_item(request: web.Request) -> web.Response:
    name = request.match_info["name"]
    item = find_item(name)
    if item is None:
        raise RequestError(f"{name[:80]}: no problem of ConstraintBench is called so", 404)
    wanted = _Filter.read(request.query)
    return site.render(
        request, "benchmark_item.html", **await site.in_thread(_opened, item, wanted)
    )


def _opened(item: Item, wanted: _Filter) -> dict[str, Any]:
    text, stated = item.text, read_stated(item.text)
    cues, family = route(text), FAMILIES.get(item.family)
    # Subsets come after the full set.
    split: Split = next(one for one in SPLITS if item in load(one))
    wanted = wanted if item in load(wanted.split) else _Filter(split)
    found = wanted.items()
    place = found.index(item) if item in found else None
    return {
        "item": item,
        "wanted": wanted,
        "benchmark": split_name(split),
        "about": family.about if family and item.version == 2 else "",
        "marked": site.mark_text(text, (*site.cue_marks(cues), *_gold_marks(item))),
        "cues": [(cue, cue.phrases(text)) for cue in cues],
        "stated": [
            (one, site.quote_words(text, one.span))
            for one in {one.sentence: one for one in stated}.values()
        ],
        "lures": [(lure, _broken(stated, lure.answer)) for lure in item.tempting],
        "row": printable_json(item.to_json(), indent=2),
        "before": found[place - 1] if place else None,
        "after": None if place is None else next(iter(found[place + 1 :]), None),
    }


def _gold_marks(item: Item) -> list[site.TextMark]:
    """Mark the words that state a gold constraint; one that contains the answer stays hidden."""
    return [
        site.TextMark(start, start + len(gold.span), "stated", f"gold: {gold.description}")
        for gold in item.constraints
        if gold.span and not gold.pins and (start := item.text.find(gold.span)) >= 0
    ]


def _broken(stated: Sequence[Stated], answer: str) -> str:
    """Return the first stated constraint that an answer violates; empty if none."""
    checked = check_stated(stated, answer)
    return next((one.sentence for one, truth in checked if truth == "violated"), "")


# The report: a button that runs ``cfr report``, and links to its output.

_SECONDS: Final = 1_800.0
"""Longest time that a report may take."""
_LONGEST_LINE: Final = 1 << 20
# The arguments are passed on standard input: the address of a store may contain a password, which
# must not appear in the list of processes.
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
    """The last line of the command's output: its current step."""
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
        """Start a report, unless one on these runs is being made already."""
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
        except ValueError:  # a line longer than the reader's limit
            report.error = _DIED


async def _run(report: _Report, arguments: str) -> int:
    """Run the command and return its exit status; kill it on any exception."""
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
        start_new_session=True,  # Ctrl-C must reach only the server, which then kills it
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
    """Show the page of a report, with its own Content-Security-Policy."""
    headers = {"Content-Security-Policy": _policy(), "Content-Type": "text/html; charset=utf-8"}
    return await _send(request, "report/report.html", headers)


@cache
def _policy() -> str:
    """Write a policy that allows a report its one style: no script, no origin, no framing."""
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
    except OSError:  # it is being rewritten
        raise RequestError(f"report {runs}: not here; make it again", 404) from None
    return web.Response(body=body, headers=headers | {"Cache-Control": "no-store"})
