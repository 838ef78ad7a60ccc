"""What Stage 1 returns: the constraints that any valid answer must meet.

Paper: Method, "Stage 1"; appendices "Complete Prompt Templates" and "Constraint Extraction
Examples". A spec is read leniently, because models vary its keys and the paper's own examples do so
too (``desc`` for ``description``, ``from`` for ``derived_from``); it is written in one way only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, cast, get_args

from constraint_first.answer.extraction.latex import restore_commands
from constraint_first.problem import Json

__all__ = ["KINDS", "Constraint", "ConstraintSpec", "Kind", "Propagated"]

Kind: TypeAlias = Literal[
    "domain", "modular", "parity", "bound", "monotonic", "structure", "dimension", "format"
]
"""The eight kinds of the paper's taxonomy."""

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
"""All of them, in the paper's order. Others that a model names are kept as written."""


@dataclass(frozen=True, slots=True)
class Constraint:
    """A constraint read from the problem itself."""

    id: str
    type: str
    description: str

    @property
    def known(self) -> bool:
        """Whether its type is one of the eight kinds."""
        return self.type in KINDS


@dataclass(frozen=True, slots=True)
class Propagated:
    """A consequence of other constraints, which it names."""

    id: str
    derived_from: tuple[str, ...]
    description: str


@dataclass(frozen=True, slots=True)
class ConstraintSpec:
    """All that Stage 1 says about the answer."""

    problem_summary: str = ""
    raw_constraints: tuple[Constraint, ...] = ()
    propagated_constraints: tuple[Propagated, ...] = ()
    likely_answer_range: str = ""
    answer_format: str = ""
    critical_constraints: tuple[str, ...] = ()
    danger_note: str = ""

    @classmethod
    def from_mapping(cls, value: Mapping[str, object]) -> ConstraintSpec:
        """Read a spec from a decoded JSON object, keeping whatever can be understood."""
        raw = enumerate(_items(value.get("raw_constraints")), start=1)
        propagated = enumerate(_items(value.get("propagated_constraints")), start=1)
        return cls(
            problem_summary=_text(value.get("problem_summary")),
            raw_constraints=tuple(c for n, item in raw if (c := _constraint(item, f"C{n}"))),
            propagated_constraints=tuple(
                p for n, item in propagated if (p := _propagated(item, f"P{n}"))
            ),
            likely_answer_range=_text(value.get("likely_answer_range")),
            answer_format=_text(value.get("answer_format")),
            critical_constraints=_names(value.get("critical_constraints")),
            danger_note=_text(value.get("danger_note")),
        )

    @property
    def restricting(self) -> tuple[str, ...]:
        """The fields that say something that could guide a solver; a summary never does.

        Nor does "N/A", or a proof as the form of the answer (paper: Minimal Constraint Set).
        """
        form = self.answer_format
        said = {
            "raw_constraints": bool(self.raw_constraints),
            "propagated_constraints": bool(self.propagated_constraints),
            "likely_answer_range": not _NOTHING.fullmatch(self.likely_answer_range),
            "answer_format": not _NOTHING.fullmatch(form) and not _PROOF.fullmatch(form),
            "critical_constraints": bool(self.critical_constraints),
            "danger_note": not _NOTHING.fullmatch(self.danger_note),
        }
        return tuple(name for name, says in said.items() if says)

    @property
    def restricts(self) -> bool:
        """Whether it says anything that could guide a solver."""
        return bool(self.restricting)

    def to_json(self) -> dict[str, Json]:
        """Write the spec with the paper's field names; fields that say nothing are left out."""
        fields: dict[str, Json] = {
            "problem_summary": self.problem_summary,
            "raw_constraints": [
                {"id": c.id, "type": c.type, "description": c.description}
                for c in self.raw_constraints
            ],
            "propagated_constraints": [
                {"id": p.id, "derived_from": [*p.derived_from], "description": p.description}
                for p in self.propagated_constraints
            ],
            "likely_answer_range": self.likely_answer_range,
            "answer_format": self.answer_format,
            "critical_constraints": [*self.critical_constraints],
            "danger_note": self.danger_note,
        }
        return {name: value for name, value in fields.items() if value}

    def to_text(self) -> str:
        """Write the spec as Stage 2 is shown it."""
        return json.dumps(self.to_json(), ensure_ascii=False, indent=1)


def _constraint(item: object, default_id: str) -> Constraint | None:
    if not isinstance(item, Mapping):
        description = _text(item)
        return Constraint(default_id, "", description) if description else None
    fields = cast("Mapping[str, object]", item)
    description = _text(_first(fields, "description", "desc", "constraint", "text"))
    if not description:
        return None
    kind = _kind(_text(_first(fields, "type", "kind")))
    return Constraint(_text(fields.get("id")) or default_id, kind, description)


def _propagated(item: object, default_id: str) -> Propagated | None:
    if not isinstance(item, Mapping):
        description = _text(item)
        return Propagated(default_id, (), description) if description else None
    fields = cast("Mapping[str, object]", item)
    description = _text(_first(fields, "description", "desc", "constraint", "text"))
    if not description:
        return None
    sources = _names(_first(fields, "derived_from", "from"))
    return Propagated(_text(fields.get("id")) or default_id, sources, description)


def _kind(text: str) -> str:
    """Read a kind in its other forms too: "Bounds", "bounds_or_extremal", "Domain (integer)"."""
    written = text.lower()
    words = re.findall(r"[a-z]+", written)
    known = (_KIND_WORDS.get(word) or _KIND_WORDS.get(word.removesuffix("s")) for word in words)
    return next(filter(None, known), written)


def _first(fields: Mapping[str, object], *names: str) -> object:
    return next((fields[name] for name in names if name in fields), None)


def _items(value: object) -> list[object]:
    """Read a list; a lone value is a list of one, an object of objects is its values."""
    if isinstance(value, list):
        return cast("list[object]", value)
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, object]", value)
        alone = any(name in fields for name in ("description", "desc"))
        return [fields] if alone else list(fields.values())
    return [value] if isinstance(value, str) else []


def _names(value: object) -> tuple[str, ...]:
    """Read a list of constraint names; models also give the constraints themselves."""
    names = (
        _text(_first(cast("Mapping[str, object]", item), "id", "description", "desc"))
        if isinstance(item, Mapping)
        else _text(item)
        for item in _items(value)
    )
    return tuple(name for name in names if name)


def _text(value: object) -> str:
    """Read a value as text: numbers, ranges given as lists and small objects are spelled out."""
    if isinstance(value, str):
        return restore_commands(value).strip()
    if value is None or value == [] or value == {}:
        return ""
    return json.dumps(value, ensure_ascii=False, default=str)


# What a field says that has nothing to say, with or without a remark behind it.
_NOTHING: Final = re.compile(
    r"\W*|(?:n/?a|none|null|nil|nothing|unknown|unspecified|not (?:applicable|specified|known)"
    r"|no (?:(?:specific|particular) )?(?:constraint|restriction|range|format|answer)s?)"
    r"(?:\s*\(.*\)|\W+(?:proof|for|as|since|because)\b.*)?\W*",
    re.IGNORECASE | re.DOTALL,
)
# The form of an answer that is none: "proof/argument" in the paper's example.
_PROOF: Final = re.compile(
    r"(?:(?:an?|the|formal|written|rigorous|complete|mathematical) )*proof"
    r"(?: ?(?:/|,|or) ?(?:argument|explanation|demonstration|reasoning))*(?: ?\(.*\))?\W*",
    re.IGNORECASE,
)

_KIND_WORDS: Final[Mapping[str, str]] = {kind: kind for kind in KINDS} | {
    "parities": "parity",
    "monotone": "monotonic",
    "monotonicity": "monotonic",
    "structural": "structure",
    "dimensional": "dimension",
}
