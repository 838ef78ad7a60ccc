"""Implicit tier, purchases: packs and boxes come whole, and nothing says so."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from random import Random

from constraint_first.benchmark.constraintbench.families.phrase import (
    COUNT_WORDS,
    NAMES,
    listed,
    tell,
)
from constraint_first.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from constraint_first.benchmark.constraintbench.item import Level
from constraint_first.constraint.demand import between, divisible

__all__ = ["FAMILIES"]

_PACKS_ONE = (
    r"<name> needs <parts> cups for a party. Cups come in packs of $<p>$, and a pack costs $<c>$ "
    r"dollars. How many dollars must <name> spend to have enough cups?",
    r"For a wall <name> needs <parts> tiles. The shop has boxes of $<p>$ tiles for $<c>$ dollars a "
    r"box. How many dollars does <name> pay for the tiles?",
    r"How many dollars does a school pay at least if it needs <parts> pencils and pencils are sold "
    r"in packets of $<p>$ at $<c>$ dollars a packet?",
    r"<name> wants to sow <parts> seeds. A packet of $<p>$ seeds costs $<c>$ dollars. What is the "
    r"least amount, in dollars, that <name> has to pay for the seeds?",
    r"A wedding table needs <parts> candles. Candles are sold in cartons of $<p>$, and a carton "
    r"costs $<c>$ dollars. How many dollars do the candles cost?",
    r"<name> needs <parts> eggs for baking. The farm sells trays of $<p>$ eggs for $<c>$ dollars a "
    r"tray. How many dollars does <name> spend at the farm?",
    r"A street is to be decorated with <parts> flags. Flags come in bundles of $<p>$ and cost "
    r"$<c>$ dollars a bundle. How many dollars are needed?",
    r"A group of <parts> people goes up a mountain in cabins with room for $<p>$ people each. A "
    r"ride costs $<c>$ dollars for a whole cabin. How many dollars does the group pay at least?",
)
_PACKS = (
    r"<name> needs <parts> cups for <n> parties. Cups come in packs of $<p>$, and a pack costs "
    r"$<c>$ dollars. How many dollars must <name> spend to have enough cups?",
    r"For <n> walls <name> needs <parts> tiles. The shop has boxes of $<p>$ tiles for $<c>$ "
    r"dollars a box. What do the tiles for all the walls together cost in dollars?",
    r"How many dollars does a school pay at least for pencils if its <n> classes need <parts> "
    r"pencils and pencils are sold in packets of $<p>$ at $<c>$ dollars a packet?",
    r"A packet of $<p>$ seeds costs $<c>$ dollars. <name> wants to sow <parts> seeds in <n> beds. "
    r"What is the least amount, in dollars, that <name> has to pay for the seeds?",
    r"The <n> tables at a wedding need <parts> candles. A carton with $<p>$ candles costs $<c>$ "
    r"dollars. Find the cost of the candles in dollars.",
    r"<name> bakes for <n> fairs and needs <parts> eggs. The farm sells trays of $<p>$ eggs for "
    r"$<c>$ dollars. How much money, in dollars, does <name> hand over for the eggs?",
    r"At $<c>$ dollars for a bundle of $<p>$ flags, what is the smallest sum in dollars for which "
    r"<n> streets can be given the <parts> flags that they need?",
    r"A cabin of a cable car has room for $<p>$ people, and a ride costs $<c>$ dollars for the "
    r"whole cabin. Groups of <parts> people from <n> villages go up together in as few cabins as "
    r"possible. How many dollars do the rides cost?",
)


@family("implicit", ("modular", "bound"), "the price of enough whole packs")
def whole_packs_cost(rng: Random, level: Level) -> Draft | None:
    """Ask for a price; packs cannot be split."""
    count, high, p, c = (
        (1, 60, rng.choice((4, 5, 6, 8, 10)), rng.randrange(2, 17)),
        (2, 50, rng.randrange(6, 13), rng.randrange(3, 15)),
        (5, 160, rng.randrange(18, 36), rng.randrange(13, 30)),
    )[level - 1]
    parts = [rng.randrange(high // 3, high) for _ in range(count)]
    total = sum(parts)
    packs = agree(ceil(Fraction(total, p)), next(n for n in range(total + 1) if n * p >= total))
    if total % p == 0:
        return None
    told = tell(
        rng,
        _PACKS_ONE if level == 1 else _PACKS,
        parts=listed(parts),
        n=COUNT_WORDS[count],
        N=COUNT_WORDS[count].capitalize(),
        p=p,
        c=c,
        name=rng.choice(NAMES),
    )
    rules = [
        gold("modular", f"packs are bought whole, so the price is a multiple of {c}", divisible(c)),
        gold(
            "bound",
            "the packs hold all that is needed, and hardly more",
            between(Fraction(total * c, p), Fraction(total * c, p) + 2 * c),
        ),
    ]
    lures: Lures = [
        (packs * c - c, "out_of_range"),
        (Fraction(total * c, p), "not_an_integer"),
        (packs, "encoded_form_not_applied"),
        (sum(-(-part // p) for part in parts) * c, "other"),
        (total * c, "other"),
        (total, "encoded_form_not_applied"),
        (round(Fraction(total * c, p)), "broken_condition"),
        (ceil(Fraction(total * c, p)), "broken_condition"),
        (packs * c + c, "other"),
        (packs - 1, "encoded_form_not_applied"),
    ]
    return Draft(told.text, packs * c, rules, lures)


_INCOME_ONE = (
    r"A hen house gives <parts> eggs. <name> packs them in boxes of $<p>$ and sells every box that "
    r"is full for $<c>$ dollars. How many dollars does <name> take?",
    r"<name> picks <parts> roses, ties them in bunches of $<p>$ and gets $<c>$ dollars for a "
    r"bunch. How many dollars does <name> get?",
    r"A baker has <parts> rolls and sells them in bags of $<p>$ rolls at $<c>$ dollars a bag. How "
    r"many dollars can the baker earn?",
    r"<name> brings <parts> apples to a juice press. It takes $<p>$ apples to fill a bottle, and a "
    r"full bottle sells for $<c>$ dollars. For how many dollars can <name> sell the bottles?",
    r"There are <parts> candle ends in a bag. From $<p>$ candle ends <name> makes one new candle "
    r"and sells it for $<c>$ dollars. How many dollars do the new candles bring?",
    r"<name> owns <parts> stamps. A collector buys sets of $<p>$ stamps for $<c>$ dollars a set. "
    r"<name> sells as many sets as possible. How many dollars does <name> receive?",
    r"<parts> players come to a tournament and form as many teams of $<p>$ as they can. Each team "
    r"pays $<c>$ dollars. How many dollars do the teams pay?",
    r"How many dollars can <name> earn with <parts> sheets of paper, if a paper lantern takes "
    r"$<p>$ sheets and is sold for $<c>$ dollars?",
)
_INCOME = (
    r"A hen house gives <parts> eggs on <n> days. <name> packs all of them in boxes of $<p>$ and "
    r"sells every box that is full for $<c>$ dollars. How many dollars does <name> take?",
    r"<name> picks <parts> roses from <n> bushes, ties them in bunches of $<p>$ and gets $<c>$ "
    r"dollars for a bunch. What does <name> earn in dollars?",
    r"How many dollars can a baker earn from <n> trays with <parts> rolls, if the rolls are sold "
    r"in bags of $<p>$ rolls at $<c>$ dollars a bag?",
    r"A juice press needs $<p>$ apples for a bottle, which sells for $<c>$ dollars. <name> brings "
    r"<parts> apples in <n> baskets. For how many dollars can the juice from these apples be sold?",
    r"From $<p>$ candle ends <name> makes one new candle and sells it for $<c>$ dollars. <N> "
    r"churches send <parts> candle ends. How many dollars do the new candles bring?",
    r"A collector buys sets of $<p>$ stamps for $<c>$ dollars each. <name> owns <parts> suitable "
    r"stamps in <n> albums and sells as many sets as possible. How many dollars does <name> "
    r"receive?",
    r"Teams of $<p>$ players enter a tournament, and each team pays $<c>$ dollars. <N> schools "
    r"send <parts> players, who form as many teams as they can, all schools mixed. How many "
    r"dollars do the teams pay?",
    r"<name> folds paper lanterns. Each takes $<p>$ sheets and is sold for $<c>$ dollars. There "
    r"are <n> pads with <parts> sheets. What is the most, in dollars, that <name> can earn?",
)


@family("implicit", ("modular", "bound"), "the income from full boxes only")
def full_boxes_income(rng: Random, level: Level) -> Draft | None:
    """Ask for an income; what does not fill a box earns nothing."""
    count, high, p, c = (
        (1, 60, rng.choice((4, 5, 6, 8, 10)), rng.randrange(2, 17)),
        (3, 90, rng.randrange(7, 17), rng.randrange(6, 20)),
        (5, 170, rng.randrange(14, 28), rng.randrange(12, 32)),
    )[level - 1]
    parts = [rng.randrange(high // 3, high) for _ in range(count)]
    total = sum(parts)
    boxes = agree(total // p, len(range(p, total + 1, p)))
    if total % p == 0:
        return None
    told = tell(
        rng,
        _INCOME_ONE if level == 1 else _INCOME,
        parts=listed(parts),
        n=COUNT_WORDS[count],
        N=COUNT_WORDS[count].capitalize(),
        p=p,
        c=c,
        name=rng.choice(NAMES),
    )
    rules = [
        gold(
            "modular", f"only whole ones are sold, so the income is a multiple of {c}", divisible(c)
        ),
        gold(
            "bound",
            "what is left over earns nothing, and it is not much",
            between(Fraction(total * c, p) - 2 * c, Fraction(total * c, p)),
        ),
    ]
    lures: Lures = [
        (boxes * c + c, "out_of_range"),
        (Fraction(total * c, p), "not_an_integer"),
        (boxes, "encoded_form_not_applied"),
        (sum(part // p for part in parts) * c, "other"),
        (total * c, "out_of_range"),
        (round(Fraction(total * c, p)), "broken_condition"),
        (total * c // p, "broken_condition"),
        (total, "encoded_form_not_applied"),
        (total % p, "misled_by_cue"),
        (boxes * c - c, "other"),
    ]
    return Draft(told.text, boxes * c, rules, lures)


FAMILIES = (whole_packs_cost, full_boxes_income)
