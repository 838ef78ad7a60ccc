"""Explicit tier, fractions and ratios: in lowest terms, as a code."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb, gcd, perm
from random import Random

from constraint_first.benchmark.constraintbench.families.phrase import NAMES, listed, tell
from constraint_first.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from constraint_first.benchmark.constraintbench.item import Level
from constraint_first.constraint.demand import all_of, between, divides, encoded, integer

__all__ = ["FAMILIES"]

_ODDS = (
    r"A bag holds $<a>$ red and $<b>$ blue marbles. <draw> The probability that <event> red is "
    r"$\frac{m}{n}$ «code:in lowest terms». Find $m+n$.",
    r"Among the eggs in a basket $<a>$ are brown and $<b>$ are white. <draw> «code:Write the "
    r"probability that <event> brown as a fraction $\frac{m}{n}$ in lowest terms.» What is $m+n$?",
    r"Find «code:$p+q$, where $\frac{p}{q}$ is the simplest form» of the probability in question: "
    r"a drawer contains $<a>$ grey and $<b>$ black socks. <draw> How likely is it that <event> "
    r"grey?",
    r"<name> has $<a>$ silver and $<b>$ gold coins in a chest. <draw> The chance that <event> "
    r"silver equals $\frac{m}{n}$ «code:with coprime positive integers $m$ and $n$». Determine "
    r"$m+n$.",
    r"A box of tiles contains $<a>$ square and $<b>$ round ones. <draw> «code:Let $\frac{m}{n}$, "
    r"fully reduced, be the probability» that <event> square. Compute $m+n$.",
    r"$<a>$ sweet and $<b>$ sour apples lie in a crate. <draw> What is «code:the sum of the "
    r"numerator and the denominator of the reduced fraction» that gives the probability that "
    r"<event> sweet?",
    r"A deck has $<a>$ green and $<b>$ yellow cards. <draw> The probability that <event> green "
    r"«code:is written as a fraction that cannot be simplified further». Add its numerator and its "
    r"denominator. What is the result?",
    r"In a jar there are $<a>$ mint and $<b>$ lemon sweets. <draw> «code:If the probability is "
    r"$\frac{m}{n}$ after cancelling all common factors», what is $m+n$ for the event that <event> "
    r"mint?",
)


@family("explicit", ("format", "structure"), "a probability in lowest terms, coded as m + n")
def reduced_probability(rng: Random, level: Level) -> Draft | None:
    """Ask for m + n of a probability that has to be reduced first."""
    takes, a, b = _bag(rng, level)
    total = a + b
    ways, all_ways = comb(a, takes), comb(total, takes)
    listing = sum(all(i < a for i in pair) for pair in combinations(range(total), takes))
    value = Fraction(agree(ways, listing), all_ways)
    if gcd(ways, all_ways) == 1:
        return None
    m, n = value.numerator, value.denominator
    shared = gcd(ways, all_ways)
    small = next(d for d in range(2, shared + 1) if shared % d == 0)
    many = "{} of them are taken at random, one after the other, without putting back."
    draw = ("One of them is taken at random.", many.format("Two"), many.format("Three"))[level - 1]
    event = ("it is", "both are", "all three are")[level - 1]
    told = tell(rng, _ODDS, a=a, b=b, draw=draw, event=event, name=rng.choice(NAMES))
    ordered, all_ordered = perm(a, takes), perm(total, takes)
    rules = [
        gold(
            "format",
            "the answer is a sum of two positive integers",
            all_of(integer(), between(3, None)),
        ),
        gold(
            "structure",
            "numerator and denominator are divided by the same number, and so is their sum",
            divides(ordered + all_ordered),
        ),
        gold(
            "format",
            "the answer is m + n in lowest terms",
            encoded("m + n", (m, n)),
            told.span("code"),
            pins=True,
        ),
    ]
    lures: Lures = [
        (value, "encoded_form_not_applied"),
        (ordered + all_ordered, "encoded_form_not_applied"),
        (ways + all_ways, "encoded_form_not_applied"),
        ((ways + all_ways) // small, "encoded_form_not_applied"),
        (n, "encoded_form_not_applied"),
        (m, "encoded_form_not_applied"),
        (n - m + n, "misled_by_cue"),
        (
            (Fraction(a, total) ** takes).numerator + (Fraction(a, total) ** takes).denominator,
            "other",
        ),
        (Fraction(a, b).numerator + Fraction(a, b).denominator, "other"),
        (a + total, "encoded_form_not_applied"),
    ]
    return Draft(told.text, m + n, rules, lures)


def _bag(rng: Random, level: Level) -> tuple[int, int, int]:
    """Draw how many are taken, how many fit and how many do not."""
    if level > 1:
        return level, rng.randrange(4, 16), rng.randrange(3, 16)
    shared = rng.choice((2, 3, 5, 10))
    both = rng.randrange(7, 35)
    m = rng.choice([m for m in range(1, (both + 1) // 2) if gcd(m, both) == 1])
    return 1, shared * m, shared * (both - 2 * m)


_RATIO = (
    r"A recipe uses <parts> grams of <things>. «code:In lowest terms» these amounts are in the "
    r"ratio $<letters>$. Find $<plus>$.",
    r"The prizes in a lottery are <parts> dollars. «code:Write their ratio with the smallest "
    r"possible whole numbers, $<letters>$.» What is $<plus>$?",
    r"<name> mixes <parts> spoonfuls of <things>. The ratio of the amounts, «code:fully "
    r"simplified», is $<letters>$. What is $<plus>$?",
    r"What is $<plus>$ if «code:$<letters>$ is the simplest whole-number form» of the ratio of "
    r"<parts>, in this order?",
    r"<people> earned <parts> dollars and will share the costs of a trip in the same ratio, "
    r"$<letters>$, «code:reduced to lowest terms». Determine $<plus>$.",
    r"The sticks that <name> found are <parts> centimetres long. «code:The ratio of their lengths "
    r"is $<letters>$, where the numbers have no common factor.» Compute $<plus>$.",
    r"In a park stand <parts> trees of <n> kinds. <name> writes the ratio of the numbers as "
    r"$<letters>$ «code:after cancelling every common factor». What is the value of $<plus>$?",
    r"«code:Simplify the ratio as far as possible» and add up its terms: <parts>. What sum do you "
    r"get?",
    r"A farmer sowed <parts> rows with <things>. How much is $<plus>$ if the ratio of these "
    r"numbers «code:in lowest terms» is $<letters>$?",
)
_THINGS = ("oats", "rye", "barley", "maize")


@family(
    "explicit", ("format", "structure"), "a ratio in lowest terms, coded as the sum of its terms"
)
def ratio_code(rng: Random, level: Level) -> Draft | None:
    """Ask for the sum of the terms of a ratio that has to be reduced first."""
    count, shared = (
        (2, rng.choice((2, 3, 5, 10))),
        (2, rng.choice((4, 6, 8, 9))),
        (3, rng.choice((6, 8, 9, 12, 14, 15))),
    )[level - 1]
    both = rng.randrange(7, 50)
    first = rng.randrange(1, both)
    terms = [first, both - first] if level == 1 else rng.sample(range(2, 30), count)
    divisor = gcd(*terms)
    parts = [shared * term for term in terms]
    by_gcd = sum(parts) // gcd(*parts)
    largest = max(d for d in range(1, max(parts) + 1) if all(part % d == 0 for part in parts))
    answer = agree(by_gcd, sum(part // largest for part in parts))
    if divisor > 1:
        return None
    names = rng.sample(NAMES, count)
    things = list(_THINGS[:count])
    told = tell(
        rng,
        _RATIO,
        parts=listed(parts),
        letters=" : ".join("abcd"[:count]),
        plus=" + ".join("abcd"[:count]),
        name=names[0],
        n=("two", "three")[count - 2],
        things=f"{', '.join(things[:-1])} and {things[-1]}",
        people=f"{', '.join(names[:-1])} and {names[-1]}",
    )
    total = sum(parts)
    small = next(d for d in range(2, shared + 1) if shared % d == 0)
    rules = [
        gold(
            "structure",
            "the amounts are equal multiples of the terms, and so are their sums",
            divides(total),
        ),
        gold(
            "format",
            "the answer is the sum of the terms in lowest terms",
            encoded("a + b", tuple(terms)),
            told.span("code"),
            pins=True,
        ),
    ]
    lures: Lures = [
        (total, "encoded_form_not_applied"),
        (total // small, "encoded_form_not_applied"),
        (Fraction(parts[0], parts[1]), "encoded_form_not_applied"),
        (gcd(*parts), "misled_by_cue"),
        (terms[0] + terms[1], "other"),
        (terms[0], "encoded_form_not_applied"),
        (terms[-1], "encoded_form_not_applied"),
        (sum(part // gcd(parts[0], parts[1]) for part in parts[:2]), "other"),
        (Fraction(total, gcd(parts[0], parts[1])), "other"),
        (answer + 1, "arithmetic"),
    ]
    return Draft(told.text, answer, rules, lures)


FAMILIES = (reduced_probability, ratio_code)
