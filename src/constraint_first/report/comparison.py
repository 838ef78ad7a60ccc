"""Scores, costs and gains of methods: accuracies, tokens, paired comparisons, outcomes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, Literal, NamedTuple, TypeAlias

from constraint_first.error import CfrError
from constraint_first.method.vote import ballot
from constraint_first.report.reader import Source, open_study
from constraint_first.report.statistics import (
    FINEST_UNIT,
    Differences,
    Interval,
    IntervalKind,
    Test,
    bootstrap,
    detectable,
    differences,
    drawn,
    holm,
    wilson,
)
from constraint_first.report.study import (
    CONSTRAINED,
    Arm,
    Outcome,
    Study,
    benchmark_label,
    family_named,
    family_of,
    find_variant,
    groups_of,
    pooled_label,
)
from constraint_first.store.query import mean_share

# Scores of arms: accuracy with its interval, pass@k, majority@k, means over benchmarks.

_SAME: Final = 1e-11  # rounding error of sums in another order


@dataclass(frozen=True, slots=True)
class Score:
    """Accuracy in per cent: the mean over problems of the share of right runs."""

    accuracy: float
    interval: Interval
    problems: int
    runs: int
    how: str
    """The kind of interval: Wilson's, or the percentile interval of a bootstrap over problems."""


def score(*arms: Arm) -> Score | None:
    """Score an arm, or the problems of several together; None if nothing was judged."""
    return score_problems(Counter(found for arm in arms for found in arm.scores.values()))


def score_problems(scores: Mapping[tuple[int, int], int]) -> Score | None:
    """Score problems, counted by right runs and runs; all displayed accuracies use it."""
    mean = mean_share(scores, 100.0)
    if mean is None:
        return None
    counts = sorted(Counter(scores).elements())  # a fixed order makes seeded draws reproducible
    most = max(runs for _, runs in counts)
    if most == 1 or len({right / runs for right, runs in scores}) == 1:
        # If all problems score alike, a bootstrap has no spread; Wilson's interval is still valid.
        low, high = wilson(mean / 100 * len(counts), len(counts))
        return Score(mean, (100 * low, 100 * high), len(counts), most, "Wilson")
    unit = math.lcm(*{runs for _, runs in counts})
    if unit > FINEST_UNIT:
        spread = drawn([100 * right / runs for right, runs in counts], seed=0)
    else:
        spread = bootstrap([right * unit // runs for right, runs in counts], 100 / unit)
    interval = spread.interval("percentile")
    return Score(mean, interval, len(counts), most, "percentile bootstrap")


def pass_at(arm: Arm, k: int) -> float | None:
    """Estimate pass@k without bias, in per cent; None if no problem has k runs."""
    found = [
        1 - math.comb(runs - right, k) / math.comb(runs, k)
        for right, runs in arm.scores.values()
        if runs >= k
    ]
    return 100 * sum(found) / len(found) if found else None


def leads(arm: Arm, rivals: Iterable[Arm]) -> bool:
    """Whether no rival is more accurate than an arm on the same problems, and one is less."""
    against = list(rivals)
    same = all(rival.scores.keys() == arm.scores.keys() for rival in against)
    ahead = [(arm.accuracy or 0.0) - (rival.accuracy or 0.0) for rival in against]
    return same and all(lead > -_SAME for lead in ahead) and any(lead > _SAME for lead in ahead)


def mean_of_all(values: Sequence[float | None]) -> float | None:
    """Return the unweighted mean; None if a value is missing or there are none."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def majority_at(arm: Arm, k: int) -> float | None:
    """Return the accuracy of a vote among the first k runs, in per cent.

    Ties are resolved in favour of the first answer, as in Self-Consistency. None if no problem has
    k runs, or no answers were stored; and for two runs, because then the first answer always wins.
    """
    if k == 2:
        return None
    judged = (
        [(a.answer or "", a.correct) for a in attempts if a.correct is not None][:k]
        for attempts in arm.attempts.values()
    )
    votes = [vote for vote in judged if len(vote) == k]
    if not any(answer for vote in votes for answer, _ in vote):
        return None
    right = 0
    for vote in votes:
        ballots = [(ballot(answer), correct) for answer, correct in vote if answer]
        winners = Counter(one for one, _ in ballots).most_common(1)
        right += any(correct for one, correct in ballots if one == winners[0][0])
    return 100 * right / len(votes)


# Gain of a method over a baseline on all or some problems: those with a cue or of a kind.

Key: TypeAlias = tuple[str, str]
"""A benchmark and the name of a problem in it."""

BASELINE: Final = "direct"
"""The baseline unless another one is named (paper: Evaluation Scope)."""

_Score: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Gain:
    """Points that a method has over a baseline: the mean over problems."""

    points: float
    interval: Interval | None
    """95 %, by BCa bootstrap over problems; None if all gain alike, so that no spread is known."""
    n: int


@dataclass(frozen=True)
class ModelPairs:
    """A baseline and a method with one model: a pair of arms for each benchmark that has both."""

    model: str
    pairs: tuple[tuple[Arm, Arm], ...]

    @property
    def benchmarks(self) -> tuple[str, ...]:
        return tuple(base.benchmark for base, _ in self.pairs)

    @property
    def names(self) -> tuple[str, str]:
        base, method = self.pairs[0]
        return base.name, method.name

    @property
    def where(self) -> str:
        return ", ".join(map(benchmark_label, self.benchmarks))

    @cached_property
    def scores(self) -> dict[Key, tuple[_Score, _Score]]:
        """Right runs and runs before and after, of every problem that was judged on both sides."""
        return {
            (base.benchmark, name): (before, method.scores[name])
            for base, method in self.pairs
            for name, before in base.scores.items()
            if name in method.scores
        }

    def gain(self, within: Collection[Key] | None = None) -> Gain | None:
        chosen = tuple(s for key, s in self.scores.items() if within is None or key in within)
        if not chosen:
            return None
        found = Differences(chosen)
        return Gain(sum(found.points) / len(chosen), found.interval, len(chosen))


def pairs_by_model(study: Study, method: str, baseline: str = BASELINE) -> tuple[ModelPairs, ...]:
    """Find both methods in the primary decoding of each benchmark and model, by model."""
    arms = {(arm.benchmark, arm.model, arm.method): arm for arm in study.main_arms()}
    found: dict[str, list[tuple[Arm, Arm]]] = {}
    for (benchmark, model, name), arm in arms.items():
        other = arms.get((benchmark, model, method))
        if name == baseline != method and other and not arm.scores.keys().isdisjoint(other.scores):
            found.setdefault(model, []).append((arm, other))
    return tuple(ModelPairs(model, tuple(pairs)) for model, pairs in found.items())


# Tokens of attempts: means, ratios between methods, and usage by stage.
#
# Paper: Matched Prompting Baselines, Token Overhead.


class Tokens(NamedTuple):
    """Mean tokens of an attempt, in and out."""

    input: float
    output: float
    shared: float = 0.0
    """Input tokens that repeat an earlier call of the attempt."""

    @property
    def total(self) -> float:
        return self.input + self.output

    @property
    def shared_once(self) -> float:
        return self.total - self.shared


class TokenRatios(NamedTuple):
    """The tokens of a method in multiples of a baseline's, counted in three ways."""

    output: float | None = None
    shared_once: float | None = None
    """Of input and output; a prompt shared by several samples counts once."""
    every_time: float | None = None
    """Of input and output; every prompt counts as often as it was sent."""


def mean_tokens(arms: Iterable[Arm]) -> Tokens | None:
    """Average over the judged attempts of arms; None if tokens were not counted."""
    judged = [a for arm in arms for a in arm.all_attempts() if a.correct is not None]
    used = [(a.input_tokens, a.output_tokens, a.shared_tokens) for a in judged]
    sums = [sum(counts) for counts in zip(*used, strict=True)]
    return Tokens(*(count / len(judged) for count in sums)) if any(sums) else None


def token_ratios(arms: Iterable[Arm], bases: Iterable[Arm]) -> TokenRatios:
    return divide_tokens(mean_tokens(arms), mean_tokens(bases))


def divide_tokens(one: Tokens | None, other: Tokens | None) -> TokenRatios:
    """Divide tokens by others in each way of counting; None if either is unknown."""
    if one is None or other is None:
        return TokenRatios()
    counts = [(each.output, each.shared_once, each.total) for each in (one, other)]
    return TokenRatios(*(mine / base if base else None for mine, base in zip(*counts, strict=True)))


# Paired comparison of methods (paper: Convention-Controlled Paired Statistics).

POOLED: Final = "pooled"
"""The benchmark of a row that pools the problems of several benchmarks."""


class ComparisonError(CfrError):
    exit_code = 2


@dataclass(frozen=True, slots=True)
class Plan:
    interval: IntervalKind = "bca"
    seed: int = 0
    resamples: int = 0
    """Random resamples for intervals; 0 for the exact bootstrap distribution."""
    pool: bool = True
    """Whether the benchmarks of a group, such as AIME's years, are also pooled."""
    pool_all: bool = False
    """Whether all benchmarks are also pooled."""
    also_tested: tuple[float, ...] = ()
    """P-values of other tests of the same family, for the correction."""


_PLAN: Final = Plan()


@dataclass(frozen=True, slots=True)
class Pair:
    """A method against a baseline on one benchmark, in points of accuracy."""

    baseline: str
    method: str
    benchmark: str
    model: str
    n: int
    runs: int
    """The most runs that a problem has; ``fewest`` is the least."""
    before: float
    after: float
    improved: int
    tied: int
    degraded: int
    ci: Interval
    ci_percentile: Interval
    p: float
    test: Test
    detectable: float | None
    """The smallest gain that such a set detects with 80 % power; None without any spread."""
    exact: bool = True
    """Whether the interval is exact; otherwise it is from random resamples."""
    fewest: int = 0
    pooled: tuple[str, ...] = ()
    """The benchmarks of a pooled row."""
    group: str = ""
    """The name of their group; empty if they are all benchmarks."""
    p_holm: float = 1.0
    left_out: int = 0
    """Problems that were judged for only one of the two methods."""
    failed: int = 0
    """Attempts that failed, on either side."""
    labels: tuple[str, str] = ("", "")
    decoding: str = "{}"
    tokens: TokenRatios = field(default_factory=TokenRatios)
    """The ratios over the judged attempts at these problems."""

    @property
    def gain(self) -> float:
        return self.after - self.before

    @property
    def where(self) -> str:
        return pooled_label(self.pooled) if self.pooled else benchmark_label(self.benchmark)

    @property
    def changed(self) -> int:
        return self.improved + self.degraded

    @property
    def interval(self) -> Interval | None:
        """The interval; None if all problems gain alike, since it is then meaningless."""
        return self.ci if self.detectable is not None else None

    @property
    def significant(self) -> bool:
        return self.p_holm < 0.05

    @property
    def better(self) -> bool:
        return self.significant and self.gain > 0


@dataclass(frozen=True, slots=True)
class Comparison:
    """Pairs that were tested together, with a correction over the family."""

    pairs: tuple[Pair, ...]
    family: int
    """The number of tests in the correction."""
    missing: tuple[str, ...] = ()
    """Methods that share no judged problem with the baseline."""
    interval: IntervalKind = "bca"
    """The kind of bootstrap interval."""


def compare(
    runs: Source | Sequence[Source],
    baseline: str = BASELINE,
    methods: str | Sequence[str] = (),
    plan: Plan = _PLAN,
) -> Comparison:
    """Compare methods (all unless some are named) with a baseline, under the same conditions."""
    study = open_study(runs)
    known = study.names("method")
    if not known:
        raise ComparisonError(f"{study.source}: no attempts yet; run 'cfr eval' first")
    base = find_method(study, baseline)
    bad = next((p for p in plan.also_tested if not 0 <= p <= 1), None)
    if bad is not None:
        raise ComparisonError(f"{bad}: not a p-value; it must be from 0 to 1")
    wanted = (methods,) if isinstance(methods, str) else methods
    named = list(dict.fromkeys(find_method(study, name) for name in wanted))
    others = named or [name for name in known if name != base]
    if base in others:
        raise ComparisonError(f"{base}: compared with itself; name another --method")
    if not others:
        raise ComparisonError(f"{study.source}: has {base} alone; run another method to compare")
    pairs = [pair for name in others for pair in _pairs(study, base, name, plan)]
    if not pairs:
        raise ComparisonError(
            f"{study.source}: {base} and {', '.join(others)} have no judged problem in common with "
            "the same benchmark, model and decoding; run both on the same set"
        )
    found = {pair.method for pair in pairs}
    corrected = holm([*(pair.p for pair in pairs), *plan.also_tested])
    return Comparison(
        tuple(replace(pair, p_holm=p) for pair, p in zip(pairs, corrected, strict=False)),
        len(corrected),
        tuple(name for name in others if name not in found),
        plan.interval,
    )


def pair_arms(
    baseline: Sequence[Arm], method: Sequence[Arm], benchmark: str, plan: Plan = _PLAN
) -> Pair | None:
    found = differences(baseline, method)
    if found is None:
        return None
    before, after = (100 * sum(share) / len(share) for share in zip(*found.shares, strict=True))
    improved, tied, degraded = found.counts
    p, test = found.test(plan.seed)
    spread = found.resampled(plan.seed, plan.resamples)
    return Pair(
        baseline=baseline[0].method,
        method=method[0].method,
        benchmark=benchmark,
        model=baseline[0].model,
        n=len(found.scores),
        runs=found.runs,
        before=before,
        after=after,
        improved=improved,
        tied=tied,
        degraded=degraded,
        ci=spread.interval(plan.interval),
        ci_percentile=spread.interval("percentile"),
        p=p,
        test=test,
        detectable=detectable(found.points),
        exact=spread.exact,
        fewest=found.fewest_runs,
        pooled=tuple(arm.benchmark for arm in baseline) if len(baseline) > 1 else (),
        left_out=found.left_out,
        failed=found.failed,
        labels=(baseline[0].name, method[0].name),
        decoding=baseline[0].decoding,
        tokens=token_ratios(
            map(_on_problems_of, method, baseline), map(_on_problems_of, baseline, method)
        ),
    )


def _on_problems_of(arm: Arm, other: Arm) -> Arm:
    return replace(arm, attempts={p: a for p, a in arm.attempts.items() if p in other.scores})


def find_method(study: Study, name: str, chosen: Sequence[str] = ()) -> str:
    """Find a method by its stored name, its name in tables, or its family."""
    known = study.names("method")
    if name in known:
        return name
    for arm in study.arms:
        if name.casefold() == arm.name.casefold():
            return arm.method
    if found := find_variant(study, family_named(study, name), chosen):
        return found
    raise ComparisonError(f"{study.source}: has no method {name!r}; it has {', '.join(known)}")


def find_baseline(study: Study, name: str = "", chosen: Sequence[str] = ()) -> str:
    """Find the baseline: the named one, or Direct CoT even if the study lacks it."""
    if name:
        return find_method(study, name, chosen)
    return find_variant(study, BASELINE, chosen) or BASELINE


def constrained_method(
    study: Study, baseline: str, wanted: str = "", chosen: Sequence[str] = ()
) -> str:
    """Find the method to examine closely: the named one, a kind of CFR, or another."""
    if wanted:
        found = find_method(study, wanted, chosen)
        if found == baseline:
            raise ComparisonError(f"{found}: compared with itself; name another --method")
        return found
    others = [name for name in study.names("method") if name != baseline]
    known = (find_variant(study, family, chosen) for family in CONSTRAINED)
    return next((name for name in known if name in others), [*others, baseline][0])


def _pairs(study: Study, base: str, name: str, plan: Plan) -> Iterator[Pair]:
    for model in study.names("model"):
        for decoding in study.names("decoding"):
            both = [
                (one, other)
                for one in study.select(method=base, model=model, decoding=decoding)
                for other in study.select(
                    benchmark=one.benchmark, method=name, model=model, decoding=decoding
                )
                if not one.scores.keys().isdisjoint(other.scores)
            ]
            for one, other in both:
                yield from filter(None, [pair_arms([one], [other], one.benchmark, plan)])
            yield from _pools(both, plan)


def _pools(both: Sequence[tuple[Arm, Arm]], plan: Plan) -> Iterator[Pair]:
    """Compare on pooled benchmarks: each group, and on request all benchmarks."""
    every = tuple(one.benchmark for one, _ in both)
    groups = groups_of(every) if plan.pool else {}
    if plan.pool_all and len(every) > 1 and every not in groups.values():
        groups[""] = every
    for group, names in groups.items():
        chosen = [pair for pair in both if pair[0].benchmark in names]
        found = pair_arms([one for one, _ in chosen], [o for _, o in chosen], POOLED, plan)
        yield from [replace(found, group=group)] if found else []


def headline_pairs(comparison: Comparison) -> list[Pair]:
    """Choose the pairs for the verdict: pooled groups, and benchmarks outside of groups."""
    pairs = comparison.pairs
    within = {(one.method, one.model, one.decoding, name) for one in pairs for name in one.pooled}
    return [p for p in pairs if (p.method, p.model, p.decoding, p.benchmark) not in within]


def best_supported(comparison: Comparison) -> Pair:
    """Find the pair for a verdict: the smallest p of significant gains, else losses, else all."""
    return min(
        headline_pairs(comparison),
        key=lambda pair: (not pair.better, not pair.significant, pair.p_holm, pair.p, -pair.gain),
    )


# Outcomes of problems under two methods (paper: appendix Per-Problem Analysis).

RightRule: TypeAlias = Literal["any", "first"]
"""When a problem counts as right: if any run is right (pass@k), or if its first judged run is."""


def outcome(attempts: Sequence[Outcome], rule: RightRule = "any") -> bool | None:
    """Return whether a problem counts as right; None if none of its runs was judged."""
    judged = [attempt.correct for attempt in attempts if attempt.correct is not None]
    return (any(judged) if rule == "any" else judged[0]) if judged else None


def both_outcomes(
    base: Arm, method: Arm, rule: RightRule
) -> Iterator[tuple[str, tuple[bool, bool]]]:
    """Yield the outcomes, before and after, of problems that were judged for both methods."""
    for problem, attempts in base.attempts.items():
        before = outcome(attempts, rule)
        after = outcome(method.attempts.get(problem, ()), rule)
        if before is not None and after is not None:
            yield problem, (before, after)


def left_to_baseline(base: Arm, attempts: Sequence[Outcome]) -> bool:
    """Whether a router left all judged attempts to the baseline: any difference is chance."""
    judged = [attempt.routed for attempt in attempts if attempt.correct is not None]
    return family_of(base) == BASELINE and {*judged} == {False}


def changed_by_chance(base: Arm, method: Arm, rule: RightRule) -> int:
    """Count the problems that changed sides although the router left them to the baseline."""
    return sum(
        before != after and left_to_baseline(base, method.attempts[problem])
        for problem, (before, after) in both_outcomes(base, method, rule)
    )
