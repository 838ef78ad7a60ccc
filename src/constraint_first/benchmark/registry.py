"""Benchmarks by name or by file: ``load("aime24")``, ``load("mine.jsonl")``."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

from constraint_first.benchmark.constraintbench.split import SPLITS, Split, split_name
from constraint_first.benchmark.constraintbench.split import load as load_split
from constraint_first.benchmark.entry import Entry, entries
from constraint_first.benchmark.gold_instruction import unknown_kinds
from constraint_first.benchmark.hugging_face import fetch
from constraint_first.benchmark.integrity import Origin, check
from constraint_first.benchmark.source import ProblemSet, read_problem_file, unknown_note
from constraint_first.error import InputError
from constraint_first.file.field import check_text, within
from constraint_first.file.path import expand_user
from constraint_first.file.row import FORMATS, row_format, row_stem
from constraint_first.problem import Problem

__all__ = ["BUILT_IN", "Benchmark", "load", "names"]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A set of problems with gold answers. Only the problems' texts ever reach a prompt."""

    name: str
    label: str
    """As the paper prints it; the name of a file where it is the user's own."""
    problems: tuple[Problem, ...]
    answer_format: str = ""
    strength: str = ""
    """How tightly the answers are constrained, where the paper says so."""
    system_prompt: str = ""
    """Sent ahead of every call by whoever runs the benchmark; empty unless somebody sets it."""
    taken: str = field(default="", compare=False)
    """One line on the columns of the user's own file, or on instructions that are not known."""


def _constraintbench(name: str, split: Split) -> Benchmark:
    problems = tuple(replace(item.problem(), benchmark=name) for item in load_split(split))
    return Benchmark(name, "ConstraintBench", problems, "Stated by each problem", "Tight")


BUILT_IN: Final[dict[str, Callable[[], Benchmark]]] = {
    name: partial(_constraintbench, name, split)
    for split in SPLITS
    for name in (split_name(split),)
}
"""Benchmarks that come with the package, by name: each a function that loads one."""

_LONGEST_NAME: Final = 255
_NONE: Final[Mapping[str, str]] = {}


def names() -> tuple[str, ...]:
    """List the benchmarks that can be named."""
    return (*BUILT_IN, *entries())


def load(
    source: str, *, system_prompt: str | None = None, columns: Mapping[str, str] = _NONE
) -> Benchmark:
    """Load the benchmark that a name or a file stands for, and check that it is whole.

    A file (.jsonl, .json, .csv, .tsv, .parquet) is the user's own; ``columns`` says for "problem",
    "answer", "instructions" and "id" which of its columns holds it. A public benchmark comes from
    the folder CFR_DATA where that has it, otherwise from Hugging Face.
    """
    path = expand_user(source)
    if row_format(path):
        name = row_stem(path)
        found = _read(path, Entry(name, "", "", ""), columns)
        benchmark = Benchmark(name, name, tuple(found.problems), taken=found.taken)
    elif source in BUILT_IN:
        benchmark = BUILT_IN[source]()
    else:
        benchmark = _public(_find(source))
    return benchmark if system_prompt is None else replace(benchmark, system_prompt=system_prompt)


def _find(name: str) -> Entry:
    wanted = name.casefold()
    for entry in entries().values():
        if wanted in (entry.name.casefold(), entry.label.casefold()):
            return entry
    close = difflib.get_close_matches(wanted, names(), n=1)
    hint = f"did you mean {close[0]!r}? Known are" if close else "choose from"
    raise InputError(
        f"benchmark {name!r}: not known; {hint} {', '.join(names())}, or name a file: "
        f"{', '.join(FORMATS)}"
    )


def _public(entry: Entry) -> Benchmark:
    folder = os.environ.get("CFR_DATA")
    path = expand_user(folder or "") / entry.file
    if folder and path.is_file():
        problems = tuple(_read(path, entry).problems)
    else:
        place = f"{path} is not there" if folder else "it is not set"
        hint = f"put {entry.file} into a folder and name that in CFR_DATA ({place})"
        placed = fetch(entry, hint)
        check(Origin(f"{entry.dataset} on Hugging Face", "row"), placed, entry.counts)
        problems = tuple(problem for _, problem in placed)
    about = (entry.answer_format, entry.strength, entry.system_prompt)
    unknown = unknown_note(unknown_kinds(problem.answer for problem in problems))
    taken = "".join(f"{entry.name}: {note}" for note in unknown)
    return Benchmark(entry.name, entry.label, problems, *about, taken=taken)


def _read(path: Path, entry: Entry, columns: Mapping[str, str] = _NONE) -> ProblemSet:
    with within(path):
        check_text(path.stem, "the name of the file", _LONGEST_NAME)
    found = read_problem_file(path, columns)
    placed = tuple((row, _belonging(problem, entry)) for row, problem in found.placed)
    numbered = [(row.number, problem) for row, problem in placed]
    hint = "; --columns answer=NAME says which column has them"
    check(Origin(str(path), placed[0][0].unit, hint), numbered, entry.counts)
    return replace(found, placed=placed)


def _belonging(problem: Problem, entry: Entry) -> Problem:
    return replace(problem, benchmark=entry.name, answer=entry.read_answer(problem.answer))
