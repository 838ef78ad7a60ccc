"""A policy: which method answers which problems of one model; a TOML file with evidence."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar, Final, NamedTuple, cast

from constraint_first.constraint.kind import FEATURES, describe, find_features, read_kind
from constraint_first.error import InputError
from constraint_first.file.rows import (
    FILLED,
    NUMBER,
    OBJECT,
    TEXT,
    WHOLE,
    FieldError,
    FieldType,
    check_fields,
    line_of,
    list_of,
    parse_toml,
    read_field,
    read_text,
)
from constraint_first.file.safe import expand_user
from constraint_first.method.baselines import Plain
from constraint_first.method.constraint_first import changed_meaning, renamed
from constraint_first.method.method import Method, may_revise, noting, parts_of, suggest
from constraint_first.method.program import Programmed
from constraint_first.method.sound import Sound
from constraint_first.method.vote import Prove
from constraint_first.pattern import lazy_pattern
from constraint_first.problem import Json, Problem, Solution
from constraint_first.protocol import Message, Steps

SCHEMA: Final = 2
"""The version of a policy's file; from version 2 on, methods have their current names."""
NOT: Final = "not "
"""The prefix of a feature that a problem must lack."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A paired comparison with the baseline: accuracies and gain in points, tokens as a ratio."""

    problems: int
    before: float
    after: float
    gain: float
    interval: tuple[float, float] | None = None
    """The 95 % interval over problems; None where all gain alike."""
    tokens: float | None = None
    """The ratio of output tokens to the baseline's; None where they were not counted."""

    def to_json(self) -> dict[str, Json]:
        return _known(self)


@dataclass(frozen=True, slots=True)
class Rule:
    """A method for the problems that have some features and lack others."""

    when: tuple[str, ...]
    """Features, prefixed with ``not`` if the problem must lack them; empty for every problem."""
    method: str
    """Its name, as on the command line."""
    evidence: Evidence | None = None
    held_out: Evidence | None = None
    """Cross-validated: each problem by rules that were learnt without it."""

    def fits(self, features: Collection[str]) -> bool:
        return all((one.removeprefix(NOT) in features) != one.startswith(NOT) for one in self.when)

    @property
    def words(self) -> str:
        """Its conditions in words that follow "problems"."""
        said = [describe(w.removeprefix(NOT), present=not w.startswith(NOT)) for w in self.when]
        return " and ".join(said) or "of every kind"

    def to_json(self) -> dict[str, Json]:
        said: dict[str, Json] = {"when": [*self.when], "method": self.method}
        if self.evidence:
            said |= self.evidence.to_json()
        if self.held_out:
            said["held_out"] = self.held_out.to_json()
        return said


@dataclass(frozen=True, slots=True)
class RunsEvidence:
    benchmark: str
    problems: int
    attempts: int
    methods: tuple[str, ...]
    sha256: str
    """The hash of all outcomes, in a fixed order."""

    def to_json(self) -> dict[str, Json]:
        return _known(self)


def _known(part: Evidence | RunsEvidence) -> dict[str, Json]:
    found = ((one.name, getattr(part, one.name)) for one in fields(part))
    return {n: [*v] if isinstance(v, tuple) else v for n, v in found if v is not None}


@dataclass(frozen=True, slots=True)
class Policy:
    """Rules for one model, the method where none fits, and the evidence for them."""

    model: str
    rules: tuple[Rule, ...] = ()
    """The first rule that fits a problem applies."""
    otherwise: str = "direct"
    made: str = ""
    command: str = ""
    answer: str = ""
    """Advice in words on whether to use it."""
    price: float = 0.0
    """The points of accuracy that 1,000 more output tokens had to gain."""
    most_tokens: float | None = None
    """The highest ratio of output tokens to the baseline's that was allowed."""
    by_problem: Evidence | None = None
    """Cross-validated: each problem by rules that were learnt without it."""
    by_family: Evidence | None = None
    """Likewise, with whole families of problems left out."""
    runs: tuple[RunsEvidence, ...] = ()
    first_names: tuple[str, ...] = field(default=(), compare=False)
    """The names of methods in a file of schema 1, ``otherwise`` first; else empty."""

    @property
    def digest(self) -> str:
        """Hash the policy's rules, with the method names in its file.

        Stores identify series by this hash, so schema 2 enters it only where a name has changed
        its meaning.
        """
        current = (self.otherwise, *(rule.method for rule in self.rules))
        schema = 1 if self.first_names or not any(map(changed_meaning, current)) else SCHEMA
        otherwise, *methods = self.first_names or current
        whens = ([*rule.when] for rule in self.rules)
        decided = [schema, otherwise, *map(list, zip(whens, methods, strict=True))]
        return hashlib.sha256(json.dumps(decided).encode()).hexdigest()[:16]

    def choose(self, features: Collection[str]) -> int | None:
        """Return the index of the first rule that fits a problem; None where none fits."""
        return next((at for at, rule in enumerate(self.rules) if rule.fits(features)), None)

    def to_json(self) -> dict[str, Json]:
        names = ("model", "made", "command", "answer", "otherwise", "price", "most_tokens")
        known = {name: value for name in names if (value := getattr(self, name)) is not None}
        whole = {"by_problem": self.by_problem, "by_family": self.by_family}
        return {
            "schema": SCHEMA,
            **known,
            "rules": [rule.to_json() for rule in self.rules],
            **{name: one.to_json() for name, one in whole.items() if one},
            "runs": [one.to_json() for one in self.runs],
        }


# The file of a policy: short TOML that a person can read, check and change; read strictly.
#
# The policies of the package are in ``policies`` beside this file, each under the name of its
# model; two are for models without a policy of their own.

PAPER: Final = "paper"
UNMEASURED: Final = "unmeasured"
"""The policies that belong to no single model."""


def _ranged(name: str, low: float, high: float) -> FieldType[float]:
    # An infinite limit means no limit; infinity and NaN themselves are not accepted.
    return FieldType(
        name, lambda value: NUMBER.fits(value) and low <= value <= high and abs(value) < math.inf
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
    """Read a policy by its name: a ``.toml`` file, or a model's name for one of the package."""
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
    """List the package's policies, by the names of their models."""
    found = (entry.name for entry in _shipped().iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in found if name.endswith(".toml")))


def shipped_for(model: str) -> str:
    wanted = plain_model(model)
    own = (name for name in shipped_names() if name not in (PAPER, UNMEASURED))
    return next((name for name in own if plain_model(name) == wanted), "")


def plain_model(name: str) -> str:
    """Return a model's name in lower case, without folder, file type and quantization."""
    return _FILE.sub("", re.split(r"[/\\]", name)[-1].casefold())


_FILE: Final = lazy_pattern(
    r"(?:[-_.:@](?:i?q\d\w*+|[bf]{1,2}p?(?:16|32)|fp8|int[48]|awq|gptq|gguf))+$"
)


def _shipped() -> Any:
    return files("constraint_first.method").joinpath("policies")


def parse_policy(where: Path | str, text: str) -> Policy:
    """Read a policy's text; unknown, missing and mistyped fields are refused."""
    table = parse_toml(where, text)
    with _located(where, text):
        _check_schema(table)
    found: dict[str, Any] = {name: value for name, value in table.items() if name != "schema"}
    for name, reader in (("rules", _rule), ("runs", _runs)):
        found[name] = ()
        for number, one in enumerate(table.get(name, ()), start=1):
            with _located(where, text, name, number):
                found[name] += (reader(one),)
    for name in ("by_problem", "by_family"):
        if name in table:
            with _located(where, text, name):
                found[name] = _evidence(table[name])
    policy = Policy(**found)
    return _with_current_names(policy) if table["schema"] == 1 else policy


def _with_current_names(policy: Policy) -> Policy:
    """Translate the method names of a policy of schema 1 to the current ones."""
    rules = tuple(replace(rule, method=renamed(rule.method)) for rule in policy.rules)
    runs = tuple(replace(one, methods=tuple(map(renamed, one.methods))) for one in policy.runs)
    first = (policy.otherwise, *(rule.method for rule in policy.rules))
    otherwise = renamed(policy.otherwise)
    return replace(policy, rules=rules, otherwise=otherwise, runs=runs, first_names=first)


@contextmanager
def _located(where: Path | str, text: str, table: str = "", number: int = 0) -> Generator[None]:
    """Add the line to an error: the table's, found by name and number."""
    try:
        yield
    except FieldError as error:
        inside = f"{table} {number}: " if number else f"{table}: " if table else ""
        line = _line_in(text, table, number, error.field)
        raise InputError(f"{where}{line}: {inside}{error}") from None


def _line_in(text: str, table: str, number: int, field: str) -> str:
    """Find the line of a field in a table, or of the table where it has none."""
    heads = [*re.finditer(r"^[ \t]*\[+[ \t]*([\w.]+)[ \t]*\]", text, re.MULTILINE)]
    own = [at for at, head in enumerate(heads) if head[1] == table]
    if not table or len(own) < max(number, 1):
        return line_of(text, field)
    at = own[max(number - 1, 0)]
    end = heads[at + 1].start() if at + 1 < len(heads) else len(text)
    head = f", line {text.count(chr(10), 0, heads[at].end()) + 1}"
    return line_of(text[:end], field, heads[at].end()) or head


def _check_schema(table: Mapping[str, Any]) -> None:
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
    for feature in (condition.removeprefix(NOT) for condition in when):
        if feature not in FEATURES:
            hint = suggest(feature, FEATURES)
            raise FieldError(f"'when' has no feature {feature[:60]!r}; {hint}", "when")
    measured = {name: value for name, value in table.items() if name in _EVIDENCE}
    return Rule(
        when,
        _read_method(table, "method"),
        _evidence(measured) if measured else None,
        _evidence(read_field(table, "held_out", OBJECT)) if "held_out" in table else None,
    )


def _read_method(table: Mapping[str, Any], name: str) -> str:
    """Read a method's name; the registry checks later that the method exists."""
    method = read_field(table, name, FILLED)
    if re.search(r"\bcalibrated\b", method):  # it could recurse without end
        raise FieldError(f"{name!r} may not be another policy; name the method itself", name)
    return method


def _evidence(table: Mapping[str, Any]) -> Evidence:
    check_fields(table, _EVIDENCE)
    needed = (read_field(table, name, _EVIDENCE[name]) for name in _MEASURED)
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
    return _ABOUT + "\n".join(_lines(policy)) + "\n"


def _lines(policy: Policy) -> Iterator[str]:
    table = policy.to_json()
    yield from _pairs(table)
    for name, value in table.items():
        for one in value if isinstance(value, list) else (value,):
            if isinstance(one, dict):
                yield from ("", f"[[{name}]]" if isinstance(value, list) else f"[{name}]")
                yield from _pairs(one)
                for inner, part in one.items():
                    if isinstance(part, dict):
                        yield from (f"[{name}.{inner}]", *_pairs(part))


def _pairs(table: Mapping[str, Json]) -> Iterator[str]:
    for name, value in table.items():
        if not isinstance(value[0] if isinstance(value, list) and value else value, dict):
            yield f"{name} = {_value(value)}"


def _value(value: Json) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, str):  # as in JSON, but TOML also requires DEL to be escaped
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)


# Calibrated routing: the method that measured best on similar problems, else Direct CoT.
#
# Where Routed-CFR decides by cues alone, a policy decides by evidence: ``cfr calibrate`` learns
# it from graded runs of one model. That evidence is about problems, so a policy acts on problems,
# and on texts with demands on their reply; every other text goes to the model untouched.

_NO_NUMBER: Final = ("asks.choice", "asks.list", "asks.expression")
"""Features of answers that a program cannot give, because it prints one number."""

_GATE: Final = 1
"""The version of the fixed rules in ``choose`` that precede a policy's own. It is part of the
fingerprint, so that a series is not resumed under other rules."""


class Chosen(NamedTuple):
    """A policy's decision: the method, the number of its rule (0 for none), and the reason."""

    method: Method
    rule: int
    why: str = ""


@dataclass(frozen=True)
class Calibrated:
    """A policy with its methods constructed; all other fields follow from ``policy``."""

    label: ClassVar[str] = "Calibrated"
    digest: str
    """The policy's digest, with the version of the fixed rules before it."""
    methods: tuple[Method, ...]
    otherwise: Method
    policy: Policy = field(repr=False)
    sound: Method = field(default=Sound(add="off", then="off"), repr=False)
    """The method for texts with demands on their reply, where no rule fits: one call, because no
    measurement has shown a gain from a second one."""
    plain: Method = field(default=Plain(), repr=False)
    """The method for texts that are neither problems nor have demands: sent unchanged."""
    alone: bool = field(default=True, repr=False)
    """Whether the model gets no other messages than the text; see ``in_conversation``."""

    def choose(self, problem: Problem) -> Chosen:
        kind = read_kind(problem.text)
        if kind.what == "other":
            return Chosen(self.plain, 0, f"it {kind.why}")
        features = find_features(problem.text)
        at = self.policy.choose(features)
        fits = Chosen(self.otherwise, 0) if at is None else Chosen(self.methods[at], at + 1)
        if kind.what == "demand":
            # A rule applies only if its method returns a whole reply: rules learnt from
            # mathematics are no evidence for such texts.
            return fits if isinstance(fits.method, Plain | Sound) else Chosen(self.sound, 0)
        if not self.alone:
            return Chosen(self.plain, 0, "it belongs to a conversation")
        if at is None or not runs_programs(fits.method):
            return fits
        when = self.policy.rules[at].when
        if forms := [one for one in _NO_NUMBER if one in features and one not in when]:
            asks = describe(forms[0])
            return Chosen(self.otherwise, 0, f"programs print numbers, and not for problems {asks}")
        if not kind.english:
            return Chosen(self.otherwise, 0, "its rules were learnt from English texts")
        return fits

    def explain(self, problem: Problem) -> str:
        """Describe the method for a text, and the measured gain of its rule."""
        chosen, rule, why = self.choose(problem)
        if chosen is self.plain:
            return f"passed to the model untouched, because {why}"
        if chosen is self.sound:
            return "a request that demands something of its reply; the reply is checked"
        if not rule:
            otherwise = self.policy.otherwise
            return f"{otherwise}: {why}" if why else f"no rule fits; {otherwise}"
        found = self.policy.rules[rule - 1]
        said = f"{found.method} on problems {found.words}"
        seen = found.evidence
        return f"{said} ({seen.gain:+.1f} points on {seen.problems:,} of them)" if seen else said

    def revises(self, problem: Problem) -> bool:
        return may_revise(self.choose(problem).method, problem)

    def leaves_alone(self, problem: Problem) -> bool:
        return self.choose(problem).method is self.plain

    def solve(self, problem: Problem) -> Steps[Solution]:
        chosen = self.choose(problem)
        solution = yield from chosen.method.solve(problem)
        return noting(solution, policy=self._noted(chosen))

    def _noted(self, chosen: Chosen) -> dict[str, Json]:
        if chosen.rule:
            return {"rule": chosen.rule, **self.policy.rules[chosen.rule - 1].to_json()}
        why: dict[str, Json] = {"why": chosen.why} if chosen.why else {}
        if chosen.method is self.plain:
            return {"rule": 0, "method": "plain", **why}
        named = "sound(add=off,then=off)" if chosen.method is self.sound else self.policy.otherwise
        return {"rule": 0, "method": named, **why}


def calibrate_by(policy: Policy, make: Callable[[str], Method]) -> Calibrated:
    methods = tuple(make(rule.method) for rule in policy.rules)
    return Calibrated(f"{policy.digest}-{_GATE}", methods, make(policy.otherwise), policy)


_WHO: Final = lazy_pattern(r"\s*(?:you are\b[^.!?\n]{1,80}[.!]?\s*){1,3}", re.IGNORECASE)


def in_conversation(method: Method, ahead: Sequence[Message]) -> Method:
    """Keep a policy from solving a text after other messages: it may not be the whole problem.

    A system message that only gives the model a role does not count.
    """
    alone = all(one.role == "system" and _WHO.fullmatch(one.content) for one in ahead)
    return method if alone or not isinstance(method, Calibrated) else replace(method, alone=False)


def runs_programs(method: Method) -> bool:
    return any(isinstance(one, Programmed | Prove) for one in parts_of(method))
