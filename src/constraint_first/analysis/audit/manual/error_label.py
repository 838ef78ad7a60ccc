"""An annotator's class for one error, the file that keeps such classes, and agreement on them.

Paper: Error Taxonomy. A line is one of those that ``--classes`` reads, with the annotator's name. A
later line of an annotator on the same error replaces an earlier one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Final, TypeAlias

from constraint_first.analysis.audit.manual.annotation import Accord, accord_on
from constraint_first.analysis.audit.manual.label import check_annotator
from constraint_first.analysis.audit.mistake import MISTAKES, Mistake
from constraint_first.error import InputError
from constraint_first.file.field import FILLED, TEXT, one_of, read_field
from constraint_first.file.jsonl import read_rows
from constraint_first.file.row_log import append_row
from constraint_first.method.former import NAMES, with_current_names
from constraint_first.problem import Json

__all__ = ["ErrorLabel", "append_error_label", "error_accords", "read_error_labels"]

_CLASS: Final = one_of(MISTAKES)
ErrorKey: TypeAlias = tuple[str, str, str, str]
"""Benchmark, problem, method and model: the error of one problem that changed sides."""


@dataclass(frozen=True, slots=True)
class ErrorLabel:
    """An annotator's class for one error."""

    annotator: str
    benchmark: str
    problem: str
    method: str
    model: str
    mistake: Mistake
    note: str = ""

    @property
    def key(self) -> ErrorKey:
        """The error that it is about."""
        return self.benchmark, self.problem, self.method, self.model

    def to_json(self) -> dict[str, Json]:
        """Describe the label as a line of the file does."""
        fields: dict[str, Json] = {
            "annotator": self.annotator,
            "benchmark": self.benchmark,
            "problem": self.problem,
            "method": self.method,
            "model": self.model,
            "class": self.mistake,
            "names": NAMES,
        }
        return fields | ({"note": self.note} if self.note else {})


def append_error_label(path: Path, label: ErrorLabel) -> None:
    """Add a label to a file, and return once it is on the disk."""
    append_row(path, label.to_json())


def read_error_labels(path: Path) -> list[ErrorLabel]:
    """Read the labels that annotators gave; lines without one are somebody's last word, not theirs.

    A file that is not there yet has none.
    """
    if not path.exists():
        return []
    found: dict[tuple[str, ErrorKey], ErrorLabel] = {}
    for row in read_rows(path):
        if row.value.get("annotator"):
            label = _label(f"{path}, line {row.number}", row.value)
            found[label.annotator, label.key] = label
    return [*found.values()]


def _label(where: str, row: Mapping[str, Json]) -> ErrorLabel:
    try:
        current = with_current_names(row)
        named = {"benchmark": "", "method": "", "model": "", "note": "", **current}
        return ErrorLabel(
            check_annotator(read_field(named, "annotator", TEXT)),
            read_field(named, "benchmark", TEXT),
            read_field(named, "problem", FILLED),
            read_field(named, "method", TEXT),
            read_field(named, "model", TEXT),
            read_field(named, "class", _CLASS),
            read_field(named, "note", TEXT),
        )
    except InputError as error:
        raise InputError(f"{where}: {error}; correct the line or remove it") from None


def error_accords(labels: Iterable[ErrorLabel]) -> list[Accord]:
    """Compare the classes of every two annotators."""
    people: dict[str, dict[ErrorKey, ErrorLabel]] = defaultdict(dict)
    for label in labels:
        people[label.annotator][label.key] = label
    return [
        accord_on((a, b), len(shared), pairs, "error")
        for a, b in combinations(sorted(people), 2)
        for shared in [[key for key in people[a] if key in people[b]]]
        for pairs in [[(people[a][key].mistake, people[b][key].mistake) for key in shared]]
    ]
