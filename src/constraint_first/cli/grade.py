"""``cfr grade``: verdicts for one answer, or for a file of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from constraint_first.answer import GradingCase, Verdict, grade_each, grade_reply
from constraint_first.benchmark.gold_instruction import read_instructions
from constraint_first.cli.option import columns_option
from constraint_first.cli.output import print_note, print_text
from constraint_first.cli.row_file import (
    GoodRows,
    RowFields,
    good_rows,
    text_field,
    with_progress,
    writing,
)
from constraint_first.evaluation.judge import judge_reply
from constraint_first.file.jsonl import JsonLine

if TYPE_CHECKING:
    from constraint_first.answer.judgement.workers import Workers

__all__ = ["command"]

_FIELDS: Final = RowFields(("pred", "gold", "problem", "truncated", "id"), ("pred", "gold"))


# Unknown options are arguments, so that `cfr grade -3 3` needs no `--`.
@click.command("grade", context_settings={"ignore_unknown_options": True})
@click.argument("first", metavar="FILE | PRED")
@click.argument("second", metavar="[GOLD]", required=False)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write the rows here.")
@click.option("--problem", default="", help="The problem's text, for PRED and GOLD.")
@click.option("--workers", type=click.IntRange(min=1), help="Processes (default: one a core).")
@columns_option("pred=reply,gold=solution,id=…")
def command(
    first: str,
    second: str | None,
    output: Path | None,
    problem: str,
    workers: int | None,
    columns: dict[str, str],
) -> None:
    """Judge answers against gold answers.

    With PRED and GOLD, print one verdict and why. With FILE (.jsonl, .json, .csv, .tsv, .parquet),
    judge each row: "pred" (a bare answer or a whole completion) against "gold", perhaps with "id",
    "problem" (its text tells whether a percentage is asked for) and "truncated". Each line of the
    output has "id", "verdict" (correct, incorrect or undecided), "tier", "answer" and "seconds",
    in the order of the input. A row that cannot be read is reported on standard error and does not
    stop the rest.

    \b
    Examples:
      cfr grade predictions.jsonl -o verdicts.jsonl
      cfr grade table.csv --columns pred=reply,gold=solution
      cfr grade '\\frac{1}{2}' 0.5
      cfr grade -- '-oo' '-\\infty'
    """
    if second is None:
        _grade_file(good_rows(Path(first), _FIELDS, columns), output, workers)
    elif output is not None or columns:
        raise click.UsageError("-o and --columns go with a file, not with PRED and GOLD")
    else:
        instructions = read_instructions(second)
        verdict = (
            judge_reply(instructions, first)
            if instructions
            else grade_reply(first, second, problem)
        )
        print_text(f"{verdict.verdict} ({verdict.tier} tier): {verdict.why}")


def _grade_file(read: GoodRows, output: Path | None, count: int | None) -> None:
    from constraint_first.answer.judgement.workers import Workers

    rows = read.rows
    counts: Counter[str] = Counter()
    with writing(output) as write, Workers(count) as workers:
        print_note(read.taken)
        verdicts = _verdicts(rows, workers)
        for row, verdict in zip(rows, with_progress(verdicts, len(rows), "Grading"), strict=True):
            counts[verdict.verdict] += 1
            write(
                {
                    "id": row.value["id"],
                    "verdict": verdict.verdict,
                    "tier": verdict.tier,
                    "answer": verdict.answer,
                    "seconds": round(verdict.seconds, 6),
                }
            )
    words = [f"{counts[word]} {word}" for word in ("correct", "incorrect", "undecided")]
    print_note(", ".join(words) + (f", {read.bad} skipped" if read.bad else ""))


def _verdicts(rows: Sequence[JsonLine], workers: Workers) -> Iterator[Verdict]:
    """Judge rows in order: by the gold answer, or the whole reply by gold instructions."""
    asked = [read_instructions(text_field(row, "gold")) for row in rows]
    answers = (row for row, own in zip(rows, asked, strict=True) if own is None)
    graded = grade_each(map(_case, answers), workers=workers)
    for row, own in zip(rows, asked, strict=True):
        yield next(graded) if own is None else judge_reply(own, text_field(row, "pred") or "")


def _case(row: JsonLine) -> GradingCase:
    return GradingCase.from_reply(
        text_field(row, "pred"),
        text_field(row, "gold") or "",
        text_field(row, "problem") or "",
        truncated=str(row.value.get("truncated")).lower() == "true",
    )
