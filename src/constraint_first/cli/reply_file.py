"""Judging a file of replies by what a file of requests demands: ``cfr constraints --replies``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from constraint_first.benchmark.source import ProblemSet
from constraint_first.cli.output import print_note
from constraint_first.cli.row_file import RowFields, good_rows, text_field, with_progress, writing
from constraint_first.constraint.predicate import Predicate, parts
from constraint_first.constraint.reply.instruction import instruction_predicate, is_followed
from constraint_first.constraint.reply.language import can_tell_language
from constraint_first.constraint.reply.reader import read_demands
from constraint_first.file.field import OBJECT, TEXT, read_field, read_objects, within
from constraint_first.file.jsonl import JsonLine
from constraint_first.problem import Json, Problem

__all__ = ["judge_replies"]

_FIELDS: Final = RowFields(("id", "run", "text"), ("id", "text"))
_Demands: TypeAlias = "tuple[Predicate | None, ...]"


@dataclass(frozen=True, slots=True)
class _Reply:
    """A reply with the demands of its request."""

    row: JsonLine
    demands: _Demands


def judge_replies(
    requests: ProblemSet, source: str, replies: Path, output: Path | None, *, loose: bool
) -> None:
    """Write for each reply, in the order of the file, which demands of its request it follows."""
    demands = _all_demands(requests, source)
    read = good_rows(replies, _FIELDS, {})
    found = [*_with_demands(replies, read.rows, demands)]
    counts: Counter[bool | None] = Counter()
    with writing(output) as write:
        print_note(read.taken)
        for reply in with_progress(found, len(found), "Judging"):
            followed = _judge(reply, loose=loose)
            counts.update(followed)
            value = reply.row.value
            write({"id": value["id"], "run": value.get("run"), "followed": [*followed]})
    skipped = len(read.rows) - len(found) + read.bad
    print_note(
        f"{len(found):,} replies, {counts.total():,} demands: {counts[True]:,} followed,"
        f" {counts[False]:,} not, {counts[None]:,} undecided"
        + (f"; {skipped:,} skipped" if skipped else "")
    )


def _judge(reply: _Reply, *, loose: bool) -> list[bool | None]:
    text = text_field(reply.row, "text") or ""
    return [None if one is None else is_followed(one, text, loose=loose) for one in reply.demands]


def _with_demands(
    path: Path, rows: Sequence[JsonLine], demands: dict[str, _Demands]
) -> Iterator[_Reply]:
    for row in rows:
        name = str(row.value["id"])
        if name in demands:
            yield _Reply(row, demands[name])
        else:
            print_note(f"cfr: {path}, {row.place}: no request has the id {name!r}; skipped")


def _all_demands(requests: ProblemSet, source: str) -> dict[str, _Demands]:
    """Read the demands of all requests, and say of which kind nobody can judge."""
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
    """The demands of a request: its own instructions, or what its text demands."""
    if row.value.get("instructions") is None:
        return tuple(one.predicate for one in read_demands(problem.text))
    named = read_objects(row.value, "instructions", _instruction)
    unknown.update(name for name, predicate in named if predicate is None)
    return tuple(predicate for _, predicate in named)


def _instruction(value: dict[str, Json]) -> tuple[str, Predicate | None]:
    name = read_field(value, "id", TEXT)
    arguments = read_field(value, "kwargs", OBJECT) if "kwargs" in value else {}
    return name, instruction_predicate(name, arguments)
