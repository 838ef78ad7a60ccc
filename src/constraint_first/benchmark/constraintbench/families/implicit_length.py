"""Implicit tier, lengths: whoever goes there comes back."""

from __future__ import annotations

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

_COMMUTE_ONE = (
    r"<name> goes to work on <parts> days, always in the car, and comes home again every evening. "
    r"The office is $<d>$ kilometres from home. How many kilometres does <name> drive?",
    r"On <parts> days <name> takes the bus to school in the morning and the bus back home in the "
    r"afternoon. The school is $<d>$ kilometres away. How many kilometres does <name> ride?",
    r"A ferry makes <parts> round trips to an island that is $<d>$ kilometres away. How many "
    r"kilometres does the ferry sail?",
    r"A bee flies <parts> times from the hive to a meadow and each time carries the nectar back to "
    r"the hive. The meadow is $<d>$ metres from the hive. How many metres does the bee fly?",
    r"<name> fetches <parts> buckets of water from a well and carries them home one at a time, "
    r"starting from the house. The well is $<d>$ metres from the house. How many metres does "
    r"<name> walk?",
    r"<name> takes <parts> parcels from the shop to the post office, one at a time, and returns to "
    r"the shop after each of them. The way is $<d>$ metres long. How many metres does <name> walk?",
    r"How many kilometres does a truck drive that brings <parts> loads of sand from a quarry to a "
    r"site, one at a time, and returns to the quarry after each load, if the site is $<d>$ "
    r"kilometres away?",
    r"<name> visits a grandmother <parts> times and drives home after every visit. The grandmother "
    r"lives $<d>$ kilometres from <name>. How many kilometres does <name> drive?",
)
_COMMUTE = (
    r"<name> lives $<d>$ kilometres from the office, drives to work in the morning and comes home "
    r"every evening. In <n> months <name> worked on <parts> days. How many kilometres did <name> "
    r"drive because of work?",
    r"The school is $<d>$ kilometres from <name>'s home. <name> takes the bus to school in the "
    r"morning and home in the afternoon, on <parts> days of <n> months. How many kilometres did "
    r"<name> ride on the bus?",
    r"On <n> days a ferry makes <parts> round trips to an island. The island is $<d>$ kilometres "
    r"away. How many kilometres does the ferry sail?",
    r"A bee flies from the hive to a meadow $<d>$ metres away and brings the nectar back at once. "
    r"On <n> days it visits the meadow <parts> times. How many metres does it fly?",
    r"<name> fetches water from a well $<d>$ metres from the house and carries it home, one bucket "
    r"at a time. On <n> days <name> needs <parts> buckets. How many metres does <name> walk for "
    r"the water?",
    r"The post office is $<d>$ metres from <name>'s shop. On <n> days <name> takes <parts> parcels "
    r"there, one parcel at a time, and returns to the shop after each of them. How many metres "
    r"does <name> walk for the parcels?",
    r"How many kilometres does a truck drive that brings <parts> loads of sand in <n> weeks from a "
    r"quarry to a site $<d>$ kilometres away, one load at a time, and returns to the quarry after "
    r"each load?",
    r"<name> visits a grandmother who lives $<d>$ kilometres away, <parts> times in <n> years, and "
    r"drives straight home after every visit. How many kilometres does <name> drive for these "
    r"visits?",
)


@family("implicit", ("modular", "bound"), "ways that are gone twice: there and back")
def there_and_back(rng: Random, level: Level) -> Draft:
    """Ask for a distance; whoever goes somewhere and sleeps at home comes back."""
    count, high, d = (
        (1, 16, rng.randrange(2, 13)),
        (2, 12, rng.randrange(3, 13)),
        (3, 24, rng.randrange(11, 28)),
    )[level - 1]
    parts = [rng.randrange(3, high) for _ in range(count)]
    total = sum(parts)
    tens = sum(part // 10 * 10 for part in parts)
    answer = agree(2 * d * total, sum(d + d for part in parts for _ in range(part)))
    told = tell(
        rng,
        _COMMUTE_ONE if level == 1 else _COMMUTE,
        parts=listed(parts),
        n=COUNT_WORDS[count],
        d=d,
        name=rng.choice(NAMES),
    )
    rules = [
        gold(
            "modular",
            f"the answer is a multiple of {2 * d}, the way there and back",
            divisible(2 * d),
        ),
        gold(
            "bound",
            "every way is gone in both directions, and the ways are known to tens",
            between(2 * d * max(max(parts), tens), 2 * d * (tens + 10 * count)),
        ),
    ]
    lures: Lures = [
        (d * total, "other"),
        (total, "encoded_form_not_applied"),
        (2 * total, "encoded_form_not_applied"),
        (2 * d * parts[0], "other"),
        (d * parts[0], "other"),
        (4 * d * total, "out_of_range"),
        (count * d * total, "other"),
        (2 * d * count, "other"),
        (2 * d + total, "other"),
        (d + total, "other"),
    ]
    return Draft(told.text, answer, rules, lures)


FAMILIES = (there_and_back,)
