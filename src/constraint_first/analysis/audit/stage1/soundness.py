"""Auditing a Stage 1 reply against the gold constraints of its problem.

Completeness: which gold constraints the reply states. Validity: which of its statements the gold
constraints imply or contain. Hallucination: which of its statements the true answer violates. What
free text leaves open is undecided and counted apart, and so are the range and the format that a
reply gives for the answer: they are no constraints. How it works: docs/constraintbench.md.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast, get_args

from constraint_first.analysis.audit.stage1.candidates import follows
from constraint_first.analysis.audit.stage1.implication import Knowledge, know
from constraint_first.answer.expression.value import read_answer
from constraint_first.benchmark.constraintbench.item import GoldConstraint, Item
from constraint_first.constraint.claim import Claim, names_of_answer, read_claims
from constraint_first.constraint.predicate import Predicate, parts, to_fraction, truth_of
from constraint_first.constraint.spec import ConstraintSpec
from constraint_first.problem import Json

__all__ = [
    "GOLD",
    "STATEMENTS",
    "Audit",
    "GoldStatus",
    "Statement",
    "StatementField",
    "StatementStatus",
    "audit",
    "statements",
]

GoldStatus: TypeAlias = Literal["stated", "not_stated", "undecided"]
"""Whether a reply states a gold constraint."""

StatementStatus: TypeAlias = Literal["valid", "hallucinated", "unsupported", "undecided"]
"""What a statement is worth. Unsupported: true of the answer, but the gold does not imply it."""

StatementField: TypeAlias = Literal["constraint", "range", "format"]
"""The place of a statement in a reply. Range and format speak about the answer by their place."""

GOLD: tuple[GoldStatus, ...] = get_args(GoldStatus)
STATEMENTS: tuple[StatementStatus, ...] = get_args(StatementStatus)


@dataclass(frozen=True, slots=True)
class Audit:
    """What became of each gold constraint and of each statement, in their order."""

    gold: tuple[GoldStatus, ...]
    constraints: tuple[StatementStatus, ...]
    """Of the constraints that the reply lists, raw and propagated."""
    answer_range: StatementStatus | None = None
    """Of the answer's likely range, which is no constraint; None where the reply gives none."""
    answer_format: StatementStatus | None = None

    @property
    def statements(self) -> tuple[StatementStatus, ...]:
        """Everything that the reply states."""
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
        """Sort what became of each statement by its place in the reply."""
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
    """One thing that a Stage 1 reply states."""

    text: str
    kind: str = ""
    field: StatementField = "constraint"


def statements(spec: ConstraintSpec) -> tuple[Statement, ...]:
    """List what a reply states, in its order: constraints, then the answer's range and format."""
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
    """Read a statement; what it says word for word like the gold speaks about the answer, too."""
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
    if len(about_answer) < len(claims) or not claims:
        return "undecided"
    if None in verdicts:
        return "undecided"
    return "valid" if all(follows(gold, one) for one in about_answer) else "unsupported"


def _true_of_answer(item: Item, gold: Knowledge, predicate: Predicate) -> bool | None:
    """Say whether the true answer satisfies a claim; None where the claim leaves that open."""
    if predicate["op"] == "least_residue" and not gold.states(predicate):
        # Small enough for the modulus is not reduced by it. A modulus that the problem never
        # mentions is made up; one that stands in its text may speak of an inner step.
        known = {*re.findall(r"\d+", item.text), *map(str, gold.ends())}
        return None if str(predicate["modulus"]) in known else False
    if gold.implies(predicate):
        return True
    reading = read_answer(item.answer)
    number = reading.number if reading else None
    match predicate["op"]:
        case "encoded":  # which code it is remains unsaid, but every code makes an integer
            return False if number is None or number.denominator != 1 else None
        case "rounded":
            exact = (
                number is not None and (number / to_fraction(predicate["unit"])).denominator == 1
            )
            return None if exact else False
        case "in_unit":
            units = [fact["unit"] for fact in gold.facts if fact["op"] == "in_unit"]
            return False if units else None
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
    """Say whether the reply as a whole states a gold constraint."""
    sound = [one for one, status in zip(read, statuses, strict=True) if status != "hallucinated"]
    claims = [claim for one in sound for claim in one]
    on_answer = know(claim.predicate for claim in claims if claim.subject == "answer")
    if follows(on_answer, gold.predicate) or _counted(gold.predicate, claims):
        return "stated"
    if know(claim.predicate for claim in claims).implies(gold.predicate):
        return "undecided"  # stated, but perhaps of something else
    unread = {
        statement.kind
        for statement, status in zip(stated, statuses, strict=True)
        if status == "undecided"
    }
    perhaps = gold.kind in unread or (_beyond_words(gold) and unread)
    return "undecided" if perhaps else "not_stated"


def _beyond_words(gold: GoldConstraint) -> bool:
    """Whether no claim of the grammar could state this constraint, however a reply puts it."""
    op, unit = gold.predicate["op"], gold.predicate.get("unit")
    inner_step = gold.kind == "structure" and op in ("encoded", "root", "one_of")
    return inner_step or unit == "things" or (gold.kind == "monotonic" and op == "all")


def _counted(predicate: Predicate, claims: list[Claim]) -> bool:
    """For a count, the conditions are on what is counted, whoever the claims speak about."""
    if predicate["op"] != "counts":
        return False
    known = know(claim.predicate for claim in claims)
    where = cast("list[dict[str, Json]]", predicate["where"])
    return all(known.implies(part) for one in where for part in parts(one))
