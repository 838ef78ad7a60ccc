"""Implicit tier, time: a clock counts minutes to 59, and everyone grows older."""

from __future__ import annotations

from random import Random

from cfr.benchmark.constraintbench.families.phrase import NAMES, listed, tell
from cfr.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from cfr.benchmark.constraintbench.item import Level
from cfr.constraint.demand import above, congruent, least_residue

__all__ = ["FAMILIES"]

_MINUTE_ONE = (
    r"A lesson begins at $<start>$ and lasts <times> minutes. At how many minutes past the hour "
    r"does it end?",
    r"<name> starts cooking at $<start>$, and the meal takes <times> minutes. How many minutes "
    r"past the full hour is it when the meal is ready?",
    r"A digital clock shows hours and minutes. It reads $<start>$ when <name> sets out on a walk "
    r"of <times> minutes. Which number do the minutes on the clock show at the end of the walk?",
    r"The train leaves at $<start>$ and travels for <times> minutes. What number stands after the "
    r"colon in the time of arrival?",
    r"At how many minutes past the hour does a concert of <times> minutes end that begins at "
    r"$<start>$?",
    r"<name> puts a loaf into the oven at $<start>$. It bakes for <times> minutes. The loaf comes "
    r"out some minutes after a full hour. How many?",
    r"A film of <times> minutes is shown from $<start>$ on. What does the minute display of a "
    r"digital clock show when it ends?",
    r"Work on a machine starts at $<start>$ and takes <times> minutes. What are the minutes in the "
    r"time, written as hours and minutes, at which the work is done?",
)
_MINUTE = (
    r"A lesson day begins at $<start>$ and consists of blocks of <times> minutes, one right after "
    r"the other. At how many minutes past the hour does the last block end?",
    r"<name> starts cooking at $<start>$; the steps take <times> minutes and follow one another at "
    r"once. How many minutes past the full hour is it when the meal is ready?",
    r"A digital clock shows hours and minutes. It reads $<start>$ when <name> sets out on a walk "
    r"whose parts take <times> minutes. Which number do the minutes on the clock show at the end "
    r"of the walk?",
    r"The train leaves at $<start>$ and its stages, without any stops between them, take <times> "
    r"minutes. What number stands after the colon in the time of arrival?",
    r"At how many minutes past the hour does a concert end that begins at $<start>$ and is made up "
    r"of pieces of <times> minutes, played without a pause?",
    r"<name> puts loaves into the oven one after another, the first at $<start>$. They bake for "
    r"<times> minutes. Which minute of the hour is it when the last loaf comes out?",
    r"Films of <times> minutes are shown back to back from $<start>$ on. What does the minute "
    r"display of a digital clock show when the last one ends?",
    r"Work on a machine starts at $<start>$. The jobs take <times> minutes, and there is no break "
    r"between them. What are the minutes in the time, written as hours and minutes, at which the "
    r"work is done?",
)


@family("implicit", ("domain", "modular"), "the minutes that a clock shows, from 0 to 59")
def minute_display(rng: Random, level: Level) -> Draft | None:
    """Ask for the minutes that a clock shows; sixty of them make an hour."""
    count, low, high = ((1, 11, 59), (1, 62, 175), (3, 13, 75))[level - 1]
    hour, minute = rng.randrange(7, 12), rng.randrange(11, 59)
    times = [rng.randrange(low, high) for _ in range(count)]
    total = sum(times)
    if minute + total < 61:
        return None
    clock = minute
    for time in times:
        clock = (clock + time) % 60
    answer = agree((minute + total) % 60, clock)
    told = tell(
        rng,
        _MINUTE_ONE if count == 1 else _MINUTE,
        start=f"{hour}:{minute:02d}",
        times=listed(times),
        name=rng.choice(NAMES),
    )
    rules = [
        gold("domain", "the minutes of a clock go from 0 to 59", least_residue(60)),
        gold(
            "modular",
            "an hour has 60 minutes, so the last digits alone give the last digit",
            congruent(minute + total, 10),
        ),
    ]
    lures: Lures = [
        (minute + total, "forgot_modular_reduction"),
        (total, "out_of_range"),
        (total % 60, "other"),
        (60 * hour + minute + total, "forgot_modular_reduction"),
        ((minute + total) // 60, "encoded_form_not_applied"),
        (60 - answer, "other"),
        ((minute + total) % 100, "out_of_range"),
        ((minute + total - times[-1]) % 60, "other"),
        (minute + total - 60, "forgot_modular_reduction"),
        (hour + (minute + total) // 60, "encoded_form_not_applied"),
    ]
    return Draft(told.text, answer, rules, lures)


_AGES = (
    r"$<n>$ years ago the ages of <k> brothers and sisters added up to $<sum>$ years. What do "
    r"their ages add up to <when>?",
    r"What do the ages of <k> cousins add up to <when>, if they added up to $<sum>$ years $<n>$ "
    r"years ago?",
    r"<name> has <k> nieces. $<n>$ years ago their ages added up to $<sum>$ years. Find the sum of "
    r"their ages <when>.",
    r"Adding the ages of the <k> tortoises in a zoo gave $<sum>$ years when the keeper did it "
    r"$<n>$ years ago. What does it give for the same tortoises <when>?",
    r"$<n>$ years ago a keeper found that the ages of the <k> parrots in an aviary added up to "
    r"$<sum>$ years. How much is the sum of the ages of these parrots <when>?",
    r"$<n>$ years ago the <k> oaks in a park were $<sum>$ years old taken together. How many years "
    r"old are these oaks taken together <when>?",
    r"<name> looks after <k> elephants. $<n>$ years ago their total age was $<sum>$ years. What is "
    r"their total age, in years, <when>?",
    r"When the <k> children of a family had their picture taken $<n>$ years ago, their ages summed "
    r"to $<sum>$ years. To what number do their ages sum <when>?",
)


@family("implicit", ("modular", "bound"), "the sum of ages after some years: everyone grows older")
def sum_of_ages(rng: Random, level: Level) -> Draft:
    """Ask for a sum of ages at another time; each of the people has aged."""
    k = (2, rng.randrange(3, 5), rng.randrange(4, 8))[level - 1]
    n = rng.randrange(2, 8) if level == 1 else rng.randrange(3, 10)
    m = rng.randrange(2, 12) if level == 3 else 0
    old = [rng.randrange(3, 24 + 3 * level) for _ in range(k)]
    total = sum(old)
    answer = agree(total + k * (n + m), sum(age + n + m for age in old))
    told = tell(
        rng,
        _AGES,
        n=n,
        k=("two", "three", "four", "five", "six", "seven")[k - 2],
        sum=total,
        name=rng.choice(NAMES),
        when=f"${m}$ years from now" if level == 3 else "today",
    )
    rules = [
        gold("modular", f"all {k} age by the same number of years", congruent(total, k)),
        gold("bound", "everyone has grown older by more than a year", above(total + k)),
    ]
    lures: Lures = [
        (total, "out_of_range"),
        (total + n + m, "other"),
        (total + n, "other"),
        (total + k * n, "encoded_form_not_applied"),
        (total + k * m, "other"),
        (total + (k + 1) * (n + m), "other"),
        (total + (k - 1) * (n + m), "other"),
        (k * (n + m), "encoded_form_not_applied"),
        (k * (total + n + m), "other"),
        (total - k * n, "out_of_range"),
    ]
    return Draft(told.text, answer, rules, lures)


FAMILIES = (minute_display, sum_of_ages)
