"""Misleading tier, rounding: rounded prices and rounds of a game; the answer is never rounded."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from random import Random

from constraint_first.answer.expression.value import decimal
from constraint_first.benchmark.constraintbench.families.phrase import NAMES, plural, tell
from constraint_first.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from constraint_first.benchmark.constraintbench.item import Level
from constraint_first.constraint.demand import all_of, between, divisible, in_unit, integer

__all__ = ["FAMILIES"]

_LABEL = (
    r"A pack of <packs> costs $<cost>$ dollars; «round:an advertisement rounds this to the nearest "
    r"dollar, $<shown>$». What is the exact price of one <thing>, in dollars?",
    r"<name> pays $<cost>$ dollars for <packs>. «round:Rounded to whole dollars, as the till also "
    r"prints it, that is $<shown>$.» Find, in dollars, what a single <thing> cost exactly.",
    r"«round:On a price list that is rounded to the nearest dollar, <packs> cost $<shown>$ "
    r"dollars»; the true price of the <many> together is $<cost>$ dollars. How many dollars does "
    r"each <thing> cost exactly?",
    r"What does one <thing> cost exactly, in dollars, if <packs> of the same price cost $<cost>$ "
    r"dollars, «round:or $<shown>$ dollars when rounded to the nearest dollar»?",
    r"In <name>'s household book, «round:where every amount is rounded to the nearest dollar, "
    r"<packs> stand with $<shown>$ dollars». The receipt says $<cost>$ dollars. All the <many> had "
    r"the same price. What was this price to the cent, in dollars?",
    r"«round:About $<shown>$ dollars, rounded to the nearest dollar,» is what <name> remembers "
    r"having paid for <packs>; in fact it was $<cost>$ dollars. Give the exact price of each "
    r"<thing> in dollars.",
    r"A customer's total for <packs> is $<cost>$ dollars. «round:The shop's screen shows it "
    r"rounded to the nearest dollar: $<shown>$.» Each <thing> costs the same. Determine the "
    r"unrounded price of a <thing> in dollars.",
    r"The invoice for <packs> says $<cost>$ dollars, «round:which the accountant's summary "
    r"rounds to $<shown>$ dollars, the nearest whole number». How many dollars, to the cent, did "
    r"one <thing> cost?",
)
_THINGS = (
    ("pen", "pens"), ("candle", "candles"), ("notebook", "notebooks"), ("postcard", "postcards"),
    ("brush", "brushes"), ("lemon", "lemons"), ("battery", "batteries"), ("magnet", "magnets"),
)  # fmt: skip


@family("misleading", ("bound", "dimension"), "a rounded price in the story, the exact one asked")
def rounded_label(rng: Random, level: Level) -> Draft | None:
    """Ask for an exact price in a text that speaks of rounding."""
    count = rng.randrange(*((2, 6), (6, 10), (11, 16))[level - 1])
    each = Fraction(rng.randrange(*((3, 40), (111, 399), (401, 1499))[level - 1]), 100)
    each = each * 10 if level == 1 else each
    cost = count * each
    shown = floor(cost + Fraction(1, 2))
    cents = agree(int(each * 100), int(cost * 100) // count)
    low, high = (Fraction(2 * shown + side, 2 * count) for side in (-1, 1))
    if (
        shown < 2
        or (2 * cost).denominator == 1
        or each.denominator == 1
        or Fraction(shown, count) == each
    ):
        return None
    thing, many = rng.choice(_THINGS)
    told = tell(
        rng,
        _LABEL,
        packs=plural(count, thing, many),
        thing=thing,
        many=many,
        cost=decimal(cost, 2),
        shown=shown,
        name=rng.choice(NAMES),
    )
    rules = [
        gold(
            "bound",
            f"all of them cost {shown} dollars to the nearest dollar, and one {count} times less",
            between(low, high),
            told.span("round"),
        ),
        gold(
            "dimension", "the exact price", in_unit(Fraction(cents, 100), 1, "dollars"), pins=True
        ),
    ]
    lures: Lures = [
        (Fraction(shown, count), "misled_by_cue"),
        (decimal(Fraction(shown * 100 // count, 100), 2), "misled_by_cue"),
        (floor(each + Fraction(1, 2)), "misled_by_cue"),
        (floor(each), "misled_by_cue"),
        (decimal(Fraction(floor(each * 10 + Fraction(1, 2)), 10), 1), "misled_by_cue"),
        (cents, "encoded_form_not_applied"),
        (decimal(cost, 2), "out_of_range"),
        (decimal(count * cost, 2), "out_of_range"),
    ]
    return Draft(told.text, decimal(each, 2), rules, lures, "decimal")


_ROUNDS = (
    r"A tournament has $<n>$ rounds. «points:A win brings $<w>$ points and a draw $<d>$ points; a "
    r"lost round costs $<l>$ points.» <name> wins $<a>$ rounds, draws $<b>$ and loses all the "
    r"other ones. How many points does <name> have at the end?",
    r"How many points has <name> after $<n>$ rounds of a card game with $<a>$ rounds won, $<b>$ "
    r"drawn and the rest lost? «points:Each round won counts $<w>$ points, each draw $<d>$, and "
    r"for each round lost $<l>$ points are taken away.»",
    r"«points:In a quiz a right answer earns $<w>$ points, a partly right one $<d>$ points, and a "
    r"wrong one costs $<l>$ points.» There are $<n>$ rounds with one question each. <name> is "
    r"right in $<a>$ rounds, partly right in $<b>$ rounds and wrong in the others. Find the final "
    r"score.",
    r"<name> plays $<n>$ rounds of chess against a computer, wins $<a>$ of them and draws $<b>$; "
    r"the computer wins the rest. «points:The score goes up by $<w>$ for a win and by $<d>$ for a "
    r"draw, and down by $<l>$ for a loss.» It started at $0$. What is it at the end?",
    r"In an archery match «points:the centre gives $<w>$ points, the ring round it $<d>$ points, "
    r"and a miss takes $<l>$ points off». <name> shoots once in each of $<n>$ rounds, hits the "
    r"centre $<a>$ times and the ring $<b>$ times, and misses otherwise. Find the number of "
    r"points.",
    r"Two teams meet for $<n>$ rounds. «points:Per round, a victory is worth $<w>$ points, a tie "
    r"$<d>$, and a defeat minus $<l>$.» Our team had $<a>$ victories and $<b>$ ties; all the other "
    r"rounds were defeats. What is our team's total?",
    r"What score does <name> reach in a game of $<n>$ rounds, $<a>$ of which are won, $<b>$ drawn "
    r"and the remaining ones lost, if «points:winning a round adds $<w>$, drawing it adds $<d>$ "
    r"and losing it subtracts $<l>$»?",
    r"<name>'s dog does $<n>$ rounds of an obstacle course: $<a>$ rounds without a mistake, $<b>$ "
    r"with one mistake, and the others broken off. «points:They count $<w>$, $<d>$ and minus $<l>$ "
    r"points each.» How many points is that altogether?",
)


@family("misleading", ("modular", "bound"), "'round' is a part of a game, and nothing is rounded")
def rounds_played(rng: Random, level: Level) -> Draft | None:
    """Ask for a score over the rounds of a game, whose points share a factor."""
    g = rng.choice(((2, 3, 5), (4, 6, 7), (8, 9, 11, 12))[level - 1])
    n = rng.randrange(*((6, 11), (11, 17), (20, 40))[level - 1])
    w, d, lost = (g * k for k in ((3, 2, 1), (4, 2, 1), (5, 2, 1), (5, 3, 2))[rng.randrange(4)])
    a, b = rng.randrange(2, n - 3), rng.randrange(2, n)
    c = n - a - b
    if c < 2:
        return None
    total = a * w + b * d - c * lost
    agree(total, sum([w] * a + [d] * b + [-lost] * c))
    told = tell(rng, _ROUNDS, n=n, w=w, d=d, l=lost, a=a, b=b, name=rng.choice(NAMES))
    rules = [
        gold(
            "modular",
            f"{w}, {d} and {lost} are multiples of {g}, so every score is",
            divisible(g),
            told.span("points"),
        ),
        gold(
            "bound",
            f"the answer is between {-n * lost}, all {n} lost, and {n * w}, all won",
            all_of(integer(), between(-n * lost, n * w)),
        ),
    ]
    lures: Lures = [
        (a * w + b * d, "arithmetic"),
        (a * w + b * d + c * lost, "arithmetic"),
        (a * w + b * d - n * lost, "arithmetic"),
        (a * w + b * d - lost, "arithmetic"),
        (c, "misled_by_cue"),
        (Fraction(total, n), "misled_by_cue"),
        (a * w - c * lost, "arithmetic"),
        (n * (w + d - lost), "out_of_range"),
        (n * (w + d), "out_of_range"),
    ]
    return Draft(told.text, total, rules, lures)


FAMILIES = (rounded_label, rounds_played)
