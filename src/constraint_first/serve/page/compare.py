"""Two methods compared: the verdict, the forest plot, and every problem on which they differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from aiohttp import web

from constraint_first.analysis.audit.case import ChangedProblem, changed_problems, open_case
from constraint_first.analysis.extra import MissingExtra
from constraint_first.analysis.figure.figure import Caption, Figure
from constraint_first.analysis.figure.illustration import forest_figure
from constraint_first.analysis.report.verdict import verdict, verdict_note
from constraint_first.analysis.statistics.comparison import (
    Comparison,
    compare,
    constrained_method,
    find_baseline,
    find_method,
)
from constraint_first.analysis.study.family import with_short_names
from constraint_first.analysis.study.study import Study, benchmark_label, model_label
from constraint_first.analysis.table.paired_comparison import paired_table
from constraint_first.analysis.table.token_ratio import ratios_table
from constraint_first.evaluation.stored_series import find_series
from constraint_first.serve.error_reply import RequestError
from constraint_first.serve.page.library import RunLibrary
from constraint_first.serve.page.query import write_query
from constraint_first.serve.page.site import SITE, in_thread, read_runs, render

__all__ = ["ROUTES"]

ROUTES: Final = web.RouteTableDef()
_MOST: Final = 50
"""Problems that are listed on each side."""


@dataclass(frozen=True, slots=True)
class _Choice:
    """What is compared, as an address names it; nothing is what the data suggest."""

    runs: int
    baseline: str = ""
    method: str = ""
    model: str = ""
    benchmark: str = ""

    @classmethod
    def read(cls, request: web.Request) -> _Choice:
        query = request.query
        names = ("baseline", "method", "model", "benchmark")
        return cls(read_runs(request), *(query.get(name, "") for name in names))

    def to_query(self, **more: object) -> str:
        """Write it as the query of an address."""
        own = {name: getattr(self, name) for name in self.__slots__}
        return write_query(own | more)


@ROUTES.get("/compare")
async def show_comparison(request: web.Request) -> web.Response:
    """Compare two methods, and show where they differ."""
    library, choice = request.app[SITE].library, _Choice.read(request)
    if not library.sources:
        return render(request, "no_runs.html", title="Compare")
    return render(
        request, "compare.html", library=library, **await in_thread(_compared, library, choice)
    )


def _study(whole: Study, choice: _Choice) -> tuple[Study, _Choice]:
    """Read the part of the runs that is compared, and find out what was not named."""
    model = choice.model or whole.names("model")[0]
    part = whole.only(model=[model], benchmark=[choice.benchmark] if choice.benchmark else [])
    base = find_baseline(part, choice.baseline)
    if not choice.baseline and base not in part.names("method"):
        base = part.names("method")[0]
    method = find_method(part, choice.method) if choice.method else constrained_method(part, base)
    return part, _Choice(choice.runs, base, method, model, choice.benchmark)


def _compared(library: RunLibrary, choice: _Choice) -> dict[str, Any]:
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
        "verdict": verdict(comparison, found.method),
        "note": verdict_note([comparison]),
        "figure": _forest(comparison),
        "tables": [paired_table(comparison), ratios_table(comparison)],
        "sides": [
            (title, [one for one in changed if one.change == change])
            for title, change in (("Improved", "fixed"), ("Degraded", "broken"))
        ],
        "most": _MOST,
    }


def _forest(comparison: Comparison) -> Figure | None:
    try:
        return forest_figure(comparison, Caption("forest", "Gains with their 95 % intervals"))
    except MissingExtra:  # the table says the same
        return None


@ROUTES.get("/compare/case")
async def show_case(request: web.Request) -> web.Response:
    """Show one problem with both transcripts beside each other."""
    library, choice = request.app[SITE].library, _Choice.read(request)
    place = tuple(request.query.get(name, "") for name in ("on", "with", "problem"))

    def read() -> Any:
        study, found = _study(with_short_names(library.study(choice.runs)), choice)
        changed = changed_problems(study, found.baseline, found.method)
        one = next((one for one in changed if one.place == place), None)
        case = open_case(study, one) if one else None
        if one is None or case is None:
            raise RequestError(f"problem {place[2]}: the two do not differ there", 404)
        return case, _links(library, choice.runs, one)

    case, links = await in_thread(read)
    return render(request, "case_part.html", case=case, links=links)


def _links(library: RunLibrary, runs: int, changed: ChangedProblem) -> list[tuple[str, str]]:
    """Lead to all messages of both attempts, where they are in one store."""
    if not runs or not library.source(runs).is_store:
        return []
    with library.source(runs).open() as store:
        return [
            (
                arm.name,
                f"/runs/{runs}/{find_series(store, *arm.key)}/attempt?"
                + urlencode({"problem": changed.problem, "run": attempt.run}),
            )
            for arm, attempt in changed.attempts
        ]
