"""Explicit tier, pairs of people or things, each counted once. The text says so."""

from __future__ import annotations

from itertools import combinations
from random import Random

from constraint_first.benchmark.constraintbench.families.phrase import NAMES, listed, tell
from constraint_first.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from constraint_first.benchmark.constraintbench.item import Level
from constraint_first.constraint.demand import between, divisible

__all__ = ["FAMILIES"]

_PAIRS_ONE = (
    r"$<size>$ people meet. «once:Everyone shakes hands exactly once with everyone else.» Each "
    r"handshake lasts $<f>$ seconds. How many seconds do all the handshakes last, added up?",
    r"A league has $<size>$ teams, and «once:every two teams meet in exactly one match». A match "
    r"lasts $<f>$ minutes. How many minutes of play are there altogether?",
    r"How many cents do the phone calls cost if «once:every two of $<size>$ friends talk exactly "
    r"once» and a call costs $<f>$ cents?",
    r"<name> draws $<size>$ dots on a circle and «once:joins every two dots by one line». A line "
    r"takes $<f>$ seconds. How many seconds does <name> need for the lines?",
    r"At a chess evening there are $<size>$ players. «once:Each player plays one game against each "
    r"other player», and $<f>$ points are given out in every game. Find the total number of points "
    r"given out.",
    r"«once:Every two of $<size>$ hikers have one photograph taken together.» A photograph costs "
    r"$<f>$ dollars. How many dollars do the photographs cost?",
    r"«once:One ferry line links every two of $<size>$ islands», and on each line there are $<f>$ "
    r"ferries. How many ferries are there?",
    r"<name> has $<size>$ colour samples, and «once:each sample is compared once with each other "
    r"sample». A comparison takes $<f>$ seconds. How many seconds do the comparisons take?",
)
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
        (1, 13, rng.randrange(2, 13)),
        (2, 9, rng.randrange(3, 10)),
        (4, 14, rng.randrange(7, 20)),
    )[level - 1]
    sizes = [rng.randrange(3, top) for _ in range(count)]
    if len(set(sizes)) < count:
        return None
    listing = sum(len(list(combinations(range(size), 2))) for size in sizes)
    pairs = agree(sum(size * (size - 1) for size in sizes) // 2, listing)
    total = sum(sizes)
    told = tell(
        rng,
        _PAIRS_ONE if count == 1 else _PAIRS,
        groups=f"{('', 'two', '', 'four')[count - 1]} groups",
        size=sizes[0],
        sizes=listed(sizes),
        f=f,
        name=rng.choice(NAMES),
    )
    rules = [
        gold("modular", f"every pair counts {f}, so the answer is a multiple of {f}", divisible(f)),
        gold(
            "bound",
            "everyone is in a pair, pairs of different groups do not count, and none counts twice",
            between(f * (total - count), f * (total * (total - 1) // 2 - (count > 1))),
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
        (f * sizes[0] * sizes[-1], "other"),
        (2 * pairs, "encoded_form_not_applied"),
    ]
    return Draft(told.text, f * pairs, rules, lures)


FAMILIES = (pairs_once,)
