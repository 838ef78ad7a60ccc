"""Explicit tier, totals that are rounded down as the text says."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from constraint_first.benchmark.constraintbench.families.phrase import (
    COUNT_WORDS,
    NAMES,
    listed,
    tell,
)
from constraint_first.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from constraint_first.benchmark.constraintbench.item import Level
from constraint_first.constraint.demand import between, divisible

__all__ = ["FAMILIES"]


def _estimate(terms: Sequence[int]) -> tuple[int, int]:
    """Bound a sum by its terms rounded down and up to tens."""
    low = sum(term // 10 * 10 for term in terms)
    return low, low + 10 * len(terms)


_FULL_ONE = (
    r"Find «multiple:the largest multiple of $<k>$» that is not greater than $<sum>$.",
    r"What is «multiple:the greatest multiple of $<k>$» that is at most $<sum>$?",
    r"<name> has $<sum>$ apples and packs them in crates. «multiple:Each crate must hold exactly "
    r"$<k>$ apples.» <name> fills as many crates as possible. How many apples are in the crates?",
    r"«multiple:Stickers are pasted only in complete pages of $<k>$.» <name> has $<sum>$ stickers. "
    r"How many of the stickers are pasted?",
    r"How many of $<sum>$ screws can be packed, if «multiple:every packet must contain exactly "
    r"$<k>$ screws»?",
    r"$<sum>$ singers want to stand «multiple:in complete rows of $<k>$», as many of them as "
    r"possible. How many singers stand in the rows?",
    r"<name> counts upward «multiple:in steps of $<k>$», starting at $0$, and stops before going "
    r"above $<sum>$. What is the last number that <name> says?",
    r"A bakery baked $<sum>$ rolls and delivers them «multiple:only in full trays of $<k>$»; the "
    r"rest stay behind. How many rolls are delivered?",
)
_FULL = (
    r"Find «multiple:the largest multiple of $<k>$» that is not greater than $<sum>$.",
    r"What is «multiple:the greatest multiple of $<k>$» that does not exceed $<sum>$?",
    r"<name> picks <parts> apples on <days> days and fills crates with all of them together. Each "
    r"crate holds exactly $<k>$ apples, and «multiple:only full crates are sold». How many apples "
    r"are sold?",
    r"«multiple:Stickers are pasted only in complete pages of $<k>$.» <name> puts together <days> "
    r"envelopes with <parts> stickers. How many of the stickers are pasted?",
    r"How many of the screws from <days> bins, which hold <parts> screws, can be packed if "
    r"«multiple:every packet must contain exactly $<k>$ screws» and the bins may be mixed?",
    r"A choir director gathers the singers of <days> schools, <parts> of them, and lines up as "
    r"many as possible «multiple:in complete rows of $<k>$». How many singers stand in the rows?",
    r"<name> adds $<sum>$ and then «multiple:lowers the result to the nearest multiple of $<k>$ "
    r"that is not above it». Which number does <name> end with?",
    r"A bakery baked <parts> rolls in <days> batches. The rolls are mixed and delivered "
    r"«multiple:in full trays of $<k>$»; the rest stay behind. How many rolls are delivered?",
    r"Tiles come from <days> stacks of <parts> tiles. <name> lays «multiple:complete rows of $<k>$ "
    r"tiles» until no further row can be completed. How many tiles has <name> laid?",
)


@family("explicit", ("modular", "bound"), "the part of a total that fills whole groups")
def full_groups_total(rng: Random, level: Level) -> Draft | None:
    """Ask for the largest multiple that a total reaches; the total itself is the trap."""
    count, most, k = {
        1: (1, 210, rng.choice((4, 5, 6, 8, 10))),
        2: (2, 120, rng.randrange(4, 12)),
    }.get(level, (4, 400, rng.randrange(13, 25)))
    terms = [rng.randrange(most // 4, most) for _ in range(count)]
    total = sum(terms)
    answer = agree(total - total % k, max(n for n in range(0, total + 1, k)))
    each = sum(term - term % k for term in terms)
    if answer == total or (count > 1 and answer == each):
        return None
    told = tell(
        rng,
        _FULL_ONE if level == 1 else _FULL,
        sum=" + ".join(map(str, terms)),
        parts=listed(terms),
        days=COUNT_WORDS[count],
        k=k,
        name=rng.choice(NAMES),
    )
    low, high = _estimate(terms)
    rules = [
        gold("modular", f"the answer is a multiple of {k}", divisible(k), told.span("multiple")),
        gold("bound", "the numbers rounded to tens bound the total", between(low - k + 1, high)),
    ]
    lures: Lures = [
        (total, "broken_condition"),
        (total // k, "encoded_form_not_applied"),
        (total % k, "misled_by_cue"),
        (answer + k, "out_of_range"),
        (each, "other"),
        (answer - k, "out_of_range"),
        (answer // k + 1, "encoded_form_not_applied"),
        (k - total % k, "misled_by_cue"),
    ]
    return Draft(told.text, answer, rules, lures)


FAMILIES = (full_groups_total,)
