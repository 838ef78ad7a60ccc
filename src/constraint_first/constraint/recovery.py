"""From a Stage 1 reply to a spec, however damaged the reply is.

Paper: appendix "JSON Parsing and Error Handling"; "Minimal Constraint Set". The rungs, best first:

1. ``parsed``: the reply is a JSON object, once thinking before it is taken away.
2. ``empty``: it is valid JSON too, but says nothing that could guide a solver: no constraints, or
   those of a proof.
3. ``repaired``: it becomes an object once fences and stray text are cut away and a repair library
   has mended what is left (missing braces, bad escapes, a reply cut off by its budget).
4. ``fields``: at least two of the three key fields could be picked out of the text.
5. ``fallback``: none of these.

A reply that is not JSON as it stands must yield at least two fields that say something, as the
paper has it; one is no specification. What is ``empty`` or ``fallback`` defers to Direct CoT. Which
rung a reply landed on is recorded with the solution.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, cast, get_args

import json_repair

from constraint_first.constraint.spec import ConstraintSpec
from constraint_first.problem import Json
from constraint_first.thinking import without_thinking

__all__ = [
    "DEFERRED",
    "FEWEST_FIELDS",
    "RUNGS",
    "WELL_FORMED",
    "Recovered",
    "Rung",
    "read_object",
    "read_spec",
]

Rung: TypeAlias = Literal["parsed", "empty", "repaired", "fields", "fallback"]
_Object: TypeAlias = dict[str, Json]
RUNGS: Final[tuple[Rung, ...]] = get_args(Rung)
WELL_FORMED: Final[tuple[Rung, ...]] = ("parsed", "empty")
"""Those of replies that were JSON as they stood; the others are what the paper calls malformed.
Stores that were made before there was ``empty`` count its replies as ``fallback``."""
DEFERRED: Final[tuple[Rung, ...]] = ("empty", "fallback")
"""Those of replies that there is no Stage 2 for: the problem is solved by Direct CoT."""

FEWEST_FIELDS: Final = 2
"""The fields that a reply must yield to be used where it is not JSON as it stands."""

# Repair takes a time that grows with the square of some hostile texts. A Stage 1 reply within its
# 1,024 tokens is far below both limits; beyond them only the other rungs are tried.
_LONGEST_REPAIR: Final = 8_192
_MOST_BRACES: Final = 256


@dataclass(frozen=True, slots=True)
class Recovered:
    """What could be read from a Stage 1 reply, and on which rung of the ladder."""

    rung: Rung
    spec: ConstraintSpec

    @property
    def defers(self) -> bool:
        """Whether there is nothing to solve under."""
        return self.rung in DEFERRED


def read_spec(reply: str) -> Recovered:
    """Read a Stage 1 reply down the ladder; it never fails, at worst it falls back."""
    said = without_thinking(reply)
    if (value := _parse(reply) or _parse(said)) is not None:
        spec = _best_spec(_objects(value))
        return Recovered("parsed" if spec.restricts else "empty", spec)
    spec = _best_spec(_repair(said))
    if len(spec.restricting) >= FEWEST_FIELDS:
        return Recovered("repaired", spec)
    if spec := _pick_fields(said):
        return Recovered("fields", spec)
    return Recovered("fallback", ConstraintSpec())


def read_object(reply: str) -> _Object | None:
    """Read the JSON object in any reply, mended where it must be; None where there is none."""
    said = without_thinking(reply)
    return next(iter(_objects(_parse(reply) or _parse(said)) or _repair(said)), None)


def _parse(text: str) -> object | None:
    """Parse a text that is an object or a list; None for all others."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("object", value) if isinstance(value, dict | list) else None


def _repair(text: str) -> list[_Object]:
    """Mend what starts at the first brace; there may be several objects in it."""
    start = text.find("{")
    candidate = text[start : start + _LONGEST_REPAIR]
    if start < 0 or candidate.count("{") > _MOST_BRACES:
        return []
    try:
        return _objects(json_repair.loads(candidate, skip_json_loads=True))
    except (ValueError, RecursionError):
        return []


def _objects(value: object) -> list[_Object]:
    """List the JSON objects in a decoded value: itself, or its members if it is a list."""
    values = cast("list[object]", value) if isinstance(value, list) else [value]
    return [cast("_Object", item) for item in values if isinstance(item, dict)]


def _best_spec(objects: list[_Object]) -> ConstraintSpec:
    """Choose the spec that says most; an empty one where there are no objects."""
    specs = (spec for fields in objects for spec in _specs(fields))
    best = max(specs, key=lambda spec: (len(spec.restricting), len(spec.to_json())), default=None)
    return best or ConstraintSpec()


def _specs(fields: _Object) -> Iterator[ConstraintSpec]:
    yield ConstraintSpec.from_mapping(fields)
    if len(fields) == 1:  # some models wrap the object in another: {"constraints": {…}}
        yield _best_spec(_objects(next(iter(fields.values()))))


def _pick_fields(text: str) -> ConstraintSpec | None:
    """Pick the three key fields out of text that no repair could turn into an object."""
    found: _Object = {}
    for name, value in _FIELD.findall(text):
        cleaned = value.strip().strip("\"'`*,").strip()
        if cleaned and cleaned.lower() not in ("null", "none", "[]", "{}"):
            found.setdefault(re.sub(r"[\s_]+", "_", name.lower()), cleaned)
    if "critical_constraints" in found:
        found["critical_constraints"] = _split_names(str(found["critical_constraints"]))
    spec = ConstraintSpec.from_mapping(found)
    return spec if len(spec.restricting) >= FEWEST_FIELDS else None


def _split_names(text: str) -> list[Json]:
    return [name for part in re.split(r"[,;]", text.strip("[]")) if (name := part.strip(" \"'`"))]


_FIELD: Final = re.compile(
    r"\b(answer[ _]format|likely[ _]answer[ _]range|critical[ _]constraints)\b[\"'`*]{0,4}"
    r"\s{0,4}[:=]\s{0,4}(\[[^\]\n]*\]?|\"(?:[^\"\\\n]|\\.)*\"?|[^\n]+)",
    re.IGNORECASE,
)
