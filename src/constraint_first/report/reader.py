"""Exported tables: what ``cfr export`` writes, in any of its formats, read back as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

import orjson

from constraint_first.attempt.judge import STATUSES
from constraint_first.benchmark.registry import read_gold, read_instructions
from constraint_first.constraint.stage1 import FEWEST_FIELDS, ConstraintSpec
from constraint_first.error import InputError
from constraint_first.file.rows import (
    NUMBER,
    TEXT,
    WHOLE,
    FieldError,
    FieldType,
    JsonLine,
    all_rows,
    one_of,
    plain_text,
    read_field,
    row_format,
)
from constraint_first.file.safe import expand_user, storable_text
from constraint_first.method.constraint_first import with_current_names
from constraint_first.method.method import MethodError
from constraint_first.method.registry import make
from constraint_first.problem import Json
from constraint_first.report.study import (
    Arm,
    Attempt,
    Extraction,
    ProblemText,
    StageCost,
    Study,
    Transcript,
    Transcripts,
    write_decoding,
)
from constraint_first.store import query as record
from constraint_first.store.database import StoreError
from constraint_first.store.query import RecordKey, attempt_columns
from constraint_first.store.store import Store

_PACKED: Final = ("decoding", "details", "stages")
"""Columns that hold JSON."""
_TRUTH: Final = {"true": True, "false": False, "1": True, "0": False}


def read_export(path: Path) -> Iterator[JsonLine]:
    """Read attempts from a file of rows in any format, in one form."""
    kind = row_format(path)
    rows = all_rows(path)
    if kind in (".csv", ".tsv"):
        kinds = attempt_columns() | {"correct": bool}
        return (replace(row, value=_unpacked(_typed(row.value, kinds))) for row in rows)
    if kind == ".parquet":
        return (replace(row, value=_unpacked(row.value)) for row in rows)
    return rows


def _typed(cells: Mapping[str, Json], kinds: Mapping[str, type]) -> dict[str, Json]:
    named = {name.lower(): cell for name, cell in cells.items()}
    return {
        name: _value(plain_text(str(cell)), kinds.get(name, str)) for name, cell in named.items()
    }


def _value(cell: str, kind: type) -> Json:
    """Read a cell as the type of its column; what is none is left for others to complain of."""
    if not cell:
        return None
    if kind is bool:
        return _TRUTH.get(cell.strip().lower(), cell)
    try:
        return kind(cell)
    except ValueError:
        return cell


def _unpacked(row: Mapping[str, Json]) -> dict[str, Json]:
    """Bring a row of a table into the form of a JSON line."""
    packed = {name: _parsed(row[name]) for name in _PACKED if name in row}
    # A status that is not there is no status; a verdict that is not there is one: not judged.
    return {n: v for n, v in {**row, **packed}.items() if n != "status" or v is not None}


def _parsed(value: Json) -> Json:
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value


# Outcome files: lines of attempts, whoever wrote them, brought into one form.

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


# Reader of studies: stores, files that ``cfr export`` wrote, anyone's outcomes.

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
