"""A ConstraintBench problem with its gold constraints, and the line of JSON that holds it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from constraint_first.answer.expression.value import FORMS, Form
from constraint_first.constraint.predicate import Predicate
from constraint_first.constraint.spec import KINDS, Kind
from constraint_first.file.field import (
    FILLED,
    OBJECT,
    TEXT,
    TRUTH,
    WHOLE,
    FieldError,
    one_of,
    read_field,
    read_objects,
)
from constraint_first.problem import Json, Problem

__all__ = [
    "ERRORS",
    "LEVELS",
    "SOURCE",
    "TIERS",
    "USUAL_LEVELS",
    "VERSION",
    "ErrorType",
    "GoldConstraint",
    "Item",
    "Level",
    "Tempting",
    "Tier",
    "encode",
]

Tier: TypeAlias = Literal["explicit", "implicit", "misleading", "joint"]
"""How the demand reaches the reader; the paper's list of what such a benchmark should hold."""

ErrorType: TypeAlias = Literal[
    "forgot_modular_reduction",
    "not_an_integer",
    "encoded_form_not_applied",
    "out_of_range",
    "ignored_parity",
    "broken_condition",
    "misled_by_cue",
    "arithmetic",
    "other",
]
"""How a wrong answer went wrong (the paper's Error Taxonomy, with more set apart).

Parity, other conditions that are stated and not met, and cues are ours.
"""

Level: TypeAlias = Literal[1, 2, 3, 4]
"""Difficulty of the mathematics: easy, middle, hard for a small model, hard for a strong one."""

TIERS: tuple[Tier, ...] = get_args(Tier)
ERRORS: tuple[ErrorType, ...] = get_args(ErrorType)
LEVELS: tuple[Level, ...] = get_args(Level)
USUAL_LEVELS: tuple[Level, ...] = (1, 2, 3)
"""The levels of all families but those that are made for strong models."""
SOURCE = "ConstraintBench"
VERSION = 2
"""The version of the families in this package; rows of version 1 do not name theirs."""


@dataclass(frozen=True, slots=True)
class GoldConstraint:
    """One thing that the right answer must satisfy."""

    kind: Kind
    description: str
    predicate: Predicate
    span: str | None = None
    """The words of the problem that state it; None where it is implied."""
    pins: bool = False
    """Whether it leaves one answer alone, so that whoever knows it knows the answer."""


@dataclass(frozen=True, slots=True)
class Tempting:
    """A wrong answer that a hurried solver may give, and the error it would show."""

    answer: str
    error: ErrorType


@dataclass(frozen=True, slots=True)
class Item:
    """A problem with its answer and everything that is known about the demand on that answer."""

    text: str
    answer: str
    form: Form
    constraints: tuple[GoldConstraint, ...]
    tempting: tuple[Tempting, ...]
    tier: Tier
    family: str
    level: Level
    seed: int
    index: int
    version: int = VERSION

    @property
    def id(self) -> str:
        """What the item is called: the family, level, seed and index that it is drawn from."""
        return f"{self.family}-{self.level}-{self.seed}-{self.index}"

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of its gold constraints, in the paper's order."""
        present = {gold.kind for gold in self.constraints}
        return tuple(kind for kind in KINDS if kind in present)

    def problem(self) -> Problem:
        """Give the problem as methods see it."""
        return Problem(self.text, self.id, self.answer, SOURCE)

    def to_json(self) -> dict[str, Json]:
        """Give the row of a JSON Lines file, the fields that every reader knows first."""
        row: dict[str, Json] = {
            "id": self.id,
            "problem": self.text,
            "answer": self.answer,
            "source": SOURCE,
            "form": self.form,
            "tier": self.tier,
            "kinds": list(self.kinds),
            "level": self.level,
            "family": self.family,
            "seed": self.seed,
            "index": self.index,
            "constraints": [self._constraint_row(gold) for gold in self.constraints],
            "tempting": [{"answer": lure.answer, "error": lure.error} for lure in self.tempting],
        }
        return row if self.version == 1 else row | {"version": self.version}

    def _constraint_row(self, gold: GoldConstraint) -> dict[str, Json]:
        row: dict[str, Json] = {
            "kind": gold.kind,
            "description": gold.description,
            "predicate": dict(gold.predicate),
            "span": gold.span,
        }
        return row if self.version == 1 else row | {"pins": gold.pins}

    @classmethod
    def from_json(cls, row: Mapping[str, Json]) -> Item:
        """Read a row back; a row that lacks a field or contradicts itself is an error."""
        item = cls(
            text=read_field(row, "problem", FILLED),
            answer=read_field(row, "answer", FILLED),
            form=read_field(row, "form", _FORM),
            constraints=read_objects(row, "constraints", _constraint),
            tempting=read_objects(row, "tempting", _lure),
            tier=read_field(row, "tier", _TIER),
            family=read_field(row, "family", FILLED),
            level=read_field(row, "level", _LEVEL),
            seed=read_field(row, "seed", WHOLE),
            index=read_field(row, "index", WHOLE),
            version=read_field(row, "version", _VERSION) if "version" in row else 1,
        )
        written = item.to_json()
        for name in ("id", "source", "kinds"):
            if row.get(name) != written[name]:
                raise FieldError(f"{name!r} is {row.get(name)!r}, not {written[name]!r}")
        return item


_FORM, _TIER, _KIND = one_of(FORMS), one_of(TIERS), one_of(KINDS)
_LEVEL, _ERROR = one_of(LEVELS), one_of(ERRORS)
_VERSION = one_of((1, VERSION))


def _constraint(row: dict[str, Json]) -> GoldConstraint:
    return GoldConstraint(
        read_field(row, "kind", _KIND),
        read_field(row, "description", FILLED),
        read_field(row, "predicate", OBJECT),
        None if row.get("span") is None else read_field(row, "span", TEXT),
        "pins" in row and read_field(row, "pins", TRUTH),
    )


def _lure(row: dict[str, Json]) -> Tempting:
    return Tempting(read_field(row, "answer", FILLED), read_field(row, "error", _ERROR))


def encode(items: Iterable[Item]) -> bytes:
    """Write problems as JSON Lines, always with the same bytes for the same problems."""
    lines = (json.dumps(item.to_json(), ensure_ascii=False) for item in items)
    return "".join(f"{line}\n" for line in lines).encode()
