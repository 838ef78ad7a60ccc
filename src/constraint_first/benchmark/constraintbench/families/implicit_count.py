"""Implicit tier, counts of known things: the worth of coins, the sides of polygons."""

from __future__ import annotations

from random import Random

from constraint_first.benchmark.constraintbench.families.phrase import NAMES, tell
from constraint_first.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from constraint_first.benchmark.constraintbench.item import Level
from constraint_first.constraint.demand import between, divisible

__all__ = ["FAMILIES"]

_COINS = (
    r"<name> has <coins>. How many cents is that altogether?",
    r"How many cents are <coins> worth?",
    r"In a jar there are <coins>. What is their value in cents?",
    r"<name> empties a piggy bank and finds <coins>. How many cents did <name> save?",
    r"A vending machine took in <coins>. How many cents are in the machine?",
    r"<name> pays the exact fare for a ride with <coins>. How many cents does the ride cost?",
    r"Under the sofa <name> finds <coins>. Find the total in cents.",
    r"A street musician got <coins>. How many cents did the musician get?",
)
_COINS_SPENT = (
    r"<name> has <coins> and buys $<k>$ stamps at $<c>$ cents each. How many cents does <name> "
    r"have left?",
    r"How many cents are left of <coins> after $<k>$ buns at $<c>$ cents each have been paid for?",
    r"A vending machine took in <coins> and $<k>$ times gave back $<c>$ cents. How many cents more "
    r"than before are in the machine?",
    r"<name> empties a piggy bank with <coins> and spends part of the money on $<k>$ pens, which "
    r"cost $<c>$ cents each. How much is left, in cents?",
    r"A street musician got <coins> and paid $<k>$ fares of $<c>$ cents each. How many cents "
    r"remained?",
    r"For a lemonade stand <name> has <coins> and buys $<k>$ lemons at $<c>$ cents each. How much "
    r"money is left, in cents?",
    r"From a purse with <coins> <name> pays for $<k>$ rides at $<c>$ cents each. How many cents "
    r"does the purse hold then?",
    r"<name> brings <coins> to a fair and plays $<k>$ games for $<c>$ cents each. With how many "
    r"cents does <name> go home?",
)
_WORTH = {"quarters": 25, "dimes": 10, "nickels": 5}


@family("implicit", ("modular", "bound"), "the cents that coins are worth, less what is spent")
def coins_worth(rng: Random, level: Level) -> Draft | None:
    """Ask for cents; what each kind of coin is worth is known."""
    kinds, high, k, c = (
        (2, 10, 0, 0),
        (2, 16, rng.randrange(2, 5), 5 * rng.randrange(3, 13)),
        (3, 90, rng.randrange(8, 19), 5 * rng.randrange(7, 30)),
    )[level - 1]
    coins = rng.sample(list(_WORTH), kinds)
    counts = [rng.randrange(2, high) for _ in coins]
    worth = [_WORTH[coin] for coin in coins]
    cents = sum(n * one for n, one in zip(counts, worth, strict=True))
    nickels = sum(one // 5 for n, one in zip(counts, worth, strict=True) for _ in range(n))
    answer = agree(cents - k * c, 5 * nickels - sum(c for _ in range(k)))
    if answer < 20:
        return None
    phrases = [f"${n}$ {coin}" for n, coin in zip(counts, coins, strict=True)]
    told = tell(
        rng,
        _COINS if level == 1 else _COINS_SPENT,
        coins=f"{', '.join(phrases[:-1])} and {phrases[-1]}",
        k=k,
        c=c,
        name=rng.choice(NAMES),
    )
    total, low, top = sum(counts), min(worth), max(worth)
    rules = [
        gold("modular", "every coin and every price is a multiple of 5 cents", divisible(5)),
        gold(
            "bound",
            f"a coin is worth {low} to {top} cents",
            between(max(1, low * total - k * c + 1), top * total - k * c - 1),
        ),
    ]
    lures: Lures = [
        (cents, "encoded_form_not_applied"),
        (total, "encoded_form_not_applied"),
        (top * total - k * c, "out_of_range"),
        (cents - c, "other"),
        (sum(n * one for n, one in zip(counts, reversed(worth), strict=True)) - k * c, "other"),
        *([(k * c, "misled_by_cue")] if k else []),
        (cents - counts[0] * worth[0] - k * c, "other"),
        (answer + 1, "arithmetic"),
        (f"{answer // 100}.{answer % 100:02d}", "encoded_form_not_applied"),
    ]
    return Draft(told.text, answer, rules, lures)


_SIDES = (
    r"<name> lays <shapes> with matches, one match for each side. No match belongs to two shapes. "
    r"How many matches does <name> use?",
    r"How many sides do <shapes> have altogether?",
    r"<name> draws <shapes>. How many corners do these shapes have altogether?",
    r"A frame maker glues one strip of wood along each side of <shapes>. How many strips are "
    r"needed?",
    r"Each corner of <shapes> is marked with a dot. How many dots are there?",
    r"There are <shapes> on a sheet of paper, none touching another. Find the total number of "
    r"their sides.",
    r"A tailor sews one button on every corner of <shapes> made of cloth. How many buttons does "
    r"the tailor sew on?",
    r"<name> cuts <shapes> out of card and glues a ribbon to every side. How many ribbons does "
    r"<name> need?",
)
_SIDES_PRICED = (
    r"<name> lays <shapes> with sticks, one stick for each side. No stick belongs to two shapes. A "
    r"stick costs $<p>$ cents. How many cents do the sticks cost?",
    r"How many seconds does it take to draw all the sides of <shapes>, at $<p>$ seconds a side?",
    r"A tailor sews $<p>$ beads on every corner of <shapes> made of cloth. How many beads does the "
    r"tailor need?",
    r"<name> cuts <shapes> out of card. Every side gets a ribbon of $<p>$ centimetres. How many "
    r"centimetres of ribbon does <name> use?",
    r"For each corner of <shapes> <name> gets $<p>$ points. How many points does <name> get?",
    r"A frame maker glues one strip of wood along each side of <shapes>. A strip weighs $<p>$ "
    r"grams. What do all the strips weigh in grams?",
    r"<name> nails <shapes> made of wood to a wall, with $<p>$ nails in each corner. How many "
    r"nails does <name> use?",
    r"At $<p>$ cents for each side, how many cents does a sign painter charge for <shapes>?",
)
_POLYGONS = ((("triangles", 3), ("hexagons", 6)), (("squares", 4), ("octagons", 8)))


@family("implicit", ("modular", "bound"), "the sides or corners of polygons")
def polygon_sides(rng: Random, level: Level) -> Draft:
    """Ask for sides; how many sides each kind of polygon has is known."""
    pair = rng.randrange(2)
    kinds = list(_POLYGONS[pair]) + (list(_POLYGONS[1 - pair]) if level == 3 else [])
    high, p = ((12, 1), (24, rng.randrange(3, 14)), (30, rng.randrange(6, 16)))[level - 1]
    rng.shuffle(kinds)
    counts = [rng.randrange(2, high) for _ in kinds]
    each = [sides for _, sides in kinds]
    sides = sum(n * one for n, one in zip(counts, each, strict=True))
    listing = sum(one for n, one in zip(counts, each, strict=True) for _ in range(n))
    answer = agree(p * sides, p * listing)
    phrases = [f"${n}$ {kind}" for n, (kind, _) in zip(counts, kinds, strict=True)]
    told = tell(
        rng,
        _SIDES if level == 1 else _SIDES_PRICED,
        shapes=f"{', '.join(phrases[:-1])} and {phrases[-1]}",
        p=p,
        name=rng.choice(NAMES),
    )
    total, few, many = sum(counts), min(each), max(each)
    share = p if level == 3 else p * few
    rules = [
        gold("modular", f"every shape adds a multiple of {share}", divisible(share)),
        gold(
            "bound",
            f"a shape has {few} to {many} sides, and not all have equally many",
            between(few * p * total + 1, many * p * total - 1),
        ),
    ]
    lures: Lures = [
        (few * p * total, "out_of_range"),
        (many * p * total, "out_of_range"),
        (p * total, "out_of_range"),
        (total, "encoded_form_not_applied"),
        (sides, "encoded_form_not_applied"),
        (p * sum(n * one for n, one in zip(counts, reversed(each), strict=True)), "other"),
        (p * sum(each), "other"),
        (p * (sides - counts[-1] * each[-1]), "other"),
        (p * (sides - total), "other"),
        (answer + 1, "arithmetic"),
    ]
    return Draft(told.text, answer, rules, lures)


FAMILIES = (coins_worth, polygon_sides)
