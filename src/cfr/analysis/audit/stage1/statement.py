"""What a Stage 1 reply states, as the audit reads it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from cfr.problem import Json

__all__ = ["Reply", "SpecLike", "Statement"]


class SpecLike(Protocol):
    """The part of a Stage 1 specification that the audit reads."""

    @property
    def raw_constraints(self) -> Sequence[_Described]:
        """What the reply read in the problem."""
        ...

    @property
    def propagated_constraints(self) -> Sequence[_Described]:
        """What it derived from that."""
        ...

    @property
    def likely_answer_range(self) -> str:
        """Where it expects the answer."""
        ...

    @property
    def answer_format(self) -> str:
        """How it expects the answer to be written."""
        ...


class _Described(Protocol):
    @property
    def description(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that a reply states."""

    text: str
    kind: str = ""
    about_answer: bool = False
    """Whether its place in the reply says that it speaks about the answer (range, format)."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a Stage 1 reply states, in its order: constraints, then range, then format."""

    statements: tuple[Statement, ...]

    @classmethod
    def of(cls, spec: SpecLike) -> Reply:
        """Read a parsed specification."""
        described = [*spec.raw_constraints, *spec.propagated_constraints]
        rows = [(one.description, str(getattr(one, "type", ""))) for one in described]
        return cls.build(rows, spec.likely_answer_range, spec.answer_format)

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> Reply:
        """Read the specification's JSON; what is missing or of another shape is left out."""
        lists = (value.get("raw_constraints"), value.get("propagated_constraints"))
        rows = [
            (_text(one.get("description")), _text(one.get("type")))
            for listed in lists
            if isinstance(listed, list)
            for one in listed
            if isinstance(one, dict)
        ]
        return cls.build(
            rows, _text(value.get("likely_answer_range")), _text(value.get("answer_format"))
        )

    @classmethod
    def build(
        cls, rows: Iterable[tuple[str, str]], answer_range: str = "", answer_format: str = ""
    ) -> Reply:
        """Build from (description, kind) rows, the answer's range and its format."""
        statements = [Statement(text, kind) for text, kind in rows]
        statements.append(Statement(answer_range, "bound", about_answer=True))
        statements.append(Statement(answer_format, "format", about_answer=True))
        return cls(tuple(one for one in statements if one.text.strip()))


def _text(value: Json) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)
