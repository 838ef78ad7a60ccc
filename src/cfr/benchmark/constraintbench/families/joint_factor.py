"""Joint tier, factors: a divisor or a square that two more conditions single out."""

from __future__ import annotations

from math import isqrt
from random import Random

from cfr.benchmark.constraintbench.families.phrase import NAMES, tell
from cfr.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from cfr.benchmark.constraintbench.item import Level
from cfr.constraint.demand import between, congruent, divides, parity, square

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


_SQUARE = (
    r"Find the «square:perfect square» «range:between $<low>$ and $<high>$» that «mod:leaves "
    r"remainder $<r>$ when divided by $<m>$».",
    r"Which «range:integer from $<low>$ to $<high>$» is «square:the square of an integer» and "
    r"«mod:congruent to $<r>$ modulo $<m>$»?",
    r"A «square:square parade ground» is paved with equal square slabs. «range:At least $<low>$ "
    r"and at most $<high>$ slabs» were used, and «mod:when they were delivered in pallets of "
    r"$<m>$, the last one was not full: it held <held>». How many slabs were used?",
    r"<name>'s stamps fill «square:a square, with as many rows as columns». «mod:Put on sheets of "
    r"$<m>$, they leave <held> over.» There are «range:more than $<low>$ and fewer than $<high>$» "
    r"of them. How many stamps are there?",
    r"How many soldiers are in a company that can stand «square:in a square formation», has "
    r"«range:between $<low>$ and $<high>$» soldiers, and «mod:leaves <held> over when it forms "
    r"rows of $<m>$»?",
    r"«mod:Divided by $<m>$, a number leaves $<r>$.» It is «square:a square number», and it lies "
    r"«range:between $<low>$ and $<high>$». What is the number?",
    r"<name> writes down all «square:square numbers» «range:from $<low>$ to $<high>$» and keeps "
    r"the only one that «mod:is $<r>$ more than a multiple of $<m>$». Which one is it?",
    r"The trees of an orchard stand «square:in equally many rows and columns». Their number is "
    r"«range:over $<low>$ but under $<high>$», and «mod:in groups of $<m>$ there would be <held> "
    r"left over». Find the number of trees.",
)


@family("joint", ("modular", "bound", "structure"), "a perfect square in a range with a remainder")
def square_residue(rng: Random, level: Level) -> Draft | None:
    """Ask for the one perfect square of a range that leaves a remainder."""
    m = rng.choice(((3, 4, 5, 10), (4, 5, 7, 10), (6, 7, 8, 9, 11))[level - 1])
    s = rng.randrange(*((3, 33), (15, 45), (30, 70))[level - 1])
    answer = s * s
    low, high = (
        answer - rng.randrange(3, (2 + level) * s),
        answer + rng.randrange(3, (2 + level) * s),
    )
    r = answer % m
    squares = [k * k for k in range(1, s + 40) if low <= k * k <= high]
    fits = [n for n in squares if n % m == r]
    if (
        low < 2
        or r == 0
        or fits != [answer]
        or not max(2, level) <= len(squares) < (3, 5, 7)[level - 1]
    ):
        return None
    agree(fits, [n for n in range(low + (r - low) % m, high + 1, m) if isqrt(n) ** 2 == n])
    told = tell(rng, _SQUARE, low=low, high=high, m=m, r=r, held=f"${r}$", name=rng.choice(NAMES))
    rules = [
        gold("structure", "the answer is a perfect square", square(), told.span("square")),
        gold(
            "bound", f"the answer lies from {low} to {high}", between(low, high), told.span("range")
        ),
        gold("modular", f"it leaves {r} on division by {m}", congruent(r, m), told.span("mod")),
    ]
    beyond = next(
        (k * k for k in range(s + 1, s + 90) if k * k > high and k * k % m == r), high + m
    )
    lures: Lures = [
        *((n, "broken_condition") for n in squares if n != answer),
        (beyond, "out_of_range"),
        (s, "encoded_form_not_applied"),
        (answer + m, "arithmetic"),
        (answer - m, "arithmetic"),
        (low + (r - low) % m, "arithmetic"),
    ]
    return Draft(told.text, answer, rules, lures[:10])


FAMILIES = (
    divisor_window,
    square_residue,
)
