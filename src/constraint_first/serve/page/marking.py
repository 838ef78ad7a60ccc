"""A sitting: whose marks, on which sample of which runs, and whose turn it is there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from aiohttp import web

from constraint_first.constraint.router import route
from constraint_first.report.comparison import constrained_method, find_baseline
from constraint_first.report.exhibit.errors import Flip, flips
from constraint_first.report.exhibit.marks import (
    MARKS,
    MISTAKE_LABELS,
    MISTAKES,
    ErrorLabel,
    Label,
    Mark,
    MarkingTask,
    Mistake,
    Sample,
    annotator_table,
    append_error_label,
    append_label,
    begin_labels,
    check_annotator,
    draw,
    error_annotator_table,
    labels_of,
    lay_out,
    manual_audit_table,
    rates,
    read_error_labels,
    read_labels,
    resume,
)
from constraint_first.report.study import (
    ProblemText,
    Study,
    StudyError,
    Transcript,
    benchmark_label,
    model_label,
    with_short_names,
)
from constraint_first.serve.page.site import (
    SITE,
    Site,
    check_same_origin,
    cue_marks,
    in_thread,
    mark_text,
    read_form,
    read_number,
    read_runs,
    render,
    write_query,
)
from constraint_first.serve.setting import RequestError

_LARGEST: Final = 100_000


@dataclass(frozen=True, slots=True)
class Sitting:
    """What an annotator judges; the names of methods and models may be empty for all."""

    annotator: str
    runs: int = 1
    size: int = 50
    seed: int = 1
    benchmark: str = ""
    model: str = ""
    method: str = ""
    baseline: str = ""
    """What a method is compared with, where errors are classed."""

    @classmethod
    def read(cls, sent: Mapping[str, object]) -> Sitting:
        """Read what an address or a form says."""
        names = ("benchmark", "model", "method", "baseline")
        return cls(
            check_annotator(str(sent.get("annotator", "")).strip()),
            read_number(sent, "runs", 1, least=0),
            read_number(sent, "size", 50, most=_LARGEST),
            read_number(sent, "seed", 1, least=0),
            *(str(sent.get(name, "")) for name in names),
        )

    def fields(self) -> dict[str, str]:
        """Give what is not empty, for a form."""
        return {name: str(value) for name, value in asdict(self).items() if value != ""}

    def to_query(self, **more: object) -> str:
        """Write it as the query of an address."""
        return write_query(self.fields() | more)


@dataclass(frozen=True, slots=True)
class Turn:
    """Which of some numbered tasks is open before an annotator, and which comes after it."""

    number: int
    next: int | None
    """The next one that is not done yet; None where all others are."""

    @classmethod
    def read(cls, sent: Mapping[str, object], left: Sequence[int], total: int, name: str) -> Turn:
        """Take the task that is named, or the first of those that are left."""
        number = read_number(sent, "n", left[0] if left else 1)
        if number > total:
            raise RequestError(f"n: there are {total} {name}", param="n")
        others = [other for other in left if other != number]
        later = (other for other in others if other > number)
        return cls(number, next(later, others[0] if others else None))


# Marking of Stage 1's constraints on a page: the same sample and file as ``cfr audit mark``.

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


# Classing of errors on a page, key by key, into the file that ``--classes`` reads.

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
    found = await in_thread(_open_error_marking, request.app[SITE], sitting, dict(request.query))
    return _shown_error_marking(request, sitting, found)


@ROUTES.post("/audit/errors")
async def save_class(request: web.Request) -> web.Response:
    """Keep the class of an error, and show the next one."""
    check_same_origin(request)
    sent = await read_form(request)
    sitting = Sitting.read(sent)
    found = await in_thread(_save_error_marking, request.app[SITE], sitting, sent)
    if "HX-Request" not in request.headers:
        where = sitting.to_query(n=found.number)
        return web.Response(status=303, headers={"Location": f"/audit/errors?{where}"})
    return _shown_error_marking(request, sitting, found)


def _shown_error_marking(request: web.Request, sitting: Sitting, found: _Error) -> web.Response:
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


def _open_error_marking(site: Site, sitting: Sitting, sent: Mapping[str, str]) -> _Error:
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


def _save_error_marking(site: Site, sitting: Sitting, sent: Mapping[str, str]) -> _Error:
    with site.marking:
        found = _open_error_marking(site, sitting, sent)
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
        return _open_error_marking(site, sitting, {"n": str(found.next or found.number)})


def _class(written: str, known: Sequence[Mistake]) -> Mistake:
    for one in known:
        if one == written:
            return one
    raise RequestError(f"class: {written[:40]!r} is not one of {', '.join(known)}", param="class")


# The audit: who has marked what, how far people agree, and the way to mark more.


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
