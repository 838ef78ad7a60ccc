"""Implicit tier, contests: who loses is out, and the winner is never out."""

from __future__ import annotations

from random import Random

from constraint_first.benchmark.constraintbench.families.phrase import NAMES, listed, tell
from constraint_first.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from constraint_first.benchmark.constraintbench.item import Level
from constraint_first.constraint.demand import between, divisible

__all__ = ["FAMILIES"]

_KNOCKOUT = (
    r"<parts> players enter <cups>. In each match the loser is out, there are no draws, and the "
    r"last one left is the champion. A match lasts $<t>$ minutes. How many minutes of play are "
    r"there altogether?",
    r"A club runs <cups> with <parts> players, in which whoever loses a match goes home, until one "
    r"winner is left. Every match uses $<t>$ new balls. How many balls are used?",
    r"How many dollars do the referees cost for <cups> with <parts> teams, if a referee gets $<t>$ "
    r"dollars for a match and a team that loses is out at once?",
    r"<name> organises <cups> with <parts> chess players. Each game has a winner, the loser drops "
    r"out, and play goes on until only the champion remains. <name> records $<t>$ minutes of film "
    r"of each game. How many minutes of film is that in all?",
    r"In <cups>, <parts> wrestlers meet two at a time; the one who is beaten leaves, and the other "
    r"stays in, until a single one is left. A bout lasts $<t>$ minutes. Find the total length of "
    r"all bouts in minutes.",
    r"<cups_first> with <parts> teams. Teams are knocked out by losing one match, and the "
    r"cup goes to the only team that is never beaten. Each match brings in $<t>$ dollars. How many "
    r"dollars do all the matches bring in?",
    r"Rock, paper, scissors is played in <cups> by <parts> children. Whoever loses a round between "
    r"two children sits down, until one child is left standing. A round takes $<t>$ seconds. How "
    r"many seconds do all the rounds take, one after another?",
    r"At a school <parts> pupils enter <cups>. A pupil who loses is out, and the last one wins the "
    r"cup. For every match the school prints $<t>$ score sheets. How many sheets does it print?",
)
_CUPS = ("", "a knock-out cup", "two knock-out cups", "three knock-out cups")


@family("implicit", ("modular", "bound"), "matches of a knock-out cup: everyone but one loses once")
def knockout_matches(rng: Random, level: Level) -> Draft:
    """Ask for matches in a knock-out cup; each match sends one player home."""
    count, high, t = (
        (1, 21, rng.randrange(2, 13)),
        (2, 24, rng.randrange(3, 12)),
        (3, 50, rng.randrange(8, 22)),
    )[level - 1]
    parts = [rng.randrange(4, high) for _ in range(count)]
    total = sum(parts)
    played = 0
    for part in parts:
        left = part
        while left > 1:
            played, left = played + left // 2, left - left // 2
    matches = agree(total - count, played)
    cups = _CUPS[count]
    told = tell(
        rng,
        _KNOCKOUT,
        parts=listed(parts),
        cups=cups,
        cups_first=f"{cups.capitalize()} {'starts' if count == 1 else 'start'}",
        t=t,
        name=rng.choice(NAMES),
    )
    rules = [
        gold(
            "modular", f"every match counts {t}, so the answer is a multiple of {t}", divisible(t)
        ),
        gold(
            "bound",
            "nobody loses twice, so there are fewer matches than players",
            between(t * (total // 2), t * (total - 1)),
        ),
    ]
    pairs = sum(part * (part - 1) // 2 for part in parts)
    lures: Lures = [
        (t * total, "out_of_range"),
        (t * (total - 1), "other"),
        (matches, "encoded_form_not_applied"),
        (t * sum(part // 2 for part in parts), "other"),
        (t * pairs, "out_of_range"),
        (pairs, "encoded_form_not_applied"),
        (t * sum(len(f"{part - 1:b}") for part in parts), "other"),
        (t * (total + count), "out_of_range"),
        (total, "encoded_form_not_applied"),
        (t * (total - 2 * count), "other"),
    ]
    return Draft(told.text, t * matches, rules, lures)


FAMILIES = (knockout_matches,)
