"""``cfr audit``: the router, Stage 1, errors, instructions, interventions, and marks by people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from constraint_first.cli.options import (
    ErrorRuleOptions,
    StudyPart,
    error_rule_options,
    grouped,
    json_option,
    labels_option,
    open_part,
    part_options,
    runs_argument,
)
from constraint_first.cli.output import print_json, print_note, print_text
from constraint_first.error import InputError

if TYPE_CHECKING:
    from constraint_first.report.study import Study
    from constraint_first.report.table import Table


@click.group("audit")
def audit_command() -> None:
    """Audit stored runs: the router, Stage 1, errors, and constraints that people marked."""


@dataclass(frozen=True, slots=True)
class _Methods:
    """The two methods that an audit compares, as they were named."""

    baseline: str
    method: str

    def find(self, study: Study) -> tuple[str, str]:
        """Find the method to look at, and what it is measured against."""
        from constraint_first.report.comparison import constrained_method, find_baseline
        from constraint_first.report.study import variant_notes

        baseline = find_baseline(study, self.baseline)
        method = constrained_method(study, baseline, self.method)
        for note in variant_notes(study, {method} - {self.method}, "--method"):
            print_note(note)
        return method, baseline


_method_options: Final = grouped(
    "methods",
    _Methods,
    click.option(
        "--baseline",
        default="",
        show_default=False,
        help="The method that gains are measured against.  [direct]",
    ),
    click.option(
        "--method",
        default="",
        show_default=False,
        help="The method whose gains are measured.  [routed-cfr, else cfr, else their -brief]",
    ),
)


@audit_command.command("router")
@runs_argument
@part_options
@_method_options
@json_option
@click.option(
    "--decisions",
    type=click.Path(path_type=Path),
    help='Reference decisions of a person: {"problem", "routed"} lines.',
)
@labels_option
def router_command(
    runs: tuple[str, ...],
    part: StudyPart,
    methods: _Methods,
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
        cofire_table(study, audit, *methods.find(study), marks),
        routers_table(study, audit, decided),
    ]
    _print(tables, study, as_json=as_json)


@audit_command.command("stage1")
@runs_argument
@part_options
@_method_options
@json_option
def stage1_command(
    runs: tuple[str, ...], part: StudyPart, methods: _Methods, *, as_json: bool
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
        categories_table(study, *methods.find(study)),
    ]
    _print(tables, study, as_json=as_json)


@audit_command.command("errors")
@runs_argument
@part_options
@_method_options
@error_rule_options
@json_option
def errors_command(
    runs: tuple[str, ...],
    part: StudyPart,
    methods: _Methods,
    error_rule: ErrorRuleOptions,
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
    method, baseline = methods.find(study)
    tables = [*error_tables(study, method, baseline, error_rule.read(study))]
    _print(tables, study, as_json=as_json)


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
    _print(instruction_tables(study), study, missing, as_json=as_json)


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
    _print(intervention_tables(study), study, missing, as_json=as_json)


def _study(runs: tuple[str, ...], part: StudyPart, *, as_json: bool) -> Study:
    """Open a study; people get names that have room in a table."""
    from constraint_first.report.study import with_short_names

    study = open_part(runs, part)
    return study if as_json else with_short_names(study)


def _print(tables: Sequence[Table], study: Study, missing: str = "", *, as_json: bool) -> None:
    """Print tables; where there are none, say what is missing."""
    if not tables:
        from constraint_first.report.study import StudyError

        raise StudyError(f"{study.source}: {missing}")
    if as_json:
        print_json([table.to_json() for table in tables])
        return
    from constraint_first.cli import show
    from constraint_first.report.study import name_notes

    for number, table in enumerate(tables):
        if number:
            print_text()
        show.print_table(table)
    show.print_notes(name_notes(study))


@audit_command.command("report")
@click.argument(
    "paths", metavar="LABELS.jsonl...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@json_option
def report_command(paths: tuple[Path, ...], *, as_json: bool) -> None:
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
    from constraint_first.cli import show
    from constraint_first.report.exhibit.marks import annotator_table, manual_audit_table

    show.print_table(manual_audit_table(labels))
    print_text()
    show.print_table(annotator_table(labels))


# Its options are taken unread, so that an old command line ends with the message below.
@audit_command.command("mark", hidden=True, context_settings={"ignore_unknown_options": True})
@click.argument("_options", nargs=-1, type=click.UNPROCESSED)
def mark_command(_options: tuple[str, ...]) -> None:
    """Say where constraints are marked."""
    raise InputError(
        "constraints are marked on a page: run 'cfr serve RUNS --labels FILE.jsonl' and open its "
        "page /audit"
    )
