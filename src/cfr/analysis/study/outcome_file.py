"""Outcome files: JSON lines of attempts, whoever wrote them, brought into one form."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any, Final

from cfr.analysis.study.decoding import write_decoding
from cfr.analysis.study.study import StageCost
from cfr.error import InputError
from cfr.evaluation.status import STATUSES
from cfr.file.jsonl import read_rows
from cfr.method.registry import MethodError, make
from cfr.problem import Json

__all__ = ["outcome_lines", "stage_cost"]

_VERDICTS: Final = ("correct", "incorrect", "undecided", None)


def outcome_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Read lines in one form, whoever wrote them: every field is there and has its type."""
    labels: dict[str, str] = {}
    runs: dict[tuple[str, ...], Iterator[int]] = {}
    for row in read_rows(path):
        where, value = f"{path}, line {row.number}", row.value
        method = _name(where, value, "method")
        arm = {name: _text(value, name) or "" for name in ("benchmark", "model")}
        arm |= {"method": method, "decoding": write_decoding(value.get("decoding"))}
        problem = _name(where, value, "problem")
        counter = runs.setdefault((*arm.values(), problem), count())
        texts = {n: _text(value, n) for n in ("problem_text", "gold", "answer", "text")}
        yield (
            row.number,
            {**value, **arm, **texts}
            | {"label": _text(value, "label") or labels.setdefault(method, _label(method))}
            | {"problem": problem, "run": _run(where, value, counter)}
            | {"details": _mapping(value, "details"), "stages": _stages(where, value)}
            | _amounts(where, value)
            | _judged(where, value),
        )


def _run(where: str, row: Mapping[str, Json], counter: Iterator[int]) -> int:
    """Read the number of a run; lines that have none are numbered as they come."""
    given = row.get("run")
    if given is None:
        return next(counter)
    if not isinstance(given, int) or isinstance(given, bool):
        raise InputError(f"{where}: 'run' must be a whole number, not {given!r}")
    return given


def _text(row: Mapping[str, Json], field: str) -> str | None:
    """Read a text; an answer may well be written as a number."""
    value = row.get(field)
    return value if isinstance(value, str) or value is None else json.dumps(value)


def _name(where: str, row: Mapping[str, Json], field: str) -> str:
    value = row.get(field)
    if not isinstance(value, str | int) or isinstance(value, bool) or value == "":
        raise InputError(
            f'{where}: needs \'{field}\'; a line is {{"problem", "method", "run", "correct"}}'
        )
    return str(value)


def _judged(where: str, row: Mapping[str, Json]) -> dict[str, Json]:
    """Bring ``correct`` and ``verdict`` into one form."""
    status = row.get("status", "ok")
    if status not in STATUSES:
        raise InputError(
            f"{where}: 'status' is {status!r}; it must be one of {', '.join(STATUSES)}"
        )
    if status == "failed":
        return {"status": status, "verdict": None}
    if "correct" in row:
        correct = row["correct"]
        if correct not in (True, False, None):  # 0 and 1 are among these
            raise InputError(f"{where}: 'correct' must be true or false, not {correct!r}")
        verdict = None if correct is None else "correct" if correct else "incorrect"
        return {"status": "failed" if correct is None else status, "verdict": verdict}
    verdict = row.get("verdict", "")
    if verdict not in _VERDICTS:
        raise InputError(f"{where}: needs 'correct' (true or false)")
    return {"status": status, "verdict": verdict}


_TOKENS: Final = ("input_tokens", "output_tokens")
_MOST: Final = 1e12


def _amounts(where: str, row: Mapping[str, Json]) -> dict[str, float]:
    """Read tokens and seconds; what is not there is zero, what is no amount is refused."""
    return {
        **{name: int(_amount(where, row, name)) for name in _TOKENS},
        **{name: _amount(where, row, name) for name in ("seconds", "finished_at")},
    }


def _amount(where: str, row: Mapping[str, Json], name: str) -> float:
    value = row.get(name)
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MOST:
        raise InputError(f"{where}: '{name}' must be a number from 0 up, not {str(value)[:40]!r}")
    return value


def _stages(where: str, row: Mapping[str, Json]) -> dict[str, StageCost]:
    """Read calls, tokens and seconds by stage."""
    return {
        stage: stage_cost({name: _amount(where, used, name) for name in _COSTS})
        for stage, used in _mapping(row, "stages").items()
        if isinstance(used, dict)
    }


def _mapping(row: Mapping[str, Json], field: str) -> dict[str, Json]:
    value = row.get(field)
    return value if isinstance(value, dict) else {}


def _label(method: str) -> str:
    """Name a method as the paper does; one that is not ours keeps the name that it came with."""
    try:
        return make(method).label
    except MethodError:
        return method


_COSTS: Final = ("calls", "input_tokens", "output_tokens", "seconds")


def stage_cost(row: Mapping[str, Any]) -> StageCost:
    """Take calls, tokens and seconds out of a row that has them all."""
    calls, used_in, used_out, seconds = (row[name] for name in _COSTS)
    return StageCost(int(calls), int(used_in), int(used_out), float(seconds))
