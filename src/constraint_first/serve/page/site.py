"""Files that pages load beside their HTML: style, scripts and an icon, each with its hash.

A browser keeps a file for good, under an address that changes with its content.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
import zipfile
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.resources import files
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias, TypeVar, cast
from urllib.parse import quote, urlencode, urlsplit

import sqlalchemy as sa
from aiohttp import web
from markupsafe import Markup, escape

from constraint_first.constraint.router import FAMILIES, Cue
from constraint_first.constraint.stated.statement import Stated
from constraint_first.error import CfrError, InputError
from constraint_first.file.rows import row_format
from constraint_first.file.safe import expand_user, one_line
from constraint_first.pattern import lazy_pattern
from constraint_first.report.exhibit.marks import DEFAULT_RULE, ErrorRule, read_classes, read_labels
from constraint_first.report.math import STYLE, formula_spans, to_html
from constraint_first.report.notation import REPORT, require
from constraint_first.report.page import page_environment
from constraint_first.report.reader import existing_store, open_study
from constraint_first.report.report import PARTS, ReportOptions, assemble, write
from constraint_first.report.study import Study, StudyError, benchmark_label, model_label
from constraint_first.serve.guard import TOKEN_COOKIE
from constraint_first.serve.service import SERVICES
from constraint_first.serve.setting import ErrorReply, RequestError
from constraint_first.store import schema
from constraint_first.store.database import sqlite_path, without_password
from constraint_first.store.store import Store

ROUTES: Final = web.RouteTableDef()

_TYPES: Final = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_PARTS: Final = {
    "page.css": ("page.css", "content.css"),
    **{
        name: (name,)
        for name in (
            *("chart.js", "htmx.min.js", "icon.svg", "keys.js", "page.js", "playground.js"),
            *("uplot.min.css", "uplot.min.js"),
        )
    },
}
"""All files there are, by the name that a browser asks for."""


class _Asset(NamedTuple):
    content: bytes
    version: str


@cache
def _asset(name: str) -> _Asset:
    folder = files("constraint_first.serve.page").joinpath("static")
    content = b"".join(folder.joinpath(part).read_bytes() for part in _PARTS[name])
    if name == "page.css":
        content += STYLE.encode()
    return _Asset(content, hashlib.sha256(content).hexdigest()[:12])


def asset_url(name: str) -> str:
    """Say where a browser finds a file."""
    return f"/static/{name}?v={_asset(name).version}"


@ROUTES.get("/static/{name}")
async def send_asset(request: web.Request) -> web.Response:
    """Send a file; there are no others than those above, whatever the name."""
    name = request.match_info["name"]
    if name not in _PARTS:
        raise RequestError(f"{request.path}: there is no such file", 404)
    kept = "max-age=31536000, immutable" if "v" in request.query else "no-cache"
    return web.Response(
        body=_asset(name).content,
        content_type=_TYPES[name[name.rindex(".") :]],
        charset="utf-8",
        headers={"Cache-Control": kept},
    )


# Numbers and names in addresses and forms: read, and written.

_LARGEST: Final = 999_999_999


def read_number(
    sent: Mapping[str, object],
    name: str,
    usual: int,
    *,
    least: int = 1,
    most: int = _LARGEST,
) -> int:
    """Read a whole number; where none is given it is the usual one."""
    written = str(sent.get(name, "") or usual)
    if written.isascii() and written.isdecimal() and len(written) < 10:
        number = int(written)
        if least <= number <= most:
            return number
    raise RequestError(
        f"{name}: {written[:40]!r} is no whole number from {least} to {most:,}", param=name
    )


def write_query(fields: Mapping[str, object]) -> str:
    """Write the query of an address; what is empty is left out."""
    return urlencode({name: value for name, value in fields.items() if value != ""})


# The runs that pages show: stores and files of attempts, as they were named when it started.
#
# Pages name them by number, so that no address reaches any other file. A study is read anew when
# its source has changed.

ALL: Final = 0
"""The number of all sources together."""
Stamp: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class RunSource:
    """A store, or a file of attempts."""

    number: int
    url: str

    @property
    def name(self) -> str:
        """What it is called, without a password."""
        return without_password(self.url)

    @property
    def is_store(self) -> bool:
        """Whether it is a store, which has every message and may grow."""
        return not row_format(Path(self.url))

    def open(self) -> Store:
        """Open the store; a file of attempts is none."""
        return existing_store(self.url)

    def stamp(self) -> Stamp:
        """Tell one state of it from another, at little cost."""
        path = sqlite_path(self.url) if self.is_store else expand_user(self.url)
        if path is None:
            with self.open() as store:
                a = schema.attempts.c
                return tuple(store.read(sa.select(sa.func.count(), sa.func.max(a.finished_at)))[0])
        return tuple(map(_state, (path, path.with_name(path.name + "-wal"))))


def _state(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


class RunLibrary:
    """All sources, and the studies that were read from them last."""

    def __init__(self, urls: Sequence[str]) -> None:
        unique = dict.fromkeys(urls)
        self.sources = tuple(RunSource(number, url) for number, url in enumerate(unique, start=1))
        self._studies: dict[int, tuple[Stamp, Study]] = {}
        self._reading = threading.Lock()

    def source(self, number: int) -> RunSource:
        """Find a source by its number."""
        if not 1 <= number <= len(self.sources):
            raise RequestError(f"runs {number}: there is no such store here", 404)
        return self.sources[number - 1]

    def study(self, number: int) -> Study:
        """Read the study of a source, or of all; it takes a while, so call it in a thread."""
        chosen = self.sources if number == ALL else (self.source(number),)
        if not chosen:
            raise InputError("no runs were named; start the server with some: cfr serve runs.db")
        with self._reading:
            stamp = tuple(source.stamp() for source in chosen)
            known = self._studies.get(number)
            if known is None or known[0] != stamp:
                known = (stamp, open_study([source.url for source in chosen]))
                self._studies[number] = known
        study = known[1]
        if not study.arms:
            raise StudyError(f"{study.source}: no attempts yet; run 'cfr eval' first")
        return study


# A problem's text with stretches of it marked, its formulas as MathML all the same.

_OPEN: Final = "\ue000"
_CLOSE: Final = "\ue001"
_OURS: Final = lazy_pattern(f"[{_OPEN}{_CLOSE}]")
_BLANK_LINE: Final = lazy_pattern(r"\n\s*\n")
_LONGEST: Final = 20_000
"""Characters that are shown; no mark goes beyond them."""
_GONE: Final = "\N{REPLACEMENT CHARACTER}"


@dataclass(frozen=True, slots=True)
class TextMark:
    """A stretch of a text, the class that it is shown in, and what is said of it."""

    start: int
    end: int
    name: str
    title: str


def cue_marks(cues: Iterable[Cue]) -> Iterator[TextMark]:
    """Mark the words that make the router act, each family in a colour of its own."""
    for cue in cues:
        number = FAMILIES.index(cue.family)
        title = f"cue: {cue.family.replace('_', ' ')}"
        yield from (TextMark(*span, f"cue cue-{number}", title) for span in cue.spans)


def stated_marks(stated: Iterable[Stated]) -> Iterator[TextMark]:
    """Mark the words that state a constraint."""
    return (TextMark(*one.span, "stated", one.sentence) for one in stated)


def mark_text(text: str, marks: Iterable[TextMark]) -> Markup:
    """Write a text as HTML, with its marks.

    A mark that begins or ends within a formula takes in the whole of it; one that goes beyond its
    paragraph is left out.
    """
    text = _OURS.sub(_GONE, text)
    formulas = formula_spans(text)
    fitting = [_around(mark, formulas) for mark in marks if 0 <= mark.start < mark.end <= len(text)]
    stretches = list(
        _stretches([m for m in fitting if not _BLANK_LINE.search(text, m.start, m.end)])
    )
    stretches = [one for n, one in enumerate(stretches, 1) if one.end + 2 * n <= _LONGEST]
    pieces, at = list[str](), 0
    for one in stretches:
        pieces += (text[at : one.start], _OPEN, text[one.start : one.end], _CLOSE)
        at = one.end
    html = to_html("".join((*pieces, text[at:])), limit=_LONGEST)
    tags = iter(stretches)
    return Markup(_OURS.sub(lambda found: _tag(found[0], tags), html))  # noqa: S704 (escaped)


def quote_words(text: str, span: tuple[int, int]) -> str:
    """Quote a stretch of a text, with the whole of any formula that it touches."""
    mark = _around(TextMark(*span, "", ""), formula_spans(text))
    return text[mark.start : mark.end].strip()


def _around(mark: TextMark, formulas: Sequence[tuple[int, int]]) -> TextMark:
    first = bisect_right(formulas, mark.start, key=itemgetter(1))
    touched = formulas[first : bisect_left(formulas, mark.end, key=itemgetter(0))]
    start = min((mark.start, *(one[0] for one in touched)))
    end = max((mark.end, *(one[1] for one in touched)))
    return TextMark(start, end, mark.name, mark.title)


def _stretches(marks: Sequence[TextMark]) -> Iterator[TextMark]:
    """Cut marks where others begin or end, so that none lies across another."""
    ends = sorted({end for mark in marks for end in (mark.start, mark.end)})
    later = deque(sorted(enumerate(marks), key=lambda one: one[1].start))
    here: dict[int, TextMark] = {}
    for start, end in pairwise(ends):
        here = {number: mark for number, mark in here.items() if mark.end > start}
        while later and later[0][1].start <= start:
            here.update([later.popleft()])
        if here:
            found = [mark for _, mark in sorted(here.items(), key=itemgetter(0))]
            names = " ".join(dict.fromkeys(mark.name for mark in found))
            titles = "; ".join(dict.fromkeys(mark.title for mark in found))
            yield TextMark(start, end, names, titles)


def _tag(found: str, tags: Iterator[TextMark]) -> str:
    if found == _CLOSE:
        return "</mark>"
    mark = next(tags)
    return f'<mark class="{escape(mark.name)}" title="{escape(mark.title)}">'


# A process that makes one report, with the code of ``cfr report``, and says how far it is.
#
# The order comes as JSON on standard input, so that no password of a store stands on a command
# line; each step goes out as a line of JSON.

FOLDER: Final = "report"
"""Where the files are."""
ZIP: Final = "report.zip"
"""All files in one."""
_READING: Final = "Reading the runs"
_WRITING: Final = "Writing the files"
STEPS: Final = (_READING, *PARTS, _WRITING)
"""What is said before each step."""
_POLITE: Final = 5
"""How far a report stands back behind the server's own work."""


@dataclass(frozen=True, slots=True)
class ReportOrder:
    """A report that is wanted; what is empty is left to ``cfr report``."""

    runs: tuple[str, ...]
    baseline: str = ""
    method: str = ""
    benchmark: str = ""
    model: str = ""
    cases: int = 12
    figures: bool = True
    labels: str = ""
    """The file of what people marked of Stage 1's constraints."""
    classes: str = ""
    """The file of errors that people classed."""

    def to_json(self) -> str:
        """Write it down."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, written: str) -> ReportOrder:
        """Read it back."""
        fields = json.loads(written)
        return cls(tuple(fields.pop("runs")), **fields)


def write_report(order: ReportOrder, place: Path, tell: Callable[[str], None]) -> tuple[str, ...]:
    """Make a report in a folder, and all of it as one file beside that; return its verdicts."""
    require(*REPORT)
    tell(_READING)
    study = _part(order)
    options = ReportOptions(
        baseline=order.baseline,
        method=order.method,
        cases=order.cases,
        figures=order.figures,
        labels=tuple(read_labels([Path(order.labels)])) if order.labels else (),
        error_rule=_error_rule(order, study),
    )
    report = assemble(study, options, tell)
    tell(_WRITING)
    write(report, place / FOLDER)
    with zipfile.ZipFile(place / ZIP, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted((place / FOLDER).rglob("*")):
            packed.write(path, path.relative_to(place))
    return report.sections[0].claims


def _part(order: ReportOrder) -> Study:
    study = open_study(order.runs)
    if not study.arms:
        raise StudyError(f"{study.source}: no attempts yet; run 'cfr eval' first")
    return study.only(
        benchmark=[order.benchmark] if order.benchmark else [],
        model=[order.model] if order.model else [],
    )


def _error_rule(order: ReportOrder, study: Study) -> ErrorRule:
    if not order.classes:
        return DEFAULT_RULE
    return ErrorRule(DEFAULT_RULE.right, read_classes(Path(order.classes), study))


def _tell(kind: str, value: object) -> None:
    sys.stdout.write(json.dumps({kind: value}) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Make the report that is ordered, in the folder that is named."""
    with suppress(OSError):
        os.nice(_POLITE)
    order = ReportOrder.from_json(sys.stdin.readline())
    try:
        _tell("done", write_report(order, Path(sys.argv[1]), lambda step: _tell("step", step)))
    except CfrError as error:
        _tell("error", one_line(str(error)))


if __name__ == "__main__":
    main()


# Reports on order: one is made at a time, in a process of its own, and the last few are kept.

State: TypeAlias = Literal["waiting", "working", "done", "failed"]

_MOST: Final = 6
"""Reports that are kept, and those that may wait."""
_SECONDS: Final = 1_800.0
"""How long one may take."""
_LONGEST_LINE: Final = 1 << 20
_STOPPED: Final = "stopped"
_PROGRAM: Final = "constraint_first.serve.page.site"
_DIED: Final = (
    "the report could not be made: its process ended early; 'cfr report' on the same runs says why"
)


@dataclass(slots=True)
class ReportJob:
    """A report on order: how far it is, and what came of it."""

    number: int
    order: ReportOrder
    title: str
    """What it is about, in words."""
    place: Path
    state: State = "waiting"
    step: str = ""
    error: str = ""
    claims: tuple[str, ...] = ()
    """Its verdicts."""
    files: dict[str, int] = field(default_factory=dict[str, int])
    """Files that were made, by their paths in the folder, with their sizes."""
    seconds: float = 0.0
    task: asyncio.Task[None] | None = None

    @property
    def under_way(self) -> bool:
        """Whether it is still to come."""
        return self.state in ("waiting", "working")

    @property
    def steps_done(self) -> int:
        """How many steps are behind it."""
        return STEPS.index(self.step) if self.step in STEPS else 0

    def find(self, name: str) -> Path:
        """Find a file by its path in the folder; there are no others, whatever the name."""
        if name == ZIP and self.state == "done":
            return self.place / ZIP
        if name not in self.files:
            raise RequestError(f"{name[:80]}: this report has no such file", 404)
        return self.place / FOLDER / name


class ReportDesk:
    """All reports of a server, the last one first."""

    def __init__(self, seconds: float = _SECONDS) -> None:
        self.jobs: list[ReportJob] = []
        self._seconds = seconds
        self._turn = asyncio.Lock()
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._count = 0

    def find(self, number: int) -> ReportJob:
        """Find a report by its number."""
        for job in self.jobs:
            if job.number == number:
                return job
        raise RequestError(f"report {number}: not here, or not any more; make it again", 404)

    async def take(self, order: ReportOrder, title: str) -> ReportJob:
        """Take an order; one that is under way already is not begun twice."""
        waiting = [job for job in self.jobs if job.under_way]
        for job in waiting:
            if job.order == order:
                return job
        if len(waiting) >= _MOST:
            raise RequestError(
                f"{len(waiting)} reports are being made already; try again later",
                503,
                code="overloaded",
                retry_after=10,
            )
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="cfr-reports-")
        self._count += 1
        place = Path(self._folder.name) / str(self._count)
        job = ReportJob(self._count, order, title, place)
        self.jobs.insert(0, job)
        job.task = asyncio.create_task(self._make(job))
        await self._forget()
        return job

    async def stop(self, job: ReportJob) -> None:
        """Give a report up."""
        if job.task and job.under_way:
            job.task.cancel()
            await asyncio.wait([job.task])
            if job.under_way:  # it had not even begun
                _fail(job, _STOPPED)

    async def close(self) -> None:
        """Give up what is under way, and remove all files."""
        for job in self.jobs:
            await self.stop(job)
        self.jobs.clear()
        if self._folder is not None:
            await asyncio.to_thread(self._folder.cleanup)

    async def _forget(self) -> None:
        """Remove the oldest reports beyond those that are kept."""
        over = [job for job in self.jobs[_MOST:] if not job.under_way]
        for job in over:
            self.jobs.remove(job)
            await asyncio.to_thread(shutil.rmtree, job.place, ignore_errors=True)

    async def _make(self, job: ReportJob) -> None:
        try:
            async with self._turn:
                job.state, began = "working", time.monotonic()
                async with asyncio.timeout(self._seconds):
                    await self._follow(job)
                job.seconds = time.monotonic() - began
        except TimeoutError:
            _fail(job, f"the report took longer than {self._seconds:g} s and was given up")
        except asyncio.CancelledError:
            _fail(job, _STOPPED)
        except OSError as error:
            _fail(job, f"the report could not be made ({error.strerror})")
        except ValueError:  # a line that is none of ours
            _fail(job, _DIED)

    async def _follow(self, job: ReportJob) -> None:
        """Read what the process says until it ends."""
        job.place.mkdir(parents=True)
        claims: list[str] | None = None
        async with _writer(job) as output:
            async for line in output:
                told: dict[str, Any] = json.loads(line)
                job.step = told.get("step", job.step)
                job.error = told.get("error", job.error)
                claims = told.get("done", claims)
        if claims is None:
            _fail(job, job.error or _DIED)
        else:
            job.files = await asyncio.to_thread(_list, job.place / FOLDER)
            job.state, job.claims = "done", tuple(claims)


def _fail(job: ReportJob, why: str) -> None:
    job.state, job.error = "failed", why


@asynccontextmanager
async def _writer(job: ReportJob) -> AsyncGenerator[asyncio.StreamReader]:
    """Start the process, and end it whatever happens."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", _PROGRAM, str(job.place)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        start_new_session=True,  # Ctrl-C is for the server, which then ends it
        limit=_LONGEST_LINE,
    )
    try:
        told = cast("asyncio.StreamWriter", process.stdin)
        told.write(job.order.to_json().encode() + b"\n")
        with suppress(ConnectionError):
            await told.drain()
        yield cast("asyncio.StreamReader", process.stdout)
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


def _list(folder: Path) -> dict[str, int]:
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.stat().st_size for path in paths}


# What all pages of a server share: templates, headers, the runs that they show, their errors.

T = TypeVar("T")

CONTENT_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
_HEADERS: Final = {
    "Content-Security-Policy": CONTENT_POLICY,
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    # Without any referrer a browser says of its own forms that they come from nowhere.
    "Referrer-Policy": "same-origin",
}
_TEMPLATES: Final = "constraint_first.serve.page.templates"
_NOT_PAGES: Final = ("/v1/", "/health", "/metrics")
_SAFE: Final = ("GET", "HEAD")


@dataclass(frozen=True, slots=True)
class Tab:
    """A line of the navigation."""

    path: str
    title: str


_TABS: Final = (
    Tab("/", "Playground"),
    Tab("/runs", "Runs"),
    Tab("/compare", "Compare"),
    Tab("/audit", "Audit"),
    Tab("/benchmark", "Benchmark"),
    Tab("/report", "Report"),
)


_FAMILIES: Final = {family: number for number, family in enumerate(FAMILIES)}
_TEX: Final = lazy_pattern(r"[\\^_{}]")


def _formula(answer: str) -> object:
    """Show an answer as mathematics where it is some, and as it was written elsewhere."""
    return (
        to_html(f"${answer}$" if "$" not in answer else answer) if _TEX.search(answer) else answer
    )


@dataclass(frozen=True, slots=True)
class SiteOptions:
    """What pages show, and where they keep what people mark."""

    runs: tuple[str, ...] = ()
    """Stores and files of attempts."""
    labels: Path = Path("labels.jsonl")
    """Where marks of constraints are kept."""
    classes: Path = Path("classes.jsonl")
    """Where classes of errors are kept."""


class Site:
    """The pages of one server."""

    def __init__(self, options: SiteOptions) -> None:
        self.options = options
        self.library = RunLibrary(options.runs)
        self.marking = threading.Lock()
        """Held while a mark is kept."""
        self.reports = ReportDesk()
        self._environment = page_environment(_TEMPLATES)
        shared: dict[str, Any] = {
            "asset": asset_url,
            "tabs": _TABS,
            "families": _FAMILIES,
            "formula": _formula,
            "benchmark_label": benchmark_label,
            "model_label": model_label,
        }
        self._environment.globals.update(shared)

    def fill(self, template: str, **values: Any) -> str:
        """Fill a template; whatever is shown is escaped."""
        return self._environment.get_template(template).render(values)


SITE: Final = web.AppKey("site", Site)


def render(
    request: web.Request, template: str, *, status: int = 200, **values: Any
) -> web.Response:
    """Answer with a page, or with a part of one."""
    common: dict[str, Any] = {
        "here": _tab(request.path),
        "has_token": bool(request.app[SERVICES].settings.token),
    }
    text = request.app[SITE].fill(template, **(common | values))
    return web.Response(status=status, text=text, content_type="text/html", headers=_HEADERS)


def _tab(path: str) -> str:
    first = "/" + path.split("/")[1]
    return first if first in {tab.path for tab in _TABS} else "/"


def read_runs(request: web.Request) -> int:
    """Read which source a page is about: the first unless another is named, or all."""
    return read_number(request.query, "runs", 1, least=0)


async def in_thread(work: Callable[..., T], *given: Any) -> T:
    """Do what takes a while beside the server's own work; what is wrong with it is told as it is.

    A page reads whatever its person named, so that an error is as likely theirs as ours.
    """
    try:
        return await asyncio.to_thread(work, *given)
    except RequestError:
        raise
    except CfrError as error:
        raise RequestError(str(error)) from None


async def read_form(request: web.Request) -> dict[str, str]:
    """Read the fields of a form as texts."""
    try:
        return {name: str(value) for name, value in (await request.post()).items()}
    except (ValueError, LookupError):  # not the encoding that it says, or one that nobody knows
        raise RequestError("the form is not text in its encoding", code="invalid_body") from None


def check_same_origin(request: web.Request) -> None:
    """Refuse what another server's page sends, even one that may use the API."""
    origin, site = request.headers.get("Origin"), request.headers.get("Sec-Fetch-Site")
    own = origin is None or urlsplit(origin).netloc.lower() == request.host.lower()
    if not own or site not in (None, "same-origin", "none"):
        raise RequestError(
            "this form can only be sent from a page of this server", 403, code="origin_not_allowed"
        )


def show_error(request: web.Request, error: ErrorReply) -> web.Response | None:
    """Tell a person what is wrong; None where a program asked."""
    part = "HX-Request" in request.headers
    wanted = part or "text/html" in request.headers.get("Accept", "")
    if not wanted or request.path.startswith(_NOT_PAGES):
        return None
    if error.status == 401:
        return _ask_for_token(request, part=part)
    template = "error_part.html" if part else "error.html"
    return render(request, template, status=error.status, error=error)


def _ask_for_token(request: web.Request, *, part: bool) -> web.Response:
    if part:  # the whole page must go there, and not a part of it
        return web.Response(status=401, headers={"HX-Redirect": "/login"})
    after = request.path_qs if request.method in _SAFE else "/"
    return web.Response(status=303, headers={"Location": f"/login?next={quote(after, safe='')}"})


# Login: a person gives the server's token once, and the browser keeps it in a cookie.

_PAUSE: Final = 0.5
"""Seconds that a wrong token costs, so that nobody guesses fast."""


@ROUTES.get("/login")
async def ask_token(request: web.Request) -> web.Response:
    """Show the form."""
    after = _local(request.query.get("next", "/"))
    if not request.app[SERVICES].settings.token:
        return _go(after)
    return render(request, "login.html", after=after, wrong=False)


@ROUTES.post("/login")
async def take_token(request: web.Request) -> web.Response:
    """Keep a token that is right."""
    check_same_origin(request)
    form = await read_form(request)
    token, after = form.get("token", "").strip(), _local(form.get("next", "/"))
    own = request.app[SERVICES].settings.token
    if not hmac.compare_digest(token.encode("utf-8", "replace"), own.encode()):
        await asyncio.sleep(_PAUSE)
        return render(request, "login.html", status=401, after=after, wrong=True)
    answer = _go(after)
    answer.set_cookie(
        TOKEN_COOKIE, own, httponly=True, samesite="Strict", secure=request.secure, path="/"
    )
    return answer


@ROUTES.post("/logout")
async def forget_token(request: web.Request) -> web.Response:
    """Forget the token."""
    check_same_origin(request)
    answer = _go("/login")
    answer.del_cookie(TOKEN_COOKIE, path="/")
    return answer


def _go(path: str) -> web.Response:
    return web.Response(status=303, headers={"Location": path})


def _local(path: str) -> str:
    """Keep to this server: a path that could name another is not followed."""
    plain = path.isascii() and path.isprintable()
    safe = plain and path.startswith("/") and not path.startswith(("//", "/\\"))
    return path if safe else "/"
