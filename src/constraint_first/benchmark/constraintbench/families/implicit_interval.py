"""Implicit tier, intervals: cuts, floors, pages. Ends count once, or not at all."""

from __future__ import annotations

from itertools import pairwise
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

_CUTS = (
    r"<name> saws <n> logs into <parts> pieces. Each cut takes $<t>$ minutes. How many minutes "
    r"does the sawing take?",
    r"A baker cuts <n> long loaves into <parts> slices, one loaf after the other. Every cut takes "
    r"$<t>$ seconds. For how many seconds does the baker cut?",
    r"At $<t>$ cents for a cut, how many cents does a workshop charge for dividing <n> rods into "
    r"<parts> pieces?",
    r"<N> ribbons are cut into <parts> pieces. <name> needs $<t>$ seconds for each snip of the "
    r"scissors and snips one ribbon at a time. How many seconds does that take?",
    r"A plumber divides <n> straight pipes into <parts> sections and loses $<t>$ millimetres of "
    r"pipe at each cut. How many millimetres are lost altogether?",
    r"How many minutes does it take to saw <n> planks, one at a time, into <parts> pieces, if the "
    r"saw needs $<t>$ minutes to go through a plank once?",
    r"<name> breaks <n> sticks of chalk into <parts> pieces. Each break makes $<t>$ crumbs. How "
    r"many crumbs are made?",
    r"A machine cuts <n> bars of soap crosswise into <parts> pieces and uses $<t>$ joules for "
    r"every cut. How many joules does it use in all?",
)


@family("implicit", ("modular", "bound"), "cuts: one fewer than pieces")
def saw_cuts(rng: Random, level: Level) -> Draft:
    """Ask for the time that cuts take; n pieces need n - 1 cuts."""
    count, high, t = (
        (2, 10, rng.randrange(2, 12)),
        (3, 20, rng.randrange(5, 16)),
        (4, 34, rng.randrange(11, 24)),
    )[level - 1]
    parts = [rng.randrange(3, high) for _ in range(count)]
    total = sum(parts)
    cuts = agree(total - count, sum(len(range(1, part)) for part in parts))
    told = tell(
        rng,
        _CUTS,
        parts=listed(parts),
        n=COUNT_WORDS[count],
        N=COUNT_WORDS[count].capitalize(),
        t=t,
        name=rng.choice(NAMES),
    )
    rules = [
        gold("modular", f"every cut counts {t}, so the answer is a multiple of {t}", divisible(t)),
        gold(
            "bound",
            "there are fewer cuts than pieces, but not many fewer",
            between(t * (total - 2 * count), t * (total - 1)),
        ),
    ]
    lures: Lures = [
        (t * total, "out_of_range"),
        (t * (total - 1), "other"),
        (cuts, "encoded_form_not_applied"),
        (t * (total + count), "out_of_range"),
        (t * (total + 1), "out_of_range"),
        (total, "encoded_form_not_applied"),
        (t * total - count, "other"),
        (t * (parts[0] - 1), "other"),
        (t * (total - 2 * count), "other"),
    ]
    return Draft(told.text, t * cuts, rules, lures)


_FLOORS = (
    r"In a tower there are $<s>$ steps between each floor and the next. <name> walks from floor "
    r"<route>. How many steps is that altogether?",
    r"A lift takes $<s>$ seconds from one floor to the next. It goes from floor <route>, and the "
    r"stops are not counted. For how many seconds does it move?",
    r"Neighbouring floors of a car park are joined by ramps of $<s>$ metres. <name> drives from "
    r"floor <route>. How many metres of ramp does <name> drive?",
    r"How many steps does <name> take on the stairs on the way from floor <route>, if each floor "
    r"is $<s>$ steps above the one below it?",
    r"<name> delivers parcels by the stairs and goes from floor <route>. It takes $<s>$ steps to "
    r"get from a floor to the one above or below. How many steps does <name> take?",
    r"A window cleaner's platform needs $<s>$ seconds to pass from one floor to a neighbouring "
    r"one. It travels from floor <route>. Find its travelling time in seconds.",
    r"Between two neighbouring floors of a library there are $<s>$ stairs. A librarian carries "
    r"books from floor <route>. How many stairs does the librarian go up or down in all?",
    r"A robot uses $<s>$ units of energy for each floor that it climbs or descends. It is sent "
    r"from floor <route>. How many units of energy does it use?",
)


@family("implicit", ("modular", "bound"), "stairs between floors, not floors")
def floors_climbed(rng: Random, level: Level) -> Draft | None:
    """Ask for the steps between floors; the floor one starts from is not climbed."""
    legs, top, s = (
        (1, 13, rng.randrange(3, 23)),
        (2, 13, rng.randrange(5, 23)),
        (3, 24, rng.randrange(12, 27)),
    )[level - 1]
    stops = [rng.randrange(1, top) for _ in range(legs + 1)]
    gaps = [abs(b - a) for a, b in pairwise(stops)]
    if min(gaps) < 2:
        return None
    walked = sum(len(range(min(a, b), max(a, b))) for a, b in pairwise(stops))
    total = agree(sum(gaps), walked)
    route = f"${stops[0]}$ to floor ${stops[1]}$" + "".join(
        f", then to floor ${stop}$" for stop in stops[2:]
    )
    told = tell(rng, _FLOORS, s=s, route=route, name=rng.choice(NAMES))
    rules = [
        gold("modular", f"each floor counts {s}, so the answer is a multiple of {s}", divisible(s)),
        gold(
            "bound",
            "the differences of the floors tell the way to a floor or so",
            between(s * (total - legs), s * (total + legs)),
        ),
    ]
    lures: Lures = [
        (s * (total + legs), "other"),
        (s * (total + 1), "other"),
        (s * (total - legs), "other"),
        (total, "encoded_form_not_applied"),
        (s * abs(stops[-1] - stops[0]), "other"),
        (s * sum(stops), "other"),
        (s * max(stops), "other"),
        (s * sum(stops[1:]), "other"),
        (s * (sum(stops) + legs), "out_of_range"),
        (s * gaps[0], "other"),
    ]
    return Draft(told.text, s * total, rules, lures)


_PAGES = (
    r"For homework <name> reads <ranges> of a book and needs $<t>$ minutes for a page. How many "
    r"minutes does <name> read?",
    r"A copy shop charges $<t>$ cents a page. <name> has <ranges> of a manual copied. How many "
    r"cents does <name> pay?",
    r"How many seconds does a scanner need for <ranges> of an old diary, if it takes $<t>$ seconds "
    r"for each page?",
    r"<name> translates <ranges> of a novel for $<t>$ dollars a page. How many dollars does <name> "
    r"earn?",
    r"Every page of an album has room for $<t>$ photographs. <Ranges> are full and the others are "
    r"empty. How many photographs are in the album?",
    r"A proofreader finds exactly $<t>$ mistakes on every one of <ranges>. Find the number of "
    r"mistakes on these pages.",
    r"In <name>'s exercise book <ranges> have $<t>$ lines each. How many lines do these pages have "
    r"altogether?",
    r"<name> learns $<t>$ new words from each page of a textbook. The test covers <ranges>. How "
    r"many words must <name> know for the test?",
)


@family("implicit", ("modular", "bound"), "pages from one to another, both read")
def pages_read(rng: Random, level: Level) -> Draft:
    """Ask for the time that a stretch of pages takes; its first page is read as well."""
    count, high, t = (
        (1, 30, rng.randrange(2, 10)),
        (2, 50, rng.randrange(4, 15)),
        (4, 90, rng.randrange(7, 24)),
    )[level - 1]
    ends: list[tuple[int, int]] = []
    last = rng.randrange(3, 40 * level)
    for _ in range(count):
        first = last + rng.randrange(2, 20)
        last = first + rng.randrange(6, high)
        ends.append((first, last))
    spans = sum(b - a for a, b in ends)
    pages = agree(spans + count, sum(len(range(a, b + 1)) for a, b in ends))
    ranges = [f"${a}$ to ${b}$" for a, b in ends]
    joined = " and ".join(filter(None, (", ".join(ranges[:-1]), ranges[-1])))
    told = tell(
        rng, _PAGES, ranges=f"pages {joined}", Ranges=f"Pages {joined}", t=t, name=rng.choice(NAMES)
    )
    rules = [
        gold("modular", f"each page counts {t}, so the answer is a multiple of {t}", divisible(t)),
        gold(
            "bound",
            "the differences of the page numbers tell the pages to one or two",
            between(t * (spans - count), t * (spans + 2 * count)),
        ),
    ]
    lures: Lures = [
        (t * spans, "other"),
        (t * (spans + 1), "other"),
        (t * (spans - count), "other"),
        (pages, "encoded_form_not_applied"),
        (spans, "encoded_form_not_applied"),
        (t * last, "out_of_range"),
        (t * sum(b for _, b in ends), "out_of_range"),
        (t * sum(a + b for a, b in ends), "out_of_range"),
        (t * (pages + count), "other"),
        (t * (last - ends[0][0] + 1), "other"),
    ]
    return Draft(told.text, t * pages, rules, lures)


FAMILIES = (saw_cuts, floors_climbed, pages_read)
