"""The audit: who has marked what, how far people agree, and the way to mark more."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from aiohttp import web

from constraint_first.analysis.audit.manual.annotation import labels_of, rates
from constraint_first.analysis.audit.manual.error_label import read_error_labels
from constraint_first.analysis.audit.manual.label import Label, read_labels
from constraint_first.analysis.statistics.comparison import constrained_method, find_baseline
from constraint_first.analysis.study.family import with_short_names
from constraint_first.analysis.study.study import benchmark_label, model_label
from constraint_first.analysis.table.manual_audit import (
    annotator_table,
    error_annotator_table,
    manual_audit_table,
)
from constraint_first.serve.page.site import SITE, Site, in_thread, read_runs, render

__all__ = ["ROUTES"]

ROUTES: Final = web.RouteTableDef()


@ROUTES.get("/audit")
async def show_audit(request: web.Request) -> web.Response:
    """Show what was marked so far."""
    site, runs = request.app[SITE], read_runs(request)
    if not site.library.sources:
        return render(request, "no_runs.html", title="Audit")
    annotator = request.query.get("annotator", "")
    values = await in_thread(_overview, site, runs)
    return render(
        request, "audit.html", library=site.library, runs=runs, annotator=annotator, **values
    )


def _overview(site: Site, runs: int) -> dict[str, Any]:
    study = with_short_names(site.library.study(runs))
    path = site.options.labels
    labels, elsewhere = labels_of(read_labels([path]) if path.exists() else [], study)
    errors = read_error_labels(site.options.classes)
    tables = [manual_audit_table(labels), annotator_table(labels)] if rates(labels) else []
    base = find_baseline(study)
    base = base if base in study.names("method") else study.names("method")[0]
    return {
        "study": study,
        "methods": {name: study.method_name(name) for name in study.names("method")},
        "models": {name: model_label(name) for name in study.names("model")},
        "benchmarks": {name: benchmark_label(name) for name in study.names("benchmark")},
        "baseline": base,
        "method": constrained_method(study, base),
        "people": _people(labels),
        "classed": Counter(one.annotator for one in errors),
        "tables": [*tables, *([error_annotator_table(errors)] if errors else [])],
        "elsewhere": elsewhere,
        "paths": (path, site.options.classes),
    }


def _people(labels: list[Label]) -> dict[str, tuple[int, int]]:
    """Count for each annotator the attempts that are judged, and those that are begun."""
    found: dict[str, tuple[int, int]] = {}
    for label in labels:
        judged, begun = found.get(label.annotator, (0, 0))
        found[label.annotator] = (judged + label.complete, begun + (not label.complete))
    return found
