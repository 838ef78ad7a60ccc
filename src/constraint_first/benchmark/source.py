"""Gold instructions: what a whole reply must follow, where a problem has no gold answer.

They take the place of the gold answer, as one text: a mark that no answer begins with, and the
instructions as JSON. Stores, exports and statistics carry it like any gold answer. Code that grades
or shows a gold answer calls ``read_instructions`` first.
"""

from __future__ import annotations

import json
import re
import reprlib
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from math import isfinite
from pathlib import Path
from typing import Any, Final, cast

from constraint_first.answer.marks import find_box
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
"""What a gold of instructions begins with."""


@dataclass(frozen=True)
class GoldInstruction:
    """One instruction that a reply must follow: its kind, as IFEval names it, and its arguments."""

    kind: str
    arguments: Mapping[str, Json] = field(default_factory=dict[str, Json])

    @cached_property
    def predicate(self) -> Predicate | None:
        """What checks it; None for a kind, or for arguments, that are not known."""
        return instruction_predicate(self.kind, self.arguments)

    @property
    def sentence(self) -> str:
        """What it demands, in words."""
        known = self.predicate
        return describe(known) if known else f"The reply follows {self.kind}, which is not known."

    def truth(self, reply: str, *, loose: bool = False) -> Truth:
        """Say whether a reply that is not empty follows it."""
        if self.predicate is None:
            return "undecided"
        try:
            return (loose_truth if loose else truth_of)(self.predicate, reply)
        except PredicateError:  # an argument that only some replies make it look at
            return "undecided"


def write_instructions(instructions: Iterable[GoldInstruction]) -> str:
    """Write instructions as one text, the same for the same instructions."""
    rows = [{"id": one.kind, "kwargs": {**one.arguments}} for one in instructions]
    written = json.dumps(rows, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return INSTRUCTION_MARK + written


@lru_cache(maxsize=2048)  # the same few hundred are asked for with every attempt
def read_instructions(gold: str | None) -> tuple[GoldInstruction, ...] | None:
    """Read what ``write_instructions`` wrote; None for a gold answer, which is everything else.

    What bears the mark and cannot be read is an instruction that nothing can decide: it is no
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
    """Read the instructions of a row; what is wrong with them is raised as ``FieldError``.

    They are a list of ``{"id", "kwargs"}``, or that list as JSON text; or a list of ids, to which
    ``arguments`` has an object each, as the files of IFEval have them. An argument that is null is
    one that is not there. None at all where the value is null, an empty list, or a text that is no
    JSON list.
    """
    if isinstance(value, str):
        value = _parse_text(value, name)
    if value is None or value == []:
        return ()
    if not isinstance(value, list):
        raise FieldError(f"{name!r} must be a list of instructions, {_not(value)}", name)
    rows = _with_arguments(value, arguments, name)
    return tuple(_parse_row(row, f"{name} {n}") for n, row in enumerate(rows, start=1))


def _parse_text(text: str, name: str) -> Json:
    if not text.lstrip().startswith("["):
        return None
    try:
        return cast("Json", parse_json(text))
    except NotJson as error:
        raise FieldError(f"{name!r} begins like a list and is {error}; correct it", name) from None


def _with_arguments(value: list[Json], arguments: Json, name: str) -> Sequence[Json]:
    if not all(isinstance(one, str) for one in value):
        return value
    given: Json = [{} for _ in value] if arguments is None else arguments
    if not isinstance(given, list) or len(given) != len(value):
        raise FieldError(
            f"'kwargs' must be a list of {len(value)} objects, one for each of {name!r}, "
            f"{_not(arguments)}",
            "kwargs",
        )
    return [{"id": kind, "kwargs": one} for kind, one in zip(value, given, strict=True)]


def _parse_row(row: Json, place: str) -> GoldInstruction:
    if not isinstance(row, dict):
        raise FieldError(f'{place}: must be {{"id": …, "kwargs": {{…}}}}, {_not(row)}')
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
    """Write a whole number as one: tables in which it may be absent hold 3 as 3.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _not(value: object) -> str:
    return f"not {reprlib.repr(value)}"


def follow(
    instructions: Iterable[GoldInstruction], reply: str, *, loose: bool = False
) -> tuple[Truth, ...]:
    """Say of each instruction whether a reply follows it; an empty reply follows none."""
    empty = not reply.strip()
    return tuple("violated" if empty else one.truth(reply, loose=loose) for one in instructions)


def unknown_kinds(golds: Iterable[str | None]) -> tuple[str, ...]:
    """Name the kinds of instructions that nothing here can check."""
    found = (one for gold in golds for one in read_instructions(gold) or ())
    return tuple(dict.fromkeys(one.kind for one in found if one.kind not in INSTRUCTIONS))


def name_gold(gold: str | None) -> str:
    """Say what kind of gold it is."""
    return "gold answer" if read_instructions(gold) is None else "gold instructions"


def describe_gold(gold: str) -> str:
    """Write a gold for people: an answer as it is, instructions as their sentences."""
    instructions = read_instructions(gold)
    return gold if instructions is None else " ".join(one.sentence for one in instructions)


# Problems from where a person keeps them: the command line, standard input, a file.

GOLD_COLUMNS: Final = (
    *("answer", "gold", "final_answer", "gold_answer", "correct_answer", "expected_answer"),
    *("reference_answer", "ground_truth", "target", "expected", "solution"),
)
"""What the column of gold answers may be called."""
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
"""PostgreSQL has no index over texts of more than 2,700 bytes."""
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
    """Problems as a person named them, and what was taken from their file."""

    placed: tuple[tuple[JsonLine, Problem], ...]
    """Each problem with the row that it was read from."""
    taken: str = ""
    """One line: which column is what; empty where there are no columns."""

    @property
    def problems(self) -> list[Problem]:
        return [problem for _, problem in self.placed]


def read_problems(source: str, columns: Mapping[str, str] = _NONE) -> ProblemSet:
    """Read the problem, or the problems, that a command-line argument stands for.

    ``-`` is standard input; a file of rows (.jsonl, .json, .csv, .tsv, .parquet) has a problem a
    row, any other file is one problem; everything else is the problem's own text. ``columns`` says
    for "problem", "answer", "instructions" and "id" which column of a file holds it.
    """
    if names_rows(source):
        return read_problem_file(expand_user(source), columns)
    if columns:
        raise InputError(f"--columns: goes with a file of rows ({', '.join(FORMATS)})")
    if source == "-":
        return _only(read_stdin(), "standard input")
    if not names_file(source):
        return _only(source, "the problem")
    return _only(read_text(expand_user(source)), source)


def read_problem_file(path: Path, columns: Mapping[str, str] = _NONE) -> ProblemSet:
    """Read a file that has a problem a row."""
    reader = _RowReader(path, Columns(_USUAL, columns))
    rows = [*all_rows(path)]
    reader.columns.check(path, rows)
    placed = tuple((row, reader.read(row)) for row in rows)
    if not placed:
        raise InputError(f"{path}: has no problems; each row must have a 'problem'")
    kinds = unknown_kinds(problem.answer for _, problem in placed)
    return ProblemSet(placed, "; ".join([reader.describe(len(placed)), *unknown_note(kinds)]))


def _only(text: str, where: str) -> ProblemSet:
    _refuse_rows(text, where)
    with within(where):
        return ProblemSet(((JsonLine(1, {}), Problem(_posed(text))),))


def _refuse_rows(text: str, where: str) -> None:
    """Refuse rows that come as one text: with it their gold answers would reach a model."""
    if _columns_of(text) & {*_USUAL["problem"], *_USUAL["answer"]}:
        raise InputError(
            f"{where}: rows of problems, not the text of one; put them into a file that ends in "
            f"{', '.join(FORMATS)}"
        )


def _columns_of(text: str) -> set[str]:
    """Name the columns of a text that is JSON, JSON Lines or a table; other texts have none."""
    first, more, _ = text.strip().partition("\n")
    for part in (first, text):
        with suppress(NotJson):
            row = next(iter(rows_in(parse_json(part))), None)
            return {name.lower() for name in cast("Any", row)} if isinstance(row, dict) else set()
    cells = {cell.strip().strip('"').lower() for cell in re.split("[,;\t]", first)}
    posed, *golds = (cells & {*_USUAL[name]} for name in ("problem", "answer", "instructions"))
    return cells if more and posed and any(golds) else set()


def names_rows(source: str) -> bool:
    """Tell the name of a file of rows from all else."""
    return names_file(source) and bool(row_format(Path(source)))


def names_file(source: str) -> bool:
    """Tell a file's name from a problem's text, which does not end as a file's name does."""
    ending, words = Path(source).suffix.lower(), len(source.split())
    by_ending = (words == 1 and ending in _TEXT_ENDINGS) or (
        "\n" not in source and bool(row_format(Path(source)))
    )
    return by_ending or _exists(source)


class _RowReader:
    """Reads problems from the rows of a file, and remembers which columns it took."""

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
        """Read the gold answer, or the instructions in its place; those first that are chosen."""
        first, then = self._answer, self._instructions
        if "instructions" in self.columns.chosen:
            first, then = then, first
        return first(row) or then(row)

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
            if not gold.strip():  # a cell left empty: there is no answer to this problem
                break
            answer, how = final_part(gold)
            self._use.add("answer", column, how)
            return answer
        return None

    def _id(self, row: JsonLine) -> str:
        """Read what a problem is called; one without a name goes by its line."""
        for column in self.columns.find(row.value, "id"):
            if row.value[column] not in (None, ""):
                self._use.add("id", column)
                return check_text(str(read_field(row.value, column, _PLAIN)), "id", LONGEST_ID)
        return str(row.number)


def unknown_note(kinds: Sequence[str]) -> Iterator[str]:
    """Say which kinds of instructions are not known, where there are any."""
    if kinds:
        named = ", ".join(repr(one[:60]) for one in kinds[:_MOST_KINDS])
        more = f" and {len(kinds) - _MOST_KINDS} more" if len(kinds) > _MOST_KINDS else ""
        yield f"instructions of a kind that is not known are left undecided: {named}{more}"


def final_part(gold: str) -> tuple[str, str]:
    """Cut the answer out of a worked solution, and say how: after ``####`` or in a box."""
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
    """Read a gold answer: a text, a number, or a list of them, which stand there all together."""
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


def _exists(source: str) -> bool:
    try:
        return bool(source) and expand_user(source).exists()
    except (OSError, ValueError):  # too long, or with a NUL: no file has such a name
        return False
