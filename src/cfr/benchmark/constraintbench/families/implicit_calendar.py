"""Implicit tier, time: weekdays, minutes, days of the month, ages. The calendar sets the limits."""

from __future__ import annotations

from datetime import date, timedelta
from fractions import Fraction
from random import Random

from cfr.benchmark.constraintbench.families.phrase import NAMES, listed, tell
from cfr.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from cfr.benchmark.constraintbench.item import ErrorType, Level
from cfr.constraint.demand import above, all_of, between, congruent, divisible, integer

__all__ = ["FAMILIES"]

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    ("March", 31), ("April", 30), ("May", 31), ("June", 30), ("July", 31), ("August", 31),
    ("September", 30), ("October", 31), ("November", 30),
)  # fmt: skip
_LONGEST = 31
_LESSONS = (
    r"In a year in which $1$ <month> is a <first>, <name> has a piano lesson on every <days> of "
    r"<month>. A lesson costs $<c>$ dollars. How many dollars do the lessons in <month> cost?",
    r"A market is held on each <days> of <month>, and a stall costs $<c>$ dollars a day. This year "
    r"<month> begins on a <first>. What does <name> pay in dollars for a stall on all market days "
    r"of the month?",
    r"How many kilometres does <name> run in <month>, running $<c>$ kilometres on every <days>, if "
    r"the month starts with a <first>?",
    r"<month> begins on a <first> this year. On every <days> of the month a ferry makes $<c>$ "
    r"crossings, and on other days none. How many crossings does it make in <month>?",
    r"The first day of <month> is a <first>. <name> waters the garden on each <days> and uses "
    r"$<c>$ litres each time. How many litres does <name> use in <month>?",
    r"A baker makes $<c>$ special loaves on every <days>. How many special loaves are made in "
    r"<month> of a year in which $1$ <month> falls on a <first>?",
    r"This year $1$ <month> is a <first>. A library is open late on every <days>, and on such a "
    r"day $<c>$ visitors come in the evening. How many evening visitors does it have in <month>?",
    r"<name> is paid $<c>$ dollars for each evening of babysitting and babysits on every <days> of "
    r"<month>. If the month begins on a <first>, how many dollars does <name> earn in it?",
)


@family("implicit", ("modular", "bound"), "how often a weekday comes in a month, times a price")
def weekday_lessons(rng: Random, level: Level) -> Draft:
    """Ask for a monthly total; a weekday comes four times or five times."""
    month, length = rng.choice(_MONTHS)
    first = rng.randrange(7)
    count, c = ((1, rng.randrange(6, 40)), (2, rng.randrange(7, 40)), (3, rng.randrange(13, 60)))[
        level - 1
    ]
    chosen = sorted(rng.sample(range(7), count))
    listing = sum((first + day) % 7 in chosen for day in range(length))
    long = [(first + extra) % 7 for extra in range(length - 28)]
    times = agree(4 * count + sum(day in long for day in chosen), listing)
    names = [_DAYS[day] for day in chosen]
    days = f"{', '.join(names[:-1])} and {names[-1]}" if count > 1 else names[0]
    told = tell(
        rng, _LESSONS, month=month, first=_DAYS[first], days=days, c=c, name=rng.choice(NAMES)
    )
    rules = [
        gold("modular", f"each day counts {c}, so the answer is a multiple of {c}", divisible(c)),
        gold(
            "bound",
            "a weekday comes four or five times in a month",
            between(4 * c * count, 5 * c * count),
        ),
    ]
    lures: Lures = [
        ((9 * count - times) * c, "other"),
        (4 * count * c, "other"),
        (5 * count * c, "other"),
        (times, "encoded_form_not_applied"),
        (Fraction(length * count * c, 7), "not_an_integer"),
        (length * c, "out_of_range"),
        ((times + 1) * c, "other"),
        ((times - 1) * c, "other"),
        (count * c, "out_of_range"),
        (7 * c, "out_of_range"),
    ]
    return Draft(told.text, times * c, rules, lures)


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
def minute_display(rng: Random, level: Level) -> Draft:
    """Ask for the minutes that a clock shows; sixty of them make an hour."""
    count, high = ((2, 45), (4, 58), (6, 95))[level - 1]
    hour, minute = rng.randrange(7, 15), rng.randrange(11, 59)
    times = [rng.randrange(13, high) for _ in range(count)]
    total = sum(times)
    clock = minute
    for time in times:
        clock = (clock + time) % 60
    answer = agree((minute + total) % 60, clock)
    told = tell(
        rng, _MINUTE, start=f"{hour}:{minute:02d}", times=listed(times), name=rng.choice(NAMES)
    )
    rules = [
        gold("domain", "the minutes of a clock go from 0 to 59", all_of(integer(), between(0, 59))),
        gold(
            "modular",
            "an hour has 60 minutes, so the last digits alone give the last digit",
            congruent(minute + total, 10),
        ),
    ]
    lures: Lures = [
        (minute + total, "forgot_modular_reduction"),
        (total, "forgot_modular_reduction"),
        (total % 60, "other"),
        (60 * hour + minute + total, "forgot_modular_reduction"),
        ((minute + total) // 60, "encoded_form_not_applied"),
        (60 - answer, "other"),
        ((minute + total) % 100, "forgot_modular_reduction"),
        ((minute + total - times[-1]) % 60, "other"),
        (minute + total - 60, "forgot_modular_reduction"),
        (hour + (minute + total) // 60, "encoded_form_not_applied"),
    ]
    return Draft(told.text, answer, rules, lures)


_DATE = (
    r"<name> sees a comet on $<day>$ <month> and then <n> more times, always <waits> days after "
    r"the time before, in this order. On which day of the month, as a number, is the last time?",
    r"A parcel is sent on $<day>$ <month>. It travels for <waits> days on <n> ships, one after the "
    r"other. On which day of the month does it arrive? Give the number.",
    r"A swimmer trains on $<day>$ <month>. The next <n> training days come <waits> days later, "
    r"each counted from the one before. What is the day of the month of the last of them, as a "
    r"number?",
    r"Today is $<day>$ <month>. <name> waits <waits> days for <n> visas, applying for each one on "
    r"the day the previous one comes. Which day of the month is it, as a number, when the last "
    r"visa comes?",
    r"A ship leaves port on $<day>$ <month> and calls at <n> more ports, <waits> days after the "
    r"port before. On which day of the month, as a number, does it reach the last one?",
    r"What is the day of the month, as a number, on which a cheese is turned for the last time, if "
    r"it is first turned on $<day>$ <month> and then <n> more times, always <waits> days after the "
    r"turn before?",
    r"The seeds are sown on $<day>$ <month>, and the <n> stages until the harvest take <waits> "
    r"days. Give the day of the month, as a number, on which the harvest begins.",
    r"Starting from $<day>$ <month>, <name> turns a calendar forward by <waits> days, one jump "
    r"after the other. Which day of the month, as a number, does it show then?",
)


@family("implicit", ("domain", "bound"), "the day of the month after some days")
def day_of_month(rng: Random, level: Level) -> Draft | None:
    """Ask for a day of the month; months have 30 or 31 days."""
    count, low, high = ((2, 8, 20), (3, 15, 30), (4, 16, 30))[level - 1]
    start = rng.randrange(len(_MONTHS) - 5)
    month, length = _MONTHS[start]
    day = rng.randrange(9, 30)
    waits = [rng.randrange(low, high) for _ in range(count)]
    total = sum(waits)
    end = date(2027, start + 3, day) + timedelta(days=total)
    left, place = day + total, start
    while left > _MONTHS[place][1]:
        left, place = left - _MONTHS[place][1], place + 1
    answer = agree(end.day, left)
    if place == start:
        return None
    told = tell(
        rng,
        _DATE,
        day=day,
        month=month,
        waits=listed(waits),
        n=("no", "one", "two", "three", "four")[count],
        name=rng.choice(NAMES),
    )
    rules = [
        gold("domain", "the answer is a whole number", integer()),
        gold("bound", "a day of the month is a number from 1 to 31", between(1, _LONGEST)),
    ]
    lures: Lures = [
        (day + total, "out_of_range"),
        (day + total - length, _beyond(day + total - length)),
        (answer + 1, "other"),
        (answer - 1, "other"),
        ((day + total) % 30, "other"),
        ((day + total) % 31, "other"),
        (total, _beyond(total)),
        (total - (length - day) + 1, _beyond(total - (length - day) + 1)),
        (total % 30, "other"),
        (Fraction(2 * total + 1, 2), "not_an_integer"),
    ]
    return Draft(told.text, answer, rules, lures)


def _beyond(day: int) -> ErrorType:
    return "out_of_range" if day > _LONGEST else "other"


_AGES = (
    r"$<n>$ years ago the ages of <k> brothers and sisters added up to $<sum>$ years.<baby> What "
    r"do the ages of all of them add up to <when>?",
    r"What do the ages of a group of cousins add up to <when>? $<n>$ years ago there were <k> of "
    r"them, and their ages made $<sum>$ years altogether.<baby>",
    r"<name> has nieces. $<n>$ years ago there were <k> nieces, with ages that added up to $<sum>$ "
    r"years.<baby> Find the sum of the ages of all the nieces <when>.",
    r"In a zoo live tortoises. The <k> tortoises that were there $<n>$ years ago had a total age "
    r"of $<sum>$ years at that time.<baby> What is the total age, in years, of all the tortoises "
    r"<when>?",
    r"$<n>$ years ago a keeper found that the ages of the <k> parrots in an aviary added up to "
    r"$<sum>$ years.<baby> How much is the sum of the ages of all the parrots <when>?",
    r"$<n>$ years ago the <k> oaks in a park were $<sum>$ years old taken together.<baby> How many "
    r"years old are all the oaks taken together <when>?",
    r"<name> looks after elephants. Adding up the ages of the <k> elephants gave $<sum>$ years "
    r"when <name> did it $<n>$ years ago.<baby> What does adding up all their ages give <when>?",
    r"When the <k> children of a family had their picture taken $<n>$ years ago, their ages summed "
    r"to $<sum>$ years.<baby> To what number do the ages of all the children sum <when>?",
)


@family("implicit", ("modular", "bound"), "the sum of ages after some years: everyone grows older")
def sum_of_ages(rng: Random, level: Level) -> Draft | None:
    """Ask for a sum of ages at another time; each of the people has aged."""
    k = rng.randrange(3, 5) if level == 1 else rng.randrange(4, 8)
    n = rng.randrange(3, 10)
    m = 0 if level == 1 else rng.randrange(2, 12)
    old = [rng.randrange(3, 14 + 6 * level) for _ in range(k)]
    total = sum(old)
    baby = rng.randrange(1, n) if level == 3 else 0
    late = baby + m if level == 3 else 0
    answer = agree(total + k * (n + m) + late, sum(age + n + m for age in old) + late)
    if level == 3 and baby < 2:
        return None
    told = tell(
        rng,
        _AGES,
        n=n,
        k=("three", "four", "five", "six", "seven")[k - 3],
        sum=total,
        name=rng.choice(NAMES),
        baby=f" Since then they have been joined by one more, now ${baby}$ years old."
        if baby
        else "",
        when="today" if level == 1 else f"${m}$ years from now",
    )
    rules = [
        gold("modular", f"all {k} age by the same number of years", congruent(total + late, k)),
        gold("bound", "everyone has grown older by more than a year", above(total + k)),
    ]
    lures: Lures = [
        (total, "out_of_range"),
        (total + n + m, "other"),
        (total + n, "other"),
        (total + k * n, "encoded_form_not_applied"),
        (total + k * m, "other"),
        (total + k * (n + m) + baby, "other"),
        (total + (k + 1) * (n + m) + baby, "other"),
        (total + k * (n + m), "other"),
        (total - k * n, "out_of_range"),
        (total + late + n + m, "other"),
    ]
    return Draft(told.text, answer, rules, lures)


FAMILIES = (weekday_lessons, minute_display, day_of_month, sum_of_ages)
