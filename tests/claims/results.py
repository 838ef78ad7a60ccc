"""Claims of README.md, docs/results/README.md, docs/demands.md, the lab notebook and a design note.

A table of programs is one claim, with a row for every series that the file has: where a method or a
benchmark is added, the message of the test that fails holds the table to paste.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import cache

import pytest

from constraint_first.benchmark.constraintbench.family import TIERS
from constraint_first.constraint.router import route
from constraint_first.method.policy import find_policy
from constraint_first.method.registry import METHODS
from constraint_first.model.local import DEFAULT_MODEL
from constraint_first.report.comparison import Pair, compare, mean_tokens, pair_arms, score
from constraint_first.report.statistics import holm
from constraint_first.report.study import Arm, benchmark_label
from constraint_first.report.table import decimal, interval, p_value, points, scored, whole

from .data import (
    BENCH,
    CALIBRATED,
    CALIBRATION,
    FRESH,
    GPU,
    JSON,
    MINI,
    NEW,
    PAPER,
    PARTS,
    PROGRAM,
    PROGRAMS,
    STYLES,
    UNCHECKED,
    UNTIL,
    WORDS,
    accuracy,
    arm,
    arm_of,
    by_family,
    calibrated,
    cells,
    compared,
    comparison_row,
    families_of,
    gain,
    items,
    items_of,
    labels,
    learnt,
    loss,
    measured,
    other,
    others,
    ratio,
    ratios,
    scored_arm,
    shipped,
    split,
    statuses,
    tokens,
    unrouted,
    unseen,
    versus,
)
from .figure import frontier
from .public import public_results, public_table


def results() -> Iterator[str]:
    """Claim what the page says, from its top."""
    yield from public_results()
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


OWN = {
    NEW: "ConstraintBench, `public`",
    FRESH: "ConstraintBench 1, seed 5101",
    "pooled": "AIME24 and AIME25 together",
}
"""How tables name benchmarks, where that is not their label."""
MOST_OUTPUT = 1.05


def program_results() -> Iterator[str]:
    """Claim what the section says, from its top."""
    yield from OWN.values()
    yield from _program_settings()
    yield _calibrated_table()
    yield from _other_tables()
    yield f"![{frontier().alt}](frontier-programs.png)"
    yield from _split()
    yield _styles()
    yield from _targets()
    yield from _not_measured()


def _named(benchmark: str) -> str:
    return OWN.get(benchmark) or benchmark_label(benchmark)


def _program_settings() -> Iterator[str]:
    for name in (PROGRAMS, CALIBRATION):
        ended = Counter(one.status for one in shipped(name).all_attempts())
        assert not ended["failed"]
        yield (
            f"of {ended.total():,} attempts {ended['truncated']} were cut off and "
            f"{ended['unparsed']} had no answer that could be read"
        )
        yield f"{ended.total():,} attempts"
    for name in (PROGRAMS, CALIBRATION):
        for one in shipped(name).arms:
            assert one.decoding == '{"temperature":0.7,"top_p":0.95,"seed":null}', one.key
    yield _days()
    yield "temperature 0.7, top-p 0.95, no seed"
    runs = shipped(CALIBRATION)
    sizes = {one.benchmark: len(one.scores) for one in runs.arms}
    for name, size in sizes.items():
        yield f"{size} of {name}"
    yield f"{sum(sizes.values()):,} problems, {_runs()}"
    requests, rule = find_policy(DEFAULT_MODEL).rules
    assert requests.when == ("demand",)
    yield f"until two of them agree, up to four of them (`{rule.method}`)"
    assert rule.when == ("not functions", "not geometry")
    assert rule.method == UNTIL


def _runs() -> str:
    """Say how often each method ran in the calibration."""
    found = Counter(
        max(one.runs for one in shipped(CALIBRATION).select(method=method))
        for method in shipped(CALIBRATION).names("method")
    )
    (often, most), (seldom, rest) = found.most_common()
    return f"{WORDS[often]} runs each of {WORDS[most]} methods and {WORDS[seldom]} of {WORDS[rest]}"


def _days() -> str:
    first = arm_of(NEW, "direct")
    found = [
        {f"{datetime.fromtimestamp(run.finished_at, UTC):%Y-%m-%d}" for run in one.all_attempts()}
        for one in shipped(PROGRAMS).arms
        if one is not first
    ]
    days = " and ".join(sorted(set[str]().union(*found)))
    (before,) = {
        datetime.fromtimestamp(run.finished_at, UTC).date() for run in first.all_attempts()
    }
    return f"{days} (Direct CoT on ConstraintBench's `public`: {before})"


def _table(heads: Sequence[str], rows: Sequence[str], left: int = 1) -> str:
    lines = [cells(*heads), cells(*["---"] * left, *["--:"] * (len(heads) - left)), *rows]
    return "\n".join(lines)


def _calibrated_table() -> str:
    rows: list[str] = []
    for pair in calibrated().pairs:
        arms = [
            [arm_of(name, method) for name in pair.pooled or (pair.benchmark,)]
            for method in ("direct", CALIBRATED)
        ]
        size = f"{pair.n:,} × {pair.runs}"
        accuracies = [_accuracy(*side) for side in arms]
        tested = (gain(pair), p_value(pair.p_holm))
        rows.append(cells(_named(pair.benchmark), size, *accuracies, *tested, *ratios(pair)))
    heads = ("benchmark", "problems × runs", "Direct CoT [95 %]", "calibrated [95 %]")
    costs = ("output", "prompt once", "every time")
    return _table((*heads, "gain [95 %]", "Holm p", *costs), rows)


def _accuracy(*arms: Arm) -> str:
    found = score(*arms)
    assert found
    return scored(found.accuracy, found.interval)


def _other_tables() -> Iterator[str]:
    yield f"Holm's correction for the {WORDS[calibrated().family]} tests of this table"
    yield f"corrected together, for {others().family} tests"
    told = [other("reminder", name) for name in (NEW, FRESH)]
    assert not any(pair.significant for pair in told)
    yield "({} and {} on the two sets of ConstraintBench)".format(*map(gain, told))
    for benchmark in dict.fromkeys(pair.benchmark for pair in others().pairs if not pair.pooled):
        yield f"{_named(benchmark)}:\n\n{_other_table(benchmark)}"


def _other_table(benchmark: str) -> str:
    pairs = [pair for pair in others().pairs if pair.benchmark == benchmark]
    most = max(pair.n for pair in pairs)
    first = next({*arm_of(benchmark, p.method).scores} for p in pairs if p.n == most)
    own = measured(benchmark, first)
    rows = [cells("`direct`", most, _accuracy(arm_of(benchmark, "direct", first)), *[""] * 5)]
    for pair in sorted([own, *pairs], key=lambda pair: -pair.gain):
        chosen = first if pair.method == CALIBRATED else None
        accuracy = _accuracy(arm_of(benchmark, pair.method, chosen))
        holm = "" if pair.method == CALIBRATED else p_value(pair.p_holm)
        name = "calibrated" if pair.method == CALIBRATED else pair.method
        rows.append(cells(f"`{name}`", pair.n, accuracy, gain(pair), holm, *ratios(pair)))
    costs = ("output", "prompt once", "every time")
    return _table(("method", "n", "accuracy [95 %]", "gain [95 %]", "Holm p", *costs), rows)


def _split() -> Iterator[str]:
    parts = {PROGRAM, UNCHECKED, UNTIL}
    having = [name for name in shipped(PROGRAMS).names("benchmark") if parts <= _methods(name)]
    found = {name: split(name) for name in having}
    heads = [f"{_named(name)}, n = {next(iter(found[name].values())).n}" for name in having]
    rows = [cells(part, *(gain(found[name][part]) for name in having)) for part in PARTS]
    yield _table(("part", *heads), rows)
    for name, pairs in found.items():
        largest = max([*PARTS][:-1], key=lambda part: pairs[part].gain)
        yield f"{largest.partition(':')[0]} on {_named(name)}"


def _styles() -> str:
    """Write what each style costs and brings on the problems of the calibration."""
    names = shipped(CALIBRATION).names("benchmark")
    rows = [cells("Direct CoT", *(f"{decimal(_learnt(name, 'plain').before)}" for name in names))]
    for style in STYLES:
        found = [_learnt(name, style) for name in names]
        said = (f"{decimal(one.after)} at {ratios(one)[0]}" for one in found)
        rows.append(cells(f"`{style}`", *said))
    return _table(("style", *(_named(name) for name in names)), rows)


def _learnt(benchmark: str, style: str) -> Pair:
    return next(
        pair
        for pair in learnt().pairs
        if (pair.benchmark, pair.method) == (benchmark, STYLES[style])
    )


def _methods(benchmark: str) -> set[str]:
    return {one.method for one in shipped(PROGRAMS).select(benchmark=benchmark)}


def _targets() -> Iterator[str]:
    wanted = {FRESH: 20, NEW: 15, "gsm8k": 4}
    rows = [
        cells(f"{_named(name)}: +{aim} points", gain(measured(name)), _met(measured(name), aim))
        for name, aim in wanted.items()
    ]
    rest = [pair.benchmark for pair in calibrated().pairs if pair.benchmark not in wanted]
    aim = f"at most {MOST_OUTPUT} times the output tokens"
    rows.append(cells(f"{aim} on these", *_outputs(list(wanted))))
    rows.append(cells(f"{aim} elsewhere", *_outputs([name for name in rest if name != "pooled"])))
    lost = any(pair.significant and pair.gain < 0 for pair in calibrated().pairs)
    least = min(calibrated().pairs, key=lambda pair: pair.gain)
    said = f"the smallest gain is {points(least.gain)} ({_named(least.benchmark)})"
    rows.append(cells("no benchmark with a significant loss", said, "missed" if lost else "met"))
    yield _table(("target", "reached", ""), rows)
    yield from _unseen()


def _met(pair: Pair, aim: float) -> str:
    above = pair.ci[0] > 0
    return "met" if pair.gain >= aim and above else f"missed by {decimal(aim - pair.gain, 2)}"


def _outputs(benchmarks: Sequence[str]) -> tuple[str, str]:
    found = [measured(name).tokens.output or 0 for name in benchmarks]
    said = ", ".join(decimal(value, 2) for value in found)
    return said, "met" if max(found) <= MOST_OUTPUT else "missed"


def _unseen() -> Iterator[str]:
    for name in ("gsm8k", "math500"):
        new = measured(name, unseen(name))
        yield (
            f"On the {new.n:,} problems of {_named(name)} that the calibration did not have it is "
            f"{gain(new)} at {ratios(new)[0]} times the output tokens"
        )


def _not_measured() -> Iterator[str]:
    run = {one.method.partition("(")[0] for one in shipped(PROGRAMS).arms}
    yield ", ".join(f"`{name}`" for name in METHODS if name not in run)
    few = {len(one.scores) for one in shipped(PROGRAMS).arms if "self-consistency" in one.method}
    yield f"on {min(few)} and {max(few)} problems"


# README.md, the lab notebook, and the design note on reply styles.

OPENING = {
    NEW: "ConstraintBench",
    FRESH: "its first version, a fresh draw",
    "gsm8k": "GSM8K",
    "math500": "MATH-500",
    "pooled": "AIME 2024 and 2025",
}
"""The benchmarks of the first runs of the policy, and what the lab notebook calls them."""
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
    yield f"drawn from {len(families_of(NEW))} families"
    yield f"{points(bench.gain)} points, by family {families}"
    yield from public_table()


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
    yield from _policy_runs()


def _policy_runs() -> Iterator[str]:
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


# Sound replies, in docs/demands.md.

_IFEVAL = "ifeval.jsonl.gz"
_REPLIES = {
    "plain(mind=reminder)": "",
    "plain(mind=list)": ": the model lists the demands first",
    "sound(add=off,then=off)": ": edits alone",
    "sound(then=off)": ": edits and additions",
    "sound(then=turn)": ": edits, additions, one turn that names what is broken",
    "sound": ": edits, additions, one fresh sample",
    "sound(most=4)": ": up to three fresh samples",
    "sound(repair=off,then=off)": ": additions alone",
    "sound(repair=off,add=off,then=turn)": ": a turn alone",
    "sound(repair=off,add=off)": ": a sample alone",
    "direct": ", which asks for a mathematical answer",
    "sound(demands=gold,add=off,then=off)": ": edits alone, gold instructions for demands",
    "sound(demands=gold,then=turn)": ": a turn too, gold instructions",
    "sound(demands=gold)": ": a sample too, gold instructions",
}
"""The methods in the order of the table, and what is said of each."""


@cache
def _ifeval() -> dict[str, Pair]:
    found = compare(shipped(_IFEVAL), "plain", [*_REPLIES])
    return {pair.method: pair for pair in found.pairs}


def _ifeval_arm(method: str) -> Arm:
    (found,) = shipped(_IFEVAL).select(method=method)
    return found


def _half(method: str, *, odd: bool) -> str:
    scores = [one for name, one in _ifeval_arm(method).scores.items() if int(name[7:]) % 2 == odd]
    return decimal(100 * sum(right / judged for right, judged in scores) / len(scores))


def sound_replies() -> Iterator[str]:
    """Write the table, and what is said below it."""
    first = next(iter(_ifeval().values()))
    yield cells("`plain`", decimal(first.before), "", "", "1.00")
    for method, said in _REPLIES.items():
        pair = _ifeval()[method]
        counts = f"{pair.improved} / {pair.degraded}"
        ratio = decimal(pair.tokens[0], 2)
        yield cells(f"`{method}`{said}", decimal(pair.after), gain(pair), counts, ratio)
    sound = "sound(then=off)"
    yield (
        f"On the odd-numbered ones `{sound}` has {_half(sound, odd=True)} where `plain` has "
        f"{_half('plain', odd=True)}, on the even-numbered ones "
        f"{_half(sound, odd=False)} and {_half('plain', odd=False)}."
    )
