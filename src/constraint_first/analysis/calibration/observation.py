"""Observations: the paired gains of all methods over Direct CoT, problem by problem, as arrays."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from constraint_first.analysis.statistics.difference import Differences
from constraint_first.analysis.statistics.subset import Key
from constraint_first.analysis.study.by_model import ModelArms
from constraint_first.analysis.study.study import Arm
from constraint_first.benchmark.constraintbench.split import is_constraintbench
from constraint_first.constraint.feature import FEATURES, find_features
from constraint_first.method.policy import Evidence, RunsEvidence

__all__ = ["DIRECT", "Bools", "Floats", "Ints", "Observations", "observe", "runs_evidence"]

Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]
Ints: TypeAlias = NDArray[np.int64]

DIRECT: Final = -1
"""The decision to leave a problem to the baseline; others are the places of methods."""

_Score: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class Observations:
    """Problems that the baseline was judged on: their features, and what each method did there."""

    methods: tuple[str, ...]
    """All but the baseline."""
    keys: tuple[Key, ...]
    """By benchmark and name."""
    features: Bools
    """By problem and feature, in the order of ``FEATURES``."""
    before: tuple[_Score, ...]
    """Right runs and runs of the baseline."""
    after: tuple[tuple[_Score | None, ...], ...]
    """Likewise by problem and method; None where it was not judged."""
    base_tokens: Floats
    """Output tokens of the baseline, on average over its runs."""
    extra_tokens: Floats
    """By problem and method: those above the baseline's; 0 where it was not judged."""

    @cached_property
    def weights(self) -> Floats:
        """The features, as 1 and 0."""
        return self.features.astype(np.float64)

    @cached_property
    def judged(self) -> Floats:
        """By problem and method: 1 where it was judged, otherwise 0."""
        return np.array(
            [[score is not None for score in row] for row in self.after], dtype=np.float64
        ).reshape(len(self.keys), len(self.methods))

    @cached_property
    def gains(self) -> Floats:
        """By problem and method: points above the baseline; 0 where it was not judged."""
        points = [
            [100 * (s[0] / s[1] - b[0] / b[1]) if s else 0.0 for s in row]
            for b, row in zip(self.before, self.after, strict=True)
        ]
        return np.array(points, dtype=np.float64).reshape(self.judged.shape)

    @cached_property
    def benchmarks(self) -> Ints:
        """The benchmark of each problem, as a number."""
        return _numbered(benchmark for benchmark, _ in self.keys)

    @cached_property
    def families(self) -> Ints:
        """The family of each problem, as a number: ConstraintBench has many, others are one."""
        return _numbered(map(_family, self.keys))

    @property
    def tokens_known(self) -> bool:
        """Whether output tokens were counted."""
        return bool(self.base_tokens.sum() > 0)

    def measure(self, decisions: Ints, within: Bools | None = None) -> Evidence | None:
        """Compare decisions with the baseline, on all problems or some; None where none is known.

        A problem that was sent to a method which was not judged on it tells nothing.
        """
        rows = np.flatnonzero(np.ones(len(self.keys), bool) if within is None else within)
        chosen = [(int(row), int(decisions[row])) for row in rows]
        known = [(row, method) for row, method in chosen if self._is_known(row, method)]
        if not known:
            return None
        pairs = tuple((self.before[i], self._score(i, j)) for i, j in known)
        base = sum(float(self.base_tokens[i]) for i, _ in known)
        extra = sum(float(self.extra_tokens[i, j]) for i, j in known if j != DIRECT)
        return _evidence(pairs, (base + extra) / base if base else None)

    def _is_known(self, row: int, decision: int) -> bool:
        return decision == DIRECT or self.after[row][decision] is not None

    def _score(self, row: int, decision: int) -> _Score:
        score = None if decision == DIRECT else self.after[row][decision]
        return score or self.before[row]


def _evidence(pairs: tuple[tuple[_Score, _Score], ...], tokens: float | None) -> Evidence:
    found = Differences(pairs)
    before, after = (100 * sum(share) / len(pairs) for share in zip(*found.shares, strict=True))
    alike = len(set(found.points)) == 1
    ends = None if alike else found.resampled(seed=0, resamples=0).interval()
    return Evidence(
        len(pairs),
        round(before, 2),
        round(after, 2),
        round(after - before, 2),
        None if ends is None else (round(ends[0], 2), round(ends[1], 2)),
        None if tokens is None else round(tokens, 3),
    )


def _numbered(names: Iterable[str]) -> Ints:
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)


def _family(key: Key) -> str:
    """Name a problem's family: that of ConstraintBench by its id, elsewhere the benchmark."""
    benchmark, problem = key
    return problem.rsplit("-", 3)[0] if is_constraintbench(benchmark) else benchmark


def observe(
    arms: ModelArms, texts: Mapping[Key, str], baseline: str, methods: Sequence[str]
) -> Observations:
    """Pair methods with the baseline on every problem that has a text."""
    found = [
        (base, [arms.methods.get(name, {}).get(base.benchmark) for name in methods], problem)
        for base in arms.methods.get(baseline, {}).values()
        for problem in base.scores
        if texts.get((base.benchmark, problem))
    ]
    keys = tuple((base.benchmark, problem) for base, _, problem in found)
    own = [find_features(texts[key]) for key in keys]
    tokens = np.array([_tokens(base, problem) for base, _, problem in found], dtype=np.float64)
    others = [[_tokens(arm, problem) for arm in row] for _, row, problem in found]
    shape = (len(keys), len(methods))
    extra = np.array(others, dtype=np.float64).reshape(shape) - tokens[:, None]
    return Observations(
        tuple(methods),
        keys,
        np.array([[f in having for f in FEATURES] for having in own], dtype=np.bool_).reshape(
            len(keys), len(FEATURES)
        ),
        tuple(base.scores[problem] for base, _, problem in found),
        tuple(tuple(arm and arm.scores.get(p) for arm in row) for _, row, p in found),
        tokens,
        np.nan_to_num(extra),
    )


def _tokens(arm: Arm | None, problem: str) -> float:
    """Average the output tokens of the judged runs; NaN where there are none."""
    attempts = arm.attempts.get(problem, ()) if arm else ()
    used = [attempt.output_tokens for attempt in attempts if attempt.correct is not None]
    return sum(used) / len(used) if used else float("nan")


def runs_evidence(arms: ModelArms) -> tuple[RunsEvidence, ...]:
    """Describe the runs, benchmark by benchmark."""
    found: list[RunsEvidence] = []
    for benchmark in dict.fromkeys(arm.benchmark for arm in arms.arms()):
        there = [arm for arm in arms.arms() if arm.benchmark == benchmark]
        lines = sorted(
            f"{arm.method}\t{problem}\t{a.run}\t{a.correct}\t{a.output_tokens}"
            for arm in there
            for problem, attempts in arm.attempts.items()
            for a in attempts
        )
        digest = hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()
        problems = {problem for arm in there for problem in arm.scores}
        methods = tuple(arm.method for arm in there)
        found.append(RunsEvidence(benchmark, len(problems), len(lines), methods, digest))
    return tuple(found)
