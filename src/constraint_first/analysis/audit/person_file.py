"""Files in which a person judges single problems, a row each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from constraint_first.analysis.statistics.subset import Key
from constraint_first.analysis.study.study import Study
from constraint_first.error import InputError
from constraint_first.file.row import all_rows
from constraint_first.problem import Json

__all__ = ["PersonLine", "read_person_lines"]


@dataclass(frozen=True, slots=True)
class PersonLine:
    """A line of such a file, and the problem of the study that it is about."""

    where: str
    """The file and the line, for messages."""
    key: Key | None
    """The problem; None where the study does not have it."""
    value: Mapping[str, Json]
    number: int
    """The number of the line in the file."""


def read_person_lines(path: Path, study: Study) -> Iterator[PersonLine]:
    """Read lines that name a ``problem`` and, where names repeat, its ``benchmark``."""
    known = _places(study)
    for line in all_rows(path):
        where = f"{path}, {line.place}"
        problem, benchmark = line.value.get("problem"), line.value.get("benchmark") or None
        if not isinstance(problem, str | int) or isinstance(problem, bool) or problem == "":
            raise InputError(f"{where}: needs 'problem', the name of a problem")
        if benchmark is not None and not isinstance(benchmark, str):
            raise InputError(f"{where}: 'benchmark' must be a name, not {benchmark!r}")
        places = [p for p in known.get(str(problem), ()) if benchmark in (None, p)]
        if len(places) > 1:
            raise InputError(
                f"{where}: problem {problem} is in {' and in '.join(places)}; add its 'benchmark'"
            )
        yield PersonLine(
            where, (places[0], str(problem)) if places else None, line.value, line.number
        )


def _places(study: Study) -> dict[str, list[str]]:
    """List the benchmarks in which each problem's name stands."""
    keys = dict.fromkeys(study.problems)
    for arm in study.arms:
        keys |= dict.fromkeys((arm.benchmark, problem) for problem in arm.attempts)
    places: dict[str, list[str]] = {}
    for benchmark, problem in keys:
        places.setdefault(problem, []).append(benchmark)
    return places
