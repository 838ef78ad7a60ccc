"""Misleading tier, places: the nearest place, and volumes that are books; nothing is rounded."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from cfr.benchmark.constraintbench.families.phrase import NAMES, listed, tell
from cfr.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from cfr.benchmark.constraintbench.item import Level
from cfr.constraint.demand import at_most, between, congruent, divisible

__all__ = ["FAMILIES"]

_VOLUMES = (
    r"The volumes of an encyclopedia have <pages> pages, and «page:the pages are numbered "
    r"straight through from the first volume to the last». <name> opens page number $<n>$. "
    r"Counted from the beginning of its own volume, which page is that?",
    r"A saga in several volumes has <pages> pages in them, and «page:the page numbers run on from "
    r"volume to volume, starting with $1$». Page $<n>$ is which page of the volume in which it "
    r"stands, counted from the beginning of that volume?",
    r"Counted from the start of its own volume, which page is page $<n>$ of a lexicon whose "
    r"volumes have <pages> pages and «page:whose numbering does not begin anew with a volume»?",
    r"<name> prints a diary in volumes of <pages> pages, in this order, with «page:page numbers "
    r"that go on through all of them». If each volume had been numbered from $1$ on its own, what "
    r"number would page $<n>$ have?",
    r"«page:The pages of a long novel are numbered from $1$ on through all its volumes», which "
    r"have <pages> pages. A quotation stands on page $<n>$. <name> has a new edition where every "
    r"volume starts with page $1$ and all else is the same. On which page of its volume is the "
    r"quotation?",
    r"The volumes of a law collection hold <pages> pages in this order, and «page:its pages carry "
    r"the numbers $1$, $2$, $3$ and so on without a break». <name> numbers the pages of each "
    r"volume anew with a pencil, from $1$ on. What does <name> write on page $<n>$?",
    r"A composer's works fill volumes of <pages> pages, and «page:the page numbers continue from "
    r"one volume to the next». <name> must turn to page $<n>$. How many pages is that into the "
    r"volume concerned, the volume's first page counting as $1$?",
    r"Atlas volumes of <pages> pages stand on a shelf in this order, with «page:one numbering "
    r"from $1$ for all of them». A map is on page $<n>$. If <name> counts the pages of that "
    r"volume alone, starting with $1$, what number does the page with the map get?",
)


@family("misleading", ("modular", "bound"), "'volume' is a book, and the page inside it is asked")
def page_in_volume(rng: Random, level: Level) -> Draft:
    """Ask for the place of a page inside its volume."""
    low, high, before = ((2, 9, 1), (15, 45, 2), (25, 80, 3))[level - 1]
    unit = 50 if level == 1 else 10
    sizes = [unit * size for size in rng.sample(range(low, high), before + 2)]
    place = rng.randrange(2, sizes[before])
    place += place % 10 == 0
    n = sum(sizes[:before]) + place
    answer = agree(place, _walk_volumes(n, sizes))
    told = tell(rng, _VOLUMES, pages=listed(sizes), n=n, name=rng.choice(NAMES))
    rules = [
        gold(
            "modular",
            "all volumes have multiples of ten pages, so the last digit stays",
            congruent(n, 10),
            told.span("page"),
        ),
        gold(
            "bound",
            f"a volume has at most {max(sizes)} pages",
            between(1, max(sizes)),
        ),
    ]
    lures: Lures = [
        (before + 1, "misled_by_cue"),
        (n, "out_of_range"),
        (sum(sizes[: before + 1]) - n, "arithmetic"),
        (place - 1, "arithmetic"),
        (place + 1, "arithmetic"),
        (n - sizes[0], "arithmetic"),
        (n - sum(sizes[1:before]), "arithmetic"),
        (sum(sizes[:before]), "arithmetic"),
        (n % sizes[before], "arithmetic"),
        (sum(sizes) - n, "arithmetic"),
    ]
    return Draft(told.text, answer, rules, lures)


def _walk_volumes(page: int, sizes: list[int]) -> int:
    """Turn the pages one by one and count anew in every volume."""
    volume = inside = 0
    for _ in range(page):
        volume, inside = (volume, inside + 1) if inside < sizes[volume] else (volume + 1, 1)
    return inside


_NEAREST = (
    r"Along a straight path there is a bench «gap:every $<d>$ metres», the first one $<d>$ metres "
    r"from the gate. <name> walks in from the gate in stages of <legs> metres and stops. What is "
    r"the distance in metres from <name> to the nearest bench?",
    r"How many metres is it to the nearest emergency telephone for a driver who has driven <legs> "
    r"metres, one stretch after the other, into a long tunnel that has a telephone at its mouth "
    r"and then «gap:one every $<d>$ metres»?",
    r"Trees stand «gap:at a distance of $<d>$ metres from each other» along a road, beginning at "
    r"the bridge. From the bridge <name> cycles <legs> metres down the road, with rests in "
    r"between. How far away, in metres, is the nearest tree now?",
    r"A rope has a knot at its start and «gap:a knot every $<d>$ centimetres» after that. <name> "
    r"marks the point that one reaches by measuring off <legs> centimetres from the start, one "
    r"after the other. Find the distance in centimetres between this point and the nearest knot.",
    r"Bus stops follow each other «gap:at intervals of $<d>$ metres» on a straight street that "
    r"starts with a stop at the town hall. <name>'s house is reached from the town hall by going "
    r"<legs> metres along the street, block by block. What is the distance in metres from the "
    r"house to the nearest stop?",
    r"Sockets are set into the floor of a long hall «gap:every $<d>$ centimetres», from the wall "
    r"on. Shelves of lengths <legs> centimetres are put end to end, starting at the wall. How "
    r"many centimetres is the far end of the last shelf from the nearest socket?",
    r"On a ski track a flag stands at the start and «gap:every $<d>$ metres» from there. <name> "
    r"skis stretches of <legs> metres, all in the same direction, and falls. How many metres away "
    r"is the nearest flag?",
    r"«gap:Every $<d>$ metres» a buoy marks a straight channel, the first buoy being at the "
    r"harbour mouth. A boat runs <legs> metres down the channel from the harbour mouth, in "
    r"separate hauls. Find its distance in metres from the nearest buoy.",
)


@family(
    "misleading", ("modular", "bound"), "'nearest' is a place; its distance is asked, unrounded"
)
def nearest_place(rng: Random, level: Level) -> Draft | None:
    """Ask how far the nearest of equally spaced places is."""
    g = rng.choice(((2, 3), (4, 5, 6), (6, 7, 8))[level - 1])
    d = g * rng.randrange(*((30, 70), (30, 60), (50, 90))[level - 1])
    low, high, count = ((25, 90, 2), (15, 50, 3), (20, 80, 5))[level - 1]
    legs = [g * rng.randrange(low, high) for _ in range(count)]
    x = sum(legs)
    r = x % d
    answer = agree(min(r, d - r), min(abs(x - place) for place in range(0, x + d + 1, d)))
    if x < d or r in (0, d - r):
        return None
    told = tell(rng, _NEAREST, d=d, legs=listed(legs), name=rng.choice(NAMES))
    rules = [
        gold(
            "bound",
            f"with {d} between neighbours, one is at most half of that away",
            at_most(Fraction(d, 2)),
            told.span("gap"),
        ),
        gold("modular", f"all lengths are multiples of {g}", divisible(g)),
    ]
    nearest = (x + d // 2) // d * d
    lures: Lures = [
        (nearest, "misled_by_cue"),
        (max(r, d - r), "out_of_range"),
        (nearest // d, "misled_by_cue"),
        (x, "out_of_range"),
        (x // d, "misled_by_cue"),
        (abs(x - d), "out_of_range"),
        (d, "out_of_range"),
        (x % d + 1, "arithmetic"),
        (0, "arithmetic"),
    ]
    return Draft(told.text, answer, rules, lures)


FAMILIES = (page_in_volume, nearest_place)
