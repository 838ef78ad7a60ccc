"""The rule for right problems, and error classes that a person gave (paper: Error Taxonomy)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeAlias

from constraint_first.analysis.audit.mistake import MISTAKES, Mistake
from constraint_first.analysis.audit.person_file import PersonLine, read_person_lines
from constraint_first.analysis.statistics.subset import Key
from constraint_first.analysis.study.study import Study
from constraint_first.error import InputError
from constraint_first.method.former import with_current_names

__all__ = ["DEFAULT_RULE", "ErrorClasses", "ErrorRule", "RightRule", "read_classes"]

RightRule: TypeAlias = Literal["any", "first"]
"""When a problem counts as right: where any run is (pass@k), or where its first judged run is."""

_About: TypeAlias = tuple[Key, str, str]


@dataclass(frozen=True, slots=True)
class ErrorClasses:
    """Error classes that a person gave: by problem, and by method and model where named."""

    given: Mapping[_About, Mistake] = field(default_factory=dict[_About, Mistake])
    """By problem, method and model; an empty name stands for all."""
    unknown: int = 0
    """Lines about problems or models that the study does not have."""
    disputed: int = 0
    """Errors on which annotators differ, and none of their classes has the most."""

    def find(self, key: Key, method: str, model: str = "") -> Mistake | None:
        """Look up a class; a line that names the model wins, then one that names the method.

        A line without a model is about all models.
        """
        order = ((method, model), ("", model), (method, ""), ("", ""))
        return next((self.given[key, *one] for one in order if (key, *one) in self.given), None)


def read_classes(path: Path, study: Study) -> ErrorClasses:
    """Read lines of ``problem`` and ``class``.

    They may have ``benchmark``, ``method``, ``model``, ``annotator`` and ``note``. Two lines that
    class the same error otherwise are refused, unless annotators gave them: a later line of one
    replaces an earlier one, and among several the class counts that most of them give. A line
    without an annotator counts before all that have one.
    """
    votes: dict[_About, dict[str, Mistake]] = {}
    lines: dict[_About, int] = {}
    unknown, models = 0, set(study.names("model"))
    for line in read_person_lines(path, study):
        known = _class_in(line)
        names = ("method", "model", "annotator")
        # An annotator's line was written by 'cfr audit', which has given methods other names since.
        value = with_current_names(line.value) if line.value.get("annotator") else line.value
        method, model, annotator = (str(value.get(name) or "") for name in names)
        if line.key is None or (model and model not in models):
            unknown += 1
            continue
        about = (line.key, method, model)
        given = votes.setdefault(about, {})
        if not annotator and given.get("", known) != known:
            raise InputError(
                f"{line.where}: 'class' is {known}, but line {lines[about]} says {given['']} "
                "of the same problem, method and model; remove one of them"
            )
        given[annotator] = known
        if not annotator:
            lines[about] = line.number
    found: dict[_About, Mistake] = {}
    for about, given in votes.items():
        if decided := _decided(given):
            found[about] = decided
    return ErrorClasses(found, unknown, len(votes) - len(found))


def _decided(given: Mapping[str, Mistake]) -> Mistake | None:
    """Choose the class that counts; None where annotators differ and none has the most."""
    if "" in given:
        return given[""]
    counts: Counter[Mistake] = Counter(given.values())
    (first, most), *others = counts.most_common(2)
    return None if others and others[0][1] == most else first


def _class_in(line: PersonLine) -> Mistake:
    written = line.value.get("class")
    wanted = str(written).strip().lower().replace(" ", "_").replace("-", "_")
    known: Mistake | None = next((name for name in MISTAKES if name == wanted), None)
    if known is None:
        choices = ", ".join(MISTAKES)
        raise InputError(f"{line.where}: 'class' is {written!r}; it must be one of {choices}")
    return known


@dataclass(frozen=True, slots=True)
class ErrorRule:
    """When a problem counts as right, and the error classes that a person gave."""

    right: RightRule = "any"
    classes: ErrorClasses = field(default_factory=ErrorClasses)


DEFAULT_RULE: Final = ErrorRule()
"""Any run may make a problem right, and nobody classed errors."""
