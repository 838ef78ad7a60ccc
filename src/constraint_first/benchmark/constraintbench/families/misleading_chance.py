"""Misleading tier, chances: probabilities in the text, and a part or a number is asked."""

from __future__ import annotations

from fractions import Fraction
from math import gcd
from random import Random

from constraint_first.benchmark.constraintbench.families.chance import lowest_terms
from constraint_first.benchmark.constraintbench.families.phrase import NAMES, tell
from constraint_first.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from constraint_first.benchmark.constraintbench.item import Level
from constraint_first.constraint.demand import (
    above,
    all_of,
    below,
    between,
    divides,
    divisible,
    integer,
)

__all__ = ["FAMILIES"]

_SETTINGS = (
    (
        r"A bag holds <things>, and one marble is drawn at random.",
        "the marble is <one>",
        "marble",
        ("red", "blue", "green", "yellow", "white", "black"),
    ),
    (
        r"<name>'s jar contains <things>. <name> takes one sweet without looking.",
        "it is a <one> sweet",
        "sweet",
        ("lemon", "cherry", "mint", "caramel", "honey", "plum"),
    ),
    (
        r"On a shelf there are <things>; <name> picks a book at random.",
        "it is a <one> book",
        "book",
        ("history", "poetry", "travel", "cookery", "garden", "law"),
    ),
    (
        r"In an orchard stand <things>. Lightning strikes one tree, and every tree is equally "
        r"likely to be struck.",
        "the tree is <an>",
        "tree",
        ("apple", "pear", "cherry", "walnut", "plum", "quince"),
    ),
)


def _setting(rng: Random, counts: list[int]) -> tuple[str, str]:
    """Tell what is drawn from, and the event that the first kind is drawn."""
    story, event, thing, kinds = rng.choice(_SETTINGS)
    chosen = rng.sample(kinds, len(counts))
    parts = [f"${n}$ {kind} {thing}s" for n, kind in zip(counts, chosen, strict=True)]
    things = f"{', '.join(parts[:-1])} and {parts[-1]}"
    article = "an" if chosen[0][0] in "aeiou" else "a"
    event = event.replace("<an>", f"{article} {chosen[0]} tree").replace("<one>", chosen[0])
    return story.replace("<things>", things).replace("<name>", rng.choice(NAMES)), event


def _counts(rng: Random, level: Level) -> list[int] | None:
    """Draw how many there are of each kind, so that the chance of the first can be reduced."""
    low, high, kinds = ((4, 50, 2), (20, 190, 2), (9, 60, 4))[level - 1]
    counts = [rng.randrange(low, high) for _ in range(kinds)]
    first, total = counts[0], sum(counts)
    common = gcd(first, total)
    # A small denominator would be guessed, and 1/n makes too much come out alike.
    return counts if 1 < common < first and total // common > (8, 16, 16)[level - 1] else None


_DENOMINATOR = (
    r"<story> The probability that <event> is $\frac{m}{n}$, where $m$ and $n$ are relatively "
    r"prime positive integers. «part:What is $n$?»",
    r"<story> Write the probability that <event> as $\frac{m}{n}$ in lowest terms. «part:Find the "
    r"denominator $n$.»",
    r"<story> Let $\frac{m}{n}$, with coprime positive integers $m$ and $n$, be the probability "
    r"that <event>. «part:Determine $n$ alone.»",
    r"«part:Find the value of $n$» for which the following probability can be written as "
    r"$\frac{m}{n}$ with relatively prime positive integers $m$ and $n$. <story> We ask for the "
    r"chance that <event>.",
    r"<story> In lowest terms, the probability that <event> is $\frac{m}{n}$. «part:What is the "
    r"denominator?»",
    r"<story> How likely is it that <event>? The answer can be written as $\frac{m}{n}$, where $m$ "
    r"and $n$ are coprime positive integers. «part:Give $n$.»",
    r"«part:Which number $n$ is the denominator» when the probability described here is written as "
    r"a fraction $\frac{m}{n}$ in lowest terms? <story> The event is that <event>.",
    r"<story> If the probability that <event> equals $\frac{m}{n}$ with coprime positive integers "
    r"$m$ and $n$, «part:what is the value of $n$?»",
)


@family("misleading", ("domain", "structure"), "m/n is introduced, and n alone is asked")
def denominator_asked(rng: Random, level: Level) -> Draft | None:
    """Ask for n where competition habit gives m + n."""
    counts = _counts(rng, level)
    if counts is None:
        return None
    first, total = counts[0], sum(counts)
    value = Fraction(first, total)
    m, n = agree((value.numerator, value.denominator), lowest_terms(first, total))
    story, event = _setting(rng, counts)
    told = tell(rng, _DENOMINATOR, story=story, event=event)
    odds = Fraction(first, total - first)
    rules = [
        gold("structure", f"the denominator divides {total}, the number of all", divides(total)),
        gold(
            "domain",
            f"n is an integer, larger than m, and smaller than {total} once reduced",
            all_of(integer(), above(1), below(total)),
            told.span("part"),
        ),
    ]
    lures: Lures = [
        (m + n, "misled_by_cue"),
        (total, "encoded_form_not_applied"),
        (m, "arithmetic"),
        (value, "encoded_form_not_applied"),
        (first, "arithmetic"),
        (first + total, "misled_by_cue"),
        (odds.denominator, "arithmetic"),
        (odds.numerator + odds.denominator, "misled_by_cue"),
        (n - m, "arithmetic"),
        (total - first, "arithmetic"),
    ]
    return Draft(told.text, n, rules, lures)


_FORECAST = (
    r"For each of the next $<n>$ days the probability of rain is $<p>$ percent. <name> sells "
    r"«price:$<w>$ umbrellas on a rainy day and $<d>$ on a dry day». In the end it rains on "
    r"exactly $<r>$ of the $<n>$ days. How many umbrellas does <name> sell in these days?",
    r"How many cups does a café sell in $<n>$ days if «price:a cold day means $<w>$ cups and any "
    r"other day $<d>$ cups»? The almanac gives a probability of $<p>$ percent for a cold day, and "
    r"in fact $<r>$ of the days were cold.",
    r"A lottery stall says that the probability of a win is $<p>$ percent. <name> buys $<n>$ "
    r"tickets, and $<r>$ of them win. «price:A winning ticket pays $<w>$ tokens and a losing one "
    r"still pays $<d>$ tokens.» How many tokens does <name> get?",
    r"A ferry has to wait for the fog with a probability of $<p>$ percent. «price:It burns $<w>$ "
    r"litres of fuel on a trip with fog and $<d>$ litres on a clear one.» Of this month's $<n>$ "
    r"trips, $<r>$ had fog. Find the number of litres burnt.",
    r"«price:A hen that lays well gives $<w>$ eggs a season, any other one $<d>$.» A breeder "
    r"claims that a chick becomes a good layer with a probability of $<p>$ percent. <name> raises "
    r"$<n>$ chicks, and $<r>$ of them become good layers. How many eggs are laid in a season?",
    r"<name>'s team keeps a clean sheet in $<r>$ of $<n>$ games; the coach had put the "
    r"probability of this at $<p>$ percent for each game. «price:A game with a clean sheet brings "
    r"the team $<w>$ points, any other game $<d>$ points.» Find the number of points from all "
    r"games.",
    r"A test kit gives the right colour with a probability of $<p>$ percent. Out of $<n>$ kits "
    r"that <name> tried, $<r>$ gave the right colour. «price:Each of these earned $<w>$ credits, "
    r"each of the others $<d>$ credits.» How many credits were earned?",
    r"What number of buns did the bakery bake in $<n>$ days, when «price:it bakes $<w>$ buns on a "
    r"market day and $<d>$ on other days», there were $<r>$ market days, and the probability that "
    r"a day is a market day is usually $<p>$ percent?",
)


@family("misleading", ("modular", "bound"), "a probability is given, and what happened is asked")
def forecast_sales(rng: Random, level: Level) -> Draft | None:
    """Ask what came of the days that there really were, next to a forecast for them."""
    g = rng.choice(((2, 3, 5), (4, 6, 7), (8, 9, 11))[level - 1])
    n = 10 * rng.randrange(*((1, 2), (1, 4), (4, 7))[level - 1])
    w, d = g * rng.randrange(4, (8, 11, 11)[level - 1]), g * rng.randrange(1, 4)
    p = 10 * rng.randrange(2, 9)
    r, expected = rng.randrange(2, n - 1), n * p // 100
    if r == expected:
        return None
    answer = agree(w * r + d * (n - r), n * d + r * (w - d))
    told = tell(rng, _FORECAST, n=n, p=p, w=w, d=d, r=r, name=rng.choice(NAMES))
    rules = [
        gold(
            "modular",
            f"{w} and {d} are multiples of {g}, and so are their sums",
            divisible(g),
            told.span("price"),
        ),
        gold(
            "bound",
            f"the answer is between {n * d} and {n * w}, as if all {n} were alike",
            between(n * d, n * w),
            told.span("price"),
        ),
    ]
    lures: Lures = [
        (w * expected + d * (n - expected), "misled_by_cue"),
        (Fraction(answer * p, 100), "misled_by_cue"),
        (w * r, "arithmetic"),
        (d * (n - r), "arithmetic"),
        (w * r + d * n, "arithmetic"),
        (w * (n - r) + d * r, "arithmetic"),
        (Fraction(w * r * p, 100) + d * (n - r), "misled_by_cue"),
        (w * expected, "misled_by_cue"),
        (n * (w + d), "out_of_range"),
        (w * r + d * r, "arithmetic"),
    ]
    return Draft(told.text, answer, rules, lures)


FAMILIES = (denominator_asked, forecast_sales)
