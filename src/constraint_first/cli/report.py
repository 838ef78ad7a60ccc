"""``cfr report``: every table and figure of a study, in one folder."""

from __future__ import annotations

from pathlib import Path

import click

from constraint_first.cli.output import print_note, print_text
from constraint_first.cli.study_option import (
    ErrorRuleOptions,
    StudyPart,
    error_rule_options,
    open_part,
    part_options,
    runs_argument,
)

__all__ = ["command"]


@click.command("report")
@runs_argument
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path("report"),
    show_default=True,
    help="The folder to write to.",
)
@click.option(
    "--baseline",
    default="",
    help="The method that gains are measured against.  [direct]",
)
@click.option(
    "--method",
    default="",
    help="The method that the verdict, gains, errors and cases are about.  [the verdict: the best "
    "supported; the others: routed-cfr, else cfr, else their -brief, else the best supported]",
)
@click.option(
    "--variant",
    "variants",
    multiple=True,
    help="The variant that stands for its family, such as 'cfr(reply=prose)'; repeatable.  [the "
    "bare name, else the one with most attempts]",
)
@part_options
@click.option(
    "--cases",
    type=click.IntRange(0, 200),
    default=12,
    show_default=True,
    help="How many problems to show side by side.",
)
@click.option(
    "--labels",
    type=click.Path(path_type=Path),
    multiple=True,
    help="A file of labels from 'cfr audit mark'; repeatable.",
)
@error_rule_options
@click.option("--figures/--no-figures", default=True, help="Draw the figures.  [yes]")
def command(
    runs: tuple[str, ...],
    output: Path,
    baseline: str,
    method: str,
    variants: tuple[str, ...],
    part: StudyPart,
    cases: int,
    labels: tuple[Path, ...],
    error_rule: ErrorRuleOptions,
    *,
    figures: bool,
) -> None:
    """Write a report: one HTML page that works offline, Markdown, LaTeX tables, figures.

    It opens with a verdict on each model, better, worse or unknown, in one sentence.

    RUNS are stores (runs.db unless named) and files of attempts, as for 'cfr compare'. Needs: pip
    install 'constraint-first[report]'.

    \b
    cfr report -o report
    cfr report results.db mine.jsonl -o out --method cfr --cases 20
    cfr report --variant 'cfr(reply=prose)'
    """
    from constraint_first.analysis.audit.manual.label import read_labels
    from constraint_first.analysis.extra import REPORT, require
    from constraint_first.analysis.report.context import ReportOptions
    from constraint_first.analysis.report.folder import write
    from constraint_first.analysis.report.report import assemble

    require(*REPORT)
    study = open_part(runs, part)
    options = ReportOptions(
        baseline=baseline,
        method=method,
        cases=cases,
        figures=figures,
        labels=tuple(read_labels(labels)),
        error_rule=error_rule.read(study),
        variants=variants,
    )
    report = assemble(study, options, lambda title: print_note(f"{title} …"))
    written = write(report, output)
    for path in written:
        print_text(path)
