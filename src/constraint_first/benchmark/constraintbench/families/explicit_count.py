"""Explicit tier, counts: without some numbers, with both days. The text says which are counted."""

from __future__ import annotations

from datetime import date
from random import Random

from constraint_first.benchmark.constraintbench.families.phrase import NAMES, tell
from constraint_first.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from constraint_first.benchmark.constraintbench.item import Level
from constraint_first.constraint.demand import between, integer

__all__ = ["FAMILIES"]

_WITHOUT = (
    r"How many integers from $<low>$ to $<high>$ (both included) are «not:not divisible by $<k>$»?",
    r"<name> writes the integers from $<low>$ to $<high>$ on the board and «not:wipes out all "
    r"multiples of $<k>$». How many numbers are left?",
    r"Find the number of integers $n$ with $<low> \le n \le <high>$ that «not:are not multiples of "
    r"$<k>$».",
    r"Seats $<low>$ to $<high>$ of a hall are free, but «not:seats whose number is a multiple of "
    r"$<k>$ may not be sold». How many of these seats may be sold?",
    r"«not:Every house whose number is divisible by $<k>$ is skipped.» <name> delivers one paper "
    r"to each other house with a number from $<low>$ to $<high>$. How many papers does <name> "
    r"deliver?",
    r"Of the tickets $<low>$ to $<high>$, «not:those whose number is divisible by $<k>$ are thrown "
    r"away». How many tickets are kept?",
    r"In a counting game the players say the numbers from $<low>$ to $<high>$ in turn, but "
    r"«not:clap instead of saying a multiple of $<k>$». How many numbers are said aloud?",
    r"How many pages of a chapter that runs from page $<low>$ to page $<high>$ have no picture, if "
    r"«not:exactly the pages whose number is a multiple of $<k>$ have one»?",
)


@family("explicit", ("domain", "bound"), "how many numbers of a range are not multiples")
def count_without(rng: Random, level: Level) -> Draft | None:
    """Count the numbers of a range without the multiples of one number."""
    k = rng.choice(((3, 4, 5, 6, 7, 8, 9, 10), (4, 6, 7, 8), (7, 9, 11, 12, 13))[level - 1])
    low = rng.randrange(61, 180) if level == 3 else 1
    size = (k * rng.randrange(2, 15), rng.randrange(20, 60), rng.randrange(80, 230))[level - 1]
    high = low + size - 1
    listing = sum(n % k != 0 for n in range(low, high + 1))
    multiples = high // k - (low - 1) // k
    answer = agree(size - multiples, listing)
    if multiples == answer:
        return None
    told = tell(rng, _WITHOUT, low=low, high=high, k=k, name=rng.choice(NAMES))
    about = size - size // k
    rules = [
        gold("domain", "the answer is a count", integer()),
        gold(
            "bound",
            f"about one in {k} of the {size} numbers is left out",
            between(about - 2, about + 1),
            told.span("not"),
        ),
    ]
    lures: Lures = [
        (multiples, "misled_by_cue"),
        (size, "out_of_range"),
        (answer - 1, "other"),
        (answer + 1, "other"),
        (high - multiples, "out_of_range"),
        (high - high // k, "out_of_range"),
        (high - low - size // k, "out_of_range"),
        (size - 1, "out_of_range"),
        (f"{size - size / k:.1f}" if size % k else f"{answer}.5", "not_an_integer"),
        (sum(n for n in range(low, high + 1) if n % k), "encoded_form_not_applied"),
    ]
    return Draft(told.text, answer, rules, lures)


_DAYS = (
    r"A museum shows an exhibition from <first> to <last> of the same year, «both:the first and "
    r"the last day included». On how many days is it open?",
    r"<name> takes a tablet every day from <first> to <last>, «both:on both of these days too». "
    r"How many tablets does <name> take in that year?",
    r"How many days are there from <first> to <last> of the same year, «both:counting both of "
    r"these days»?",
    r"A fishing permit is valid from <first> until <last> of the same year, «both:both dates "
    r"inclusive». For how many days is it valid?",
    r"From <first> to <last> of the same year <name> writes one page in a diary each day, "
    r"«both:including the first and the last of these days». How many pages does <name> fill?",
    r"«both:Both the day of arrival and the day of departure are charged» at a campsite. <name> "
    r"arrives on <first> and leaves on <last> of the same year. How many days are charged?",
    r"The road is closed from <first> up to and «both:including <last>», beginning with the first "
    r"of these days. For how many days of the year is it closed?",
    r"On each day from <first> to <last> a baker tries one new recipe, «both:starting on the first "
    r"date and ending on the second». How many recipes are tried, all in one year?",
)
_MONTHS = (
    ("March", 31, 3), ("April", 30, 4), ("May", 31, 5), ("June", 30, 6), ("July", 31, 7),
    ("August", 31, 8), ("September", 30, 9), ("October", 31, 10), ("November", 30, 11),
    ("December", 31, 12),
)  # fmt: skip


@family("explicit", ("bound", "domain"), "days from one date to another, both included")
def inclusive_days(rng: Random, level: Level) -> Draft | None:
    """Count the days of a span with both its ends."""
    start = rng.randrange(len(_MONTHS) - level + (level == 1))
    end = start + (0, 1, rng.choice((1, 2)))[level - 1]
    first, last = rng.randrange(2, 29), rng.randrange(2, 30)
    if level == 1:
        first = rng.randrange(1, 6)
        last = first + rng.randrange(3, 26)
    elif level == 2:
        first, last = rng.randrange(20, 30), rng.randrange(2, 21)
    months = _MONTHS[start : end + 1]
    days = (date(2027, months[-1][2], last) - date(2027, months[0][2], first)).days + 1
    by_months = sum(month[1] for month in months[:-1]) - first + last + 1
    answer = agree(days, by_months)
    if answer < 3:
        return None
    told = tell(
        rng,
        _DAYS,
        first=f"${first}$ {months[0][0]}",
        last=f"${last}$ {months[-1][0]}",
        name=rng.choice(NAMES),
    )
    thirty = 30 * (len(months) - 1) + last - first
    rules = [
        gold("domain", "the answer is a count of days", integer()),
        gold(
            "bound",
            "months have 30 or 31 days, so the dates tell the length to a few days",
            between(thirty - 1, thirty + len(months) + 1),
            told.span("both"),
        ),
    ]
    lures: Lures = [
        (answer - 1, "other"),
        (answer - 2, "other"),
        (answer + 1, "other"),
        (thirty + 1, "other"),
        (thirty, "other"),
        (31 * (len(months) - 1) + last - first + 1, "other"),
        (abs(last - first) + 1, "other"),
        (abs(last - first), "other"),
        (first + last, "misled_by_cue"),
        (f"{answer}.5", "not_an_integer"),
    ]
    return Draft(told.text, answer, rules, lures)


FAMILIES = (count_without, inclusive_days)
