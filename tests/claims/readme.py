"""Claims of README.md, of the lab notebook and of the design note on reply styles."""

from collections.abc import Iterator

import pytest

from constraint_first.benchmark.constraintbench.family import TIERS
from constraint_first.method.policy import find_policy
from constraint_first.model.local import DEFAULT_MODEL
from constraint_first.report.table import decimal, interval, points, scored, whole

from .data import (
    BENCH,
    FRESH,
    JSON,
    MINI,
    NEW,
    WORDS,
    accuracy,
    arm,
    by_family,
    cells,
    compared,
    families_of,
    gain,
    items_of,
    labels,
    loss,
    measured,
    other,
    ratio,
    ratios,
    scored_arm,
    split,
    tokens,
    unrouted,
    unseen,
    versus,
)
from .figure import frontier

OPENING = {
    NEW: "ConstraintBench",
    FRESH: "its first version, a fresh draw",
    "gsm8k": "GSM8K",
    "math500": "MATH-500",
    "pooled": "AIME 2024 and 2025",
}
"""The benchmarks of the second table of README.md, and what it calls them."""
FAMILIES = (18.4, 32.6)
"""The interval of the gain on ConstraintBench by family; 20,000 draws repeat it to 0.15."""
FUTURE = ("cfr-brief", "cfr-brief(question=1)", "cfr-brief(budget=cues)", "search", "stated-cfr")
"""CFR, and what the paper leaves for later."""


def readme() -> Iterator[str]:
    """Claim what README.md opens with and what it says under "What to expect"."""
    yield from _opening()
    yield from _expected()
    cfr, explicit = (
        versus(BENCH, "cfr-brief"),
        versus(BENCH, "cfr-brief", items_of(tier="explicit")),
    )
    low, high = cfr.ci
    yield (
        f"over {cfr.n} problems of the first version of ConstraintBench and {cfr.runs} runs "
        f"CFR-brief is {decimal(-cfr.gain)} points below Direct CoT "
        f"(95 % [{decimal(-high)}, {decimal(-low)}]) "
        f"at {ratio(BENCH, 'cfr-brief')} times the tokens"
    )
    by_tier = [versus(BENCH, "cfr-brief", items_of(tier=tier)).gain for tier in TIERS]
    assert explicit.gain == min(by_tier), "it loses most where the demand is explicit"
    yield f"most of all where the demand is explicit ({loss(explicit)}, n = {explicit.n})"
    pairs = compared(BENCH).pairs
    assert not any(pair.significant and pair.gain > 0 for pair in pairs)
    yield f"none of the {len(pairs)} methods that were tried there"
    yield f"{false_share()} of the statements in its Stage 1 that could be decided"


def _opening() -> Iterator[str]:
    bench = measured(NEW)
    families = f"[{decimal(FAMILIES[0])}, {decimal(FAMILIES[1])}]"
    assert by_family(NEW) == pytest.approx(FAMILIES, abs=0.15)  # pyright: ignore[reportUnknownMemberType]
    yield f"{decimal(bench.gain)} (95 % by family {families}) on ConstraintBench"
    yield f"drawn from {len(families_of(NEW))} families"
    yield f"by family the interval of its gain is {families}"
    heads = ("benchmark", "problems", "step by step", "Constraint-First", "gain [95 %]")
    rows = [cells(*heads, "output tokens"), cells("---", *["--:"] * 5)]
    for name, title in OPENING.items():
        pair = measured(name)
        accuracies = (decimal(pair.before), decimal(pair.after))
        rows.append(cells(title, f"{pair.n:,}", *accuracies, gain(pair), f"{ratios(pair)[0]}×"))
    yield "\n".join(rows)
    yield f"![{frontier().alt}](docs/results/frontier-programs.png)"


def _expected() -> Iterator[str]:
    new = measured("gsm8k", unseen("gsm8k"))
    yield (
        f"{gain(new)} points on the {new.n:,} problems of GSM8K that the policy was not learnt from"
    )
    told = [other("reminder", name) for name in (NEW, FRESH, "gsm8k")]
    assert not any(pair.significant for pair in told)
    own = [other(name, NEW) for name in ("cfr-brief", "routed-cfr-brief")]
    assert all(pair.gain < 0 for pair in own)
    yield "{} and {} points".format(*map(gain, own))
    every = [ratios(measured(name))[2] for name in (FRESH, NEW)]
    yield "{} to {} times all tokens on ConstraintBench".format(*every)


def false_share(*, of_all: bool = False) -> str:
    """Write the share of false statements, by the annotator, among those decided or among all."""
    said = labels().column(0)
    number = said.total() if of_all else said.total() - said["undecided"]
    return f"{whole(100 * said['hallucinated'] / number)} %"


def log() -> Iterator[str]:
    """Claim what docs/log.md says of data that are shipped."""
    yield from _first_runs()
    yield from _programs()


def _programs() -> Iterator[str]:
    for name, title in OPENING.items():
        pair = measured(name)
        used = ratios(pair)[0]
        yield cells(title, f"{pair.n:,}", gain(pair), used)
    told = [other("reminder", name) for name in (NEW, FRESH, "gsm8k")]
    yield "{}, {} and {}".format(*map(gain, told))
    parts = [*split(NEW).values()][:3]
    yield "{}, {} and {}".format(*map(gain, parts))
    future = [other(name, NEW) for name in FUTURE]
    for pair in future:
        yield f"`{pair.method}` {gain(pair)} at {ratios(pair)[0]} times the output tokens"
    policy = find_policy(DEFAULT_MODEL)
    found = (policy.by_problem, policy.by_family)
    yield "held out {}, whole families held out {}".format(
        *(points(one.gain) + interval(one.interval) for one in found if one)
    )


def _first_runs() -> Iterator[str]:
    for benchmark, title, method in (
        ("math500", "MATH-500", "cfr-brief"),
        ("gsm8k", "GSM8K", "routed-cfr-brief"),
    ):
        size = scored_arm(benchmark, "direct").problems
        yield cells(title, f"{size:,}", "Direct CoT", *_measured(benchmark, "direct"))
        label = arm(benchmark, method).label
        yield cells("", "", f"{label}, prose", *_measured(benchmark, method))
    math, gsm = versus("math500", "cfr-brief"), versus("gsm8k", "routed-cfr-brief")
    yield f"{decimal(-math.gain)} points on MATH-500 and {decimal(-gsm.gain)} on GSM8K"
    used = (ratio("math500", "cfr-brief"), ratio("gsm8k", "routed-cfr-brief"))
    yield "{} and {} times the tokens".format(*used)
    false, of_all = false_share(), false_share(of_all=True)
    yield f"{false} of the statements that could be decided ({of_all} of all) in its Stage 1"
    cfr = versus(BENCH, "cfr-brief")
    yield f"CFR-brief is {decimal(-cfr.gain)} points below Direct CoT"
    methods = WORDS[1 + len(compared(BENCH).pairs)]
    yield f"{methods} methods on ConstraintBench"
    yield f"All {methods} methods on all {cfr.n} problems, {WORDS[cfr.runs]} runs each"
    yield f"it falls to {decimal(accuracy(BENCH, JSON))} %"
    bench, gsm = (versus(name, "routed-cfr-brief", unrouted(name)) for name in (BENCH, "gsm8k"))
    yield f"no loss on ConstraintBench ({gain(bench)}, n = {bench.n})"
    yield f"one on GSM8K ({gain(gsm)}, n = {gsm.n})"


def _measured(benchmark: str, method: str) -> tuple[str, str, str]:
    found, ended = scored_arm(benchmark, method), arm(benchmark, method).statuses
    lost = f"{ended.get('truncated', 0)} / {ended.get('unparsed', 0)}"
    return scored(found.accuracy, found.interval), lost, tokens(benchmark, method)


def reply_style() -> Iterator[str]:
    """Claim what the design note on reply styles says."""
    own = scored_arm(BENCH, "cfr-brief")
    direct, json, prose = (decimal(accuracy(BENCH, name)) for name in ("direct", JSON, "cfr-brief"))
    yield f"on ConstraintBench ({own.problems} problems, {own.runs} runs): Direct CoT {direct} %"
    yield f"CFR-brief with the JSON reply {json} %, CFR-brief with the prose reply {prose} %"
    with_grammar = [decimal(accuracy(MINI, name)) for name in (JSON, "cfr-brief")]
    yield "{} % against {} %".format(*with_grammar)
    yield f"({scored_arm(MINI, 'cfr-brief').problems} problems, one run)"
