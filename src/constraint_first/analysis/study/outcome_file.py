"""Outcome files: lines of attempts, whoever wrote them, brought into one form."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any, Final

from constraint_first.analysis.study.decoding import write_decoding
from constraint_first.analysis.study.export_table import read_export
from constraint_first.analysis.study.study import StageCost
from constraint_first.benchmark.source import read_gold
from constraint_first.evaluation.status import STATUSES
from constraint_first.file.field import (
    NUMBER,
    TEXT,
    WHOLE,
    FieldError,
    FieldType,
    one_of,
    read_field,
)
from constraint_first.method.former import with_current_names
from constraint_first.method.registry import MethodError, make
from constraint_first.problem import Json

__all__ = ["outcome_lines", "stage_cost"]

_STATUS: Final = one_of(STATUSES)
_VERDICTS: Final = ("correct", "incorrect", "undecided", None)
# 0 and 1 are among these, and null for an attempt that failed.
_CORRECT: Final[FieldType[bool | None]] = FieldType(
    "true or false", lambda value: value in (True, False, None)
)
_NAME: Final[FieldType[str | int]] = FieldType(
    'a text or a number (a line is {"problem", "method", "run", "correct"})',
    lambda value: value != "" and (TEXT.fits(value) or WHOLE.fits(value)),
)
_AMOUNT: Final[FieldType[float]] = FieldType(
    "a number from 0 up", lambda value: NUMBER.fits(value) and 0 <= value <= 1e12
)
_TOKENS: Final = ("input_tokens", "output_tokens")
_COSTS: Final = ("calls", *_TOKENS, "seconds")


def outcome_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Read lines in one form, whoever wrote them: every field is there and has its type."""
    labels: dict[str, str] = {}
    runs: dict[tuple[str, ...], Iterator[int]] = {}
    for row in read_export(path):
        try:
            line = _line(row.value, labels, runs)
        except FieldError as error:
            raise FieldError(f"{path}, line {row.number}: {error}") from None
        yield row.number, line


def _line(
    row: Mapping[str, Json], labels: dict[str, str], runs: dict[tuple[str, ...], Iterator[int]]
) -> dict[str, Any]:
    row = with_current_names(row) if "label" in row or "finished_at" in row else row
    method, problem = str(read_field(row, "method", _NAME)), str(read_field(row, "problem", _NAME))
    arm = {name: _text(row, name) or "" for name in ("benchmark", "model")}
    arm |= {"method": method, "decoding": write_decoding(row.get("decoding"))}
    counter = runs.setdefault((*arm.values(), problem), count())
    texts = {n: _text(row, n) for n in ("problem_text", "answer", "text")}
    return {
        **row,
        **arm,
        **texts,
        "gold": read_gold(row.get("gold"), "gold"),
        "label": _text(row, "label") or labels.setdefault(method, _label(method)),
        "problem": problem,
        "run": _run(row, counter),
        "details": _mapping(row, "details"),
        "stages": _stages(row),
        **{name: int(_amount(row, name)) for name in (*_TOKENS, "shared_tokens")},
        **{name: _amount(row, name) for name in ("seconds", "finished_at")},
        **_judged(row),
    }


def _run(row: Mapping[str, Json], counter: Iterator[int]) -> int:
    """Read the number of a run; lines that have none are numbered as they come."""
    return next(counter) if row.get("run") is None else read_field(row, "run", WHOLE)


def _text(row: Mapping[str, Json], field: str) -> str | None:
    """Read a text; an answer may well be written as a number."""
    value = row.get(field)
    return value if isinstance(value, str) or value is None else json.dumps(value)


def _judged(row: Mapping[str, Json]) -> dict[str, Json]:
    """Bring ``correct`` and ``verdict`` into one form."""
    status = read_field(row, "status", _STATUS) if "status" in row else "ok"
    if status == "failed":
        return {"status": status, "verdict": None}
    if "correct" in row:
        correct = read_field(row, "correct", _CORRECT)
        verdict = None if correct is None else "correct" if correct else "incorrect"
        return {"status": "failed" if correct is None else status, "verdict": verdict}
    verdict = row.get("verdict", "")
    if verdict not in _VERDICTS:
        raise FieldError("needs 'correct' (true or false)")
    return {"status": status, "verdict": verdict}


def _amount(row: Mapping[str, Json], name: str) -> float:
    """Read tokens or seconds; what is not there is zero, what is no amount is refused."""
    return 0 if row.get(name) is None else read_field(row, name, _AMOUNT)


def _stages(row: Mapping[str, Json]) -> dict[str, StageCost]:
    """Read calls, tokens and seconds by stage."""
    return {
        stage: stage_cost(
            {name: _amount(used, name) for name in (*_COSTS, "cached_tokens")}
            | {"answered_by": _text(used, "model")}
        )
        for stage, used in _mapping(row, "stages").items()
        if isinstance(used, dict)
    }


def _mapping(row: Mapping[str, Json], field: str) -> dict[str, Json]:
    value = row.get(field)
    return value if isinstance(value, dict) else {}


@lru_cache  # a name that is not ours is looked for in every package that is installed
def _label(method: str) -> str:
    """Name a method as the paper does; one that is not ours keeps the name that it came with."""
    try:
        return make(method).label
    except MethodError:
        return method


def stage_cost(row: Mapping[str, Any]) -> StageCost:
    """Take calls, tokens and seconds out of a row that has them all, and what else it has."""
    calls, used_in, used_out, seconds = (row[name] for name in _COSTS)
    more = (int(row.get("cached_tokens") or 0), row.get("answered_by") or "")
    return StageCost(int(calls), int(used_in), int(used_out), float(seconds), *more)
