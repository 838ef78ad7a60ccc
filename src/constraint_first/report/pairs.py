"""Pairs of a problem and its constraints, to train a model that extracts them.

Paper: appendix, "Learned constraint extraction". The pairs come from Stage 1 of stored attempts. A
pair is kept only where nothing speaks against its constraints: not the way its reply was read, not
the problem's text, not the gold, not the marks of people.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, cast

import orjson

from constraint_first.benchmark.constraintbench.family import find_item, is_constraintbench
from constraint_first.constraint.claim import contradicts, names_of_answer, read_claims
from constraint_first.constraint.predicate import truth_of
from constraint_first.constraint.stage1 import ConstraintSpec, Limit
from constraint_first.constraint.stated.read import read_stated
from constraint_first.file.rows import row_format
from constraint_first.method.constraint_first import CFR
from constraint_first.method.method import MethodError, parts_of
from constraint_first.method.registry import make, plain_name
from constraint_first.problem import Json, Problem
from constraint_first.report.exhibit.gold import audit, statements
from constraint_first.report.exhibit.marks import Label, by_attempt, refuse_mismatch
from constraint_first.report.reader import existing_store, outcome_lines
from constraint_first.report.study import Transcript
from constraint_first.store.query import RecordKey, attempt_rows

PairPrompt: TypeAlias = Literal["stage1", "problem"]
"""What the user says in a pair: Stage 1's own prompt, or the text of the problem alone."""

_KEY: Final = ("benchmark", "method", "model", "decoding", "problem", "run")
_Row: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PairRules:
    """What a pair must meet beyond what all must, and how it is written."""

    labels: Sequence[Label] = ()
    """Marks of people; those of other attempts are passed over."""
    right: bool = False
    """Whether the attempt must have ended with the right answer."""
    prompt: PairPrompt = "stage1"


@dataclass(frozen=True, slots=True)
class TrainingPair:
    key: RecordKey
    problem: str
    spec: ConstraintSpec

    def messages(self, prompt: PairPrompt) -> list[dict[str, Json]]:
        asked = self.problem
        if prompt == "stage1":
            (message,) = _asking(self.key).extraction(Problem(self.problem)).messages
            asked = message.content
        reply = json.dumps(self.spec.to_json(), ensure_ascii=False)
        return [{"role": "user", "content": asked}, {"role": "assistant", "content": reply}]


@dataclass(slots=True)
class TrainingPairs:
    """The pairs that were kept, in an order that the store does not decide, and the rest."""

    kept: list[TrainingPair] = field(default_factory=list[TrainingPair])
    dropped: Counter[str] = field(default_factory=Counter[str])
    """How many were dropped, by the first reason for it."""
    marked: int = 0
    """How many of all, kept and dropped, people had judged."""

    @property
    def benchmarks(self) -> dict[str, int]:
        return dict(sorted(Counter(pair.key[0] for pair in self.kept).items()))


def pair_rows(source: str) -> Iterator[_Row]:
    """Read the attempts of a store, or of a file that ``cfr export`` wrote."""
    if row_format(Path(source)):
        for _, row in outcome_lines(Path(source)):
            yield row
        return
    with existing_store(source) as store:
        for row in attempt_rows(store):
            yield row | {"details": orjson.loads(row["details"])}


def collect_pairs(rows: Iterable[_Row], rules: PairRules, source: str) -> TrainingPairs:
    """Take the pairs out of attempts; those without a Stage 1 are no candidates."""
    found, judged = TrainingPairs(), by_attempt(rules.labels)
    candidates: list[TrainingPair] = []
    for row in rows:
        if not isinstance(row["details"].get("rung"), str):
            continue
        pair = _pair(row)
        marks = judged.get(pair.key, [])
        found.marked += bool(marks)
        refuse_mismatch(marks, {pair.key: Transcript("", None, None, 0, pair.spec)}, source)
        if reason := _flaw(row, pair, marks, rules):
            found.dropped[reason] += 1
        else:
            candidates.append(pair)
    once: dict[str, TrainingPair] = {}
    for pair in sorted(candidates, key=lambda one: one.key):
        once.setdefault(json.dumps(pair.messages(rules.prompt)), pair)
    found.kept = [*once.values()]
    if twice := len(candidates) - len(found.kept):
        found.dropped["the same pair is there already"] = twice
    return found


def _pair(row: _Row) -> TrainingPair:
    listed = row["details"].get("constraints")
    fields = cast("dict[str, Json]", listed) if isinstance(listed, dict) else {}
    spec = ConstraintSpec.from_mapping(fields)
    key = cast("RecordKey", tuple(row[name] for name in _KEY))
    return TrainingPair(key, row["problem_text"] or "", spec)


def _flaw(row: _Row, pair: TrainingPair, marks: Sequence[Label], rules: PairRules) -> str:
    """Say why a pair is dropped; empty where it is kept. What is quickly seen comes first."""
    spec = pair.spec
    if row["details"]["rung"] != "parsed" or not spec.restricts:
        return "the reply was damaged or lists nothing"
    if not pair.problem.strip():
        return "the problem's text is not on record"
    if rules.right and row["verdict"] != "correct":
        return "the attempt did not end right"
    if any(one.mark != "entailed" for label in marks for one in label.constraints):
        return "a person marked a constraint as not entailed or vague"
    if any(label.missing for label in marks):
        return "a person found a constraint missing"
    if rules.prompt == "stage1" and _is_long(spec, _asking(pair.key).limit):
        return "it lists more than the prompt allows"
    if _breaks_gold(pair, row["gold"]):
        return "a constraint is false of the gold answer"
    if _breaks_text(pair):
        return "a constraint contradicts the problem's text"
    return ""


def _is_long(spec: ConstraintSpec, limit: Limit | None) -> bool:
    raw, propagated = len(spec.raw_constraints), len(spec.propagated_constraints)
    return limit is not None and (raw > limit.raw or propagated > limit.propagated)


def _asking(key: RecordKey) -> CFR:
    """Find the two stages of the method that made an attempt; the paper's where it is not known."""
    return _stages_of(key[1])


@cache
def _stages_of(method: str) -> CFR:
    try:
        made = make(plain_name(method))
    except MethodError:
        return CFR()
    return next((one for one in parts_of(made) if isinstance(one, CFR)), CFR())


def _breaks_gold(pair: TrainingPair, gold: str | None) -> bool:
    """Whether the gold contradicts a constraint: gold constraints where there are any."""
    benchmark, *_, problem, _ = pair.key
    item = find_item(str(problem)) if is_constraintbench(benchmark) else None
    if item and item.text == pair.problem:
        return "hallucinated" in audit(item, pair.spec).statements
    if not gold:
        return False
    names = names_of_answer(pair.problem)
    return any(
        truth_of(claim.predicate, gold) == "violated"
        for statement in statements(pair.spec)
        for claim in read_claims(statement.text, names)
        if claim.subject == "answer"
    )


def _breaks_text(pair: TrainingPair) -> bool:
    stated = read_stated(pair.problem)
    said = statements(pair.spec) if stated else ()
    return any(contradicts(stated, one.text, pair.problem) for one in said)
