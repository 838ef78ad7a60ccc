"""``cfr compare``: is one method better than another, or was it chance?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from constraint_first.cli.options import (
    ErrorRuleOptions,
    StudyPart,
    columns_option,
    error_rule_options,
    grouped,
    json_option,
    labels_option,
    open_part,
    part_options,
    runs_argument,
)
from constraint_first.cli.output import print_json, print_note, print_text, typed_command
from constraint_first.error import OutputError

if TYPE_CHECKING:
    from constraint_first.report.calibrate import Calibration
    from constraint_first.report.comparison import Comparison, Plan
    from constraint_first.report.study import Study
    from constraint_first.report.tree import LearningPlan


def _plan(resamples: int | None, **rest: Any) -> Plan:
    from constraint_first.report.comparison import Plan

    return Plan(resamples=resamples or 0, **rest)


_plan_options: Final = grouped(
    "plan",
    _plan,
    click.option(
        "--interval",
        type=click.Choice(["bca", "percentile"]),
        default="bca",
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
        help="Add a row for a group of benchmarks together: AIME's years.",
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
        help="Seed of resampling and of Monte Carlo tests.",
    ),
)


@click.command("compare")
@runs_argument
@click.option("--baseline", default="direct", help="The method to compare with.")
@click.option(
    "--method", "methods", multiple=True, help="A method to compare; repeatable.  [all others]"
)
@part_options
@_plan_options
@json_option
def compare_command(
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
    from constraint_first.report.comparison import compare, find_method
    from constraint_first.report.exhibit.gains import comparison_json
    from constraint_first.report.study import variant_notes, with_short_names

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

    from constraint_first.cli import show
    from constraint_first.report.exhibit.cost import ratios_table
    from constraint_first.report.exhibit.gains import paired_table
    from constraint_first.report.study import name_notes

    compared = {name for pair in comparison.pairs for name in (pair.baseline, pair.method)}
    arms = tuple(arm for arm in study.arms if arm.method in compared)
    table = paired_table(comparison)
    notes = name_notes(replace(study, arms=arms))
    show.print_table(replace(table, notes=(*table.notes, *notes)))
    if (ratios := ratios_table(comparison)).rows:
        print_text()
        show.print_table(ratios)


# ``cfr calibrate``: which method for which problems, learnt from graded runs of one model.


def _learning(price: float, most_tokens: float | str) -> LearningPlan:
    from constraint_first.report.tree import LearningPlan

    return LearningPlan(price, None if isinstance(most_tokens, str) else most_tokens)


def _ratio_or_any(value: Any) -> float | str:
    return "any" if value == "any" else click.FloatRange(min=1).convert(value, None, None)


_ratio_or_any.__name__ = "number|any"  # what a help text shows

_learning_options: Final = grouped(
    "learning",
    _learning,
    click.option(
        "--most-tokens",
        type=_ratio_or_any,
        default=1.05,
        help="Most output tokens of the policy, for each one of Direct CoT's.",
    ),
    click.option(
        "--price",
        type=click.FloatRange(0, 1e6),
        default=0.0,
        help="Points of accuracy that 1,000 more output tokens must bring.",
    ),
)


@click.command("calibrate")
@runs_argument
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Write the policy to this file."
)
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@click.option(
    "--method", "methods", multiple=True, help="A method to choose from; repeatable.  [all]"
)
@click.option(
    "--problems",
    multiple=True,
    metavar="BENCHMARK|FILE",
    help="Has the texts of the problems, where the runs were stored without; repeatable.",
)
@columns_option()
@_learning_options
@part_options
@json_option
def calibrate_command(
    runs: tuple[str, ...],
    output: Path | None,
    methods: tuple[str, ...],
    problems: tuple[str, ...],
    columns: dict[str, str],
    learning: LearningPlan,
    part: StudyPart,
    *,
    force: bool,
    as_json: bool,
) -> None:
    """Learn from graded runs which method to use for which problems; say whether to switch.

    RUNS are stores (runs.db unless named) and files of attempts, as for 'cfr compare': of one
    model, with Direct CoT and other methods on the same problems. Direct CoT is left only where the
    gain is certain on problems that were held out. 'calibrated(policy=FILE)' is the method that
    follows a policy.

    \b
    cfr eval gsm8k math500 --method direct --method program --method vote --runs 2
    cfr calibrate runs.db -o policy.toml
    cfr solve problem.txt --method 'calibrated(policy=policy.toml)'
    """
    from constraint_first.file.safe import refuse_overwrite
    from constraint_first.report.calibrate import CalibrationPlan, calibrate

    if output:
        if output.suffix.lower() != ".toml":
            raise OutputError(f"{output}: a policy is a .toml file; name it {output.name}.toml")
        refuse_overwrite(output, force=force)
    study = open_part(runs, part)
    texts = _texts(problems, columns)
    made = calibrate(study, CalibrationPlan(learning, methods, texts, typed_command(), _today()))
    for note in made.notes:
        print_note(note)
    if output:
        _write(output, made)
    if as_json:
        print_json(made.policy.to_json())
    else:
        print_text(made.policy.answer)


def _texts(problems: Sequence[str], columns: Mapping[str, str]) -> dict[tuple[str, str], str]:
    if not problems:
        return {}
    from constraint_first.benchmark.registry import load

    sets = [load(name, columns=columns) for name in problems]
    for note in filter(None, (one.taken for one in sets)):
        print_note(note)
    return {(one.name, problem.id): problem.text for one in sets for problem in one.problems}


def _today() -> str:
    from datetime import UTC, datetime

    return datetime.now(UTC).date().isoformat()


def _write(path: Path, made: Calibration) -> None:
    from constraint_first.file.safe import atomic_file
    from constraint_first.method.policy import write_policy

    with atomic_file(path) as temporary:
        temporary.write_text(write_policy(made.policy), encoding="utf-8")
    use = f"--method 'calibrated(policy={path})' uses it"
    print_note(f"{path}: written; {use if made.recommended else 'it leaves all to Direct CoT'}.")


# ``cfr report``: every table and figure of a study, in one folder.


@click.command("report")
@runs_argument
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path("report"),
    help="The folder to write to.",
)
@click.option(
    "--baseline",
    default="",
    show_default=False,
    help="The method that gains are measured against.  [direct]",
)
@click.option(
    "--method",
    default="",
    show_default=False,
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
    help="How many problems to show side by side.",
)
@labels_option
@error_rule_options
@click.option("--figures/--no-figures", default=True, help="Draw the figures.")
def report_command(
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
    from constraint_first.report.exhibit.exhibit import ReportOptions
    from constraint_first.report.exhibit.marks import read_labels
    from constraint_first.report.report import assemble, write
    from constraint_first.report.table import REPORT, require

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
