"""``cfr constraints``: the demands of a text on any answer or reply; audits and judges files."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, TypeVar, cast

import click

from constraint_first.answer.extract import extract
from constraint_first.answer.grade import GradingCase, Verdict, grade_each, grade_reply
from constraint_first.benchmark.registry import (
    GOLD_COLUMNS,
    GoldInstruction,
    ProblemSet,
    final_part,
    read_gold,
    read_instructions,
    read_problems,
)
from constraint_first.cli import print_json, print_note, print_text
from constraint_first.cli.options import A_PATH, COUNT, columns_option, json_option, option
from constraint_first.constraint.kind import read_kind, tell_kind
from constraint_first.constraint.predicate import Predicate, Truth, parts
from constraint_first.constraint.reply.conflict import find_conflicts, tell_conflict
from constraint_first.constraint.reply.instruction import instruction_predicate, is_followed
from constraint_first.constraint.reply.language import can_tell_language
from constraint_first.constraint.reply.reader import read_demands
from constraint_first.constraint.reply.request import LONGEST
from constraint_first.constraint.router import (
    FAMILIES,
    PROFILES,
    Cue,
    Profile,
    aime_convention,
    route,
)
from constraint_first.constraint.stage1 import KINDS
from constraint_first.constraint.stated.read import read_stated
from constraint_first.constraint.stated.statement import Stated, check_stated
from constraint_first.error import CfrError
from constraint_first.file.rows import (
    OBJECT,
    TEXT,
    BadLine,
    Columns,
    ColumnUse,
    FieldError,
    JsonLine,
    read_field,
    read_objects,
    scan_rows,
    within,
)
from constraint_first.file.safe import atomic_file, printable_json
from constraint_first.problem import Json, Problem

if TYPE_CHECKING:
    from constraint_first.answer.workers import Workers

_Checked: TypeAlias = tuple[tuple[Stated, Truth], ...]
_TRUTHS: tuple[Truth, ...] = ("holds", "violated", "undecided")


@click.command("constraints")
@click.argument("source", metavar="TEXT|FILE|-")
@option("--answer", "An answer, or a whole reply, to check against what TEXT demands.")
@option("--replies", "Judge these replies to FILE.", A_PATH)
@option("-o --output", "Write the verdicts here.", A_PATH)
@option("--loose", "Forgive a first or last line and asterisks.", is_flag=True)
@columns_option()
@json_option
def constraints_command(
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
    judged: {"id", "run", "followed": [true, false or null (undecided), …]}, in the
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
        if not read.taken:
            raise click.UsageError("--replies goes with a file of requests, one a row")
        judge_replies(read, source, replies, output, loose=loose)
    elif read.taken:
        print_note(read.taken)
        found = [check_stated(read_stated(one.text), _gold(one) or "") for one in problems]
        audit = _audit(problems, found)
        print_json(audit) if as_json else _show_audit(source, problems, found, audit)
    else:
        if len(text := problems[0].text) > LONGEST:
            print_note(f"demands on the reply are read from {LONGEST:,} characters at most")
        stated = (*read_stated(text), *read_demands(text))
        checked = None if answer is None else check_stated(stated, answer)
        print_json(_describe(text, stated, checked)) if as_json else _show(text, stated, checked)


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
        pairs = (pair for pair in conflicts if one in pair)
        clashing = [stated.index(other) for pair in pairs for other in pair if other is not one]
        row |= {"conflicts": [*clashing]} if clashing else {}
        rows.append(row | {"truth": checked[number][1]} if checked else row)
    return rows


def _gold(problem: Problem) -> str | None:
    """The gold answer; gold instructions do not count, since they judge whole replies."""
    return None if read_instructions(problem.answer) else problem.answer


def _audit(problems: Sequence[Problem], found: Sequence[_Checked]) -> dict[str, Json]:
    pairs = [*zip(problems, found, strict=True)]
    kinds = Counter(kind for checked in found for kind in {one.kind for one, _ in checked})
    truths = Counter(truth for checked in found for _, truth in checked)
    unsound = [one.id for one, checked in pairs if any(t == "violated" for _, t in checked)]
    demands = [
        sorted({str(read.predicate["op"]) for read in read_demands(one.text)}) for one in problems
    ]
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


def _show(text: str, stated: Sequence[Stated], checked: _Checked | None) -> None:
    from constraint_first.cli.console import MARKS, Column, SafeConsole, Table, cell

    console, shown = SafeConsole(), cell(text)
    for one in stated:
        shown.stylize("bold cyan", *one.span)
    console.print(shown)
    console.print()
    console.print(cell(tell_kind(text), "dim"))
    if not stated:
        none = "the text states no constraint and makes no demand that can be checked"
        console.print(none, style="bold")
        return
    table = Table("kind", Column("demand", "prose"), Column("words", "prose"), header=False)
    for number, one in enumerate(stated):
        truth = checked[number][1] if checked else None
        table.add_row(
            MARKS[truth].copy().append(f" {truth}") if truth else cell(one.kind, "cyan"),
            one.sentence,
            cell(_quoted(text, one), "dim"),
        )
    console.print(table)
    for conflict in find_conflicts(stated):
        console.print()
        console.print(cell(tell_conflict(conflict), "bold yellow"))


def _quoted(text: str, one: Stated) -> str:
    return f"“{' '.join(text[slice(*one.span)].split())}”"


def _show_audit(
    source: str, problems: Sequence[Problem], found: Sequence[_Checked], audit: dict[str, Json]
) -> None:
    from constraint_first.cli.console import Column, SafeConsole, Table, cell

    console = SafeConsole()
    counts = cast("dict[str, int]", audit["constraints"])
    said = ", ".join(f"{count:,} {truth}" for truth, count in counts.items())
    of_all = f"/ {audit['total']:,}"
    console.print(cell(f"{audit['covered']:,} {of_all} problems state a constraint"))
    console.print(cell(f"{sum(counts.values()):,} constraints on gold answers: {said}  {source}"))
    console.print(cell(f"{audit['demanding']:,} {of_all} demand something of the reply"))
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
                words = f"{_quoted(problem.text, one)}: {one.sentence} Gold: {problem.answer}"
                console.print(cell(f"unsound: {problem.id}: {words}", "bold red"))


# ``cfr route``: the cues that the router finds in a problem, or in a file of problems.


@click.command("route")
@click.argument("source", metavar="TEXT|FILE|-")
@option(
    "--profile",
    "The patterns: those that give the paper's counts, or those of its pseudocode.",
    click.Choice([*PROFILES]),
    "reconstructed",
)
@option(
    "--convention",
    "Ablation: also route every problem of a file whose name begins with 'aime'.",
    click.Choice(["none", "aime"]),
    "none",
)
@columns_option()
@json_option
def route_command(
    source: str, profile: str, convention: str, columns: dict[str, str], *, as_json: bool
) -> None:
    """Show which restrictive cues a problem has; on a file, count them.

    Also says what --method auto does with the text, and why.

    \b
    cfr route "Find the remainder when 7^100 is divided by 13."
    cfr route problems.jsonl --json
    cfr route problems.csv --columns problem=question
    """
    read = read_problems(source, columns)
    problems = read.problems
    found = [route(problem.text, cast("Profile", profile)) for problem in problems]
    if read.taken:
        print_note(read.taken)
        audit = _audit_route(problems, found, aime=convention == "aime")
        print_json(audit) if as_json else _show_audit_route(source, audit)
    elif as_json:
        print_json(_describe_route(problems[0].text, found[0]))
    else:
        _show_route(problems[0].text, found[0])


def _audit_route(
    problems: Sequence[Problem], found: Sequence[tuple[Cue, ...]], *, aime: bool
) -> dict[str, Json]:
    families = Counter(cue.family for cues in found for cue in cues)
    cofire = Counter("4+" if len(cues) >= 4 else str(len(cues)) for cues in found)
    routed = [
        bool(cues) or (aime and aime_convention(problem.benchmark))
        for problem, cues in zip(problems, found, strict=True)
    ]
    return {
        "total": len(problems),
        "routed": sum(routed),
        "families": {family: families[family] for family in FAMILIES},
        "cofire": {count: cofire[count] for count in ("0", "1", "2", "3", "4+")},
    }


def _describe_route(text: str, found: tuple[Cue, ...]) -> dict[str, Json]:
    kind = read_kind(text)
    return {
        "kind": kind.what,
        "why": kind.why,
        "routed": bool(found),
        "cues": [
            {
                "family": cue.family,
                "spans": [[start, end] for start, end in cue.spans],
                "phrases": [*cue.phrases(text)],
            }
            for cue in found
        ],
    }


def _show_route(text: str, found: tuple[Cue, ...]) -> None:
    from constraint_first.cli.console import SafeConsole, cell, cues, highlighted

    console = SafeConsole()
    console.print(highlighted(text, found))
    console.print()
    if found:
        console.print(cues(text, found))
    console.print("routed to CFR" if found else "no restrictive cue: Direct CoT", style="bold")
    console.print(cell(tell_kind(text)))


def _show_audit_route(source: str, audit: dict[str, Json]) -> None:
    from rich.text import Text

    from constraint_first.cli.console import Column, SafeConsole, Table, style_of

    total, routed = cast("int", audit["total"]), cast("int", audit["routed"])
    console = SafeConsole()
    share = f" routed ({routed / total:.2%})  "
    console.print(Text.assemble((f"{routed:,} / {total:,}", "bold"), share, (source, "dim")))
    for title, counts in (("cue family", audit["families"]), ("families fired", audit["cofire"])):
        table = Table(title, Column("problems"), "")
        for name, count in cast("dict[str, int]", counts).items():
            bar = "█" * round(30 * count / total)
            table.add_row(name, f"{count:,}", bar, style=style_of(name))
        console.print()
        console.print(table)


# Shared code of the commands on files of rows: reading, writing, progress.

T = TypeVar("T")
Write: TypeAlias = Callable[[dict[str, Json]], object]
"""Writes one row."""

_REPLIES: Final = ("reply", "response", "completion", "output", "prediction", "model_answer")
_USUAL: Final = {
    "id": ("id",),
    "run": ("run",),
    "pred": ("pred", *_REPLIES),
    "gold": ("gold", *GOLD_COLUMNS),
    "text": ("text", "pred", *_REPLIES),
    "problem": ("problem", "question", "prompt", "problem_text"),
    "truncated": ("truncated",),
}


class GoodRows(NamedTuple):
    """The usable rows of a file, and notes about the file."""

    rows: list[JsonLine]
    """By the names of fields, not of columns."""
    bad: int
    """How many rows were skipped."""
    taken: str
    """One line: which column was read for which field."""


def good_rows(
    path: Path, fields: Sequence[str], needed: Sequence[str], chosen: Mapping[str, str]
) -> GoodRows:
    """Read some fields of each row; report and skip rows that lack a required one.

    A row without an "id" is named by its number.
    """
    columns = Columns({name: _USUAL[name] for name in fields}, chosen)
    scanned = [*scan_rows(path)]
    columns.check(path, [row for row in scanned if isinstance(row, JsonLine)], needed)
    use, rows, bad = ColumnUse(path, "rows"), list[JsonLine](), 0
    for row in scanned:
        try:
            if isinstance(row, BadLine):
                raise FieldError(row.reason)
            found, taken = _read(row, fields, needed, columns)
        except FieldError as error:
            bad += 1
            print_note(f"cfr: {path}, {row.place}: {error}; skipped")
            continue
        rows.append(JsonLine(row.number, found, row.unit))
        for one in taken:
            use.add(*one)
    return GoodRows(rows, bad, use.describe(len(rows), fields))


def _read(
    row: JsonLine, fields: Sequence[str], needed: Sequence[str], columns: Columns
) -> tuple[dict[str, Json], list[tuple[str, str, str]]]:
    found: dict[str, Json] = {"id": row.number}
    taken: list[tuple[str, str, str]] = []
    for name in fields:
        column = next(columns.find(row.value, name), None)
        if column is None:
            if name in needed:
                raise FieldError(f"no field {columns.chosen.get(name, name)!r}")
            continue
        value, how = row.value[column], ""
        if name == "gold":
            gold = read_gold(value, column)
            if gold is None or not gold.strip():
                raise FieldError(f"field {column!r} is {'null' if gold is None else 'empty'}")
            value, how = final_part(gold)
        elif name in needed and isinstance(value, bool | list | dict):
            raise FieldError(f"field {column!r} is a {type(value).__name__}, not text")
        found[name] = value
        taken.append((name, column, how))
    return found, taken


def text_field(row: JsonLine, name: str) -> str | None:
    """Return a field as text: a number as written, None for null or a missing field."""
    value = row.value.get(name)
    return value if isinstance(value, str) or value is None else printable_json(value)


@contextmanager
def writing(path: Path | None) -> Generator[Write]:
    """Open a file that appears only when it is complete; without a path, standard output."""
    if path is None:
        yield print_json
        return
    with atomic_file(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        yield lambda row: file.write(f"{printable_json(row)}\n")


def with_progress(items: Iterable[T], total: int, label: str) -> Iterator[T]:
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.progress import track

    from constraint_first.cli.console import SafeConsole

    console = SafeConsole(stderr=True)
    yield from track(items, label, total, console=console, transient=True)


# Judging a file of replies by the demands of a file of requests: ``cfr constraints --replies``.

_Demands: TypeAlias = "tuple[Predicate | None, ...]"


def judge_replies(
    requests: ProblemSet, source: str, replies: Path, output: Path | None, *, loose: bool
) -> None:
    """Write which demands of its request each reply follows, in the order of the file."""
    demands = _all_demands(requests, source)
    read = good_rows(replies, ("id", "run", "text"), ("id", "text"), {})
    found: list[JsonLine] = []
    for row in read.rows:
        if (name := str(row.value["id"])) in demands:
            found.append(row)
        else:
            print_note(f"cfr: {replies}, {row.place}: no request has the id {name!r}; skipped")
    counts: Counter[bool | None] = Counter()
    with writing(output) as write:
        print_note(read.taken)
        for row in with_progress(found, len(found), "Judging"):
            name, text = row.value["id"], text_field(row, "text") or ""
            followed = [
                None if one is None else is_followed(one, text, loose=loose)
                for one in demands[str(name)]
            ]
            counts.update(followed)
            write({"id": name, "run": row.value.get("run"), "followed": [*followed]})
    skipped = len(read.rows) - len(found) + read.bad
    print_note(
        f"{len(found):,} replies, {counts.total():,} demands: {counts[True]:,} followed,"
        f" {counts[False]:,} not, {counts[None]:,} undecided"
        + (f"; {skipped:,} skipped" if skipped else "")
    )


def _all_demands(requests: ProblemSet, source: str) -> dict[str, _Demands]:
    """Read the demands of all requests; report the kinds that cannot be judged."""
    unknown: Counter[str] = Counter()
    found: dict[str, _Demands] = {}
    for row, problem in requests.placed:
        with within(f"{source}, {row.place}"):
            found[problem.id] = _demands(row, problem, unknown)
    for name, count in unknown.items():
        print_note(
            f"cfr: {source}: instruction {name!r} ({count:,} times) is not known, or not with these"
            " arguments; its verdicts are null"
        )
    told = (part for one in found.values() for demand in one if demand for part in parts(demand))
    if any("language" in part for part in told) and not can_tell_language():
        print_note("cfr: languages are undecided without py3langid: pip install py3langid")
    return found


def _demands(row: JsonLine, problem: Problem, unknown: Counter[str]) -> _Demands:
    if row.value.get("instructions") is None:
        return tuple(one.predicate for one in read_demands(problem.text))
    named = read_objects(row.value, "instructions", _instruction)
    unknown.update(name for name, predicate in named if predicate is None)
    return tuple(predicate for _, predicate in named)


def _instruction(value: dict[str, Json]) -> tuple[str, Predicate | None]:
    name = read_field(value, "id", TEXT)
    arguments = read_field(value, "kwargs", OBJECT) if "kwargs" in value else {}
    return name, instruction_predicate(name, arguments)


# ``cfr grade``: verdicts for one answer, or for a file of them.


# Unknown options are arguments, so that `cfr grade -3 3` needs no `--`.
@click.command("grade", context_settings={"ignore_unknown_options": True})
@click.argument("first", metavar="FILE | PRED")
@click.argument("second", metavar="[GOLD]", required=False)
@option("-o --output", "Write the rows here.", A_PATH)
@option("--problem", "The problem's text, for PRED and GOLD.", default="", show_default=False)
@option("--workers", "Processes (default: one a core).", COUNT)
@columns_option("pred=reply,gold=solution,id=…")
def grade_command(
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
    "problem" (its text says whether a percentage is asked for) and "truncated". Each line of the
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
        fields = ("pred", "gold", "problem", "truncated", "id")
        _grade_file(good_rows(Path(first), fields, ("pred", "gold"), columns), output, workers)
    elif output is not None or columns:
        raise click.UsageError("-o and --columns go with a file, not with PRED and GOLD")
    else:
        instructions = read_instructions(second)
        whole = _judge_reply(instructions, first) if instructions else None
        verdict = whole or grade_reply(first, second, problem)
        print_text(f"{verdict.verdict} ({verdict.tier} tier): {verdict.why}")


def _grade_file(read: GoodRows, output: Path | None, count: int | None) -> None:
    from constraint_first.answer.workers import Workers

    rows = read.rows
    counts: Counter[str] = Counter()
    with writing(output) as write, Workers(count) as workers:
        print_note(read.taken)
        verdicts = _verdicts(rows, workers)
        for row, verdict in zip(rows, with_progress(verdicts, len(rows), "Grading"), strict=True):
            counts[verdict.verdict] += 1
            head: dict[str, Json] = {"id": row.value["id"], "verdict": verdict.verdict}
            seconds = round(verdict.seconds, 6)
            write(head | {"tier": verdict.tier, "answer": verdict.answer, "seconds": seconds})
    words = [f"{counts[word]} {word}" for word in ("correct", "incorrect", "undecided")]
    print_note(", ".join(words) + (f", {read.bad} skipped" if read.bad else ""))


def _judge_reply(instructions: Sequence[GoldInstruction], reply: str) -> Verdict:
    from constraint_first.attempt.attempt import judge_reply  # a slow import

    return judge_reply(instructions, reply)


def _verdicts(rows: Sequence[JsonLine], workers: Workers) -> Iterator[Verdict]:
    """Judge rows in order: by the gold answer, or the whole reply by gold instructions."""
    asked = [read_instructions(text_field(row, "gold")) for row in rows]
    answers = (row for row, own in zip(rows, asked, strict=True) if own is None)
    graded = grade_each(map(_case, answers), workers=workers)
    for row, own in zip(rows, asked, strict=True):
        yield next(graded) if own is None else _judge_reply(own, text_field(row, "pred") or "")


def _case(row: JsonLine) -> GradingCase:
    return GradingCase.from_reply(
        text_field(row, "pred"),
        text_field(row, "gold") or "",
        text_field(row, "problem") or "",
        truncated=str(row.value.get("truncated")).lower() == "true",
    )


# ``cfr extract``: the final answers in a file of replies.


@click.command("extract")
@click.argument("file", type=A_PATH)
@option("-o --output", "Write the rows here.", A_PATH)
@columns_option("text=reply,id=…")
def extract_command(file: Path, output: Path | None, columns: dict[str, str]) -> None:
    """Read the final answer out of each reply of a file.

    FILE (.jsonl, .json, .csv, .tsv, .parquet) has the field "text" and perhaps "id". Each line of
    the output has "id", "answer" (null where the reply gives none) and "how", the rule that found
    it. A row that cannot be read is reported on standard error and does not stop the rest.

    \b
    Examples:
      cfr extract replies.jsonl -o answers.jsonl
      cfr extract replies.jsonl | head
      cfr extract table.csv --columns text=reply
    """
    read = good_rows(file, ("text", "id"), ("text",), columns)
    found = 0
    with writing(output) as write:
        print_note(read.taken)
        for row in with_progress(read.rows, len(read.rows), "Reading"):
            result = extract(text_field(row, "text") or "")
            found += result.answer is not None
            write({"id": row.value["id"], "answer": result.answer, "how": result.how})
    skipped = f", {read.bad} skipped" if read.bad else ""
    print_note(f"{len(read.rows)} replies: {found} with an answer{skipped}")


# ``cfr program``: one program, run as the programs of a method are.


class ProgramFailed(CfrError):
    """The program failed or was stopped."""


@click.command("program")
@click.argument("source", metavar="FILE.py|-")
@option("--time seconds", "Time limit in seconds.", click.FloatRange(0.01, 3_600), 3.0)
@option("--memory", "Memory limit in megabytes.", click.IntRange(1, 768), 256)
@json_option
def program_command(source: str, seconds: float, memory: int, *, as_json: bool) -> None:
    """Run a Python program in the sandbox and print what it prints.

    It has no access to files, network, environment or clock, and it is stopped where it takes too
    long, too much memory or prints too much. One that fails exits with 1, and says why in one line
    on standard error.

    \b
    cfr program answer.py
    echo "print(sum(range(101)))" | cfr program -
    cfr program answer.py --time 10 --json
    """
    from constraint_first.attempt.drive import storable_output, storable_program
    from constraint_first.benchmark.registry import read_stdin
    from constraint_first.file.rows import read_text
    from constraint_first.file.safe import expand_user
    from constraint_first.protocol import Program
    from constraint_first.sandbox.interpreter import shortfall
    from constraint_first.sandbox.sandbox import Limits, Sandbox

    text = read_stdin() if source == "-" else read_text(expand_user(source))
    if lacks := shortfall():
        print_note(lacks)
    with Sandbox(Limits(seconds, memory), count=1) as sandbox:
        output = storable_output(sandbox.run_now(storable_program(Program(text))))
    if as_json:
        shown = {"text": output.text, "error": output.error, "seconds": round(output.seconds, 4)}
        print_json(shown)
    elif output.text:
        print_text(output.text.removesuffix("\n"))
    if output.error:
        raise ProgramFailed(output.error)
