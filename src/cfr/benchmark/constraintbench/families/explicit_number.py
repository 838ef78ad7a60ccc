"""Explicit tier, numbers: remainders, nested remainders, counts, units. The text says it all."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from cfr.answer.expression.value import decimal
from cfr.benchmark.constraintbench.families.phrase import NAMES, tell
from cfr.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from cfr.benchmark.constraintbench.item import Level
from cfr.constraint.demand import (
    above,
    all_of,
    counts,
    divisible,
    encoded,
    in_unit,
    integer,
    least_residue,
    parity,
)

__all__ = ["FAMILIES"]

_REMAINDER = (
    r"Let $N = <sum>$. Find «mod:the remainder when $N$ is divided by $<m>$».",
    r"What is «mod:the remainder when $<sum>$ is divided by $<m>$»?",
    r"<name> evaluates $<sum>$ and then divides the result by $<m>$. "
    r"Determine «mod:the remainder of this division».",
    r"Compute $<sum>$ and give your answer «mod:modulo $<m>$, as an integer from $0$ to $<top>$».",
)


@family("explicit", ("modular",), "the remainder of a sum, of products, of a sum of squares")
def remainder_of_sum(rng: Random, level: Level) -> Draft:
    """Ask for a remainder of something that is easy to add up."""
    if level == 1:
        terms = [rng.randrange(21, 400) for _ in range(3)]
        written = " + ".join(map(str, terms))
    elif level == 2:
        a, b, c, d = (rng.randrange(12, 60) for _ in range(4))
        terms, written = [a * b, c * d], rf"{a} \cdot {b} + {c} \cdot {d}"
    else:
        start, count = rng.randrange(3, 16), rng.randrange(6, 11)
        terms = [k * k for k in range(start, start + count)]
        written = rf"{start}^2 + {start + 1}^2 + \cdots + {start + count - 1}^2"
    m = rng.randrange(7, 14) if level == 1 else rng.randrange(11, 40)
    total = sum(terms)
    step_by_step = 0
    for term in terms:
        step_by_step = (step_by_step + term % m) % m
    answer = agree(total % m, step_by_step)
    told = tell(rng, _REMAINDER, sum=written, m=m, top=m - 1, name=rng.choice(NAMES))
    rule = gold(
        "modular",
        f"the answer is a remainder on division by {m}, so an integer from 0 to {m - 1}",
        least_residue(m),
        told.span("mod"),
    )
    lures: Lures = [
        (total, "forgot_modular_reduction"),
        (sum(term % m for term in terms), "forgot_modular_reduction"),
        (answer - m, "out_of_range"),
        (total // m, "misled_by_cue"),
        (m - answer, "arithmetic"),
    ]
    return Draft(told.text, answer, [rule], lures)


_NESTED = (
    r"«inner:Let $r$ be the remainder when $<n>$ is divided by $<p>$.» Find «mod:the remainder "
    r"when $<expr>$ is divided by $<q>$».",
    r"«inner:Dividing $<n>$ by $<p>$ leaves the remainder $r$.» What is «mod:the remainder when "
    r"$<expr>$ is divided by $<q>$»?",
    r"«inner:<name> divides $<n>$ by $<p>$ and writes only the remainder, $r$, on the board.» "
    r"<other> computes $<expr>$ and reports «mod:the remainder of that number modulo $<q>$». "
    r"What number does <other> report?",
)


@family("explicit", ("modular", "structure"), "a remainder of an expression in another remainder")
def nested_remainder(rng: Random, level: Level) -> Draft | None:
    """Ask for a remainder that is built on a remainder (the paper's edge case E3)."""
    p, q = rng.randrange(11, 14 + 6 * level), rng.randrange(5, 6 + 3 * level)
    n = rng.randrange(100, 400) if level == 1 else rng.randrange(400, 3000)
    k = rng.randrange(2, 10)
    r = agree(n % p, n - p * max(j for j in range(n // p + 1) if j * p <= n))
    expr, value, skipped = {
        1: (f"{k}r", k * r, k * n),
        2: (f"r^2 + {k}", r * r + k, n * n + k),
        3: (f"r^2 + {k}r", r * r + k * r, n * n + k * n),
    }[level]
    answer = agree(value % q, value - q * (value // q))
    if r < 2 or value < q or k % q == 0 or skipped % q == answer:
        return None
    name, other = rng.sample(NAMES, 2)
    told = tell(rng, _NESTED, n=n, p=p, q=q, expr=expr, name=name, other=other)
    rules = [
        gold(
            "modular",
            f"the answer is a remainder on division by {q}",
            least_residue(q),
            told.span("mod"),
        ),
        gold(
            "structure",
            f"r is reduced modulo {p} before the second division",
            encoded(expr, (value,), q),
            told.span("inner"),
        ),
    ]
    lures: Lures = [
        (value, "forgot_modular_reduction"),
        (r, "forgot_modular_reduction"),
        (skipped % q, "forgot_modular_reduction"),
        (n % q, "arithmetic"),
    ]
    return Draft(told.text, answer, rules, lures)


_COUNT = (
    r"How many «parity:<which>» multiples of $<k>$ are there «range:from $<low>$ to $<high>$ "
    r"inclusive»?",
    r"Find the number of «parity:<which>» integers $n$ with «range:$<low> \le n \le <high>$» that "
    r"are divisible by $<k>$.",
    r"The cards in a box carry the integers «range:from $<low>$ to $<high>$», one integer on each "
    r"card. <name> removes every card whose number is «parity:<which>» and divisible by $<k>$. How "
    r"many cards does <name> remove?",
)


@family("explicit", ("parity", "domain"), "how many odd (even) multiples lie in a range")
def odd_multiples(rng: Random, level: Level) -> Draft:
    """Count the multiples of one parity in a stated range."""
    k = rng.choice((3, 5, 7, 9, 11) if level < 3 else (7, 9, 11, 13, 17))
    low = 1 if level == 1 else rng.randrange(10, 120)
    high = low + rng.randrange(30, 90) * (1, 3, 8)[level - 1]
    which = rng.choice(("odd", "even"))
    rest = k if which == "odd" else 0  # an odd multiple of odd k is k modulo 2k
    by_formula = (high - rest) // (2 * k) - (low - 1 - rest) // (2 * k)
    by_listing = [
        n for n in range(low, high + 1) if n % k == 0 and (n % 2 == 1) == (which == "odd")
    ]
    answer = agree(by_formula, len(by_listing))
    multiples = high // k - (low - 1) // k
    told = tell(rng, _COUNT, which=which, k=k, low=low, high=high, name=rng.choice(NAMES))
    rules = [
        gold(
            "parity",
            f"only {which} multiples of {k} are counted",
            counts(low, high, parity(which), divisible(k)),
            told.span("parity"),
        ),
        gold("domain", "the answer is a count, a non-negative integer", integer()),
    ]
    lures: Lures = [
        (multiples, "ignored_parity"),
        (multiples - answer, "ignored_parity"),
        (Fraction(high - low, 2 * k), "not_an_integer"),
        (answer + 1, "arithmetic"),
        (len([n for n in range(low, high + 1) if n % 2]), "forgot_modular_reduction"),
    ]
    return Draft(told.text, answer, rules, lures)


# Each row: the unit that is asked for, how many of it make one of the unit given, the wordings.
_UNITS = (
    (
        "centimetres",
        100,
        (
            r"A carpenter joins $<count>$ planks end to end, each $<each>$ metres long, and saws "
            r"off $<off>$ metres. How long, «unit:in centimetres», is the piece that is left?",
            r"A roll of ribbon holds $<count>$ lengths of $<each>$ metres each. After <name> uses "
            r"$<off>$ metres, how many «unit:centimetres» of ribbon remain?",
        ),
    ),
    (
        "minutes",
        60,
        (
            r"A pump runs for $<each>$ hours on each of $<count>$ days, except that on the last "
            r"day it stops $<off>$ hours early. For how many «unit:minutes» does it run in all?",
            r"<name> practises the cello for $<each>$ hours on each of $<count>$ days and spends "
            r"$<off>$ hours of the total tuning. Find the time left for playing, «unit:in "
            r"minutes».",
        ),
    ),
    (
        "grams",
        1000,
        (
            r"A baker buys $<count>$ sacks of flour of $<each>$ kilograms each and uses $<off>$ "
            r"kilograms. What is the mass of the remaining flour «unit:in grams»?",
            r"Each of $<count>$ crates weighs $<each>$ kilograms, packing included, and the "
            r"packing of all of them together weighs $<off>$ kilograms. Give the total mass of "
            r"the contents «unit:in grams».",
        ),
    ),
    (
        "percent",
        100,
        (
            r"Into an empty tank go $<count>$ identical buckets of water, each filling $<each>$ of "
            r"the tank. Then water amounting to $<off>$ of the tank is drained. «unit:The tank is "
            r"now $p$ percent full.» Find $p$.",
            r"Each of <name>'s $<count>$ chores earns $<each>$ of the price of a book, and <name> "
            r"spends $<off>$ of that price on stamps. «unit:What is left over is $p$ percent of "
            r"the price of the book.» Determine $p$.",
        ),
    ),
)


@family("explicit", ("dimension", "domain"), "a quantity in the unit that is asked for, or percent")
def unit_conversion(rng: Random, level: Level) -> Draft | None:
    """Ask for a quantity in another unit than the one that the text works in."""
    unit, factor, wordings = rng.choice(_UNITS)
    count = rng.randrange(3, 5 + 2 * level)
    most = 100 // count if unit == "percent" else (40, 90, 300)[level - 1]
    tenths, off = rng.randrange(5, max(most, 6)), rng.randrange(2, 30)
    scale = 100 if unit == "percent" or level == 3 else 10
    each, less = Fraction(tenths, scale), Fraction(off, scale)
    whole = count * each - less
    if whole <= 0 or each.denominator == 1 or less.denominator == 1 or less >= each:
        return None
    answer = agree(whole * factor, (count * tenths - off) * Fraction(factor, scale))
    if answer.denominator != 1 or whole.denominator == 1:
        return None
    told = tell(
        rng, wordings, count=count, name=rng.choice(NAMES), each=_short(each), off=_short(less)
    )
    rules = [
        gold(
            "dimension",
            f"the answer is told in {unit}",
            in_unit(whole, factor, unit),
            told.span("unit"),
        ),
        gold("domain", "the quantity is positive and comes out whole", all_of(integer(), above(0))),
    ]
    lures: Lures = [
        (_short(whole), "encoded_form_not_applied"),
        (count * each * factor, "arithmetic"),
        (_short(whole * 10), "encoded_form_not_applied"),
        ((each - less) * factor * count, "arithmetic"),
    ]
    return Draft(told.text, answer, rules, lures)


def _short(value: Fraction) -> str:
    """Write a value with at most two decimals and no idle zeros."""
    return decimal(value, next(n for n in range(3) if (value * 10**n).denominator == 1))


FAMILIES = (remainder_of_sum, nested_remainder, odd_multiples, unit_conversion)
