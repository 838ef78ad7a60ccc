"""Reading a study: from a store, from a file that ``cfr export`` wrote, from anyone's outcomes."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import count
from math import isfinite
from pathlib import Path
from typing import Any, Final, cast

import orjson

from cfr.analysis.study import (
    Arm,
    Asked,
    Attempt,
    Extraction,
    Spent,
    Study,
    Transcript,
    Transcripts,
)
from cfr.benchmark.jsonl import InputError, read_rows
from cfr.constraint.spec import ConstraintSpec
from cfr.evaluation import record
from cfr.evaluation.record import RecordKey
from cfr.evaluation.store import Store
from cfr.method.registry import MethodError, make
from cfr.problem import Json

__all__ = ["read_file", "read_store", "read_study"]

_STATUSES: Final = ("ok", "truncated", "unparsed", "failed")
_VERDICTS: Final = ("correct", "incorrect", "undecided", None)
_Raw = Mapping[str, Any]


class _Builder:
    """Sorts rows into arms, and refuses an attempt that is there twice."""

    def __init__(self) -> None:
        self.arms: dict[tuple[str, str, str, str], Arm] = {}
        self.problems: dict[tuple[str, str], Asked] = {}
        self._seen: set[tuple[int, str, int]] = set()

    def arm(self, row: _Raw) -> Arm:
        """Find the arm that a row belongs to."""
        key = tuple(str(row[name]) for name in ("benchmark", "method", "model", "decoding"))
        arm = self.arms.get(cast("Any", key))
        if arm is None:
            benchmark, method, model, decoding = key
            arm = Arm(benchmark, method, str(row["label"]), model, decoding)
            self.arms[arm.key] = arm
        return arm

    def add(self, row: _Raw, attempt: Attempt) -> bool:
        """Enter an attempt; False where its run of its problem is there already."""
        arm, problem = self.arm(row), str(row["problem"])
        if (mark := (id(arm), problem, attempt.run)) in self._seen:
            return False
        self._seen.add(mark)
        arm.attempts.setdefault(problem, []).append(attempt)
        return True

    def study(self, source: str, transcripts: Transcripts) -> Study:
        """Finish: runs in order, arms in the order in which they came."""
        for arm in self.arms.values():
            for attempts in arm.attempts.values():
                attempts.sort(key=lambda attempt: attempt.run)
        return Study(source, tuple(self.arms.values()), self.problems, transcripts)


def read_study(sources: Sequence[Store | Path]) -> Study:
    """Read several stores and files as one study; no two may hold the same attempts."""
    studies = [read_store(s) if isinstance(s, Store) else read_file(s) for s in sources]
    if len(studies) == 1:
        return studies[0]
    arms: dict[tuple[str, str, str, str], tuple[Arm, str]] = {}
    for study in studies:
        for arm in study.arms:
            if arm.key in arms:
                other = arms[arm.key][1]
                what = f"{arm.method} on {arm.benchmark} with {arm.model}"
                raise InputError(f"{study.source}: {what} is in {other} too; name one of the two")
            arms[arm.key] = (arm, study.source)

    def transcripts(wanted: Collection[RecordKey]) -> dict[RecordKey, Transcript]:
        return {key: value for s in studies for key, value in s.transcripts(wanted).items()}

    problems = {key: asked for study in studies for key, asked in study.problems.items()}
    source = ", ".join(study.source for study in studies)
    return Study(source, tuple(arm for arm, _ in arms.values()), problems, transcripts)


def read_store(store: Store) -> Study:
    """Read a store; long texts stay there until they are asked for."""
    builder = _Builder()
    for row in record.problem_rows(store):
        builder.problems[row["benchmark"], row["name"]] = Asked(row["text"], row["answer"])
    for row in record.outcome_rows(store):
        builder.add(row, _attempt(row, orjson.loads(row["details"])))
    for row in record.stage_rows(store):
        builder.arm(row).stages[row["stage"]] = _spent(row)

    def transcripts(wanted: Collection[RecordKey]) -> dict[RecordKey, Transcript]:
        rows = record.transcript_rows(store, wanted)
        return {key: _transcript(row, orjson.loads(row["details"])) for key, row in rows}

    return builder.study(store.url, transcripts)


def read_file(path: Path) -> Study:
    """Read a JSON Lines file of attempts.

    A line needs ``problem``, ``method``, ``run`` and ``correct``; what ``cfr export`` writes has
    ``verdict`` and ``status`` in place of the last, and all the rest.
    """
    builder = _Builder()
    for number, row in _file_rows(path):
        if not builder.add(row, _attempt(row, row["details"])):
            what = f"run {row['run']} of problem {row['problem']} by {row['method']}"
            raise InputError(f"{path}, line {number}: {what} is there twice; leave one out")
        if row["problem_text"] is not None:
            asked = Asked(row["problem_text"], row["gold"])
            builder.problems[row["benchmark"], row["problem"]] = asked
        _add_stages(builder.arm(row), row["stages"])
    return builder.study(str(path), lambda wanted: _file_transcripts(path, wanted))


def _file_transcripts(path: Path, wanted: Collection[RecordKey]) -> dict[RecordKey, Transcript]:
    keys, found = set(wanted), dict[RecordKey, Transcript]()
    for _, row in _file_rows(path):
        key = tuple(row[n] for n in ("benchmark", "method", "model", "decoding", "problem", "run"))
        if key in keys:
            found[cast("RecordKey", key)] = _transcript(row, row["details"])
    return found


def _file_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Read lines in one form, whoever wrote them: every field is there and has its type."""
    labels: dict[str, str] = {}
    runs: dict[tuple[str, ...], Iterator[int]] = {}
    for row in read_rows(path):
        where, value = f"{path}, line {row.number}", row.value
        method = _name(where, value, "method")
        arm = {name: _text(value, name) or "" for name in ("benchmark", "model")}
        arm |= {"method": method, "decoding": _canonical(value.get("decoding"))}
        problem = _name(where, value, "problem")
        counter = runs.setdefault((*arm.values(), problem), count())
        texts = {n: _text(value, n) for n in ("problem_text", "gold", "answer", "text")}
        yield (
            row.number,
            {**value, **arm, **texts}
            | {"label": _text(value, "label") or labels.setdefault(method, _label(method))}
            | {"problem": problem, "run": _run(where, value, counter)}
            | {name: _mapping(value, name) for name in ("details", "stages")}
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
    if status not in _STATUSES:
        raise InputError(
            f"{where}: 'status' is {status!r}; it must be one of {', '.join(_STATUSES)}"
        )
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


def _mapping(row: Mapping[str, Json], field: str) -> dict[str, Json]:
    value = row.get(field)
    return value if isinstance(value, dict) else {}


def _canonical(decoding: Json) -> str:
    """Write settings as stores do."""
    if not isinstance(decoding, dict):
        return "{}"
    return json.dumps(decoding, separators=(",", ":"), ensure_ascii=False)


def _label(method: str) -> str:
    """Name a method as the paper does; one that is not ours keeps the name that it came with."""
    try:
        return make(method).label
    except MethodError:
        return method


def _attempt(row: _Raw, details: Mapping[str, Json]) -> Attempt:
    routed, verdict = details.get("routed"), row["verdict"]
    return Attempt(
        run=row["run"],
        status=row["status"],
        correct=None if verdict is None else verdict == "correct",
        answer=row["answer"],
        input_tokens=_count(row, "input_tokens"),
        output_tokens=_count(row, "output_tokens"),
        seconds=_number(row, "seconds"),
        finished_at=_number(row, "finished_at"),
        routed=routed if isinstance(routed, bool) else None,
        extraction=_extraction(details),
    )


def _count(row: _Raw, name: str) -> int:
    value = row.get(name)
    return value if isinstance(value, int) else 0


def _number(row: _Raw, name: str) -> float:
    value = row.get(name)
    return float(value) if isinstance(value, int | float) else 0.0


def _extraction(details: Mapping[str, Json]) -> Extraction | None:
    rung = details.get("rung")
    if not isinstance(rung, str):
        return None
    spec = _spec(details)
    if spec is None:
        return Extraction(rung)
    kinds = tuple(one.type for one in spec.raw_constraints)
    return Extraction(rung, kinds, len(spec.propagated_constraints))


def _spec(details: Mapping[str, Json]) -> ConstraintSpec | None:
    found = details.get("constraints")
    return ConstraintSpec.from_mapping(found) if isinstance(found, dict) else None


def _transcript(row: _Raw, details: Mapping[str, Json]) -> Transcript:
    verdict = row["verdict"]
    return Transcript(
        text=str(row.get("text") or ""),
        answer=row["answer"],
        correct=None if verdict is None else verdict == "correct",
        tokens=_count(row, "input_tokens") + _count(row, "output_tokens"),
        constraints=_spec(details),
        details=details,
    )


def _add_stages(arm: Arm, stages: Mapping[str, Json]) -> None:
    for stage, spent in stages.items():
        if isinstance(spent, dict):
            arm.stages[stage] = arm.stages.get(stage, Spent()) + _spent(spent)


def _spent(row: _Raw) -> Spent:
    seconds = row.get("seconds")
    return Spent(
        calls=_count(row, "calls"),
        input_tokens=_count(row, "input_tokens"),
        output_tokens=_count(row, "output_tokens"),
        seconds=float(seconds) if isinstance(seconds, int | float) and isfinite(seconds) else 0.0,
    )
