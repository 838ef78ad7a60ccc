"""``cfr constraints``: what a text demands of any answer or reply; audits and judges files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

import click

from constraint_first.benchmark.gold_instruction import read_instructions
from constraint_first.benchmark.source import ProblemSet, read_problems
from constraint_first.cli.option import columns_option, json_option
from constraint_first.cli.output import print_json, print_note
from constraint_first.constraint.kind import tell_kind
from constraint_first.constraint.predicate import Truth
from constraint_first.constraint.reply.conflict import Conflict, find_conflicts, tell_conflict
from constraint_first.constraint.reply.reader import read_demands
from constraint_first.constraint.reply.request import LONGEST
from constraint_first.constraint.spec import KINDS
from constraint_first.constraint.stated import Stated, check_stated, read_stated
from constraint_first.problem import Json, Problem

if TYPE_CHECKING:
    from rich.text import Text

__all__ = ["command"]

_Checked: TypeAlias = tuple[tuple[Stated, Truth], ...]
_TRUTHS: tuple[Truth, ...] = ("holds", "violated", "undecided")


@click.command("constraints")
@click.argument("source", metavar="TEXT|FILE|-")
@click.option("--answer", help="An answer, or a whole reply, to check against what TEXT demands.")
@click.option("--replies", type=click.Path(path_type=Path), help="Judge these replies to FILE.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write the verdicts here.")
@click.option("--loose", is_flag=True, help="Forgive a first or last line and asterisks.")
@columns_option()
@json_option
def command(
    source: str,
    answer: str | None,
    replies: Path | None,
    output: Path | None,
    columns: dict[str, str],
    *,
    loose: bool,
    as_json: bool,
) -> None:
    """Show what a text demands of any answer or reply; on a file, audit it or judge replies.

    No model is asked: what is demanded is read from the words, and each demand is shown with the
    words that prove it. A problem of mathematics says something about its answer, any request may
    say how the whole reply is to be written. With --answer, each demand is said to hold, to be
    violated or to be undecided; the exit code is 0 in every case. Demands that contradict each
    other are named. On a file of problems with gold answers, a constraint that a gold answer breaks
    is unsound and is listed with the problem's id.

    With --replies, each row of that file ("id" of a request in FILE, "text", perhaps "run") is
    judged: {"id", "run", "followed": [true, false or null where it cannot be told, …]}, in the
    order of the request's "instructions" (those of IFEval, {"id", "kwargs"}) where it has them,
    else of the demands that are read from its text.

    \b
    cfr constraints "Find the remainder when 7^100 is divided by 13."
    cfr constraints "How many primes are there below 100?" --answer 25.5
    cfr constraints "Write about tea in at most 50 words, without commas."
    cfr constraints problems.jsonl --json
    cfr constraints problems.csv --columns problem=question,answer=solution
    cfr constraints requests.jsonl --replies replies.jsonl -o verdicts.jsonl
    """
    read = read_problems(source, columns)
    problems = read.problems
    if replies is None and (output is not None or loose):
        raise click.UsageError("-o and --loose go with --replies")
    if read.taken and answer is not None:
        raise click.UsageError("--answer goes with one problem; a file brings its own answers")
    if replies is not None:
        _judge(read, source, replies, output, loose=loose)
    elif read.taken:
        print_note(read.taken)
        found = [check_stated(read_stated(one.text), _gold(one) or "") for one in problems]
        audit = _audit(problems, found)
        print_json(audit) if as_json else _show_audit(source, problems, found, audit)
    else:
        _tell(problems[0].text, answer, as_json=as_json)


def _tell(text: str, answer: str | None, *, as_json: bool) -> None:
    """Tell what one text demands, and what of it an answer meets."""
    if len(text) > LONGEST:
        print_note(f"demands on the reply are read from {LONGEST:,} characters at most")
    stated = (*read_stated(text), *read_demands(text))
    checked = check_stated(stated, answer) if answer is not None else None
    print_json(_describe(text, stated, checked)) if as_json else _show(text, stated, checked)


def _judge(
    requests: ProblemSet, source: str, replies: Path, output: Path | None, *, loose: bool
) -> None:
    from constraint_first.cli.reply_file import judge_replies

    if not requests.taken:
        raise click.UsageError("--replies goes with a file of requests, one a row")
    judge_replies(requests, source, replies, output, loose=loose)


def _describe(text: str, stated: Sequence[Stated], checked: _Checked | None) -> list[Json]:
    rows: list[Json] = []
    conflicts = find_conflicts(stated)
    for number, one in enumerate(stated):
        row: dict[str, Json] = {
            "kind": one.kind,
            "predicate": dict(one.predicate),
            "span": list(one.span),
            "phrase": text[slice(*one.span)],
            "sentence": one.sentence,
        }
        clashing = [stated.index(other) for pair in conflicts for other in _other(pair, one)]
        row |= {"conflicts": [*clashing]} if clashing else {}
        rows.append(row | {"truth": checked[number][1]} if checked else row)
    return rows


def _other(conflict: Conflict, one: Stated) -> tuple[Stated, ...]:
    """The demand that contradicts another one; none where the conflict is between others."""
    return tuple(each for each in conflict if each is not one) if one in conflict else ()


def _gold(problem: Problem) -> str | None:
    """The gold answer; gold instructions are none, they are for whole replies."""
    return None if read_instructions(problem.answer) else problem.answer


def _audit(problems: Sequence[Problem], found: Sequence[_Checked]) -> dict[str, Json]:
    pairs = [*zip(problems, found, strict=True)]
    kinds = Counter(kind for checked in found for kind in {one.kind for one, _ in checked})
    truths = Counter(truth for checked in found for _, truth in checked)
    unsound = [one.id for one, checked in pairs if any(t == "violated" for _, t in checked)]
    demands = [sorted({_op(read) for read in read_demands(one.text)}) for one in problems]
    return {
        "total": len(problems),
        "covered": sum(map(bool, found)),
        "with_answer": sum(_gold(one) is not None for one in problems),
        "kinds": {kind: kinds[kind] for kind in KINDS},
        "constraints": {truth: truths[truth] for truth in _TRUTHS},
        "unsound": [*unsound],
        "demanding": sum(map(bool, demands)),
        "demands": dict(Counter(op for ops in demands for op in ops).most_common()),
    }


def _op(demand: Stated) -> str:
    return str(demand.predicate["op"])


def _show(text: str, stated: Sequence[Stated], checked: _Checked | None) -> None:
    from constraint_first.cli.checks import MARKS
    from constraint_first.cli.console import SafeConsole
    from constraint_first.cli.table import Column, Table

    console = SafeConsole()
    console.print(_marked(text, [one.span for one in stated]))
    console.print()
    console.print(_cell(tell_kind(text), "dim"))
    if not stated:
        console.print(
            "the text states no constraint and makes no demand that can be checked", style="bold"
        )
        return
    table = Table("kind", Column("demand", "prose"), Column("words", "prose"), header=False)
    for number, one in enumerate(stated):
        truth = checked[number][1] if checked else None
        table.add_row(
            MARKS[truth].copy().append(f" {truth}") if truth else _cell(one.kind, "cyan"),
            _cell(one.sentence),
            _cell(f"“{' '.join(text[slice(*one.span)].split())}”", "dim"),
        )
    console.print(table)
    for conflict in find_conflicts(stated):
        console.print()
        console.print(_cell(tell_conflict(conflict), "bold yellow"))


def _show_audit(
    source: str,
    problems: Sequence[Problem],
    found: Sequence[_Checked],
    audit: dict[str, Json],
) -> None:
    from constraint_first.cli.console import SafeConsole
    from constraint_first.cli.table import Column, Table

    console = SafeConsole()
    counts = Counter(truth for checked in found for _, truth in checked)
    said = ", ".join(f"{counts[truth]:,} {truth}" for truth in _TRUTHS)
    console.print(_cell(f"{audit['covered']:,} / {audit['total']:,} problems state a constraint"))
    console.print(_cell(f"{sum(counts.values()):,} constraints on gold answers: {said}  {source}"))
    console.print(
        _cell(f"{audit['demanding']:,} / {audit['total']:,} demand something of the reply")
    )
    for title, name in (("constraint", "kinds"), ("demand", "demands")):
        counted = cast("dict[str, int]", audit[name])
        if any(counted.values()):
            table = Table(title, Column("problems"))
            for kind, count in counted.items():
                table.add_row(kind, f"{count:,}")
            console.print()
            console.print(table)
    for problem, checked in zip(problems, found, strict=True):
        for one, truth in checked:
            if truth == "violated":
                phrase = " ".join(problem.text[slice(*one.span)].split())
                words = f"unsound: {problem.id}: “{phrase}”: {one.sentence} Gold: {problem.answer}"
                console.print(_cell(words, "bold red"))


def _marked(text: str, spans: Sequence[tuple[int, int]]) -> Text:
    shown = _cell(text)
    for start, end in spans:
        shown.stylize("bold cyan", start, end)
    return shown


def _cell(words: str, style: str = "") -> Text:
    from rich.text import Text

    from constraint_first.file.printable import printable

    return Text(printable(words), style=style)
