"""Joint tier, multiples: a multiple that a bound, a parity or another divisor singles out."""

from __future__ import annotations

from math import lcm
from random import Random

from constraint_first.benchmark.constraintbench.families.phrase import NAMES, listed, tell
from constraint_first.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from constraint_first.benchmark.constraintbench.item import Level
from constraint_first.constraint.demand import (
    at_least,
    below,
    between,
    congruent,
    divisible,
    parity,
)

__all__ = ["FAMILIES"]

_LARGEST = (
    r"Find the largest «parity:<which>» «mult:multiple of $<k>$» that is «bound:less than "
    r"$<high>$».",
    r"What is the greatest «parity:<which>» number «bound:below $<high>$» that is «mult:divisible "
    r"by $<k>$»?",
    r"<name> wants the biggest possible number that is «parity:<which>», is «mult:a multiple of "
    r"$<k>$» and is «bound:smaller than $<high>$». Which number is it?",
    r"A kiosk sells stickers only «mult:in sheets of $<k>$». <name> wants «parity:an <which> "
    r"number» of stickers, as many as possible but «bound:fewer than $<high>$». How many stickers "
    r"does <name> buy?",
    r"Among the numbers «bound:under $<high>$», which is the largest that is both «parity:<which>» "
    r"and «mult:a multiple of $<k>$»?",
    r"How many chairs can be set up at most if «mult:they stand in full rows of $<k>$», their "
    r"number is «parity:<which>», and there are «bound:fewer than $<high>$ of them»?",
    r"<name> «mult:counts in steps of $<k>$, beginning with $<k>$ itself», and stops at the last "
    r"«parity:<which>» number «bound:before $<high>$». What number is this?",
    r"A code is «parity:an <which> number», «bound:less than $<high>$», and «mult:divisible by "
    r"$<k>$». No larger number has these properties. What is the code?",
)


@family("joint", ("modular", "parity", "bound"), "the largest odd (even) multiple below a bound")
def largest_multiple(rng: Random, level: Level) -> Draft | None:
    """Ask for an extreme number under parity, divisibility and a bound."""
    k = rng.choice(((3, 5, 7), (3, 5, 7, 9, 11), (7, 9, 11, 13))[level - 1])
    high = rng.randrange(*((18, 100), (80, 180), (181, 330))[level - 1])
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
        gold("modular", f"the answer is a multiple of {k}", divisible(k), told.span("mult")),
        gold("bound", f"the answer is less than {high}", below(high), told.span("bound")),
    ]
    lures: Lures = [
        (k * top, "ignored_parity"),
        (answer + 2 * k, "out_of_range"),
        (high - 1 if ((high - 1) % 2 == 1) == odd else high - 2, "broken_condition"),
        (high - 1, "broken_condition"),
        (answer - 2 * k, "arithmetic"),
        (answer - k, "ignored_parity"),
        (k * (top + 1), "out_of_range"),
        (top, "encoded_form_not_applied"),
    ]
    return Draft(told.text, answer, rules, lures)


_COMMON = (
    r"Which number «range:between $<low>$ and $<high>$» is «mult:a multiple of each of the numbers "
    r"<ks>»?",
    r"<name>'s marbles can be shared out «mult:equally among <or> friends», with none left over. "
    r"There are «range:more than $<low>$ and fewer than $<high>$» marbles. How many are there?",
    r"Find the number «range:greater than $<low>$ and less than $<high>$» that is «mult:divisible "
    r"by <ks>».",
    r"How many pupils has a school if they can be put «mult:into classes of <or> with nobody left "
    r"out», and their number is «range:over $<low>$ but under $<high>$»?",
    r"Lamps that «mult:blink every <ks> seconds, respectively,» start together at second $0$. At "
    r"which second «range:after second $<low>$ and before second $<high>$» do all of them blink "
    r"together?",
    r"«mult:Packed in boxes of <or>, the tins always fill the last box.» Their number is "
    r"«range:between $<low>$ and $<high>$». What is it?",
    r"«range:More than $<low>$ and less than $<high>$ metres» from the start of a road there is a "
    r"place whose distance from the start, in metres, «mult:is a multiple of each of the numbers "
    r"<ks>». How many metres from the start is it?",
    r"<name> is looking for a whole number that «mult:has each of <ks> as a divisor» and lies "
    r"«range:between $<low>$ and $<high>$». Which number fits?",
)


@family("joint", ("modular", "bound"), "a common multiple inside a window")
def common_multiple(rng: Random, level: Level) -> Draft | None:
    """Ask for the one common multiple in a window."""
    pool = ((2, 3, 4, 5, 6, 8, 9, 10), range(4, 12), (6, 8, 9, 10, 11, 12, 14, 15, 16, 18))
    ks = sorted(rng.sample(pool[level - 1], 2 if level < 3 else 3))
    common = lcm(*ks)
    answer = common * rng.randrange(2, (9, 7, 9)[level - 1])
    if common > (40, 800, 800)[level - 1]:
        return None
    near, far = (3, max(ks) + 3) if level == 1 else (common // 4, common - 1)
    low, high = answer - rng.randrange(near, far), answer + rng.randrange(near, far)
    fits = [n for n in range(low + 1, high) if all(n % k == 0 for k in ks)]
    agree(fits, list(range((low // common + 1) * common, high, common)))
    rest = [lcm(*(k for k in ks if k != one)) for one in ks]
    # Without any one of the divisors there would be a second number in the window.
    needed = all((high - 1) // other - low // other > 1 for other in rest)
    if fits != [answer] or not needed or low <= max(ks):
        return None
    joined = listed(ks)
    told = tell(
        rng, _COMMON, ks=joined, low=low, high=high, name=rng.choice(NAMES),
        **{"or": joined.replace(" and ", " or ")},
    )  # fmt: skip
    rules = [
        gold(
            "bound",
            f"the number lies between {low} and {high}",
            between(low + 1, high - 1),
            told.span("range"),
        ),
        *(gold("modular", f"{k} divides it", divisible(k), told.span("mult")) for k in ks),
    ]
    lures: Lures = [
        (common, "out_of_range"),
        (answer + common, "out_of_range"),
        (answer - common, "out_of_range"),
        *((k * (low // k + 1), "broken_condition") for k in ks),
        *((k * ((high - 1) // k), "broken_condition") for k in ks),
        (ks[0] * ks[1], "out_of_range"),
    ]
    return Draft(told.text, answer, rules, lures)


_CHOICE = (
    r"Exactly one of the numbers <list> is <rules>. Which one?",
    r"<name>'s locker number is one of <list>. It is <rules>. What is the locker number?",
    r"Which of the numbers <list> is <rules>?",
    r"The winning ticket is <rules>, and it is one of those with the numbers <list>. Find the "
    r"number of the winning ticket.",
    r"Out of the numbers <list>, <name> must cross out all but the one that is <rules>. Which "
    r"number remains?",
    r"A number is <rules>. On the board stand <list>, and one of them is this number. Which?",
    r"One house in the row with the numbers <list> belongs to <name>. Its number is <rules>. What "
    r"is the number of the house?",
    r"Find, among the numbers <list>, the only one that is <rules>.",
)


@family(
    "joint", ("modular", "parity", "bound"), "the one number of a list that meets all conditions"
)
def listed_number(rng: Random, level: Level) -> Draft | None:
    """Ask for the number of a list that meets all conditions; each rules a number out alone."""
    top = (120, 170, 500)[level - 1]
    k = rng.choice(((3, 5), (3, 5, 7), (5, 7, 9, 11))[level - 1])
    answer = k * rng.randrange(15 // k + 1, top // k)
    which = "odd" if answer % 2 else "even"
    bound, m = answer - rng.randrange(2, top // 4), rng.choice((5, 6, 7, 8))
    if bound < 12 or (m == 6 and k == 9):
        return None
    words = [f"«mult:a multiple of ${k}$»", f"«parity:{which}»"]
    words.append(f"«range:greater than ${bound}$»")
    r = answer % m if level == 3 else 0
    if level == 3:
        words.append(f"«mod:${r}$ more than a multiple of ${m}$»")

    def breaks(n: int) -> list[int]:
        met = (n % k == 0, (n - answer) % 2 == 0, n > bound, level < 3 or n % m == r)
        return [place for place, one in enumerate(met) if not one]

    pools = [[n for n in range(10, top) if breaks(n) == [p]] for p in range(len(words))]
    if not all(pools) or (level == 3 and r == 0):
        return None
    rivals = [rng.choice(pool) for pool in pools]
    others = [n for n in rng.sample(range(10, top), 6 * level) if len(breaks(n)) > 1][
        : 2 * level - 2
    ]
    numbers = [answer, *rivals, *others]
    by_sieve = set(range(0, top, k)) & set(range(answer % 2, top, 2)) & set(range(bound + 1, top))
    fits = [n for n in numbers if n in by_sieve and (level < 3 or n in range(r, top, m))]
    agree(fits, [n for n in numbers if not breaks(n)])
    rng.shuffle(numbers)
    rng.shuffle(words)
    conditions = f"{', '.join(words[:-1])} and {words[-1]}"
    wordings = [wording.replace("<rules>", conditions) for wording in _CHOICE]
    told = tell(rng, wordings, list=listed(numbers), name=rng.choice(NAMES))
    rules = [
        gold("modular", f"it is a multiple of {k}", divisible(k), told.span("mult")),
        gold("parity", f"it is {which}", parity(which), told.span("parity")),
        gold("bound", f"it is greater than {bound}", at_least(bound + 1), told.span("range")),
        gold("bound", "it is on the list", between(min(numbers), max(numbers))),
    ]
    if level == 3:
        rules.append(
            gold(
                "modular",
                f"it leaves {answer % m} on division by {m}",
                congruent(answer, m),
                told.span("mod"),
            )
        )
    lures: Lures = [
        (rivals[0], "broken_condition"),
        (rivals[1], "ignored_parity"),
        (rivals[2], "out_of_range"),
        *((n, "broken_condition") for n in rivals[3:]),
        *((n, "arithmetic") for n in others[:4]),
        (max(numbers) + 2 * k, "out_of_range"),
    ]
    return Draft(told.text, answer, rules, lures)


FAMILIES = (largest_multiple, common_multiple, listed_number)
