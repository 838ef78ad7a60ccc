"""Implication between predicates: by intervals, congruences and forms, without enumeration.

The reasoning is sound but not complete: "implied" is always right, "not implied" may be due to a
missing rule.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import isqrt
from random import Random
from typing import Final, Literal, TypeAlias, cast

from constraint_first.answer.value import AnswerValue, read_answer
from constraint_first.benchmark.constraintbench.family import (
    GoldConstraint,
    Item,
    find_item,
    is_constraintbench,
)
from constraint_first.constraint.claim import Claim, names_of_answer, read_claims
from constraint_first.constraint.predicate import Predicate, holds, parts, to_fraction, truth_of
from constraint_first.constraint.stage1 import DEFERRED, ConstraintSpec
from constraint_first.problem import Json
from constraint_first.report.study import Arm, Study
from constraint_first.store.query import RecordKey


@dataclass(slots=True)
class Knowledge:
    """Knowledge of an answer: an interval, congruences, and all facts in their original form."""

    ends: dict[int, tuple[Fraction, bool]] = field(default_factory=dict[int, tuple[Fraction, bool]])
    """At 1 the lower end of the interval, at -1 the negated upper end; each with whether it is
    open."""
    whole: bool = False
    congruences: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    facts: list[Predicate] = field(default_factory=list[Predicate])

    def learn(self, predicate: Predicate) -> None:
        """Add one predicate and its immediate consequences."""
        self.facts.append(predicate)
        match predicate["op"]:
            case "between" | "measured":
                self._bound(1, predicate.get("low"))
                self._bound(-1, predicate.get("high"))
            case "above" | "below" as op:
                self._bound(1 if op == "above" else -1, predicate["value"], is_open=True)
            case "least_residue":
                self._integers(0, int(to_fraction(predicate["modulus"])) - 1)
            case "divides":
                self._integers(1, int(to_fraction(predicate["number"])))
            case "integer":
                self._integers()
            case "digits_ordered" | "digit_sum" | "square":
                self._integers(0)
            case "congruent" | "divisible" | "parity":
                self._integers()
                self.congruences.append(_congruence(predicate))
            case "rounded" if to_fraction(predicate["unit"]) == 1:
                self._integers()
            case "encoded" | "counts":
                self._learn_pinned(predicate)
            case _:
                pass

    def _learn_pinned(self, predicate: Predicate) -> None:
        modulus = predicate.get("modulus")
        self._integers(0, int(to_fraction(modulus)) - 1 if modulus else None)
        if modulus:
            self.facts.append({"op": "least_residue", "modulus": modulus})
        if predicate["op"] == "counts":
            self._bound(-1, cast("int", predicate["high"]) - cast("int", predicate["low"]) + 1)
        elif not modulus and predicate.get("rule") in ("m+n", "a+b"):
            self._bound(1, 2)  # both parts are positive integers

    def _integers(self, low: int | None = None, high: int | None = None) -> None:
        self.whole = True
        self._bound(1, low)
        self._bound(-1, high)

    def _bound(self, side: int, value: Json, *, is_open: bool = False) -> None:
        if value is not None:
            # Of two equal ends the open one is the stronger condition.
            end = (side * to_fraction(value), is_open)
            self.ends[side] = max(self.ends.get(side, end), end)

    def end(self, side: int) -> Fraction | None:
        return side * self.ends[side][0] if side in self.ends else None

    def implies(self, predicate: Predicate) -> bool:
        """Whether every answer that is consistent with the knowledge satisfies the predicate."""
        op = predicate["op"]
        if op == "all":
            return all(self.implies(one) for one in parts(predicate))
        if op == "integer" or (op == "decimals" and self.whole):
            return self.whole
        if op == "least_residue":
            top = str(to_fraction(predicate["modulus"]) - 1)
            return self.whole and self._beyond(1, 0) and self._beyond(-1, top)
        if op == "between":
            return self._beyond(1, predicate.get("low")) and self._beyond(-1, predicate.get("high"))
        if op in ("above", "below"):
            return self._beyond(1 if op == "above" else -1, predicate["value"], strictly=True)
        if op in ("congruent", "divisible", "parity"):
            residue, modulus = _congruence(predicate)
            return any(
                m % modulus == 0 and (r - residue) % modulus == 0 for r, m in self.congruences
            )
        return any(_covers(fact, predicate) for fact in self.facts)

    def _beyond(self, side: int, value: Json, *, strictly: bool = False) -> bool:
        """Whether the answer is at least (strictly: above) the value; side -1: at most (below)."""
        if value is None:
            return True
        if side not in self.ends:
            return False
        end, is_open = self.ends[side]
        if self.whole and is_open:
            end, is_open = end.__floor__() + 1, False  # a whole number above 4 is at least 5
        bound = side * to_fraction(value)
        return end > bound or (end == bound and (is_open or not strictly))


def know(predicates: Iterable[Predicate]) -> Knowledge:
    """Combine several predicates."""
    knowledge = Knowledge()
    for predicate in predicates:
        for one in parts(predicate):
            knowledge.learn(one)
    return knowledge


def _congruence(predicate: Predicate) -> tuple[int, int]:
    match predicate["op"]:
        case "parity":
            return (1 if predicate["parity"] == "odd" else 0), 2
        case "divisible":
            return 0, cast("int", predicate["by"])
        case _:
            return cast("int", predicate["residue"]), cast("int", predicate["modulus"])


# The arguments that two predicates of one op must share to be equivalent. Free text rarely has the
# others: "rounded to the nearest tenth" is a complete statement.
_ESSENTIAL = {"encoded": (), "in_unit": ("unit",), "measured": ("unit",)}


def _covers(fact: Predicate, predicate: Predicate) -> bool:
    op, known = predicate["op"], fact["op"]
    if op == known and isinstance(op, str):
        if op == "rounded":
            return to_fraction(fact["unit"]) == to_fraction(predicate["unit"])
        essential = _ESSENTIAL.get(op, tuple(predicate))
        return all(fact.get(name) == predicate.get(name) for name in essential)
    if (op, known) in (("in_unit", "measured"), ("measured", "in_unit")):
        return fact.get("unit") == predicate.get("unit")
    # Every m + n code implies a fraction in lowest terms; a value written as a fraction is not
    # whole.
    return (op == "reduced" and known == "encoded") or (
        op == "not_whole" and fact.get("form") == "fraction"
    )


# Implication by enumeration, if only a few values satisfy a set of predicates.
#
# "An even divisor of 66 between 7 and 27" is only 22, so "it is a multiple of 11" follows,
# although no single predicate implies it. Only small finite sets are enumerated.

_MOST = 5000
# Ops on the value itself. Those that determine the answer (encoded, counts, …) are left out: with
# them every true statement would follow.
_PLAIN = frozenset(
    (
        "integer", "not_whole", "between", "above", "below", "least_residue", "congruent",
        "divisible", "parity", "divides", "square", "digit_sum", "digits_ordered", "root",
        "one_of",
    )
)  # fmt: skip


def follows(known: Knowledge, predicate: Predicate) -> bool:
    """Whether a predicate is implied, by the rules or by enumeration of the remaining values."""
    if known.implies(predicate):
        return True
    wanted = list(parts(predicate))
    if not all(one["op"] in _PLAIN for one in wanted):
        return False
    facts = [fact for fact in known.facts if fact["op"] in _PLAIN]
    left = [value for value in _finite(known, facts) if _satisfies(value, facts)]
    return bool(left) and all(_satisfies(value, wanted) for value in left)


def _satisfies(value: Fraction, predicates: Iterable[Predicate]) -> bool:
    return all(holds(one, AnswerValue(value)) == "holds" for one in predicates)


def _finite(known: Knowledge, facts: Iterable[Predicate]) -> list[Fraction]:
    """List all values that may satisfy the facts; empty if they may be too many."""
    for fact in facts:
        if fact["op"] == "root":
            return _roots(cast("list[int]", fact["coefficients"]))
        if fact["op"] == "one_of":
            return [to_fraction(value) for value in cast("list[Json]", fact["values"])]
    low, high = known.end(1), known.end(-1)
    if low is None or high is None:
        return []
    if low == high:
        return [low]
    if not known.whole or high - low > _MOST:
        return []
    return [Fraction(value) for value in range(low.__ceil__(), high.__floor__() + 1)]


def _roots(coefficients: list[int]) -> list[Fraction]:
    """Solve a quadratic equation; empty for irrational roots or another degree."""
    if len(coefficients) != 3 or not coefficients[0]:
        return []
    a, b, c = coefficients
    square = b * b - 4 * a * c
    if square < 0 or isqrt(square) ** 2 != square:
        return []
    return [Fraction(-b + sign * isqrt(square), 2 * a) for sign in (-1, 1)]


# Auditing a Stage 1 reply against the gold constraints of its problem.
#
# Completeness: which gold constraints the reply states. Validity: which of its statements the gold
# constraints imply or contain. Hallucination: which of its statements the true answer violates.
# Ambiguous statements are undecided and counted separately, as are the range and the format that a
# reply gives for the answer: they are no constraints. How it works: docs/constraintbench.md.

GoldStatus: TypeAlias = Literal["stated", "not_stated", "undecided"]
"""Whether a reply states a gold constraint."""

StatementStatus: TypeAlias = Literal["valid", "hallucinated", "unsupported", "undecided"]
"""The status of a statement. Unsupported: true of the answer, but not implied by the gold."""

StatementField: TypeAlias = Literal["constraint", "range", "format"]
"""The place of a statement in a reply. Statements of range and format are always about the
answer."""


@dataclass(frozen=True, slots=True)
class Audit:
    """The status of each gold constraint and of each statement, in their order."""

    gold: tuple[GoldStatus, ...]
    constraints: tuple[StatementStatus, ...]
    """The status of each constraint in the reply, raw and propagated."""
    answer_range: StatementStatus | None = None
    """The status of the answer's likely range, which is no constraint; None without a range."""
    answer_format: StatementStatus | None = None

    @property
    def statements(self) -> tuple[StatementStatus, ...]:
        apart = (self.answer_range, self.answer_format)
        found: tuple[StatementStatus, ...] = tuple(one for one in apart if one)
        return (*self.constraints, *found)

    @classmethod
    def of_statements(
        cls,
        gold: Iterable[GoldStatus],
        stated: Sequence[Statement],
        statuses: Sequence[StatementStatus],
    ) -> Audit:
        """Group the statuses of statements by their places in the reply."""
        found: dict[StatementField, list[StatementStatus]] = defaultdict(list)
        for one, status in zip(stated, statuses, strict=True):
            found[one.field].append(status)
        return cls(
            tuple(gold),
            tuple(found["constraint"]),
            next(iter(found["range"]), None),
            next(iter(found["format"]), None),
        )


@dataclass(frozen=True, slots=True)
class Statement:
    text: str
    kind: str = ""
    field: StatementField = "constraint"


def statements(spec: ConstraintSpec) -> tuple[Statement, ...]:
    return tuple(
        statement
        for statement in (
            *(Statement(one.description, one.type) for one in spec.raw_constraints),
            *(Statement(one.description) for one in spec.propagated_constraints),
            Statement(spec.likely_answer_range, "bound", "range"),
            Statement(spec.answer_format, "format", "format"),
        )
        if statement.text.strip()
    )


def audit(item: Item, spec: ConstraintSpec) -> Audit:
    """Compare what one reply states with the gold constraints of its problem."""
    names = names_of_answer(item.text)
    gold = know(one.predicate for one in item.constraints)
    numbers = {number for one in item.constraints for number in _numbers(one.predicate)}
    stated = statements(spec)
    read = [_claims(statement, names, gold, numbers) for statement in stated]
    statuses: tuple[StatementStatus, ...] = tuple(_judge(item, gold, claims) for claims in read)
    found: list[GoldStatus] = [_found(one, stated, read, statuses) for one in item.constraints]
    return Audit.of_statements(found, stated, statuses)


def _claims(
    statement: Statement, names: frozenset[str], gold: Knowledge, numbers: set[str]
) -> list[Claim]:
    """Read claims of a statement; those that repeat a gold constraint are about the answer too."""
    return [
        Claim(claim.predicate)
        if statement.field != "constraint" or _echoes(claim.predicate, gold, numbers)
        else claim
        for claim in read_claims(statement.text, names)
    ]


def _echoes(predicate: Predicate, gold: Knowledge, numbers: set[str]) -> bool:
    """Whether a claim about "n" repeats a gold constraint on the answer, numbers and all."""
    own = _numbers(predicate)
    telling = bool(own) or predicate["op"] in ("parity", "square", "digits_ordered")
    return telling and own <= numbers and own != {"0"} and gold.implies(predicate)


def _numbers(predicate: Predicate) -> set[str]:
    return set(re.findall(r"\d+", " ".join(map(str, predicate.values()))))


def _judge(item: Item, gold: Knowledge, claims: list[Claim]) -> StatementStatus:
    about_answer = [claim.predicate for claim in claims if claim.subject == "answer"]
    verdicts = [_true_of_answer(item, gold, predicate) for predicate in about_answer]
    if False in verdicts:
        return "hallucinated"
    if len(about_answer) < len(claims) or not claims or None in verdicts:
        return "undecided"
    return "valid" if all(follows(gold, one) for one in about_answer) else "unsupported"


def _true_of_answer(item: Item, gold: Knowledge, predicate: Predicate) -> bool | None:
    """Whether the true answer satisfies a claim; None if the claim is ambiguous."""
    if predicate["op"] == "least_residue" and predicate not in gold.facts:
        # An answer below the modulus need not be a remainder. A modulus that the problem never
        # mentions is invented; one in its text may belong to an inner step.
        known = {*re.findall(r"\d+", item.text), str(gold.end(1)), str(gold.end(-1))}
        return None if str(predicate["modulus"]) in known else False
    if gold.implies(predicate):
        return True
    reading = read_answer(item.answer)
    number = reading.number if reading else None
    match predicate["op"]:
        case "encoded":  # the code is unknown, but every code is an integer
            return False if number is None or number.denominator != 1 else None
        case "rounded":
            exact = (
                number is not None and (number / to_fraction(predicate["unit"])).denominator == 1
            )
            return None if exact else False
        case "in_unit":
            return False if any(fact["op"] == "in_unit" for fact in gold.facts) else None
        case "form" if predicate["form"] == "fraction" and reading and reading.form == "decimal":
            return None
        case "reduced":
            return None if reading is None or reading.form != "fraction" else reading.reduced
        case _:
            return {"holds": True, "violated": False}.get(truth_of(predicate, item.answer))


def _found(
    gold: GoldConstraint,
    stated: Sequence[Statement],
    read: Sequence[list[Claim]],
    statuses: Sequence[StatementStatus],
) -> GoldStatus:
    """Return whether the reply as a whole states a gold constraint."""
    sound = [one for one, status in zip(read, statuses, strict=True) if status != "hallucinated"]
    claims = [claim for one in sound for claim in one]
    on_answer = know(claim.predicate for claim in claims if claim.subject == "answer")
    everything = know(claim.predicate for claim in claims)
    if follows(on_answer, gold.predicate) or _counted(gold.predicate, everything):
        return "stated"
    if everything.implies(gold.predicate):
        return "undecided"  # stated, but perhaps of another quantity
    unread = {
        statement.kind
        for statement, status in zip(stated, statuses, strict=True)
        if status == "undecided"
    }
    perhaps = gold.kind in unread or (_beyond_words(gold) and unread)
    return "undecided" if perhaps else "not_stated"


def _beyond_words(gold: GoldConstraint) -> bool:
    """Whether the grammar of claims cannot express this constraint."""
    op, unit = gold.predicate["op"], gold.predicate.get("unit")
    inner_step = gold.kind == "structure" and op in ("encoded", "root", "one_of")
    return inner_step or unit == "things" or (gold.kind == "monotonic" and op == "all")


def _counted(predicate: Predicate, known: Knowledge) -> bool:
    """For a count, the conditions are on the counted objects: any subject of a claim matches."""
    if predicate["op"] != "counts":
        return False
    where = cast("list[dict[str, Json]]", predicate["where"])
    return all(known.implies(part) for one in where for part in parts(one))


# Stage 1 against the gold constraints of ConstraintBench (paper: Stage 1 Constraint Reliability).
#
# Other benchmarks have no gold constraints; there the rates come from annotators.

_SAMPLE: Final = 200


@dataclass(frozen=True, slots=True)
class Quality:
    """Soundness and completeness of the constraints that Stage 1 lists."""

    validity: float | None
    """From 0 to 1, as are the others; None if nothing was decided."""
    hallucination: float | None
    n: float
    """The denominator of both shares."""
    completeness: float | None = None
    """The share of the gold constraints that replies state."""
    expected: float = 0
    """The denominator of that share."""
    by_gold: bool = False
    """Whether the rates come from gold constraints; otherwise from annotators."""
    statements: int = 0
    """Constraints in the audited replies, including undecided ones."""
    audited: int = 0
    """Audited replies, a sample of ``replies``."""
    replies: int = 0
    apart: Mapping[str, Quality] = field(default_factory=dict[str, "Quality"])
    """The range and the format that replies give for the answer, which are no constraints."""


def gold_item(study: Study, benchmark: str, problem: str) -> Item | None:
    """Find the ConstraintBench item of a problem; None for other problems."""
    item = find_item(problem) if is_constraintbench(benchmark) else None
    asked = study.problems.get((benchmark, problem))
    return item if item and (asked is None or asked.text == item.text) else None


def gold_quality(study: Study, sample: int = _SAMPLE) -> dict[tuple[str, str], Quality]:
    """Audit a sample of the Stage 1 replies to ConstraintBench, by model and method."""
    wanted: dict[tuple[str, str], list[tuple[RecordKey, Item]]] = {}
    for arm in study.main_arms():
        wanted.setdefault((arm.model, arm.method), []).extend(_audited(study, arm))
    drawn = {
        # S311 does not apply: a sample needs no cryptographic randomness.
        group: found if len(found) <= sample else Random(0).sample(found, sample)  # noqa: S311
        for group, found in wanted.items()
        if found
    }
    # A single lookup for all, because each lookup reads a whole file of attempts.
    said = study.transcripts([key for found in drawn.values() for key, _ in found])
    made: dict[tuple[str, str], Quality] = {}
    for group, found in drawn.items():
        specs = [(item, said[key].constraints) for key, item in found if key in said]
        audits = [audit(item, spec) for item, spec in specs if spec]
        made[group] = _quality(audits, len(wanted[group]))
    return made


def _audited(study: Study, arm: Arm) -> Iterable[tuple[RecordKey, Item]]:
    for problem, attempts in arm.attempts.items():
        if item := gold_item(study, arm.benchmark, problem):
            for attempt in attempts:
                if (said := attempt.extraction) and said.rung not in DEFERRED:
                    yield (*arm.key, problem, attempt.run), item


def _quality(audits: Sequence[Audit], replies: int) -> Quality:
    found = [status for one in audits for status in one.gold]
    decided = len(found) - found.count("undecided")
    apart: dict[str, list[StatementStatus]] = {
        "answer range": [one.answer_range for one in audits if one.answer_range],
        "answer format": [one.answer_format for one in audits if one.answer_format],
    }
    return replace(
        _worth([status for one in audits for status in one.constraints]),
        completeness=found.count("stated") / decided if decided else None,
        expected=decided,
        audited=len(audits),
        replies=replies,
        apart={name: _worth(statuses) for name, statuses in apart.items() if statuses},
    )


def _worth(statuses: Sequence[StatementStatus]) -> Quality:
    decided = len(statuses) - statuses.count("undecided")
    valid, made_up = (
        statuses.count(status) / decided if decided else None
        for status in ("valid", "hallucinated")
    )
    return Quality(valid, made_up, decided, by_gold=True, statements=len(statuses))
