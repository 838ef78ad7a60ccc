"""Report folder: an HTML page, Markdown, LaTeX tables, figures."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from constraint_first.analysis.audit.case import CaseAttempt, CaseStudy
from constraint_first.analysis.figure.figure import save
from constraint_first.analysis.notation import several
from constraint_first.analysis.report.page import report_html
from constraint_first.analysis.report.report import Report
from constraint_first.analysis.report.section import Section
from constraint_first.analysis.table.table import markdown_text, to_latex, to_markdown
from constraint_first.error import OutputError
from constraint_first.file.atomic import atomic_file

__all__ = ["report_markdown", "write"]


def write(report: Report, folder: Path) -> list[Path]:
    """Write everything into a folder, which is made where it is not there; list the main files."""
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
    """Write a report in Markdown; figures are linked, and cases are short."""
    parts = [f"# {markdown_text(report.title)}", markdown_text(report.about)]
    for section in report.sections:
        parts += _section(section)
    if report.cases:
        parts += ["## Cases", markdown_text(report.cases_note)]
        for kind, cases in groupby(report.cases, key=lambda case: case.kind):
            parts += [f"### {markdown_text(kind)}", *map(_case, cases)]
    return "\n\n".join(parts) + "\n"


def _section(section: Section) -> list[str]:
    claims = "\n".join(f"- {markdown_text(claim)}" for claim in section.claims)
    tables = [to_markdown(table).rstrip() for table in section.tables]
    figures = [
        f"![{markdown_text(figure.alt)}](figures/{figure.name}.svg)\n\n*{markdown_text(figure.title)}*"
        for figure in section.figures
    ]
    paper = [to_markdown(table).rstrip() for table in section.published]
    notes = [markdown_text(note) for note in section.notes]
    return [f"## {section.title}", *filter(None, [claims]), *notes, *tables, *figures, *paper]


def _case(case: CaseStudy) -> str:
    named = f"{case.opening} ({case.title})" if case.opening else case.title
    head = f"#### {markdown_text(named)}: {case.change}"
    gold = f"{case.gold_name.capitalize()}: {markdown_text(case.gold or 'not given')}"
    gold = gold if gold.endswith(".") else f"{gold}."
    return "\n\n".join(
        [head, markdown_text(case.text), gold, _attempt(case.baseline), _attempt(case.method)]
    )


def _attempt(attempt: CaseAttempt) -> str:
    said = attempt.transcript
    verdict = "right" if said.correct else "wrong"
    return (
        f"- **{markdown_text(attempt.name)}**: {markdown_text(attempt.said)} ({verdict}; right in "
        f"{attempt.right} of {several(attempt.runs, 'run')}; {said.tokens:,} tokens)"
    )
