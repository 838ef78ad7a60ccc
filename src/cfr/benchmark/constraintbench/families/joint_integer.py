"""Joint tier, integers: two or three plain conditions that only one number meets together."""

from __future__ import annotations

from math import lcm
from random import Random

from cfr.benchmark.constraintbench.families.phrase import NAMES, tell
from cfr.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from cfr.benchmark.constraintbench.item import Level
from cfr.constraint.demand import (
    all_of,
    below,
    between,
    congruent,
    digit_sum,
    digits_ordered,
    divisible,
    integer,
    parity,
)

__all__ = ["FAMILIES"]

_TWO_REMAINDERS = (
    r"An integer «range:between $<low>$ and $<high>$» «one:leaves remainder $<a>$ when divided by "
    r"$<p>$» and «two:remainder $<b>$ when divided by $<q>$». Find the integer.",
    r"<name>'s herd has «range:at least $<low>$ and at most $<high>$ sheep». «one:Counted off in "
    r"groups of $<p>$, <first> left over»; «two:in groups of $<q>$, <second> left over». How "
    r"many sheep are there?",
    r"Find the number $n$ with «range:$<low> \le n \le <high>$» such that «one:$n \equiv <a> "
    r"\pmod{<p>}$» and «two:$n \equiv <b> \pmod{<q>}$».",
)


@family("joint", ("modular", "bound"), "two remainders and a range")
def two_remainders(rng: Random, level: Level) -> Draft | None:
    """Ask for the one number of a range that leaves two given remainders."""
    p, q = rng.sample(((3, 4, 5, 7), (5, 6, 7, 8, 9, 11), (7, 8, 9, 10, 11, 13))[level - 1], 2)
    if lcm(p, q) != p * q:
        return None
    n = p * q + rng.randrange(p * q * level)
    low = n - rng.randrange(2, p * q - 2)
    high = low + p * q - 1
    a, b = n % p, n % q
    listed = [k for k in range(low, high + 1) if k % p == a and k % q == b]
    least = (a * q * pow(q, -1, p) + b * p * pow(p, -1, q)) % (p * q)
    answer = agree(listed, [least + p * q * -(-(low - least) // (p * q))])[0]
    if min(a, b) == 0 or answer in (low, high):  # the range may be read with or without its ends
        return None
    told = tell(
        rng,
        _TWO_REMAINDERS,
        low=low,
        high=high,
        p=p,
        q=q,
        a=a,
        b=b,
        name=rng.choice(NAMES),
        first=f"${a}$ {'is' if a == 1 else 'are'}",
        second=f"${b}$ {'is' if b == 1 else 'are'}",
    )
    rules = [
        gold(
            "bound",
            f"the number lies from {low} to {high}",
            all_of(integer(), between(low, high)),
            told.span("range"),
        ),
        gold(
            "modular",
            f"it leaves the remainder {a} on division by {p}",
            congruent(a, p),
            told.span("one"),
        ),
        gold(
            "modular",
            f"it leaves the remainder {b} on division by {q}",
            congruent(b, q),
            told.span("two"),
        ),
    ]
    lures: Lures = [
        (least, "out_of_range"),
        (answer + p * q, "out_of_range"),
        (next(k for k in range(low, high) if k % p == a), "forgot_modular_reduction"),
        (next(k for k in range(low, high) if k % q == b), "forgot_modular_reduction"),
        (answer + p, "forgot_modular_reduction"),
        (answer - q, "forgot_modular_reduction"),
    ]
    return Draft(told.text, answer, rules, lures)


_LARGEST = (
    r"Find the largest «parity:<which>» multiple of $<k>$ that is «bound:less than $<high>$».",
    r"What is the greatest «parity:<which>» number «bound:below $<high>$» that is divisible by "
    r"$<k>$?",
    r"<name> wants the biggest possible number that is «parity:<which>», is a multiple of $<k>$ "
    r"and is «bound:smaller than $<high>$». Which number is it?",
)


@family("joint", ("modular", "parity", "bound"), "the largest odd (even) multiple below a bound")
def largest_multiple(rng: Random, level: Level) -> Draft | None:
    """Ask for an extreme number under parity, divisibility and a bound."""
    k = rng.choice(((3, 5, 7, 9, 11), (7, 9, 11, 13, 15, 17), (17, 19, 21, 23, 27, 29))[level - 1])
    high = rng.randrange(60, 150 * level * level)
    which = rng.choice(("odd", "even"))
    odd = which == "odd"
    top = (high - 1) // k
    by_quotient = k * (top if (top % 2 == 1) == odd else top - 1)
    by_descent = next(n for n in range(high - 1, 0, -1) if n % k == 0 and (n % 2 == 1) == odd)
    answer = agree(by_quotient, by_descent)
    if by_quotient == k * top:  # parity must cost something, or it would not be a constraint
        return None
    told = tell(rng, _LARGEST, which=which, k=k, high=high, name=rng.choice(NAMES))
    rules = [
        gold("parity", f"the answer is {which}", parity(which), told.span("parity")),
        gold("modular", f"the answer is a multiple of {k}", divisible(k)),
        gold("bound", f"the answer is less than {high}", below(high), told.span("bound")),
    ]
    largest_of_parity = high - 1 if ((high - 1) % 2 == 1) == odd else high - 2
    lures: Lures = [
        (k * top, "ignored_parity"),
        (answer + 2 * k, "out_of_range"),
        (largest_of_parity, "forgot_modular_reduction"),
        (answer - 2 * k, "arithmetic"),
    ]
    return Draft(told.text, answer, rules, lures)


_ORDERED = (
    r"The digits of «size:a <size>-digit number» «order:<order> strictly from left to right», «sum:"
    r"their sum is $<s>$», and the number «mod:leaves remainder $<r>$ on division by $<m>$». Find "
    r"the number.",
    r"<name> thinks of «size:a <size>-digit number» whose «order:digits strictly <order> from left "
    r"to right». «sum:Its digits add up to $<s>$», and «mod:dividing it by $<m>$ leaves $<r>$». "
    r"Which number is it?",
    r"What is the only «size:<size>-digit number» with digit sum «sum:$<s>$», «order:every digit "
    r"being <than> the one before it», that is «mod:congruent to $<r>$ modulo $<m>$»?",
)


@family(
    "joint",
    ("modular", "bound", "monotonic", "structure"),
    "digits in order, a digit sum and a remainder",
)
def ordered_digits(rng: Random, level: Level) -> Draft | None:
    """Ask for a number with ordered digits, a digit sum and a remainder."""
    size = 2 if level == 1 else 3
    low, high = 10 ** (size - 1), 10**size - 1
    rising = rng.choice((True, False))
    digits = sorted(rng.sample(range(1, 10), size), reverse=not rising)
    number = int("".join(map(str, digits)))
    # At the first level the remainder all but tells the last digit.
    m, s = rng.choice((5, 10)) if level == 1 else rng.randrange(4, 14), sum(digits)
    r = number % m
    meets_order = [n for n in range(low, high + 1) if _in_order(n, rising)]
    fits = [n for n in meets_order if sum(map(int, str(n))) == s and n % m == r]
    rivals = [n for n in meets_order if sum(map(int, str(n))) == s and n != number]
    if r == 0 or fits != [number] or len(rivals) < level:
        return None
    answer = agree(number, _by_digits(size, rising, s, r, m))
    order = "increase" if rising else "decrease"
    told = tell(
        rng,
        _ORDERED,
        size="two" if size == 2 else "three",
        order=order,
        s=s,
        m=m,
        r=r,
        than="greater than" if rising else "less than",
        name=rng.choice(NAMES),
    )
    rules = [
        gold("bound", f"the number has {size} digits", between(low, high), told.span("size")),
        gold(
            "monotonic",
            f"its digits strictly {order} from left to right",
            digits_ordered("increasing" if rising else "decreasing"),
            told.span("order"),
        ),
        gold("structure", f"its digits add up to {s}", digit_sum(s), told.span("sum")),
        gold("modular", f"it leaves {r} on division by {m}", congruent(r, m), told.span("mod")),
    ]
    lures: Lures = [
        (rivals[0], "forgot_modular_reduction"),
        (int(str(number)[::-1]), "misled_by_cue"),
        (number + m, "arithmetic"),
        (high + 1 + (r - high - 1) % m, "out_of_range"),
    ]
    return Draft(told.text, answer, rules, lures)


def _in_order(number: int, rising: bool) -> bool:
    digits = list(str(number))
    return len(set(digits)) == len(digits) and digits == sorted(digits, reverse=not rising)


def _by_digits(size: int, rising: bool, s: int, r: int, m: int) -> int:
    """Build the numbers digit by digit from the right instead of testing them all."""
    found: list[int] = []

    def extend(digits: tuple[int, ...]) -> None:
        if len(digits) == size:
            value = sum(d * 10**i for i, d in enumerate(digits))
            found.extend([value] if sum(digits) == s and value % m == r and digits[-1] else [])
            return
        for d in range(10):
            if not digits or (d < digits[-1] if rising else d > digits[-1]):
                extend((*digits, d))

    extend(())
    return found[0] if len(found) == 1 else -1


FAMILIES = (two_remainders, largest_multiple, ordered_digits)
