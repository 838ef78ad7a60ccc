"""The report of a study: every exhibit, in sections, as a page, Markdown, LaTeX and figures."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from constraint_first.error import OutputError
from constraint_first.file.safe import atomic_file, printable
from constraint_first.pattern import lazy_pattern
from constraint_first.report.canvas import Figure, save
from constraint_first.report.exhibit import (
    cost,
    errors,
    gains,
    interventions,
    routing,
    scores,
    stage1,
)
from constraint_first.report.exhibit.errors import CaseStudy, cases
from constraint_first.report.exhibit.exhibit import SECTIONS, Context, Exhibit, ReportOptions
from constraint_first.report.study import Study, StudyError, model_label, with_short_names
from constraint_first.report.table import (
    Table,
    group_spans,
    markdown_text,
    published,
    require,
    several,
    to_latex,
    to_markdown,
)

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


# The page of a report.

_PACKAGE: Final = "constraint_first.report.template"
_LONGEST: Final = 20
"""The longest table, in rows, that is not collapsed."""
_INTERVAL: Final = lazy_pattern(r"(?<=\[)([−\d.,]+), (?=[−\d.,]+\])")
_NO_BREAK: Final = "\N{NO-BREAK SPACE}"


def report_html(report: Report) -> str:
    environment = page_environment()
    from markupsafe import Markup

    style = Markup(report_style())  # noqa: S704
    return environment.get_template("report.html").render(report=report, style=style)


def report_style() -> str:
    """Return the contents of the page's only ``<style>``."""
    from constraint_first.report.math import STYLE

    return _read(_PACKAGE, "style.css") + STYLE


def page_environment(*packages: str) -> Environment:
    """Make the environment of templates, from packages and the shared parts.

    It autoescapes all values except formulas and figures, which are built from escaped text.
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
    """Make control characters visible."""
    return printable(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def _inline(figure: Figure) -> Markup:
    from markupsafe import Markup

    return Markup(figure.svg)  # noqa: S704 - drawn by matplotlib, which escapes what it writes


def _unbroken(text: str) -> str:
    """Keep an interval on one line, and a p-value."""
    text = _INTERVAL.sub(rf"\1,{_NO_BREAK}", text)
    return text.replace("(p = ", f"(p{_NO_BREAK}={_NO_BREAK}")


# Sections: the exhibits of a study, assembled.

EXHIBITS: Final[tuple[Exhibit, ...]] = (
    *(*scores.EXHIBITS, *gains.EXHIBITS, *cost.EXHIBITS, *interventions.EXHIBITS),
    *(*routing.EXHIBITS, *stage1.EXHIBITS, *errors.EXHIBITS),
)
"""All exhibits; within a section they appear in this order."""
_VERDICT: Final = "verdict"


@dataclass(frozen=True, slots=True)
class Section:
    name: str
    title: str
    claims: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    published: tuple[Table, ...] = ()
    """The paper's corresponding tables."""
    notes: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        return not (self.figures or any(table.rows for table in self.tables))


@dataclass(frozen=True, slots=True)
class Report:
    title: str
    about: str
    sections: tuple[Section, ...]
    cases: tuple[CaseStudy, ...]
    cases_note: str

    @property
    def tables(self) -> Iterator[Table]:
        return (table for section in self.sections for table in section.tables)

    @property
    def figures(self) -> Iterator[Figure]:
        return (figure for section in self.sections for figure in section.figures)


def assemble(
    study: Study, options: ReportOptions, progress: Callable[[str], None] = lambda _: None
) -> Report:
    """Make a report; ``progress`` is called with the title of each part before it is made."""
    if not any(arm.scores for arm in study.arms):
        raise StudyError(f"{study.source}: no judged attempts yet; run 'cfr eval' first")
    study = with_short_names(study)
    context = Context(study, options)
    made: list[Section] = []
    for name, heading in SECTIONS.items():
        progress(heading)
        made.append(_section(context, name, [one for one in EXHIBITS if one.section == name]))
    missing = left_out(made)
    shown = [
        replace(section, tables=tuple(table for table in section.tables if table.rows))
        for section in made
        if section.name == _VERDICT or not section.empty
    ]
    sections = (*shown, *([missing] if missing.claims or missing.published else []))
    progress("Cases")
    chosen = cases(study, context.baseline, context.method, options.cases)
    return Report(title(study), about(study), sections, tuple(chosen), _cases_note(context))


def _section(context: Context, name: str, exhibits: Iterable[Exhibit]) -> Section:
    """Combine the parts of exhibits, with each note on a variant once."""
    tables: list[Table] = []
    figures: list[Figure] = []
    claims: list[str] = []
    notes: list[str] = []
    paper: list[Table] = []
    said: set[str] = set()
    for exhibit in exhibits:
        claims += exhibit.claims(context)
        notes += exhibit.notes(context)
        for table in exhibit.tables(context):
            new = [one for one in exhibit.variant_notes(context) if one not in said]
            # A table without rows is not shown; its notes give the reason.
            tables.append(replace(table, notes=(*table.notes, *new)) if table.rows else table)
            said.update(new if table.rows else ())
        if context.options.figures:
            figures += filter(None, exhibit.figures(context))
        paper += (published(one).to_table() for one in exhibit.paper)
    return Section(
        *(name, SECTIONS[name], tuple(claims), tuple(tables)),
        *(tuple(figures), tuple(paper), tuple(notes)),
    )


def left_out(sections: Iterable[Section]) -> Section:
    """Collect the exhibits that could not be shown: the reasons, and the paper's tables."""
    reasons: dict[str, list[str]] = {}
    published: list[Table] = []
    for section in sections:
        for table in section.tables:
            if not table.rows:
                reasons.setdefault(" ".join(table.notes), []).append(table.title)
        if section.empty and section.name != _VERDICT:
            published += section.published
            for claim in section.claims:
                reasons.setdefault(claim, []).append(section.title)
    claims = (f"{'; '.join(dict.fromkeys(what))}: {why}" for why, what in reasons.items() if why)
    return Section("left-out", "Not in these data", tuple(claims), published=tuple(published))


# Provenance of a report: its title, and the source, date and version of its data.


def title(study: Study) -> str:
    models = [model_label(name) for name in study.names("model") if name]
    methods = several(len(study.names("method")), "method")
    if not models:
        return f"{methods} compared"
    named = models[0] if len(models) == 1 else several(len(models), "model")
    return f"{methods} with {named}"


def about(study: Study) -> str:
    """Describe the contents of a study, its dates, and the version of the package."""
    attempts = list(study.all_attempts())
    times = [attempt.finished_at for attempt in attempts if attempt.finished_at]
    made, software = "", "constraint-first"
    if times:
        first, last = (time.strftime("%Y-%m-%d", time.gmtime(t)) for t in (min(times), max(times)))
        made = f"; attempts made {first if first == last else f'{first} to {last}'}"
    # Without installation the package has no version metadata.
    with suppress(PackageNotFoundError):
        software += f" {version('constraint-first')}"
    return (
        f"{study.source}: {several(len(study.attempted), 'problem')}, "
        f"{several(len(attempts), 'attempt')}{made}; {software}"
    )


def _cases_note(context: Context) -> str:
    base, method = (context.study.method_name(name) for name in (context.baseline, context.method))
    return (
        f"Problems on which {method} and {base} differ: those whose share of right runs changed "
        "most, as many fixed as broken where there are enough. Chosen by this rule, not by hand, "
        "and grouped by the kind of constraint that dominates the problem. Problems that a router "
        "left to the baseline are neither fixed nor broken and are not among them."
    )


# Report folder: an HTML page, Markdown, LaTeX tables, figures.


def write(report: Report, folder: Path) -> list[Path]:
    try:
        (folder / "tables").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"{folder}: cannot be a folder ({error.strerror}); name another"
        ) from None
    for figure in report.figures:
        save(figure, folder / "figures")
    for table in report.tables:
        _put(folder / "tables" / f"{table.name}.tex", to_latex(table))
    _put(folder / "report.md", report_markdown(report))
    _put(folder / "report.html", report_html(report))
    made = ("report.html", "report.md", "tables", *(["figures"] if any(report.figures) else []))
    return [folder / name for name in made]


def _put(path: Path, text: str) -> None:
    with atomic_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def report_markdown(report: Report) -> str:
    """Write a report in Markdown; figures are linked, and cases are abridged."""
    parts = [f"# {markdown_text(report.title)}", markdown_text(report.about)]
    for section in report.sections:
        parts.append(f"## {section.title}")
        if section.claims:
            parts.append("\n".join(f"- {markdown_text(claim)}" for claim in section.claims))
        parts += map(markdown_text, section.notes)
        parts += (to_markdown(table).rstrip() for table in section.tables)
        for one in section.figures:
            parts.append(f"![{markdown_text(one.alt)}](figures/{one.name}.svg)")
            parts.append(f"*{markdown_text(one.title)}*")
        parts += (to_markdown(table).rstrip() for table in section.published)
    if report.cases:
        parts += ["## Cases", markdown_text(report.cases_note)]
        for kind, cases in groupby(report.cases, key=lambda case: case.kind):
            parts += [f"### {markdown_text(kind)}", *map(_case, cases)]
    return "\n\n".join(parts) + "\n"


def _case(case: CaseStudy) -> str:
    named = f"{case.opening} ({case.title})" if case.opening else case.title
    head = f"#### {markdown_text(named)}: {case.change}"
    gold = f"{case.gold_name.capitalize()}: {markdown_text(case.gold or 'not given')}"
    parts = [head, markdown_text(case.text), gold if gold.endswith(".") else f"{gold}."]
    for one in (case.baseline, case.method):
        verdict = "right" if one.transcript.correct else "wrong"
        parts.append(
            f"- **{markdown_text(one.name)}**: {markdown_text(one.said)} ({verdict}; right in "
            f"{one.right} of {several(one.runs, 'run')}; {one.transcript.tokens:,} tokens)"
        )
    return "\n\n".join(parts)
