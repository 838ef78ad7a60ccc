"""The data behind the numbers of the documentation: the files of docs/results, each read once."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from constraint_first.benchmark.constraintbench.family import Item, load
from constraint_first.constraint.stage1 import ConstraintSpec
from constraint_first.file.rows import read_rows
from constraint_first.model.local import DEFAULT_MODEL
from constraint_first.report.comparison import (
    Comparison,
    Pair,
    Score,
    compare,
    mean_tokens,
    pair_arms,
    score,
    token_ratios,
)
from constraint_first.report.exhibit.gold import Audit, audit, statements
from constraint_first.report.reader import open_study
from constraint_first.report.statistics import kappa
from constraint_first.report.study import Arm, Study
from constraint_first.report.table import decimal, interval, p_value, points, whole

RESULTS = Path(__file__).parents[2] / "docs" / "results"
GPU, PAPER, PROGRAMS = "gpu.jsonl.gz", "paper-prompts.jsonl.gz", "programs.jsonl.gz"
BENCH, MINI = "constraintbench@1", "constraintbench-mini@1"
JSON = "cfr-brief(reply=json)"


@cache
def shipped(name: str) -> Study:
    return open_study(RESULTS / name)


@cache
def items() -> dict[str, Item]:
    return {item.id: item for item in load("public@1")}


def items_of(**wanted: object) -> set[str]:
    """Find the problems of a tier, a family or a level."""
    return {
        name
        for name, item in items().items()
        if all(getattr(item, key) == value for key, value in wanted.items())
    }


def arm(benchmark: str, method: str, problems: Collection[str] | None = None) -> Arm:
    """Find what a method did on a benchmark, or on some of its problems."""
    return of_file(_file(benchmark), benchmark, method, problems)


def of_file(file: str, benchmark: str, method: str, problems: Collection[str] | None = None) -> Arm:
    (found,) = shipped(file).select(benchmark=benchmark, method=method)
    if problems is None:
        return found
    return replace(found, attempts={p: a for p, a in found.attempts.items() if p in problems})


def scored_arm(benchmark: str, method: str, problems: Collection[str] | None = None) -> Score:
    return scored_arms(arm(benchmark, method, problems))


def scored_arms(*arms: Arm) -> Score:
    found = score(*arms)
    assert found
    return found


def accuracy(benchmark: str, method: str, problems: Collection[str] | None = None) -> float:
    return scored_arm(benchmark, method, problems).accuracy


def versus(
    benchmark: str,
    method: str,
    problems: Collection[str] | None = None,
    baseline: str = "direct",
) -> Pair:
    """Compare a method with another, by itself: nothing is corrected."""
    return paired(*(arm(benchmark, name, problems) for name in (baseline, method)))


def paired(before: Arm, after: Arm) -> Pair:
    found = pair_arms([before], [after], before.benchmark)
    assert found
    return found


@cache
def compared(benchmark: str) -> Comparison:
    """Compare all methods of a benchmark with Direct CoT, as one family of tests."""
    return compare(shipped(_file(benchmark)).only(benchmark=[benchmark]))


def tokens(benchmark: str, method: str) -> str:
    """Write the mean tokens of an attempt, in and out."""
    found = mean_tokens([arm(benchmark, method)])
    assert found
    return whole(found.total)


def ratio(benchmark: str, method: str) -> str:
    """Write how many times the tokens of Direct CoT a method takes."""
    return decimal(token_ratios([arm(benchmark, method)], [arm(benchmark, "direct")]).every_time, 2)


def unrouted(benchmark: str) -> set[str]:
    """Find the problems at which Routed-CFR asks what Direct CoT asks: its prompts are as long."""
    plain, routed = (arm(benchmark, name).attempts for name in ("direct", "routed-cfr-brief"))
    lengths = [
        {name: {one.input_tokens for one in runs} for name, runs in side.items()}
        for side in (plain, routed)
    ]
    return {name for name in plain if lengths[0][name] == lengths[1][name]}


def statuses(benchmark: str) -> Counter[str]:
    """Count how the attempts of the file that holds a benchmark ended."""
    return Counter(attempt.status for attempt in shipped(_file(benchmark)).all_attempts())


def _file(benchmark: str) -> str:
    return "constraintbench-mini.jsonl" if benchmark == MINI else GPU


@dataclass(frozen=True)
class Labels:
    """Labels of an annotator and of the audit, side by side."""

    replies: int
    gold: tuple[tuple[str, str], ...]
    stated: tuple[tuple[str, str], ...]
    places: tuple[str, ...]
    """Where each statement stands in its reply: constraint, range or format."""

    def column(self, side: int, place: str = "") -> Counter[str]:
        """Count one side's labels of statements, of all or of those at one place."""
        pairs = zip(self.stated, self.places, strict=True)
        return Counter(pair[side] for pair, own in pairs if place in ("", own))

    def decided(self) -> list[tuple[str, str]]:
        return [pair for pair in self.stated if "undecided" not in pair]


def _read_labelled() -> Iterator[tuple[Item, ConstraintSpec, Audit]]:
    """Read the replies that a person labelled."""
    for row in read_rows(RESULTS / "stage1-labels.jsonl"):
        line: dict[str, Any] = dict(row.value)
        reply, given = ConstraintSpec.from_mapping(line["reply"]), line["labels"]
        said = Audit.of_statements(given["gold"], statements(reply), given["stated"])
        yield items()[line["item_id"]], reply, said


@cache
def labels(part: str = "all") -> Labels:
    """Audit the labelled replies: all, the first of each family (tune) or the second (held)."""
    seen: Counter[str] = Counter()
    replies = 0
    gold: list[tuple[str, str]] = []
    stated: list[tuple[str, str]] = []
    places: list[str] = []
    for item, reply, said in _read_labelled():
        first = not seen[item.family]
        seen[item.family] += 1
        if part == "all" or first == (part == "tune"):
            replies += 1
            ours = audit(item, reply)
            gold += zip(said.gold, ours.gold, strict=True)
            stated += zip(said.statements, ours.statements, strict=True)
            places += (one.field for one in statements(reply))
    return Labels(replies, tuple(gold), tuple(stated), tuple(places))


def agreed(pairs: Sequence[tuple[str, str]]) -> tuple[int, float]:
    """Count where annotator and audit agree, and how far beyond chance."""
    beyond = kappa([(ours, theirs) for theirs, ours in pairs])
    assert beyond is not None
    return sum(a == b for a, b in pairs), beyond


# Programs, votes, checks and the calibrated method.

CALIBRATED = f"calibrated(policy={DEFAULT_MODEL})"
CALIBRATION = "calibration.jsonl.gz"
NEW, FRESH = "constraintbench", "constraintbench-1-seed-5101"
PROGRAM = "program(style=short,tokens=250,check=off)"
UNCHECKED = "until-agreed(base=program(style=short,tokens=250,check=off),most=4,agree=1,check=off)"
UNTIL = "until-agreed(base=program(style=short,tokens=250),most=4,agree=1)"
STYLES = {
    "plain": "until-agreed(base=program(tokens=250),most=3,agree=1)",
    "bare": "until-agreed(base=program(style=bare,tokens=250),most=3,agree=1)",
    "short": "until-agreed(base=program(style=short,tokens=250),most=3,agree=1)",
}
"""Three ways to ask for the same: up to three programs."""
PARTS = {
    "programs: one program instead of a chain of thought": ("direct", PROGRAM),
    "voting: programs until two agree": (PROGRAM, UNCHECKED),
    "checking: answers that break a stated constraint dropped": (UNCHECKED, UNTIL),
    "all together": ("direct", UNTIL),
}
"""What each part of the gain compares."""


def measured(benchmark: str, problems: Collection[str] | None = None) -> Pair:
    """Compare the calibrated method with Direct CoT on a benchmark, or on some of its problems."""
    if problems is None:
        return next(pair for pair in calibrated().pairs if pair.benchmark == benchmark)
    return _versus(benchmark, "direct", CALIBRATED, problems)


def families_of(benchmark: str) -> dict[str, list[float]]:
    """Find the gain on each problem of ConstraintBench, in points, by the family it is drawn from.

    Families are the first part of a problem's name.
    """
    before, after = (arm_of(benchmark, name).scores for name in ("direct", CALIBRATED))
    gains: dict[str, list[float]] = {}
    for problem in before.keys() & after.keys():
        (was, runs), (now, again) = before[problem], after[problem]
        gain = 100 * (now / again - was / runs)
        gains.setdefault(problem.partition("-")[0], []).append(gain)
    return gains


def by_family(benchmark: str, resamples: int = 20_000) -> tuple[float, float]:
    """Compute the 95 % interval of the gain by resampling whole families."""
    gains = [families_of(benchmark)[name] for name in sorted(families_of(benchmark))]
    sums, sizes = (np.array([f(one) for one in gains]) for f in (sum, len))
    drawn = np.random.default_rng(0).integers(0, len(gains), (resamples, len(gains)))
    low, high = np.percentile(sums[drawn].sum(1) / sizes[drawn].sum(1), (2.5, 97.5))
    return float(low), float(high)


def ratios(pair: Pair) -> tuple[str, str, str]:
    """Write the three ratios of tokens: output, a shared prompt once, every prompt."""
    output, once, every = (decimal(value, 2) for value in pair.tokens)
    return output, once, every


def unseen(benchmark: str) -> set[str]:
    """Find the problems of a benchmark that the calibration did not have."""
    seen = {name for one in shipped(CALIBRATION).select(benchmark=benchmark) for name in one.scores}
    return arm_of(benchmark, "direct").scores.keys() - seen


def split(benchmark: str) -> dict[str, Pair]:
    """Compare what each part of the gain compares, on the problems that all of them have."""
    arms = [arm_of(benchmark, name) for name in ("direct", PROGRAM, UNCHECKED, UNTIL)]
    shared = set[str].intersection(*({*one.scores} for one in arms))
    return {part: _versus(benchmark, *both, shared) for part, both in PARTS.items()}


def other(method: str, benchmark: str) -> Pair:
    """Find a method's comparison with Direct CoT on the first problems of a benchmark."""
    pairs = others().pairs
    return next(pair for pair in pairs if (pair.method, pair.benchmark) == (method, benchmark))


def arm_of(benchmark: str, method: str, problems: Collection[str] | None = None) -> Arm:
    """Find what a method did on a benchmark, or on some of its problems."""
    return of_file(PROGRAMS, benchmark, method, problems)


def _versus(benchmark: str, baseline: str, method: str, problems: Collection[str]) -> Pair:
    return paired(*(arm_of(benchmark, name, problems) for name in (baseline, method)))


@cache
def calibrated() -> Comparison:
    """Compare the calibrated method with Direct CoT, as one family of tests."""
    return compare(shipped(PROGRAMS), "direct", CALIBRATED)


@cache
def others() -> Comparison:
    """Compare all other methods with Direct CoT, as one family of tests."""
    study = shipped(PROGRAMS)
    names = [name for name in study.names("method") if name not in ("direct", CALIBRATED)]
    return compare(study, "direct", names)


@cache
def learnt() -> Comparison:
    return compare(shipped(CALIBRATION))


# Pieces of a page, written from numbers as the page has them.

WORDS = "zero one two three four five six seven eight nine ten eleven twelve".split()
"""Small numbers as a page writes them."""


def gain(pair: Pair) -> str:
    return points(pair.gain) + interval(pair.interval)


def loss(pair: Pair) -> str:
    """Write a loss as a positive number, with its interval."""
    low, high = pair.ci
    return decimal(-pair.gain) + interval((-high, -low))


def cells(*values: object) -> str:
    """Write a row of a table; a cell may be empty."""
    return "|" + "".join(f" {value} |" if value != "" else " |" for value in values)


def comparison_row(pair: Pair, accuracy: str, tokens: str) -> str:
    counts = f"{pair.improved} / {pair.tied} / {pair.degraded}"
    ps = (p_value(pair.p), p_value(pair.p_holm))
    return cells(pair.labels[1], accuracy, gain(pair), counts, *ps, tokens)
