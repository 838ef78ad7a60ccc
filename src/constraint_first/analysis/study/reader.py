"""Reader of studies: stores, files that ``cfr export`` wrote, anyone's outcomes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias, cast

import orjson

from constraint_first.analysis.study.outcome_file import outcome_lines, stage_cost
from constraint_first.analysis.study.study import (
    Arm,
    Attempt,
    Extraction,
    ProblemText,
    StageCost,
    Study,
    Transcript,
    Transcripts,
)
from constraint_first.benchmark.gold_instruction import read_instructions
from constraint_first.constraint.recovery import FEWEST_FIELDS
from constraint_first.constraint.spec import ConstraintSpec
from constraint_first.error import InputError
from constraint_first.evaluation import record
from constraint_first.evaluation.record import RecordKey
from constraint_first.evaluation.store import Store, StoreError
from constraint_first.file.path import expand_user
from constraint_first.file.row import row_format
from constraint_first.file.storable import storable_text
from constraint_first.problem import Json

__all__ = ["Source", "existing_store", "open_study", "read_file", "read_store"]

Source: TypeAlias = Study | Store | Path | str
"""What a study can be read from: a store (open, or its path or URL) or a file of attempts."""

_Raw = Mapping[str, Any]


class _Builder:
    """Sorts rows into arms, and refuses an attempt that is there twice."""

    def __init__(self) -> None:
        self.arms: dict[tuple[str, str, str, str], Arm] = {}
        self.problems: dict[tuple[str, str], ProblemText] = {}
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


def open_study(sources: Source | Sequence[Source]) -> Study:
    """Read stores and files as one study; no two may hold the same attempts.

    A store that is named by its path or URL is not kept open: it is opened anew when transcripts
    are asked for.
    """
    one = isinstance(sources, Study | Store | Path | str)
    studies = [_read(source) for source in ([sources] if one else sources)]
    return studies[0] if len(studies) == 1 else _joined(studies)


def _read(source: Source) -> Study:
    if isinstance(source, Study):
        return source
    if isinstance(source, Store):
        return read_store(source)
    if row_format(Path(source)):
        return read_file(Path(source))
    return _read_closed(str(source))


def _read_closed(url: str) -> Study:
    def transcripts(wanted: Collection[RecordKey]) -> dict[RecordKey, Transcript]:
        with existing_store(url) as store:
            return _store_transcripts(store, wanted)

    with existing_store(url) as store:
        return replace(read_store(store), transcripts=transcripts)


def existing_store(url: str) -> Store:
    """Open a store that must be there already; a mistyped name must not make a new one."""
    if row_format(Path(url)):
        readers = "'cfr compare', 'report', 'audit' and 'calibrate' read those"
        raise StoreError(f"{url}: a file of attempts, not a store; {readers}; name a store here")
    if "://" not in url and not expand_user(url).is_file():
        raise StoreError(f"{url}: there is no such store; run 'cfr eval' first, or name one")
    return Store(url, existing=True)


def _joined(studies: Sequence[Study]) -> Study:
    arms: dict[tuple[str, str, str, str], tuple[Arm, str]] = {}
    for study in studies:
        for arm in study.arms:
            if arm.key in arms:
                other = arms[arm.key][1]
                what = f"{arm.method} on {arm.benchmark} with {arm.model}"
                way = "name one of the two, or join them with 'cfr merge'"
                raise InputError(f"{study.source}: {what} is in {other} too; {way}")
            arms[arm.key] = (arm, study.source)

    def transcripts(wanted: Collection[RecordKey]) -> dict[RecordKey, Transcript]:
        return {key: value for s in studies for key, value in s.transcripts(wanted).items()}

    problems = {key: posed for study in studies for key, posed in study.problems.items()}
    source = ", ".join(study.source for study in studies)
    return Study(source, tuple(arm for arm, _ in arms.values()), problems, transcripts)


def read_store(store: Store) -> Study:
    """Read an open store; long texts stay there until they are asked for."""
    builder = _Builder()
    for row in record.problem_rows(store):
        builder.problems[row["benchmark"], row["name"]] = ProblemText(row["text"], row["answer"])
    with store.reading():
        for row in record.outcome_rows(store):
            builder.add(row, _attempt(row, orjson.loads(row["details"])))
    for row in record.stage_rows(store):
        builder.arm(row).stages[row["stage"]] = stage_cost(row)
    return builder.study(store.url, lambda wanted: _store_transcripts(store, wanted))


def _store_transcripts(store: Store, wanted: Collection[RecordKey]) -> dict[RecordKey, Transcript]:
    rows = record.transcript_rows(store, list(filter(_fits_database, wanted)))
    with store.reading():
        return {key: _transcript(row, orjson.loads(row["details"])) for key, row in rows}


def _fits_database(key: RecordKey) -> bool:
    """Say whether a database could hold a key at all; it would refuse to look for another."""
    *names, run = key
    return all(storable_text(str(name)) == name for name in names) and -(2**63) <= run < 2**63


def read_file(path: Path) -> Study:
    """Read a file of attempts: JSON Lines, CSV or Parquet.

    A line needs ``problem``, ``method``, ``run`` and ``correct``; what ``cfr export`` writes has
    ``verdict`` and ``status`` in place of the last, and all the rest.
    """
    builder = _Builder()
    for number, row in outcome_lines(path):
        if not builder.add(row, _attempt(row, row["details"])):
            what = f"run {row['run']} of problem {row['problem']} by {row['method']}"
            raise InputError(f"{path}, line {number}: {what} is there twice; leave one out")
        if row["problem_text"] is not None or row["gold"] is not None:
            posed = ProblemText(row["problem_text"] or "", row["gold"])
            builder.problems[row["benchmark"], row["problem"]] = posed
        if row["verdict"] is not None:
            _add_stages(builder.arm(row), row["stages"])
    return builder.study(str(path), lambda wanted: _file_transcripts(path, wanted))


def _file_transcripts(path: Path, wanted: Collection[RecordKey]) -> dict[RecordKey, Transcript]:
    keys, found = set(wanted), dict[RecordKey, Transcript]()
    for _, row in outcome_lines(path):
        key = tuple(row[n] for n in ("benchmark", "method", "model", "decoding", "problem", "run"))
        if key in keys:
            found[cast("RecordKey", key)] = _transcript(row, row["details"])
    return found


def _attempt(row: _Raw, details: Mapping[str, Json]) -> Attempt:
    routed, verdict = details.get("routed"), row["verdict"]
    return Attempt(
        run=row["run"],
        status=row["status"],
        correct=None if verdict is None else verdict == "correct",
        answer=_answer(row),
        input_tokens=row["input_tokens"],
        output_tokens=row["output_tokens"],
        shared_tokens=row["shared_tokens"],
        seconds=row["seconds"],
        finished_at=row["finished_at"],
        routed=routed if isinstance(routed, bool) else None,
        extraction=_extraction(details),
        intervened=bool(details.get("interventions")),
    )


def _answer(row: _Raw) -> str | None:
    """Give the answer of an attempt; what was read from a reply that is judged whole is none."""
    return row["answer"] if read_instructions(row["gold"]) is None else None


def _extraction(details: Mapping[str, Json]) -> Extraction | None:
    rung = details.get("rung")
    if not isinstance(rung, str):
        return None
    spec = _spec(details)
    if spec is None:
        return Extraction(rung)
    kinds = tuple(one.type for one in spec.raw_constraints)
    derived = len(spec.propagated_constraints)
    return Extraction(_rung(rung, spec), kinds, derived, _critical(spec))


def _rung(stored: str, spec: ConstraintSpec) -> str:
    """Name the recovery step that a reply counts under today.

    Earlier versions took a specification of one field from a damaged reply, and none from a whole
    one, for a specification.
    """
    if stored == "parsed":
        return stored if spec.restricts else "empty"
    damaged = stored in ("repaired", "fields")
    return "fallback" if damaged and len(spec.restricting) < FEWEST_FIELDS else stored


def _critical(spec: ConstraintSpec) -> tuple[str, ...]:
    named = set(spec.critical_constraints)
    for one in spec.propagated_constraints:
        named.update(one.derived_from if one.id in named else ())
    return tuple(one.type for one in spec.raw_constraints if one.id in named)


def _spec(details: Mapping[str, Json]) -> ConstraintSpec | None:
    found = details.get("constraints")
    return ConstraintSpec.from_mapping(found) if isinstance(found, dict) else None


def _transcript(row: _Raw, details: Mapping[str, Json]) -> Transcript:
    verdict = row["verdict"]
    return Transcript(
        text=str(row.get("text") or ""),
        answer=_answer(row),
        correct=None if verdict is None else verdict == "correct",
        tokens=row["input_tokens"] + row["output_tokens"],
        constraints=_spec(details),
        details=details,
    )


def _add_stages(arm: Arm, stages: Mapping[str, StageCost]) -> None:
    for stage, used in stages.items():
        arm.stages[stage] = arm.stages.get(stage, StageCost()) + used
