"""ConstraintBench: its problems, the shipped splits, and the families that generate problems."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property, lru_cache
from importlib import resources
from random import Random
from typing import Final, Literal, TypeAlias, TypeVar, get_args

from constraint_first.answer.value import FORMS, Form, read_answer, same
from constraint_first.constraint.predicate import Predicate, holds, parts, truth_of
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
from constraint_first.pattern import lazy_pattern
from constraint_first.problem import Json, Problem

Tier: TypeAlias = Literal["explicit", "implicit", "misleading", "joint"]
"""How a problem conveys the demand on its answer; the tiers are from the paper's list."""

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
"""The error of a wrong answer (the paper's Error Taxonomy, with finer distinctions).

Parity, other stated conditions that are not met, and cues are ours.
"""

Level: TypeAlias = Literal[1, 2, 3, 4]
"""Difficulty of the mathematics: easy, middle, hard for a small model, hard for a strong one."""

TIERS: tuple[Tier, ...] = get_args(Tier)
ERRORS: tuple[ErrorType, ...] = get_args(ErrorType)
LEVELS: tuple[Level, ...] = get_args(Level)
USUAL_LEVELS: tuple[Level, ...] = (1, 2, 3)
"""The levels of all families except those for strong models."""
SOURCE = "ConstraintBench"
VERSION = 2
"""The version of the families in this package; rows of version 1 have no version field."""


@dataclass(frozen=True, slots=True)
class GoldConstraint:
    """A condition that the right answer satisfies."""

    kind: Kind
    description: str
    predicate: Predicate
    span: str | None = None
    """The words of the problem that state it; None where it is implied."""
    pins: bool = False
    """Whether it allows only one answer, so that it reveals the answer."""


@dataclass(frozen=True, slots=True)
class Tempting:
    """A wrong answer that a hurried solver may give, and the error behind it."""

    answer: str
    error: ErrorType


@dataclass(frozen=True, slots=True)
class Item:
    """A problem with its answer, gold constraints and tempting wrong answers."""

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
        return f"{self.family}-{self.level}-{self.seed}-{self.index}"

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of its gold constraints, in the paper's order."""
        present = {gold.kind for gold in self.constraints}
        return tuple(kind for kind in KINDS if kind in present)

    def problem(self) -> Problem:
        return Problem(self.text, self.id, self.answer, SOURCE)

    def to_json(self) -> dict[str, Json]:
        """Return the row of a JSON Lines file; the fields that all programs use come first."""
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
            "constraints": [
                {
                    "kind": gold.kind,
                    "description": gold.description,
                    "predicate": dict(gold.predicate),
                    "span": gold.span,
                    **({} if self.version == 1 else {"pins": gold.pins}),
                }
                for gold in self.constraints
            ],
            "tempting": [{"answer": lure.answer, "error": lure.error} for lure in self.tempting],
        }
        return row if self.version == 1 else row | {"version": self.version}

    @classmethod
    def from_json(cls, row: Mapping[str, Json]) -> Item:
        """Read a row; raise an error where it lacks a field or is inconsistent."""
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
        for name, written in ("id", item.id), ("source", SOURCE), ("kinds", list(item.kinds)):
            if row.get(name) != written:
                raise FieldError(f"{name!r} is {row.get(name)!r}, not {written!r}")
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
    """Write problems as JSON Lines; the same problems always give the same bytes."""
    lines = (json.dumps(item.to_json(), ensure_ascii=False) for item in items)
    return "".join(f"{line}\n" for line in lines).encode()


# The splits in the package, of this version and of version 1.

Split: TypeAlias = Literal["public", "mini", "hard", "public@1", "mini@1"]
SPLITS: Final[tuple[Split, ...]] = get_args(Split)

# `generate(SEED, PUBLIC_SIZE)` and `generate(SEED, HARD_SIZE, levels=(4,))` give the shipped files
# byte for byte. Each size divides evenly over the families and the levels of its split; the first
# 24 of `public` have 6 of each tier and 8 of each level. CONTRIBUTING.md describes the generation.
SEED: Final = 2027
PUBLIC_SIZE: Final = 705
HARD_SIZE: Final = 120
_MINI_SIZE: Final = 24
SHA256: Final[dict[Split, str]] = {
    "public": "f7de99febb627cc484b7e28aa60455ee8705259fe68b2b7583954c1e80a09304",
    "hard": "93f527d56938eb2ac32f3ef1111dfb64c825e7c3d4686b28b64e260a45cccac1",
    "public@1": "8bce5c1685e735eabf33df8651658fb3be16ecb40984ffef08852c3a5749b684",
}
"""The hashes of the files; a mini split is the beginning of a public one."""
_FILES: Final[dict[Split, str]] = {
    "public": "2/public.jsonl",
    "hard": "2/hard.jsonl",
    "public@1": "1/public.jsonl",
}


class SplitError(CfrError):
    """A shipped split is missing or was changed."""


def is_constraintbench(benchmark: str) -> bool:
    return benchmark.startswith("constraintbench")


def split_name(split: Split) -> str:
    """Return the benchmark's name of a split; the public one has no suffix, old ones have @1."""
    kind, at, version = split.partition("@")
    return "constraintbench" + ("" if kind == "public" else f"-{kind}") + at + version


def load(name: Split) -> Sequence[Item]:
    if name not in SPLITS:
        raise SplitError(f"no split is called {name!r}; there are {', '.join(SPLITS)}")
    if name in ("mini", "mini@1"):
        return _items("public" if name == "mini" else "public@1", _MINI_SIZE)
    return _items(name)


@cache
def find_item(name: str) -> Item | None:
    """Find a shipped problem by its id, which is unique over all splits and versions."""
    found = next((rows[name] for split in SHA256 if name in (rows := _rows(split))), None)
    return None if found is None else Item.from_json(json.loads(found))


def split_bytes(name: Split) -> bytes:
    """Read a shipped file and verify its hash."""
    path = f"benchmark/constraintbench/data/{_FILES[name]}"
    try:
        content = (resources.files("constraint_first") / path).read_bytes()
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
def _items(name: Split, most: int | None = None) -> tuple[Item, ...]:
    return tuple(Item.from_json(json.loads(row)) for row in [*_rows(name).values()][:most])


@cache
def _rows(name: Split) -> dict[str, bytes]:
    """Index the rows of a file by their ids without parsing them: each row begins with its id."""
    rows = split_bytes(name).splitlines()
    return {row.partition(b'"id": "')[2].partition(b'"')[0].decode(): row for row in rows}


# Families: each has a text, with a summary and wordings, and a function that draws the numbers,
# gold constraints and wrong answers of one problem.

T = TypeVar("T")
Value: TypeAlias = "int | Fraction | str"
"""An answer before it is converted to text."""

# Cached, because each answer is compared with several others and with every constraint.
_read = lru_cache(maxsize=256)(read_answer)

# A draw whose numbers happen to make a wrong answer right is discarded and repeated. Families are
# built so that this is rare; one that needs this many tries is broken.
_MOST_TRIES = 1000

_OPS: Final[dict[Kind, str]] = {
    "modular": "congruent divisible least_residue",
    "parity": "parity",
    "bound": "above below between",
    "structure": "digit_sum divides one_of",
    "format": "decimals encoded",
    "domain": "integer",
    "dimension": "in_unit measured",
}
_KIND_OF: Final[dict[str, Kind]] = {op: kind for kind, ops in _OPS.items() for op in ops.split()}
"""The kind of constraint of each op; a conjunction has the kind of its last part."""
PINNING: Final = frozenset({"encoded", "counts", "rounded", "in_unit"})
"""Ops that contain the computation of the answer, and so allow only one."""


class FamilyError(CfrError):
    """A family is inconsistent: two computations of an answer differ, for example."""


class Draft:
    """A problem while it is drawn: answer, slots of the wording, constraints and wrong answers.

    The wording is one of the family's, unless others are given.
    """

    def __init__(
        self,
        answer: Value,
        form: Form = "integer",
        wordings: Sequence[str] = (),
        /,
        **slots: object,
    ) -> None:
        self.answer = str(answer)
        self.form: Form = form
        self.wordings = wordings
        self.slots = slots
        self.constraints: list[GoldConstraint] = []
        self.lures: list[Tempting] = []

    def rule(
        self, predicate: Predicate, description: str, span: str = "", *, kind: Kind | None = None
    ) -> None:
        """Add a gold constraint; ``span`` labels the words of the wording that state it."""
        ops = [str(part["op"]) for part in parts(predicate)]
        pins = not PINNING.isdisjoint(ops)
        kind = kind or _KIND_OF[ops[-1]]
        self.constraints.append(GoldConstraint(kind, description, predicate, span, pins))

    def wrong(self, error: ErrorType, *values: Value) -> None:
        """Add wrong answers, except those that equal the answer or an earlier one."""
        for text in map(str, values):
            if not any(alike(text, one) for one in (self.answer, *(x.answer for x in self.lures))):
                self.lures.append(Tempting(text, error))


Draw: TypeAlias = Callable[[Random, Level], "Draft | None"]
"""Draws a problem; None where the numbers drawn do not make one."""


@dataclass(frozen=True)
class Family:
    """A named kind of problem."""

    name: str
    tier: Tier
    text: str
    """A summary in one line; then a list of wordings (see below)."""
    draw: Draw
    levels: tuple[Level, ...] = USUAL_LEVELS

    @property
    def about(self) -> str:
        return self.text.partition("\n")[0]

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of its gold constraints, which are the same in each of its problems."""
        return self.make(SEED, self.levels[0], 0).kinds

    def make(self, seed: int, level: Level, index: int) -> Item:
        """Draw the problem with this seed, level and index; it is always the same one."""
        # String seeds go through SHA-512, and randrange, choice, sample and shuffle are the same on
        # every supported Python, so a problem can be drawn again anywhere.
        if level not in self.levels:
            raise FamilyError(f"family {self.name} has no problems of level {level}")
        rng = Random(f"ConstraintBench/{seed}/{self.name}/{level}/{index}")  # noqa: S311
        try:
            for _ in range(_MOST_TRIES):
                if (draft := self.draw(rng, level)) is None:
                    continue
                text, spans = tell(rng, draft.wordings or wordings(self.text, level), **draft.slots)
                constraints = tuple(
                    replace(one, span=spans.get(one.span or "")) for one in draft.constraints
                )
                if _rejects_enough(draft, constraints):
                    break
            else:
                raise FamilyError(f"{_MOST_TRIES} draws gave no problem")
        except FamilyError as error:
            place = f"family {self.name}, seed {seed}, level {level}, index {index}"
            raise FamilyError(f"{place}: {error}") from None
        lures = (
            replace(lure, error=true_label(lure, draft.answer, constraints)) for lure in draft.lures
        )
        about = (self.tier, self.name, level, seed, index)
        return Item(text, draft.answer, draft.form, constraints, tuple(lures), *about)


def _rejects_enough(draft: Draft, constraints: Sequence[GoldConstraint]) -> bool:
    """Whether each constraint rejects a wrong answer; an error where one rejects the right one."""
    if all(constraint.pins for constraint in constraints):
        raise FamilyError("no constraint can be known without solving")
    for one in constraints:
        if truth_of(one.predicate, draft.answer) != "holds":
            raise FamilyError(f"the answer {draft.answer} breaks {one.description!r}")
        if all(truth_of(one.predicate, lure.answer) != "violated" for lure in draft.lures):
            return False
    return True


def family(
    tier: Tier, text: str, *, levels: tuple[Level, ...] = USUAL_LEVELS
) -> Callable[[Draw], Family]:
    return lambda draw: Family(draw.__name__, tier, text, draw, levels)


def agree(first: T, second: T) -> T:
    """Return the answer of two independent computations; raise an error where they differ."""
    if first != second:
        raise FamilyError(f"one computation gives {first}, the other {second}")
    return first


_BOUNDS: Final = frozenset({"between", "above", "below", "least_residue", "measured"})


def true_label(lure: Tempting, answer: str, constraints: Sequence[GoldConstraint]) -> ErrorType:
    """Return a wrong answer's error label, corrected where its value does not show that error.

    An answer "out of range" must break a bound, "not an integer" must not be one, and a forgotten
    reduction must be the right answer before the reduction that the problem demands.
    """
    value, right = _read(lure.answer), _read(answer)
    if value is None or value.number is None or right is None or right.number is None:
        return lure.error
    predicates = [part for one in constraints for part in parts(one.predicate)]
    broken = {str(one["op"]) for one in predicates if holds(one, value) == "violated"}
    moduli = [one.get("modulus") for one in predicates if one["op"] in ("least_residue", "encoded")]
    gap = value.number - right.number
    borne_out = {
        "out_of_range": bool(broken & _BOUNDS),
        "not_an_integer": value.number.denominator > 1,
        "forgot_modular_reduction": any(
            isinstance(modulus, int) and modulus and gap % modulus == 0 for modulus in moduli
        ),
    }
    if borne_out.get(lure.error, True):
        return lure.error
    return "broken_condition" if broken else "arithmetic"


def alike(first: str, second: str) -> bool:
    """Whether two answers are equal: the same value, and both or neither in lowest terms."""
    left, right = _read(first), _read(second)
    if left is None or right is None:
        return first == second
    # An unreduced fraction differs from the reduced one: "lowest terms" rejects it.
    return same(left, right) and left.reduced == right.reduced


def lowest_terms(above: int, below: int) -> tuple[int, int]:
    """Reduce a fraction by trying every common divisor, independently of Euclid's algorithm."""
    common = max(d for d in range(1, above + 1) if above % d == 0 and below % d == 0)
    return above // common, below // common


# Wordings: items of a list in a family's text, with slots ``<name>`` and spans ``«label:…»``.
#
# An item that begins with ``1-`` is for level 1, one with ``23-`` for levels 2 and 3;
# ``[23:…]`` is a part for these levels. No mark occurs in LaTeX, so mathematics stays as it is.

_WORDING = lazy_pattern(r"^(\d*)- (.+(?:\n .+)*)", re.MULTILINE)
_PART = lazy_pattern(r"\[(\d+):([^\]]*)\]")
_SLOT = lazy_pattern(r"<([A-Za-z]\w*)>")
_SPAN = lazy_pattern(r"«(\w+):([^«»]*)»")

NAMES = (
    "Amara", "Bruno", "Chiara", "Dmitri", "Elif", "Farah", "Gustav", "Hana", "Imani", "Jonas",
    "Keiko", "Leandro", "Mireille", "Noor", "Oskar", "Priya", "Quentin", "Rosa", "Soren", "Tamsin",
    "Uma", "Viktor", "Wen", "Ximena", "Yusuf", "Zofia",
)  # fmt: skip
COUNT_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")
"""Small numbers in words."""


@cache
def wordings(text: str, level: Level) -> tuple[str, ...]:
    """List the wordings of a level, each in one line."""
    at = str(level)
    found = [one[2] for one in _WORDING.finditer(text) if not one[1] or at in one[1]]
    return tuple(
        _PART.sub(lambda part: part[2] if at in part[1] else "", " ".join(one.split())).strip()
        for one in found
    )


def tell(rng: Random, wordings: Sequence[str], **values: object) -> tuple[str, dict[str, str]]:
    """Choose a wording, fill its slots and extract its spans; draw a name if one is needed.

    The name is drawn before the wording: in another order the same seed gives other problems.
    """
    if "name" not in values and any("<name>" in wording for wording in wordings):
        values["name"] = rng.choice(NAMES)
    filled = _SLOT.sub(lambda slot: str(values[slot[1]]), rng.choice(wordings))
    return _SPAN.sub(r"\2", filled), {span[1]: span[2] for span in _SPAN.finditer(filled)}


def listed(values: Sequence[object]) -> str:
    """Join values as a sentence does: ``$3$, $5$ and $8$``."""
    return joined([f"${value}$" for value in values])


def joined(parts: Sequence[str]) -> str:
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0]


def plural(count: int, one: str, many: str = "") -> str:
    """Write a count with its noun: ``$1$ pen``, ``$2$ pens``."""
    return f"${count}$ {one if count == 1 else many or one + 's'}"
