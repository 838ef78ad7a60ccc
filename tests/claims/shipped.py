"""The data behind the numbers of the documentation: the files of docs/results, each read once."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from constraint_first.benchmark.constraintbench.family import Item, load
from constraint_first.constraint.stage1 import ConstraintSpec
from constraint_first.file.rows import read_rows
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
from constraint_first.report.table import decimal, whole

__all__ = [
    "BENCH",
    "GPU",
    "JSON",
    "MINI",
    "PAPER",
    "RESULTS",
    "Labels",
    "accuracy",
    "agreed",
    "arm",
    "compared",
    "items",
    "items_of",
    "labels",
    "ratio",
    "scored_arm",
    "shipped",
    "statuses",
    "tokens",
    "unrouted",
    "versus",
]

RESULTS = Path(__file__).parents[2] / "docs" / "results"
GPU, PAPER = "gpu.jsonl.gz", "paper-prompts.jsonl.gz"
BENCH, MINI = "constraintbench@1", "constraintbench-mini@1"
JSON = "cfr-brief(reply=json)"


@cache
def shipped(name: str) -> Study:
    """Read a file of attempts."""
    return open_study(RESULTS / name)


@cache
def items() -> dict[str, Item]:
    """Load the problems of ConstraintBench by their ids."""
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
    (found,) = shipped(_file(benchmark)).select(benchmark=benchmark, method=method)
    if problems is None:
        return found
    return replace(found, attempts={name: found.attempts[name] for name in problems})


def scored_arm(benchmark: str, method: str, problems: Collection[str] | None = None) -> Score:
    """Score what a method did."""
    found = score(arm(benchmark, method, problems))
    assert found
    return found


def accuracy(benchmark: str, method: str, problems: Collection[str] | None = None) -> float:
    """Return a method's accuracy in per cent."""
    return scored_arm(benchmark, method, problems).accuracy


def versus(
    benchmark: str,
    method: str,
    problems: Collection[str] | None = None,
    baseline: str = "direct",
) -> Pair:
    """Compare a method with another, by itself: nothing is corrected."""
    sides = [arm(benchmark, name, problems) for name in (baseline, method)]
    found = pair_arms(sides[:1], sides[1:], benchmark)
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
        """List the statements that both sides have decided."""
        return [pair for pair in self.stated if "undecided" not in pair]


@dataclass(frozen=True)
class Labelled:
    """A reply with the labels of a person."""

    item: Item
    reply: ConstraintSpec
    labels: Audit


def _read_labelled() -> Iterator[Labelled]:
    known = {item.id: item for item in items().values()}
    for row in read_rows(RESULTS / "stage1-labels.jsonl"):
        line: dict[str, Any] = dict(row.value)
        reply = ConstraintSpec.from_mapping(line["reply"])
        given = line["labels"]
        said = statements(reply)
        yield Labelled(
            known[line["item_id"]], reply, Audit.of_statements(given["gold"], said, given["stated"])
        )


@cache
def labels(part: str = "all") -> Labels:
    """Audit the labelled replies: all, the first of each family (tune) or the second (held)."""
    replies = list(_read_labelled())
    seen: Counter[str] = Counter()
    chosen: list[Labelled] = []
    for one in replies:
        first = not seen[one.item.family]
        seen[one.item.family] += 1
        if part == "all" or first == (part == "tune"):
            chosen.append(one)
    ours = [audit(one.item, one.reply) for one in chosen]
    both = list(zip(chosen, ours, strict=True))
    return Labels(
        len(chosen),
        tuple(pair for a, b in both for pair in zip(a.labels.gold, b.gold, strict=True)),
        tuple(
            pair for a, b in both for pair in zip(a.labels.statements, b.statements, strict=True)
        ),
        tuple(place for one in chosen for place in _places(one.reply)),
    )


def _places(reply: ConstraintSpec) -> list[str]:
    listed = (*reply.raw_constraints, *reply.propagated_constraints)
    texts = [("constraint", one.description) for one in listed]
    texts += [("range", reply.likely_answer_range), ("format", reply.answer_format)]
    return [place for place, text in texts if text.strip()]


def agreed(pairs: Sequence[tuple[str, str]]) -> tuple[int, float]:
    """Count where annotator and audit agree, and how far beyond chance."""
    beyond = kappa([(ours, theirs) for theirs, ours in pairs])
    assert beyond is not None
    return sum(a == b for a, b in pairs), beyond
