"""``cfr audit mark`` and ``cfr audit report``: constraints that people mark, and their rates."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cfr.cli.option import json_option
from cfr.cli.output import print_json, print_text
from cfr.cli.study_option import StudyPart, open_part, runs_argument

if TYPE_CHECKING:
    from cfr.analysis.audit.manual.sample import Sample
    from cfr.analysis.study.study import Study
    from cfr.cli.marking import MarkingTask

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
    from cfr.analysis.audit.manual.label import check_annotator
    from cfr.analysis.audit.manual.sample import draw
    from cfr.cli.marking import Marking

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
    from cfr.cli import show

    show.print_table(manual_audit_table(labels))
    print_text()
    show.print_table(annotator_table(labels))
