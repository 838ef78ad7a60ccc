"""Joint tier, stories: numbers of things that several statements fix together."""

from __future__ import annotations

from fractions import Fraction
from math import gcd
from random import Random

from constraint_first.benchmark.constraintbench.families.phrase import NAMES, tell
from constraint_first.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from constraint_first.benchmark.constraintbench.item import Level
from constraint_first.constraint.demand import (
    above,
    all_of,
    at_most,
    below,
    divisible,
    integer,
    parity,
)

__all__ = ["FAMILIES"]

# Each wording has a place for two more things that equal the one asked for (level 2), or for one
# more that equals the two others together (level 3).
_AGES = (
    (
        r"«high:<x> has $<d>$ coins more than <y>», and «low:<y> has $<e>$ coins more than "
        r"<z>».<extra> All of them together have $<sum>$ coins. How many coins does <y> have?",
        " <v> and <w> both have as many as <y>.",
        " <w> has as many as <x> and <z> together.",
    ),
    (
        r"How many pages has the second book of a series? «high:The first has $<d>$ pages more "
        r"than the second», «low:the third has $<e>$ pages fewer than the second»<extra>, and all "
        r"the books of the series have $<sum>$ pages together.",
        ", two more have as many pages each as the second",
        ", a fourth has as many pages as the first and the third together",
    ),
    (
        r"«high:A blue rope is $<d>$ metres longer than a red one», and «low:a green rope is $<e>$ "
        r"metres shorter than the red one».<extra> All these ropes together are $<sum>$ metres "
        r"long. Find the length of the red rope in metres.",
        " A white rope and a brown rope are both as long as the red one.",
        " A white rope is as long as the blue and the green one together.",
    ),
    (
        r"Some friends share $<sum>$ marbles. «low:<z> gets $<e>$ fewer than <y>», and «high:<x> "
        r"gets $<d>$ more than <y>».<extra> Nobody else gets any. How many marbles does <y> get?",
        " <v> and <w> each get as many as <y>.",
        " <w> gets as many as <x> and <z> together.",
    ),
    (
        r"«high:The number $a$ is $<d>$ more than $b$», and «low:$c$ is $<e>$ less than "
        r"$b$».<extra> All these numbers have the sum $<sum>$. What is $b$?",
        " The numbers $f$ and $g$ are both equal to $b$.",
        " The number $f$ is equal to $a + c$.",
    ),
    (
        r"«high:On Friday <x> sold $<d>$ tickets more than on Saturday», and «low:on Sunday $<e>$ "
        r"fewer than on Saturday».<extra> On all these days together <x> sold $<sum>$ tickets. How "
        r"many were sold on Saturday?",
        " On Monday and on Tuesday it was as many each day as on Saturday.",
        " On Monday it was as many as on Friday and Sunday together.",
    ),
    (
        r"«low:A cat is $<e>$ months younger than a dog», and «high:a parrot is $<d>$ months older "
        r"than the dog».<extra> The ages of all these animals add up to $<sum>$ months. How many "
        r"months old is the dog?",
        " A rabbit and a goat are both as old as the dog.",
        " A rabbit is as old as the cat and the parrot together.",
    ),
    (
        r"What does an iron weight weigh, in grams? «high:A brass weight is $<d>$ grams heavier "
        r"than the iron one», and «low:a lead weight is $<e>$ grams lighter than the iron "
        r"one».<extra> All these weights together weigh $<sum>$ grams.",
        " A zinc weight and a tin weight are both as heavy as the iron one.",
        " A zinc weight is as heavy as the brass and the lead one together.",
    ),
)


@family("joint", ("parity", "bound", "monotonic"), "the middle one of several ordered numbers")
def middle_one(rng: Random, level: Level) -> Draft | None:
    """Ask for the middle of three numbers by their differences and a sum, which may hold more."""
    d, e = rng.sample(range(2, (9, 25, 90)[level - 1]), 2)
    mid = e + rng.randrange(*((4, 30), (20, 90), (60, 400))[level - 1])
    # The sum is so many times the middle one, and so many times the differences.
    times, turns = ((3, 1), (5, 1), (5, 2))[level - 1]
    three = [mid + d, mid, mid - e]
    total = sum(three) + (0, 2 * mid, three[0] + three[2])[level - 1]
    by_search = [b for b in range(e + 1, total) if times * b + turns * (d - e) == total]
    answer = agree([(total - turns * (d - e)) // times], by_search)[0]
    if turns * (d - e) % times == 0:
        return None
    x, y, z, v, w = rng.sample(NAMES, 5)
    extra = (0, 1, 2)[level - 1]
    wordings = [one[0].replace("<extra>", one[extra] if extra else "") for one in _AGES]
    told = tell(rng, wordings, x=x, y=y, z=z, v=v, w=w, sum=total, d=d, e=e)
    share = Fraction(total, times)
    rules = [
        gold(
            "monotonic",
            f"the middle one is more than {e}, and twice it and {d} are less than the sum",
            all_of(above(e), below(Fraction(total - d, 2))),
            told.span("high"),
        ),
        gold(
            "bound",
            f"{times} times the middle one is the sum but for the differences {d} and {e}",
            all_of(integer(), above(share - max(d, e)), below(share + max(d, e))),
            told.span("low"),
        ),
        gold(
            "parity",
            f"{times} times the middle one is {total} but for {turns} times {d} and {e}",
            parity("odd" if (total - turns * (d - e)) % 2 else "even"),
        ),
    ]
    lures: Lures = [
        (mid + d, "misled_by_cue"),
        (mid - e, "misled_by_cue"),
        (share, "not_an_integer"),
        (Fraction(total - turns * (d + e), times), "arithmetic"),
        (Fraction(total + turns * (d - e), times), "arithmetic"),
        (Fraction(total - d + e, 3), "arithmetic"),
        (Fraction(total - d, 2), "out_of_range"),
        (total // times, "arithmetic"),
        (mid + 1, "ignored_parity"),
        (mid - 1, "ignored_parity"),
    ]
    return Draft(told.text, answer, rules, lures)


_KINDS = (
    r"<name> buys $<c>$ tickets for $<v>$ dollars. «one:A ticket for adults costs $<p>$ dollars», "
    r"«two:one for children $<q>$ dollars». How many tickets for adults does <name> buy?",
    r"How many large boxes are there, if «one:large boxes weigh $<p>$ kilograms each», «two:small "
    r"ones $<q>$ kilograms each», and $<c>$ boxes weigh $<v>$ kilograms together?",
    r"In a quiz with $<c>$ questions, «one:each hard question gives $<p>$ points» and «two:each "
    r"easy one $<q>$ points». All questions together give $<v>$ points. How many hard questions "
    r"are there?",
    r"A florist ties $<c>$ bunches from $<v>$ roses. «one:A festive bunch takes $<p>$ roses», "
    r"«two:a plain one $<q>$». Find the number of festive bunches.",
    r"«one:A long plank measures $<p>$ decimetres» and «two:a short one $<q>$ decimetres». Laid "
    r"end to end, $<c>$ planks reach $<v>$ decimetres. How many of them are long?",
    r"At a camp $<c>$ tents have room for $<v>$ people. «one:Large tents hold $<p>$ people», "
    r"«two:the others hold $<q>$». What is the number of large tents?",
    r"<name> reads on $<c>$ days: «one:$<p>$ pages on a free day», «two:$<q>$ pages on a school "
    r"day», $<v>$ pages altogether. How many of the days were free days?",
    r"There are $<c>$ stamps worth $<v>$ cents in a drawer. «one:Some are worth $<p>$ cents "
    r"each», and «two:the other ones $<q>$ cents each». Find the number of stamps worth $<p>$ "
    r"cents.",
)


@family("joint", ("parity", "bound"), "how many of one kind, from a number and a total")
def two_kinds(rng: Random, level: Level) -> Draft | None:
    """Ask how many of one kind there are when a number and a total must both come out."""
    p = 2 * rng.randrange(*((2, 6), (7, 16), (20, 50))[level - 1]) + 1
    q = 2 * rng.randrange(*((1, 3), (2, 6), (6, 25))[level - 1])
    x, y = (rng.randrange(*((2, 26), (15, 90), (100, 400))[level - 1]) for _ in range(2))
    c, v = x + y, p * x + q * y
    by_search = [n for n in range(c + 1) if p * n + q * (c - n) == v]
    answer = agree([(v - q * c) // (p - q)], by_search)[0] if p > q + 1 else 0
    if not answer or x == y or v // p >= c:
        return None
    told = tell(rng, _KINDS, p=p, q=q, c=c, v=v, name=rng.choice(NAMES))
    which = "odd" if v % 2 else "even"
    rules = [
        gold(
            "parity",
            f"{q} is even and {p} is odd, so the number has the parity of {v}",
            parity(which),
            told.span("two"),
        ),
        gold(
            "bound",
            f"the total {v} leaves room for {v // p} of them, and if half of the {c} were of this "
            f"kind, it would be {'less' if x > y else 'more'} than {v}",
            all_of(integer(), at_most(v // p), (above if x > y else below)(Fraction(c, 2))),
            told.span("one"),
        ),
    ]
    lures: Lures = [
        (y, "misled_by_cue"),
        (Fraction(v, p + q), "arithmetic"),
        (v - q * c, "out_of_range"),
        (c, "out_of_range"),
        (v // p, "arithmetic"),
        (Fraction(c, 2), "arithmetic"),
        (answer + 1, "ignored_parity"),
        (answer - 1, "ignored_parity"),
        (v - c, "out_of_range"),
    ]
    return Draft(told.text, answer, rules, lures)


# Text, what happens before the sharing from level 2 on, what is shared without and with that.
_SHARES = (
    (
        r"<people> have found $<n>$ marbles.<aside> They share <them> «ratio:in the ratio "
        r"$<ratio>$». How many marbles does <x> get?",
        " They lose $<c>$ of them.",
        ("them", "the rest"),
    ),
    (
        r"How many gold coins does <x> get? A prize of $<n>$ gold coins goes to <people>.<aside> "
        r"They divide <them> «ratio:in the ratio $<ratio>$».",
        " They spend $<c>$ of the coins on a party.",
        ("it", "what is left"),
    ),
    (
        r"<people> pick $<n>$ pears.<aside> «ratio:In the ratio $<ratio>$» they divide <them> "
        r"among themselves. How many pears are for <x>?",
        " They give $<c>$ pears to a neighbour.",
        ("them", "the others"),
    ),
    (
        r"<people> inherit $<n>$ sheep.<aside> They split <them> «ratio:in the ratio $<ratio>$», "
        r"in the order of their names here. Find the number of sheep that <x> gets.",
        " They sell $<c>$ of the sheep.",
        ("the herd", "the rest of the herd"),
    ),
    (
        r"Find the number of stickers that <x> gets when <people> share <them> «ratio:in the ratio "
        r"$<ratio>$».<aside>",
        " The pile had $<n>$ stickers, but $<c>$ of them are missing.",
        ("a pile of $<n>$ stickers", "what is left of a pile of stickers"),
    ),
    (
        r"<people> bake $<n>$ rolls.<aside> They take <them> home «ratio:in the ratio $<ratio>$». "
        r"How many rolls does <x> take home?",
        " They sell $<c>$ of the rolls.",
        ("them", "the other rolls"),
    ),
    (
        r"«ratio:The ratio $<ratio>$» is how <people> agree to split <them>. They win $<n>$ "
        r"tokens.<aside> How many tokens does <x> get?",
        " A fee of $<c>$ tokens is taken off before they split.",
        ("the tokens that they win", "what they keep of the tokens that they win"),
    ),
    (
        r"A job pays $<n>$ silver coins.<aside> <people> did the job and share <them> «ratio:in "
        r"the ratio $<ratio>$», because they worked for different times. How many silver coins "
        r"does <x> get?",
        " Of these, $<c>$ are needed for the tools.",
        ("the coins", "the remaining coins"),
    ),
)


@family("joint", ("modular", "bound"), "a share in a ratio, of a whole number of things")
def shared_in_ratio(rng: Random, level: Level) -> Draft | None:
    """Ask for the share of the first of several people."""
    parts = rng.sample(range(2, (11, 12, 14)[level - 1]), level + 1)
    first, every, count = parts[0], sum(parts), level + 1
    unit = rng.randrange(*((2, 12), (6, 20), (9, 29))[level - 1])
    if first < 3 or gcd(*parts) > 1 or first * count == every:
        return None
    shared = unit * every
    c = 0 if level == 1 else rng.randrange(*((11, 40), (21, 80))[level - 2])
    n = shared + c
    by_dealing = [0] * count
    while sum(by_dealing) < shared:
        by_dealing = [have + part for have, part in zip(by_dealing, parts, strict=True)]
    answer = agree(shared * first // every, by_dealing[0])
    people = rng.sample(NAMES, count)
    wordings = [
        text.replace("<aside>", aside if c else "").replace("<them>", them[1 if c else 0])
        for text, aside, them in _SHARES
    ]
    told = tell(
        rng, wordings, people=f"{', '.join(people[:-1])} and {people[-1]}", x=people[0], n=n, c=c,
        ratio=":".join(map(str, parts)),
    )  # fmt: skip
    more = first * count > every
    equal = Fraction(shared, count)
    rules = [
        gold(
            "modular",
            f"the ratio is in lowest terms, so this share is a multiple of {first}",
            divisible(first),
            told.span("ratio"),
        ),
        gold(
            "bound",
            f"{first} is {'more' if more else 'less'} than the others of the ratio on average",
            all_of(integer(), above(equal if more else 0), below(shared if more else equal)),
        ),
    ]
    lures: Lures = [
        (shared - answer, "misled_by_cue"),
        (unit * parts[1], "misled_by_cue"),
        (unit, "encoded_form_not_applied"),
        (Fraction(n * first, every), "arithmetic"),
        (equal, "arithmetic"),
        (shared // first, "arithmetic"),
        (answer + 1, "arithmetic"),
        (n, "out_of_range"),
        (answer + c, "arithmetic"),
        (every, "encoded_form_not_applied"),
    ]
    return Draft(told.text, answer, rules, lures)


FAMILIES = (middle_one, two_kinds, shared_in_ratio)
