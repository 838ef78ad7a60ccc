"""Implicit tier, values: probabilities, lengths, roots, triangles. What the value is limits it."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from random import Random

from cfr.benchmark.constraintbench.families.phrase import NAMES, tell
from cfr.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from cfr.benchmark.constraintbench.item import Level
from cfr.constraint.demand import above, all_of, at_least, below, between, integer, root

__all__ = ["FAMILIES"]

_UNION = (
    r"Of the $<n>$ members of an orchestra, $<a>$ read the alto clef, $<b>$ read the tenor clef "
    r"and $<both>$ read both. A member is chosen at random. What is the probability that this "
    r"member reads <which> of the two clefs?",
    r"In a village of $<n>$ households, $<a>$ keep hens, $<b>$ keep bees and $<both>$ keep hens as "
    r"well as bees. If one household is picked at random, how likely is it that it keeps <which> "
    r"of the two? Give the exact value.",
    r"A library has $<n>$ atlases: $<a>$ of them are in colour, $<b>$ are bound in leather, and "
    r"$<both>$ are both. <name> takes one at random. Find the chance that it has <which> of the "
    r"two qualities.",
)


@family("implicit", ("domain",), "a probability, where adding up would pass 1")
def union_probability(rng: Random, level: Level) -> Draft | None:
    """Ask for the probability of a union whose parts add up to more than 1."""
    n = rng.choice((20, 24, 25, 30, 40)) if level == 1 else rng.randrange(24, 40 * level)
    a, b = rng.randrange(n // 2, n), rng.randrange(n // 2, n)
    both = rng.randrange(a + b - n, min(a, b))
    if a + b <= n or both <= 0:
        return None
    exactly = level == 3
    people = [(i < a, a - both <= i < a + b - both) for i in range(n)]
    wanted = sum((x != y) if exactly else (x or y) for x, y in people)
    count = agree(wanted, a + b - both * (2 if exactly else 1))
    value = Fraction(count, n)
    if not 0 < value < 1:
        return None
    which = "exactly one" if exactly else "at least one"
    told = tell(rng, _UNION, n=n, a=a, b=b, both=both, which=which, name=rng.choice(NAMES))
    rule = gold("domain", "a probability lies between 0 and 1", between(0, 1))
    lures: Lures = [
        (Fraction(a + b, n), "out_of_range"),
        (count, "encoded_form_not_applied"),
        (1 - value, "arithmetic"),
        (Fraction(a + b - both * (1 if exactly else 2), n), "arithmetic"),
    ]
    return Draft(told.text, value, [rule], lures, "fraction")


_LENGTH = (
    r"A rectangle has area $<area>$, and its length exceeds its width by $<d>$. Find the width.",
    r"The base of a parallelogram is $<d>$ centimetres longer than the corresponding height, and "
    r"the area is $<area>$ square centimetres. How many centimetres long is the height?",
    r"A rectangular garden of $<area>$ square metres is $<d>$ metres longer than it is wide. "
    r"What is its width in metres?",
    r"One leg of a right triangle is $<d>$ longer than the other, and the area of the triangle is "
    r"$<half>$. How long is the shorter leg?",
)


@family("implicit", ("domain", "structure"), "a length from a quadratic with a negative root")
def positive_length(rng: Random, level: Level) -> Draft:
    """Ask for a length; the quadratic behind it has a negative root as well."""
    w, d = rng.randrange(3, 8 + 12 * level), rng.randrange(2, 6 + 10 * level)
    area = w * (w + d)
    by_search = next(k for k in range(1, area + 1) if k * (k + d) >= area)
    answer = agree(by_search, (isqrt(d * d + 4 * area) - d) // 2)
    wordings = _LENGTH if area % 2 == 0 else _LENGTH[:3]
    told = tell(rng, wordings, area=area, d=d, half=area // 2)
    rules = [
        gold("domain", "a length is positive", above(0)),
        gold("structure", f"the width w satisfies w(w + {d}) = {area}", root(1, d, -area)),
    ]
    lures: Lures = [
        (-(w + d), "out_of_range"),
        (w + d, "misled_by_cue"),
        (Fraction(area, d), "arithmetic"),
        (2 * w + d, "arithmetic"),
    ]
    return Draft(told.text, answer, rules, lures)


_RADICAL = (
    r"Find all real numbers $x$ such that $\sqrt{<inside>} = x - <b>$.",
    r"Solve the equation $\sqrt{<inside>} = x - <b>$ in real numbers.",
    r"A real number $x$ exceeds $\sqrt{<inside>}$ by exactly $<b>$. What is $x$?",
    r"<name> squares both sides of $\sqrt{<inside>} = x - <b>$ and solves what comes out. Which "
    r"real $x$ solves the equation that <name> began with?",
    r"The graphs of $y = \sqrt{<inside>}$ and $y = x - <b>$ meet in a single point. Find the "
    r"$x$-coordinate of that point.",
)
_LOGARITHM = (
    r"Find every real $x$ with $\log_{<base>} x + \log_{<base>}(x - <b>) = <k>$.",
    r"Solve $\log_{<base>}(x - <b>) = <k> - \log_{<base>} x$ over the real numbers.",
    r"<name> rewrites $\log_{<base>} x + \log_{<base>}(x - <b>) = <k>$ as a quadratic equation. "
    r"Which real $x$ solves the equation that <name> began with?",
    r"For which real number $x$ do $\log_{<base>} x$ and $\log_{<base>}(x - <b>)$ add up to $<k>$?",
)


@family("implicit", ("bound", "structure"), "the one valid root; the other is spurious")
def spurious_root(rng: Random, level: Level) -> Draft | None:
    """Ask for the solution of an equation that gains a false root when it is simplified."""
    if level == 3:
        return _logarithm(rng)
    good, gap = rng.randrange(4, 14 + 20 * level), rng.randrange(1, 10)
    b = good - gap
    slope = 1 if level == 1 else rng.randrange(2, 6)
    other = 2 * b + slope - good  # the sum of the roots of (x - b)^2 = slope x + constant
    constant = gap * gap - slope * good
    if b < 1 or other >= b or constant == 0 or slope * other + constant < 0:
        return None
    solutions = [x for x in range(b, good + 60) if slope * x + constant == (x - b) ** 2]
    agree(solutions, [max(good, other)])
    inside = f"{'' if slope == 1 else slope}x {'+' if constant > 0 else '-'} {abs(constant)}"
    told = tell(rng, _RADICAL, inside=inside, b=b, name=rng.choice(NAMES))
    coefficients = (1, -2 * b - slope, b * b - constant)
    return _one_root(told.text, good, other, b, coefficients)


def _logarithm(rng: Random) -> Draft | None:
    base = rng.choice((2, 3, 4, 5, 6, 7, 8, 10, 12))
    power = rng.randrange(2, 11 if base == 2 else 5)
    target = base**power
    good = rng.choice([x for x in range(2, target + 1) if target % x == 0])
    b = good - target // good
    if b < 1 or target > 3000:
        return None
    solutions = [x for x in range(b + 1, target + 1) if x * (x - b) == target]
    agree(solutions, [(b + isqrt(b * b + 4 * target)) // 2])
    told = tell(rng, _LOGARITHM, base=base, b=b, k=power, name=rng.choice(NAMES))
    return _one_root(told.text, good, b - good, b, (1, -b, -target))


def _one_root(
    text: str, good: int, other: int, b: int, coefficients: tuple[int, int, int]
) -> Draft:
    rules = [
        gold("bound", f"both sides exist only for x of at least {b}", at_least(b)),
        gold(
            "structure",
            "x satisfies the equation after it is cleared of roots or logarithms",
            root(*coefficients),
        ),
    ]
    lures: Lures = [
        (other, "out_of_range"),
        (good + other, "other"),
        (good + b, "arithmetic"),
        (good - b, "arithmetic"),
    ]
    return Draft(text, good, rules, lures)


_TRIANGLE = (
    r"Two sides of a triangle have lengths $<a>$ and $<b>$, and the third side has integer length. "
    r"What is the <most> possible perimeter?",
    r"A triangle has integer side lengths, two of which are $<a>$ and $<b>$. Find the <most> value "
    r"that its perimeter can take.",
    r"<name> bends a wire into a triangle whose sides are whole numbers of centimetres. Two of "
    r"them measure $<a>$ and $<b>$ centimetres. How long, in centimetres, is the <most> wire "
    r"that <name> may have used?",
)


@family("implicit", ("domain", "bound"), "a perimeter that the triangle inequality limits")
def triangle_perimeter(rng: Random, level: Level) -> Draft:
    """Ask for an extreme perimeter; a degenerate triangle is the trap."""
    a, b = rng.randrange(4, 10 + 30 * level), rng.randrange(4, 10 + 30 * level)
    a, b = (a, b) if a != b else (a, b + 1)
    largest = rng.choice((True, False))
    sides = [c for c in range(1, a + b + 1) if a + b > c and a + c > b and b + c > a]
    third = agree(max(sides) if largest else min(sides), a + b - 1 if largest else abs(a - b) + 1)
    flat = 2 * (a + b) if largest else 2 * max(a, b)
    words = ("greatest", "largest", "longest") if largest else ("least", "smallest", "shortest")
    wording = rng.randrange(3)
    told = tell(rng, (_TRIANGLE[wording],), a=a, b=b, most=words[wording], name=rng.choice(NAMES))
    limit = below(flat) if largest else above(flat)
    rules = [
        gold("bound", "the triangle is not degenerate", limit),
        gold("domain", "the perimeter is a positive integer", all_of(integer(), above(0))),
    ]
    lures: Lures = [
        (flat, "out_of_range"),
        (third, "encoded_form_not_applied"),
        (f"{flat - 1}.9" if largest else f"{flat}.1", "not_an_integer"),
        (flat + 1 if largest else flat - 1, "out_of_range"),
        (a + b + rng.choice((a, b)), "arithmetic"),
    ]
    return Draft(told.text, a + b + third, rules, lures)


FAMILIES = (union_probability, positive_length, spurious_root, triangle_perimeter)
