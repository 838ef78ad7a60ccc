"""Implicit tier, lengths: there and back, the shorter side, posts at both ends of a row."""

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
_COMMUTE = (
    r"<name> lives $<d>$ kilometres from the office, drives to work in the morning and sleeps at "
    r"home every night. In <n> months <name> worked on <parts> days. How many kilometres did "
    r"<name> drive because of work?",
    r"The school is $<d>$ kilometres from <name>'s home, and <name> always takes the bus. On "
    r"<parts> days of <n> months <name> went to school and had supper at home. How many kilometres "
    r"did <name> ride on the bus?",
    r"A ferry makes <parts> trips to an island on <n> days, and it spends every night in its home "
    r"port. The island is $<d>$ kilometres away. How many kilometres does the ferry sail?",
    r"A bee flies from the hive to a meadow $<d>$ metres away and brings the nectar back at once. "
    r"On <n> days it visits the meadow <parts> times. How many metres does it fly?",
    r"<name> fetches water from a well $<d>$ metres from the house, one bucket at a time, and "
    r"needs <parts> buckets on <n> days. How many metres does <name> walk for the water?",
    r"The post office is $<d>$ metres from <name>'s shop. On <n> days <name> takes <parts> parcels "
    r"there, one parcel at a time, and is in the shop again at the end of each day. How many "
    r"metres does <name> walk for the parcels?",
    r"How many kilometres does a truck drive that brings <parts> loads of sand in <n> weeks from "
    r"the quarry to a site $<d>$ kilometres away, one load at a time, and is parked at the quarry "
    r"every night?",
    r"<name> visits a grandmother who lives $<d>$ kilometres away, <parts> times in <n> years, and "
    r"drives straight home after every visit. How many kilometres does <name> drive for these "
    r"visits?",
)


@family("implicit", ("modular", "bound"), "ways that are gone twice: there and back")
def there_and_back(rng: Random, level: Level) -> Draft:
    """Ask for a distance; whoever goes somewhere and sleeps at home comes back."""
    count, high, d = (
        (2, 15, rng.randrange(3, 13)),
        (3, 26, rng.randrange(11, 25)),
        (6, 27, rng.randrange(23, 48)),
    )[level - 1]
    parts = [rng.randrange(4, high) for _ in range(count)]
    total = sum(parts)
    tens = sum(part // 10 * 10 for part in parts)
    answer = agree(2 * d * total, sum(d + d for part in parts for _ in range(part)))
    told = tell(rng, _COMMUTE, parts=listed(parts), n=_WORDS[count], d=d, name=rng.choice(NAMES))
    rules = [
        gold(
            "modular",
            f"there and back is {2 * d}, so the answer is a multiple of {2 * d}",
            divisible(2 * d),
        ),
        gold(
            "bound",
            "every way is gone in both directions, and the ways are known to tens",
            between(2 * d * max(*parts, tens), 2 * d * (tens + 10 * count)),
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
    r"<name> is $<d>$ years older than a sister, and the product of their ages, in whole years, is "
    r"$<area>$. How old is the sister?",
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
    low, high = ((3, 24), (8, 34), (14, 48))[level - 1]
    w, d = rng.randrange(low, high), rng.randrange(2, 6 + 8 * level)
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


_POSTS = (
    r"<name> puts up <n> separate straight fences with <parts> panels. Each panel hangs between "
    r"two posts, and neighbouring panels share a post. A post costs $<c>$ dollars. How many "
    r"dollars do the posts cost?",
    r"Along <n> straight paths, <parts> metres long, a bollard stands at each full metre, from one "
    r"end of the path to the other. A bollard costs $<c>$ dollars. What do all the bollards cost "
    r"in dollars?",
    r"On <n> clothes lines <name> hangs <parts> towels side by side. Every towel is held by a peg "
    r"at each of its two upper corners, and neighbouring towels share a peg. A peg costs $<c>$ "
    r"cents. How many cents are the pegs worth?",
    r"A gardener plants trees in <n> straight rows, leaving <parts> gaps between neighbouring "
    r"trees of the rows. A tree costs $<c>$ dollars. Find the cost of the trees in dollars.",
    r"How many dollars do the pillars of <n> straight bridges cost at $<c>$ dollars each, if the "
    r"bridges have <parts> spans, a pillar stands under each end of every span, and neighbouring "
    r"spans rest on the same pillar?",
    r"<N> chains are made of <parts> rods laid in a line; a bead sits at each joint between two "
    r"rods and at each end of a chain. A bead weighs $<c>$ grams. What is the mass of all beads in "
    r"grams?",
    r"<name> pins <n> rows of <parts> postcards to a wall. In a row the cards overlap a little, "
    r"one pin goes through each overlap, and one pin holds each end of the row. Each pin weighs "
    r"$<c>$ milligrams. What do the pins weigh in milligrams?",
    r"At $<c>$ dollars a post, what do the posts for <n> straight railings cost in dollars, if the "
    r"railings consist of <parts> sections, each between two posts, and sections that meet share "
    r"the post?",
)


@family("implicit", ("modular", "bound"), "the price of posts: one more than panels in each row")
def fence_posts_cost(rng: Random, level: Level) -> Draft:
    """Ask for the price of posts; a row has one more post than gaps."""
    count, high, c = (
        (2, 12, rng.randrange(3, 10)),
        (3, 26, rng.randrange(6, 17)),
        (5, 48, rng.randrange(13, 29)),
    )[level - 1]
    parts = [rng.randrange(3, high) for _ in range(count)]
    total = sum(parts)
    posts = agree(total + count, sum(len(range(part + 1)) for part in parts))
    told = tell(
        rng,
        _POSTS,
        parts=listed(parts),
        n=_WORDS[count],
        N=_WORDS[count].capitalize(),
        c=c,
        name=rng.choice(NAMES),
    )
    rules = [
        gold(
            "modular", f"whole posts are paid for, so the price is a multiple of {c}", divisible(c)
        ),
        gold(
            "bound",
            "every row has more posts than panels, but not many more",
            between(c * (total + 1), c * (total + 2 * count)),
        ),
    ]
    lures: Lures = [
        (total * c, "out_of_range"),
        ((total + 1) * c, "other"),
        (2 * total * c, "other"),
        (posts, "encoded_form_not_applied"),
        ((total - count) * c, "out_of_range"),
        ((total + 2 * count) * c, "other"),
        (total, "encoded_form_not_applied"),
        (total * c + count, "other"),
        ((total - 1) * c, "out_of_range"),
    ]
    return Draft(told.text, posts * c, rules, lures)


FAMILIES = (there_and_back, shorter_side, fence_posts_cost)
