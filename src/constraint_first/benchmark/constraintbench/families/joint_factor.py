"""Joint tier, factors: a divisor that two more conditions single out."""

from __future__ import annotations

from math import isqrt
from random import Random

from constraint_first.benchmark.constraintbench.families.phrase import NAMES, tell
from constraint_first.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from constraint_first.benchmark.constraintbench.item import Level
from constraint_first.constraint.demand import between, divides, parity

__all__ = ["FAMILIES"]

_DIVISOR = (
    r"Find the only «parity:<which>» «divisor:divisor of $<n>$» that lies «range:strictly between "
    r"$<low>$ and $<high>$».",
    r"Exactly one «divisor:positive divisor of $<n>$» is «parity:<which>», «range:greater than "
    r"$<low>$ and less than $<high>$». What is it?",
    r"<name> «divisor:arranges $<n>$ chairs in equal rows». The number of rows is "
    r"«parity:<which>», and there are «range:more than $<low>$ but fewer than $<high>$» of them. "
    r"How many rows are there?",
    r"How many children are there if «divisor:$<n>$ sweets can be shared equally among them with "
    r"none left», their number is «parity:<which>», and there are «range:more than $<low>$ and "
    r"fewer than $<high>$» of them?",
    r"A number «divisor:divides $<n>$». It is «range:larger than $<low>$ and smaller than "
    r"$<high>$», and it is «parity:<which>». Which number is it?",
    r"«divisor:A rope of $<n>$ metres is cut into equal pieces, each a whole number of metres "
    r"long.» The length of a piece in metres is «parity:an <which> number» «range:over $<low>$ "
    r"and under $<high>$». How many metres long is a piece?",
    r"<name> packs «divisor:$<n>$ books into boxes, the same number into each». This number is "
    r"«range:between $<low>$ and $<high>$», neither of the two included, and it is "
    r"«parity:<which>». How many books go into a box?",
    r"Which «parity:<which>» number «range:above $<low>$ and below $<high>$» «divisor:goes into "
    r"$<n>$ without remainder»?",
)


@family("joint", ("parity", "bound", "structure"), "a divisor of one parity inside a window")
def divisor_window(rng: Random, level: Level) -> Draft | None:
    """Ask for the one divisor that has a parity and lies in a window."""
    answer = rng.randrange(*((8, 49), (12, 80), (20, 120))[level - 1])
    odd = answer % 2 == 1
    # Many windows are tried for one answer, so that no answer is likelier than another.
    cases = (_window(rng, level, answer) for _ in range(60))
    if (case := next(filter(None, cases), None)) is None:
        return None
    n, low, high = case
    divisors = [d for d in range(1, n + 1) if n % d == 0]
    inside = [d for d in divisors if low < d < high]
    outside = [d for d in divisors if d % 2 == answer % 2 and d not in inside]
    misses = [d for d in range(low + 1, high) if n % d and d % 2 == answer % 2]
    agree(answer, _by_pairs(n, low, high, odd))
    which = "odd" if odd else "even"
    told = tell(rng, _DIVISOR, which=which, n=n, low=low, high=high, name=rng.choice(NAMES))
    rules = [
        gold("structure", f"the answer divides {n}", divides(n), told.span("divisor")),
        gold("parity", f"the answer is {which}", parity(which), told.span("parity")),
        gold(
            "bound",
            f"the answer lies strictly between {low} and {high}",
            between(low + 1, high - 1),
            told.span("range"),
        ),
    ]
    lures: Lures = [
        *((d, "ignored_parity") for d in inside if d != answer),
        *((d, "out_of_range") for d in outside[-2:]),
        *((d, "arithmetic") for d in misses[:3]),
        (n // answer, "encoded_form_not_applied"),
    ]
    return Draft(told.text, answer, rules, lures[:10])


def _window(rng: Random, level: Level, answer: int) -> tuple[int, int, int] | None:
    """Draw a number and a window in which each of the three conditions rules something out."""
    factors = ((2, 3, 4, 6, 10), (2, 4, 6, 10, 12), (6, 10, 12, 14, 18))[level - 1]
    n = answer * rng.choice(factors)
    reach = (11, 16, 24)[level - 1]
    low, high = answer - rng.randrange(2, reach), answer + rng.randrange(2, reach)
    inside = [d for d in range(max(low, 0) + 1, high) if n % d == 0]
    alike = [d for d in range(low + 1, high) if d % 2 == answer % 2]
    outside = [d for d in range(1, n + 1) if n % d == 0 and d % 2 == answer % 2 and d not in inside]
    alone = [d for d in inside if d in alike] == [answer]
    return (
        (n, low, high) if low > 0 and alone and inside[1:] and alike[level:] and outside else None
    )


def _by_pairs(n: int, low: int, high: int, odd: bool) -> int:
    """Find the divisor from the pairs below and above the root of n."""
    pairs = [(d, n // d) for d in range(1, isqrt(n) + 1) if n % d == 0]
    found = {d for pair in pairs for d in pair if low < d < high and (d % 2 == 1) == odd}
    return found.pop() if len(found) == 1 else -1


FAMILIES = (divisor_window,)
