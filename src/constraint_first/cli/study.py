"""``cfr compare``: whether one method is better than another or the difference is chance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import click

from constraint_first.cli import print_json, print_note, print_text, typed_command
from constraint_first.cli.options import (
    A_PATH,
    StudyPart,
    columns_option,
    error_rule_options,
    grouped,
    json_option,
    labels_option,
    open_part,
    option,
    part_options,
    runs_argument,
)
from constraint_first.error import InputError, OutputError

if TYPE_CHECKING:
    from constraint_first.report.calibrate import Calibration, LearningPlan
    from constraint_first.report.comparison import Comparison, Plan
    from constraint_first.report.exhibit.marks import ErrorRule
    from constraint_first.report.study import Study
    from constraint_first.report.table import Table


def _or_zero(_context: click.Context, _option: click.Parameter, given: int | None) -> int:
    return given or 0


_plan_options: Final = grouped(
    "plan",
    "constraint_first.report.comparison:Plan",
    option(
        "--interval",
        "Of the bootstrap over problems: corrected for bias and skewness (BCa), or not.",
        click.Choice(["bca", "percentile"]),
        "bca",
    ),
    option(
        "--also-p also_tested",
        "A p-value of the same family from elsewhere, to include in Holm's correction.",
        click.FloatRange(0, 1),
        multiple=True,
    ),
    option(
        "--pool/--no-pool",
        "Add a row for a group of benchmarks together: AIME's years.",
        default=True,
    ),
    option("--pool-all", "Add a row of all benchmarks together.", is_flag=True),
    option(
        "--resamples",
        "Number of random bootstrap resamples.  [none: the intervals are exact]",
        click.IntRange(100, 1_000_000),
        callback=_or_zero,
    ),
    option("--seed", "Seed of resampling and of Monte Carlo tests.", click.IntRange(min=0), 0),
)


@click.command("compare")
@runs_argument
@option("--baseline", "The method to compare with.", default="direct")
@option("--method methods", "A method to compare; repeatable.  [all others]", multiple=True)
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
    wrote (.jsonl, .jsonl.gz, .csv, .parquet), taken together; or outcomes from elsewhere as
    {"problem", "method", "run", "correct"} lines.

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
    from constraint_first.cli import console as show
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


def _ratio_or_any(value: Any) -> float | None:
    return None if value == "any" else click.FloatRange(min=1).convert(value, None, None)


_ratio_or_any.__name__ = "number|any"  # shown in the help text

_learning_options: Final = grouped(
    "learning",
    "constraint_first.report.calibrate:LearningPlan",
    option(
        "--most-tokens",
        "Most output tokens of the policy, for each one of Direct CoT's.",
        _ratio_or_any,
        1.05,
    ),
    option(
        "--price",
        "Points of accuracy that 1,000 more output tokens must bring.",
        click.FloatRange(0, 1e6),
        0.0,
    ),
)


@click.command("calibrate")
@runs_argument
@option("-o --output", "Write the policy to this file.", A_PATH)
@option("--force", "Write over a file that is there.", is_flag=True)
@option("--method methods", "A method to choose from; repeatable.  [all]", multiple=True)
@option(
    "--problems",
    "A source of the problems' texts, for runs stored without them; repeatable.",
    multiple=True,
    metavar="BENCHMARK|FILE",
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
    texts, today = _texts(problems, columns), datetime.now(UTC).date().isoformat()
    made = calibrate(study, CalibrationPlan(learning, methods, texts, typed_command(), today))
    for note in made.notes:
        print_note(note)
    if output:
        _write(output, made)
    print_json(made.policy.to_json()) if as_json else print_text(made.policy.answer)


def _texts(problems: Sequence[str], columns: Mapping[str, str]) -> dict[tuple[str, str], str]:
    if not problems:
        return {}
    from constraint_first.benchmark.registry import load

    sets = [load(name, columns=columns) for name in problems]
    for note in filter(None, (one.taken for one in sets)):
        print_note(note)
    return {(one.name, problem.id): problem.text for one in sets for problem in one.problems}


def _write(path: Path, made: Calibration) -> None:
    from constraint_first.file.safe import atomic_file
    from constraint_first.method.policy import write_policy

    with atomic_file(path) as temporary:
        temporary.write_text(write_policy(made.policy), encoding="utf-8")
    use = f"--method 'calibrated(policy={path})' uses it"
    print_note(f"{path}: written; {use if made.recommended else 'it leaves all to Direct CoT'}.")


# ``cfr report``: every table and figure of a study, in one folder.

_baseline_option: Final = option(
    "--baseline",
    "The method that gains are measured against.  [direct]",
    default="",
    show_default=False,
)


@click.command("report")
@runs_argument
@option("-o --output", "The folder to write to.", A_PATH, Path("report"))
@_baseline_option
@option(
    "--method",
    "The method that the verdict, gains, errors and cases are about.  [the verdict: the best "
    "supported; the others: routed-cfr, else cfr, else their -brief, else the best supported]",
    default="",
    show_default=False,
)
@option(
    "--variant variants",
    "The variant that represents its family, such as 'cfr(reply=prose)'; repeatable.  [the "
    "bare name, else the one with most attempts]",
    multiple=True,
)
@part_options
@option("--cases", "How many problems to show side by side.", click.IntRange(0, 200), 12)
@labels_option
@error_rule_options
@option("--figures/--no-figures", "Draw the figures.", default=True)
def report_command(
    runs: tuple[str, ...],
    output: Path,
    baseline: str,
    method: str,
    variants: tuple[str, ...],
    part: StudyPart,
    cases: int,
    labels: tuple[Path, ...],
    error_rule: Callable[[Study], ErrorRule],
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
        error_rule=error_rule(study),
        variants=variants,
    )
    report = assemble(study, options, lambda title: print_note(f"{title} …"))
    for path in write(report, output):
        print_text(path)


# ``cfr audit``: the router, Stage 1, errors, instructions, interventions, and marks by people.


@click.group("audit")
def audit_command() -> None:
    """Audit stored runs: the router, Stage 1, errors, and constraints that people marked."""


_Find: TypeAlias = "Callable[[Study], tuple[str, str]]"
"""Chooses the method to examine and its baseline."""


def _finder(baseline: str, method: str) -> _Find:
    def find(study: Study) -> tuple[str, str]:
        from constraint_first.report.comparison import constrained_method, find_baseline
        from constraint_first.report.study import variant_notes

        measured = find_baseline(study, baseline)
        found = constrained_method(study, measured, method)
        for note in variant_notes(study, {found} - {method}, "--method"):
            print_note(note)
        return found, measured

    return find


_method_options: Final = grouped(
    "find_methods",
    _finder,
    _baseline_option,
    option(
        "--method",
        "The method whose gains are measured.  [routed-cfr, else cfr, else their -brief]",
        default="",
        show_default=False,
    ),
)


@audit_command.command("router")
@runs_argument
@part_options
@_method_options
@json_option
@option("--decisions", 'Reference decisions of a person: {"problem", "routed"} lines.', A_PATH)
@labels_option
def router_command(
    runs: tuple[str, ...],
    part: StudyPart,
    find_methods: _Find,
    decisions: Path | None,
    labels: tuple[Path, ...],
    *,
    as_json: bool,
) -> None:
    """Audit the router: activation, cue families, gain by number of cues, agreement.

    RUNS are stores (runs.db unless named) and files of attempts, as for 'cfr compare'.

    \b
    cfr audit router runs.db
    cfr audit router runs.db --decisions mine.jsonl --json
    cfr audit router runs.db --labels labels.jsonl
    """
    from constraint_first.report.exhibit.marks import labels_of, read_labels
    from constraint_first.report.exhibit.routing import (
        audit_router,
        cofire_table,
        convention_table,
        patterns_table,
        rates_table,
        read_decisions,
        routers_table,
    )

    study = _study(runs, part, as_json=as_json)
    audit = audit_router(study)
    decided, strangers = read_decisions(decisions, study) if decisions else (None, 0)
    if strangers:
        print_note(f"{decisions}: lines about problems not in these runs: {strangers}")
    marks, elsewhere = labels_of(read_labels(labels), study)
    if elsewhere:
        print_note(f"Marks on attempts that are not in these runs: {elsewhere}")
    tables = [
        rates_table(audit),
        patterns_table(audit),
        convention_table(audit),
        cofire_table(study, audit, *find_methods(study), marks),
        routers_table(study, audit, decided),
    ]
    _show(tables, study, as_json=as_json)


@audit_command.command("stage1")
@runs_argument
@part_options
@_method_options
@json_option
def stage1_command(
    runs: tuple[str, ...], part: StudyPart, find_methods: _Find, *, as_json: bool
) -> None:
    """Audit Stage 1: how replies parsed, counts and kinds of constraints, soundness against gold.

    RUNS are stores (runs.db unless named) and files of attempts, as for 'cfr compare'.

    \b
    cfr audit stage1 runs.db
    cfr audit stage1 runs.db --method cfr --json
    """
    from constraint_first.report.exhibit.gold import gold_quality
    from constraint_first.report.exhibit.stage1 import (
        categories_table,
        extraction_table,
        parsing_table,
    )

    study = _study(runs, part, as_json=as_json)
    tables = [
        parsing_table(study),
        extraction_table(study, gold_quality(study)),
        categories_table(study, *find_methods(study)),
    ]
    _show(tables, study, as_json=as_json)


@audit_command.command("errors")
@runs_argument
@part_options
@_method_options
@error_rule_options
@json_option
def errors_command(
    runs: tuple[str, ...],
    part: StudyPart,
    find_methods: _Find,
    error_rule: Callable[[Study], ErrorRule],
    *,
    as_json: bool,
) -> None:
    """Audit errors: which a method fixes and which it introduces, problem by problem.

    RUNS are stores (runs.db unless named) and files of attempts, as for 'cfr compare'.

    \b
    cfr audit errors runs.db --method cfr
    cfr audit errors runs.db --classes mine.jsonl --json
    """
    from constraint_first.report.exhibit.errors import error_tables

    study = _study(runs, part, as_json=as_json)
    tables = error_tables(study, *find_methods(study), error_rule(study))
    _show([*tables], study, as_json=as_json)


@audit_command.command("instructions")
@runs_argument
@part_options
@json_option
def instructions_command(runs: tuple[str, ...], part: StudyPart, *, as_json: bool) -> None:
    """Audit instructions: how many are followed, strictly and loosely, and by kind.

    For benchmarks with gold instructions, such as ifeval: IFEval's four numbers for each method.
    RUNS are stores (runs.db unless named) and files of attempts, as for 'cfr compare'.

    \b
    cfr audit instructions runs.db
    cfr audit instructions runs.db --benchmark ifeval --json
    """
    from constraint_first.report.exhibit.interventions import instruction_tables

    study = _study(runs, part, as_json=as_json)
    missing = (
        "has no replies to requests with gold instructions; run a benchmark that has them ('cfr "
        "eval ifeval …'), or name the store or an export with its texts"
    )
    _show(instruction_tables(study), study, missing, as_json=as_json)


@audit_command.command("interventions")
@runs_argument
@part_options
@json_option
def interventions_command(runs: tuple[str, ...], part: StudyPart, *, as_json: bool) -> None:
    """Audit interventions: undo what checks changed, and judge the answers from before.

    For methods that change an answer or a reply: sound, checked, auto. RUNS are stores (runs.db
    unless named) and files of attempts, as for 'cfr compare'.

    \b
    cfr audit interventions runs.db
    cfr audit interventions runs.db --benchmark ifeval --json
    """
    from constraint_first.report.exhibit.interventions import intervention_tables

    study = _study(runs, part, as_json=as_json)
    missing = (
        "has no interventions on record; run a method that makes them (sound, checked), or name "
        "the store or an export with its details"
    )
    _show(intervention_tables(study), study, missing, as_json=as_json)


def _study(runs: tuple[str, ...], part: StudyPart, *, as_json: bool) -> Study:
    """Open a study; for tables its methods get short names."""
    from constraint_first.report.study import with_short_names

    study = open_part(runs, part)
    return study if as_json else with_short_names(study)


def _show(tables: Sequence[Table], study: Study, missing: str = "", *, as_json: bool) -> None:
    """Print tables, or a note on missing data."""
    if not tables:
        from constraint_first.report.study import StudyError

        raise StudyError(f"{study.source}: {missing}")
    if as_json:
        print_json([table.to_json() for table in tables])
        return
    from constraint_first.cli import console as show
    from constraint_first.report.study import name_notes

    for number, table in enumerate(tables):
        if number:
            print_text()
        show.print_table(table)
    show.print_notes(name_notes(study))


@audit_command.command("report")
@click.argument("paths", metavar="LABELS.jsonl...", nargs=-1, required=True, type=A_PATH)
@json_option
def marks_command(paths: tuple[Path, ...], *, as_json: bool) -> None:
    """Summarize the marks of annotators, and the agreement between them.

    Validity, hallucination and completeness are given with 95 % intervals, for each model.
    Several files are read as one.

    \b
    cfr audit report labels.jsonl
    cfr audit report ada.jsonl ben.jsonl --json
    """
    from constraint_first.report.exhibit.marks import accords, rates, read_labels

    labels = read_labels(paths)
    if not (found := rates(labels)):
        names = ", ".join(map(str, paths))
        raise InputError(f"{names}: no attempt is judged yet; mark some on the page of 'cfr serve'")
    if as_json:
        pairs = [accord.to_json() for accord in accords(labels)]
        drafts = sum(not label.complete for label in labels)
        models = [one.to_json() for one in found]
        print_json({"models": models, "annotators": pairs, "drafts": drafts})
        return
    from constraint_first.cli import console as show
    from constraint_first.report.exhibit.marks import annotator_table, manual_audit_table

    show.print_table(manual_audit_table(labels))
    print_text()
    show.print_table(annotator_table(labels))


# All options are accepted, so that an old command line ends with the message below.
@audit_command.command("mark", hidden=True, context_settings={"ignore_unknown_options": True})
@click.argument("_options", nargs=-1, type=click.UNPROCESSED)
def mark_command(_options: tuple[str, ...]) -> None:
    """Say where constraints are marked."""
    raise InputError(
        "constraints are marked on a page: run 'cfr serve RUNS --labels FILE.jsonl' and open its "
        "page /audit"
    )
