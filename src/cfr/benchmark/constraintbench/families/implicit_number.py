"""Implicit tier, whole numbers: last digits, vehicles, digits, clocks. The reader must infer it."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from cfr.benchmark.constraintbench.families.phrase import NAMES, plural, tell
from cfr.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from cfr.benchmark.constraintbench.item import Level
from cfr.constraint.demand import all_of, at_least, between, integer, least_residue

__all__ = ["FAMILIES"]

_LAST = (
    r"Find the last <word> digits of $<expr>$.",
    r"What are the final <word> digits of $<expr>$? Give them as one number.",
    r"<name> writes out $<expr>$ in full and covers all but the last <word> digits. Which "
    r"<word>-digit number can still be seen?",
    r"The product $<expr>$ is written in base ten. Which number do its last <word> digits form?",
)


@family("implicit", ("modular",), "last digits: a remainder without the word")
def last_digits(rng: Random, level: Level) -> Draft | None:
    """Ask for the last digits of a product (the paper's edge case E1)."""
    places = 3 if level == 3 else 2
    modulus = 10**places
    if level == 1:
        factors = [rng.randrange(12, 60), rng.randrange(12, 60)]
    elif level == 2:
        factors = [rng.randrange(101, 999), rng.randrange(12, 99)]
    else:
        factors = [rng.randrange(12, 60) for _ in range(3)]
    number, stepwise = 1, 1
    for factor in factors:
        number, stepwise = number * factor, stepwise * factor % modulus
    answer = agree(int(str(number)[-places:]), stepwise)
    if answer < modulus // 10 or number < modulus:  # a leading zero would make the form disputable
        return None
    word = "three" if places == 3 else "two"
    expr = r" \cdot ".join(map(str, factors))
    told = tell(rng, _LAST, word=word, expr=expr, name=rng.choice(NAMES))
    rule = gold(
        "modular",
        f"only the last {word} digits count: the number modulo {modulus}",
        least_residue(modulus),
    )
    lures: Lures = [
        (number, "forgot_modular_reduction"),
        (number % (modulus * 10), "forgot_modular_reduction"),
        (int(str(number)[:places]), "misled_by_cue"),
        (number % (modulus // 10), "out_of_range"),
    ]
    return Draft(told.text, answer, [rule], lures)


_VEHICLES = (
    r"A school of $<n>$ pupils goes to the theatre in coaches that seat $<c>$ each. What is the "
    r"fewest coaches that will do?",
    r"<name> packs $<n>$ jars into boxes that hold $<c>$ jars each. How many boxes are needed so "
    r"that every jar is packed?",
    r"Tiles are sold in packs of $<c>$, and a floor takes $<n>$ of them. How many packs must be "
    r"bought?",
    r"A ferry takes $<c>$ cars on each trip to an island, and $<n>$ cars are waiting to go "
    r"there. How many trips to the island must it make?",
)
_TWO_GROUPS = (
    r"A camp has $<n>$ children and $<k>$ adults. They sleep in cabins of $<c>$ beds. How many "
    r"cabins are needed if children and adults may share a cabin?",
    r"For a concert, $<n>$ chairs are fetched from the hall and $<k>$ from the cellar, on trolleys "
    r"that carry $<c>$ chairs each. All the chairs are gathered first and then loaded. What is the "
    r"least number of trolley loads?",
    r"<name> has $<n>$ family photographs and $<k>$ holiday photographs to put into albums with "
    r"room for $<c>$ photographs each. How many albums does <name> need at least?",
)


@family("implicit", ("domain", "bound"), "a count of vehicles or boxes that has to be rounded up")
def enough_vehicles(rng: Random, level: Level) -> Draft | None:
    """Ask for a number of containers: a whole one, and enough of them."""
    c = rng.randrange(7, 15 + 15 * level)
    n = rng.randrange(60, (200, 700, 900)[level - 1])
    k = rng.randrange(10, 400) if level == 3 else 0
    total = n + k
    if total % c == 0:
        return None
    needed = 0
    while needed * c < total:
        needed += 1
    answer = agree(needed, -(-total // c))
    told = tell(rng, _TWO_GROUPS if k else _VEHICLES, n=n, k=k, c=c, name=rng.choice(NAMES))
    rules = [
        gold("domain", "the answer is a count of things, a whole number", integer()),
        gold("bound", f"there must be room for all {total}", at_least(Fraction(total, c))),
    ]
    lures: Lures = [
        (Fraction(total, c), "not_an_integer"),
        (total // c, "out_of_range"),
        (total % c, "misled_by_cue"),
        (-(-n // c) + -(-k // c), "arithmetic"),
    ]
    return Draft(told.text, answer, rules, lures)


_DIGIT = (
    r"The number $<pattern>$, in which $d$ stands for a digit, is divisible by $<m>$. Find $d$.",
    r"One digit of a number is smudged: $<pattern>$, where $d$ is the unreadable digit. The number "
    r"is known to be a multiple of $<m>$. What is $d$?",
    r"<name> recalls that the code $<pattern>$ is a multiple of $<m>$ but has forgotten the digit "
    r"$d$. Which digit is it?",
)


@family("implicit", ("domain",), "a missing digit of a multiple: it is one of 0 to 9")
def missing_digit(rng: Random, level: Level) -> Draft | None:
    """Ask for a digit that makes a number divisible by 9, by 11, or by both parts of 99."""
    m = (9, 11, 99)[level - 1]
    length = rng.randrange(3, 5) + level
    place = rng.randrange(1, length)
    digits = [rng.randrange(1, 10)] + [rng.randrange(10) for _ in range(length - 1)]
    fits = [d for d in range(10) if _number(digits, place, d) % m == 0]
    if len(fits) != 1:
        return None
    answer = agree(fits[0], _digit_by_weights(digits, place, m))
    rest = sum(digits) - digits[place]
    pattern = r"\,".join([*map(str, digits[:place]), "d", *map(str, digits[place + 1 :])])
    told = tell(rng, _DIGIT, pattern=rf"\overline{{{pattern}}}", m=m, name=rng.choice(NAMES))
    rule = gold(
        "domain", "the answer is a digit, an integer from 0 to 9", all_of(integer(), between(0, 9))
    )
    lures: Lures = [
        (_number(digits, place, answer), "encoded_form_not_applied"),
        (answer + m, "out_of_range"),
        (-rest % 3 if m == 9 else rest % 10, "arithmetic"),
        (answer - m, "out_of_range"),
        (rest % 9, "arithmetic"),
    ]
    return Draft(told.text, answer, [rule], lures)


def _number(digits: list[int], place: int, digit: int) -> int:
    return int("".join(map(str, [*digits[:place], digit, *digits[place + 1 :]])))


def _digit_by_weights(digits: list[int], place: int, m: int) -> int:
    """Solve for the digit from the weights of the places, without writing the number out."""
    weights = [pow(10, len(digits) - 1 - i, m) for i in range(len(digits))]
    rest = sum(w * d for i, (w, d) in enumerate(zip(weights, digits, strict=True)) if i != place)
    return -rest * pow(weights[place], -1, m) % m


_CLOCK = (
    r"A twelve-hour wall clock shows exactly $<h>$ o'clock. What hour does it show <hours> later?",
    r"It is $<h>$ o'clock by <name>'s wristwatch, which has the usual dial numbered $1$ to $12$. "
    r"To which number will the hour hand point <hours> from now?",
    r"The hour hand of a clock with a dial marked $1$ to $12$ points at $<h>$. After <hours> have "
    r"passed, at which mark does it point?",
)


@family("implicit", ("modular",), "the hour on a twelve-hour dial after a long time")
def clock_hour(rng: Random, level: Level) -> Draft | None:
    """Ask for an hour on a dial, so for a remainder that is never named."""
    h = rng.randrange(1, 13)
    days = 0 if level < 3 else rng.randrange(2, 30)
    hours = rng.randrange(14, 60) if level == 1 else rng.randrange(15, 900)
    hours = hours if level < 3 else rng.randrange(5, 24)
    total = 24 * days + hours
    walked = h
    for _ in range(total):
        walked = walked % 12 + 1
    answer = agree(walked, (h + total - 1) % 12 + 1)
    if answer == 12:  # a dial shows 12 where a remainder is 0; both would be defended
        return None
    waiting = plural(hours, "hour")
    waiting = f"{plural(days, 'day')} and {waiting}" if days else waiting
    told = tell(rng, _CLOCK, h=h, hours=waiting, name=rng.choice(NAMES))
    rule = gold(
        "modular",
        "the answer is a mark on the dial, an integer from 1 to 12",
        all_of(integer(), between(1, 12)),
    )
    lures: Lures = [
        (h + total, "forgot_modular_reduction"),
        ((h + total) % 24, "forgot_modular_reduction"),
        (total % 12, "arithmetic"),
        ((h - total) % 12, "arithmetic"),
    ]
    return Draft(told.text, answer, [rule], lures)


FAMILIES = (last_digits, enough_vehicles, missing_digit, clock_hour)
