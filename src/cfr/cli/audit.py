"""``cfr audit``: a closer look at what a run did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cfr.cli.auditing import errors_command, router_command, stage1_command

if TYPE_CHECKING:
    from cfr.analysis.audit.manual.sample import Sample
    from cfr.analysis.study.study import Study
    from cfr.cli.marking import Hand

__all__ = ["command"]


@click.group("audit")
def command() -> None:
    """Look closely at what runs did: router, Stage 1, errors, and marks made by people."""


for _one in (router_command, stage1_command, errors_command):
    command.add_command(_one)


@command.command("mark")
@click.argument("runs", metavar="RUNS|FILE.jsonl")
@click.option(
    "--labels",
    "path",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FILE.jsonl",
    help="Where labels are kept; a file that exists is added to.",
)
@click.option("--annotator", required=True, metavar="NAME", help="Who judges.")
@click.option(
    "--size", type=click.IntRange(min=1), default=50, show_default=True, help="How many attempts."
)
@click.option("--seed", type=int, default=1, show_default=True, help="Which of them.")
@click.option("--benchmark", help="Only attempts on this benchmark.")
@click.option("--model", help="Only attempts with this model.")
@click.option("--method", help="Only attempts by this method.")
def mark_command(
    runs: str, path: Path, annotator: str, size: int, seed: int, **only: str | None
) -> None:
    """Judge a sample of Stage 1 constraints, one after another.

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
    from cfr.cli.study_option import open_study

    check_annotator(annotator)
    with open_study((runs,), {"benchmarks": (), "models": ()}) as study:
        sample = draw(
            study,
            size=size,
            seed=seed,
            benchmark=only["benchmark"],
            model=only["model"],
            method=only["method"],
        )
        hands = _hands(study, sample, path, annotator)
    marking = Marking(hands, len(sample.keys), path)
    drawn = f"{len(sample.keys):,} of {sample.eligible:,} attempts, one a problem and model"
    without = f"; {sample.without:,} more have no constraint" if sample.without else ""
    marking.console.print(f"{drawn}, drawn with seed {seed}{without}")
    marking.run()


def _hands(study: Study, sample: Sample, path: Path, annotator: str) -> list[Hand]:
    """Lay out what is left to judge, with all the text that it needs."""
    from cfr.analysis.audit.manual.label import begin_labels, unmarked
    from cfr.analysis.audit.manual.sample import refuse_mismatch, resume
    from cfr.analysis.study.study import Asked
    from cfr.cli.marking import Hand
    from cfr.constraint.spec import ConstraintSpec

    labels = begin_labels(path)
    transcripts = study.transcripts({*sample.keys, *(label.key for label in labels)})
    refuse_mismatch(labels, transcripts, study.source)
    drafts = {label.key: label for label in labels if label.annotator == annotator}
    hands: list[Hand] = []
    for key in resume(sample, labels, annotator):
        spec = transcripts[key].constraints or ConstraintSpec()
        label = drafts.get(key) or unmarked(annotator, key, spec)
        asked = study.problems.get((key[0], key[4])) or Asked("(its text is not in these runs)")
        first = next(n for n, one in enumerate(label.constraints) if one.mark is None)
        hands.append(Hand(sample.keys.index(key) + 1, asked, spec, label, label, first))
    return hands


@command.command("report")
@click.argument(
    "paths", metavar="LABELS.jsonl...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@click.option("--json", "as_json", is_flag=True, help="Write JSON for programs.")
def report_command(paths: tuple[Path, ...], *, as_json: bool) -> None:
    """Report what annotators found, and how far they agree.

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
        click.echo(json.dumps({"models": models, "annotators": pairs, "drafts": drafts}))
        return
    from cfr.analysis.table.manual_audit import annotator_table, extraction_table
    from cfr.cli import show

    show.print_table(extraction_table(labels))
    click.echo()
    show.print_table(annotator_table(labels))
