"""Benchmarks and problems of any kind: public ones by name, files of rows, texts.

A problem may have gold instructions, which its whole reply must follow, in place of a gold answer.
They are encoded in the gold answer's text: a prefix that no answer begins with, and JSON. Stores,
exports and statistics treat this text like any gold answer; code that grades or shows a gold
answer calls ``read_instructions`` first.
"""

from __future__ import annotations

import difflib
import importlib
import json
import os
import re
import reprlib
import sys
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache, partial
from importlib.resources import files
from math import isfinite
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, cast

from constraint_first.answer.marks import find_box
from constraint_first.benchmark.constraintbench.family import SPLITS, Split, split_name
from constraint_first.benchmark.constraintbench.family import load as load_split
from constraint_first.constraint.predicate import Predicate, PredicateError, Truth, truth_of
from constraint_first.constraint.reply.instruction import (
    INSTRUCTIONS,
    instruction_predicate,
    loose_truth,
)
from constraint_first.constraint.reply.phrase import describe
from constraint_first.error import InputError
from constraint_first.file.rows import (
    FILLED,
    FORMATS,
    MOST_TEXT,
    OBJECT,
    Columns,
    ColumnUse,
    FieldError,
    FieldType,
    JsonLine,
    NotJson,
    all_rows,
    check_text,
    decode_text,
    parse_json,
    read_field,
    read_text,
    row_format,
    row_stem,
    rows_in,
    within,
)
from constraint_first.file.safe import expand_user
from constraint_first.pattern import lazy_pattern
from constraint_first.problem import Json, Problem

INSTRUCTION_MARK: Final = "gold instructions: "
"""The prefix of gold instructions."""


@dataclass(frozen=True)
class GoldInstruction:
    """One instruction that a reply must follow: its kind, as IFEval names it, and its arguments."""

    kind: str
    arguments: Mapping[str, Json] = field(default_factory=dict[str, Json])

    @cached_property
    def predicate(self) -> Predicate | None:
        """The predicate that checks it; None for unknown kinds or arguments."""
        return instruction_predicate(self.kind, self.arguments)

    @property
    def sentence(self) -> str:
        """The demand in words."""
        known = self.predicate
        return describe(known) if known else f"The reply follows {self.kind}, which is not known."

    def truth(self, reply: str, *, loose: bool = False) -> Truth:
        """Check a reply that is not empty."""
        if self.predicate is None:
            return "undecided"
        try:
            return (loose_truth if loose else truth_of)(self.predicate, reply)
        except PredicateError:  # an invalid argument that is read only for some replies
            return "undecided"


def write_instructions(instructions: Iterable[GoldInstruction]) -> str:
    """Write instructions as one text; equal instructions give equal texts."""
    rows = [{"id": one.kind, "kwargs": {**one.arguments}} for one in instructions]
    written = json.dumps(rows, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return INSTRUCTION_MARK + written


@lru_cache(maxsize=2048)  # every attempt reads the same few hundred
def read_instructions(gold: str | None) -> tuple[GoldInstruction, ...] | None:
    """Read the text of ``write_instructions``; empty for a gold answer, which is any other text.

    A text with the prefix that cannot be read becomes an undecidable instruction: it is not an
    answer that a reply could be compared with.
    """
    if not gold or not gold.startswith(INSTRUCTION_MARK):
        return None
    try:
        rows = parse_json(gold.removeprefix(INSTRUCTION_MARK))
        found = tuple(GoldInstruction(str(one["id"]), {**one["kwargs"]}) for one in rows)
    except (NotJson, KeyError, TypeError):
        found = ()
    return found or (GoldInstruction("unreadable"),)


def parse_instructions(
    value: Json, arguments: Json = None, name: str = "instructions"
) -> tuple[GoldInstruction, ...]:
    """Read the instructions of a row; raise ``FieldError`` where they are malformed.

    They are a list of ``{"id", "kwargs"}``, or that list as JSON text; or, as in the files of
    IFEval, a list of ids, with an object for each in ``arguments``. A null argument counts as
    absent. Empty where the value is null, an empty list, or a text that is not a JSON list.
    """
    if isinstance(value, str):
        try:
            value = cast("Json", parse_json(value)) if value.lstrip().startswith("[") else None
        except NotJson as error:
            wrong = f"{name!r} begins like a list and is {error}; correct it"
            raise FieldError(wrong, name) from None
    if value is None or value == []:
        return ()
    if not isinstance(value, list):
        raise FieldError(
            f"{name!r} must be a list of instructions, not {reprlib.repr(value)}", name
        )
    rows = _with_arguments(value, arguments, name)
    return tuple(_parse_row(row, f"{name} {n}") for n, row in enumerate(rows, start=1))


def _with_arguments(value: list[Json], arguments: Json, name: str) -> Sequence[Json]:
    if not all(isinstance(one, str) for one in value):
        return value
    given: Json = [{} for _ in value] if arguments is None else arguments
    if not isinstance(given, list) or len(given) != len(value):
        raise FieldError(
            f"'kwargs' must be a list of {len(value)} objects, one for each of {name!r}, "
            f"not {reprlib.repr(arguments)}",
            "kwargs",
        )
    return [{"id": kind, "kwargs": one} for kind, one in zip(value, given, strict=True)]


def _parse_row(row: Json, place: str) -> GoldInstruction:
    if not isinstance(row, dict):
        raise FieldError(f'{place}: must be {{"id": …, "kwargs": {{…}}}}, not {reprlib.repr(row)}')
    try:
        kind = read_field(row, "id", FILLED).strip()
        given = read_field({"kwargs": {}, **row}, "kwargs", OBJECT)
    except FieldError as error:
        raise FieldError(f"{place}: {error}", error.field) from None
    found = GoldInstruction(kind, {n: _plain(v) for n, v in given.items() if v is not None})
    if kind in INSTRUCTIONS and found.predicate is None:
        raise FieldError(
            f"{place}: {kind} does not take these arguments: {reprlib.repr(dict(found.arguments))};"
            " docs/benchmarks.md lists what each kind takes"
        )
    return found


def _plain(value: Json) -> Json:
    """Convert 3.0 to 3: in tables with missing values, integers are stored as floats."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def follow(
    instructions: Iterable[GoldInstruction], reply: str, *, loose: bool = False
) -> tuple[Truth, ...]:
    """Check a reply by each instruction; an empty reply follows none."""
    empty = not reply.strip()
    return tuple("violated" if empty else one.truth(reply, loose=loose) for one in instructions)


def unknown_kinds(golds: Iterable[str | None]) -> tuple[str, ...]:
    """Return the kinds of instructions that cannot be checked."""
    found = (one for gold in golds for one in read_instructions(gold) or ())
    return tuple(dict.fromkeys(one.kind for one in found if one.kind not in INSTRUCTIONS))


def name_gold(gold: str | None) -> str:
    """Name the kind of gold in words."""
    return "gold answer" if read_instructions(gold) is None else "gold instructions"


def describe_gold(gold: str) -> str:
    """Write a gold for people: an answer as it is, instructions as their sentences."""
    instructions = read_instructions(gold)
    return gold if instructions is None else " ".join(one.sentence for one in instructions)


# Problems from the user: the command line, standard input, a file.

GOLD_COLUMNS: Final = (
    *("answer", "gold", "final_answer", "gold_answer", "correct_answer", "expected_answer"),
    *("reference_answer", "ground_truth", "target", "expected", "solution"),
)
"""Names of the column of gold answers."""
_USUAL: Final = {
    "problem": (
        *("problem", "question", "text", "prompt", "problem_text", "problem_statement"),
        *("statement", "query", "input"),
    ),
    "answer": GOLD_COLUMNS,
    "instructions": ("instructions", "instruction_id_list"),
    "id": ("id",),
}
LONGEST_TEXT: Final = 1_000_000
"""Characters of a problem or of a gold answer: more than any model reads."""
LONGEST_ID: Final = 500
"""PostgreSQL cannot index texts of more than 2,700 bytes."""
_PLAIN: Final[FieldType[str | float]] = FieldType(
    "a text or a number",
    lambda value: type(value) in (str, int) or (type(value) is float and isfinite(value)),
)
_TEXT_ENDINGS: Final = frozenset({".txt", ".md", ".tex"})
_THOUSANDS: Final = lazy_pattern(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_NONE: Final[Mapping[str, str]] = {}
_MOST_KINDS: Final = 5


@dataclass(frozen=True, slots=True)
class ProblemSet:
    """The problems of a command-line argument, and the columns of their file."""

    placed: tuple[tuple[JsonLine, Problem], ...]
    """Each problem with the row that it was read from."""
    taken: str = ""
    """The columns used, in one line; empty without columns."""

    @property
    def problems(self) -> list[Problem]:
        return [problem for _, problem in self.placed]


def read_problems(source: str, columns: Mapping[str, str] = _NONE) -> ProblemSet:
    """Read the problem, or the problems, of a command-line argument.

    ``-`` is standard input; a file of rows (.jsonl, .json, .csv, .tsv, .parquet) has a problem a
    row, any other file is one problem; everything else is the problem's own text. ``columns`` says
    for "problem", "answer", "instructions" and "id" which column of a file holds it.
    """
    if names_rows(source):
        return read_problem_file(expand_user(source), columns)
    if columns:
        raise InputError(f"--columns: goes with a file of rows ({', '.join(FORMATS)})")
    text, where = source, "the problem"
    if source == "-":
        text, where = read_stdin(), "standard input"
    elif names_file(source):
        text, where = read_text(expand_user(source)), source
    # A text of rows is refused as a problem, because its gold answers would reach the model.
    if _columns_of(text) & {*_USUAL["problem"], *_USUAL["answer"]}:
        raise InputError(
            f"{where}: rows of problems, not the text of one; put them into a file that ends in "
            f"{', '.join(FORMATS)}"
        )
    with within(where):
        return ProblemSet(((JsonLine(1, {}), Problem(_posed(text))),))


def read_problem_file(path: Path, columns: Mapping[str, str] = _NONE) -> ProblemSet:
    """Read a file with one problem a row."""
    reader = _RowReader(path, Columns(_USUAL, columns))
    rows = [*all_rows(path)]
    reader.columns.check(path, rows)
    placed = tuple((row, reader.read(row)) for row in rows)
    if not placed:
        raise InputError(f"{path}: has no problems; each row must have a 'problem'")
    kinds = unknown_kinds(problem.answer for _, problem in placed)
    return ProblemSet(placed, "; ".join([reader.describe(len(placed)), *unknown_note(kinds)]))


def _columns_of(text: str) -> set[str]:
    """Return the columns of a text that is JSON, JSON Lines or a table; empty for other texts."""
    first, more, _ = text.strip().partition("\n")
    for part in (first, text):
        with suppress(NotJson):
            row = next(iter(rows_in(parse_json(part))), None)
            return {name.lower() for name in cast("Any", row)} if isinstance(row, dict) else set()
    cells = {cell.strip().strip('"').lower() for cell in re.split("[,;\t]", first)}
    posed, *golds = (cells & {*_USUAL[name]} for name in ("problem", "answer", "instructions"))
    return cells if more and posed and any(golds) else set()


def names_rows(source: str) -> bool:
    return names_file(source) and bool(row_format(Path(source)))


def names_file(source: str) -> bool:
    """Whether a text names a file: it has a file's ending, or the file exists."""
    ending, words = Path(source).suffix.lower(), len(source.split())
    if words == 1 and ending in _TEXT_ENDINGS:
        return True
    if "\n" not in source and row_format(Path(source)):
        return True
    try:
        return bool(source) and expand_user(source).exists()
    except (OSError, ValueError):  # too long or with a NUL, so not a file's name
        return False


class _RowReader:
    """Reads problems from the rows of a file, and records the columns it used."""

    def __init__(self, path: Path, columns: Columns) -> None:
        self.columns = columns
        self._path = path
        self._use = ColumnUse(path, "problems")

    def read(self, row: JsonLine) -> Problem:
        with within(f"{self._path}, {row.place}"):
            gold = self._gold(row)
            return Problem(
                text=_posed(self._text(row)),
                id=self._id(row),
                answer=gold and check_text(gold, "answer", LONGEST_TEXT),
                benchmark=row_stem(self._path),
            )

    def describe(self, count: int) -> str:
        told = self._use.describe(count, ("problem", "answer", "instructions", "id"))
        judged = self._use.saw("answer") or self._use.saw("instructions")
        return told if judged else f"{told}; no answers"

    def _text(self, row: JsonLine) -> str:
        for column in self.columns.find(row.value, "problem"):
            if isinstance(text := row.value[column], str):
                self._use.add("problem", column)
                return text
        raise FieldError(self.columns.absent(row.value, "problem"))

    def _gold(self, row: JsonLine) -> str | None:
        """Read the gold answer, or the instructions in its place; a chosen column comes first."""
        if "instructions" in self.columns.chosen:
            return self._instructions(row) or self._answer(row)
        return self._answer(row) or self._instructions(row)

    def _instructions(self, row: JsonLine) -> str | None:
        for column in self.columns.find(row.value, "instructions"):
            found = parse_instructions(row.value[column], row.value.get("kwargs"), column)
            if found:
                self._use.add("instructions", column)
                return check_text(write_instructions(found), column, LONGEST_TEXT)
        return None

    def _answer(self, row: JsonLine) -> str | None:
        for column in self.columns.find(row.value, "answer"):
            if (gold := read_gold(row.value[column], column)) is None:
                continue
            if not gold.strip():  # an empty cell: this problem has no gold answer
                break
            answer, how = final_part(gold)
            self._use.add("answer", column, how)
            return answer
        return None

    def _id(self, row: JsonLine) -> str:
        """Read a problem's id; its line number where it has none."""
        for column in self.columns.find(row.value, "id"):
            if row.value[column] not in (None, ""):
                self._use.add("id", column)
                return check_text(str(read_field(row.value, column, _PLAIN)), "id", LONGEST_ID)
        return str(row.number)


def unknown_note(kinds: Sequence[str]) -> Iterator[str]:
    """Yield a note on the kinds of instructions that are unknown, if any."""
    if kinds:
        named = ", ".join(repr(one[:60]) for one in kinds[:_MOST_KINDS])
        more = f" and {len(kinds) - _MOST_KINDS} more" if len(kinds) > _MOST_KINDS else ""
        yield f"instructions of a kind that is not known are left undecided: {named}{more}"


def final_part(gold: str) -> tuple[str, str]:
    """Extract the answer of a worked solution, and name the rule: after ``####`` or in a box."""
    if read_instructions(gold):
        return gold, ""
    _, hashes, tail = gold.strip().rstrip("#").rpartition("####")
    box = find_box(tail) if "box" in tail else None
    if box and box.content is not None:
        return box.content.strip(), r"in \boxed{}"
    tail = tail.strip()
    if not hashes or not tail:
        return gold, ""
    return tail.replace(",", "") if _THOUSANDS.fullmatch(tail) else tail, "after ####"


def read_gold(value: Json, name: str) -> str | None:
    """Read a gold answer: a text, a number, or a list of them, joined to one answer."""
    parts = value if isinstance(value, list) else [] if value is None else [value]
    if not all(map(_PLAIN.fits, parts)):
        wanted = f"{_PLAIN.name}, or a list of these"
        raise FieldError(f"{name!r} must be {wanted}, not {reprlib.repr(value)}", name)
    return ", ".join(map(str, parts)) if parts else None


def _posed(text: str) -> str:
    if not text.strip():
        raise FieldError("is empty; give the text of a problem")
    return check_text(text.strip(), "problem", LONGEST_TEXT)


def read_stdin() -> str:
    try:
        data = sys.stdin.buffer.read(MOST_TEXT + 1)
    except (AttributeError, OSError):  # closed, or a folder
        raise InputError("standard input: cannot be read; give it a text") from None
    if len(data) > MOST_TEXT:
        raise InputError(f"standard input: more than {MOST_TEXT // 2**20} MB; give it one text")
    return decode_text(data, "standard input")


# Public benchmarks, as ``benchmarks.toml`` lists them.

AnswerRule: TypeAlias = Literal["", "integer", "after-hashes"]
"""How a gold answer is extracted from its field."""

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
    counts: Sequence[int] = ()
    answer_format: str = ""
    strength: str = ""
    system_prompt: str = ""
    file: str = ""
    group: str = ""
    instructions: str = ""
    arguments: str = ""

    @property
    def gold_fields(self) -> tuple[str, ...]:
        """The fields with its gold answer, or with its gold instructions."""
        return (self.instructions, self.arguments) if self.instructions else (self.answer,)

    def read_gold(self, row: Mapping[str, Json]) -> str:
        """Read the gold answer or instructions of a row that has all its fields."""
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
        """Make ids from the field that identifies problems, or from their positions."""
        given = [self._id(str(value)) for value in values] if self.id else []
        if len(set(given)) < len(values):
            # With a repeated id, one problem's attempts would count for another.
            given = [f"{self.split}-{place}" for place in range(len(values))]
        return [f"{self.name}-{one}" for one in given]

    def _id(self, value: str) -> str:
        found = re.search(self.id_pattern, value)
        return "-".join(found.groups()) if found else value


@cache
def entries() -> dict[str, Entry]:
    path = files("constraint_first.benchmark") / "benchmarks.toml"
    tables: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    return {
        name: Entry(name, **{"file": f"{name}.jsonl"} | table) for name, table in tables.items()
    }


# Validation of a benchmark, before the first call is paid for.


_NEEDED: Final[dict[str, Callable[[Problem], str]]] = {
    "text": lambda problem: problem.text,
    "gold answer": lambda problem: problem.answer or "",
}
_UNIQUE: Final[dict[str, Callable[[Problem], str]]] = {
    "id": lambda problem: problem.id,
    "problem text": lambda problem: " ".join(problem.text.split()),
}


def check(
    where: str,
    placed: Sequence[tuple[int, Problem]],
    counts: Sequence[int] = (),
    unit: str = "line",
    hint: str = "",
) -> None:
    """Refuse a set with empty texts or answers, duplicates, or an unexpected number of problems.

    ``placed`` has each problem with its line, or other ``unit``; no ``counts`` means any number.
    ``hint`` names where gold answers can be found, for a set without them.
    """
    if not placed:
        raise InputError(f"{where}: has no problems")
    for what, read in _NEEDED.items():
        if gaps := [line for line, problem in placed if not read(problem).strip()]:
            raise InputError(
                f"{where}: no {what} in {unit} {_some(gaps)}; every problem needs one"
                f"{hint if what == 'gold answer' else ''}"
            )
    for what, read in _UNIQUE.items():
        lines: defaultdict[str, list[int]] = defaultdict(list)
        for line, problem in placed:
            lines[read(problem)].append(line)
        for value, found in lines.items():
            if len(found) > 1:
                shown = repr(value if len(value) <= 40 else value[:39] + "…")
                raise InputError(
                    f"{where}: the same {what} ({shown}) in {unit}s {_some(found)}; "
                    "each must stand there once"
                )
    if counts and len(placed) not in counts:
        expected = " or ".join(map(str, counts))
        raise InputError(
            f"{where}: has {len(placed)} problems where a complete copy has {expected}; "
            "get a complete copy, or name the file itself to use it as it is"
        )


def _some(lines: Sequence[int]) -> str:
    more = f" and {len(lines) - 5} more" if len(lines) > 5 else ""
    return ", ".join(map(str, lines[:5])) + more


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
    except Exception as error:  # the library passes on any error of its transports
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
    """The name as the paper prints it; for a user's own set, the file's name."""
    problems: tuple[Problem, ...]
    answer_format: str = ""
    strength: str = ""
    """How tightly the answers are constrained, according to the paper."""
    system_prompt: str = ""
    """A system message ahead of every call of a run; empty by default."""
    taken: str = field(default="", compare=False)
    """One line on the columns of the user's own file, or on unknown instructions."""


def _constraintbench(split: Split) -> Benchmark:
    name = split_name(split)
    problems = tuple(replace(item.problem(), benchmark=name) for item in load_split(split))
    return Benchmark(name, "ConstraintBench", problems, "Stated by each problem", "Tight")


BUILT_IN: Final[dict[str, Callable[[], Benchmark]]] = {
    split_name(split): partial(_constraintbench, split) for split in SPLITS
}
"""Benchmarks that come with the package, by name: each a function that loads one."""

_LONGEST_NAME: Final = 255


def names() -> tuple[str, ...]:
    return (*BUILT_IN, *entries())


def load(
    source: str, *, system_prompt: str | None = None, columns: Mapping[str, str] = _NONE
) -> Benchmark:
    """Load a benchmark by its name or file, and check that it is complete.

    A file (.jsonl, .json, .csv, .tsv, .parquet) is the user's own; ``columns`` names its columns
    for "problem", "answer", "instructions" and "id". A public benchmark is read from the folder
    CFR_DATA if it is there, otherwise from Hugging Face.
    """
    path = expand_user(source)
    if row_format(path):
        name = row_stem(path)
        found = _read(path, Entry(name, "", "", ""), columns)
        benchmark = Benchmark(name, name, tuple(found.problems), taken=found.taken)
    else:
        benchmark = BUILT_IN[source]() if source in BUILT_IN else _public(_find(source))
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
        check(f"{entry.dataset} on Hugging Face", placed, entry.counts, "row")
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
    check(str(path), numbered, entry.counts, placed[0][0].unit, hint)
    return replace(found, placed=placed)
