"""Reader of studies: stores, files of ``cfr export``, and outcomes of other programs."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

import orjson

from constraint_first.attempt.attempt import STATUSES
from constraint_first.benchmark.registry import read_gold, read_instructions
from constraint_first.constraint.stage1 import FEWEST_FIELDS, ConstraintSpec
from constraint_first.error import InputError
from constraint_first.file import rows
from constraint_first.file.safe import expand_user, storable_text
from constraint_first.method.constraint_first import with_current_names
from constraint_first.method.method import MethodError
from constraint_first.method.registry import make
from constraint_first.problem import Json
from constraint_first.report.study import (
    Arm,
    Extraction,
    Outcome,
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

# Files of attempts: rows of any format, normalized to typed fields.

_PACKED: Final = ("decoding", "details", "stages")
"""Columns that hold JSON."""
_TRUTH: Final = {"true": True, "false": False, "1": True, "0": False}


def read_export(path: Path) -> Iterator[rows.JsonLine]:
    """Read attempts from a file of rows in any format, each as ``cfr export`` writes JSON lines."""
    kind = rows.row_format(path)
    if kind not in (".csv", ".tsv", ".parquet"):
        yield from rows.all_rows(path)
        return
    kinds = attempt_columns() | {"correct": bool}
    for line in rows.all_rows(path):
        row = line.value
        if kind != ".parquet":
            cells = {name.lower(): rows.plain_text(str(cell)) for name, cell in row.items()}
            row = {name: _value(cell, kinds.get(name, str)) for name, cell in cells.items()}
        row = {**row, **{name: _parsed(row[name]) for name in _PACKED if name in row}}
        # A null status is like a missing column; a null verdict means that nothing was judged.
        if row.get("status", "") is None:
            del row["status"]
        yield line._replace(value=row)


def _value(cell: str, kind: type) -> Json:
    """Convert a cell to its column's type; an invalid cell is left for the check of its field."""
    if not cell:
        return None
    if kind is bool:
        return _TRUTH.get(cell.strip().lower(), cell)
    try:
        return kind(cell)
    except ValueError:
        return cell


def _parsed(value: Json) -> Json:
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value


_STATUS: Final = rows.one_of(STATUSES)
_VERDICTS: Final = ("correct", "incorrect", "undecided", None)
# 0 and 1 are equal to False and True; null means a failed attempt.
_CORRECT: Final[rows.FieldType[bool | None]] = rows.FieldType(
    "true or false", lambda value: value in (True, False, None)
)
_NAME: Final[rows.FieldType[str | int]] = rows.FieldType(
    'a text or a number (a line is {"problem", "method", "run", "correct"})',
    lambda value: value != "" and (rows.TEXT.fits(value) or rows.WHOLE.fits(value)),
)
_AMOUNT: Final[rows.FieldType[float]] = rows.FieldType(
    "a number from 0 up", lambda value: rows.NUMBER.fits(value) and 0 <= value <= 1e12
)
_TOKENS: Final = ("input_tokens", "output_tokens")
_COSTS: Final = ("calls", *_TOKENS, "seconds")


def outcome_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Read lines of ``cfr export`` or other programs in one form."""
    labels: dict[str, str] = {}
    runs: dict[tuple[str, ...], Iterator[int]] = {}
    for row in read_export(path):
        try:
            line = _line(row.value, labels, runs)
        except rows.FieldError as error:
            raise rows.FieldError(f"{path}, line {row.number}: {error}") from None
        yield row.number, line


def _line(
    row: Mapping[str, Json], labels: dict[str, str], runs: dict[tuple[str, ...], Iterator[int]]
) -> dict[str, Any]:
    row = with_current_names(row) if "label" in row or "finished_at" in row else row
    method, problem = (str(rows.read_field(row, n, _NAME)) for n in ("method", "problem"))
    arm = {name: _text(row, name) or "" for name in ("benchmark", "model")}
    arm |= {"method": method, "decoding": write_decoding(row.get("decoding"))}
    # Lines without a run are numbered in their order.
    counter = runs.setdefault((*arm.values(), problem), count())
    stages = _mapping(row, "stages").items()
    return {
        **row,
        **arm,
        **{name: _text(row, name) for name in ("problem_text", "answer", "text")},
        "gold": read_gold(row.get("gold"), "gold"),
        "label": _text(row, "label") or labels.setdefault(method, _label(method)),
        "problem": problem,
        "run": next(counter) if row.get("run") is None else rows.read_field(row, "run", rows.WHOLE),
        "details": _mapping(row, "details"),
        "stages": {name: _stage(used) for name, used in stages if isinstance(used, dict)},
        **{name: int(_amount(row, name)) for name in (*_TOKENS, "shared_tokens")},
        **{name: _amount(row, name) for name in ("seconds", "finished_at")},
        **_judged(row),
    }


def _text(row: Mapping[str, Json], field: str) -> str | None:
    """Read a text; answers may be JSON numbers."""
    value = row.get(field)
    return value if isinstance(value, str) or value is None else json.dumps(value)


def _judged(row: Mapping[str, Json]) -> dict[str, Json]:
    """Normalize ``correct`` and ``verdict``."""
    status = rows.read_field(row, "status", _STATUS) if "status" in row else "ok"
    if status == "failed":
        return {"status": status, "verdict": None}
    if "correct" in row:
        correct = rows.read_field(row, "correct", _CORRECT)
        verdict = None if correct is None else "correct" if correct else "incorrect"
        return {"status": "failed" if correct is None else status, "verdict": verdict}
    verdict = row.get("verdict", "")
    if verdict not in _VERDICTS:
        raise rows.FieldError("needs 'correct' (true or false)")
    return {"status": status, "verdict": verdict}


def _amount(row: Mapping[str, Json], name: str) -> float:
    """Read tokens or seconds; zero if missing."""
    return 0 if row.get(name) is None else rows.read_field(row, name, _AMOUNT)


def _stage(used: Mapping[str, Json]) -> StageCost:
    amounts = {name: _amount(used, name) for name in (*_COSTS, "cached_tokens")}
    return stage_cost({**amounts, "answered_by": _text(used, "model")})


def stage_cost(row: Mapping[str, Any]) -> StageCost:
    """Read the cost of a stage; cached tokens and the name of another model are optional."""
    calls, used_in, used_out, seconds = (row[name] for name in _COSTS)
    more = (int(row.get("cached_tokens") or 0), row.get("answered_by") or "")
    return StageCost(int(calls), int(used_in), int(used_out), float(seconds), *more)


def _mapping(row: Mapping[str, Json], field: str) -> dict[str, Json]:
    value = row.get(field)
    return value if isinstance(value, dict) else {}


@lru_cache  # an unknown name is searched for in all entry points
def _label(method: str) -> str:
    """Return the paper's name of a method; unknown methods keep their own names."""
    try:
        return make(method).label
    except MethodError:
        return method


# Studies: stores and files sorted into arms.

Source: TypeAlias = Study | Store | Path | str
"""A source of a study: a store (open, or its path or URL) or a file of attempts."""

_Raw = Mapping[str, Any]
_COPIED: Final = ("run", "status", *_TOKENS, "shared_tokens", "seconds", "finished_at")


class _Builder:
    def __init__(self) -> None:
        self.arms: dict[tuple[str, str, str, str], Arm] = {}
        self.problems: dict[tuple[str, str], ProblemText] = {}
        self._seen: set[tuple[int, str, int]] = set()

    def arm(self, row: _Raw) -> Arm:
        names = (str(row[name]) for name in ("benchmark", "method", "model", "decoding"))
        benchmark, method, model, decoding = key = cast("tuple[str, str, str, str]", tuple(names))
        if key not in self.arms:
            self.arms[key] = Arm(benchmark, method, str(row["label"]), model, decoding)
        return self.arms[key]

    def add(self, row: _Raw, details: Mapping[str, Json]) -> bool:
        """Add an attempt; return False if its run of its problem exists already."""
        arm, problem = self.arm(row), str(row["problem"])
        if (mark := (id(arm), problem, row["run"])) in self._seen:
            return False
        self._seen.add(mark)
        arm.attempts.setdefault(problem, []).append(_outcome(row, details))
        return True

    def study(self, source: str, transcripts: Transcripts) -> Study:
        """Build the study, with sorted runs, and arms in the order of their first attempt."""
        for arm in self.arms.values():
            for attempts in arm.attempts.values():
                attempts.sort(key=lambda attempt: attempt.run)
        return Study(source, tuple(self.arms.values()), self.problems, transcripts)


def open_study(sources: Source | Sequence[Source]) -> Study:
    """Read stores and files as one study; their attempts must be distinct.

    A store that is named by its path or URL is not kept open: it is opened again when transcripts
    are requested.
    """
    one = isinstance(sources, Study | Store | Path | str)
    studies = [_read(source) for source in ([sources] if one else sources)]
    return studies[0] if len(studies) == 1 else _joined(studies)


def _read(source: Source) -> Study:
    if isinstance(source, Study):
        return source
    if isinstance(source, Store):
        return read_store(source)
    if rows.row_format(Path(source)):
        return read_file(Path(source))

    def transcripts(wanted: Collection[RecordKey]) -> dict[RecordKey, Transcript]:
        with existing_store(str(source)) as store:
            return _store_transcripts(store, wanted)

    with existing_store(str(source)) as store:
        return replace(read_store(store), transcripts=transcripts)


def existing_store(url: str) -> Store:
    """Open an existing store; a mistyped name must not create a new one."""
    if rows.row_format(Path(url)):
        readers = "'cfr compare', 'report', 'audit' and 'calibrate' read those"
        raise StoreError(f"{url}: a file of attempts, not a store; {readers}; name a store here")
    if "://" not in url and not expand_user(url).is_file():
        raise StoreError(f"{url}: there is no such store; run 'cfr eval' first, or name one")
    return Store(url, existing=True)


def _joined(studies: Sequence[Study]) -> Study:
    sources: dict[tuple[str, str, str, str], str] = {}
    for study in studies:
        for arm in study.arms:
            if arm.key in sources:
                what = f"{arm.method} on {arm.benchmark} with {arm.model}"
                way = "name one of the two, or join them with 'cfr merge'"
                raise InputError(f"{study.source}: {what} is in {sources[arm.key]} too; {way}")
        sources |= dict.fromkeys((arm.key for arm in study.arms), study.source)

    def transcripts(wanted: Collection[RecordKey]) -> dict[RecordKey, Transcript]:
        return {key: value for s in studies for key, value in s.transcripts(wanted).items()}

    problems = {key: posed for study in studies for key, posed in study.problems.items()}
    source = ", ".join(study.source for study in studies)
    return Study(source, tuple(arm for s in studies for arm in s.arms), problems, transcripts)


def read_store(store: Store) -> Study:
    """Read an open store; long texts are loaded on request."""
    builder = _Builder()
    for row in record.problem_rows(store):
        builder.problems[row["benchmark"], row["name"]] = ProblemText(row["text"], row["answer"])
    with store.reading():
        for row in record.outcome_rows(store):
            builder.add(row, orjson.loads(row["details"]))
    for row in record.stage_rows(store):
        builder.arm(row).stages[row["stage"]] = stage_cost(row)
    return builder.study(store.url, lambda wanted: _store_transcripts(store, wanted))


def _store_transcripts(store: Store, wanted: Collection[RecordKey]) -> dict[RecordKey, Transcript]:
    def fits(key: RecordKey) -> bool:
        """Whether a database can store a key: queries for other keys raise errors."""
        *names, run = key
        return all(storable_text(str(name)) == name for name in names) and -(2**63) <= run < 2**63

    found = record.transcript_rows(store, list(filter(fits, wanted)))
    with store.reading():
        return {key: _transcript(row, orjson.loads(row["details"])) for key, row in found}


def read_file(path: Path) -> Study:
    """Read a file of attempts: JSON Lines, CSV or Parquet.

    A line needs ``problem``, ``method``, ``run`` and ``correct``; lines of ``cfr export`` have
    ``verdict`` and ``status`` instead of the last, and all other fields.
    """
    builder = _Builder()
    for number, row in outcome_lines(path):
        if not builder.add(row, row["details"]):
            what = f"run {row['run']} of problem {row['problem']} by {row['method']}"
            raise InputError(f"{path}, line {number}: {what} is there twice; leave one out")
        if row["problem_text"] is not None or row["gold"] is not None:
            posed = ProblemText(row["problem_text"] or "", row["gold"])
            builder.problems[row["benchmark"], row["problem"]] = posed
        if row["verdict"] is not None:
            stages = builder.arm(row).stages
            for stage, used in row["stages"].items():
                stages[stage] = stages.get(stage, StageCost()) + used

    def transcripts(wanted: Collection[RecordKey]) -> dict[RecordKey, Transcript]:
        keys, found = set(wanted), dict[RecordKey, Transcript]()
        names = ("benchmark", "method", "model", "decoding", "problem", "run")
        for _, row in outcome_lines(path):
            key = cast("RecordKey", tuple(row[name] for name in names))
            if key in keys:
                found[key] = _transcript(row, row["details"])
        return found

    return builder.study(str(path), transcripts)


def _outcome(row: _Raw, details: Mapping[str, Json]) -> Outcome:
    routed = details.get("routed")
    return Outcome(
        **{name: row[name] for name in _COPIED},
        **_graded(row),
        routed=routed if isinstance(routed, bool) else None,
        extraction=_extraction(details),
        intervened=bool(details.get("interventions")),
    )


def _transcript(row: _Raw, details: Mapping[str, Json]) -> Transcript:
    return Transcript(
        text=str(row.get("text") or ""),
        **_graded(row),
        tokens=row["input_tokens"] + row["output_tokens"],
        constraints=_spec(details),
        details=details,
    )


def _graded(row: _Raw) -> dict[str, Any]:
    """Return the verdict, and the answer unless gold instructions judge the whole reply."""
    verdict = row["verdict"]
    return {
        "correct": None if verdict is None else verdict == "correct",
        "answer": row["answer"] if read_instructions(row["gold"]) is None else None,
    }


def _extraction(details: Mapping[str, Json]) -> Extraction | None:
    rung = details.get("rung")
    if not isinstance(rung, str):
        return None
    spec = _spec(details)
    if spec is None:
        return Extraction(rung)
    # Earlier versions accepted a single field from a damaged reply but not from an intact one.
    if rung == "parsed":
        rung = rung if spec.restricts else "empty"
    elif rung in ("repaired", "fields") and len(spec.restricting) < FEWEST_FIELDS:
        rung = "fallback"
    named = set(spec.critical_constraints)
    for one in spec.propagated_constraints:
        named.update(one.derived_from if one.id in named else ())
    kinds = tuple(one.type for one in spec.raw_constraints)
    critical = tuple(one.type for one in spec.raw_constraints if one.id in named)
    return Extraction(rung, kinds, len(spec.propagated_constraints), critical)


def _spec(details: Mapping[str, Json]) -> ConstraintSpec | None:
    found = details.get("constraints")
    return ConstraintSpec.from_mapping(found) if isinstance(found, dict) else None
