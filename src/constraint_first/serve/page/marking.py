"""The audit: constraints and errors marked by several annotators, and their agreement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, TypeVar

from aiohttp import web

from constraint_first.constraint.router import route
from constraint_first.report.comparison import constrained_method, find_baseline
from constraint_first.report.exhibit import marks
from constraint_first.report.exhibit.errors import Flip, flips
from constraint_first.report.study import (
    ProblemText,
    Study,
    StudyError,
    Transcript,
    benchmark_label,
    model_label,
    with_short_names,
)
from constraint_first.serve.page import site
from constraint_first.serve.request import RequestError
from constraint_first.store.query import RecordKey

T = TypeVar("T")

ROUTES: Final = web.RouteTableDef()

_LARGEST: Final = 100_000
_LONGEST: Final = 2_000
"""Characters of a note or of a missing constraint."""
_KEYS: Final[dict[marks.Mark, str]] = {"entailed": "e", "not_entailed": "n", "vague": "v"}
_NO_TEXT: Final = ProblemText("(its text is not in these runs)")


@dataclass(frozen=True, slots=True)
class Sitting:
    """The selection that an annotator judges; an empty method or model means all."""

    annotator: str
    runs: int = 1
    size: int = 50
    seed: int = 1
    benchmark: str = ""
    model: str = ""
    method: str = ""
    baseline: str = ""
    """The method to compare with when errors are classified."""

    @classmethod
    def read(cls, sent: Mapping[str, object]) -> Sitting:
        names = ("benchmark", "model", "method", "baseline")
        return cls(
            marks.check_annotator(str(sent.get("annotator", "")).strip()),
            site.read_runs(sent),
            site.read_number(sent, "size", 50, most=_LARGEST),
            site.read_number(sent, "seed", 1, least=0),
            *(str(sent.get(name, "")) for name in names),
        )

    def fields(self) -> dict[str, str]:
        return {name: str(value) for name, value in asdict(self).items() if value != ""}

    def to_query(self, **more: object) -> str:
        return site.write_query(self.fields() | more)


@ROUTES.get("/audit")
async def show_audit(request: web.Request) -> web.Response:
    pages, runs = request.app[site.SITE], site.read_runs(request.query)
    if not pages.library.sources:
        return site.render(request, "no_runs.html", title="Audit")
    values = await site.in_thread(_overview, pages, runs)
    given = {"annotator": request.query.get("annotator", "")}
    return site.render(request, "audit.html", library=pages.library, runs=runs, **given, **values)


def _overview(pages: site.Site, runs: int) -> dict[str, Any]:
    study = with_short_names(pages.library.study(runs))
    labels, elsewhere = marks.labels_of(_labels(pages), study)
    errors = marks.read_error_labels(pages.options.classes)
    tables = [marks.error_annotator_table(errors)] if errors else []
    if marks.rates(labels):
        tables = [marks.manual_audit_table(labels), marks.annotator_table(labels), *tables]
    base = find_baseline(study)
    base = base if base in study.names("method") else study.names("method")[0]
    people: dict[str, tuple[int, int]] = {}
    for label in labels:
        judged, begun = people.get(label.annotator, (0, 0))
        people[label.annotator] = (judged + label.complete, begun + (not label.complete))
    return {
        "study": study,
        "methods": {name: study.method_name(name) for name in study.names("method")},
        "models": {name: model_label(name) for name in study.names("model")},
        "benchmarks": {name: benchmark_label(name) for name in study.names("benchmark")},
        "baseline": base,
        "method": constrained_method(study, base),
        "people": people,
        "classed": Counter(one.annotator for one in errors),
        "tables": tables,
        "elsewhere": elsewhere,
        "paths": (pages.options.labels, pages.options.classes),
    }


def _labels(pages: site.Site) -> list[marks.Label]:
    path = pages.options.labels
    return marks.read_labels([path]) if path.exists() else []


async def _asked(request: web.Request) -> tuple[Sitting, dict[str, str]]:
    """Parse a query string, or a form of our own pages."""
    sent = dict(request.query)
    if request.method == "POST":
        site.check_same_origin(request)
        sent = await site.read_form(request)
    return Sitting.read(sent), sent


def _turn(
    sent: Mapping[str, object], left: Sequence[int], total: int, name: str
) -> tuple[int, int | None]:
    """Return the named task or the first open one, and the next open one after it."""
    number = site.read_number(sent, "n", left[0] if left else 1)
    if number > total:
        raise RequestError(f"n: there are {total} {name}", param="n")
    others = [other for other in left if other != number]
    later = (other for other in others if other > number)
    return number, next(later, others[0] if others else None)


def _show(
    request: web.Request, template: str, sitting: Sitting, text: str, **values: Any
) -> web.Response:
    part = "_part" if "HX-Request" in request.headers else ""
    marked = site.mark_text(text, site.cue_marks(route(text)))
    return site.render(request, f"{template}{part}.html", sitting=sitting, marked=marked, **values)


def _one_of(sent: Mapping[str, str], name: str, known: Sequence[T]) -> T:
    written = sent.get(name, "")
    for one in known:
        if one == written:
            return one
    said = ", ".join(map(str, known))
    raise RequestError(f"{name}: {written[:40]!r} is not one of {said}", param=name)


# Constraints of Stage 1: a sample of attempts, one mark for each constraint.


@dataclass(frozen=True, slots=True)
class _Open:
    """An attempt of a sample that is shown to an annotator."""

    sample: tuple[RecordKey, ...]
    task: marks.MarkingTask
    judged: int
    next: int | None
    """The number of the next attempt that is not judged yet."""


@ROUTES.get("/audit/mark")
async def show_task(request: web.Request) -> web.Response:
    sitting, sent = await _asked(request)
    opened = await site.in_thread(_open, request.app[site.SITE], sitting, sent)
    return _show_task(request, sitting, opened)


@ROUTES.post("/audit/mark")
async def save_mark(request: web.Request) -> web.Response:
    """Save a mark, a missing constraint or a note, then respond."""
    sitting, sent = await _asked(request)
    opened = await site.in_thread(_save, request.app[site.SITE], sitting, sent)
    if "HX-Request" in request.headers:
        return _show_task(request, sitting, opened)
    task = opened.task
    return site.go_to(f"/audit/mark?{sitting.to_query(n=task.number, at=task.at + 1)}")


def _show_task(request: web.Request, sitting: Sitting, opened: _Open) -> web.Response:
    task = opened.task
    text = task.asked.text
    return _show(request, "task", sitting, text, opened=opened, task=task, keys=_KEYS)


def _open(pages: site.Site, sitting: Sitting, sent: Mapping[str, str]) -> _Open:
    """Draw the sample, which depends only on the names, and lay out one attempt of it."""
    study = pages.library.study(sitting.runs)
    sample = marks.draw(
        study,
        size=sitting.size,
        seed=sitting.seed,
        benchmark=sitting.benchmark or None,
        model=sitting.model or None,
        method=sitting.method or None,
    )
    labels = _labels(pages)
    left = [sample.index(key) + 1 for key in marks.resume(sample, labels, sitting.annotator)]
    number, after = _turn(sent, left, len(sample), "attempts in the sample")
    key = sample[number - 1]
    about = [label for label in labels if label.key == key]
    task = marks.lay_out(study, sample, about, sitting.annotator, key)
    if sent.get("at"):
        task.at = min(site.read_number(sent, "at", 1) - 1, len(task.label.constraints))
    return _Open(sample, task, len(sample) - len(left), after)


def _save(pages: site.Site, sitting: Sitting, sent: Mapping[str, str]) -> _Open:
    with pages.marking:  # else concurrent marks could overwrite each other
        marks.begin_labels(pages.options.labels)
        task = _open(pages, sitting, sent).task
        _change(task, sent)
        if task.label != task.saved:
            marks.append_label(pages.options.labels, task.label)
        return _open(pages, sitting, {"n": str(task.number), "at": str(task.at + 1)})


def _change(task: marks.MarkingTask, sent: Mapping[str, str]) -> None:
    label = task.label
    if sent.get("mark"):
        if task.finished:
            raise RequestError("at: there is no such constraint", param="at")
        task.mark(_one_of(sent, "mark", marks.MARKS))
    elif (missing := sent.get("missing", "").strip()[:_LONGEST]) and missing not in label.missing:
        task.label = replace(label, missing=(*label.missing, missing))
    elif "drop" in sent:
        number = site.read_number(sent, "drop", 1) - 1
        kept = (one for n, one in enumerate(label.missing) if n != number)
        task.label = replace(label, missing=tuple(kept))
    elif "note" in sent:
        task.label = replace(label, note=sent["note"].strip()[:_LONGEST])


# Errors: problems that only one of two methods solves; an annotator classifies each wrong answer.


@dataclass(frozen=True, slots=True)
class _Error:
    """An error that is shown to an annotator, without the method that made it."""

    number: int
    total: int
    classed: int
    flip: Flip
    asked: ProblemText
    said: Transcript | None
    given: marks.ErrorLabel | None
    """The annotator's earlier label."""
    method: str
    next: int | None


@ROUTES.get("/audit/errors")
async def show_error(request: web.Request) -> web.Response:
    sitting, sent = await _asked(request)
    found = await site.in_thread(_open_error, request.app[site.SITE], sitting, sent)
    return _show_error(request, sitting, found)


@ROUTES.post("/audit/errors")
async def save_class(request: web.Request) -> web.Response:
    sitting, sent = await _asked(request)
    found = await site.in_thread(_save_class, request.app[site.SITE], sitting, sent)
    if "HX-Request" in request.headers:
        return _show_error(request, sitting, found)
    return site.go_to(f"/audit/errors?{sitting.to_query(n=found.number)}")


def _show_error(request: web.Request, sitting: Sitting, found: _Error) -> web.Response:
    keys = [
        (name, marks.MISTAKE_LABELS[name], str((n + 1) % 10))
        for n, name in enumerate(marks.MISTAKES)
    ]
    values = {"found": found, "classes": keys, "labels": marks.MISTAKE_LABELS}
    return _show(request, "error_task", sitting, found.asked.text, **values)


def _open_error(pages: site.Site, sitting: Sitting, sent: Mapping[str, str]) -> _Error:
    """Find the errors of two methods, and open the named one or the first unclassified one."""
    study = pages.library.study(sitting.runs).only(
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
        for one in marks.read_error_labels(pages.options.classes)
        if one.annotator == sitting.annotator
    }
    keys = [(one.benchmark, one.problem, method, one.model) for one in found]
    left = [number for number, key in enumerate(keys, start=1) if key not in labels]
    number, after = _turn(sent, left, len(found), "errors")
    flip = found[number - 1]
    return _Error(
        number,
        len(found),
        len(found) - len(left),
        flip,
        study.problems.get((flip.benchmark, flip.problem)) or _NO_TEXT,
        _transcript(study, flip, base if flip.fixed else method),
        labels.get(keys[number - 1]),
        method,
        after,
    )


def _transcript(study: Study, flip: Flip, method: str) -> Transcript | None:
    arms = study.primary_only().select(benchmark=flip.benchmark, method=method, model=flip.model)
    for arm in arms:
        for attempt in arm.attempts.get(flip.problem, ()):
            if attempt.correct is False and attempt.answer == flip.answer:
                key = (*arm.key, flip.problem, attempt.run)
                return study.transcripts([key]).get(key)
    return None


def _save_class(pages: site.Site, sitting: Sitting, sent: Mapping[str, str]) -> _Error:
    with pages.marking:
        found = _open_error(pages, sitting, sent)
        flip = found.flip
        label = marks.ErrorLabel(
            sitting.annotator,
            flip.benchmark,
            flip.problem,
            found.method,
            flip.model,
            _one_of(sent, "class", marks.MISTAKES),
            sent.get("note", "").strip()[:_LONGEST],
        )
        if label != found.given:
            marks.append_label(pages.options.classes, label)
        return _open_error(pages, sitting, {"n": str(found.next or found.number)})
