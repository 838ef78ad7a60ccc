"""``cfr audit``: the router, Stage 1, errors, and marks made by people."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from cfr.cli.option import grouped, json_option
from cfr.cli.output import print_json, print_note, print_text
from cfr.cli.study_option import (
    ErrorRuleOptions,
    StudyPart,
    error_rule_options,
    open_part,
    part_options,
    runs_argument,
)

if TYPE_CHECKING:
    from cfr.analysis.audit.manual.sample import Sample
    from cfr.analysis.study.study import Study
    from cfr.analysis.table.table import Table
    from cfr.cli.marking import MarkingTask

__all__ = ["command"]


@click.group("audit")
def command() -> None:
    """Audit stored runs: the router, Stage 1, errors, and constraints that people marked."""


@dataclass(frozen=True, slots=True)
class _Methods:
    """The two methods that an audit compares, as they were named."""

    baseline: str
    method: str

    def find(self, study: Study) -> tuple[str, str]:
        """Find the method to look at, and what it is measured against."""
        from cfr.analysis.statistics.comparison import constrained_method, find_method

        baseline = find_method(study, self.baseline)
        return constrained_method(study, baseline, self.method), baseline


_method_options: Final = grouped(
    "methods",
    lambda: _Methods,
    click.option(
        "--baseline",
        default="direct",
        show_default=True,
        help="The method that gains are measured against.",
    ),
    click.option(
        "--method", default="", help="The method whose gains are measured.  [routed-cfr, else cfr]"
    ),
)


@command.command("router")
@runs_argument
@part_options
@_method_options
@json_option
@click.option(
    "--decisions",
    type=click.Path(path_type=Path),
    help='Reference decisions of a person: {"problem", "routed"} lines.',
)
@click.option(
    "--labels",
    type=click.Path(path_type=Path),
    multiple=True,
    help="A file of labels from 'cfr audit mark'; repeatable.",
)
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

    \b
    cfr audit router runs.db
    cfr audit router runs.db --decisions mine.jsonl --json
    cfr audit router runs.db --labels labels.jsonl
    """
    from cfr.analysis.audit.manual.annotation import labels_of
    from cfr.analysis.audit.manual.label import read_labels
    from cfr.analysis.audit.router_agreement import compare_routers, read_decisions
    from cfr.analysis.audit.routing import audit_router
    from cfr.analysis.table.router_agreement import routers_table
    from cfr.analysis.table.routing import (
        cofire_table,
        convention_table,
        patterns_table,
        rates_table,
    )

    study = open_part(runs, part)
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
        routers_table(compare_routers(study, audit, decided)),
    ]
    _print(tables, as_json=as_json)


@command.command("stage1")
@runs_argument
@part_options
@_method_options
@json_option
def stage1_command(
    runs: tuple[str, ...], part: StudyPart, methods: _Methods, *, as_json: bool
) -> None:
    """Audit Stage 1: how replies parsed, counts and kinds of constraints, soundness against gold.

    \b
    cfr audit stage1 runs.db
    cfr audit stage1 runs.db --method cfr --json
    """
    from cfr.analysis.audit.stage1.gold import gold_quality
    from cfr.analysis.table.categories import categories_table
    from cfr.analysis.table.extraction import extraction_table, parsing_table

    study = open_part(runs, part)
    tables = [
        parsing_table(study),
        extraction_table(study, gold_quality(study)),
        categories_table(study, *methods.find(study)),
    ]
    _print(tables, as_json=as_json)


@command.command("errors")
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

    \b
    cfr audit errors runs.db --method cfr
    cfr audit errors runs.db --classes mine.jsonl --json
    """
    from cfr.analysis.table.errors import errors_table, fixes_table
    from cfr.analysis.table.outcomes import outcomes_table
    from cfr.analysis.table.per_problem import per_problem_tables

    study = open_part(runs, part)
    method, baseline = methods.find(study)
    rule = error_rule.read(study)
    tables = [
        outcomes_table(study, method, baseline, rule),
        errors_table(study, method, baseline, rule),
        fixes_table(study, method, baseline, rule),
        *per_problem_tables(study, method, baseline, rule),
    ]
    _print(tables, as_json=as_json)


def _print(tables: Iterable[Table], *, as_json: bool) -> None:
    if as_json:
        print_json([table.to_json() for table in tables])
        return
    from cfr.cli import show

    for number, table in enumerate(tables):
        if number:
            print_text()
        show.print_table(table)


@command.command("mark")
@click.argument("runs", metavar="RUNS|FILE.jsonl")
@click.option(
    "--labels",
    "path",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FILE.jsonl",
    help="The file of labels; an existing one is added to.",
)
@click.option("--annotator", required=True, metavar="NAME", help="The annotator's name.")
@click.option(
    "--size", type=click.IntRange(min=1), default=50, show_default=True, help="How many attempts."
)
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the sample.")
@click.option("--benchmark", help="Only attempts on this benchmark.")
@click.option("--model", help="Only attempts with this model.")
@click.option("--method", help="Only attempts by this method.")
def mark_command(
    runs: str,
    path: Path,
    annotator: str,
    size: int,
    seed: int,
    benchmark: str | None,
    model: str | None,
    method: str | None,
) -> None:
    """Mark a sample of Stage 1 constraints as entailed, not entailed or vague, one by one.

    RUNS is a store or a .jsonl file that 'cfr export' wrote. Each constraint is marked as entailed
    by the problem's text, not entailed, or too vague to tell; '?' shows all keys. What is judged is
    on the disk at once, and the same command goes on where it stopped. Two people who name the same
    seed and size judge the same attempts. Input that is not a terminal is read line by line, a key
    on each.

    \b
    cfr audit mark runs.db --labels labels.jsonl --annotator ada
    cfr audit mark attempts.jsonl --labels labels.jsonl --annotator ben --size 20 --model m
    """
    from cfr.analysis.audit.manual.label import check_annotator
    from cfr.analysis.audit.manual.sample import draw
    from cfr.cli.marking import Marking

    check_annotator(annotator)
    study = open_part((runs,), StudyPart())
    sample = draw(
        study,
        size=size,
        seed=seed,
        benchmark=benchmark,
        model=model,
        method=method,
    )
    tasks = _tasks(study, sample, path, annotator)
    marking = Marking(tasks, len(sample.keys), path)
    drawn = f"{len(sample.keys):,} of {sample.eligible:,} attempts, one a problem and model"
    without = f"; {sample.without:,} more have no constraint" if sample.without else ""
    marking.console.print(f"{drawn}, drawn with seed {seed}{without}")
    marking.run()


def _tasks(study: Study, sample: Sample, path: Path, annotator: str) -> list[MarkingTask]:
    """Lay out what is left to judge, with all the text that it needs."""
    from cfr.analysis.audit.manual.label import begin_labels, unmarked
    from cfr.analysis.audit.manual.sample import refuse_mismatch, resume
    from cfr.analysis.study.study import ProblemText
    from cfr.cli.marking import MarkingTask
    from cfr.constraint.spec import ConstraintSpec

    labels = begin_labels(path)
    transcripts = study.transcripts({*sample.keys, *(label.key for label in labels)})
    refuse_mismatch(labels, transcripts, study.source)
    drafts = {label.key: label for label in labels if label.annotator == annotator}
    tasks: list[MarkingTask] = []
    missing = ProblemText("(its text is not in these runs)")
    for key in resume(sample, labels, annotator):
        spec = transcripts[key].constraints or ConstraintSpec()
        label = drafts.get(key) or unmarked(annotator, key, spec)
        asked = study.problems.get((key[0], key[4])) or missing
        first = next(n for n, one in enumerate(label.constraints) if one.mark is None)
        tasks.append(MarkingTask(sample.keys.index(key) + 1, asked, spec, label, label, first))
    return tasks


@command.command("report")
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
    from cfr.analysis.audit.manual.annotation import accords, rates
    from cfr.analysis.audit.manual.label import read_labels
    from cfr.error import InputError

    labels = read_labels(paths)
    if not (found := rates(labels)):
        names = ", ".join(map(str, paths))
        raise InputError(f"{names}: no attempt is judged yet; 'cfr audit mark' is for that")
    if as_json:
        pairs = [accord.to_json() for accord in accords(labels)]
        drafts = sum(not label.complete for label in labels)
        models = [one.to_json() for one in found]
        print_json({"models": models, "annotators": pairs, "drafts": drafts})
        return
    from cfr.analysis.table.manual_audit import annotator_table, manual_audit_table

    _print([manual_audit_table(labels), annotator_table(labels)], as_json=False)
