"""``cfr compare``: is one method better than another, or was it chance?"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import click

from constraint_first.cli.option import grouped, json_option
from constraint_first.cli.output import print_json, print_note, print_text
from constraint_first.cli.study_option import StudyPart, open_part, part_options, runs_argument

if TYPE_CHECKING:
    from constraint_first.analysis.statistics.comparison import Comparison, Plan
    from constraint_first.analysis.study.study import Study

__all__ = ["command"]


def _plan() -> Callable[..., object]:
    from constraint_first.analysis.statistics.comparison import Plan

    def make(resamples: int | None, **rest: Any) -> Plan:
        return Plan(resamples=resamples or 0, **rest)

    return make


_plan_options: Final = grouped(
    "plan",
    _plan,
    click.option(
        "--interval",
        type=click.Choice(["bca", "percentile"]),
        default="bca",
        show_default=True,
        help="Of the bootstrap over problems: corrected for bias and skewness (BCa), or not.",
    ),
    click.option(
        "--also-p",
        "also_tested",
        type=click.FloatRange(0, 1),
        multiple=True,
        help="A p-value of the same family from elsewhere, to include in Holm's correction.",
    ),
    click.option(
        "--pool/--no-pool",
        default=True,
        help="Add a row for a group of benchmarks together: AIME's years.  [yes]",
    ),
    click.option("--pool-all", is_flag=True, help="Add a row of all benchmarks together."),
    click.option(
        "--resamples",
        type=click.IntRange(100, 1_000_000),
        help="Number of random bootstrap resamples.  [none: the intervals are exact]",
    ),
    click.option(
        "--seed",
        type=click.IntRange(min=0),
        default=0,
        help="Seed of resampling and of Monte Carlo tests.  [0]",
    ),
)


@click.command("compare")
@runs_argument
@click.option("--baseline", default="direct", show_default=True, help="The method to compare with.")
@click.option(
    "--method", "methods", multiple=True, help="A method to compare; repeatable.  [all others]"
)
@part_options
@_plan_options
@json_option
def command(
    runs: tuple[str, ...],
    baseline: str,
    methods: tuple[str, ...],
    part: StudyPart,
    plan: Plan,
    *,
    as_json: bool,
) -> None:
    """Compare methods problem by problem: gain, interval, exact test, correction.

    RUNS are stores (runs.db unless named; a file, or postgresql://…) and files that 'cfr export'
    wrote (.jsonl, .jsonl.gz, .csv, .parquet), taken together; or anyone's outcomes as {"problem",
    "method", "run", "correct"} lines.

    \b
    cfr compare --baseline direct --method routed-cfr
    cfr compare outcomes.jsonl --baseline A --method B --json
    """
    from constraint_first.analysis.statistics.comparison import compare, find_method
    from constraint_first.analysis.study.family import variant_notes, with_short_names
    from constraint_first.analysis.table.paired_comparison import comparison_json

    study = open_part(runs, part)
    found = [find_method(study, name) for name in (baseline, *methods)]
    for note in variant_notes(study, set(found) - {baseline, *methods}, "--method"):
        print_note(note)
    study = with_short_names(study)
    comparison = compare(study, found[0], found[1:], plan)
    if as_json:
        print_json(comparison_json(comparison))
        return
    _print(comparison, study)


def _print(comparison: Comparison, study: Study) -> None:
    from dataclasses import replace

    from constraint_first.analysis.study.family import name_notes
    from constraint_first.analysis.table.paired_comparison import paired_table
    from constraint_first.analysis.table.token_ratio import ratios_table
    from constraint_first.cli import show

    compared = {name for pair in comparison.pairs for name in (pair.baseline, pair.method)}
    arms = tuple(arm for arm in study.arms if arm.method in compared)
    table = paired_table(comparison)
    notes = name_notes(replace(study, arms=arms))
    show.print_table(replace(table, notes=(*table.notes, *notes)))
    if (ratios := ratios_table(comparison)).rows:
        print_text()
        show.print_table(ratios)
