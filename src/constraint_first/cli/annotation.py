"""``cfr audit mark`` and ``cfr audit report``: constraints that people mark, and their rates."""

from __future__ import annotations

from pathlib import Path

import click

from constraint_first.cli.option import json_option
from constraint_first.cli.output import print_json, print_text
from constraint_first.cli.study_option import StudyPart, open_part, runs_argument

__all__ = ["mark_command", "report_command"]


@click.command("mark")
@runs_argument
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
    runs: tuple[str, ...],
    path: Path,
    annotator: str,
    size: int,
    seed: int,
    benchmark: str | None,
    model: str | None,
    method: str | None,
) -> None:
    """Mark a sample of Stage 1 constraints as entailed, not entailed or vague, one by one.

    RUNS are stores (runs.db unless named) and files of attempts, as for 'cfr compare'. Each
    constraint is marked as entailed by the problem's text, not entailed, or too vague to tell; '?'
    shows all keys. What is judged is on the disk at once, and the same command goes on where it
    stopped. Two people who name the same seed and size judge the same attempts. Input that is not
    a terminal is read line by line, a key on each.

    \b
    cfr audit mark runs.db --labels labels.jsonl --annotator ada
    cfr audit mark attempts.jsonl --labels labels.jsonl --annotator ben --size 20 --model m
    """
    from constraint_first.analysis.audit.manual.label import begin_labels, check_annotator
    from constraint_first.analysis.audit.manual.sample import draw, resume
    from constraint_first.analysis.audit.manual.task import lay_out
    from constraint_first.cli.marking import Marking

    check_annotator(annotator)
    study = open_part(runs, StudyPart())
    sample = draw(
        study,
        size=size,
        seed=seed,
        benchmark=benchmark,
        model=model,
        method=method,
    )
    labels = begin_labels(path)
    tasks = lay_out(study, sample, labels, annotator, resume(sample, labels, annotator))
    marking = Marking(tasks, len(sample.keys), path)
    drawn = f"{len(sample.keys):,} of {sample.eligible:,} attempts, one a problem and model"
    without = f"; {sample.without:,} more have no constraint" if sample.without else ""
    marking.console.print(f"{drawn}, drawn with seed {seed}{without}")
    marking.run()


@click.command("report")
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
    from constraint_first.analysis.audit.manual.annotation import accords, rates
    from constraint_first.analysis.audit.manual.label import read_labels
    from constraint_first.error import InputError

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
    from constraint_first.analysis.table.manual_audit import annotator_table, manual_audit_table
    from constraint_first.cli import show

    show.print_table(manual_audit_table(labels))
    print_text()
    show.print_table(annotator_table(labels))
