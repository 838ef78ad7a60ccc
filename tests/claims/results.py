"""Claims of docs/results/README.md."""

from collections import Counter
from collections.abc import Iterator

from constraint_first.benchmark.constraintbench.family import TIERS
from constraint_first.constraint.router import route
from constraint_first.report.comparison import mean_tokens, pair_arms, score
from constraint_first.report.statistics import holm
from constraint_first.report.table import decimal, interval, p_value, scored, whole

from .notation import WORDS, cells, comparison_row, gain
from .programs import program_results
from .shipped import (
    BENCH,
    GPU,
    JSON,
    MINI,
    PAPER,
    accuracy,
    arm,
    compared,
    items,
    items_of,
    ratio,
    scored_arm,
    shipped,
    statuses,
    tokens,
    unrouted,
    versus,
)

__all__ = ["results"]


def results() -> Iterator[str]:
    """Claim what the page says, from its top."""
    yield from program_results()
    yield from _settings()
    yield from _comparison()
    yield from _losses()
    yield from _others()
    yield from _unrouted()
    yield from _paper_prompts()
    yield from _mini()


def _settings() -> Iterator[str]:
    ended = statuses(BENCH)
    cut, unread = ended["truncated"], ended["unparsed"]
    assert not ended["failed"]
    yield f"{ended.total():,} attempts on a GPU"
    yield (
        f"No attempt failed; {cut} of {ended.total():,} were cut off "
        f"({decimal(100 * cut / ended.total())} %) and {unread} had no answer that could be read "
        f"({decimal(100 * unread / ended.total())} %)."
    )
    few, many = scored_arm(BENCH, "direct").runs, scored_arm("aime24", "direct").runs
    yield f"averaged over {WORDS[few]} runs (AIME: {WORDS[many]})"
    assert {one.runs for one in shipped(GPU).arms if "aime" not in one.benchmark} == {few}
    assert {one.runs for one in shipped(GPU).arms if "aime" in one.benchmark} == {many}
    for name, seed in ((BENCH, 1), ("aime24", 1), ("math500", "null"), ("gsm8k", "null")):
        assert arm(name, "direct").decoding == f'{{"temperature":0.7,"top_p":0.95,"seed":{seed}}}'
    yield "temperature 0.7, top-p 0.95"
    yield "`--seed 1` was sent for ConstraintBench and AIME and none for the other two"


def _comparison() -> Iterator[str]:
    base, found = scored_arm(BENCH, "direct"), compared(BENCH)
    methods = {one.method for one in shipped(GPU).select(benchmark=BENCH)}
    yield f"{WORDS[len(methods)].capitalize()} methods on ConstraintBench"
    size = f"{base.problems} problems × {base.runs} runs"
    yield f"ConstraintBench, {size}, against Direct CoT ({scored(base.accuracy, base.interval)})"
    yield f"Holm's correction for these {WORDS[found.family]} tests"
    yield cells("Direct CoT", decimal(base.accuracy), *[""] * 4, tokens(BENCH, "direct"))
    for pair in found.pairs:
        yield comparison_row(pair, decimal(pair.after), tokens(BENCH, pair.method))


def _losses() -> Iterator[str]:
    always, routed = versus(BENCH, "cfr-brief"), versus(BENCH, "routed-cfr-brief")
    yield (
        f"it is {decimal(-always.gain)} and {decimal(-routed.gain)} points below Direct CoT, at "
        f"{ratio(BENCH, 'cfr-brief')} and {ratio(BENCH, 'routed-cfr-brief')} times the tokens"
    )
    math, gsm = versus("math500", "cfr-brief"), versus("gsm8k", "routed-cfr-brief")
    always_on, by_cues = ratio("math500", "cfr-brief"), ratio("gsm8k", "routed-cfr-brief")
    yield f"on MATH-500, always on ({gain(math)}, n = {math.n}, {always_on} times)"
    yield f"on GSM8K, routed ({gain(gsm)}, n = {gsm.n:,}, {by_cues} times)"
    yield f"CFR-brief costs {ratio(BENCH, 'cfr-brief')} times as much"
    tiers = {tier: versus(BENCH, "cfr-brief", items_of(tier=tier)) for tier in TIERS}
    worst, *rest = sorted(tiers, key=lambda tier: tiers[tier].gain)
    assert worst == "explicit"
    yield f"{gain(tiers[worst])} on the {tiers[worst].n} problems of the explicit tier"
    yield ", ".join(f"{gain(tiers[tier])} on the {tier}" for tier in rest)


def _others() -> Iterator[str]:
    yield f"{decimal(accuracy(BENCH, JSON))} % against {decimal(accuracy(BENCH, 'cfr-brief'))} %"
    best = max(compared(BENCH).pairs, key=lambda pair: pair.gain)
    assert (best.method, best.significant) == ("reminder", False)
    yield f"The reminder has the largest gain, {gain(best)}; its p of {p_value(best.p)} does not"
    long, cfr = (arm(BENCH, name) for name in ("extended(tokens=1025)", "cfr-brief"))
    output = [sum(a.output_tokens for a in one.all_attempts()) / 960 for one in (long, cfr)]
    yield "{} output tokens where CFR-brief has {}".format(*map(whole, output))
    aime = [one.accuracy or 0 for one in shipped(GPU).arms if "aime" in one.benchmark]
    yield f"(at most {decimal(100 * max(aime))} %)"


def _unrouted() -> Iterator[str]:
    silent = {name for name, item in items().items() if not route(item.text)}
    assert unrouted(BENCH) == silent, "prompts of equal length are those of unrouted problems"
    bench, gsm = (versus(name, "routed-cfr-brief", unrouted(name)) for name in (BENCH, "gsm8k"))
    cued = arm("gsm8k", "direct").attempts.keys() - unrouted("gsm8k")
    yield f"On the {bench.n} of ConstraintBench they do not: {gain(bench)}."
    yield (
        f"On the {gsm.n} of GSM8K they do: {gain(gsm)}, p = {p_value(gsm.p)}, "
        f"{p_value(holm([gsm.p, bench.p])[0])} after correction for the two tests."
    )
    on_cued = versus("gsm8k", "routed-cfr-brief", cued)
    yield f"On its {len(cued)} routed problems it is {gain(on_cued)}."


def _paper_prompts() -> Iterator[str]:
    study = shipped(PAPER)
    ended = Counter(attempt.status for attempt in study.all_attempts())
    assert not ended["failed"]
    yield f"No attempt failed; {ended['truncated']} of {ended.total():,} were cut off"
    for one in study.arms:
        own, pair = score(one), pair_arms([arm(BENCH, "direct")], [one], BENCH)
        spent = mean_tokens([one])
        assert own
        assert pair
        assert spent
        assert (own.problems, own.runs) == (480, 2)
        name = study.method_name(one.method)
        yield cells(name, scored(own.accuracy, own.interval), gain(pair), whole(spent.total))


def _mini() -> Iterator[str]:
    found, ended = compared(MINI), statuses(MINI)
    took = [one.finished_at for one in shipped("constraintbench-mini.jsonl").all_attempts()]
    yield f"{whole((max(took) - min(took)) / 60)} minutes"
    base = scored_arm(MINI, "direct")
    yield f"{WORDS[1 + len(found.pairs)].capitalize()} methods on ConstraintBench-mini"
    yield f"temperature 0.7, top-p 0.95, seed 1, one run of each of the {base.problems} problems"
    assert arm(MINI, "direct").decoding == '{"temperature":0.7,"top_p":0.95,"seed":1}'
    assert (ended["failed"], ended["truncated"]) == (0, 0)
    yield f"No attempt failed or was cut off; {WORDS[ended['unparsed']]} had no answer"
    first = scored(base.accuracy, base.interval)
    yield cells("Direct CoT", first, *[""] * 4, tokens(MINI, "direct"))
    for pair in found.pairs:
        own = scored_arm(MINI, pair.method)
        yield comparison_row(pair, scored(own.accuracy, own.interval), tokens(MINI, pair.method))
    least = [pair.detectable or 0 for pair in found.pairs]
    assert not any(pair.significant for pair in found.pairs)
    yield f"With {base.problems} problems and one run nothing is shown"
    yield f"between {decimal(min(least))} and {decimal(max(least))} points"
    other = versus(MINI, JSON, baseline="cfr-brief")
    yield (
        f"it is {decimal(other.gain)} points{interval(other.interval)} ({other.improved} improved, "
        f"{other.degraded} degraded, exact McNemar p = {p_value(other.p)}"
    )
