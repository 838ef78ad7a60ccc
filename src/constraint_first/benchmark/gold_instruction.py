"""Gold instructions: what a whole reply must follow, where a problem has no gold answer.

They travel in the place of the gold answer, as one text: a mark that no answer begins with, and the
instructions as JSON. Stores, exports and statistics carry it like any gold answer. Whoever judges
or shows a gold answer asks ``read_instructions`` first.
"""

from __future__ import annotations

import json
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Final, cast

from constraint_first.constraint.predicate import Predicate, PredicateError, Truth, truth_of
from constraint_first.constraint.reply.instruction import (
    INSTRUCTIONS,
    instruction_predicate,
    loose_truth,
)
from constraint_first.constraint.reply.phrase import describe
from constraint_first.file.field import FILLED, OBJECT, FieldError, read_field
from constraint_first.file.jsonl import NotJson, parse_json
from constraint_first.problem import Json

__all__ = [
    "INSTRUCTION_MARK",
    "GoldInstruction",
    "describe_gold",
    "follow",
    "name_gold",
    "parse_instructions",
    "read_instructions",
    "unknown_kinds",
    "write_instructions",
]

INSTRUCTION_MARK: Final = "gold instructions: "
"""What a gold of instructions begins with."""


@dataclass(frozen=True)
class GoldInstruction:
    """One instruction that a reply must follow: its kind, as IFEval names it, and its arguments."""

    kind: str
    arguments: Mapping[str, Json] = field(default_factory=dict[str, Json])

    @cached_property
    def predicate(self) -> Predicate | None:
        """What checks it; None for a kind, or for arguments, that are not known."""
        return instruction_predicate(self.kind, self.arguments)

    @property
    def sentence(self) -> str:
        """What it demands, in words."""
        known = self.predicate
        return describe(known) if known else f"The reply follows {self.kind}, which is not known."

    def truth(self, reply: str, *, loose: bool = False) -> Truth:
        """Say whether a reply that is not empty follows it."""
        if self.predicate is None:
            return "undecided"
        try:
            return (loose_truth if loose else truth_of)(self.predicate, reply)
        except PredicateError:  # an argument that only some replies make it look at
            return "undecided"


def write_instructions(instructions: Iterable[GoldInstruction]) -> str:
    """Write instructions as one text, the same for the same instructions."""
    rows = [{"id": one.kind, "kwargs": {**one.arguments}} for one in instructions]
    written = json.dumps(rows, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return INSTRUCTION_MARK + written


@lru_cache(maxsize=2048)  # the same few hundred are asked for with every attempt
def read_instructions(gold: str | None) -> tuple[GoldInstruction, ...] | None:
    """Read what ``write_instructions`` wrote; None for a gold answer, which is everything else.

    What bears the mark and cannot be read is an instruction that nothing can decide: it is no
    answer that a reply could be compared with.
    """
    if not gold or not gold.startswith(INSTRUCTION_MARK):
        return None
    try:
        rows = parse_json(gold.removeprefix(INSTRUCTION_MARK))
        found = tuple(GoldInstruction(str(one["id"]), {**one["kwargs"]}) for one in rows)
    except (NotJson, KeyError, TypeError):
        found = ()
    return found or (GoldInstruction("unreadable"),)


def parse_instructions(
    value: Json, arguments: Json = None, name: str = "instructions"
) -> tuple[GoldInstruction, ...]:
    """Read the instructions of a row; what is wrong with them is raised as ``FieldError``.

    They are a list of ``{"id", "kwargs"}``, or that list as JSON text; or a list of ids, to which
    ``arguments`` has an object each, as the files of IFEval have them. An argument that is null is
    one that is not there. None at all where the value is null, an empty list, or a text that is no
    JSON list.
    """
    if isinstance(value, str):
        value = _parse_text(value, name)
    if value is None or value == []:
        return ()
    if not isinstance(value, list):
        raise FieldError(f"{name!r} must be a list of instructions, {_not(value)}", name)
    rows = _with_arguments(value, arguments, name)
    return tuple(_parse_row(row, f"{name} {n}") for n, row in enumerate(rows, start=1))


def _parse_text(text: str, name: str) -> Json:
    if not text.lstrip().startswith("["):
        return None
    try:
        return cast("Json", parse_json(text))
    except NotJson as error:
        raise FieldError(f"{name!r} begins like a list and is {error}; correct it", name) from None


def _with_arguments(value: list[Json], arguments: Json, name: str) -> Sequence[Json]:
    if not all(isinstance(one, str) for one in value):
        return value
    given: Json = [{} for _ in value] if arguments is None else arguments
    if not isinstance(given, list) or len(given) != len(value):
        raise FieldError(
            f"'kwargs' must be a list of {len(value)} objects, one for each of {name!r}, "
            f"{_not(arguments)}",
            "kwargs",
        )
    return [{"id": kind, "kwargs": one} for kind, one in zip(value, given, strict=True)]


def _parse_row(row: Json, place: str) -> GoldInstruction:
    if not isinstance(row, dict):
        raise FieldError(f'{place}: must be {{"id": …, "kwargs": {{…}}}}, {_not(row)}')
    try:
        kind = read_field(row, "id", FILLED).strip()
        given = read_field({"kwargs": {}, **row}, "kwargs", OBJECT)
    except FieldError as error:
        raise FieldError(f"{place}: {error}", error.field) from None
    found = GoldInstruction(kind, {n: _plain(v) for n, v in given.items() if v is not None})
    if kind in INSTRUCTIONS and found.predicate is None:
        raise FieldError(
            f"{place}: {kind} does not take these arguments: {reprlib.repr(dict(found.arguments))};"
            " docs/benchmarks.md lists what each kind takes"
        )
    return found


def _plain(value: Json) -> Json:
    """Write a whole number as one: tables in which it may be absent hold 3 as 3.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _not(value: object) -> str:
    return f"not {reprlib.repr(value)}"


def follow(
    instructions: Iterable[GoldInstruction], reply: str, *, loose: bool = False
) -> tuple[Truth, ...]:
    """Say of each instruction whether a reply follows it; an empty reply follows none."""
    empty = not reply.strip()
    return tuple("violated" if empty else one.truth(reply, loose=loose) for one in instructions)


def unknown_kinds(golds: Iterable[str | None]) -> tuple[str, ...]:
    """Name the kinds of instructions that nothing here can check."""
    found = (one for gold in golds for one in read_instructions(gold) or ())
    return tuple(dict.fromkeys(one.kind for one in found if one.kind not in INSTRUCTIONS))


def name_gold(gold: str | None) -> str:
    """Say what kind of gold it is."""
    return "gold answer" if read_instructions(gold) is None else "gold instructions"


def describe_gold(gold: str) -> str:
    """Write a gold for people: an answer as it is, instructions as their sentences."""
    instructions = read_instructions(gold)
    return gold if instructions is None else " ".join(one.sentence for one in instructions)
