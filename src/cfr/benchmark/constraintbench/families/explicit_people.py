"""Explicit tier, people: each pair counted once, nobody counted twice. The text says so."""

from __future__ import annotations

from itertools import combinations
from random import Random

from cfr.benchmark.constraintbench.families.phrase import NAMES, listed, tell
from cfr.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from cfr.benchmark.constraintbench.item import Level
from cfr.constraint.demand import between, divisible

__all__ = ["FAMILIES"]

_PAIRS = (
    r"In <groups> there are <sizes> people. «once:Everyone shakes hands exactly once with everyone "
    r"else in the same group», and with nobody outside it. Each handshake lasts $<f>$ seconds. How "
    r"many seconds do all the handshakes last, added up?",
    r"A league has <groups> with <sizes> teams. «once:Within each group, every two teams meet in "
    r"exactly one match.» A match lasts $<f>$ minutes. How many minutes of play are there "
    r"altogether?",
    r"How many cents do the phone calls cost if <groups> of <sizes> friends are formed, "
    r"«once:every two friends in the same group talk exactly once», and a call costs $<f>$ cents?",
    r"<name> draws <groups> of <sizes> dots and «once:joins every two dots of the same group by "
    r"one line». A line takes $<f>$ seconds. How many seconds does <name> need for the lines?",
    r"At a chess evening <groups> of <sizes> players are made up. «once:Each player plays one game "
    r"against each other player of the same group», and $<f>$ points are given out in every game. "
    r"Find the total number of points given out.",
    r"«once:Every two hikers of the same group have one photograph taken together.» There are "
    r"<groups>, with <sizes> hikers. A photograph costs $<f>$ dollars. How many dollars do the "
    r"photographs cost?",
    r"There are <groups> with <sizes> islands. «once:One ferry line links every two islands of the "
    r"same group», and on each line there are $<f>$ ferries. How many ferries are there?",
    r"<name> compares colours: <groups> hold <sizes> samples, and «once:each sample is compared "
    r"once with each other sample of its group». A comparison takes $<f>$ seconds. How many "
    r"seconds do the comparisons take?",
)


@family("explicit", ("modular", "bound"), "pairs in groups, each pair counted once")
def pairs_once(rng: Random, level: Level) -> Draft | None:
    """Count pairs inside groups; counting each twice, or across groups, is the trap."""
    count, top, f = (
        (2, 9, rng.randrange(3, 10)),
        (3, 12, rng.randrange(4, 13)),
        (4, 17, rng.randrange(7, 20)),
    )[level - 1]
    sizes = [rng.randrange(3, top) for _ in range(count)]
    if len(set(sizes)) < count:
        return None
    listing = sum(len(list(combinations(range(size), 2))) for size in sizes)
    pairs = agree(sum(size * (size - 1) for size in sizes) // 2, listing)
    total = sum(sizes)
    word = ("two", "three", "four")[count - 2]
    told = tell(
        rng, _PAIRS, groups=f"{word} groups", sizes=listed(sizes), f=f, name=rng.choice(NAMES)
    )
    rules = [
        gold("modular", f"every pair counts {f}, so the answer is a multiple of {f}", divisible(f)),
        gold(
            "bound",
            "pairs of different groups do not count, and no pair counts twice",
            between(f * (total - count), f * (total * (total - 1) // 2 - 1)),
            told.span("once"),
        ),
    ]
    lures: Lures = [
        (2 * f * pairs, "other"),
        (f * total * (total - 1) // 2, "out_of_range"),
        (pairs, "encoded_form_not_applied"),
        (f * total, "misled_by_cue"),
        (f * sum(size * size for size in sizes), "other"),
        (f * sum(size * (size + 1) // 2 for size in sizes), "other"),
        (f * total * (total - 1), "out_of_range"),
        (f * (total - count), "other"),
        (f * sizes[0] * sizes[1], "other"),
        (2 * pairs, "encoded_form_not_applied"),
    ]
    return Draft(told.text, f * pairs, rules, lures)


_FEE = (
    r"<sizes> children go to <clubs>, and $<both>$ children go to two of these clubs (nobody goes "
    r"to more than two). «once:Every child pays the fee of $<fee>$ dollars only once.» How many "
    r"dollars are paid altogether?",
    r"A school offers <clubs>, with <sizes> members. «once:Each child gets exactly one T-shirt, "
    r"also the $<both>$ children who belong to two clubs»; none belongs to more than two. A "
    r"T-shirt costs $<fee>$ dollars. What do the T-shirts cost in dollars?",
    r"The lists of <clubs> carry <sizes> names. $<both>$ people stand on two lists and nobody on "
    r"more. <name> sends every person one letter, «once:never two to the same person». Each letter "
    r"takes $<fee>$ sheets. How many sheets are used?",
    r"<Clubs> have <sizes> members, and $<both>$ of these people are members of two. No one is in "
    r"more than two. «once:Counting every person only once», how many sandwiches are needed so "
    r"that each person gets $<fee>$?",
    r"For an outing of <clubs> each person needs one ticket, «once:no matter in how many clubs he "
    r"or she is». The clubs have <sizes> members; $<both>$ people are in two clubs, nobody in "
    r"more. A ticket costs $<fee>$ dollars. What is the total price in dollars?",
    r"«once:Nobody is to be counted twice.» <Clubs> have <sizes> members, $<both>$ people are in "
    r"exactly two of these clubs and the others in one. If every person plants $<fee>$ trees, how "
    r"many trees are planted?",
    r"How many dollars come in if every member of <clubs> gives $<fee>$ dollars, «once:and gives "
    r"it only once»? The clubs count <sizes> members, and $<both>$ people are counted in two of "
    r"them, none in more than two.",
    r"<name> prints $<fee>$ badges for each person in <clubs>, «once:one set for each person, even "
    r"for somebody who is in two clubs». There are <sizes> names on the lists of the clubs; "
    r"$<both>$ people are on two lists and nobody is on more. How many badges does <name> print?",
)
_CLUBS = ("chess", "choir", "drama", "judo", "robot", "garden", "film")


@family("explicit", ("modular", "bound"), "people of overlapping clubs, each counted once")
def counted_once(rng: Random, level: Level) -> Draft | None:
    """Ask for a total over people of whom some stand on two lists."""
    count, high, fee = (
        (2, 25, rng.randrange(2, 8)),
        (3, 40, rng.randrange(3, 10)),
        (4, 90, rng.randrange(6, 19)),
    )[level - 1]
    sizes = [rng.randrange(high // 3, high) for _ in range(count)]
    both = rng.randrange(2, min(sizes) - 1)
    total = sum(sizes)
    people = total - both
    tens = sum(size // 10 * 10 for size in sizes)
    answer = agree(fee * people, sum(fee for _ in range(total - 2 * both)) + fee * both)
    names = rng.sample(_CLUBS, count)
    clubs = f"the {', '.join(names[:-1])} and {names[-1]} clubs"
    told = tell(
        rng,
        _FEE,
        sizes=listed(sizes),
        clubs=clubs,
        Clubs=clubs.capitalize(),
        both=both,
        fee=fee,
        name=rng.choice(NAMES),
    )
    rules = [
        gold(
            "modular",
            f"every person counts {fee}, so the answer is a multiple of {fee}",
            divisible(fee),
        ),
        gold(
            "bound",
            "there are fewer people than names, and the names are known to tens",
            between(fee * (tens - both), fee * min(total - 1, tens + 10 * count - both)),
            told.span("once"),
        ),
    ]
    lures: Lures = [
        (fee * total, "out_of_range"),
        (people, "encoded_form_not_applied"),
        (fee * (total - 2 * both), "other"),
        (fee * (total + both), "out_of_range"),
        (total, "encoded_form_not_applied"),
        (fee * both, "misled_by_cue"),
        (fee * total - both, "other"),
        (fee * (total - count * both), "other"),
        (total - 2 * both, "encoded_form_not_applied"),
    ]
    return Draft(told.text, answer, rules, lures)


FAMILIES = (pairs_once, counted_once)
