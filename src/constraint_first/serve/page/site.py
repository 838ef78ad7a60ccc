"""Shared parts of all pages: files, forms, the runs to show, marked texts, errors, the login."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import threading
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar
from urllib.parse import quote, urlencode, urlsplit

import sqlalchemy as sa
from aiohttp import web
from markupsafe import Markup, escape

from constraint_first.constraint.router import FAMILIES, Cue
from constraint_first.constraint.stated.statement import Stated
from constraint_first.error import CfrError, InputError
from constraint_first.file.rows import row_format
from constraint_first.file.safe import expand_user
from constraint_first.pattern import lazy_pattern
from constraint_first.report.math import STYLE, formula_spans, to_html
from constraint_first.report.reader import existing_store, open_study
from constraint_first.report.report import page_environment
from constraint_first.report.study import Study, StudyError, benchmark_label, model_label
from constraint_first.serve.attempt import SERVICES
from constraint_first.serve.guard import TOKEN_COOKIE
from constraint_first.serve.request import RequestError
from constraint_first.store import database as schema
from constraint_first.store.database import sqlite_path, without_password
from constraint_first.store.store import Store

ROUTES: Final = web.RouteTableDef()

# Static files of pages. Browsers may cache a file forever, since its URL has a hash of its
# content.

_TYPES: Final = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_FILES: Final = (
    *("chart.js", "htmx.min.js", "icon.svg", "keys.js", "page.css", "page.js", "playground.js"),
    *("uplot.min.css", "uplot.min.js"),
)


@cache
def _asset(name: str) -> bytes:
    folder = files("constraint_first.serve.page").joinpath("static")
    content = folder.joinpath(name).read_bytes()
    if name == "page.css":
        content += folder.joinpath("content.css").read_bytes() + STYLE.encode()
    return content


@cache
def asset_url(name: str) -> str:
    return f"/static/{name}?v={hashlib.sha256(_asset(name)).hexdigest()[:12]}"


@ROUTES.get("/static/{name}")
async def send_asset(request: web.Request) -> web.Response:
    name = request.match_info["name"]
    if name not in _FILES:
        raise RequestError(f"{request.path}: there is no such file", 404)
    kept = "max-age=31536000, immutable" if "v" in request.query else "no-cache"
    return web.Response(
        body=_asset(name),
        content_type=_TYPES[name[name.rindex(".") :]],
        charset="utf-8",
        headers={"Cache-Control": kept},
    )


# Numbers and names in query strings and forms.


def read_number(
    sent: Mapping[str, object], name: str, usual: int, *, least: int = 1, most: int = 999_999_999
) -> int:
    """Parse an integer of a query string or a form; return the default if it is missing."""
    written = str(sent.get(name, "") or usual)
    if written.isascii() and written.isdecimal() and len(written) < 10:
        number = int(written)
        if least <= number <= most:
            return number
    raise RequestError(
        f"{name}: {written[:40]!r} is no whole number from {least} to {most:,}", param=name
    )


def write_query(fields: Mapping[str, object]) -> str:
    """Write a query string without empty fields."""
    return urlencode({name: value for name, value in fields.items() if value != ""})


# The runs that pages show: the stores and files of attempts that the server was started with.
# Pages refer to them by number, so that no URL can reach any other file.

ALL: Final = 0
"""The number that means all sources together."""
Stamp: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class RunSource:
    number: int
    url: str

    @property
    def name(self) -> str:
        return without_password(self.url)

    @property
    def is_store(self) -> bool:
        """Whether it is a store, which has all messages and may grow."""
        return not row_format(Path(self.url))

    def open(self) -> Store:
        return existing_store(self.url)

    def stamp(self) -> Stamp:
        """Return a value that changes with the source and is cheap to compute."""
        path = sqlite_path(self.url) if self.is_store else expand_user(self.url)
        if path is None:
            with self.open() as store:
                a = schema.attempts.c
                return tuple(store.read(sa.select(sa.func.count(), sa.func.max(a.finished_at)))[0])
        found: list[object] = []
        for one in (path, path.with_name(path.name + "-wal")):
            with suppress(OSError):
                state = one.stat()
                found += (one.name, state.st_mtime_ns, state.st_size)
        return tuple(found)


class RunLibrary:
    """All sources, and a cached study of each, which is read again when its source has changed."""

    def __init__(self, urls: Sequence[str]) -> None:
        unique = dict.fromkeys(urls)
        self.sources = tuple(RunSource(number, url) for number, url in enumerate(unique, start=1))
        self._studies: dict[int, tuple[Stamp, Study]] = {}
        self._reading = threading.Lock()

    def source(self, number: int) -> RunSource:
        if not 1 <= number <= len(self.sources):
            raise RequestError(f"runs {number}: there is no such store here", 404)
        return self.sources[number - 1]

    def chosen(self, number: int) -> Sequence[RunSource]:
        if number != ALL:
            return (self.source(number),)
        if not self.sources:
            raise InputError("no runs were named; start the server with some: cfr serve runs.db")
        return self.sources

    def study(self, number: int) -> Study:
        """Read the study of a source, or of all; it blocks for a while, so call it in a thread."""
        chosen = self.chosen(number)
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


# A problem's text with parts of it marked, and its formulas as MathML. Two private-use characters
# are placeholders for the tags until the text has become HTML.

_OPEN: Final = "\ue000"
_CLOSE: Final = "\ue001"
_OURS: Final = lazy_pattern(f"[{_OPEN}{_CLOSE}]")
_BLANK_LINE: Final = lazy_pattern(r"\n\s*\n")
_LONGEST: Final = 20_000
"""The number of characters that are shown."""
_GONE: Final = "\N{REPLACEMENT CHARACTER}"


@dataclass(frozen=True, slots=True)
class TextMark:
    start: int
    end: int
    name: str
    title: str


def cue_marks(cues: Iterable[Cue]) -> Iterator[TextMark]:
    """Mark the router's cues, each family in its colour."""
    for cue in cues:
        number = FAMILIES.index(cue.family)
        title = f"cue: {cue.family.replace('_', ' ')}"
        yield from (TextMark(*span, f"cue cue-{number}", title) for span in cue.spans)


def stated_marks(stated: Iterable[Stated]) -> Iterator[TextMark]:
    return (TextMark(*one.span, "stated", one.sentence) for one in stated)


def mark_text(text: str, marks: Iterable[TextMark]) -> Markup:
    """Write a text as HTML with marks, extended to whole formulas; none crosses a blank line."""
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
    """Quote a part of a text, extended to whole formulas."""
    mark = _around(TextMark(*span, "", ""), formula_spans(text))
    return text[mark.start : mark.end].strip()


def _around(mark: TextMark, formulas: Sequence[tuple[int, int]]) -> TextMark:
    first = bisect_right(formulas, mark.start, key=itemgetter(1))
    touched = formulas[first : bisect_left(formulas, mark.end, key=itemgetter(0))]
    start = min((mark.start, *(one[0] for one in touched)))
    end = max((mark.end, *(one[1] for one in touched)))
    return TextMark(start, end, mark.name, mark.title)


def _stretches(marks: Sequence[TextMark]) -> Iterator[TextMark]:
    """Split marks where others begin or end, so that none overlap partially."""
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


# Templates, headers, forms and errors.

T = TypeVar("T")

CONTENT_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
_HEADERS: Final = {
    "Content-Security-Policy": CONTENT_POLICY,
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    # With "no-referrer" a browser would send "Origin: null" with our own forms.
    "Referrer-Policy": "same-origin",
}
_NOT_PAGES: Final = ("/v1/", "/health", "/metrics")
_SAFE: Final = ("GET", "HEAD")


_TABS: Final = {
    "/": "Playground",
    "/runs": "Runs",
    "/compare": "Compare",
    "/audit": "Audit",
    "/benchmark": "Benchmark",
    "/report": "Report",
}
_TEX: Final = lazy_pattern(r"[\\^_{}]")


def _formula(answer: str) -> object:
    if not _TEX.search(answer):
        return answer
    return to_html(answer if "$" in answer else f"${answer}$")


@dataclass(frozen=True, slots=True)
class SiteOptions:
    runs: tuple[str, ...] = ()
    """Stores and files of attempts."""
    labels: Path = Path("labels.jsonl")
    """The file of marks of constraints."""
    classes: Path = Path("classes.jsonl")
    """The file of error classes."""


class Site:
    def __init__(self, options: SiteOptions) -> None:
        self.options = options
        self.library = RunLibrary(options.runs)
        self.marking = threading.Lock()
        """Held while a mark is saved."""
        self._environment = page_environment("constraint_first.serve.page.templates")
        shared: dict[str, Any] = {
            "asset": asset_url,
            "tabs": _TABS,
            "families": {family: number for number, family in enumerate(FAMILIES)},
            "formula": _formula,
            "benchmark_label": benchmark_label,
            "model_label": model_label,
        }
        self._environment.globals.update(shared)

    def fill(self, template: str, **values: Any) -> str:
        return self._environment.get_template(template).render(values)


SITE: Final = web.AppKey("site", Site)


def render(
    request: web.Request, template: str, *, status: int = 200, **values: Any
) -> web.Response:
    common: dict[str, Any] = {
        "here": here if (here := "/" + request.path.split("/")[1]) in _TABS else "/",
        "has_token": bool(request.app[SERVICES].settings.token),
    }
    text = request.app[SITE].fill(template, **(common | values))
    return web.Response(status=status, text=text, content_type="text/html", headers=_HEADERS)


def read_runs(sent: Mapping[str, object]) -> int:
    """Parse the number of a source; 0 means all."""
    return read_number(sent, "runs", 1, least=0)


async def in_thread(work: Callable[..., T], *given: Any) -> T:
    """Run slow work in a thread. Its errors concern the query of the page: a 400, not a 500."""
    try:
        return await asyncio.to_thread(work, *given)
    except RequestError:
        raise
    except CfrError as error:
        raise RequestError(str(error)) from None


async def read_form(request: web.Request) -> dict[str, str]:
    try:
        return {name: str(value) for name, value in (await request.post()).items()}
    except (ValueError, LookupError):  # a wrong or unknown charset
        raise RequestError("the form is not text in its encoding", code="invalid_body") from None


def check_same_origin(request: web.Request) -> None:
    """Refuse a cross-origin form, even of an origin that may use the API."""
    origin, site = request.headers.get("Origin"), request.headers.get("Sec-Fetch-Site")
    own = origin is None or urlsplit(origin).netloc.lower() == request.host.lower()
    if not own or site not in (None, "same-origin", "none"):
        raise RequestError(
            "this form can only be sent from a page of this server", 403, code="origin_not_allowed"
        )


def show_error(request: web.Request, error: RequestError) -> web.Response | None:
    """Show an error as a page; None if the client is a program."""
    part = "HX-Request" in request.headers
    wanted = part or "text/html" in request.headers.get("Accept", "")
    if not wanted or request.path.startswith(_NOT_PAGES):
        return None
    if error.status == 401 and part:  # redirect the whole page, not only a part
        return web.Response(status=401, headers={"HX-Redirect": "/login"})
    if error.status == 401:
        after = request.path_qs if request.method in _SAFE else "/"
        return go_to(f"/login?next={quote(after, safe='')}")
    template = "error_part.html" if part else "error.html"
    return render(request, template, status=error.status, error=error)


# Login: the server's token is entered once, and the browser stores it in a cookie.

_PAUSE: Final = 0.5
"""Seconds of delay after a wrong token, against guessing."""


@ROUTES.get("/login")
async def ask_token(request: web.Request) -> web.Response:
    after = _local(request.query.get("next", "/"))
    if not request.app[SERVICES].settings.token:
        return go_to(after)
    return render(request, "login.html", after=after, wrong=False)


@ROUTES.post("/login")
async def take_token(request: web.Request) -> web.Response:
    check_same_origin(request)
    form = await read_form(request)
    token, after = form.get("token", "").strip(), _local(form.get("next", "/"))
    own = request.app[SERVICES].settings.token
    if not hmac.compare_digest(token.encode("utf-8", "replace"), own.encode()):
        await asyncio.sleep(_PAUSE)
        return render(request, "login.html", status=401, after=after, wrong=True)
    answer = go_to(after)
    answer.set_cookie(
        TOKEN_COOKIE, own, httponly=True, samesite="Strict", secure=request.secure, path="/"
    )
    return answer


@ROUTES.post("/logout")
async def forget_token(request: web.Request) -> web.Response:
    check_same_origin(request)
    answer = go_to("/login")
    answer.del_cookie(TOKEN_COOKIE, path="/")
    return answer


def go_to(path: str) -> web.Response:
    return web.Response(status=303, headers={"Location": path})


def _local(path: str) -> str:
    """Return a path of this server; ``/`` for one that browsers could read as another host."""
    plain = path.isascii() and path.isprintable()
    safe = plain and path.startswith("/") and not path.startswith(("//", "/\\"))
    return path if safe else "/"
