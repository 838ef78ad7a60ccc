"""A study as one value: arms (a method on a benchmark with a model) and their outcomes."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import chain, combinations
from typing import Any, Final, cast

import orjson

from constraint_first.benchmark.constraintbench.family import is_constraintbench
from constraint_first.benchmark.registry import (
    GoldInstruction,
    describe_gold,
    entries,
    name_gold,
    read_instructions,
)
from constraint_first.constraint.stage1 import ConstraintSpec
from constraint_first.error import CfrError
from constraint_first.method.registry import METHODS
from constraint_first.model.resolve import presets
from constraint_first.problem import Json
from constraint_first.store.query import RecordKey

# Groups of benchmarks, such as AIME's three years: the paper averages and pools only these.


def groups_of(benchmarks: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the groups with at least two of the benchmarks, in order."""
    found: dict[str, list[str]] = {}
    for name in dict.fromkeys(benchmarks):
        if group := _group(name):
            found.setdefault(group, []).append(name)
    return {group: tuple(names) for group, names in found.items() if len(names) > 1}


def groups_and_all(benchmarks: Iterable[str]) -> list[tuple[str, ...]]:
    """List the sets of benchmarks to pool: each group, then all, if that is another set."""
    every = tuple(dict.fromkeys(benchmarks))
    sets = [*groups_of(every).values(), every] if every else []
    return list(dict.fromkeys(sets))


def _group(benchmark: str) -> str:
    entry = entries().get(benchmark)
    return entry.group if entry else ""


class StudyError(CfrError):
    exit_code = 2


@dataclass(frozen=True, slots=True)
class ProblemText:
    """A problem's text and gold answer; the text is empty if it is not stored."""

    text: str
    gold: str | None = None
    """Gold instructions as one text, if they judge the whole reply."""

    @property
    def instructions(self) -> tuple[GoldInstruction, ...]:
        return read_instructions(self.gold) or ()

    @property
    def gold_shown(self) -> str | None:
        return None if self.gold is None else describe_gold(self.gold)

    @property
    def gold_name(self) -> str:
        return name_gold(self.gold)


@dataclass(frozen=True, slots=True)
class Extraction:
    """The result of Stage 1: its rung on the recovery ladder and the constraints it listed."""

    rung: str
    kinds: tuple[str, ...] = ()
    """The kind of each raw constraint, in order."""
    propagated: int = 0
    critical: tuple[str, ...] = ()
    """The kinds of raw constraints that it calls critical, directly or through derived ones."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one method on one problem in one run: an attempt without its texts."""

    run: int
    status: str = "ok"
    correct: bool | None = None
    """None if there is nothing to judge, because a call failed."""
    answer: str | None = None
    """None also if gold instructions judge the whole reply."""
    input_tokens: int = 0
    output_tokens: int = 0
    shared_tokens: int = 0
    """Input tokens that repeat an earlier call of the attempt."""
    seconds: float = 0.0
    finished_at: float = 0.0
    """In seconds since 1970; zero if unknown."""
    routed: bool | None = None
    """The decision of the method's router; None without a router."""
    extraction: Extraction | None = None
    intervened: bool = False
    """Whether a check tried to change its answer."""


@dataclass(frozen=True, slots=True)
class StageCost:
    """Sums over one stage: calls, tokens, and seconds from call to reply."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    cached_tokens: int = 0
    """Input tokens from the endpoint's prompt cache, if recorded."""
    answered_by: str = ""
    """The model that answered, if it is not that of the arm."""

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def __add__(self, other: StageCost) -> StageCost:
        counts = ("calls", "input_tokens", "output_tokens", "seconds", "cached_tokens")
        sums = (getattr(self, name) + getattr(other, name) for name in counts)
        return StageCost(*sums, answered_by=self.answered_by or other.answered_by)


@dataclass(frozen=True)
class Arm:
    """One method on one benchmark with one model and one decoding: a row of a table."""

    benchmark: str
    method: str
    label: str
    model: str
    decoding: str = "{}"
    """As stored: a JSON object."""
    attempts: dict[str, list[Outcome]] = field(default_factory=dict[str, list[Outcome]])
    """By problem, with the runs of each in order."""
    stages: dict[str, StageCost] = field(default_factory=dict[str, StageCost])
    short_name: str = ""

    @property
    def name(self) -> str:
        """The method's name in tables: a short name, or its label with all options."""
        options = self.method.partition("(")[2].removesuffix(")")
        return self.short_name or (f"{self.label} [{options}]" if options else self.label)

    @property
    def key(self) -> tuple[str, str, str, str]:
        return self.benchmark, self.method, self.model, self.decoding

    @cached_property
    def scores(self) -> dict[str, tuple[int, int]]:
        """By problem: the number of right runs and of judged runs (at least one)."""
        judged = {
            problem: [a.correct for a in attempts if a.correct is not None]
            for problem, attempts in self.attempts.items()
        }
        return {problem: (sum(runs), len(runs)) for problem, runs in judged.items() if runs}

    @cached_property
    def accuracy(self) -> float | None:
        """The mean over problems of the share of right runs, from 0 to 1; None without any."""
        shares = [right / runs for right, runs in self.scores.values()]
        return sum(shares) / len(shares) if shares else None

    @cached_property
    def statuses(self) -> dict[str, int]:
        """The number of attempts with each status."""
        return dict(Counter(attempt.status for attempt in self.all_attempts()))

    @property
    def runs(self) -> int:
        return max((runs for _, runs in self.scores.values()), default=0)

    @property
    def fewest_runs(self) -> int:
        return min((runs for _, runs in self.scores.values()), default=0)

    def all_attempts(self) -> Iterator[Outcome]:
        return chain.from_iterable(self.attempts.values())

    def rate(self, status: str) -> float:
        total = sum(self.statuses.values())
        return self.statuses.get(status, 0) / total if total else 0.0


@dataclass(frozen=True, slots=True)
class Transcript:
    text: str
    answer: str | None
    correct: bool | None
    tokens: int
    constraints: ConstraintSpec | None = None
    details: Mapping[str, Json] = field(default_factory=dict[str, Json])


Transcripts = Callable[[Collection[RecordKey]], dict[RecordKey, Transcript]]


@dataclass(frozen=True)
class Study:
    """The data of one report or comparison."""

    source: str
    """Its source, for display."""
    arms: tuple[Arm, ...]
    problems: Mapping[tuple[str, str], ProblemText]
    """By benchmark and problem."""
    transcripts: Transcripts

    def select(self, **wanted: str | None) -> list[Arm]:
        """Find arms by ``benchmark``, ``method``, ``model`` and ``decoding``; None matches any."""
        given = {what: name for what, name in wanted.items() if name is not None}
        return [
            arm
            for arm in self.arms
            if all(getattr(arm, what) == name for what, name in given.items())
        ]

    def only(self, **wanted: Sequence[str]) -> Study:
        """Narrow the study to some models and benchmarks, or groups of them; empty keeps all."""
        arms = self.arms
        for what, named in wanted.items():
            known = self.names(what)
            names: list[str] = []
            for name in named:
                group = name.casefold() if what == "benchmark" else ""
                members = [one for one in known if group and _group(one).casefold() == group]
                names += members or [name]
            for name in names:
                if name not in known:
                    listed = ", ".join(known) or "none"
                    raise StudyError(f"{self.source}: has no {what} {name!r}; it has {listed}")
            arms = tuple(arm for arm in arms if not names or getattr(arm, what) in names)
        narrowed = replace(self, arms=arms)
        attempted = narrowed.attempted
        kept = {key: posed for key, posed in self.problems.items() if key in attempted}
        return replace(narrowed, problems=kept)

    @property
    def attempted(self) -> set[tuple[str, str]]:
        return {(arm.benchmark, problem) for arm in self.arms for problem in arm.attempts}

    def all_attempts(self) -> Iterator[Outcome]:
        return chain.from_iterable(arm.all_attempts() for arm in self.arms)

    def sizes(self, benchmark: str) -> tuple[int, int]:
        """Return the smallest and largest number of judged problems of a benchmark's arms."""
        counts = {len(arm.scores) for arm in self.select(benchmark=benchmark)} - {0} or {0}
        return min(counts), max(counts)

    def names(self, what: str) -> list[str]:
        """List the values of ``benchmark``, ``method``, ``model`` or ``decoding``, in order."""
        return list(dict.fromkeys(getattr(arm, what) for arm in self.arms))

    def method_name(self, method: str) -> str:
        return next((arm.name for arm in self.arms if arm.method == method), method)

    @cached_property
    def primary(self) -> dict[tuple[str, str], str]:
        """The decoding that tables show for a benchmark and a model: the most frequent one."""
        weight: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        for arm in self.arms:
            weight[arm.benchmark, arm.model][arm.decoding] += sum(arm.statuses.values())
        return {key: max(counts, key=counts.__getitem__) for key, counts in weight.items()}

    def main_arms(self) -> list[Arm]:
        return [a for a in self.arms if self.primary[a.benchmark, a.model] == a.decoding]

    def primary_only(self) -> Study:
        return replace(self, arms=tuple(self.main_arms()))


def benchmark_label(name: str) -> str:
    """Return a benchmark's name as the paper prints it, or its own."""
    if is_constraintbench(name):
        return name.replace("constraintbench", "ConstraintBench")
    return entries()[name].label if name in entries() else name


def pooled_label(names: Sequence[str]) -> str:
    """Name pooled benchmarks: their group, if they form one, and their list."""
    groups = groups_of(names).items()
    group = next((name for name, members in groups if len(members) == len(names)), "")
    return f"{group} pooled ({', '.join(map(benchmark_label, names))})".strip()


def model_label(name: str) -> str:
    """Return a model's name as the paper prints it, or its own."""
    return _model_labels().get(name) or name


@cache
def _model_labels() -> dict[str, str]:
    return {name: preset.label for name, preset in presets().items()}


@dataclass(frozen=True)
class ModelArms:
    """One model's arms in their primary decoding: by method, then by benchmark."""

    model: str
    methods: dict[str, dict[str, Arm]]

    @property
    def title(self) -> str:
        return model_label(self.model) or "All attempts"

    def name(self, method: str) -> str:
        return next(iter(self.methods[method].values())).name

    def arms(self) -> list[Arm]:
        return [arm for arms in self.methods.values() for arm in arms.values()]

    def keep(self, methods: Iterable[str]) -> ModelArms:
        return ModelArms(self.model, {m: self.methods[m] for m in methods if m in self.methods})

    def paired(self, baseline: str, method: str) -> list[tuple[Arm, Arm]]:
        """Pair the arms of two methods on each benchmark that both have."""
        others = self.methods.get(method, {})
        own = self.methods.get(baseline, {})
        return [(arm, others[name]) for name, arm in own.items() if name in others]

    def shared_benchmarks(self, baseline: str) -> list[str]:
        """List the benchmarks that a method shares with all other methods."""
        own = self.methods.get(baseline, {})
        return [name for name in own if all(name in arms for arms in self.methods.values())]


def by_model(study: Study) -> list[ModelArms]:
    found: dict[str, dict[str, dict[str, Arm]]] = {}
    for arm in study.main_arms():
        if arm.scores:
            methods = found.setdefault(arm.model, {})
            methods.setdefault(arm.method, {})[arm.benchmark] = arm
    return [ModelArms(model, methods) for model, methods in found.items()]


def benchmarks_of(parts: Sequence[ModelArms]) -> list[str]:
    return list(dict.fromkeys(arm.benchmark for part in parts for arm in part.arms()))


def sizes_by_benchmark(parts: Iterable[ModelArms]) -> dict[str, list[tuple[int, int]]]:
    """List the sizes that arms have on each benchmark: judged problems and most runs."""
    found: defaultdict[str, set[tuple[int, int]]] = defaultdict(set)
    for arm in (arm for part in parts for arm in part.arms()):
        found[arm.benchmark].add((len(arm.scores), arm.runs))
    return {name: sorted(sizes) for name, sizes in found.items()}


# Families of methods: all variants of one method, whatever their options.
#
# ``cfr``, ``cfr(reply=json)`` and ``CFR (always-on)`` are one family. If a table needs one method
# of a family and a study has several variants, one represents the family: the chosen one,
# otherwise the bare name, otherwise the one with most judged attempts (on a tie, the first
# stored). If variants appear side by side, their short names have the options that distinguish
# them.

CFR: Final = "cfr"
ROUTED_CFR: Final = "routed-cfr"
CFR_BRIEF: Final = "cfr-brief"
ROUTED_CFR_BRIEF: Final = "routed-cfr-brief"
CONSTRAINED: Final = (ROUTED_CFR, CFR, ROUTED_CFR_BRIEF, CFR_BRIEF)
"""The default of the method that tables examine closely: the first of these that is present. The
paper's protocol comes first; our variant is another method with its own name."""
SELF_CONSISTENCY: Final = "self-consistency"
_MOST_OPTIONS: Final = 10
"""Methods with more options than this keep all options in their names."""


def family_of(arm: Arm) -> str:
    """Name the family of a method: as registered, or by its label if it was made in Python."""
    return _family(arm.method, arm.label)


@cache
def _family(method: str, label: str) -> str:
    bare = method.partition("(")[0].strip()
    by_label = {} if bare in METHODS else {family_label(name).casefold(): name for name in METHODS}
    return by_label.get(label.casefold(), bare)


def family_label(family: str) -> str:
    return METHODS[family]().label if family in METHODS else family


def family_named(study: Study, name: str) -> str:
    """Find the family that a bare name or a label means in a study; empty if there is none."""
    named = ((family_of(arm), arm.label.casefold()) for arm in study.arms)
    return next((names[0] for names in named if name.casefold() in names), "")


def variants(study: Study, family: str) -> list[str]:
    return list(dict.fromkeys(arm.method for arm in study.arms if family_of(arm) == family))


def find_variant(study: Study, family: str, chosen: Iterable[str] = ()) -> str | None:
    """Find the method that represents a family, by the rule above; None without any."""
    found = variants(study, family)
    if named := next((name for name in chosen if name in found), None):
        return named
    judged = dict.fromkeys(found, 0)
    for arm in study.arms:
        if arm.method in judged:
            judged[arm.method] += sum(runs for _, runs in arm.scores.values())
    if judged.get(family):
        return family
    return max(judged, key=judged.__getitem__, default=None)  # ties: the first


def check_variants(study: Study, names: Sequence[str]) -> tuple[str, ...]:
    """Refuse an invalid choice of variants: unknown ones, two of a family."""
    chosen: dict[str, str] = {}
    families = {arm.method: family_of(arm) for arm in study.arms}
    for name in names:
        if name not in families:
            known = ", ".join(families)
            raise StudyError(f"{study.source}: has no variant {name!r}; it has {known}")
        other = chosen.setdefault(families[name], name)
        if other != name:
            raise StudyError(f"variants {other} and {name} are of one family; choose one of them")
    return tuple(chosen.values())


def variant_notes(
    study: Study, methods: Iterable[str | None], option: str = "--variant"
) -> tuple[str, ...]:
    """Note which variant is shown, if a study has others of the same family."""
    families = {arm.method: family_of(arm) for arm in study.arms}
    notes: list[str] = []
    for method in dict.fromkeys(methods):
        family = families.get(method or "")
        others = [name for name in variants(study, family) if name != method] if family else []
        if family and others:
            notes.append(
                f"{family_label(family)} is {method} here; in these data are also "
                f"{', '.join(others)} ({option} chooses)."
            )
    return tuple(notes)


def with_short_names(study: Study) -> Study:
    """Name each method by its label and the fewest options that distinguish its variants."""
    alike: defaultdict[str, dict[str, dict[str, str]]] = defaultdict(dict)
    for method, label in {arm.method: arm.label for arm in study.arms}.items():
        alike[label][method] = _options(method)
    names = {
        method: f"{label} [{options}]" if options else label
        for label, methods in alike.items()
        for method, options in _distinct_options(methods).items()
    }
    return replace(study, arms=tuple(replace(a, short_name=names[a.method]) for a in study.arms))


def name_notes(study: Study) -> tuple[str, ...]:
    """Note the full names of methods whose short names leave options out."""
    short = {
        arm.name: arm.method
        for arm in study.arms
        if arm.name != replace(arm, short_name="").name.replace(",", ", ")
    }
    said = "; ".join(f"{name} is {method}" for name, method in short.items())
    return (f"Names have the options that tell variants apart. In full: {said}.",) if short else ()


def _distinct_options(alike: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Write the options that distinguish methods; their full names if options do not."""
    if len(alike) == 1:
        return dict.fromkeys(alike, "")
    keys = list(dict.fromkeys(key for options in alike.values() for key in options))
    choices = (
        {
            name: ", ".join(f"{k}={options[k]}" for k in chosen if k in options)
            for name, options in alike.items()
        }
        for size in range(1, len(keys) + 1 if len(keys) <= _MOST_OPTIONS else 1)
        for chosen in combinations(keys, size)
    )
    distinct = (one for one in choices if len({*one.values()}) == len(alike))
    return min(distinct, key=lambda one: sum(map(len, one.values())), default={n: n for n in alike})


def _options(method: str) -> dict[str, str]:
    """Split ``name(a=1,b=c(d=2))`` into its own options, in order; nested ones are not split."""
    options, depth = [""], 0
    for character in method.partition("(")[2].removesuffix(")"):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and not depth:
            options.append("")
        else:
            options[-1] += character
    pairs = (option.strip().partition("=") for option in options if option.strip())
    return {key: value for key, _, value in pairs}


# Decoding settings as stores and outcome files write them: a JSON object in one order.

_ORDER: Final = ("temperature", "top_p", "seed", "system")


def read_decoding(decoding: str) -> dict[str, Any]:
    """Parse the settings of an arm; empty if none are stored."""
    found: object = json.loads(decoding)
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def write_decoding(value: object) -> str:
    """Write settings as stores do, in one order of names; an empty object without any."""
    if not isinstance(value, dict):
        return "{}"
    given = cast("dict[str, Any]", value)
    names = [*(name for name in _ORDER if name in given), *sorted(given.keys() - {*_ORDER})]
    ordered = {name: given[name] for name in names}
    for name in {"temperature", "top_p"} & {*ordered}:
        if type(ordered[name]) is int:
            ordered[name] = float(ordered[name])
    try:
        return orjson.dumps(ordered).decode()
    except TypeError:  # an integer of more than 64 bits
        return json.dumps(ordered)
