"""One stored attempt in full: its problem, every call and program, and how it ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson
import sqlalchemy as sa

from constraint_first.benchmark.gold_instruction import (
    GoldInstruction,
    describe_gold,
    name_gold,
    read_instructions,
)
from constraint_first.error import InputError
from constraint_first.evaluation import schema
from constraint_first.evaluation.judge import judge_reply
from constraint_first.evaluation.series_name import ALL_SERIES, SeriesRow, find_rows
from constraint_first.evaluation.shared_prompt import MODEL_AT
from constraint_first.evaluation.store import EXECUTED, Store
from constraint_first.evaluation.stored_prompt import read_prompts
from constraint_first.method.name import suggest
from constraint_first.problem import Json

__all__ = [
    "SeriesName",
    "StoredAttempt",
    "describe_cost",
    "explain_ending",
    "read_attempt",
    "write_seconds",
]

_MOST_NAMED: Final = 8
_COUNTS: Final = ("input_tokens", "output_tokens", "reasoning_tokens", "cached_tokens")
_ENDED: Final = ("status", "answer", "verdict", "tier", "error", "text", *_COUNTS)


@dataclass(frozen=True, slots=True)
class SeriesName:
    """What a person calls a series: its number or its method, where need be with more."""

    name: str
    benchmark: str | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class StoredAttempt:
    """All that is stored of an attempt; one that was not finished has no ending."""

    series: dict[str, Json]
    problem: dict[str, Json]
    run: int
    ending: dict[str, Json] | None
    details: dict[str, Json]
    steps: tuple[dict[str, Json], ...]
    """Calls, and programs (which have a ``program``), in their order."""

    @property
    def gold_name(self) -> str:
        """What kind of gold the problem has, in words."""
        return name_gold(self._gold)

    @property
    def gold_shown(self) -> str:
        """The gold answer, or the gold instructions in words; "none" where there is neither."""
        return "none" if self._gold is None else describe_gold(self._gold)

    @property
    def _gold(self) -> str | None:
        gold = self.problem["gold"]
        return None if gold is None else str(gold)

    @property
    def instructions(self) -> tuple[GoldInstruction, ...]:
        """The gold instructions that its reply is judged by; none where there is an answer."""
        return read_instructions(self._gold) or ()

    def to_json(self) -> dict[str, Json]:
        """Describe it for programs."""
        ended = self.ending or {"status": None}
        named: dict[str, Json] = {"series": self.series, "problem": self.problem, "run": self.run}
        said: dict[str, Json] = {"details": self.details, "steps": [*self.steps]}
        return named | ended | said


def read_attempt(store: Store, named: SeriesName, problem: str, run: int) -> StoredAttempt:
    """Find an attempt; a problem goes by its id, or by its place in the benchmark from 1 on."""
    series = _find_series(store, named)
    number, posed = _find_problem(store, series, problem)
    key = {"series": series.id, "problem": posed.id, "run": run}
    ended = _rows(store, schema.attempts, key)
    calls = _rows(store, schema.calls, key)
    if not ended and not calls:
        raise InputError(_not_there(store, series, posed, run))
    with store.reading():
        found = ended[0] if ended else None
        ending = {n: found[n] for n in (*_ENDED, "seconds", "finished_at")} if found else None
        return StoredAttempt(
            {n: getattr(series, n) for n in ("id", "benchmark", "method", "label", "model")}
            | {
                "decoding": orjson.loads(series.decoding),
                "prompts": _own_prompts(store, series.id),
            },
            {"id": posed.name, "number": number, "text": posed.text, "gold": posed.answer},
            run,
            ending,
            orjson.loads(found["details"]) if found else {},
            tuple(map(_step, calls)),
        )


def _rows(store: Store, table: sa.Table, key: dict[str, int]) -> list[Any]:
    query = sa.select(table).where(*(table.c[name] == value for name, value in key.items()))
    return [row._mapping for row in store.read(query.order_by(*table.primary_key))]


def _step(row: Any) -> dict[str, Json]:
    messages = orjson.loads(row["messages"])
    if row["finish"] == EXECUTED:
        source = "\n".join(str(message["content"]) for message in messages)
        done = {"output": row["text"], "error": row["reasoning"], "seconds": row["seconds"]}
        return {"stage": row["stage"], "program": source} | done
    answered = row["digest"][MODEL_AT - 1 :]
    return {
        "stage": row["stage"],
        **({"model": answered} if answered else {}),
        "messages": messages,
        "max_tokens": row["max_tokens"],
        "reply": row["text"],
        "reasoning": row["reasoning"],
        "finish": row["finish"],
        **{name: row[name] if row["reported"] else None for name in _COUNTS},
        "seconds": row["seconds"],
    }


def _own_prompts(store: Store, series: int) -> dict[str, Json]:
    with store.database.connect() as connection:
        return {**read_prompts(connection, series)}


def _find_series(store: Store, named: SeriesName) -> SeriesRow:
    rows = find_rows(store.read(ALL_SERIES))
    for what, wanted in (("benchmark", named.benchmark), ("model", named.model)):
        known = list(dict.fromkeys(getattr(row, what) for row in rows))
        if wanted is not None and wanted not in known:
            raise InputError(f"{store.url}: has no {what} {wanted!r}; {suggest(wanted, known)}")
        rows = [row for row in rows if wanted in (None, getattr(row, what))]
    if not rows:
        raise InputError(f"{store.url}: nothing has been run yet; run 'cfr eval' first")
    found = _called(rows, named.name)
    if not found:
        known = [str(row.id) if named.name.isdecimal() else row.method for row in rows]
        hint = suggest(named.name, list(dict.fromkeys(known)))
        raise InputError(
            f"{store.url}: has no series {named.name!r} ('cfr runs' lists them); {hint}"
        )
    if len(found) > 1:
        listed = ", ".join(f"{r.id} ({r.benchmark}, {r.model})" for r in found[:_MOST_NAMED])
        more = ", …" if len(found) > _MOST_NAMED else ""
        raise InputError(
            f"{store.url}: {named.name!r} is {len(found)} series: {listed}{more}; name one by its "
            "number, or narrow it down with --benchmark or --model"
        )
    return found[0]


def _called(rows: Sequence[SeriesRow], name: str) -> list[SeriesRow]:
    """Find the series of a number, else of a method's name, else of its label or family."""
    wanted = name.casefold()
    by_number = [row for row in rows if str(row.id) == name]
    by_method = [row for row in rows if row.method == name]
    by_label = [row for row in rows if wanted in (row.label.casefold(), _family(row.method))]
    return by_number or by_method or by_label


def _family(method: str) -> str:
    return method.partition("(")[0]


def _find_problem(store: Store, series: SeriesRow, name: str) -> tuple[int, sa.Row[Any]]:
    table = schema.problems
    query = sa.select(table).where(table.c.benchmark == series.benchmark).order_by(table.c.id)
    rows = list(enumerate(store.read(query), start=1))
    by_id = [(number, row) for number, row in rows if row.name == name]
    if found := by_id or [(number, row) for number, row in rows if str(number) == name]:
        return found[0]
    names = [row.name for _, row in rows]
    close = suggest(name, names) if names else ""
    hint = f"{close} " if close.startswith("did you") else ""
    raise InputError(
        f"{store.url}: {series.benchmark} has no problem {name!r}; {hint}"
        f"give its id (the first is {names[0]!r}) or its number, 1 to {len(names)}"
    )


def _not_there(store: Store, series: SeriesRow, posed: sa.Row[Any], run: int) -> str:
    where = f"{store.url}: series {series.id} ({series.method})"
    runs: set[int] = set()
    for table in (schema.attempts, schema.calls):
        same = (table.c.series == series.id, table.c.problem == posed.id)
        runs.update(number for (number,) in store.read(sa.select(table.c.run).where(*same)))
    if not runs:
        return f"{where} has no attempt at problem {posed.name} yet; 'cfr eval' makes it"
    listed = ", ".join(map(str, sorted(runs)[:_MOST_NAMED]))
    return f"{where} has no run {run} of problem {posed.name}; it has {listed}"


def describe_cost(step: Mapping[str, Any]) -> str:
    """Say what a call took: its tokens, how it finished, its seconds."""
    if step["input_tokens"] is None:
        tokens = "tokens not reported"
    else:
        thought = f" ({step['reasoning_tokens']:,} of them reasoning)"
        tokens = f"{step['input_tokens']:,} tokens in, {step['output_tokens']:,} out"
        tokens += thought if step["reasoning_tokens"] else ""
    limit = f"of at most {step['max_tokens']:,}, finish {step['finish']}"
    return f"{tokens} {limit}, {write_seconds(step)}"


def write_seconds(step: Mapping[str, Any]) -> str:
    """Write how long something took."""
    return f"{step['seconds']:.1f} s"


def explain_ending(found: StoredAttempt) -> Iterator[str]:
    """Say how the attempt ended and why it counts as it does."""
    if found.ending is None:
        yield f"not finished; {len(found.steps)} calls are stored, and 'cfr eval' goes on with them"
        return
    ending, gold = found.ending, found.gold_shown
    answer, verdict = ending["answer"], ending["verdict"]
    if ending["status"] == "failed":
        yield f"failed: {ending['error']}"
        yield "'cfr eval' makes it again"
        return
    if not found.instructions:
        yield _without_answer(ending["status"]) if answer is None else f"answer: {answer}"
    if verdict is None:
        yield "not judged: the problem has no gold answer"
    elif found.instructions:
        yield f"{verdict}: it {judge_reply(found.instructions, str(ending['text'])).why}"
    elif answer is None:
        yield f"{verdict}: there is no answer to compare with the gold answer {gold}"
    else:
        how = {"correct": "is", "incorrect": "is not"}.get(str(verdict), "may or may not be")
        yield f"{verdict}: it {how} the gold answer {gold} (compared by the {ending['tier']} tier)"
    used = f"{ending['input_tokens']:,} tokens in, {ending['output_tokens']:,} out"
    yield f"{used}, {write_seconds(ending)}"


def _without_answer(status: Json) -> str:
    if status == "truncated":
        return "no answer: a reply was cut off at its token limit"
    return "no answer: none could be read in the reply"
