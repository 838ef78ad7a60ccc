"""A ConstraintBench problem with its gold constraints, and the line of JSON that holds it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final, Literal, TypeAlias, get_args

from constraint_first.answer.value import FORMS, Form
from constraint_first.constraint.predicate import Predicate
from constraint_first.constraint.stage1 import KINDS, Kind
from constraint_first.error import CfrError
from constraint_first.file.rows import (
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
    """Whether it leaves only one answer possible, so that knowing it is knowing the answer."""


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


# The splits that ship with the package, of this version and of version 1.

Split: TypeAlias = Literal["public", "mini", "hard", "public@1", "mini@1"]
SPLITS: Final[tuple[Split, ...]] = get_args(Split)

# `generate(SEED, PUBLIC_SIZE)` and `generate(SEED, HARD_SIZE, levels=(4,))` give the shipped files
# byte for byte. Each size divides evenly over the families and the levels of its split; the first
# 24 of `public` hold 6 of each tier and 8 of each level. CONTRIBUTING.md has how they are made.
SEED: Final = 2027
PUBLIC_SIZE: Final = 705
HARD_SIZE: Final = 120
_MINI_SIZE: Final = 24
SHA256: Final[dict[Split, str]] = {
    "public": "f7de99febb627cc484b7e28aa60455ee8705259fe68b2b7583954c1e80a09304",
    "hard": "93f527d56938eb2ac32f3ef1111dfb64c825e7c3d4686b28b64e260a45cccac1",
    "public@1": "8bce5c1685e735eabf33df8651658fb3be16ecb40984ffef08852c3a5749b684",
}
"""What the files hash to; a mini split is the beginning of a public one."""
_FILES: Final[dict[Split, str]] = {
    "public": "2/public.jsonl",
    "hard": "2/hard.jsonl",
    "public@1": "1/public.jsonl",
}


class SplitError(CfrError):
    """A shipped split that is missing or has been changed."""


def is_constraintbench(benchmark: str) -> bool:
    """Say whether a benchmark goes by the name of ConstraintBench, or of a split of it."""
    return benchmark.startswith("constraintbench")


def split_name(split: Split) -> str:
    """Name a split as a benchmark: public is the benchmark itself, @ sets an old version apart."""
    kind, at, version = split.partition("@")
    return "constraintbench" + ("" if kind == "public" else f"-{kind}") + at + version


def load(name: Split) -> Sequence[Item]:
    if name not in SPLITS:
        raise SplitError(f"no split is called {name!r}; there are {', '.join(SPLITS)}")
    if name in ("mini", "mini@1"):
        return _items("public" if name == "mini" else "public@1")[:_MINI_SIZE]
    return _items(name)


def find_item(name: str) -> Item | None:
    """Find a shipped problem by its id, which is its own through all splits and versions."""
    return _by_id().get(name)


def split_bytes(name: Split) -> bytes:
    """Read a shipped file and make sure that it is the one that was released."""
    path = f"benchmark/constraintbench/data/{_FILES[name]}"
    try:
        folder = resources.files("constraint_first.benchmark.constraintbench") / "data"
        content = (folder / _FILES[name]).read_bytes()
    except OSError:
        raise SplitError(f"the package has lost its {path}; install it again") from None
    found = hashlib.sha256(content).hexdigest()
    if found != SHA256[name]:
        raise SplitError(
            f"{path} is not the released file (SHA-256 {found[:12]}…, expected "
            f"{SHA256[name][:12]}…); install the package again"
        )
    return content


@cache
def _items(name: Split) -> tuple[Item, ...]:
    return tuple(Item.from_json(json.loads(line)) for line in split_bytes(name).splitlines())


@cache
def _by_id() -> dict[str, Item]:
    return {item.id: item for name in SHA256 for item in _items(name)}
