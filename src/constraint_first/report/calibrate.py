"""Calibration: rules learnt from graded runs of one model, validated on held-out problems."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import NormalDist
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from constraint_first.benchmark.constraintbench.family import find_item, is_constraintbench
from constraint_first.constraint.kind import FEATURES, find_features
from constraint_first.error import CfrError
from constraint_first.method.method import MethodError
from constraint_first.method.policy import NOT, Evidence, Policy, Rule, RunsEvidence, plain_model
from constraint_first.method.registry import make
from constraint_first.report.comparison import BASELINE, Key, find_method
from constraint_first.report.reader import Source, open_study
from constraint_first.report.statistics import Differences, detectable
from constraint_first.report.study import Arm, ModelArms, Study, by_model, find_variant
from constraint_first.report.table import decimal, interval, points, several

Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]
Ints: TypeAlias = NDArray[np.int64]
_Score: TypeAlias = tuple[int, int]

DIRECT: Final = -1
"""The decision to use the baseline for a problem; other decisions are indices of methods."""


# Observations: the paired gains of all methods over Direct CoT, problem by problem, as arrays.


@dataclass(frozen=True)
class Observations:
    """Problems on which the baseline was judged: their features and the results of each method."""

    methods: tuple[str, ...]
    """All methods except the baseline."""
    keys: tuple[Key, ...]
    features: Bools
    """A matrix of problems and features, in the order of ``FEATURES``."""
    before: tuple[_Score, ...]
    """Right runs and all runs of the baseline."""
    after: tuple[tuple[_Score | None, ...], ...]
    """The same by problem and method; None if the method was not judged."""
    base_tokens: Floats
    """Output tokens of the baseline, on average over its runs."""
    extra_tokens: Floats
    """By problem and method: output tokens above the baseline's; 0 if not judged."""

    @cached_property
    def weights(self) -> Floats:
        return self.features.astype(np.float64)

    @cached_property
    def judged(self) -> Floats:
        """By problem and method: 1 if it was judged, otherwise 0."""
        known = [[score is not None for score in row] for row in self.after]
        return np.array(known, dtype=np.float64).reshape(len(self.keys), len(self.methods))

    @cached_property
    def gains(self) -> Floats:
        """By problem and method: points above the baseline; 0 if it was not judged."""
        points = [
            [100 * (s[0] / s[1] - b[0] / b[1]) if s else 0.0 for s in row]
            for b, row in zip(self.before, self.after, strict=True)
        ]
        return np.array(points, dtype=np.float64).reshape(self.judged.shape)

    @cached_property
    def benchmarks(self) -> Ints:
        return _numbered(benchmark for benchmark, _ in self.keys)

    @cached_property
    def families(self) -> Ints:
        """The family of each problem, as a number: many in ConstraintBench, one elsewhere."""
        return _numbered(
            problem.rsplit("-", 3)[0] if is_constraintbench(benchmark) else benchmark
            for benchmark, problem in self.keys
        )

    def measure(self, decisions: Ints, within: Bools | None = None) -> Evidence | None:
        """Compare decisions with the baseline on judged problems; None without any."""
        pairs: list[tuple[_Score, _Score]] = []
        base = extra = 0.0
        for row in range(len(self.keys)) if within is None else np.flatnonzero(within).tolist():
            method = int(decisions[row])
            after = self.before[row] if method == DIRECT else self.after[row][method]
            if after is not None:
                pairs.append((self.before[row], after))
                base += float(self.base_tokens[row])
                extra += 0.0 if method == DIRECT else float(self.extra_tokens[row, method])
        if not pairs:
            return None
        found = Differences(tuple(pairs))
        before, after = (100 * sum(share) / len(pairs) for share in zip(*found.shares, strict=True))
        ends = found.interval
        return Evidence(
            len(pairs),
            round(before, 2),
            round(after, 2),
            round(after - before, 2),
            None if ends is None else (round(ends[0], 2), round(ends[1], 2)),
            round((base + extra) / base, 3) if base else None,
        )


def _numbered(names: Iterable[str]) -> Ints:
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)


def observe(
    arms: ModelArms, texts: Mapping[Key, str], baseline: str, methods: Sequence[str]
) -> Observations:
    found = [
        (base, [arms.methods.get(name, {}).get(base.benchmark) for name in methods], problem)
        for base in arms.methods.get(baseline, {}).values()
        for problem in base.scores
        if texts.get((base.benchmark, problem))
    ]
    keys = tuple((base.benchmark, problem) for base, _, problem in found)
    own = [[f in having for f in FEATURES] for having in (find_features(texts[k]) for k in keys)]
    tokens = np.array([_tokens(base, problem) for base, _, problem in found], dtype=np.float64)
    others = [[_tokens(arm, problem) for arm in row] for _, row, problem in found]
    used = np.array(others, dtype=np.float64).reshape(len(keys), len(methods))
    return Observations(
        tuple(methods),
        keys,
        np.array(own, dtype=np.bool_).reshape(len(keys), len(FEATURES)),
        tuple(base.scores[problem] for base, _, problem in found),
        tuple(tuple(arm and arm.scores.get(p) for arm in row) for _, row, p in found),
        tokens,
        np.nan_to_num(used - tokens[:, None]),
    )


def _tokens(arm: Arm | None, problem: str) -> float:
    """Average the output tokens of the judged runs; NaN without any."""
    outcomes = arm.attempts.get(problem, ()) if arm else ()
    used = [one.output_tokens for one in outcomes if one.correct is not None]
    return sum(used) / len(used) if used else float("nan")


def runs_evidence(arms: ModelArms) -> tuple[RunsEvidence, ...]:
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


# A shallow tree over features that departs from Direct CoT only on evidence.
#
# A feature splits each group of problems into two halves. The paired gain of a half is shrunk
# toward that of the whole group, to the extent that the halves could differ by chance alone
# (partial pooling). A method is chosen for a group if it was run on most of the group, and if the
# lower end of its gain, both with and without shrinkage, is above zero and above the price of its
# tokens. Every benchmark in the group, and both halves under any other feature, should gain by at
# least one standard error. A part that does not reduces the value of the group by three times its
# share, so that splits which separate it are preferred; a part that loses by 1.5 standard errors
# reduces the value to zero. A split is kept only if its gain is certain or if it removes such a
# doubt.

_DEEPEST: Final = 3
"""The most conditions of a group."""
_FEWEST: Final = 20
"""The smallest group, in problems."""
_WEIGHT_OF_DOUBT: Final = 3.0
"""For each problem in a doubtful part, the gain of this many problems is subtracted."""
_LEAST_RUN: Final = 0.75
"""The minimal share of a group on which a method must have been run."""
_FEWEST_OF_BENCHMARK: Final = 5
_LOSES: Final = -1.5
"""A part of a group loses if its mean gain is below this many standard errors."""
_ENDS_IT: Final = 1e9
_LEAST_VARIANCE: Final = 1.0  # points² per problem: a few equal results are not certain


class Group(NamedTuple):
    """Problems that meet some conditions, and the index of their method."""

    when: tuple[str, ...]
    decision: int

    def rows(self, features: Bools) -> Bools:
        found = np.ones(len(features), dtype=np.bool_)
        for condition in self.when:
            having = features[:, FEATURES.index(condition.removeprefix(NOT))]
            found &= ~having if condition.startswith(NOT) else having
        return found


class _Gains(NamedTuple):
    """The gain of each method (in columns) in each of several groups (in rows)."""

    judged: Floats
    mean: Floats
    variance: Floats
    """Of the mean."""
    tokens: Floats
    """Output tokens above the baseline's, on average."""


class _Pooled(NamedTuple):
    mean: Floats
    variance: Floats

    def row(self, at: int) -> _Pooled:
        return _Pooled(self.mean[at], self.variance[at])


class _Node(NamedTuple):
    """A group of problems that may still be split."""

    rows: Ints
    pooled: _Pooled
    decision: int
    value: float
    """The gain of its decision in points, summed over its problems, minus the price of their
    tokens."""
    doubted: bool = False
    """Whether a part of it may not share the gain."""


class Tree:
    """Splits problems into groups; ``price`` is the points that 1,000 more tokens must gain."""

    def __init__(self, data: Observations, columns: Sequence[int], price: float = 0.0) -> None:
        self._data, self._price = data, price
        self._places = (*columns, DIRECT)  # DIRECT is -1, so it indexes the last one
        at = list(columns)
        self._judged, self._points = data.judged[:, at], data.gains[:, at]
        self._extra = data.extra_tokens[:, at]
        self._stack = np.hstack([self._judged, self._points, self._points**2, self._extra])
        # A Bonferroni correction: of many methods, one may look better than it is by chance.
        self._z = NormalDist().inv_cdf(1 - 0.025 / max(1, len(data.methods)))

    def grow(self, rows: Ints) -> list[Group]:
        if not len(rows) or len(self._places) == 1:
            return []
        whole = self._gains(rows, np.ones((len(rows), 1)))
        root = self._node(rows, _Pooled(whole.mean[0], whole.variance[0]))
        return [Group(when, self._places[at]) for when, at in self._grow(root, ())]

    def _grow(self, node: _Node, when: tuple[str, ...]) -> list[Group]:
        cut = self._best_cut(node) if len(when) < _DEEPEST else None
        if cut is None:
            return [Group(when, node.decision)]
        name, yes, no = cut
        groups = [*self._grow(yes, (*when, name)), *self._grow(no, (*when, NOT + name))]
        if len({group.decision for group in groups}) == 1:
            return [Group(when, groups[0].decision)]
        return groups

    def _gains(self, rows: Ints, weights: Floats) -> _Gains:
        """Average over groups of problems, each a column of weights that are 0 or 1."""
        return _averaged(weights.T @ self._stack[rows])

    def _halves(self, rows: Ints) -> tuple[_Gains, _Gains]:
        """Average over the problems that have each feature, and over those that lack it."""
        stack = self._stack[rows]
        having = self._data.weights[rows].T @ stack
        return _averaged(having), _averaged(stack.sum(axis=0) - having)

    def _worth(self, found: _Gains, pooled: _Pooled, sizes: Floats) -> Floats:
        """Compute the value of every method in every group: zero if it must not be chosen."""
        price = self._price * found.tokens / 1_000
        lower = np.minimum(
            found.mean - self._z * np.sqrt(found.variance),
            pooled.mean - self._z * np.sqrt(pooled.variance),
        )
        enough = (found.judged >= _FEWEST) & (found.judged >= _LEAST_RUN * sizes[:, None])
        certain = enough & (lower > 0) & (lower > price)
        return np.where(certain, found.judged * (pooled.mean - price), 0.0)

    def _node(self, rows: Ints, pooled: _Pooled) -> _Node:
        found = self._gains(rows, np.ones((len(rows), 1)))
        (worth,) = self._worth(found, pooled, np.array([float(len(rows))]))
        best = _Node(rows, pooled, DIRECT, 0.0)
        if not (worth > 0).any():
            return best
        halves = self._trust_in_halves(rows, pooled)
        for method in np.argsort(-worth * halves):
            if worth[method] * halves[method] > best.value:
                trust = min(float(halves[method]), self._trust_in_benchmarks(rows, int(method)))
                value = float(worth[method]) * trust
                if value > best.value:
                    best = _Node(rows, pooled, int(method), value, doubted=trust < 1)
        return best

    def _trust_in_halves(self, rows: Ints, pooled: _Pooled) -> Floats:
        """Trust a method less if, for any feature, one of the two halves does not gain."""
        sides = self._halves(rows)
        shares = [
            np.where(half.judged < _FEWEST, 0.0, half.judged * _doubt(*drawn))
            for half, drawn in zip(sides, _pool_halves(*sides, pooled), strict=True)
        ]
        return _trust(np.maximum(*shares).max(axis=0) / len(rows))

    def _trust_in_benchmarks(self, rows: Ints, method: int) -> float:
        """Trust a method less if some benchmarks in a group do not gain."""
        judged = rows[self._judged[rows, method] > 0]
        numbers = self._data.benchmarks[judged]
        present, sizes = np.unique(numbers, return_counts=True)
        present, sizes = (one[sizes >= _FEWEST_OF_BENCHMARK] for one in (present, sizes))
        if len(present) < 2:
            return 1.0
        weights = (numbers[:, None] == present[None, :]).astype(np.float64)
        found = self._gains(judged, weights)
        drawn = _pool(found.mean[:, method], found.variance[:, method])
        return float(_trust((sizes * _doubt(*drawn)).sum() / len(judged)))

    def _best_cut(self, node: _Node) -> tuple[str, _Node, _Node] | None:
        """Find the feature whose split gains most; None if no split has a certain gain."""
        having = self._data.features[node.rows]
        sides = self._halves(node.rows)
        yes_pooled, no_pooled = _pool_halves(*sides, node.pooled)
        sizes = having.sum(axis=0).astype(np.float64)
        most = self._worth(sides[0], yes_pooled, sizes).max(axis=1)
        most += self._worth(sides[1], no_pooled, len(node.rows) - sizes).max(axis=1)
        most[np.minimum(sizes, len(node.rows) - sizes) < _FEWEST] = 0.0
        best: tuple[str, _Node, _Node] | None = None
        value = node.value
        for at in map(int, np.argsort(-most, kind="stable")):
            if most[at] <= value + 1e-9:
                break
            yes = self._node(node.rows[having[:, at]], yes_pooled.row(at))
            no = self._node(node.rows[~having[:, at]], no_pooled.row(at))
            if yes.value + no.value > value + 1e-9 and self._certainly_gains(node, yes, no):
                best, value = (FEATURES[at], yes, no), yes.value + no.value
        return best

    def _certainly_gains(self, node: _Node, *halves: _Node) -> bool:
        """Test whether a split is better than none, on problems whose decision it changes."""
        if node.decision == DIRECT or node.doubted:
            return True  # the choice of each half was tested already
        differences = np.concatenate([self._change(half, node.decision) for half in halves])
        if len(differences) < 2:
            return False
        error = np.sqrt(max(differences.var(ddof=1), _LEAST_VARIANCE) / len(differences))
        return bool(differences.mean() > self._z * error)

    def _change(self, half: _Node, decision: int) -> Floats:
        if half.decision == decision:
            return np.empty(0)
        known = self._judged[half.rows, decision] > 0
        if half.decision != DIRECT:
            known &= self._judged[half.rows, half.decision] > 0
        rows = half.rows[known]
        return self._net(rows, half.decision) - self._net(rows, decision)

    def _net(self, rows: Ints, decision: int) -> Floats:
        if decision == DIRECT:
            return np.zeros(len(rows))
        cost = self._price * self._extra[rows, decision] / 1_000
        return self._points[rows, decision] - cost


def _averaged(sums: Floats) -> _Gains:
    """Turn sums over problems (judged, points, their squares, tokens) into averages."""
    judged, points, squares, tokens = np.hsplit(sums, 4)
    some = np.maximum(judged, 1)
    mean = points / some
    spread = (squares - some * mean**2) / np.maximum(judged - 1, 1)
    variance = np.maximum(spread, _LEAST_VARIANCE) / some
    variance[judged < 2] = np.inf
    return _Gains(judged, mean, variance, tokens / some)


def _pool_halves(one: _Gains, other: _Gains, whole: _Pooled) -> tuple[_Pooled, _Pooled]:
    """Shrink the gains of two halves toward that of the whole group."""
    apart = (one.mean - other.mean) ** 2 - one.variance - other.variance
    between = np.maximum(np.nan_to_num(apart, neginf=0.0), 0.0) / 2

    def draw(half: _Gains) -> _Pooled:
        finite = np.where(np.isfinite(half.variance), half.variance, 1e12)
        own = between / (between + finite)
        mean = whole.mean + own * (half.mean - whole.mean)
        return _Pooled(mean, own * finite + (1 - own) ** 2 * whole.variance)

    return draw(one), draw(other)


def _pool(mean: Floats, variance: Floats) -> _Pooled:
    """Shrink the gains of several groups toward their mean (DerSimonian and Laird, 1986)."""
    weight = 1 / variance
    common = (weight * mean).sum() / weight.sum()
    scatter = (weight * (mean - common) ** 2).sum() - (len(mean) - 1)
    between = max(0.0, scatter / (weight.sum() - (weight**2).sum() / weight.sum()))
    own = between / (between + variance)
    return _Pooled(common + own * (mean - common), own * variance + (1 - own) ** 2 / weight.sum())


def _doubt(mean: Floats, variance: Floats) -> Floats:
    """Return the doubt in a part of a group: 1 if it gains too little, prohibitive if it loses."""
    error = np.sqrt(variance)
    return np.where(mean > error, 0.0, np.where(mean < _LOSES * error, _ENDS_IT, 1.0))


def _trust(doubted: Floats) -> Floats:
    """Return the trust in a group, which falls with the doubtful share of its problems."""
    return np.maximum(0.0, 1 - _WEIGHT_OF_DOUBT * doubted)


# A learner of rules: which methods, for which groups of problems, within a bound on tokens.
#
# A policy with only one method beside Direct CoT is easier to read and generalizes better. A
# second method is added only if it gains a whole point more.

_SECOND: Final = 1.0
"""Points of accuracy, on all problems together, that a second method must gain."""
_MANY: Final = 50
"""The size from which a benchmark has its own bound on tokens."""
_PRICES: Final = (1.0, 2.0, 4.0, 8.0, 16.0, 24.0, 32.0, 48.0, 64.0, 96.0, 128.0, 256.0, 512.0, 1e9)


@dataclass(frozen=True, slots=True)
class LearningPlan:
    price: float = 0.0
    """Points of accuracy that 1,000 more output tokens must gain."""
    most_tokens: float | None = 1.05
    """The bound on output tokens, as a multiple of the baseline's, over all problems and on every
    benchmark with many problems; None for no bound."""


@dataclass(frozen=True, slots=True)
class Learnt:
    """Disjoint groups of problems, with their gain and tokens on the training problems."""

    groups: tuple[Group, ...] = ()
    price: float = 0.0
    """The price of 1,000 tokens: as configured, or high enough to keep tokens within their
    bound."""
    points: float = 0.0
    """The gain over all problems."""
    tokens: float = 1.0
    """As a multiple of the baseline's."""

    def decide(self, features: Bools) -> Ints:
        decisions = np.full(len(features), DIRECT, dtype=np.int64)
        for group in self.groups:
            decisions[group.rows(features)] = group.decision
        return decisions


def learn(data: Observations, rows: Ints, plan: LearningPlan) -> Learnt:
    """Learn from some problems: the best single method, then a second one if it is worth it."""
    places = range(len(data.methods))
    best, first = _best_of(data, rows, plan, ((at,) for at in places))
    if not first:
        return best
    both, _ = _best_of(data, rows, plan, ((*first, at) for at in places if at not in first))
    return both if both.points >= best.points + _SECOND else best


def _best_of(
    data: Observations, rows: Ints, plan: LearningPlan, sets: Iterable[tuple[int, ...]]
) -> tuple[Learnt, tuple[int, ...]]:
    best, chosen = Learnt(price=plan.price), ()
    for columns in sets:
        found = _within_bound(data, rows, plan, columns)
        if found.points > best.points:
            best, chosen = found, columns
    return best, chosen


def _within_bound(
    data: Observations, rows: Ints, plan: LearningPlan, columns: tuple[int, ...]
) -> Learnt:
    """Raise the price of tokens, by bisection, until the policy is within its bound."""

    def attempt(price: float) -> Learnt:
        groups = tuple(Tree(data, columns, price).grow(rows))
        decisions = Learnt(groups).decide(data.features[rows])
        return Learnt(groups, price, *_totals(data, rows, decisions))

    def fits(found: Learnt) -> bool:
        if plan.most_tokens is None:
            return True
        decisions = found.decide(data.features[rows])
        return found.tokens <= plan.most_tokens >= _worst_tokens(data, rows, decisions)

    found = attempt(plan.price)
    if fits(found):
        return found
    too_low, enough = -1, len(_PRICES) - 1  # the highest price leaves only savings
    found = attempt(plan.price + _PRICES[enough])
    while enough - too_low > 1:
        between = (too_low + enough) // 2
        tried = attempt(plan.price + _PRICES[between])
        if fits(tried):
            enough, found = between, tried
        else:
            too_low = between
    # A method that saves tokens overall may still use too many on one benchmark.
    return found if fits(found) else Learnt(price=plan.price)


def _worst_tokens(data: Observations, rows: Ints, decisions: Ints) -> float:
    """Return the largest token ratio of a benchmark with many problems."""
    belongs: list[Bools] = [data.benchmarks[rows] == one for one in set(data.benchmarks[rows])]
    many = [own for own in belongs if own.sum() >= _MANY]
    return max((_totals(data, rows[own], decisions[own])[1] for own in many), default=0.0)


def _totals(data: Observations, rows: Ints, decisions: Ints) -> tuple[float, float]:
    """Return the mean gain of decisions, and their tokens as a multiple of the baseline's."""
    changed = decisions != DIRECT
    places = rows[changed], decisions[changed]
    base = float(data.base_tokens[rows].sum())
    extra = float(data.extra_tokens[places].sum())
    points = float(data.gains[places].sum()) / max(len(rows), 1)
    return points, (base + extra) / base if base else 1.0


# Cross-validation of the learner: each problem is decided by rules learnt without it.

FOLDS: Final = 5


def folds_by_problem(data: Observations) -> Ints:
    """Assign problems to folds by a hash of their names, independent of their order."""

    def hashed(row: int) -> bytes:
        return hashlib.sha256("\t".join(data.keys[row]).encode("utf-8", "surrogatepass")).digest()

    found = np.empty(len(data.keys), dtype=np.int64)
    found[sorted(range(len(found)), key=hashed)] = np.arange(len(found)) % FOLDS
    return found


def folds_by_family(data: Observations) -> Ints | None:
    """Assign families to folds, the largest first, each to the emptiest; None for one family."""
    numbers, sizes = np.unique(data.families, return_counts=True)
    if len(numbers) < 2:
        return None
    filled = np.zeros(min(FOLDS, len(numbers)))
    part: dict[int, int] = {}
    for at in np.argsort(-sizes, kind="stable"):
        part[int(numbers[at])] = emptiest = int(np.argmin(filled))
        filled[emptiest] += sizes[at]
    return np.array([part[int(family)] for family in data.families], dtype=np.int64)


def decide_held_out(data: Observations, folds: Ints, plan: LearningPlan) -> Ints:
    decisions = np.full(len(data.keys), DIRECT, dtype=np.int64)
    for fold in np.unique(folds):
        out = folds == fold
        decisions[out] = learn(data, np.flatnonzero(~out), plan).decide(data.features[out])
    return decisions


# The result of a calibration in words: whether to use the policy for this model.


def say_yes(policy: Policy, whole: Evidence) -> str:
    """Describe the expected gain, the methods behind it, and the problems left to the baseline."""
    sources: list[str] = []
    for rule in policy.rules:
        gained = ""
        if one := rule.evidence:
            size = several(one.problems, "problem")
            gained = f" ({points(one.gain)}{interval(one.interval)} on {size})"
        sources.append(f"{rule.method} on problems {rule.words}{gained}")
    said = [
        f"Yes: on problems like these, expect {shown(whole)} (cross-validated). "
        f"The gain comes from {'; '.join(sources)}."
    ]
    if all(rule.when for rule in policy.rules):
        said.append(f"All other problems are left to {policy.otherwise}.")
    found = policy.by_family
    if found is None:
        elsewhere = (
            "Whether it holds for other kinds of problems these runs cannot tell: they have one."
        )
    elif _is_certain(found):
        elsewhere = f"With whole families of problems left out it is still {shown(found)}."
    else:
        elsewhere = (
            "For families of problems that are not among these it is not shown: with whole "
            f"families left out it is {shown(found)}."
        )
    return " ".join((*said, elsewhere))


def shown(evidence: Evidence) -> str:
    """Write a gain with its interval, its size and its tokens."""
    tokens = evidence.tokens
    cost = "" if tokens is None else f" at {decimal(tokens, 2)} times the output tokens"
    accuracies = f"{decimal(evidence.before)} → {decimal(evidence.after)}"
    return (
        f"{points(evidence.gain)} points{interval(evidence.interval)} "
        f"({accuracies}, n = {evidence.problems:,}){cost}"
    )


def say_no(data: Observations, best: tuple[str, Evidence] | None) -> str:
    """State that no gain is shown, with the best candidate and the detectable gain."""
    size = f"n = {len(data.keys):,}, {several(len(data.methods), 'method')} beside Direct CoT"
    said = f"No: no method's gain is certain to be above zero with these runs ({size})."
    if best is None:
        return f"{said} No problem was judged with any of them; run them on the same problems."
    name, evidence = best
    column = data.methods.index(name)
    smallest = detectable(list(data.gains[data.judged[:, column] > 0, column]))
    needed = ""
    if smallest is not None:
        needed = f" These runs could detect a gain of about {decimal(smallest)} points or more."
    several_methods = len(data.methods) > 1
    chance = f"; as the best of {len(data.methods)} it may be chance" if several_methods else ""
    return (
        f"{said} The largest by itself is that of {name}, {shown(evidence)}{chance}.{needed} Keep "
        "Direct CoT, or run other methods and more problems with 'cfr eval' and calibrate again."
    )


# Calibration: from a study to a policy.


class CalibrationError(CfrError):
    exit_code = 2


@dataclass(frozen=True, slots=True)
class CalibrationPlan:
    learning: LearningPlan = field(default_factory=LearningPlan)
    methods: tuple[str, ...] = ()
    """The candidate methods; empty for all that were run."""
    texts: Mapping[Key, str] = field(default_factory=dict[Key, str])
    """Texts of problems, by benchmark and name, for runs that were stored without them."""
    command: str = ""
    made: str = ""


@dataclass(frozen=True, slots=True)
class Calibration:
    """The resulting policy, perhaps without rules, and notes on what was left out."""

    policy: Policy
    notes: tuple[str, ...] = ()

    @property
    def recommended(self) -> bool:
        return bool(self.policy.rules)


_PLAN: Final = CalibrationPlan()


def calibrate(runs: Source | Sequence[Source], plan: CalibrationPlan = _PLAN) -> Calibration:
    study = open_study(runs)
    arms = _one_model(study)
    baseline = find_variant(study, BASELINE)
    if baseline is None or baseline not in arms.methods:
        raise CalibrationError(
            f"{study.source}: has no judged run of Direct CoT, which every gain is measured "
            "against; run 'cfr eval' with --method direct on the same problems"
        )
    methods, notes = _candidates(study, arms, baseline, plan.methods)
    data = observe(arms, _texts(study, arms, plan.texts), baseline, methods)
    if not data.keys:
        raise CalibrationError(
            f"{study.source}: holds no texts of its problems; name the benchmark or the file that "
            "has them with --problems"
        )
    judged = sum(len(arm.scores) for arm in arms.methods[baseline].values())
    if missing := judged - len(data.keys):
        notes.append(
            f"{several(missing, 'problem')} without a text left out; --problems names a benchmark "
            "or a file that has them."
        )
    if not data.base_tokens.any():
        notes.append(
            "Output tokens were not counted in these runs: nothing is known of what rules cost."
        )
    policy = Policy(
        arms.model or "unnamed",
        made=plan.made,
        command=plan.command,
        price=plan.learning.price,
        most_tokens=plan.learning.most_tokens,
        runs=runs_evidence(arms),
    )
    learnt, dropped = _learn(data, plan.learning, policy)
    return Calibration(learnt, (*notes, *dropped))


def _one_model(study: Study) -> ModelArms:
    names = list(dict.fromkeys(arm.model for arm in study.arms if arm.scores))
    if not names:
        raise CalibrationError(f"{study.source}: no judged attempts yet; run 'cfr eval' first")
    arms = tuple(replace(arm, model=names[0]) for arm in study.arms)
    if len({*map(plain_model, names)}) > 1 or len({arm.key for arm in arms}) < len(arms):
        listed = ", ".join(name or "without a name" for name in names)
        raise CalibrationError(
            f"{study.source}: has runs of several models ({listed}), and a policy is for one; "
            "choose it with --model"
        )
    (found,) = by_model(replace(study, arms=arms))
    return found


def _candidates(
    study: Study, arms: ModelArms, baseline: str, wanted: Sequence[str]
) -> tuple[tuple[str, ...], list[str]]:
    """List the candidate methods, with a note on each that is not installed."""
    named = [find_method(study, name) for name in wanted] or list(arms.methods)
    found: list[str] = []
    notes: list[str] = []
    for name in dict.fromkeys(named):
        if name == baseline or name not in arms.methods or "calibrated" in name:
            continue
        try:
            make(name)
        except MethodError:
            notes.append(f"{name}: left out; no method of this name can be made here.")
        else:
            found.append(name)
    if not found:
        raise CalibrationError(
            f"{study.source}: has no method beside Direct CoT to choose from; run others, such as "
            "--method program, on the same problems"
        )
    return tuple(found), notes


def _texts(study: Study, arms: ModelArms, given: Mapping[Key, str]) -> dict[Key, str]:
    """Find the texts of problems: in the runs, as given, or in the package's ConstraintBench."""

    def find(key: Key) -> str:
        posed = study.problems.get(key)
        if text := (posed and posed.text) or given.get(key):
            return text
        item = find_item(key[1]) if is_constraintbench(key[0]) else None
        return item.text if item else ""

    keys = ((arm.benchmark, problem) for arm in arms.arms() for problem in arm.scores)
    return {key: find(key) for key in dict.fromkeys(keys)}


def _learn(data: Observations, plan: LearningPlan, policy: Policy) -> tuple[Policy, list[str]]:
    """Learn rules, and keep those whose gain is certain on held-out problems."""
    learnt = learn(data, np.arange(len(data.keys)), plan)
    by_problem = decide_held_out(data, folds_by_problem(data), plan)
    families = folds_by_family(data)
    by_family = None if families is None else decide_held_out(data, families, plan)
    whole = data.measure(by_problem)
    measured = replace(
        policy,
        price=learnt.price,
        by_problem=whole,
        by_family=None if by_family is None else data.measure(by_family),
    )
    rules: list[Rule] = []
    for group in learnt.groups:
        if group.decision != DIRECT:
            rows = group.rows(data.features)
            evidence = data.measure(np.full(len(rows), group.decision, dtype=np.int64), rows)
            method = data.methods[group.decision]
            rules.append(Rule(group.when, method, evidence, data.measure(by_problem, rows)))
    kept = [rule for rule in rules if _is_certain(rule.held_out)]
    few_families = len(np.unique(data.families)) < FOLDS
    holds = _is_certain(whole) and (few_families or _is_certain(measured.by_family))
    if not kept or whole is None or not holds:
        return replace(measured, answer=say_no(data, _best_alone(data))), []
    found = replace(measured, rules=_shortened(kept))
    notes = [
        f"{rule.method} for {', '.join(rule.when) or 'all'}: not kept; on problems held out its "
        "gain is not certain."
        for rule in rules
        if rule not in kept
    ]
    return replace(found, answer=say_yes(found, whole)), notes


def _shortened(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Drop conditions that only exclude an earlier rule: the first matching rule applies."""
    earlier: set[tuple[str, ...]] = set()
    found: list[Rule] = []
    for rule in rules:
        needed = tuple(
            one
            for at, one in enumerate(rule.when)
            if not one.startswith(NOT) or (*rule.when[:at], one.removeprefix(NOT)) not in earlier
        )
        earlier.add(rule.when)
        found.append(replace(rule, when=needed))
    return tuple(found)


def _is_certain(evidence: Evidence | None) -> bool:
    return bool(evidence and evidence.interval and evidence.interval[0] > 0)


def _best_alone(data: Observations) -> tuple[str, Evidence] | None:
    found: list[tuple[str, Evidence]] = []
    for column, name in enumerate(data.methods):
        rows = data.judged[:, column] > 0
        if evidence := data.measure(np.full(len(rows), column, dtype=np.int64), rows):
            found.append((name, evidence))
    return max(found, key=lambda one: one[1].gain, default=None)
