"""Implicit tier, seats: the places that stay free where as few coaches as possible are used."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from cfr.benchmark.constraintbench.families.phrase import NAMES, listed, tell
from cfr.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from cfr.benchmark.constraintbench.item import Level
from cfr.constraint.demand import congruent, least_residue

__all__ = ["FAMILIES"]

_WORDS = ("no", "one", "two", "three", "four", "five", "six")
_SEATS_ONE = (
    r"A group of <parts> people travels in coaches with $<c>$ seats each and hires as few coaches "
    r"as possible. How many seats stay empty?",
    r"<name> puts <parts> photographs into albums that hold $<c>$ photographs each, filling one "
    r"album after the other. How many more photographs would fit into the last album that <name> "
    r"uses?",
    r"A school needs <parts> pens and buys as few boxes of $<c>$ pens as it can. How many pens are "
    r"left over?",
    r"A club with <parts> members crosses a lake in boats with $<c>$ places each, using as few "
    r"boats as possible. How many places in the boats stay free?",
    r"<parts> scouts sit down at tables for $<c>$. All tables are full except the last. How many "
    r"chairs at the last table stay free?",
    r"There are <parts> guests, and every guest gets one slice of cake. A cake is cut into $<c>$ "
    r"slices, and <name> buys just enough cakes. How many slices remain?",
    r"<parts> singers stand in rows of $<c>$, row after row. How many singers are missing in the "
    r"last row to make it complete?",
    r"For <parts> children a cinema opens just enough halls with $<c>$ seats each. How many seats "
    r"in these halls are not used?",
)
_SEATS = (
    r"Groups of <parts> people travel in coaches with $<c>$ seats each, and as few coaches as "
    r"possible are hired for all of them together. How many seats stay empty?",
    r"<name> puts <parts> photographs from <n> holidays into albums that hold $<c>$ photographs "
    r"each, filling one album after the other. How many more photographs would fit into the last "
    r"album that <name> uses?",
    r"A school buys as few boxes of $<c>$ pens as it can for <n> classes, which need <parts> pens. "
    r"How many pens are left over?",
    r"How many free places are there in the smallest number of boats, $<c>$ places each, that can "
    r"carry <n> clubs with <parts> members at the same time?",
    r"<N> tents of scouts, with <parts> scouts, sit down at tables for $<c>$. All tables are full "
    r"except perhaps the last. How many chairs at the last table stay free?",
    r"Cakes are cut into $<c>$ slices. For <n> tables with <parts> guests <name> buys just enough "
    r"cakes to give every guest one slice. How many slices remain?",
    r"<N> choirs with <parts> singers stand in rows of $<c>$, row after row, all choirs mixed. How "
    r"many singers are missing in the last row to make it complete?",
    r"A cinema opens just enough halls, with $<c>$ seats each, for <n> schools that bring <parts> "
    r"children. How many seats are not used?",
)


@family("implicit", ("modular",), "the places that stay empty in the last coach")
def empty_seats(rng: Random, level: Level) -> Draft | None:
    """Ask for empty seats; those taken in the last coach are the trap."""
    count, high, c = (
        (1, 90, rng.choice((20, 30, 40, 50))),
        (2, 70, rng.choice((20, 30, 40, 50))),
        (3, 140, rng.choice((40, 50, 60))),
    )[level - 1]
    parts = [rng.randrange(11, high) for _ in range(count)]
    total = sum(parts)
    coaches = next(n for n in range(total + 1) if n * c >= total)
    answer = agree(-total % c, coaches * c - total)
    if answer == 0 or 2 * answer == c or coaches == 1:
        return None
    told = tell(
        rng,
        _SEATS_ONE if level == 1 else _SEATS,
        parts=listed(parts),
        n=_WORDS[count],
        N=_WORDS[count].capitalize(),
        c=c,
        name=rng.choice(NAMES),
    )
    rules = [
        gold("modular", f"fewer than {c} seats stay empty", least_residue(c)),
        gold(
            "modular",
            "the seats are a multiple of 10, so the people give the last digit",
            congruent(-total, 10),
        ),
    ]
    lures: Lures = [
        (total % c, "misled_by_cue"),
        (coaches, "encoded_form_not_applied"),
        (coaches - 1, "encoded_form_not_applied"),
        (coaches * c, "out_of_range"),
        (-(total % c), "out_of_range"),
        (
            sum(-part % c for part in parts),
            "out_of_range" if sum(-part % c for part in parts) >= c else "other",
        ),
        (total, "out_of_range"),
        (Fraction(total, c), "not_an_integer"),
        (answer + c, "out_of_range"),
        (total - c, "out_of_range" if total - c >= c else "other"),
    ]
    return Draft(told.text, answer, rules, lures)


FAMILIES = (empty_seats,)
