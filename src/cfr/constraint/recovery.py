"""From a Stage 1 reply to a spec, however damaged the reply is.

Paper: appendix "JSON Parsing and Error Handling". The rungs, best first:

1. ``parsed``: the reply is a JSON object.
2. ``repaired``: it becomes one once fences, thinking and stray text are cut away and a repair
   library has mended what is left (missing braces, bad escapes, a reply cut off by its budget).
3. ``fields``: at least two of the three key fields could be picked out of the text.
4. ``fallback``: none of these; the problem goes to Direct CoT.

Which rung a reply landed on is recorded with the solution.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, cast

import json_repair

from cfr.constraint.spec import ConstraintSpec
from cfr.problem import Json
from cfr.thinking import without_thinking

__all__ = ["RUNGS", "Recovered", "Rung", "read_object", "read_spec"]

Rung: TypeAlias = Literal["parsed", "repaired", "fields", "fallback"]
_Object: TypeAlias = dict[str, Json]
RUNGS: Final[tuple[Rung, ...]] = ("parsed", "repaired", "fields", "fallback")

# Repair takes a time that grows with the square of some hostile texts. A Stage 1 reply within its
# 1,024 tokens is far below both limits; beyond them only the other rungs are tried.
_LONGEST_REPAIR: Final = 8_192
_MOST_BRACES: Final = 256


@dataclass(frozen=True, slots=True)
class Recovered:
    """What could be read from a Stage 1 reply, and on which rung of the ladder."""

    rung: Rung
    spec: ConstraintSpec


def read_spec(reply: str) -> Recovered:
    """Read a Stage 1 reply down the ladder; it never fails, at worst it falls back."""
    if spec := _best_spec(_parse(reply)):
        return Recovered("parsed", spec)
    said = without_thinking(reply)
    if spec := _best_spec(_repair(said)):
        return Recovered("repaired", spec)
    if spec := _pick_fields(said):
        return Recovered("fields", spec)
    return Recovered("fallback", ConstraintSpec())


def read_object(reply: str) -> _Object | None:
    """Read the JSON object in any reply by the first two rungs; None where there is none."""
    return next(iter(_parse(reply) or _repair(without_thinking(reply))), None)


def _parse(text: str) -> list[_Object]:
    try:
        return _objects(json.loads(text))
    except (ValueError, RecursionError):
        return []


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


def _best_spec(objects: list[_Object]) -> ConstraintSpec | None:
    """Choose the fullest spec; None where none of the objects restricts anything."""
    specs = (_spec(fields) for fields in objects)
    return max(filter(None, specs), key=lambda spec: len(spec.to_json()), default=None)


def _spec(fields: _Object) -> ConstraintSpec | None:
    spec = ConstraintSpec.from_mapping(fields)
    if spec.restricts:
        return spec
    # Some models wrap the object in another: {"constraints": {…}}.
    return _best_spec(_objects(next(iter(fields.values())))) if len(fields) == 1 else None


def _pick_fields(text: str) -> ConstraintSpec | None:
    """Pick the three key fields out of text that no repair could turn into an object."""
    found: _Object = {}
    for name, value in _FIELD.findall(text):
        cleaned = value.strip().strip("\"'`*,").strip()
        if cleaned and cleaned.lower() not in ("null", "none", "[]", "{}"):
            found.setdefault(re.sub(r"[\s_]+", "_", name.lower()), cleaned)
    if len(found) < 2:
        return None
    if "critical_constraints" in found:
        found["critical_constraints"] = _split_names(str(found["critical_constraints"]))
    return ConstraintSpec.from_mapping(found)


def _split_names(text: str) -> list[Json]:
    return [name for part in re.split(r"[,;]", text.strip("[]")) if (name := part.strip(" \"'`"))]


_FIELD: Final = re.compile(
    r"\b(answer[ _]format|likely[ _]answer[ _]range|critical[ _]constraints)\b[\"'`*]{0,4}"
    r"\s{0,4}[:=]\s{0,4}(\[[^\]\n]*\]?|\"(?:[^\"\\\n]|\\.)*\"?|[^\n]+)",
    re.IGNORECASE,
)
