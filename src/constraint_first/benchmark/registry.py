"""The public benchmarks: where each is fetched, how its fields are read, how it is checked."""

from __future__ import annotations

import difflib
import importlib
import os
import re
import tomllib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from constraint_first.benchmark.constraintbench.family import SPLITS, Split, split_name
from constraint_first.benchmark.constraintbench.family import load as load_split
from constraint_first.benchmark.source import (
    LONGEST_ID,
    LONGEST_TEXT,
    ProblemSet,
    parse_instructions,
    read_problem_file,
    unknown_kinds,
    unknown_note,
    write_instructions,
)
from constraint_first.error import InputError
from constraint_first.file.rows import FORMATS, JsonLine, check_text, row_format, row_stem, within
from constraint_first.file.safe import expand_user
from constraint_first.pattern import lazy_pattern
from constraint_first.problem import Json, Problem

AnswerRule: TypeAlias = Literal["", "integer", "after-hashes"]
"""How a gold answer is cut out of its field."""

_PADDED = lazy_pattern(r"(-?)0*(0|[1-9]\d*)(?:\.0+)?")


@dataclass(frozen=True, slots=True)
class Entry:
    """A public benchmark; ``benchmarks.toml`` explains the fields."""

    name: str
    label: str
    dataset: str
    split: str
    config: str = ""
    problem: str = "problem"
    answer: str = "answer"
    id: str = ""
    id_pattern: str = "(.*)"
    answer_rule: AnswerRule = ""
    counts: tuple[int, ...] = ()
    answer_format: str = ""
    strength: str = ""
    system_prompt: str = ""
    file: str = ""
    group: str = ""
    instructions: str = ""
    arguments: str = ""

    @property
    def gold_fields(self) -> tuple[str, ...]:
        """The fields that its gold is read from: of an answer, or of instructions."""
        return (self.instructions, self.arguments) if self.instructions else (self.answer,)

    def read_gold(self, row: Mapping[str, Json]) -> str:
        """Read what a reply is judged by, out of a row that has all its fields."""
        if not self.instructions:
            return self.read_answer(row[self.answer])
        given, arguments = row[self.instructions], row[self.arguments]
        found = parse_instructions(given, arguments, self.instructions)
        return write_instructions(found) if found else ""

    def read_answer(self, value: Json) -> str:
        """Turn the field of the gold answer into text."""
        if isinstance(value, list):
            return ", ".join(map(self.read_answer, value))
        text = "" if value is None else str(value).strip()
        if self.answer_rule == "after-hashes" and "####" in text:
            return text.rpartition("####")[2].strip().replace(",", "")
        if self.answer_rule == "integer" and (padded := _PADDED.fullmatch(text)):
            return padded[1] + padded[2]
        return text

    def make_ids(self, values: list[Json]) -> list[str]:
        """Name all problems by the field that tells them apart, or by their place."""
        given = [self._id(str(value)) for value in values] if self.id else []
        if len(set(given)) < len(values):
            # A field that repeats would let one problem stand in for another.
            given = [f"{self.split}-{place}" for place in range(len(values))]
        return [f"{self.name}-{one}" for one in given]

    def _id(self, value: str) -> str:
        found = re.search(self.id_pattern, value)
        return "-".join(found.groups()) if found else value


@cache
def entries() -> dict[str, Entry]:
    path = files("constraint_first.benchmark") / "benchmarks.toml"
    tables: dict[str, dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8"))
    return {name: _entry(name, table) for name, table in tables.items()}


def _entry(name: str, table: dict[str, Any]) -> Entry:
    fields: dict[str, Any] = {"name": name, "file": f"{name}.jsonl", **table}
    fields["counts"] = tuple(fields["counts"])
    return Entry(**fields)


# Is a benchmark what it should be? Checked before a single call is paid for.


@dataclass(frozen=True, slots=True)
class Origin:
    """Where problems come from, in the words of an error message."""

    name: str
    """A file, or a dataset."""
    unit: str = "line"
    """What its problems are numbered by."""
    hint: str = ""
    """Where gold answers may be found, for a set without them."""


def check(
    origin: Origin, placed: Sequence[tuple[int, Problem]], counts: Sequence[int] = ()
) -> None:
    """Refuse a set with empty texts or answers, duplicates, or a number of problems not expected.

    ``placed`` has each problem with its line; no ``counts`` means that any number will do.
    """
    if not placed:
        raise InputError(f"{origin.name}: has no problems")
    _no_gaps(origin, placed, "text", lambda problem: problem.text)
    _no_gaps(origin, placed, "gold answer", lambda problem: problem.answer or "")
    _no_repeats(origin, placed, "id", lambda problem: problem.id)
    _no_repeats(origin, placed, "problem text", lambda problem: " ".join(problem.text.split()))
    if counts and len(placed) not in counts:
        expected = " or ".join(map(str, counts))
        raise InputError(
            f"{origin.name}: has {len(placed)} problems where a complete copy has {expected}; "
            "get a complete copy, or name the file itself to use it as it is"
        )


def _no_gaps(
    origin: Origin, placed: Sequence[tuple[int, Problem]], what: str, read: Callable[[Problem], str]
) -> None:
    if gaps := [line for line, problem in placed if not read(problem).strip()]:
        hint = origin.hint if what == "gold answer" else ""
        raise InputError(
            f"{origin.name}: no {what} in {origin.unit} {_some(gaps)}; every problem needs one"
            f"{hint}"
        )


def _no_repeats(
    origin: Origin, placed: Sequence[tuple[int, Problem]], what: str, read: Callable[[Problem], str]
) -> None:
    lines: defaultdict[str, list[int]] = defaultdict(list)
    for line, problem in placed:
        lines[read(problem)].append(line)
    for value, found in lines.items():
        if len(found) > 1:
            shown = repr(value if len(value) <= 40 else value[:39] + "…")
            raise InputError(
                f"{origin.name}: the same {what} ({shown}) in {origin.unit}s {_some(found)}; "
                "each must stand there once"
            )


def _some(lines: Sequence[int]) -> str:
    shown = ", ".join(map(str, lines[:5]))
    return shown if len(lines) <= 5 else f"{shown} and {len(lines) - 5} more"


# Benchmarks from Hugging Face, with the library ``datasets`` (an optional extra).


def fetch(entry: Entry, hint: str) -> list[tuple[int, Problem]]:
    """Load a benchmark's problems, each with the number of its row; ``hint`` ends an error."""
    rows = _rows(entry, hint)
    for row in rows:
        if missing := {entry.problem, *entry.gold_fields} - row.value.keys():
            raise InputError(
                f"benchmark {entry.name!r}: row {row.number} of {entry.dataset} has no field "
                f"{', '.join(sorted(missing))} (it has {', '.join(row.value)}); {hint}"
            )
    ids = entry.make_ids([row.value.get(entry.id) for row in rows])
    return [(row.number, _problem(entry, row, name)) for row, name in zip(rows, ids, strict=True)]


def _rows(entry: Entry, hint: str) -> list[JsonLine]:
    try:
        library: Any = importlib.import_module("datasets")
    except ImportError:
        raise InputError(
            f"benchmark {entry.name!r}: the library to fetch it with is not installed; "
            f"pip install 'constraint-first[datasets]', or {hint}"
        ) from None
    try:
        rows = library.load_dataset(entry.dataset, entry.config or None, split=entry.split)
        return [JsonLine(number, dict(row)) for number, row in enumerate(rows, start=1)]
    except Exception as error:  # the library raises whatever its own transports raise
        said = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        raise InputError(
            f"benchmark {entry.name!r}: {entry.dataset} could not be fetched from Hugging Face "
            f"({said}); check the network, or {hint}"
        ) from error


def _problem(entry: Entry, row: JsonLine, name: str) -> Problem:
    text = str(row.value[entry.problem] or "").strip()
    with within(f"benchmark {entry.name!r}: row {row.number} of {entry.dataset}"):
        gold = entry.read_gold(row.value)
        return Problem(
            check_text(text, entry.problem, LONGEST_TEXT),
            check_text(name, entry.id or "id", LONGEST_ID),
            check_text(gold, entry.gold_fields[0], LONGEST_TEXT),
            entry.name,
        )


# Benchmarks by name or by file: ``load("aime24")``, ``load("mine.jsonl")``.


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
    """Sent ahead of every call of a run; empty by default."""
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
    placed = tuple(
        (row, replace(problem, benchmark=entry.name, answer=entry.read_answer(problem.answer)))
        for row, problem in found.placed
    )
    numbered = [(row.number, problem) for row, problem in placed]
    hint = "; --columns answer=NAME says which column has them"
    check(Origin(str(path), placed[0][0].unit, hint), numbered, entry.counts)
    return replace(found, placed=placed)
