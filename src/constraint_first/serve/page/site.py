"""What all pages of a server share: templates, headers, the runs that they show, their errors."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlsplit

from aiohttp import web

from constraint_first.analysis.report.mathematics import to_html
from constraint_first.analysis.report.page import page_environment
from constraint_first.analysis.study.study import benchmark_label, model_label
from constraint_first.constraint.router import FAMILIES
from constraint_first.error import CfrError
from constraint_first.serve.error_reply import ErrorReply, RequestError
from constraint_first.serve.page.asset import asset_url
from constraint_first.serve.page.library import RunLibrary
from constraint_first.serve.page.query import read_number
from constraint_first.serve.page.report_desk import ReportDesk
from constraint_first.serve.service import SERVICES

__all__ = [
    "CONTENT_POLICY",
    "SITE",
    "Site",
    "SiteOptions",
    "check_same_origin",
    "read_form",
    "render",
    "show_error",
]

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
_TEX: Final = re.compile(r"[\\^_{}]")


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
