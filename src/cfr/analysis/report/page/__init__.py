"""HTML page of a report that needs nothing else: no script, no network, light and dark."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from cfr.analysis.extra import require
from cfr.analysis.notation import several
from cfr.analysis.table.table import group_spans
from cfr.file.printable import printable

if TYPE_CHECKING:
    from cfr.analysis.figure.figure import Figure
    from cfr.analysis.report.report import Report

__all__ = ["report_html"]

_LONGEST: Final = 20
"""Rows of a table that is shown at once; a longer one is folded."""


_INTERVAL: Final = re.compile(r"(?<=\[)([−\d.,]+), (?=[−\d.,]+\])")
_NO_BREAK: Final = "\N{NO-BREAK SPACE}"


def report_html(report: Report) -> str:
    """Write a report as a page; whatever comes from a model or a file is escaped."""
    require("jinja2", "latex2mathml")
    import jinja2
    from markupsafe import Markup

    from cfr.analysis.report.formula import STYLE
    from cfr.analysis.report.mathematics import to_html as maths

    def shown(value: object) -> object:
        if not isinstance(value, str) or isinstance(value, Markup):
            return value
        return printable(value)

    def inline(figure: Figure) -> Markup:
        return Markup(figure.svg)  # noqa: S704 - drawn by matplotlib, which escapes what it writes

    def unbroken(text: str) -> str:
        """Keep an interval on one line, and a p-value."""
        text = _INTERVAL.sub(rf"\1,{_NO_BREAK}", text)
        return text.replace("(p = ", f"(p{_NO_BREAK}={_NO_BREAK}")

    folder = files("cfr.analysis.report.page")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, finalize=shown
    )
    template = environment.from_string(folder.joinpath("report.html").read_text(encoding="utf-8"))
    values: dict[str, Any] = {
        "report": report,
        "style": Markup(folder.joinpath("style.css").read_text(encoding="utf-8") + STYLE),  # noqa: S704
        "groups": group_spans,
        "several": several,
        "longest": _LONGEST,
        "maths": maths,
        "inline": inline,
        "unbroken": unbroken,
    }
    return template.render(values)
