"""Joint tier, stories: numbers of things and days that several statements fix together."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from cfr.benchmark.constraintbench.families.phrase import NAMES, tell
from cfr.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from cfr.benchmark.constraintbench.item import Level
from cfr.constraint.demand import above, all_of, at_most, below, between, congruent, integer, parity

__all__ = ["FAMILIES"]

_AGES = (
    r"<x>, <y> and <z> are $<sum>$ years old together. «high:<x> is $<d>$ years older than <y>», "
    r"and «low:<y> is $<e>$ years older than <z>». How old is <y>?",
    r"How many pages has the second of three books? «high:The first has $<d>$ pages more than the "
    r"second», «low:the third has $<e>$ pages fewer than the second», and all three have $<sum>$ "
    r"pages together.",
    r"Three ropes are $<sum>$ metres long in all. «high:The longest is $<d>$ metres longer than "
    r"the middle one», and «low:the shortest is $<e>$ metres shorter than the middle one». Find "
    r"the length of the middle rope in metres.",
    r"<x>, <y> and <z> share $<sum>$ marbles. «low:<z> gets $<e>$ fewer than <y>», and «high:<x> "
    r"gets $<d>$ more than <y>». How many marbles does <y> get?",
    r"The three numbers $a$, $b$ and $c$ have the sum $<sum>$. «high:$a$ is $<d>$ more than $b$», "
    r"and «low:$c$ is $<e>$ less than $b$». What is $b$?",
    r"On three days <x> sold $<sum>$ tickets. «high:On Friday it was $<d>$ more than on "
    r"Saturday», and «low:on Sunday $<e>$ fewer than on Saturday». How many tickets did <x> sell "
    r"on Saturday?",
    r"«low:A cat is $<e>$ months younger than a dog», «high:a parrot is $<d>$ months older than "
    r"the dog», and their ages add up to $<sum>$ months. How many months old is the dog?",
    r"What is the middle one of three weights, in grams, that weigh $<sum>$ grams together, if "
    r"«high:the heaviest is $<d>$ grams heavier than it» and «low:the lightest $<e>$ grams "
    r"lighter»?",
)


@family("joint", ("parity", "bound", "monotonic"), "the middle one of three ordered numbers")
def middle_one(rng: Random, level: Level) -> Draft | None:
    """Ask for the middle of three numbers that are given by their sum and two differences."""
    d, e = rng.sample(range(2, (9, 25, 90)[level - 1]), 2)
    mid = e + rng.randrange(*((4, 30), (20, 90), (60, 400))[level - 1])
    total = 3 * mid + d - e
    by_search = [b for b in range(e + 1, total) if b + d + b + b - e == total]
    answer = agree([(total - d + e) // 3], by_search)[0]
    if abs(d - e) % 3 == 0:
        return None
    x, y, z = rng.sample(NAMES, 3)
    told = tell(rng, _AGES, x=x, y=y, z=z, sum=total, d=d, e=e)
    rules = [
        gold(
            "monotonic",
            f"the middle one is more than {e}, and twice it and {d} are less than the sum",
            all_of(above(e), below(Fraction(total - d, 2))),
            told.span("high"),
        ),
        gold(
            "bound",
            f"the middle one differs from the mean by less than {max(d, e)}",
            all_of(
                integer(),
                above(Fraction(total, 3) - max(d, e)),
                below(Fraction(total, 3) + max(d, e)),
            ),
            told.span("low"),
        ),
        gold(
            "parity",
            f"three times the middle one is {total} less {d} and more {e}",
            parity("odd" if (total - d + e) % 2 else "even"),
        ),
    ]
    lures: Lures = [
        (mid + d, "misled_by_cue"),
        (mid - e, "misled_by_cue"),
        (Fraction(total, 3), "not_an_integer"),
        (Fraction(total - d - e, 3), "arithmetic"),
        (Fraction(total + d - e, 3), "arithmetic"),
        (total - d - e, "out_of_range"),
        (Fraction(total - d, 2), "out_of_range"),
        (total // 3, "arithmetic"),
        (mid + 1, "ignored_parity"),
        (mid - 1, "ignored_parity"),
    ]
    return Draft(told.text, answer, rules, lures)


_KINDS = (
    r"<name> buys $<c>$ tickets for $<v>$ dollars. «one:A ticket for adults costs $<p>$ dollars», "
    r"«two:one for children $<q>$ dollars». How many tickets for adults does <name> buy?",
    r"How many large boxes are there, if «one:large boxes weigh $<p>$ kilograms each», «two:small "
    r"ones $<q>$ kilograms each», and $<c>$ boxes weigh $<v>$ kilograms together?",
    r"In a quiz with $<c>$ questions, «one:each hard question gives $<p>$ points» and «two:each "
    r"easy one $<q>$ points». All questions together give $<v>$ points. How many hard questions "
    r"are there?",
    r"A florist ties $<c>$ bunches from $<v>$ roses. «one:A festive bunch takes $<p>$ roses», "
    r"«two:a plain one $<q>$». Find the number of festive bunches.",
    r"«one:A long plank measures $<p>$ decimetres» and «two:a short one $<q>$ decimetres». Laid "
    r"end to end, $<c>$ planks reach $<v>$ decimetres. How many of them are long?",
    r"At a camp $<c>$ tents have room for $<v>$ people. «one:Large tents hold $<p>$ people», "
    r"«two:the others hold $<q>$». What is the number of large tents?",
    r"<name> reads on $<c>$ days: «one:$<p>$ pages on a free day», «two:$<q>$ pages on a school "
    r"day», $<v>$ pages altogether. How many of the days were free days?",
    r"There are $<c>$ stamps worth $<v>$ cents in a drawer. «one:Some are worth $<p>$ cents "
    r"each», and «two:the other ones $<q>$ cents each». Find the number of stamps worth $<p>$ "
    r"cents.",
)


@family("joint", ("parity", "bound"), "how many of one kind, from a number and a total")
def two_kinds(rng: Random, level: Level) -> Draft | None:
    """Ask how many of one kind there are when a number and a total must both come out."""
    p = 2 * rng.randrange(*((3, 7), (6, 12), (12, 30))[level - 1]) + 1
    q = 2 * rng.randrange(*((1, 4), (2, 7), (4, 14))[level - 1])
    x, y = (rng.randrange(*((3, 30), (8, 60), (20, 150))[level - 1]) for _ in range(2))
    c, v = x + y, p * x + q * y
    by_search = [n for n in range(c + 1) if p * n + q * (c - n) == v]
    answer = agree([(v - q * c) // (p - q)], by_search)[0] if p > q + 1 else 0
    if not answer or x == y or v // p >= c:
        return None
    told = tell(rng, _KINDS, p=p, q=q, c=c, v=v, name=rng.choice(NAMES))
    which = "odd" if v % 2 else "even"
    rules = [
        gold(
            "parity",
            f"{q} is even and {p} is odd, so the number has the parity of {v}",
            parity(which),
            told.span("two"),
        ),
        gold(
            "bound",
            f"the total {v} leaves room for {v // p} of them",
            all_of(integer(), at_most(v // p)),
            told.span("one"),
        ),
    ]
    lures: Lures = [
        (y, "misled_by_cue"),
        (Fraction(v, p + q), "arithmetic"),
        (v - q * c, "out_of_range"),
        (c, "out_of_range"),
        (v // p, "arithmetic"),
        (Fraction(c, 2), "arithmetic"),
        (answer + 1, "ignored_parity"),
        (answer - 1, "ignored_parity"),
        (v - c, "out_of_range"),
    ]
    return Draft(told.text, answer, rules, lures)


_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_CALENDAR = (
    r"Day $1$ of a <long> is a <start>. Which day number is «day:a <wanted>», «parity:<which>» and "
    r"«range:greater than $<low>$ but less than $<high>$»?",
    r"<name> numbers the days of a <long>, beginning with a <start> as day $1$. The party is on "
    r"«day:a <wanted>» with «parity:an <which> day number» «range:between $<low>$ and $<high>$». "
    r"On which day number is it?",
    r"Find the day number that is «parity:<which>», lies «range:between $<low>$ and $<high>$» and "
    r"«day:falls on a <wanted>», in a <long> whose day $1$ is a <start>.",
    r"A <long> starts with a <start> as day $1$. <name> remembers that the visit was «day:on a "
    r"<wanted>», «range:after day $<low>$ and before day $<high>$», and that «parity:the day's "
    r"number was <which>». What was the day's number?",
    r"In a <long> in which day $1$ is a <start>, only one «day:<wanted>» has «parity:an <which> "
    r"number» and comes «range:later than day $<low>$ and earlier than day $<high>$». Give its "
    r"number.",
    r"On what day number does <name>'s course begin? It begins «day:on a <wanted>», «parity:on a "
    r"day with an <which> number», «range:after day $<low>$ but before day $<high>$» of a <long> "
    r"that has a <start> as day $1$.",
    r"The days of a <long> are numbered from $1$, a <start>. A bill is due on «day:a <wanted>» "
    r"whose number is «parity:<which>», «range:more than $<low>$ and less than $<high>$». Find "
    r"this number.",
    r"«range:Between day $<low>$ and day $<high>$» of a <long>, one «day:<wanted>» has a number "
    r"that is «parity:<which>». Which number is it, if day $1$ is a <start>?",
)


@family("joint", ("modular", "parity", "bound"), "a weekday, a parity and a stretch of days")
def calendar_day(rng: Random, level: Level) -> Draft | None:
    """Ask for the one day of a stretch with a weekday and a parity."""
    start = rng.randrange(7)
    answer = rng.randrange(*((9, 45), (46, 120), (121, 350))[level - 1])
    wanted = (start + answer - 1) % 7
    low = answer - rng.randrange(2, 14)
    high = low + 15
    days = [n for n in range(low + 1, high) if (start + n - 1) % 7 == wanted]
    first = (wanted - start) % 7 + 1
    agree(days, [n for n in range(first, high, 7) if n > low])
    fits = [n for n in days if n % 2 == answer % 2]
    if fits != [answer] or len(days) < 2 or low < 1 or (low - first) % 7 == 0:
        return None
    which = "odd" if answer % 2 else "even"
    told = tell(
        rng, _CALENDAR, start=_DAYS[start], wanted=_DAYS[wanted], which=which, low=low, high=high,
        long=("school term", "season", "year")[level - 1], name=rng.choice(NAMES),
    )  # fmt: skip
    rules = [
        gold(
            "modular",
            f"every seventh day is a {_DAYS[wanted]}, beginning with day {first}",
            congruent(first, 7),
            told.span("day"),
        ),
        gold("parity", f"the number is {which}", parity(which), told.span("parity")),
        gold(
            "bound",
            f"the number lies between {low} and {high}",
            between(low + 1, high - 1),
            told.span("range"),
        ),
    ]
    other = next(n for n in days if n != answer)
    lures: Lures = [
        (other, "ignored_parity"),
        (answer + 14, "out_of_range"),
        (answer - 14, "out_of_range"),
        (answer + 1, "arithmetic"),
        (answer - 1, "arithmetic"),
        (answer + 2, "arithmetic"),
        (first, "out_of_range"),
    ]
    return Draft(told.text, answer, rules, lures)


FAMILIES = (middle_one, two_kinds, calendar_day)
