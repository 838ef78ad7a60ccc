"""Claims of docs/constraintbench.md about the second version: Direct CoT on its splits."""

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace

from constraint_first.benchmark.constraintbench.family import (
    TIERS,
    USUAL_LEVELS,
    Item,
    alike,
    load,
)
from constraint_first.benchmark.constraintbench.make import check_levels, measured_levels
from constraint_first.constraint.predicate import truth_of
from constraint_first.report.comparison import Score, score
from constraint_first.report.study import Arm
from constraint_first.report.table import decimal, scored

from .notation import WORDS, cells
from .shipped import shipped

__all__ = ["caught_by_tier", "counted_levels", "second_version"]

FILE = "constraintbench-2.jsonl.gz"
ITEMS = {item.id: item for item in load("public")}


def second_version() -> Iterator[str]:
    """Claim what was measured on the splits public and hard."""
    public, hard = _arm("constraintbench"), _arm("constraintbench-hard")
    yield f"{WORDS[public.runs]} runs of each of the {len(public.attempts)} problems of `public`"
    yield f"{WORDS[hard.runs]} of each of the {len(hard.attempts)} of `hard`"
    yield from _accuracies(public)
    found = _scored(hard)
    yield f"On `hard` it solves {scored(found.accuracy, found.interval)} %"
    lost = public.statuses
    yield f"{lost['truncated']} attempts on `public` were cut off and {lost['unparsed']} had no"
    yield from _levels()
    yield from _caught(public)


def counted_levels() -> dict[str, tuple[int, ...]]:
    """Count the right answers of each family at each level."""
    right: Counter[tuple[str, int]] = Counter()
    for name, attempts in _arm("constraintbench").attempts.items():
        item = ITEMS[name]
        right[item.family, item.level] += sum(bool(one.correct) for one in attempts)
    families = {item.family for item in ITEMS.values()}
    return {name: tuple(right[name, level] for level in USUAL_LEVELS) for name in families}


def caught_by_tier(arm: Arm) -> dict[str, tuple[int, int, int, int]]:
    """Count wrong answers: how many break a constraint, are tempting, do either; and all."""
    counts = {tier: [0, 0, 0, 0] for tier in TIERS}
    for name, attempts in arm.attempts.items():
        item = ITEMS[name]
        for attempt in attempts:
            if not attempt.correct:
                breaks, tempting = _breaks(item, attempt.answer), _tempting(item, attempt.answer)
                outcome = (breaks, tempting, breaks or tempting, True)
                own = counts[item.tier]
                counts[item.tier] = [n + yes for n, yes in zip(own, outcome, strict=True)]
    return {tier: (own[0], own[1], own[2], own[3]) for tier, own in counts.items()}


def _breaks(item: Item, answer: str | None) -> bool:
    free = (gold.predicate for gold in item.constraints if not gold.pins)
    return answer is not None and any(truth_of(one, answer) == "violated" for one in free)


def _tempting(item: Item, answer: str | None) -> bool:
    return answer is not None and any(alike(lure.answer, answer) for lure in item.tempting)


def _arm(benchmark: str, problems: Collection[str] | None = None) -> Arm:
    (found,) = shipped(FILE).select(benchmark=benchmark, method="direct")
    if problems is None:
        return found
    return replace(found, attempts={name: found.attempts[name] for name in problems})


def _scored(arm: Arm) -> Score:
    found = score(arm)
    assert found
    return found


def _accuracies(public: Arm) -> Iterator[str]:
    groups: dict[str, dict[str, object]] = {"all": {}}
    groups |= {tier: {"tier": tier} for tier in TIERS}
    groups |= {f"level {level}": {"level": level} for level in USUAL_LEVELS}
    for label, wanted in groups.items():
        names = {
            name
            for name in public.attempts
            if all(getattr(ITEMS[name], key) == value for key, value in wanted.items())
        }
        found = _scored(_arm("constraintbench", names))
        yield cells(label, len(names), scored(found.accuracy, found.interval))


def _levels() -> Iterator[str]:
    check = check_levels(ITEMS.values())
    assert check
    assert measured_levels().correct == counted_levels()
    attempts = measured_levels().attempts
    yield f"n = {attempts} attempts in each cell (five problems, four runs)"
    yield (
        f"solved less often at level 3 than at level 1 in {len(check.harder)} of the "
        f"{len(check.families)} families, and at every level less often than at the one before in "
        f"{len(check.falling)}"
    )
    tiers = {item.family: item.tier for item in ITEMS.values()}
    for name in check.families:
        rates = (f"{100 * right / attempts:.0f} %" for right in measured_levels().correct[name])
        yield cells(tiers[name], f"`{name}`", *rates)


def _caught(public: Arm) -> Iterator[str]:
    for tier, (breaks, tempting, either, wrong) in caught_by_tier(public).items():
        shares = (f"{decimal(100 * n / wrong, 0)} %" for n in (breaks, tempting, either))
        yield cells(tier, wrong, *shares)
