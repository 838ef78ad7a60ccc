"""Claims of docs/constraintbench.md: what the router sees, agreement, results."""

from collections import Counter
from collections.abc import Iterator
from typing import get_args

from constraint_first.benchmark.constraintbench.family import TIERS, USUAL_LEVELS, load
from constraint_first.constraint.router import route
from constraint_first.report.exhibit.gold import StatementStatus
from constraint_first.report.table import decimal, scored

from .notation import WORDS, cells, gain
from .second import second_version
from .shipped import (
    BENCH,
    accuracy,
    agreed,
    arm,
    items,
    items_of,
    labels,
    scored_arm,
    tokens,
    versus,
)

__all__ = ["card"]

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
