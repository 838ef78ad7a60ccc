"""Paired comparison of methods (paper: Convention-Controlled Paired Statistics)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from constraint_first.analysis.statistics.cost import TokenRatios, token_ratios
from constraint_first.analysis.statistics.difference import differences
from constraint_first.analysis.statistics.interval import Interval
from constraint_first.analysis.statistics.paired import Test, detectable, holm
from constraint_first.analysis.statistics.resample import IntervalKind
from constraint_first.analysis.statistics.subset import BASELINE
from constraint_first.analysis.study.family import CONSTRAINED, family_named, find_variant
from constraint_first.analysis.study.group import groups_of
from constraint_first.analysis.study.reader import Source, open_study
from constraint_first.analysis.study.study import Arm, Study, benchmark_label, pooled_label
from constraint_first.error import CfrError

__all__ = [
    "POOLED",
    "Comparison",
    "ComparisonError",
    "Pair",
    "Plan",
    "compare",
    "constrained_method",
    "find_baseline",
    "find_method",
    "pair_arms",
]

POOLED: Final = "pooled"
"""The benchmark of a row that takes the problems of several together."""


class ComparisonError(CfrError):
    """A comparison that the data cannot give."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Plan:
    """Options of a comparison: its intervals, its pooling, its family of tests."""

    interval: IntervalKind = "bca"
    seed: int = 0
    resamples: int = 0
    """Random resamples for intervals; 0 for the exact bootstrap distribution."""
    pool: bool = True
    """Whether the benchmarks of a group, such as AIME's years, are also taken together."""
    pool_all: bool = False
    """Whether all benchmarks are also taken together."""
    also_tested: tuple[float, ...] = ()
    """P-values of tests that belong to the same family and are not among these."""


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
    """The smallest gain that a set like this detects with 80 % power; None without any spread."""
    exact: bool = True
    """Whether the interval is exact; otherwise it was drawn."""
    fewest: int = 0
    pooled: tuple[str, ...] = ()
    """The benchmarks of a row that takes several together."""
    group: str = ""
    """The name of the group that these are; empty where they are all benchmarks."""
    p_holm: float = 1.0
    left_out: int = 0
    """Problems that only one of the two has judged."""
    failed: int = 0
    """Attempts that failed, on either side."""
    labels: tuple[str, str] = ("", "")
    decoding: str = "{}"
    tokens: TokenRatios = field(default_factory=TokenRatios)
    """Of the judged attempts at these problems."""

    @property
    def gain(self) -> float:
        """Points that the method has over the baseline."""
        return self.after - self.before

    @property
    def where(self) -> str:
        """The benchmark as tables print it; a row that takes several together names them all."""
        return pooled_label(self.pooled) if self.pooled else benchmark_label(self.benchmark)

    @property
    def changed(self) -> int:
        """Problems that differ."""
        return self.improved + self.degraded

    @property
    def interval(self) -> Interval | None:
        """The interval, where problems differ in what they gain: otherwise it says nothing."""
        return self.ci if self.detectable is not None else None

    @property
    def significant(self) -> bool:
        """Whether the corrected p-value is below 0.05."""
        return self.p_holm < 0.05


@dataclass(frozen=True, slots=True)
class Comparison:
    """Pairs that were tested together, corrected as one family."""

    pairs: tuple[Pair, ...]
    family: int
    """How many tests the correction is for."""
    missing: tuple[str, ...] = ()
    """Methods that share no judged problem with the baseline."""
    interval: IntervalKind = "bca"
    """Which interval of the bootstrap the pairs have."""


def compare(
    runs: Source | Sequence[Source],
    baseline: str = BASELINE,
    methods: str | Sequence[str] = (),
    plan: Plan = _PLAN,
) -> Comparison:
    """Compare methods with a baseline wherever both were run under the same conditions.

    The runs are a study, or what one can be read from: stores and ``.jsonl`` files. Where no
    method is named, all are compared.
    """
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
    """Compare arms problem by problem; None where no problem was judged on both sides."""
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
        tokens=_tokens(baseline, method),
    )


def _tokens(baseline: Sequence[Arm], method: Sequence[Arm]) -> TokenRatios:
    """Divide the tokens of arms on the problems that were judged on both sides."""
    both = list(zip(baseline, method, strict=True))
    return token_ratios(
        [_shared_problems(arm, base) for base, arm in both],
        [_shared_problems(base, arm) for base, arm in both],
    )


def _shared_problems(arm: Arm, other: Arm) -> Arm:
    return replace(arm, attempts={p: a for p, a in arm.attempts.items() if p in other.scores})


def find_method(study: Study, name: str, chosen: Sequence[str] = ()) -> str:
    """Find a method by the name it was run under, as tables print it, or by its family.

    Where a family has several variants, one of them stands for it (``study.family``).
    """
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
    """Find the baseline: the one that is named, or Direct CoT, which a study need not have."""
    if name:
        return find_method(study, name, chosen)
    return find_variant(study, BASELINE, chosen) or BASELINE


def constrained_method(
    study: Study, baseline: str, wanted: str = "", chosen: Sequence[str] = ()
) -> str:
    """Find the method that is looked at closely: the one wanted, a kind of CFR, or another."""
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
    """Compare on the problems of several benchmarks together: each group, and if asked for all."""
    every = tuple(one.benchmark for one, _ in both)
    groups = groups_of(every) if plan.pool else {}
    if plan.pool_all and len(every) > 1 and every not in groups.values():
        groups[""] = every
    for group, names in groups.items():
        chosen = [pair for pair in both if pair[0].benchmark in names]
        found = pair_arms([one for one, _ in chosen], [o for _, o in chosen], POOLED, plan)
        yield from [replace(found, group=group)] if found else []
