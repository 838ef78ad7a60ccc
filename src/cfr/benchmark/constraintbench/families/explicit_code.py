"""Explicit tier, codes: m + n of a fraction, a + b of a surd. The text says how to encode."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, isqrt
from random import Random

from cfr.answer.expression.value import decimal
from cfr.benchmark.constraintbench.families.chance import all_good, lowest_terms
from cfr.benchmark.constraintbench.families.phrase import NAMES, tell
from cfr.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from cfr.benchmark.constraintbench.item import Level
from cfr.constraint.demand import encoded, integer

__all__ = ["FAMILIES"]

_ENCODE = (
    r"«code:The probability can be written as $\frac{m}{n}$, where $m$ and $n$ are relatively "
    r"prime positive integers. Find $m+n$.»",
    r"«code:This probability is $\frac{m}{n}$ with $m$ and $n$ coprime positive integers. What is "
    r"$m+n$?»",
    r"«code:If the probability is expressed as a fraction $\frac{m}{n}$ in lowest terms, compute "
    r"$m+n$.»",
)
_ONE_DRAW = (
    r"A drawer contains $<a>$ black, $<b>$ white and $<c>$ grey socks, and one sock is pulled "
    r"out at random. Consider the probability that it is black. ",
    r"<name>'s playlist has $<a>$ jazz, $<b>$ folk and $<c>$ rock songs. The player picks a song "
    r"uniformly at random; consider the probability of hearing jazz. ",
    r"Of the tickets in a raffle, $<a>$ win a book, $<b>$ win a pen and $<c>$ win nothing. One "
    r"ticket is drawn at random, and we look at the chance that it wins a book. ",
)
_DICE = (
    r"Two fair dice, one with faces numbered $1$ to $<a>$ and one with faces numbered $1$ to "
    r"$<b>$, are rolled. Consider the probability that the two numbers add up to $<c>$. ",
    r"<name> chooses an integer from $1$ to $<a>$ and an integer from $1$ to $<b>$, "
    r"independently and uniformly at random. We ask how likely it is that their sum is $<c>$. ",
    r"A spinner shows each of $1, 2, \dots, <a>$ equally often, and a second one each of "
    r"$1, 2, \dots, <b>$. Both are spun once, and the event of interest is that the total equals "
    r"$<c>$. ",
)
_TWO_DRAWS = (
    r"From a bag with $<a>$ red and $<b>$ blue counters, $<c>$ counters are drawn at random "
    r"without replacement. Consider the probability that all of them are red. ",
    r"A club has $<a>$ juniors and $<b>$ seniors. A committee of $<c>$ members is chosen at "
    r"random, and we want the probability that it consists of juniors only. ",
    r"There are $<a>$ ripe and $<b>$ unripe pears in a basket. <name> takes $<c>$ of them at "
    r"random; the event of interest is that every one of these is ripe. ",
)


@family("explicit", ("domain", "format"), "m + n of a probability m/n in lowest terms")
def coprime_sum(rng: Random, level: Level) -> Draft:
    """Ask for m + n of a probability."""
    if level == 1:
        a, b, c = (rng.randrange(2, 19) for _ in range(3))
        good, total, story = a, a + b + c, _ONE_DRAW
    elif level == 2:
        a, b = rng.randrange(4, 11), rng.randrange(4, 13)
        c = rng.randrange(4, a + b - 1)
        good = sum(i + j == c for i, j in product(range(1, a + 1), range(1, b + 1)))
        agree(good, min(a, c - 1) - max(1, c - b) + 1)
        total, story = a * b, _DICE
    else:
        a, b, c = rng.randrange(4, 11), rng.randrange(2, 9), rng.choice((2, 2, 3))
        good, total, story = comb(a, c), comb(a + b, c), _TWO_DRAWS
        agree(Fraction(good, total), all_good(a, a + b, c))
    value = Fraction(good, total)
    m, n = agree((value.numerator, value.denominator), lowest_terms(good, total))
    told = tell(rng, [s + e for s in story for e in _ENCODE], a=a, b=b, c=c, name=rng.choice(NAMES))
    span = told.span("code")
    rules = [
        gold("domain", "the answer is a positive integer", integer(), span),
        gold(
            "format",
            "the answer is m + n for the probability m/n in lowest terms",
            encoded("m+n", (m, n)),
            span,
        ),
    ]
    other = 1 - value
    lures: Lures = [
        (value, "encoded_form_not_applied"),
        (good + total, "encoded_form_not_applied"),
        (n - m, "encoded_form_not_applied"),
        (other.numerator + other.denominator, "arithmetic"),
        (m * n, "encoded_form_not_applied"),
    ]
    return Draft(told.text, m + n, rules, lures)


_SQUARE_FREE = (2, 3, 5, 6, 7, 10, 11)
_SURD_LENGTH = (
    r"A square has area $<n>$. «code:Its side length can be written as $a\sqrt{b}$, where $a$ "
    r"and $b$ are positive integers and $b$ is not divisible by the square of any prime. Find "
    r"$a+b$.»",
    r"«code:Write $\sqrt{<n>}$ in the form $a\sqrt{b}$ with positive integers $a$ and $b$, $b$ "
    r"being square-free. What is $a+b$?»",
    r"<name> simplifies $\sqrt{<n>}$ and gets «code:$a\sqrt{b}$, where $a$ and $b$ are positive "
    r"integers and $b$ is square-free. Compute $a+b$.»",
    r"The positive solution of $x^2 = <n>$ is «code:$x = a\sqrt{b}$, where $a$ and $b$ are "
    r"positive integers and $b$ has no square factor greater than $1$. Determine $a+b$.»",
)
_SURD_LEGS = (
    r"The legs of a right triangle have lengths $<p>$ and $<q>$. «code:The hypotenuse has length "
    r"$a\sqrt{b}$, where $a$ and $b$ are positive integers and $b$ is square-free. Find $a+b$.»",
    r"A rectangle measures $<p>$ by $<q>$. «code:Its diagonal is $a\sqrt{b}$ with positive "
    r"integers $a$ and $b$, where $b$ is not divisible by the square of any prime. Compute $a+b$.»",
    r"Point $P$ has coordinates $(<p>, <q>)$. «code:Its distance from the origin is $a\sqrt{b}$ "
    r"for positive integers $a$ and $b$ with $b$ square-free. What is $a+b$?»",
)
_SURD_ROOT = (
    r"«code:The larger root of $x^2 - <s>x + <t> = 0$ can be written as $a+\sqrt{b}$ with positive "
    r"integers $a$ and $b$. Find $a+b$.»",
    r"Two real numbers have sum $<s>$ and product $<t>$. «code:The larger of them is $a+\sqrt{b}$, "
    r"where $a$ and $b$ are positive integers. Determine $a+b$.»",
    r"A rectangle has perimeter $<perimeter>$ and area $<t>$. «code:Its longer side has length "
    r"$a+\sqrt{b}$ for positive integers $a$ and $b$. What is $a+b$?»",
)


@family("explicit", ("domain", "format"), "a + b of a surd in simplest form")
def surd_form(rng: Random, level: Level) -> Draft | None:
    """Ask for a + b where the value itself is a surd."""
    if level == 3:
        return _surd_root(rng)
    if level == 1:
        n, p, q = rng.randrange(2, 11) ** 2 * rng.choice(_SQUARE_FREE), 0, 0
    else:
        p, q = rng.randrange(2, 40), rng.randrange(2, 40)
        n = p * p + q * q
    a = max(k for k in range(1, isqrt(n) + 1) if n % (k * k) == 0)
    b = n // (a * a)
    if a == 1 or b == 1:
        return None
    agree(b, _square_free_part(n))
    wordings = _SURD_LENGTH if level == 1 else _SURD_LEGS
    told = tell(rng, wordings, n=n, p=p, q=q, name=rng.choice(NAMES))
    small = min(k for k in range(2, a + 1) if a % k == 0)
    return _encoded_surd(
        told.text,
        told.span("code"),
        a,
        b,
        [
            (rf"{a}\sqrt{{{b}}}", "encoded_form_not_applied"),
            (1 + n, "encoded_form_not_applied"),
            (small + n // small**2, "encoded_form_not_applied"),
            (a * b, "arithmetic"),
            (n, "out_of_range"),
        ],
    )


def _surd_root(rng: Random) -> Draft | None:
    a, b = rng.randrange(3, 25), rng.randrange(2, 90)
    if isqrt(b) ** 2 == b or a * a <= b:
        return None
    s, t = 2 * a, a * a - b
    by_formula = (s // 2, (s * s - 4 * t) // 4)
    # Any root x + sqrt(y) has the other root x - sqrt(y), so that 2x = s and x^2 - y = t.
    by_search = [(x, x * x - t) for x in range(1, s) if 2 * x == s and x * x > t]
    agree([by_formula], by_search)
    told = tell(rng, _SURD_ROOT, s=s, t=t, perimeter=2 * s)
    return _encoded_surd(
        told.text,
        told.span("code"),
        a,
        b,
        [
            (decimal(Fraction(100 * a + isqrt(10000 * b), 100), 2), "encoded_form_not_applied"),
            (s + 4 * b, "encoded_form_not_applied"),
            (s + b, "arithmetic"),
            (a - b, "arithmetic"),
        ],
    )


def _encoded_surd(text: str, span: str | None, a: int, b: int, lures: Lures) -> Draft:
    rules = [
        gold("domain", "the answer is an integer", integer(), span),
        gold(
            "format",
            "the answer is a + b for the surd in its simplest form",
            encoded("a+b", (a, b)),
            span,
        ),
    ]
    return Draft(text, a + b, rules, lures)


def _square_free_part(n: int) -> int:
    part, prime = 1, 2
    while n > 1:
        odd_power = False
        while n % prime == 0:
            n, odd_power = n // prime, not odd_power
        part, prime = part * (prime if odd_power else 1), prime + 1
    return part


FAMILIES = (coprime_sum, surd_form)
