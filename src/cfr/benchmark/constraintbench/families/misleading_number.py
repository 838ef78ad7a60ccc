"""Misleading tier, numbers: a remainder, a parity, a rounding or a percentage that is not asked."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from random import Random

from cfr.answer.expression.value import decimal
from cfr.benchmark.constraintbench.families.phrase import NAMES, plural, tell
from cfr.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from cfr.benchmark.constraintbench.item import Level
from cfr.constraint.demand import at_least, between, congruent, in_unit, parity

__all__ = ["FAMILIES"]

_DIVIDEND = (
    r"When a positive integer is divided by $<d>$, the quotient is $<q>$ and «mod:the remainder is "
    r"$<r>$». Find the integer.",
    r"<name> divides a number by $<d>$ and gets the quotient $<q>$, «mod:remainder $<r>$». What "
    r"was the number?",
    r"Sharing some stickers equally among $<d>$ children gives each child $<q>$ stickers, and "
    r"«mod:a remainder of <stickers> stays in the box». How many stickers were there?",
)
_DIVIDEND_CHAIN = (
    r"A number leaves the quotient $<q>$ and «mod:the remainder $<r>$ when it is divided by "
    r"$<d>$». The number is then increased by $<d>$ a total of $<k>$ times. What is the final "
    r"value?",
    r"Divided by $<d>$, the integer $N$ gives the quotient $<q>$ and «mod:the remainder $<r>$». "
    r"Compute $N + <k> \cdot <d>$.",
    r"Packed in boxes of $<d>$, a harvest of apples fills $<q>$ boxes with «mod:a remainder of "
    r"<apples>». Another $<k>$ full boxes arrive. How many apples are there now?",
)


@family("misleading", ("modular", "bound"), "a remainder is given; the number itself is asked")
def dividend_not_remainder(rng: Random, level: Level) -> Draft:
    """Ask for a dividend where the word "remainder" suggests a small answer."""
    d, q = rng.randrange(6, 12 + 20 * level), rng.randrange(5, 12 + 25 * level)
    r, k = rng.randrange(1, d), rng.randrange(2, 9) if level == 3 else 0
    by_formula = d * (q + k) + r
    by_counting = r
    for _ in range(q + k):
        by_counting += d
    answer = agree(by_formula, by_counting)
    told = tell(
        rng,
        _DIVIDEND_CHAIN if k else _DIVIDEND,
        d=d,
        q=q,
        r=r,
        k=k,
        name=rng.choice(NAMES),
        stickers=plural(r, "sticker"),
        apples=plural(r, "apple"),
    )
    rules = [
        gold(
            "modular",
            f"the number leaves the remainder {r} on division by {d}",
            congruent(r, d),
            told.span("mod"),
        ),
        gold("bound", f"the number is at least {d} times the quotient", at_least(d * (q + k))),
    ]
    lures: Lures = [
        (r, "misled_by_cue"),
        (answer - r, "arithmetic"),
        (answer % q, "misled_by_cue"),
        (d * (q + k) - r, "arithmetic"),
    ]
    return Draft(told.text, answer, rules, lures)


_CONSECUTIVE = (
    r"The largest of <count> consecutive odd positive integers is $<last>$. Find the arithmetic "
    r"mean of all <count>.",
    r"The smallest of <count> consecutive odd positive integers is $<first>$. What number lies "
    r"exactly halfway between the smallest and the largest of them?",
    r"The sum of <count> consecutive odd positive integers is $<sum>$. What is their average?",
    r"On one side of a street the houses bear consecutive odd numbers. <name> lives in a row of "
    r"<count> such houses that ends with number $<last>$, the highest of the row. Find the mean of "
    r"the <count> house numbers.",
)


@family("misleading", ("parity", "bound"), "odd integers whose mean is even")
def mean_of_odds(rng: Random, level: Level) -> Draft:
    """Ask for the mean of an even number of consecutive odd integers: it is never odd."""
    count, word = rng.choice(((4, "four"), (6, "six"), (8, "eight"), (10, "ten"))[: level + 1])
    first = 2 * rng.randrange(2 * level, 40 * level * level) + 1
    run = [first + 2 * k for k in range(count)]
    last = run[-1]
    answer = agree(Fraction(sum(run), count), Fraction(first + last, 2))
    told = tell(
        rng, _CONSECUTIVE, count=word, first=first, last=last, sum=sum(run), name=rng.choice(NAMES)
    )
    rules = [
        gold(
            "parity",
            "the mean of an even number of consecutive odd positive integers is even",
            parity("even"),
        ),
        gold("bound", "the mean lies between the smallest and the largest", between(first, last)),
    ]
    lures: Lures = [
        (answer + 1, "misled_by_cue"),
        (answer - 1, "ignored_parity"),
        (sum(run), "out_of_range"),
        (Fraction(last, 2), "not_an_integer"),
    ]
    return Draft(told.text, answer, rules, lures)


_LABEL = (
    r"A pack of <packs> costs $<cost>$ dollars, which an advertisement rounds to the nearest "
    r"dollar, $<shown>$. What is the exact price of one <thing>, «unit:in dollars»?",
    r"<name> pays $<cost>$ dollars for <packs>. The till also prints the amount rounded to whole "
    r"dollars: $<shown>$. Find, «unit:in dollars», what a single <thing> cost exactly.",
    r"On a shop's price list, rounded to the nearest dollar, <packs> cost $<shown>$ dollars "
    r"altogether; the true price is $<cost>$ dollars. How many «unit:dollars» does each <thing> "
    r"really cost?",
)
_THINGS = ("pen", "candle", "notebook", "postcard", "brush", "lemon", "battery", "magnet")
_MANY = {"brush": "brushes", "battery": "batteries"}


@family("misleading", ("dimension", "bound"), "a rounded price in the story, the exact one asked")
def rounded_label(rng: Random, level: Level) -> Draft | None:
    """Ask for an exact price in a text that speaks of rounding."""
    count = rng.randrange(3, 6 + 3 * level)
    each = Fraction(
        rng.randrange(12, 99) * 5 if level == 1 else rng.randrange(60, 400 * level), 100
    )
    cost = count * each
    shown = floor(cost + Fraction(1, 2))
    cents = agree(int(each * 100), int(cost * 100) // count)
    if cost == shown or abs(cost - shown) == Fraction(1, 2):
        return None
    if each.denominator == 1 or Fraction(shown, count) == each:
        return None
    thing = rng.choice(_THINGS)
    told = tell(
        rng,
        _LABEL,
        packs=plural(count, thing, _MANY.get(thing, "")),
        thing=thing,
        cost=decimal(cost, 2),
        shown=shown,
        name=rng.choice(NAMES),
    )
    rules = [
        gold(
            "dimension",
            "the answer is an amount in dollars",
            in_unit(Fraction(cents, 100), 1, "dollars"),
            told.span("unit"),
        ),
        gold("bound", f"one of {count} costs less than all", between(0, cost)),
    ]
    near = Fraction(shown, count)
    lures: Lures = [
        (near, "misled_by_cue"),
        (floor(each + Fraction(1, 2)), "misled_by_cue"),
        (cents, "encoded_form_not_applied"),
        (count * cost, "out_of_range"),
    ]
    return Draft(told.text, decimal(each, 2), rules, lures, "decimal")


_TICKETS = (
    r"A hall offers $<n>$ tickets for a concert. On Monday $<a>$ percent of them are bought, and "
    r"on Tuesday $<b>$ percent <of>. How many tickets are still unsold?",
    r"Out of $<n>$ litres of oil in a tank, $<a>$ percent is used in January; in February $<b>$ "
    r"percent <of> is used. How many litres are left at the end of February?",
    r"<name> has $<n>$ stamps. First <name> gives away $<a>$ percent of them, then trades in $<b>$ "
    r"percent <of>. Find the number of stamps that remain.",
)


@family("misleading", ("dimension", "bound"), "percentages in the story, a number asked")
def percent_story(rng: Random, level: Level) -> Draft | None:
    """Ask for a number of things in a text about percentages."""
    n = 100 * rng.randrange(2, 13) if level == 1 else 20 * rng.randrange(11, 100)
    a, b = 10 * rng.randrange(1, 9), 10 * rng.randrange(1, 7)
    if level == 3:
        a, b = a + rng.choice((0, 5)), b + rng.choice((0, 5))
    left = (1 - Fraction(a, 100)) * (1 - Fraction(b, 100))
    after_first = n - Fraction(n * a, 100)
    answer = agree(left * n, after_first - after_first * b / 100)
    if answer.denominator != 1 or after_first.denominator != 1:
        return None
    told = tell(
        rng,
        _TICKETS,
        n=n,
        a=a,
        b=b,
        of=rng.choice(("of the rest", "of what was left")),
        name=rng.choice(NAMES),
    )
    rules = [
        gold(
            "dimension",
            "the answer is a number of things, not a percentage",
            in_unit(left, n, "things"),
        ),
        gold(
            "bound",
            f"not more can be left than after the first step, {after_first}",
            between(0, after_first),
        ),
    ]
    lures: Lures = [
        (100 * left, "misled_by_cue"),
        (n - Fraction(n * (a + b), 100), "misled_by_cue"),
        (n - answer, "out_of_range" if n - answer > after_first else "arithmetic"),
        (n, "out_of_range"),
        (after_first, "arithmetic"),
    ]
    return Draft(told.text, answer, rules, lures)


FAMILIES = (dividend_not_remainder, mean_of_odds, rounded_label, percent_story)
