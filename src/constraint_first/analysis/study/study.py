"""A study as one value: arms (a method on a benchmark with a model) and their attempts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property

from constraint_first.analysis.study.group import benchmarks_named, groups_of
from constraint_first.analysis.study.problem_text import ProblemText
from constraint_first.benchmark.constraintbench.split import is_constraintbench
from constraint_first.benchmark.entry import entries
from constraint_first.constraint.spec import ConstraintSpec
from constraint_first.engine.presets import presets
from constraint_first.error import CfrError
from constraint_first.evaluation.record import RecordKey
from constraint_first.problem import Json

__all__ = [
    "Arm",
    "Attempt",
    "Extraction",
    "ProblemText",
    "StageCost",
    "Study",
    "StudyError",
    "Transcript",
    "Transcripts",
    "benchmark_label",
    "model_label",
    "pooled_label",
]


class StudyError(CfrError):
    """A study that lacks what was asked of it."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Extraction:
    """The result of Stage 1 in one attempt: its rung on the recovery ladder and what it listed."""

    rung: str
    kinds: tuple[str, ...] = ()
    """The kind of each raw constraint, in order."""
    propagated: int = 0
    critical: tuple[str, ...] = ()
    """The kinds of the raw constraints that it calls critical, itself or by what follows."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One method on one problem in one run."""

    run: int
    status: str = "ok"
    correct: bool | None = None
    """None where there is nothing to judge: the call itself failed."""
    answer: str | None = None
    """None also where the whole reply is judged, by gold instructions."""
    input_tokens: int = 0
    output_tokens: int = 0
    shared_tokens: int = 0
    """Those of the input that an earlier call of the attempt had sent already."""
    seconds: float = 0.0
    finished_at: float = 0.0
    """In seconds since 1970; zero where it is not known."""
    routed: bool | None = None
    """What the method's router decided; None where it has none."""
    extraction: Extraction | None = None
    intervened: bool = False
    """Whether a check tried to change its answer."""


@dataclass(frozen=True, slots=True)
class StageCost:
    """Calls and tokens of one stage, and the time from each call to its reply, all together."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    cached_tokens: int = 0
    """Those of the input that came from the endpoint's prompt cache, where that is on record."""
    answered_by: str = ""
    """Another model than the one of the arm, where one answered."""

    @property
    def tokens(self) -> int:
        """Tokens, in and out."""
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
    attempts: dict[str, list[Attempt]] = field(default_factory=dict[str, list[Attempt]])
    """By problem; the runs of each in order."""
    stages: dict[str, StageCost] = field(default_factory=dict[str, StageCost])
    short_name: str = ""

    @property
    def name(self) -> str:
        """The method as a table prints it: a short name, or its label with all its options."""
        options = self.method.partition("(")[2].removesuffix(")")
        return self.short_name or (f"{self.label} [{options}]" if options else self.label)

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What tells arms apart."""
        return self.benchmark, self.method, self.model, self.decoding

    @cached_property
    def scores(self) -> dict[str, tuple[int, int]]:
        """By problem: how many runs were right, and how many were judged (at least one)."""
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
        """How many attempts ended in each way."""
        counts: dict[str, int] = {}
        for attempt in self.all_attempts():
            counts[attempt.status] = counts.get(attempt.status, 0) + 1
        return counts

    @property
    def runs(self) -> int:
        """The most runs that any problem has."""
        return max((runs for _, runs in self.scores.values()), default=0)

    @property
    def fewest_runs(self) -> int:
        """The fewest runs that any judged problem has."""
        return min((runs for _, runs in self.scores.values()), default=0)

    def all_attempts(self) -> Iterator[Attempt]:
        """Go through every attempt at every problem."""
        for attempts in self.attempts.values():
            yield from attempts

    def rate(self, status: str) -> float:
        """Return the share of attempts that ended in a way."""
        total = sum(self.statuses.values())
        return self.statuses.get(status, 0) / total if total else 0.0


@dataclass(frozen=True, slots=True)
class Transcript:
    """The text, answer and details of one attempt."""

    text: str
    answer: str | None
    correct: bool | None
    tokens: int
    constraints: ConstraintSpec | None = None
    details: Mapping[str, Json] = field(default_factory=dict[str, Json])


Transcripts = Callable[[Collection[RecordKey]], dict[RecordKey, Transcript]]


@dataclass(frozen=True)
class Study:
    """Everything that one report or comparison is about."""

    source: str
    """Where it was read from, for people."""
    arms: tuple[Arm, ...]
    problems: Mapping[tuple[str, str], ProblemText]
    """By benchmark and problem."""
    transcripts: Transcripts

    def select(
        self,
        *,
        benchmark: str | None = None,
        method: str | None = None,
        model: str | None = None,
        decoding: str | None = None,
    ) -> list[Arm]:
        """Find arms; what is not given may be anything."""
        wanted = (benchmark, method, model, decoding)
        return [
            arm
            for arm in self.arms
            if all(w is None or w == own for w, own in zip(wanted, arm.key, strict=True))
        ]

    def only(self, **wanted: Sequence[str]) -> Study:
        """Narrow the study down to some benchmarks or models; nothing named is no limit.

        A group of benchmarks may be named too.
        """
        arms = self.arms
        for what, named in wanted.items():
            known = self.names(what)
            grouped = [benchmarks_named(n, known) if what == "benchmark" else (n,) for n in named]
            names = [name for members in grouped for name in members]
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
        """The problems that were attempted, by benchmark and name."""
        return {(arm.benchmark, problem) for arm in self.arms for problem in arm.attempts}

    def all_attempts(self) -> Iterator[Attempt]:
        """Go through every attempt of every arm."""
        for arm in self.arms:
            yield from arm.all_attempts()

    def sizes(self, benchmark: str) -> tuple[int, int]:
        """Return the fewest and the most problems that an arm has judged of a benchmark."""
        counts = {len(arm.scores) for arm in self.select(benchmark=benchmark)} - {0} or {0}
        return min(counts), max(counts)

    def names(self, what: str) -> list[str]:
        """List the values of ``benchmark``, ``method``, ``model`` or ``decoding``, in order."""
        return list(dict.fromkeys(getattr(arm, what) for arm in self.arms))

    def method_name(self, method: str) -> str:
        """Name a method as tables print it."""
        return next((arm.name for arm in self.arms if arm.method == method), method)

    @cached_property
    def primary(self) -> dict[tuple[str, str], str]:
        """The decoding that tables show for a benchmark and a model: that of most attempts."""
        weight: dict[tuple[str, str], dict[str, int]] = {}
        for arm in self.arms:
            counts = weight.setdefault((arm.benchmark, arm.model), {})
            counts[arm.decoding] = counts.get(arm.decoding, 0) + sum(arm.statuses.values())
        return {key: max(counts, key=counts.__getitem__) for key, counts in weight.items()}

    def main_arms(self) -> list[Arm]:
        """Return the arms in their primary decoding."""
        return [a for a in self.arms if self.primary[a.benchmark, a.model] == a.decoding]

    def primary_only(self) -> Study:
        """Leave out all arms in another decoding than the primary one."""
        return replace(self, arms=tuple(self.main_arms()))


def benchmark_label(name: str) -> str:
    """Return a benchmark's name as the paper prints it, or its own."""
    if is_constraintbench(name):
        return name.replace("constraintbench", "ConstraintBench")
    return entries()[name].label if name in entries() else name


def pooled_label(names: Sequence[str]) -> str:
    """Name several benchmarks that are taken together: their group, where they are one, and all."""
    group = next(
        (name for name, members in groups_of(names).items() if len(members) == len(names)), ""
    )
    return f"{group} pooled ({', '.join(map(benchmark_label, names))})".strip()


def model_label(name: str) -> str:
    """Return a model's name as the paper prints it, or its own."""
    return _model_labels().get(name) or name


@cache
def _model_labels() -> dict[str, str]:
    return {name: preset.label for name, preset in presets().items()}
