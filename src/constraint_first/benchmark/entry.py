"""What is known about each public benchmark: where it lies and what its fields mean."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal, TypeAlias

from constraint_first.benchmark.gold_instruction import parse_instructions, write_instructions
from constraint_first.problem import Json

__all__ = ["AnswerRule", "Entry", "entries"]

AnswerRule: TypeAlias = Literal["", "integer", "after-hashes"]
"""How a gold answer is cut out of its field."""

_PADDED = re.compile(r"(-?)0*(0|[1-9]\d*)(?:\.0+)?")


@dataclass(frozen=True, slots=True)
class Entry:
    """A public benchmark; ``benchmarks.toml`` explains the fields."""

    name: str
    label: str
    dataset: str
    split: str
    config: str = ""
    problem: str = "problem"
    answer: str = "answer"
    id: str = ""
    id_pattern: str = "(.*)"
    answer_rule: AnswerRule = ""
    counts: tuple[int, ...] = ()
    answer_format: str = ""
    strength: str = ""
    system_prompt: str = ""
    file: str = ""
    group: str = ""
    instructions: str = ""
    arguments: str = ""

    @property
    def gold_fields(self) -> tuple[str, ...]:
        """The fields that its gold is read from: of an answer, or of instructions."""
        return (self.instructions, self.arguments) if self.instructions else (self.answer,)

    def read_gold(self, row: Mapping[str, Json]) -> str:
        """Read what a reply is judged by, out of a row that has all its fields."""
        if not self.instructions:
            return self.read_answer(row[self.answer])
        given, arguments = row[self.instructions], row[self.arguments]
        found = parse_instructions(given, arguments, self.instructions)
        return write_instructions(found) if found else ""

    def read_answer(self, value: Json) -> str:
        """Turn the field of the gold answer into text."""
        if isinstance(value, list):
            return ", ".join(map(self.read_answer, value))
        text = "" if value is None else str(value).strip()
        if self.answer_rule == "after-hashes" and "####" in text:
            return text.rpartition("####")[2].strip().replace(",", "")
        if self.answer_rule == "integer" and (padded := _PADDED.fullmatch(text)):
            return padded[1] + padded[2]
        return text

    def make_ids(self, values: list[Json]) -> list[str]:
        """Name all problems by the field that tells them apart, or by their place."""
        given = [self._id(str(value)) for value in values] if self.id else []
        if len(set(given)) < len(values):
            # A field that repeats would let one problem stand in for another.
            given = [f"{self.split}-{place}" for place in range(len(values))]
        return [f"{self.name}-{one}" for one in given]

    def _id(self, value: str) -> str:
        found = re.search(self.id_pattern, value)
        return "-".join(found.groups()) if found else value


@cache
def entries() -> dict[str, Entry]:
    """Read all public benchmarks, by name."""
    text = (
        files("constraint_first.benchmark").joinpath("benchmarks.toml").read_text(encoding="utf-8")
    )
    tables: dict[str, dict[str, Any]] = tomllib.loads(text)
    return {name: _entry(name, table) for name, table in tables.items()}


def _entry(name: str, table: dict[str, Any]) -> Entry:
    fields: dict[str, Any] = {"name": name, "file": f"{name}.jsonl", **table}
    fields["counts"] = tuple(fields["counts"])
    return Entry(**fields)
