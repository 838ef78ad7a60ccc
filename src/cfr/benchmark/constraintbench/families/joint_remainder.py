"""Joint tier, remainders: two or three of them, and a range, that only one number meets."""

from __future__ import annotations

from math import lcm
from random import Random

from cfr.benchmark.constraintbench.families.phrase import NAMES, listed, tell
from cfr.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from cfr.benchmark.constraintbench.item import Level
from cfr.constraint.demand import all_of, between, congruent, integer

__all__ = ["FAMILIES"]

_TWO_REMAINDERS = (
    r"An integer «range:between $<low>$ and $<high>$» «one:leaves remainder $<a>$ when divided by "
    r"$<p>$» and «two:remainder $<b>$ when divided by $<q>$». Find the integer.",
    r"<name>'s herd has «range:at least $<low>$ and at most $<high>$ sheep». «one:Counted off in "
    r"groups of $<p>$, <first> left over»; «two:in groups of $<q>$, <second> left over». How many "
    r"sheep are there?",
    r"Find the number $n$ with «range:$<low> \le n \le <high>$» such that «one:$n \equiv <a> "
    r"\pmod{<p>}$» and «two:$n \equiv <b> \pmod{<q>}$».",
    r"How many beads does <name> have? «one:On strings of $<p>$ beads, <first> left over», and "
    r"«two:on strings of $<q>$ beads, <second> left over». There are «range:more than $<below>$ "
    r"and fewer than $<beyond>$ beads».",
    r"A choir can stand in rows of $<p>$, which «one:leaves a last row of $<a>$», or in rows of "
    r"$<q>$, which «two:leaves a last row of $<b>$». It has «range:from $<low>$ to $<high>$» "
    r"members. How many members does it have?",
    r"«range:From $<low>$ to $<high>$» there is exactly one whole number that «one:is $<a>$ more "
    r"than a multiple of $<p>$» and «two:$<b>$ more than a multiple of $<q>$». Which one?",
    r"A baker packs rolls. «one:In bags of $<p>$, <first> left»; «two:in boxes of $<q>$, <second> "
    r"left». The baker knows that there are «range:between $<below>$ and $<beyond>$ rolls». What "
    r"is their number?",
    r"<name> thinks of a whole number «range:not smaller than $<low>$ and not larger than "
    r"$<high>$». «one:Dividing it by $<p>$ leaves $<a>$», «two:dividing it by $<q>$ leaves "
    r"$<b>$». What is the number?",
)


@family("joint", ("modular", "bound"), "two remainders and a range")
def two_remainders(rng: Random, level: Level) -> Draft | None:
    """Ask for the one number of a range that leaves two given remainders."""
    p, q = rng.sample(((2, 3, 4, 5), (3, 4, 5, 7), (6, 7, 8, 9, 11))[level - 1], 2)
    if lcm(p, q) != p * q:
        return None
    n = p * q + rng.randrange(p * q * (6, 2, 3)[level - 1])
    low = n - rng.randrange(2, p * q - 2 if level > 1 else max(p, q) + 2)
    high = low + p * q - 1 if level > 1 else n + rng.randrange(2, max(p, q) + 2)
    a, b = n % p, n % q
    by_testing = [k for k in range(low, high + 1) if k % p == a and k % q == b]
    least = (a * q * pow(q, -1, p) + b * p * pow(p, -1, q)) % (p * q)
    answer = agree(by_testing, [least + p * q * -(-(low - least) // (p * q))])[0]
    one, two = ([k for k in range(low, high + 1) if k % m == n % m] for m in (p, q))
    if by_testing != [n] or not one[1:] or not two[1:]:
        return None
    if min(a, b) == 0 or answer in (low, high):  # the range may be read with or without its ends
        return None
    told = tell(
        rng, _TWO_REMAINDERS, low=low, high=high, below=low - 1, beyond=high + 1,
        p=p, q=q, a=a, b=b, name=rng.choice(NAMES), first=_left(a), second=_left(b),
    )  # fmt: skip
    rules = [
        gold(
            "bound",
            f"the number lies from {low} to {high}",
            all_of(integer(), between(low, high)),
            told.span("range"),
        ),
        gold("modular", f"it leaves {a} on division by {p}", congruent(a, p), told.span("one")),
        gold("modular", f"it leaves {b} on division by {q}", congruent(b, q), told.span("two")),
    ]
    lures: Lures = [
        (least, "out_of_range"),
        (answer + p * q, "out_of_range"),
        (next(k for k in range(low, high) if k % p == a), "broken_condition"),
        (next(k for k in range(low, high) if k % q == b), "broken_condition"),
        (answer + p, "broken_condition"),
        (answer - q, "broken_condition"),
        (a + b, "misled_by_cue"),
        (p * q + a + b, "misled_by_cue"),
    ]
    return Draft(told.text, answer, rules, lures)


def _left(count: int) -> str:
    return f"${count}$ {'is' if count == 1 else 'are'}"


_SAME = (
    r"A teacher has «range:between $<low>$ and $<high>$» pupils. «mod:Whether they form groups of "
    r"<moduli>, there are always <r> left over.» How many pupils are there?",
    r"How many eggs are in <name>'s basket, if «mod:taking them out <moduli> at a time leaves <r> "
    r"in the basket each time», and there are «range:more than $<low>$ but fewer than $<high>$» "
    r"of them?",
    r"Find the integer «range:between $<low>$ and $<high>$» that «mod:leaves the same remainder, "
    r"<r>, on division by each of the numbers <all>».",
    r"«range:More than $<low>$ and fewer than $<high>$» soldiers march. «mod:In rows of <moduli>, "
    r"<r> of them are always left without a full row.» Find the number of soldiers.",
    r"<name> wants to stack coins in equal piles. «mod:With piles of <moduli> coins, <r> coins "
    r"remain in every case.» The number of coins is «range:greater than $<low>$ and less than "
    r"$<high>$». What is it?",
    r"«mod:Divided by <moduli>, a whole number leaves <r> each time.» It lies «range:between "
    r"$<low>$ and $<high>$». Which number is it?",
    r"A gardener has «range:over $<low>$ but under $<high>$» bulbs and finds that «mod:<r> bulbs "
    r"stay behind whether they are set in beds of <moduli>». How many bulbs does the gardener "
    r"have?",
    r"At a camp the children are told to line up. «mod:Lines of <moduli> children all leave <r> "
    r"children over.» There are «range:between $<low>$ and $<high>$» children. What is their "
    r"number?",
)


@family("joint", ("modular", "bound"), "one remainder for several divisors, and a range")
def same_remainder(rng: Random, level: Level) -> Draft | None:
    """Ask for the one number of a range that leaves the same remainder on several divisions."""
    pool = ((3, 4, 5, 6, 7, 8, 9, 10), (3, 4, 5, 6, 7, 8), (6, 7, 8, 9, 10, 12))[level - 1]
    moduli = sorted(rng.sample(pool, 2 if level < 3 else 3))
    common, r = lcm(*moduli), rng.randrange(2, moduli[0]) if moduli[0] > 2 else 0
    needed = all(lcm(*(m for m in moduli if m != one)) < common for one in moduli)
    if r < 2 or not needed or not 12 <= common < (64, 700, 1300)[level - 1]:
        return None
    answer = common * rng.randrange(*((1, 3), (2, 7), (3, 9))[level - 1]) + r
    low = answer - rng.randrange(3, common - 2)
    high = low + common
    by_testing = [n for n in range(low + 1, high) if all(n % m == r for m in moduli)]
    agree(by_testing, [n for n in range(r, high, common) if n > low])
    if by_testing != [answer]:
        return None
    every = listed(moduli)
    either = every.replace(" and ", " or ")
    told = tell(
        rng, _SAME, low=low, high=high, moduli=either, all=every, r=f"${r}$",
        name=rng.choice(NAMES),
    )  # fmt: skip
    rules = [
        gold(
            "bound",
            f"the number lies between {low} and {high}",
            between(low + 1, high - 1),
            told.span("range"),
        ),
        *(
            gold("modular", f"it leaves {r} on division by {m}", congruent(r, m), told.span("mod"))
            for m in moduli
        ),
    ]
    lures: Lures = [
        (answer - r, "broken_condition"),
        (common + r, "out_of_range"),
        (answer + common, "out_of_range"),
        (answer - common, "out_of_range"),
        *(
            (next(n for n in range(low + 1, high + m) if n % m == r), "broken_condition")
            for m in moduli
        ),
        (answer + r, "broken_condition"),
        (common, "broken_condition"),
    ]
    return Draft(told.text, answer, rules, lures)


_YEARS = (
    r"A castle is «range:more than $<low>$ but less than $<high>$ years old». «one:In <c> years "
    r"its age will be a multiple of $<p>$», and «two:<d> years ago it was a multiple of $<q>$». "
    r"How old is the castle now?",
    r"How many coins does <name> have? «two:Without <d> of them, the others could be put in piles "
    r"of $<q>$»; «one:with <c> more, all could be put in piles of $<p>$»; and there are "
    r"«range:more than $<low>$ but fewer than $<high>$» of them.",
    r"A bridge is «range:between $<low>$ and $<high>$ years old». «one:Its age in <c> years will "
    r"be a multiple of $<p>$»; «two:its age <d> years ago was a multiple of $<q>$». Find its age.",
    r"«one:Adding $<cn>$ to a whole number gives a multiple of $<p>$», «two:subtracting $<dn>$ "
    r"from it gives a multiple of $<q>$», and it lies «range:between $<low>$ and $<high>$». What "
    r"is the number?",
    r"«two:When <d> lamps of a hall are switched off, the burning ones make full groups of "
    r"$<q>$»; «one:with <c> lamps more than there are, all would make full groups of $<p>$». The "
    r"hall has «range:more than $<low>$ and fewer than $<high>$» lamps. How many are there?",
    r"The number of pages of <name>'s notebook is «range:between $<low>$ and $<high>$». «one:With "
    r"<c> more pages it would be divisible by $<p>$», «two:with <d> fewer by $<q>$». Find the "
    r"number of pages.",
    r"A club has «range:more than $<low>$ and fewer than $<high>$» members. «one:If <c> people "
    r"joined, all could be split into teams of $<p>$»; «two:if <d> left, into teams of $<q>$». "
    r"How many members does the club have?",
    r"<name>'s tree is «range:over $<low>$ but under $<high>$» years old. «two:Its age was "
    r"divisible by $<q>$ <d> years ago», and «one:it will be divisible by $<p>$ in <c> years». "
    r"What is its age in years today?",
)
_WORDS = ("two", "three", "four", "five", "six", "seven", "eight", "nine")


@family("joint", ("modular", "bound"), "a multiple some years ago, another one in some years")
def age_in_years(rng: Random, level: Level) -> Draft | None:
    """Ask for an age whose neighbours are multiples."""
    pool = ((3, 4, 5), (4, 5, 6, 7), (9, 11, 13, 14))[level - 1]
    p, q = rng.sample(pool, 2)
    answer, span = rng.randrange(*((14, 70), (20, 100), (60, 400))[level - 1]), lcm(p, q)
    c, d = -answer % p, answer % q
    if not (1 < c < 10 and 1 < d < 10):
        return None
    low = answer - rng.randrange(3, (9, 12, span - 1)[level - 1])
    high = low + span if level == 3 else answer + rng.randrange(3, 5 + 4 * level)
    if low < 10:
        return None
    after = [n for n in range(low + 1, high) if (n + c) % p == 0]
    before = [n for n in range(low + 1, high) if (n - d) % q == 0]
    if len(after) < 2 or len(before) < 2:
        return None
    fits = [n for n in range(low + 1, high) if (n + c) % p == 0 and (n - d) % q == 0]
    agree(fits, [n for n in range(-c % p, high, p) if n > low and (n - d) % q == 0])
    if fits != [answer]:
        return None
    told = tell(
        rng, _YEARS, p=p, q=q, c=_WORDS[c - 2], d=_WORDS[d - 2], cn=c, dn=d, low=low, high=high,
        name=rng.choice(NAMES),
    )  # fmt: skip
    rules = [
        gold(
            "bound",
            f"it lies between {low} and {high}",
            between(low + 1, high - 1),
            told.span("range"),
        ),
        gold(
            "modular", f"with {c} more it is a multiple of {p}", congruent(-c, p), told.span("one")
        ),
        gold(
            "modular", f"with {d} fewer it is a multiple of {q}", congruent(d, q), told.span("two")
        ),
    ]
    lures: Lures = [
        (answer + c, "broken_condition"),
        (answer - d, "broken_condition"),
        (answer + span, "out_of_range"),
        (answer - span, "out_of_range"),
        (next(n for n in range(low + 1, high + p) if (n + c) % p == 0), "broken_condition"),
        (next(n for n in range(low + 1, high + q) if (n - d) % q == 0), "broken_condition"),
        (next(n for n in range(low + 1, high + p) if (n - c) % p == 0), "misled_by_cue"),
        (span, "broken_condition"),
    ]
    return Draft(told.text, answer, rules, lures)


FAMILIES = (two_remainders, same_remainder, age_in_years)
