"""An annotator's marks on the constraints of one attempt, and the file that keeps them.

Paper: Stage 1 Constraint Reliability. A file holds one JSON line for each judged attempt. A later
line for the same attempt and annotator replaces an earlier one, so a judgement is corrected by
adding to the file and never by rewriting it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias, cast

import orjson

from constraint_first.constraint.spec import Constraint, ConstraintSpec, Propagated
from constraint_first.error import InputError, OutputError
from constraint_first.evaluation.record import RecordKey
from constraint_first.file.field import (
    FILLED,
    OBJECT,
    TEXT,
    WHOLE,
    FieldError,
    FieldType,
    list_of,
    one_of,
    read_field,
    read_objects,
)
from constraint_first.file.jsonl import read_rows
from constraint_first.file.row_log import append_row
from constraint_first.method.former import NAMES, with_current_names
from constraint_first.problem import Json

__all__ = [
    "MARKS",
    "Derivation",
    "Judged",
    "Label",
    "Mark",
    "append_label",
    "begin_labels",
    "check_annotator",
    "name_attempt",
    "read_labels",
    "unmarked",
]

Mark: TypeAlias = Literal["entailed", "not_entailed", "vague"]
Derivation: TypeAlias = Literal["raw", "propagated"]

MARKS: Final[tuple[Mark, ...]] = ("entailed", "not_entailed", "vague")
"""A constraint follows from the problem; it does not; or that cannot be told."""
_STAGE: Final[FieldType[Derivation]] = one_of(("raw", "propagated"))
_MARK: Final = one_of((*MARKS, None))
_ANNOTATOR: Final = re.compile(r"\w(?:[\w.@ -]{0,38}\w)?")
_HEXADECIMAL: Final[FieldType[str]] = FieldType(
    "12 hexadecimal digits in lower case",
    lambda value: isinstance(value, str) and bool(re.fullmatch("(?:[0-9a-f]{12})?", value)),
)


@dataclass(frozen=True, slots=True)
class Judged:
    """A constraint and the mark that it was given; None where it has none yet."""

    id: str
    stage: Derivation
    mark: Mark | None = None
    digest: str = ""
    """A hash of the words that were judged; empty where they are not known."""

    def same(self, other: Judged) -> bool:
        """Whether both are the same constraint, as far as their words are known."""
        known = self.digest and other.digest
        alike = (self.id, self.stage) == (other.id, other.stage)
        return alike and (not known or self.digest == other.digest)

    def to_json(self) -> dict[str, Json]:
        """Describe the constraint as a line of the file does."""
        fields: dict[str, Json] = {"id": self.id, "stage": self.stage, "mark": self.mark}
        return fields | ({"digest": self.digest} if self.digest else {})


@dataclass(frozen=True, slots=True)
class Label:
    """An annotator's judgement of one attempt."""

    annotator: str
    key: RecordKey
    constraints: tuple[Judged, ...]
    missing: tuple[str, ...] = ()
    """Constraints that the problem entails and Stage 1 did not list, in the annotator's words."""
    note: str = ""

    @property
    def complete(self) -> bool:
        """Whether every constraint has its mark; a label that is not is a draft."""
        return all(judged.mark for judged in self.constraints)

    @property
    def begun(self) -> bool:
        """Whether it says anything yet."""
        return bool(self.missing or self.note or any(one.mark for one in self.constraints))

    @property
    def counts(self) -> tuple[int, int]:
        """How many raw and how many propagated constraints there are."""
        raw = sum(judged.stage == "raw" for judged in self.constraints)
        return raw, len(self.constraints) - raw

    def same_constraints(self, other: Label) -> bool:
        """Whether both are about the same constraints, whatever they say of them."""
        if len(self.constraints) != len(other.constraints):
            return False
        return all(map(Judged.same, self.constraints, other.constraints))

    def to_json(self) -> dict[str, Json]:
        """Describe the label as a line of the file does."""
        benchmark, method, model, decoding, problem, run = self.key
        fields: dict[str, Json] = {
            "annotator": self.annotator,
            "benchmark": benchmark,
            "problem": problem,
            "method": method,
            "model": model,
            "decoding": orjson.loads(decoding),
            "run": run,
            "constraints": [one.to_json() for one in self.constraints],
            "missing": [*self.missing],
            "names": NAMES,
        }
        return fields | ({"note": self.note} if self.note else {})


def unmarked(annotator: str, key: RecordKey, spec: ConstraintSpec) -> Label:
    """Make the label that an annotator begins with."""
    both: tuple[tuple[Derivation, Iterable[Constraint | Propagated]], ...] = (
        ("raw", spec.raw_constraints),
        ("propagated", spec.propagated_constraints),
    )
    begun = (
        Judged(one.id, stage, digest=_digest(one.description))
        for stage, ones in both
        for one in ones
    )
    return Label(annotator, key, tuple(begun))


def _digest(words: str) -> str:
    return hashlib.sha256(words.encode(errors="surrogatepass")).hexdigest()[:12]


def name_attempt(key: RecordKey) -> str:
    """Name an attempt in a message."""
    benchmark, method, model, _, problem, run = key
    where = f" of {benchmark}" if benchmark else ""
    by = f"{method} with {model}" if model else method
    return f"run {run} of problem {problem}{where} by {by}"


def check_annotator(name: str) -> str:
    """Return an annotator's name, or say what one may be made of."""
    if not _ANNOTATOR.fullmatch(name):
        raise InputError(
            f"annotator {name[:60]!r}: a name has up to 40 letters, digits, spaces and . - _ @, "
            "and begins and ends with a letter or a digit"
        )
    return name


def begin_labels(path: Path) -> list[Label]:
    """Read the labels of a file to add to; one that is not there yet is made, empty."""
    found = read_labels([path]) if path.exists() else []
    try:
        path.open("ab").close()
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({error.strerror}); name another") from None
    return found


def append_label(path: Path, label: Label) -> None:
    """Add a label to a file, and return once it is on the disk."""
    append_row(path, label.to_json())


def read_labels(paths: Iterable[Path]) -> list[Label]:
    """Read files of labels, drafts among them; the last line for an attempt and annotator counts.

    No two annotators may have seen different constraints in the same attempt.
    """
    found: dict[tuple[str, RecordKey], tuple[str, Label]] = {}
    for path in paths:
        for row in read_rows(path):
            where = f"{path}, line {row.number}"
            label = _label(where, row.value)
            found[label.annotator, label.key] = (where, label)
    seen: dict[RecordKey, list[Label]] = {}
    for where, label in found.values():
        # With all of them: one whose words are not known is like any other.
        for other in seen.setdefault(label.key, []):
            if not label.same_constraints(other):
                raise InputError(
                    f"{where}: the constraints of {name_attempt(label.key)} are not those that "
                    f"{other.annotator} judged; report on labels of different runs apart"
                )
        seen[label.key].append(label)
    return [label for _, label in found.values()]


def _label(where: str, line: Mapping[str, Json]) -> Label:
    row = with_current_names(line)
    try:
        annotator = check_annotator(read_field(row, "annotator", TEXT))
        names = [read_field(row, name, TEXT) for name in ("benchmark", "method", "model")]
        place = (read_field(row, "problem", TEXT), read_field(row, "run", WHOLE))
        return Label(
            annotator,
            cast("RecordKey", (*names, _decoding(row), *place)),
            read_objects(row, "constraints", _judged),
            tuple(read_field(row, "missing", list_of(FILLED, "texts that are not blank"))),
            read_field({"note": "", **row}, "note", TEXT),
        )
    except InputError as error:
        raise InputError(f"{where}: {error}; correct the line or remove it") from None


def _decoding(row: Mapping[str, Json]) -> str:
    """Write a decoding as a store does, so that the two can be compared."""
    try:
        return orjson.dumps(read_field(row, "decoding", OBJECT)).decode()
    except orjson.JSONEncodeError:
        raise FieldError("'decoding' cannot be read") from None


def _judged(row: dict[str, Json]) -> Judged:
    return Judged(
        read_field(row, "id", TEXT),
        read_field(row, "stage", _STAGE),
        read_field(row, "mark", _MARK),
        read_field({"digest": "", **row}, "digest", _HEXADECIMAL),
    )
