"""Classing of errors on a page, key by key, into the file that ``--classes`` reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from aiohttp import web

from constraint_first.analysis.audit.flips import Flip, flips
from constraint_first.analysis.audit.manual.error_label import (
    ErrorLabel,
    append_error_label,
    read_error_labels,
)
from constraint_first.analysis.audit.mistake import MISTAKE_LABELS, MISTAKES, Mistake
from constraint_first.analysis.statistics.comparison import constrained_method, find_baseline
from constraint_first.analysis.study.study import ProblemText, Study, StudyError, Transcript
from constraint_first.constraint.router import route
from constraint_first.serve.error_reply import RequestError
from constraint_first.serve.page.marked_text import cue_marks, mark_text
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
_LONGEST: Final = 2_000
_NO_TEXT: Final = ProblemText("(its text is not in these runs)")


@dataclass(frozen=True, slots=True)
class _Error:
    """An error that is open before an annotator. Which method made it is not shown."""

    number: int
    total: int
    classed: int
    flip: Flip
    asked: ProblemText
    said: Transcript | None
    given: ErrorLabel | None
    """What the annotator said of it before."""
    method: str
    next: int | None


@ROUTES.get("/audit/errors")
async def show_error(request: web.Request) -> web.Response:
    """Show a wrong answer."""
    sitting = Sitting.read(request.query)
    found = await in_thread(_open, request.app[SITE], sitting, dict(request.query))
    return _shown(request, sitting, found)


@ROUTES.post("/audit/errors")
async def save_class(request: web.Request) -> web.Response:
    """Keep the class of an error, and show the next one."""
    check_same_origin(request)
    sent = await read_form(request)
    sitting = Sitting.read(sent)
    found = await in_thread(_save, request.app[SITE], sitting, sent)
    if "HX-Request" not in request.headers:
        where = sitting.to_query(n=found.number)
        return web.Response(status=303, headers={"Location": f"/audit/errors?{where}"})
    return _shown(request, sitting, found)


def _shown(request: web.Request, sitting: Sitting, found: _Error) -> web.Response:
    part = "HX-Request" in request.headers
    text = found.asked.text
    return render(
        request,
        "error_task_part.html" if part else "error_task.html",
        sitting=sitting,
        found=found,
        marked=mark_text(text, cue_marks(route(text))),
        classes=[
            (name, MISTAKE_LABELS[name], str((n + 1) % 10)) for n, name in enumerate(MISTAKES)
        ],
        labels=MISTAKE_LABELS,
    )


def _open(site: Site, sitting: Sitting, sent: Mapping[str, str]) -> _Error:
    """Find the errors of two methods, and open one: that which is named, or the first open one."""
    whole = site.library.study(sitting.runs)
    study = whole.only(
        benchmark=[sitting.benchmark] if sitting.benchmark else [],
        model=[sitting.model] if sitting.model else [],
    )
    base = find_baseline(study, sitting.baseline)
    method = constrained_method(study, base, sitting.method)
    found = flips(study, method, base)
    if not found:
        names = f"{study.method_name(method)} and {study.method_name(base)}"
        raise StudyError(f"{study.source}: {names} have no problem that only one of them solves")
    labels = {
        one.key: one
        for one in read_error_labels(site.options.classes)
        if one.annotator == sitting.annotator
    }
    keys = [(one.benchmark, one.problem, method, one.model) for one in found]
    left = [number for number, key in enumerate(keys, start=1) if key not in labels]
    turn = Turn.read(sent, left, len(found), "errors")
    flip = found[turn.number - 1]
    return _Error(
        turn.number,
        len(found),
        len(found) - len(left),
        flip,
        study.problems.get((flip.benchmark, flip.problem)) or _NO_TEXT,
        _transcript(study, flip, base if flip.fixed else method),
        labels.get(keys[turn.number - 1]),
        method,
        turn.next,
    )


def _transcript(study: Study, flip: Flip, method: str) -> Transcript | None:
    """Find an attempt that shows the error."""
    arms = study.primary_only().select(benchmark=flip.benchmark, method=method, model=flip.model)
    for arm in arms:
        for attempt in arm.attempts.get(flip.problem, ()):
            if attempt.correct is False and attempt.answer == flip.answer:
                key = (*arm.key, flip.problem, attempt.run)
                return study.transcripts([key]).get(key)
    return None


def _save(site: Site, sitting: Sitting, sent: Mapping[str, str]) -> _Error:
    with site.marking:
        found = _open(site, sitting, sent)
        flip = found.flip
        label = ErrorLabel(
            sitting.annotator,
            flip.benchmark,
            flip.problem,
            found.method,
            flip.model,
            _class(sent.get("class", ""), MISTAKES),
            sent.get("note", "").strip()[:_LONGEST],
        )
        if label != found.given:
            append_error_label(site.options.classes, label)
        return _open(site, sitting, {"n": str(found.next or found.number)})


def _class(written: str, known: Sequence[Mistake]) -> Mistake:
    for one in known:
        if one == written:
            return one
    raise RequestError(f"class: {written[:40]!r} is not one of {', '.join(known)}", param="class")
