"""``cfr audit router``, ``stage1`` and ``errors``: what can be audited without a person."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from cfr.cli.study_option import judging_options, study_options

if TYPE_CHECKING:
    from cfr.analysis.study.study import Study
    from cfr.analysis.table.table import Table

__all__ = ["errors_command", "router_command", "stage1_command"]

F = TypeVar("F", bound=Callable[..., Any])


def _audit_options(command: F) -> F:
    """Add what all three take."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Write JSON for programs."),
        click.option("--baseline", default="direct", show_default=True, help="Gains are over it."),
        click.option("--method", default="", help="Whose gains.  [routed-cfr, else cfr]"),
        study_options,
        click.argument("runs", metavar="RUNS|FILE.jsonl...", nargs=-1),
    ):
        command = option(command)
    return command


@click.command("router")
@_audit_options
@click.option(
    "--decisions",
    type=click.Path(path_type=Path),
    help='What routers are judged by: a person\'s {"problem", "routed"} lines.',
)
def router_command(runs: tuple[str, ...], decisions: Path | None, **options: Any) -> None:
    """Say what the router does: activation, cue families, gain by cues, agreement.

    \b
    cfr audit router runs.db
    cfr audit router runs.db --decisions mine.jsonl --json
    """
    from cfr.analysis.audit.router_agreement import compare_routers, read_decisions, routers_table
    from cfr.analysis.audit.routing import (
        audit_router,
        cofire_table,
        convention_table,
        patterns_table,
        rates_table,
    )
    from cfr.cli.study_option import open_study

    with open_study(runs, options) as study:
        audit = audit_router(study)
        method, baseline = _sides(study, options)
        labels, strangers = read_decisions(decisions, study) if decisions else (None, 0)
        if strangers:
            click.echo(
                f"{decisions}: lines about problems not in these runs: {strangers}", err=True
            )
        tables = [
            rates_table(audit),
            patterns_table(audit),
            convention_table(audit),
            cofire_table(study, audit, method, baseline),
            routers_table(compare_routers(study, audit, labels)),
        ]
    _print(tables, as_json=options["as_json"])


@click.command("stage1")
@_audit_options
def stage1_command(runs: tuple[str, ...], **options: Any) -> None:
    """Say what Stage 1 returned: rungs, counts, kinds, and soundness where there is gold.

    \b
    cfr audit stage1 runs.db
    cfr audit stage1 runs.db --method cfr --json
    """
    from cfr.analysis.audit.categories import categories_table
    from cfr.analysis.audit.extraction import extraction_table, parsing_table
    from cfr.analysis.audit.stage1.gold import gold_quality
    from cfr.cli.study_option import open_study

    with open_study(runs, options) as study:
        method, baseline = _sides(study, options)
        tables = [
            parsing_table(study),
            extraction_table(study, gold_quality(study)),
            categories_table(study, method, baseline),
        ]
    _print(tables, as_json=options["as_json"])


@click.command("errors")
@_audit_options
@judging_options
def errors_command(runs: tuple[str, ...], **options: Any) -> None:
    """Say which errors a method fixes and which it brings in, problem by problem.

    \b
    cfr audit errors runs.db --method cfr
    cfr audit errors runs.db --classes mine.jsonl --json
    """
    from cfr.analysis.audit.flips import errors_table
    from cfr.analysis.audit.outcomes import outcomes_table
    from cfr.analysis.audit.per_problem import per_problem_tables
    from cfr.cli.study_option import judging_of, open_study

    with open_study(runs, options) as study:
        method, baseline = _sides(study, options)
        judging = judging_of(study, options)
        tables = [
            outcomes_table(study, method, baseline, judging),
            errors_table(study, method, baseline, judging),
            *per_problem_tables(study, method, baseline, judging),
        ]
    _print(tables, as_json=options["as_json"])


def _sides(study: Study, options: dict[str, Any]) -> tuple[str, str]:
    """Find the method to look at, and what it is measured against."""
    from cfr.analysis.statistics.comparison import constrained_method, find_method

    baseline = find_method(study, options["baseline"])
    return constrained_method(study, baseline, options["method"]), baseline


def _print(tables: list[Table], *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps([table.to_json() for table in tables]))
        return
    from cfr.cli import show

    for number, table in enumerate(tables):
        if number:
            click.echo()
        show.print_table(table)
