"""Marking of Stage 1's constraints on a page: the same sample and file as ``cfr audit mark``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from aiohttp import web

from constraint_first.analysis.audit.manual.label import (
    MARKS,
    Label,
    Mark,
    append_label,
    begin_labels,
    read_labels,
)
from constraint_first.analysis.audit.manual.sample import Sample, draw, resume
from constraint_first.analysis.audit.manual.task import MarkingTask, lay_out
from constraint_first.constraint.router import route
from constraint_first.serve.error_reply import RequestError
from constraint_first.serve.page.marked_text import cue_marks, mark_text
from constraint_first.serve.page.query import read_number
from constraint_first.serve.page.site import (
    SITE,
    Site,
    check_same_origin,
    in_thread,
    read_form,
    render,
)
from constraint_first.serve.page.sitting import Sitting, Turn

__all__ = ["ROUTES"]

ROUTES: Final = web.RouteTableDef()
_KEYS: Final[dict[Mark, str]] = {"entailed": "e", "not_entailed": "n", "vague": "v"}
_LONGEST: Final = 2_000
"""Characters of a note, or of a constraint that is missing."""


@dataclass(frozen=True, slots=True)
class _Open:
    """An attempt of a sample that is open before an annotator."""

    sample: Sample
    task: MarkingTask
    judged: int
    next: int | None
    """The number of the next attempt that is not judged yet."""


@ROUTES.get("/audit/mark")
async def show_task(request: web.Request) -> web.Response:
    """Show an attempt with its constraints."""
    sitting = Sitting.read(request.query)
    opened = await in_thread(_open, request.app[SITE], sitting, dict(request.query))
    return _shown(request, sitting, opened)


@ROUTES.post("/audit/mark")
async def save_mark(request: web.Request) -> web.Response:
    """Keep a mark, a missing constraint or a note; it is on the disk when the answer comes."""
    check_same_origin(request)
    sent = await read_form(request)
    sitting = Sitting.read(sent)
    opened = await in_thread(_save, request.app[SITE], sitting, sent)
    if "HX-Request" not in request.headers:
        where = sitting.to_query(n=opened.task.number, at=opened.task.at + 1)
        return web.Response(status=303, headers={"Location": f"/audit/mark?{where}"})
    return _shown(request, sitting, opened)


def _shown(request: web.Request, sitting: Sitting, opened: _Open) -> web.Response:
    text = opened.task.asked.text
    part = "HX-Request" in request.headers
    return render(
        request,
        "task_part.html" if part else "task.html",
        sitting=sitting,
        opened=opened,
        task=opened.task,
        marked=mark_text(text, cue_marks(route(text))),
        keys=_KEYS,
    )


def _labels(site: Site) -> list[Label]:
    path = site.options.labels
    return read_labels([path]) if path.exists() else []


def _open(site: Site, sitting: Sitting, sent: Mapping[str, str]) -> _Open:
    """Draw the sample again, and lay out one attempt of it: the one named, or the first open one.

    Names that were given twice draw the same sample, here and on the command line.
    """
    study = site.library.study(sitting.runs)
    sample = draw(
        study,
        size=sitting.size,
        seed=sitting.seed,
        benchmark=sitting.benchmark or None,
        model=sitting.model or None,
        method=sitting.method or None,
    )
    labels = _labels(site)
    left = [sample.keys.index(key) + 1 for key in resume(sample, labels, sitting.annotator)]
    turn = Turn.read(sent, left, len(sample.keys), "attempts in the sample")
    key = sample.keys[turn.number - 1]
    about = [label for label in labels if label.key == key]
    (task,) = lay_out(study, sample, about, sitting.annotator, [key])
    if sent.get("at"):
        task.at = min(read_number(sent, "at", 1) - 1, len(task.label.constraints))
    return _Open(sample, task, len(sample.keys) - len(left), turn.next)


def _save(site: Site, sitting: Sitting, sent: Mapping[str, str]) -> _Open:
    with site.marking:  # two marks at the same time must not undo each other
        begin_labels(site.options.labels)
        opened = _open(site, sitting, sent)
        task = opened.task
        _change(task, sent)
        if task.label != task.saved:
            append_label(site.options.labels, task.label)
        return _open(site, sitting, {"n": str(task.number), "at": str(task.at + 1)})


def _change(task: MarkingTask, sent: Mapping[str, str]) -> None:
    label = task.label
    if written := sent.get("mark"):
        if task.finished:
            raise RequestError("at: there is no such constraint", param="at")
        task.mark(_mark(written))
    elif (missing := sent.get("missing", "").strip()[:_LONGEST]) and missing not in label.missing:
        task.label = replace(label, missing=(*label.missing, missing))
    elif "drop" in sent:
        number = read_number(sent, "drop", 1) - 1
        kept = (one for n, one in enumerate(label.missing) if n != number)
        task.label = replace(label, missing=tuple(kept))
    elif "note" in sent:
        task.label = replace(label, note=sent["note"].strip()[:_LONGEST])


def _mark(written: str) -> Mark:
    for one in MARKS:
        if one == written:
            return one
    raise RequestError(f"mark: {written[:40]!r} is not one of {', '.join(MARKS)}", param="mark")
