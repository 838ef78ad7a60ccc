"""Joint tier, factors: a divisor or a square that a window and one more condition single out."""

from __future__ import annotations

from math import isqrt
from random import Random

from cfr.benchmark.constraintbench.families.phrase import NAMES, tell
from cfr.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from cfr.benchmark.constraintbench.item import Level
from cfr.constraint.demand import (
    between,
    congruent,
    divides,
    parity,
    square,
)

__all__ = ["FAMILIES"]

_DIVISOR = (
    r"Find the only «parity:<which>» divisor of $<n>$ that lies «range:strictly between $<low>$ "
    r"and $<high>$».",
    r"Exactly one positive divisor of $<n>$ is «parity:<which>», «range:greater than $<low>$ and "
    r"less than $<high>$». What is it?",
    r"<name> arranges $<n>$ chairs in equal rows. The number of rows is «parity:<which>», and "
    r"there are «range:more than $<low>$ but fewer than $<high>$» of them. How many rows are "
    r"there?",
)


@family("joint", ("parity", "bound", "structure"), "a divisor of one parity inside a window")
def divisor_window(rng: Random, level: Level) -> Draft | None:
    """Ask for the one divisor that has a parity and lies in a window."""
    factors = ((6, 10, 12), (12, 18, 20, 30), (30, 36, 42, 60))[level - 1]
    n = rng.randrange(4, 30) * rng.choice(factors)
    divisors = [d for d in range(1, n + 1) if n % d == 0]
    place = rng.randrange(1, len(divisors) - 1)
    answer, rival = divisors[place], divisors[place + rng.choice((-1, 1))]
    odd = answer % 2 == 1
    alike = [d for d in divisors if d % 2 == answer % 2]
    below = max((d for d in alike if d < answer), default=1)
    above = min((d for d in alike if d > answer), default=n)
    if rival % 2 == answer % 2 or not below < rival < above:
        return None
    # Any window around answer and rival that stops short of the next divisors of the same parity.
    low = rng.randrange(max(below, min(answer, rival) - 8 * level), min(answer, rival))
    high = rng.randrange(max(answer, rival) + 1, min(above, max(answer, rival) + 8 * level) + 1)
    which = "odd" if odd else "even"
    agree(answer, _by_pairs(n, low, high, odd))
    told = tell(rng, _DIVISOR, which=which, n=n, low=low, high=high, name=rng.choice(NAMES))
    rules = [
        gold("structure", f"the answer divides {n}", divides(n)),
        gold("parity", f"the answer is {which}", parity(which), told.span("parity")),
        gold(
            "bound",
            f"the answer lies strictly between {low} and {high}",
            between(low + 1, high - 1),
            told.span("range"),
        ),
    ]
    misses = [d for d in range(low + 1, high) if n % d and d % 2 == answer % 2]
    lures: Lures = [
        (rival, "ignored_parity"),
        *((d, "out_of_range") for d in alike if not low < d < high and d in (below, above)),
        *((d, "arithmetic") for d in misses[:2]),
        (answer + n, "out_of_range"),
    ]
    return Draft(told.text, answer, rules, lures)


def _by_pairs(n: int, low: int, high: int, odd: bool) -> int:
    """Find the divisor from the pairs below and above the root of n."""
    pairs = [(d, n // d) for d in range(1, isqrt(n) + 1) if n % d == 0]
    found = {d for pair in pairs for d in pair if low < d < high and (d % 2 == 1) == odd}
    return found.pop() if len(found) == 1 else -1


_SQUARE = (
    r"Find the perfect square «range:between $<low>$ and $<high>$» that «mod:leaves remainder "
    r"$<r>$ when divided by $<m>$».",
    r"Which «range:integer from $<low>$ to $<high>$» is the square of an integer and "
    r"«mod:congruent to $<r>$ modulo $<m>$»?",
    r"A square parade ground is paved with equal square slabs. «range:At least "
    r"$<low>$ and at most $<high>$ slabs» were used, and «mod:when they were delivered in "
    r"pallets of $<m>$, the last one was not full: it held $<r>$». How many slabs were used?",
)


@family("joint", ("modular", "bound", "structure"), "a perfect square in a range with a remainder")
def square_residue(rng: Random, level: Level) -> Draft | None:
    """Ask for the one perfect square of a range that leaves a remainder."""
    m, s = rng.randrange(5, 16), rng.randrange(4, 8 + 8 * level)
    answer = s * s
    low, high = answer - rng.randrange(5, 20 * s), answer + rng.randrange(5, 20 * s)
    r = answer % m
    squares = [k * k for k in range(1, s + 40) if low <= k * k <= high]
    fits = [n for n in squares if n % m == r]
    if low < 2 or r == 0 or fits != [answer] or len(squares) < 2:
        return None
    agree(fits, [n for n in range(low + (r - low) % m, high + 1, m) if isqrt(n) ** 2 == n])
    told = tell(rng, _SQUARE, low=low, high=high, m=m, r=r)
    rules = [
        gold("structure", "the answer is a perfect square", square()),
        gold(
            "bound", f"the answer lies from {low} to {high}", between(low, high), told.span("range")
        ),
        gold(
            "modular",
            f"the answer leaves {r} on division by {m}",
            congruent(r, m),
            told.span("mod"),
        ),
    ]
    beyond = next(
        (k * k for k in range(s + 1, s + 60) if k * k > high and k * k % m == r), high + m
    )
    lures: Lures = [
        (next(n for n in squares if n != answer), "forgot_modular_reduction"),
        (beyond, "out_of_range"),
        (s, "encoded_form_not_applied"),
        (answer + m if answer + m <= high else answer - m, "arithmetic"),
    ]
    return Draft(told.text, answer, rules, lures)


FAMILIES = (divisor_window, square_residue)
