"""Implicit tier, lengths: there and back, the shorter side of a rectangle."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from random import Random

from cfr.benchmark.constraintbench.families.phrase import NAMES, listed, tell
from cfr.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from cfr.benchmark.constraintbench.item import Level
from cfr.constraint.demand import between, divides, divisible

__all__ = ["FAMILIES"]

_WORDS = ("no", "one", "two", "three", "four", "five", "six")
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
        n=_WORDS[count],
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


_WIDTH = (
    r"A rectangular garden of $<area>$ square metres is $<d>$ metres longer than it is wide, and "
    r"both sides are whole numbers of metres. What is its width in metres?",
    r"<name> sold tickets for $<area>$ dollars in all. The price of a ticket in dollars is $<d>$ "
    r"more than the number of tickets sold. How many tickets did <name> sell?",
    r"$<area>$ chairs stand in a rectangle. Each row has $<d>$ chairs more than there are rows. "
    r"How many rows are there?",
    r"How many trees are in the shorter direction of a rectangular orchard with $<area>$ trees, if "
    r"the longer direction has $<d>$ trees more?",
    r"A chocolate bar has $<area>$ pieces and is $<d>$ pieces longer than it is wide. How many "
    r"pieces wide is it?",
    r"<name> lays $<area>$ square tiles in a full rectangle that is $<d>$ tiles longer than it is "
    r"wide. Find the number of tiles along the shorter side.",
    r"Each member of a club sent the same number of cards, $<d>$ more cards than the club has "
    r"members. In all $<area>$ cards were sent. How many members does the club have?",
    r"A bookcase holds $<area>$ books, equally many on each shelf, and a shelf holds $<d>$ books "
    r"more than there are shelves. What is the number of shelves?",
)


@family("implicit", ("domain", "bound"), "the shorter side of a rectangle from area and difference")
def shorter_side(rng: Random, level: Level) -> Draft:
    """Ask for the smaller of two factors; it divides the product and is positive."""
    low, high, most = ((2, 28, 6), (8, 34, 22), (31, 80, 60))[level - 1]
    w, d = rng.randrange(low, high), rng.randrange(level + 1, most)
    area = w * (w + d)
    by_search = next(k for k in range(1, area + 1) if k * (k + d) >= area)
    answer = agree(by_search, (isqrt(d * d + 4 * area) - d) // 2)
    told = tell(rng, _WIDTH, area=area, d=d, name=rng.choice(NAMES))
    rules = [
        gold("domain", f"the two numbers are whole, so the smaller divides {area}", divides(area)),
        gold("bound", "it is the smaller one and positive", between(1, isqrt(area))),
    ]
    lures: Lures = [
        (w + d, "out_of_range"),
        (-(w + d), "out_of_range"),
        (-w, "out_of_range"),
        (Fraction(area, d), "other"),
        (2 * w + d, "other"),
        (area // 2, "out_of_range"),
        (Fraction(area - d, 2), "out_of_range"),
        (area - d, "out_of_range"),
        (isqrt(area) + 1, "out_of_range"),
        (isqrt(d * d + 4 * area), "encoded_form_not_applied"),
    ]
    return Draft(told.text, answer, rules, lures)


FAMILIES = (there_and_back, shorter_side)
