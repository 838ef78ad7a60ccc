"""Claims of README.md, of the lab notebook and of the design note on reply styles."""

from collections.abc import Iterator

from cfr.analysis.notation import decimal, scored, whole
from cfr.benchmark.constraintbench.item import TIERS

from .notation import WORDS, cells, gain, loss
from .shipped import (
    BENCH,
    JSON,
    MINI,
    accuracy,
    arm,
    compared,
    items_of,
    labels,
    ratio,
    scored_arm,
    tokens,
    unrouted,
    versus,
)

__all__ = ["log", "readme", "reply_style"]


def readme() -> Iterator[str]:
    """Claim what README.md says under "What to expect"."""
    cfr, explicit = versus(BENCH, "cfr"), versus(BENCH, "cfr", items_of(tier="explicit"))
    low, high = cfr.ci
    yield (
        f"over {cfr.n} problems of ConstraintBench and {cfr.runs} runs CFR is "
        f"{decimal(-cfr.gain)} points below Direct CoT (95 % [{decimal(-high)}, {decimal(-low)}]) "
        f"at {ratio(BENCH, 'cfr')} times the tokens"
    )
    by_tier = [versus(BENCH, "cfr", items_of(tier=tier)).gain for tier in TIERS]
    assert explicit.gain == min(by_tier), "it loses most where the demand is explicit"
    yield f"most of all where the demand is explicit ({loss(explicit)}, n = {explicit.n})"
    pairs = compared(BENCH).pairs
    assert not any(pair.significant and pair.gain > 0 for pair in pairs)
    yield f"none of the {len(pairs)} other methods is shown to beat Direct CoT"
    yield f"{false_share()} of the statements in its Stage 1 that could be decided"


def false_share(*, of_all: bool = False) -> str:
    """Write the share of false statements, by the annotator, among those decided or among all."""
    said = labels().column(0)
    number = said.total() if of_all else said.total() - said["undecided"]
    return f"{whole(100 * said['hallucinated'] / number)} %"


def log() -> Iterator[str]:
    """Claim what docs/log.md says of data that are shipped."""
    for benchmark, title, method in (
        ("math500", "MATH-500", "cfr"),
        ("gsm8k", "GSM8K", "routed-cfr"),
    ):
        size = scored_arm(benchmark, "direct").problems
        yield cells(title, f"{size:,}", "Direct CoT", *_measured(benchmark, "direct"))
        label = arm(benchmark, method).label
        yield cells("", "", f"{label}, prose", *_measured(benchmark, method))
    math, gsm = versus("math500", "cfr"), versus("gsm8k", "routed-cfr")
    yield f"{decimal(-math.gain)} points on MATH-500 and {decimal(-gsm.gain)} on GSM8K"
    used = (ratio("math500", "cfr"), ratio("gsm8k", "routed-cfr"))
    yield "{} and {} times the tokens".format(*used)
    false, of_all = false_share(), false_share(of_all=True)
    yield f"{false} of the statements that could be decided ({of_all} of all) in its Stage 1"
    cfr = versus(BENCH, "cfr")
    yield f"CFR is {decimal(-cfr.gain)} points below Direct CoT"
    methods = WORDS[1 + len(compared(BENCH).pairs)]
    yield f"{methods} methods on ConstraintBench"
    yield f"All {methods} methods on all {cfr.n} problems, {WORDS[cfr.runs]} runs each"
    yield f"it falls to {decimal(accuracy(BENCH, JSON))} %"
    bench, gsm = (versus(name, "routed-cfr", unrouted(name)) for name in (BENCH, "gsm8k"))
    yield f"no loss on ConstraintBench ({gain(bench)}, n = {bench.n})"
    yield f"one on GSM8K ({gain(gsm)}, n = {gsm.n})"


def _measured(benchmark: str, method: str) -> tuple[str, str, str]:
    found, ended = scored_arm(benchmark, method), arm(benchmark, method).statuses
    lost = f"{ended.get('truncated', 0)} / {ended.get('unparsed', 0)}"
    return scored(found.accuracy, found.interval), lost, tokens(benchmark, method)


def reply_style() -> Iterator[str]:
    """Claim what the design note on reply styles says."""
    own = scored_arm(BENCH, "cfr")
    direct, json, prose = (decimal(accuracy(BENCH, name)) for name in ("direct", JSON, "cfr"))
    yield f"on ConstraintBench ({own.problems} problems, {own.runs} runs): Direct CoT {direct} %"
    yield f"CFR with the JSON reply {json} %, CFR with the prose reply {prose} %"
    with_grammar = [decimal(accuracy(MINI, name)) for name in (JSON, "cfr")]
    yield "{} % against {} %".format(*with_grammar)
    yield f"({scored_arm(MINI, 'cfr').problems} problems, one run)"
