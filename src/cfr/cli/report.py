"""``cfr report``: every table and figure of a study, in one folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from cfr.cli.study_option import judging_options, study_options

__all__ = ["command"]


@click.command("report")
@click.argument("runs", metavar="RUNS|FILE.jsonl...", nargs=-1)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path("report"),
    show_default=True,
    help="The folder to write to.",
)
@click.option("--baseline", default="direct", show_default=True, help="What gains are over.")
@click.option(
    "--method",
    default="",
    help="The method to look at closely.  [routed-cfr, else cfr, else the first]",
)
@study_options
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
    help="Labels of 'cfr audit mark': validity of Stage 1 as people see it.",
)
@judging_options
@click.option("--figures/--no-figures", default=True, help="Draw the figures.  [yes]")
def command(runs: tuple[str, ...], output: Path, **options: Any) -> None:
    """Write a report: one HTML page that works offline, Markdown, LaTeX tables, figures.

    RUNS is a store (runs.db unless named) or a .jsonl file, as for 'cfr compare'; several are taken
    together. Needs: pip install 'constraint-first[report]'.

    \b
    cfr report -o report
    cfr report results.db mine.jsonl -o out --method cfr --cases 20
    """
    from cfr.analysis.extra import REPORT, require
    from cfr.analysis.report.folder import write
    from cfr.analysis.report.report import assemble
    from cfr.cli.study_option import open_study

    require(*REPORT)
    with open_study(runs, options) as study:
        choice = _choice(study, options)
        report = assemble(study, choice, lambda title: click.echo(f"{title} …", err=True))
        written = write(report, output)
    for path in written:
        click.echo(path)


def _choice(study: Any, options: dict[str, Any]) -> Any:
    from cfr.analysis.audit.manual.label import read_labels
    from cfr.analysis.report.context import Choice
    from cfr.analysis.statistics.comparison import find_method
    from cfr.cli.study_option import judging_of

    return Choice(
        baseline=find_method(study, options["baseline"]),
        method=options["method"],
        cases=options["cases"],
        figures=options["figures"],
        labels=tuple(read_labels(options["labels"])),
        judging=judging_of(study, options),
    )
