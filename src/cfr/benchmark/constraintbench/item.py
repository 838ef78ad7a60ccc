"""What a ConstraintBench problem is made of, and how it is written as a line of JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar, cast, get_args

from cfr.answer.expression.value import FORMS, Form
from cfr.constraint.predicate import Predicate
from cfr.constraint.spec import KINDS, Kind
from cfr.error import CfrError
from cfr.problem import Json, Problem

__all__ = [
    "ERRORS",
    "LEVELS",
    "SOURCE",
    "TIERS",
    "ErrorType",
    "GoldConstraint",
    "Item",
    "ItemError",
    "Level",
    "Tempting",
    "Tier",
]

W = TypeVar("W", bound=str)

Tier: TypeAlias = Literal["explicit", "implicit", "misleading", "joint"]
"""How the demand reaches the reader; the paper's list of what such a benchmark should hold."""

ErrorType: TypeAlias = Literal[
    "forgot_modular_reduction",
    "not_an_integer",
    "encoded_form_not_applied",
    "out_of_range",
    "ignored_parity",
    "misled_by_cue",
    "arithmetic",
    "other",
]
"""How a wrong answer went wrong (the paper's Error Taxonomy, with parity and cues set apart)."""

Level: TypeAlias = Literal[1, 2, 3]
"""Difficulty of the mathematics: easy, middle, hard for a small model."""

TIERS: tuple[Tier, ...] = get_args(Tier)
ERRORS: tuple[ErrorType, ...] = get_args(ErrorType)
LEVELS: tuple[Level, ...] = get_args(Level)
SOURCE = "ConstraintBench"


class ItemError(CfrError):
    """A row that is no ConstraintBench problem, and the field that says so."""


@dataclass(frozen=True, slots=True)
class GoldConstraint:
    """One thing that the right answer must satisfy."""

    kind: Kind
    description: str
    predicate: Predicate
    span: str | None = None
    """The words of the problem that state it; None where it is implied."""


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
        return {
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
            "constraints": [
                {
                    "kind": gold.kind,
                    "description": gold.description,
                    "predicate": dict(gold.predicate),
                    "span": gold.span,
                }
                for gold in self.constraints
            ],
            "tempting": [{"answer": lure.answer, "error": lure.error} for lure in self.tempting],
        }

    @classmethod
    def from_json(cls, row: Mapping[str, Json]) -> Item:
        """Read a row back; a row that lacks a field or contradicts itself is an error."""
        item = cls(
            text=_text(row, "problem"),
            answer=_text(row, "answer"),
            form=_word(row, "form", FORMS),
            constraints=tuple(map(_constraint, _objects(row, "constraints"))),
            tempting=tuple(map(_lure, _objects(row, "tempting"))),
            tier=_word(row, "tier", TIERS),
            family=_text(row, "family"),
            level=_level(row),
            seed=_whole(row, "seed"),
            index=_whole(row, "index"),
        )
        written = item.to_json()
        for name in ("id", "source", "kinds"):
            if row.get(name) != written[name]:
                raise ItemError(f"{name!r} is {row.get(name)!r}, not {written[name]!r}")
        return item


def _text(row: Mapping[str, Json], name: str) -> str:
    value = row.get(name)
    if not isinstance(value, str) or not value:
        raise ItemError(f"{name!r} must be a text, not {value!r}")
    return value


def _whole(row: Mapping[str, Json], name: str) -> int:
    value = row.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ItemError(f"{name!r} must be a whole number, not {value!r}")
    return value


def _level(row: Mapping[str, Json]) -> Level:
    value = _whole(row, "level")
    if value not in LEVELS:
        raise ItemError(f"'level' must be 1, 2 or 3, not {value!r}")
    return value


def _word(row: Mapping[str, Json], name: str, known: tuple[W, ...]) -> W:
    for word in known:
        if word == row.get(name):
            return word
    raise ItemError(f"{name!r} must be one of {', '.join(known)}, not {row.get(name)!r}")


def _objects(row: Mapping[str, Json], name: str) -> list[dict[str, Json]]:
    value = row.get(name)
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise ItemError(f"{name!r} must be a list of objects")
    return cast("list[dict[str, Json]]", value)


def _constraint(row: dict[str, Json]) -> GoldConstraint:
    predicate, span = row.get("predicate"), row.get("span")
    if not isinstance(predicate, dict):
        raise ItemError(f"'predicate' must be an object, not {predicate!r}")
    if span is not None and not isinstance(span, str):
        raise ItemError(f"'span' must be a text or null, not {span!r}")
    return GoldConstraint(_word(row, "kind", KINDS), _text(row, "description"), predicate, span)


def _lure(row: dict[str, Json]) -> Tempting:
    return Tempting(_text(row, "answer"), _word(row, "error", ERRORS))
