"""Claims of docs/results/README.md about programs, votes, checks and calibrated routing.

A table is one claim, with a row for every series that the file has: where a method or a benchmark
is added, the message of the test that fails holds the table to paste.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from constraint_first.method.policy import find_policy
from constraint_first.method.registry import METHODS
from constraint_first.model.local import DEFAULT_MODEL
from constraint_first.report.comparison import Pair, score
from constraint_first.report.study import Arm, benchmark_label
from constraint_first.report.table import decimal, p_value, points, scored

from .figure import FILE, frontier
from .notation import WORDS, cells, gain
from .program_data import (
    CALIBRATED,
    CALIBRATION,
    FRESH,
    NEW,
    PARTS,
    PROGRAM,
    STYLES,
    UNCHECKED,
    UNTIL,
    arm_of,
    calibrated,
    learnt,
    measured,
    other,
    others,
    ratios,
    split,
    unseen,
)
from .shipped import shipped

__all__ = ["program_results"]

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
    yield from _settings()
    yield _calibrated_table()
    yield from _other_tables()
    yield f"![{frontier().alt}](frontier-programs.png)"
    yield from _split()
    yield _styles()
    yield from _targets()
    yield from _not_measured()


def _named(benchmark: str) -> str:
    return OWN.get(benchmark) or benchmark_label(benchmark)


def _settings() -> Iterator[str]:
    for name in (FILE, CALIBRATION):
        ended = Counter(one.status for one in shipped(name).all_attempts())
        assert not ended["failed"]
        yield (
            f"of {ended.total():,} attempts {ended['truncated']} were cut off and "
            f"{ended['unparsed']} had no answer that could be read"
        )
        yield f"{ended.total():,} attempts"
    for name in (FILE, CALIBRATION):
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
        for one in shipped(FILE).arms
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
    having = [name for name in shipped(FILE).names("benchmark") if parts <= _methods(name)]
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
    return {one.method for one in shipped(FILE).select(benchmark=benchmark)}


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
    run = {one.method.partition("(")[0] for one in shipped(FILE).arms}
    yield ", ".join(f"`{name}`" for name in METHODS if name not in run)
    few = {len(one.scores) for one in shipped(FILE).arms if "self-consistency" in one.method}
    yield f"on {min(few)} and {max(few)} problems"
