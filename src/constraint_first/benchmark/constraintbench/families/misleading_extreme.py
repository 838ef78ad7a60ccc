"""Misleading tier, extremes: "at most", "largest" or "odd" is said, not asked."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from constraint_first.benchmark.constraintbench.families.phrase import NAMES, listed, tell
from constraint_first.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from constraint_first.benchmark.constraintbench.item import Level
from constraint_first.constraint.demand import (
    above,
    all_of,
    at_most,
    below,
    between,
    divisible,
    parity,
)

__all__ = ["FAMILIES"]

_CAPACITY = (
    r"«pack:Tickets are printed in booklets of $<k>$», and nobody may buy «cap:more than $<cap>$ "
    r"booklets», nor less than two. <name>'s friends buy <values> booklets. How many tickets do "
    r"they buy together?",
    r"How many cards does a collector have after getting <values> sealed packs from different "
    r"shops, when «pack:every pack holds $<k>$ cards» and a shop sells «cap:at most $<cap>$ "
    r"packs» to a customer?",
    r"A lift may carry «cap:at most $<cap>$ crates» at a time. On its trips today it carried "
    r"<values> crates, «pack:each with $<k>$ bottles». Find the number of bottles that it carried.",
    r"A school trip needs boats with «pack:exactly $<k>$ seats, all of them taken». The classes, "
    r"each of which may take «cap:at most $<cap>$ boats», take <values> boats. How many people go "
    r"by boat?",
    r"«pack:A carton contains $<k>$ light bulbs.» The largest order that the shop accepts is "
    r"«cap:$<cap>$ cartons». This morning orders for <values> cartons came in. How many bulbs were "
    r"ordered this morning?",
    r"<name> reads <values> chapters in the weeks of a summer, and at least two and «cap:at most "
    r"$<cap>$» in any week. «pack:All chapters have $<k>$ pages.» Find the number of pages read.",
    r"At a fair the least you can buy is two strips and the most is «cap:$<cap>$ strips» of "
    r"vouchers, «pack:$<k>$ vouchers to a strip». Some visitors buy <values> strips. What is the "
    r"number of vouchers that they buy in all?",
    r"No stall holder may rent «cap:more than $<cap>$ tables», and each must rent at least two. "
    r"«pack:A table has room for $<k>$ pots.» If the stall holders rent <values> tables and fill "
    r"them, how many pots are on show?",
)


@family("misleading", ("modular", "bound"), "'at most' in a story whose total is asked")
def at_most_total(rng: Random, level: Level) -> Draft:
    """Ask for a total in a story with a capacity that only bounds it."""
    k = rng.randrange(*((3, 11), (6, 14), (14, 26))[level - 1])
    cap = rng.randrange(*((7, 11), (10, 15), (13, 22))[level - 1])
    count = (2, 3, 4)[level - 1]
    values = [rng.randrange(2, cap) for _ in range(count)]
    answer = agree(k * sum(values), sum(k * value for value in values))
    told = tell(rng, _CAPACITY, k=k, cap=cap, values=listed(values), name=rng.choice(NAMES))
    rules = [
        gold("modular", f"everything comes in parts of {k}", divisible(k), told.span("pack")),
        gold(
            "bound",
            f"there are {count} numbers of parts, each at most {cap}, and one is {max(values)}",
            all_of(above(k * max(values)), at_most(k * cap * count)),
            told.span("cap"),
        ),
    ]
    lures: Lures = [
        (k * cap * count, "misled_by_cue"),
        (k * cap, "misled_by_cue"),
        (sum(values), "encoded_form_not_applied"),
        (k * cap * count - answer, "misled_by_cue"),
        (k * max(values), "misled_by_cue"),
        (answer - k * values[-1], "arithmetic"),
        (k + sum(values), "arithmetic"),
        (k * sum(values) * count, "out_of_range"),
        (abs(sum(values) - cap), "misled_by_cue"),
        (answer - 10, "arithmetic"),
    ]
    return Draft(told.text, answer, rules, lures)


_CONSECUTIVE = (
    r"The smallest of $<count>$ consecutive odd integers is «first:$<first>$». Find the arithmetic "
    r"mean of all of them.",
    r"What number lies exactly halfway between the smallest and the largest of $<count>$ "
    r"consecutive odd integers, if the smallest is «first:$<first>$»?",
    r"On one side of a street the houses bear consecutive odd numbers. <name> delivers papers to "
    r"$<count>$ neighbouring houses there, beginning with number «first:$<first>$» and going up. "
    r"Find the mean of these house numbers.",
    r"<name> writes down $<count>$ odd positive integers one after another, «first:starting with "
    r"$<first>$» and leaving out none. What is their average?",
    r"The lockers with odd numbers are on the left. <name>'s class gets $<count>$ lockers in a row "
    r"there, the least number being «first:$<first>$». What is the average of the locker numbers?",
    r"Determine the mean of the first $<count>$ odd numbers that are «first:at least $<first>$».",
    r"A list holds the odd integers «first:from $<first>$ on», $<count>$ of them, without a gap. "
    r"Compute the average of the list.",
    r"In a theatre the odd seats are on one side. A group sits on $<count>$ neighbouring odd "
    r"seats, of which «first:number $<first>$» is the smallest. What is the mean of the seat "
    r"numbers?",
)


@family("misleading", ("parity", "bound"), "odd integers whose mean is even")
def mean_of_odds(rng: Random, level: Level) -> Draft:
    """Ask for the mean of an even number of consecutive odd integers: it is never odd."""
    count = rng.choice(((4,), (6,), (8, 10, 12))[level - 1])
    first = 2 * rng.randrange(*((2, 30), (15, 60), (80, 300))[level - 1]) + 1
    run = [first + 2 * k for k in range(count)]
    last = run[-1]
    answer = agree(Fraction(sum(run), count), Fraction(first + last, 2))
    told = tell(rng, _CONSECUTIVE, count=count, first=first, name=rng.choice(NAMES))
    rules = [
        gold(
            "parity",
            "the mean of an even number of consecutive odd integers lies between two of them",
            parity("even"),
        ),
        gold(
            "bound",
            f"the mean lies above {first}, and below the last of {count} numbers, {last}",
            all_of(above(first), below(last)),
            told.span("first"),
        ),
    ]
    lures: Lures = [
        (answer + 1, "misled_by_cue"),
        (answer - 1, "misled_by_cue"),
        (first + count, "misled_by_cue"),
        (sum(run), "out_of_range"),
        (last, "out_of_range"),
        (first + last, "out_of_range"),
        (Fraction(2 * first + count - 1, 2), "not_an_integer"),
        (first + 2 * count, "out_of_range"),
        (answer + 2, "arithmetic"),
        (answer - 2, "arithmetic"),
    ]
    return Draft(told.text, answer, rules, lures)


_LARGEST = (
    r"The largest of $<count>$ consecutive multiples of «k:$<k>$» is $<top>$. Find their sum.",
    r"What do $<count>$ consecutive multiples of «k:$<k>$» add up to if the greatest of them is "
    r"$<top>$?",
    r"<name> stacks $<count>$ boxes. From each box to the one below it the weight grows by $<k>$ "
    r"kilograms, every weight is a multiple of «k:$<k>$ kilograms», and the largest weight is "
    r"$<top>$ kilograms. How many kilograms does the whole stack weigh?",
    r"A theatre has $<count>$ blocks of seats. The maximum is $<top>$ seats in a block, and each "
    r"other block has $<k>$ seats fewer than the next larger one; «k:all seats stand in rows of "
    r"$<k>$». How many seats are there altogether?",
    r"«k:Coins are packed in rolls of $<k>$.» On $<count>$ days <name> packs coins, the maximum of "
    r"$<top>$ coins on the first day and then every day one roll fewer than the day before. How "
    r"many coins does <name> pack altogether?",
    r"Find the sum of the $<count>$ largest multiples of «k:$<k>$» that are at most $<top>$. "
    r"($<top>$ itself is a multiple of $<k>$.)",
    r"The greatest number on a list is $<top>$; the list goes down in steps of $<k>$, «k:all its "
    r"numbers being divisible by $<k>$», and has $<count>$ numbers. What is the sum of the list?",
    r"A choir stands in $<count>$ groups, «k:each of them a multiple of $<k>$ in size»: the "
    r"largest group has $<top>$ singers, the next one $<k>$ fewer, and so on. How many singers "
    r"are in the choir?",
)


@family("misleading", ("modular", "bound"), "'largest' is said of a part, and the sum is asked")
def largest_given(rng: Random, level: Level) -> Draft:
    """Ask for a sum where the largest part is given."""
    k = rng.randrange(*((2, 12), (4, 13), (12, 26))[level - 1])
    count = rng.randrange(*((3, 4), (4, 5), (5, 8))[level - 1])
    top = k * rng.randrange(count + 1, count + (9, 10, 20)[level - 1])
    parts = [top - k * place for place in range(count)]
    answer = agree(sum(parts), count * top - k * count * (count - 1) // 2)
    told = tell(rng, _LARGEST, k=k, count=count, top=top, name=rng.choice(NAMES))
    rules = [
        gold("modular", f"multiples of {k} are added", divisible(k), told.span("k")),
        gold(
            "bound",
            f"{count} parts are added, the largest of them {top}",
            between(top, count * top),
        ),
    ]
    lures: Lures = [
        (top, "misled_by_cue"),
        (parts[-1], "misled_by_cue"),
        (count * top, "misled_by_cue"),
        (answer - parts[-1], "arithmetic"),
        (answer + parts[-1] - k, "arithmetic"),
        (count * top + k * count * (count - 1) // 2, "out_of_range"),
        (sum(top - place for place in range(count)), "arithmetic"),
        (sum(parts) - top, "arithmetic"),
        (k * count, "arithmetic"),
        (answer // k, "arithmetic"),
    ]
    return Draft(told.text, answer, rules, lures)


FAMILIES = (at_most_total, mean_of_odds, largest_given)
