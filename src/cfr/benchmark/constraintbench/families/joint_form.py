"""Joint tier, forms: an order, a code or a rounding on top of another demand."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb, floor
from random import Random

from cfr.answer.expression.value import decimal
from cfr.benchmark.constraintbench.families.chance import all_good, lowest_terms
from cfr.benchmark.constraintbench.families.phrase import NAMES, tell
from cfr.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from cfr.benchmark.constraintbench.item import Level
from cfr.constraint.demand import (
    above,
    all_of,
    below,
    divides,
    encoded,
    integer,
    least_residue,
    measured,
    rounded,
)

__all__ = ["FAMILIES"]

_AGES = (
    r"<x>, <y> and <z> have «whole:ages that are whole numbers of years» with product "
    r"$<product>$ and sum $<sum>$. <x> is «order:older than <y>, and <y> is older than <z>». How "
    r"old is <y>?",
    r"Three different «whole:positive integers» have sum $<sum>$ and product $<product>$. What "
    r"is the «order:second largest» of them?",
    r"A rectangular box has «whole:edges of different integer lengths». Its volume is "
    r"$<product>$, and the three edge lengths at a corner add up to $<sum>$. How long is the "
    r"edge that is «order:neither the longest nor the shortest»?",
)


@family("joint", ("domain", "monotonic", "structure"), "the middle one of three ordered numbers")
def middle_one(rng: Random, level: Level) -> Draft | None:
    """Ask for the middle of three integers that are given by sum and product."""
    low, mid, high = sorted(rng.sample(range(1 + level, 8 + 3 * level), 3))
    total, product = low + mid + high, low * mid * high
    triples = [
        (a, b, c)
        for a, b in combinations(range(1, total), 2)
        if b < (c := total - a - b) and a * b * c == product
    ]
    if triples != [(low, mid, high)]:
        return None
    agree(triples, _by_divisors(total, product))
    x, y, z = rng.sample(NAMES, 3)
    told = tell(rng, _AGES, x=x, y=y, z=z, product=product, sum=total)
    rules = [
        gold(
            "domain",
            "the answer is a positive integer",
            all_of(integer(), above(0)),
            told.span("whole"),
        ),
        gold(
            "monotonic",
            "the answer is the middle one in order of size",
            all_of(above(low), below(high)),
            told.span("order"),
        ),
        gold("structure", f"the answer divides {product}", divides(product)),
    ]
    lures: Lures = [
        (high, "misled_by_cue"),
        (low, "misled_by_cue"),
        (Fraction(total, 3), "not_an_integer"),
        (Fraction(product, total), "not_an_integer"),
    ]
    return Draft(told.text, mid, rules, lures)


def _by_divisors(total: int, product: int) -> list[tuple[int, int, int]]:
    """Find the triples from the divisors of the product instead of the parts of the sum."""
    divisors = [d for d in range(1, total) if product % d == 0]
    found: list[tuple[int, int, int]] = []
    for a, b in combinations(divisors, 2):
        c, rest = divmod(product, a * b)
        if rest == 0 and c > b and a + b + c == total:
            found.append((a, b, c))
    return found


_CODED = (
    r"<story> «code:This probability is $\frac{m}{n}$, where $m$ and $n$ are relatively prime "
    r"positive integers.» «mod:Find the remainder when $m+n$ is divided by $<k>$.»",
    r"<story> «code:Write that probability as $\frac{m}{n}$ in lowest terms.» «mod:What is the "
    r"remainder of $m+n$ modulo $<k>$?»",
    r"<story> If the probability equals «code:$\frac{m}{n}$ with coprime positive integers $m$ and "
    r"$n$», compute «mod:$m+n$ modulo $<k>$, an integer from $0$ to $<top>$».",
)
_STORIES = (
    r"A tray holds ${a}$ plain and ${b}$ filled biscuits, and {name} takes ${c}$ of them at "
    r"random. Consider the probability that all of these are plain.",
    r"Among ${total}$ keys, ${a}$ open a certain door. {name} picks ${c}$ of the keys at random "
    r"and asks how likely it is that every one of these opens the door.",
    r"From a team of ${a}$ runners and ${b}$ swimmers, ${c}$ are drawn by lot, each choice being "
    r"equally likely. We look at the probability that only runners are drawn.",
)
_SINGLE_STORIES = (
    r"A tray holds ${a}$ plain and ${b}$ filled biscuits, and {name} takes one of them at random. "
    r"Consider the probability that it is plain.",
    r"Among ${total}$ keys, ${a}$ open a certain door. {name} picks a key at random and asks how "
    r"likely it is that it opens the door.",
    r"From a team of ${a}$ runners and ${b}$ swimmers, one member is drawn by lot. We look at the "
    r"probability that a runner is drawn.",
)


@family("joint", ("modular", "structure", "format"), "m + n of a probability, then a remainder")
def encoded_remainder(rng: Random, level: Level) -> Draft | None:
    """Ask for m + n modulo k: lowest terms first, then the sum, then the reduction."""
    a, b, c = rng.randrange(4, 9 + 4 * level), rng.randrange(3, 9 + 2 * level), (1, 2, 2)[level - 1]
    if level == 3:
        c = rng.choice((2, 3))
    value = all_good(a, a + b, c)
    m, n = agree((value.numerator, value.denominator), lowest_terms(comb(a, c), comb(a + b, c)))
    k = rng.randrange(4, 12) if level == 1 else rng.randrange(5, 20)
    unreduced = comb(a, c) + comb(a + b, c)
    if m + n < k or (m + n) % k == unreduced % k:
        return None
    answer = agree((m + n) % k, (m % k + n % k) % k)
    story = rng.choice(_SINGLE_STORIES if c == 1 else _STORIES)
    story = story.format(a=a, b=b, c=c, total=a + b, name=rng.choice(NAMES))
    told = tell(rng, _CODED, story=story, k=k, top=k - 1)
    rules = [
        gold(
            "modular",
            f"the answer is a remainder on division by {k}",
            least_residue(k),
            told.span("mod"),
        ),
        gold(
            "structure",
            "m and n have no common factor",
            encoded("m+n", (m, n), k),
            told.span("code"),
        ),
        gold(
            "format",
            "the answer is an integer made from m and n, not the probability",
            integer(),
            told.span("mod"),
        ),
    ]
    lures: Lures = [
        (m + n, "forgot_modular_reduction"),
        (unreduced % k, "encoded_form_not_applied"),
        (value, "encoded_form_not_applied"),
        (m * n % k, "arithmetic"),
    ]
    return Draft(told.text, answer, rules, lures)


_PERCENT = (
    r"Of the $<n>$ <things> in <place>, $<a>$ <quality>. «unit:That is $p$ percent of them.» "
    r"«round:Find $p$, rounded to the nearest integer.»",
    r"<name> checks $<n>$ <things> in <place> and finds that $<a>$ <quality>, «unit:which is $p$ "
    r"percent of the total». «round:What is $p$ to the nearest integer?»",
    r"In <place> there are $<n>$ <things>, of which $<a>$ <quality>. «unit:The other ones make up "
    r"$p$ percent of all the <things>.» «round:Determine the integer nearest to $p$.»",
)
_SETTINGS = (
    ("lanterns", "a street", "burn all night"),
    ("trees", "an orchard", "bear fruit this year"),
    ("letters", "an archive", "carry a date"),
    ("cups", "a cupboard", "match a saucer"),
    ("frogs", "a pond", "have a white throat"),
    ("songs", "a hymnal", "stand in a minor key"),
)


@family("joint", ("dimension", "format"), "a percentage, rounded to an integer")
def rounded_percent(rng: Random, level: Level) -> Draft | None:
    """Ask for a percentage as a rounded whole number."""
    n = rng.randrange(12, 40) if level == 1 else rng.randrange(30, 120 * level)
    a = rng.randrange(n // 8 + 1, 7 * n // 8)
    things, place, quality = rng.choice(_SETTINGS)
    which = rng.randrange(3)
    part = a if which < 2 else n - a
    share = Fraction(100 * part, n)
    if (2 * share).denominator == 1 or share - floor(share) < Fraction(1, 2):
        return None  # exact, disputable, or rounded down by mere truncation
    answer = agree(floor(share + Fraction(1, 2)), (200 * part + n) // (2 * n))
    told = tell(
        rng,
        (_PERCENT[which],),
        n=n,
        a=a,
        things=things,
        place=place,
        quality=quality,
        name=rng.choice(NAMES),
    )
    rules = [
        gold(
            "dimension",
            "the answer is told in percent, so from 1 to 100 here",
            measured("percent", 1, 100),
            told.span("unit"),
        ),
        gold(
            "format",
            "the answer is rounded to the nearest integer",
            rounded(share),
            told.span("round"),
        ),
        gold("format", "the answer is an integer", integer(), told.span("round")),
    ]
    lures: Lures = [
        (floor(share), "arithmetic"),
        (decimal(Fraction(floor(share * 100), 100), 2), "not_an_integer"),
        (decimal(Fraction(answer, 100), 2), "encoded_form_not_applied"),
        (100 - answer, "misled_by_cue"),
    ]
    return Draft(told.text, answer, rules, lures)


FAMILIES = (middle_one, encoded_remainder, rounded_percent)
