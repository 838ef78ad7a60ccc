"""HTML page of a report that needs nothing else: no script, no network, light and dark."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from constraint_first.file.safe import printable
from constraint_first.pattern import lazy_pattern
from constraint_first.report.notation import require, several
from constraint_first.report.table import group_spans

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from constraint_first.report.canvas import Figure
    from constraint_first.report.report import Report

_PACKAGE: Final = "constraint_first.report.template"
_LONGEST: Final = 20
"""Rows of a table that is shown at once; a longer one is folded."""


_INTERVAL: Final = lazy_pattern(r"(?<=\[)([−\d.,]+), (?=[−\d.,]+\])")
_NO_BREAK: Final = "\N{NO-BREAK SPACE}"


def report_html(report: Report) -> str:
    """Write a report as a page; whatever comes from a model or a file is escaped."""
    environment = page_environment()
    from markupsafe import Markup

    style = Markup(report_style())  # noqa: S704
    return environment.get_template("report.html").render(report=report, style=style)


def report_style() -> str:
    """Give the style of a report, all that stands in its only ``<style>``."""
    from constraint_first.report.math import STYLE

    return _read(_PACKAGE, "style.css") + STYLE


def page_environment(*packages: str) -> Environment:
    """Make what fills templates, which are looked for in packages and among the shared parts.

    Whatever a template shows is escaped; only formulas and figures are HTML already, made from
    text that was.
    """
    require("jinja2", "latex2mathml")
    import jinja2

    from constraint_first.report.math import to_html

    def load(name: str) -> str | None:
        for package in (*packages, _PACKAGE):
            if files(package).joinpath(name).is_file():
                return _read(package, name)
        return None

    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
        loader=jinja2.FunctionLoader(load),
    )
    shared: dict[str, Any] = {
        "groups": group_spans,
        "several": several,
        "longest": _LONGEST,
        "maths": to_html,
        "inline": _inline,
        "unbroken": _unbroken,
    }
    environment.globals.update(shared)
    return environment


def _read(package: str, name: str) -> str:
    return files(package).joinpath(name).read_text(encoding="utf-8")


def _shown(value: object) -> object:
    """Show control characters instead of obeying them."""
    if not isinstance(value, str) or hasattr(value, "__html__"):
        return value
    return printable(value)


def _inline(figure: Figure) -> Markup:
    from markupsafe import Markup

    return Markup(figure.svg)  # noqa: S704 - drawn by matplotlib, which escapes what it writes


def _unbroken(text: str) -> str:
    """Keep an interval on one line, and a p-value."""
    text = _INTERVAL.sub(rf"\1,{_NO_BREAK}", text)
    return text.replace("(p = ", f"(p{_NO_BREAK}={_NO_BREAK}")
