"""Implicit tier, time: a clock counts minutes to 59."""

from __future__ import annotations

from random import Random

from constraint_first.benchmark.constraintbench.families.phrase import NAMES, listed, tell
from constraint_first.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from constraint_first.benchmark.constraintbench.item import Level
from constraint_first.constraint.demand import congruent, least_residue

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


FAMILIES = (minute_display,)
