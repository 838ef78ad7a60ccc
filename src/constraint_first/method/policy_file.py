"""The file of a policy: short TOML that a person can read, check and change; read strictly.

The policies that come with the package are in ``policies`` beside this file, each under the name of
its model; two are for models without one.
"""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from constraint_first.constraint.feature import FEATURES
from constraint_first.error import InputError
from constraint_first.file.field import (
    FILLED,
    NUMBER,
    OBJECT,
    TEXT,
    WHOLE,
    FieldError,
    FieldType,
    check_fields,
    list_of,
    read_field,
)
from constraint_first.file.jsonl import read_text
from constraint_first.file.path import expand_user
from constraint_first.file.toml_file import line_of, parse_toml
from constraint_first.method.former import renamed
from constraint_first.method.policy import NOT, SCHEMA, Evidence, Policy, Rule, RunsEvidence
from constraint_first.problem import Json

__all__ = [
    "PAPER",
    "UNMEASURED",
    "find_policy",
    "parse_policy",
    "plain_model",
    "shipped_for",
    "shipped_names",
    "write_policy",
]

T = TypeVar("T")

PAPER: Final = "paper"
UNMEASURED: Final = "unmeasured"
"""The policies that belong to no single model."""


def _ranged(name: str, low: float, high: float) -> FieldType[float]:
    # An end that is infinite is open: neither infinity nor NaN is a number here.
    return FieldType(
        name,
        lambda value: NUMBER.fits(value) and low <= value <= high and abs(value) < math.inf,
    )


_SHARE: Final = _ranged("a number from 0 to 100", 0, 100)
_POINTS: Final = _ranged("a number from -100 to 100", -100, 100)
_AMOUNT: Final = _ranged("a number from 0 up", 0, math.inf)
_COUNT: Final[FieldType[int]] = FieldType(
    "a whole number from 0 up", lambda value: WHOLE.fits(value) and value >= 0
)
_INTERVAL: Final[FieldType[list[float]]] = FieldType(
    "two numbers from -100 to 100, the lower first",
    lambda value: list_of(_POINTS, "").fits(value) and len(value) == 2 and value[0] <= value[1],
)
_TEXTS: Final = list_of(FILLED, "texts")
_TABLES: Final = list_of(OBJECT, "tables")
_EVIDENCE: Final[dict[str, FieldType[Any]]] = {
    "problems": _COUNT,
    "before": _SHARE,
    "after": _SHARE,
    "gain": _POINTS,
    "interval": _INTERVAL,
    "tokens": _AMOUNT,
}
_MEASURED: Final = ("problems", "before", "after", "gain")
_RULE: Final = {"when": _TEXTS, "method": FILLED, "held_out": OBJECT, **_EVIDENCE}
_RUNS: Final[dict[str, FieldType[Any]]] = {
    "benchmark": TEXT,
    "problems": _COUNT,
    "attempts": _COUNT,
    "methods": _TEXTS,
    "sha256": TEXT,
}
_POLICY: Final[dict[str, FieldType[Any]]] = {
    "schema": WHOLE,
    "model": FILLED,
    "otherwise": FILLED,
    "made": TEXT,
    "command": TEXT,
    "answer": TEXT,
    "price": _AMOUNT,
    "most_tokens": _AMOUNT,
    "rules": _TABLES,
    "by_problem": OBJECT,
    "by_family": OBJECT,
    "runs": _TABLES,
}


def find_policy(name: str) -> Policy:
    """Read the policy that a name means: a ``.toml`` file, or one that comes with the package."""
    if name.lower().endswith(".toml"):
        return parse_policy(name, read_text(expand_user(name)))
    if name not in shipped_names():
        known = ", ".join(shipped_names()) or "none yet"
        raise InputError(
            f"policy {name!r}: no .toml file, and none of this name comes with the package "
            f"({known}); write one with 'cfr calibrate RUNS -o policy.toml'"
        )
    return parse_policy(name, (_shipped() / f"{name}.toml").read_text(encoding="utf-8"))


def shipped_names() -> tuple[str, ...]:
    """List the policies that come with the package: the names of their models."""
    found = (entry.name for entry in _shipped().iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in found if name.endswith(".toml")))


def shipped_for(model: str) -> str:
    """Find the policy that comes with the package for a model; empty where there is none."""
    wanted = plain_model(model)
    own = (name for name in shipped_names() if name not in (PAPER, UNMEASURED))
    return next((name for name in own if plain_model(name) == wanted), "")


def plain_model(name: str) -> str:
    """Name a model as all who serve it would.

    A folder ahead of the name, capitals, and what follows about its file and its quantization do
    not matter.
    """
    return _FILE.sub("", re.split(r"[/\\]", name)[-1].casefold())


_FILE: Final = re.compile(
    r"(?:[-_.:@](?:i?q\d\w*+|[bf]{1,2}p?(?:16|32)|fp8|int[48]|awq|gptq|gguf))+$"
)


def _shipped() -> Any:
    return files("constraint_first.method").joinpath("policies")


def parse_policy(where: Path | str, text: str) -> Policy:
    """Read a policy's text; what is not known, missing or of another type is refused."""
    table = parse_toml(where, text)
    located = _Located(where, text)
    located.read("", 0, lambda: _check_schema(table))
    tables: dict[str, Any] = {
        name: tuple(
            located.read(name, number, lambda one=one, reader=reader: reader(one))
            for number, one in enumerate(table.get(name, ()), start=1)
        )
        for name, reader in (("rules", _rule), ("runs", _runs))
    }
    whole = {
        name: located.read(name, 0, lambda name=name: _evidence(table[name], _EVIDENCE))
        for name in ("by_problem", "by_family")
        if name in table
    }
    plain = {name: value for name, value in table.items() if name != "schema"}
    policy = Policy(**cast("dict[str, Any]", plain | whole | tables))
    return _with_current_names(policy) if table["schema"] == 1 else policy


def _with_current_names(policy: Policy) -> Policy:
    """Give the methods of a policy of the first schema the names that they have today."""
    rules = tuple(replace(rule, method=renamed(rule.method)) for rule in policy.rules)
    runs = tuple(replace(one, methods=tuple(map(renamed, one.methods))) for one in policy.runs)
    first = (policy.otherwise, *(rule.method for rule in policy.rules))
    otherwise = renamed(policy.otherwise)
    return replace(policy, rules=rules, otherwise=otherwise, runs=runs, first_names=first)


class _Located:
    """Says of an error where in the file it is."""

    def __init__(self, where: Path | str, text: str) -> None:
        self._where = where
        self._text = text

    def read(self, table: str, number: int, reader: Callable[[], T]) -> T:
        """Call a reader of the whole file, of a table, or of one of several by its number."""
        try:
            return reader()
        except FieldError as error:
            inside = f"{table} {number}: " if number else f"{table}: " if table else ""
            line = self._line(table, number, error.field)
            raise InputError(f"{self._where}{line}: {inside}{error}") from None

    def _line(self, table: str, number: int, field: str) -> str:
        """Find the line of a field in a table, or of the table where it has none."""
        heads = [*re.finditer(r"^[ \t]*\[+[ \t]*([\w.]+)[ \t]*\]", self._text, re.MULTILINE)]
        own = [at for at, head in enumerate(heads) if head[1] == table]
        if not table or len(own) < max(number, 1):
            return line_of(self._text, field)
        at = own[max(number - 1, 0)]
        end = heads[at + 1].start() if at + 1 < len(heads) else len(self._text)
        head = f", line {self._text.count(chr(10), 0, heads[at].end()) + 1}"
        return line_of(self._text[:end], field, heads[at].end()) or head


def _check_schema(table: Mapping[str, Any]) -> None:
    """Check the version first: of a later one nothing else can be said."""
    if not 1 <= (schema := read_field(table, "schema", WHOLE)) <= SCHEMA:
        raise FieldError(
            f"schema {schema} is not from 1 to {SCHEMA}, those that this version reads; "
            "write the policy again with 'cfr calibrate'",
            "schema",
        )
    check_fields(table, _POLICY)
    read_field(table, "model", FILLED)
    if "otherwise" in table:
        _read_method(table, "otherwise")


def _rule(table: dict[str, Json]) -> Rule:
    check_fields(table, _RULE)
    when = tuple(read_field(table, "when", _TEXTS))
    for condition in when:
        _check_condition(condition)
    measured = {name: value for name, value in table.items() if name in _EVIDENCE}
    return Rule(
        when,
        _read_method(table, "method"),
        _evidence(measured, _EVIDENCE) if measured else None,
        _evidence(read_field(table, "held_out", OBJECT), _EVIDENCE)
        if "held_out" in table
        else None,
    )


def _read_method(table: Mapping[str, Any], name: str) -> str:
    """Read a method's name; whether there is such a method, the registry says."""
    method = read_field(table, name, FILLED)
    if re.search(r"\bcalibrated\b", method):  # it might lead back here, without end
        raise FieldError(f"{name!r} may not be another policy; name the method itself", name)
    return method


def _check_condition(condition: str) -> None:
    feature = condition.removeprefix(NOT)
    if feature not in FEATURES:
        close = difflib.get_close_matches(feature, FEATURES, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"choose from {', '.join(FEATURES)}"
        raise FieldError(f"'when' has no feature {feature[:60]!r}; {hint}", "when")


def _evidence(table: Mapping[str, Any], kinds: Mapping[str, FieldType[Any]]) -> Evidence:
    check_fields(table, kinds)
    needed = (read_field(table, name, kinds[name]) for name in _MEASURED)
    ends = table.get("interval")
    return Evidence(*needed, interval=ends and (ends[0], ends[1]), tokens=table.get("tokens"))


def _runs(table: dict[str, Any]) -> RunsEvidence:
    check_fields(table, _RUNS)
    for name, kind in _RUNS.items():
        read_field(table, name, kind)
    return RunsEvidence(**cast("dict[str, Any]", table | {"methods": tuple(table["methods"])}))


_ABOUT: Final = (
    "# Which method answers which problems, learnt by 'cfr calibrate'. The first rule whose\n"
    "# conditions a problem's text meets counts; docs/calibration.md explains the rest.\n"
)


def write_policy(policy: Policy) -> str:
    """Write a policy as the text of its file."""
    return _ABOUT + "\n".join(_lines(policy)) + "\n"


def _lines(policy: Policy) -> Iterator[str]:
    table = policy.to_json()
    yield from _pairs({name: one for name, one in table.items() if not _is_table(one)})
    for name, value in table.items():
        for one in value if isinstance(value, list) else (value,):
            if isinstance(one, dict):
                yield from ("", f"[[{name}]]" if isinstance(value, list) else f"[{name}]")
                yield from _pairs({key: part for key, part in one.items() if not _is_table(part)})
                yield from _inner(name, one)


def _inner(outer: str, table: Mapping[str, Json]) -> Iterator[str]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from (f"[{outer}.{name}]", *_pairs(value))


def _is_table(value: Json) -> bool:
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, dict)


def _pairs(table: Mapping[str, Json]) -> Iterator[str]:
    for name, value in table.items():
        yield f"{name} = {_value(value)}"


def _value(value: Json) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, str):  # as in JSON, but for one character that TOML wants escaped as well
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)
