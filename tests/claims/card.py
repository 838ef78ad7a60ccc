"""Claims of docs/constraintbench.md: the router, agreement, results, and the second version."""

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import get_args

from constraint_first.benchmark.constraintbench.family import TIERS, USUAL_LEVELS, Item, alike, load
from constraint_first.benchmark.constraintbench.make import check_levels, measured_levels
from constraint_first.constraint.predicate import truth_of
from constraint_first.constraint.router import route
from constraint_first.report.exhibit.gold import StatementStatus
from constraint_first.report.study import Arm
from constraint_first.report.table import decimal, scored

from .data import (
    BENCH,
    WORDS,
    accuracy,
    agreed,
    arm,
    cells,
    gain,
    items,
    items_of,
    labels,
    scored_arm,
    scored_arms,
    shipped,
    tokens,
    versus,
)

STATEMENTS = get_args(StatementStatus)
METHODS = ("direct", "list-first", "cfr-brief", "routed-cfr-brief")
"""The methods that the card shows by tier and level."""


def card() -> Iterator[str]:
    """Claim what the page measures, from its top."""
    yield from _router()
    yield from _agreement()
    yield from _rates()
    yield from second_version()
    yield from _results()
    yield from _families()


def _router() -> Iterator[str]:
    public = load("public")
    routed = Counter(item.tier for item in public if route(item.text))
    sizes = Counter(item.tier for item in public)
    yield cells(*(f"{routed[tier]} of {sizes[tier]}" for tier in TIERS))


def _agreement() -> Iterator[str]:
    found, held = labels(), labels("held")
    yield f"all {len(found.gold)} gold constraints and {len(found.stated)} statements"
    families = {item.family for item in items().values()}
    assert found.replies == 2 * len(families)
    yield f"on {found.replies} replies of Qwen2.5-Coder-1.5B-Instruct, the embedded model."
    yield f"They are {WORDS[found.replies // len(families)]} for each family"
    yield f"say of the statements of all {found.replies} replies"
    for part in ("all", "tune", "held"):
        for name, pairs in (("gold", labels(part).gold), ("stated", labels(part).stated)):
            agree, beyond = agreed(pairs)
            yield cells(
                f"{part} {labels(part).replies}", name, len(pairs), agree, decimal(beyond, 2)
            )
    for theirs in STATEMENTS:
        yield cells(theirs, *(found.stated.count((theirs, ours)) for ours in STATEMENTS))
    both, on_held = agreed(found.decided()), agreed(held.decided())
    yield (
        f"Where both decide, they agree on {both[0]} of {len(found.decided())} statements (kappa "
        f"{decimal(both[1], 2)}); on the held half, on {on_held[0]} of {len(held.decided())} "
        f"(kappa {decimal(on_held[1], 2)})."
    )
    false = found.column(0)["hallucinated"]
    assert abs(found.stated.count(("hallucinated", "undecided")) / false - 0.5) < 0.01
    yield "half of the statements that the annotator calls hallucinated are undecided for it"
    open_gold = sum(ours == "undecided" for _, ours in found.gold)
    yield f"the {open_gold} gold constraints that the audit cannot decide"


def _rates() -> Iterator[str]:
    for part in ("all", "held"):
        for side, name in enumerate(("annotator", "audit")):
            gold = Counter(pair[side] for pair in labels(part).gold)
            complete = gold["stated"] / (gold["stated"] + gold["not_stated"])
            shares = _shares(labels(part).column(side, "constraint"))
            yield cells(f"{name}, {part} {labels(part).replies}", f"{complete:.1%}", *shares)
    for place in ("range", "format"):
        for side, name in enumerate(("annotator", "audit")):
            shares = _shares(labels().column(side, place))
            yield cells(f"{name}, answer {place}", "", *shares)
    listed = (labels(part).places.count("constraint") for part in ("all", "held"))
    yield "the {} constraints ({} on the held half)".format(*listed)


def _shares(said: Counter[str]) -> tuple[str, ...]:
    decided = said.total() - said["undecided"]
    false, valid = said["hallucinated"] / decided, said["valid"] / decided
    return f"{valid:.1%}", f"{false:.1%}", f"{said['undecided'] / said.total():.1%}"


def _results() -> Iterator[str]:
    base = scored_arm(BENCH, "direct")
    yield f"{base.runs} runs of each of the {base.problems} problems"
    families = {item.family for item in items().values()}
    yield f"The first version had {len(families)} families with three levels each"
    rows = {"all": set(items())}
    rows |= {tier: items_of(tier=tier) for tier in TIERS}
    rows |= {f"level {level}": items_of(level=level) for level in USUAL_LEVELS}
    for name, chosen in rows.items():
        found = [scored_arm(BENCH, method, chosen) for method in METHODS]
        yield cells(f"{name}, n = {len(chosen)}", *(scored(s.accuracy, s.interval) for s in found))
    lost = [arm(BENCH, method).statuses for method in METHODS]
    counts = (f"{one.get('truncated', 0)} / {one.get('unparsed', 0)}" for one in lost)
    yield cells("no answer: cut off / unread", *counts)
    yield cells("tokens a problem", *(tokens(BENCH, method) for method in METHODS))
    yield f"changes nothing that this sample could show ({gain(versus(BENCH, 'list-first'))})"
    lower = [
        -versus(BENCH, method, items_of(tier=tier)).gain for method in METHODS[2:] for tier in TIERS
    ]
    yield f"in every tier, by {decimal(min(lower))} to {decimal(max(lower))} points"
    said = labels().column(0)
    share = said["hallucinated"] / (said.total() - said["undecided"])
    yield f"{decimal(100 * share)} % of the statements that can be decided are false"


def _families() -> Iterator[str]:
    families = dict.fromkeys((item.tier, item.family) for item in items().values())
    for tier, family in sorted(families, key=lambda one: TIERS.index(one[0])):
        chosen = (items_of(family=family, level=level) for level in USUAL_LEVELS)
        rates = [accuracy(BENCH, "direct", names) for names in chosen]
        assert set(rates) not in ({0.0}, {100.0})
        yield cells(tier, f"`{family}`", *(f"{rate:.0f} %" for rate in rates))
    assert {len(items_of(family=f, level=n)) for _, f in families for n in USUAL_LEVELS} == {5}
    yield "No family is at 0 % or at 100 % on every level."
    yield f"n = {5 * scored_arm(BENCH, 'direct').runs} attempts (five problems, two runs)"


SPLITS = "constraintbench-2.jsonl.gz"
ITEMS = {item.id: item for item in load("public")}


def second_version() -> Iterator[str]:
    """Claim what was measured on the splits public and hard."""
    public, hard = _split_arm("constraintbench"), _split_arm("constraintbench-hard")
    yield f"{WORDS[public.runs]} runs of each of the {len(public.attempts)} problems of `public`"
    yield f"{WORDS[hard.runs]} of each of the {len(hard.attempts)} of `hard`"
    yield from _accuracies(public)
    found = scored_arms(hard)
    yield f"On `hard` it solves {scored(found.accuracy, found.interval)} %"
    lost = public.statuses
    yield f"{lost['truncated']} attempts on `public` were cut off and {lost['unparsed']} had no"
    yield from _levels()
    yield from _caught(public)


def counted_levels() -> dict[str, tuple[int, ...]]:
    """Count the right answers of each family at each level."""
    right: Counter[tuple[str, int]] = Counter()
    for name, attempts in _split_arm("constraintbench").attempts.items():
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


def _split_arm(benchmark: str, problems: Collection[str] | None = None) -> Arm:
    (found,) = shipped(SPLITS).select(benchmark=benchmark, method="direct")
    if problems is None:
        return found
    return replace(found, attempts={name: found.attempts[name] for name in problems})


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
        found = scored_arms(_split_arm("constraintbench", names))
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
