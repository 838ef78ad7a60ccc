"""Implicit tier, purchases: packs, boxes and boards come whole, and nothing says so."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from random import Random

from cfr.benchmark.constraintbench.families.phrase import NAMES, listed, tell
from cfr.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from cfr.benchmark.constraintbench.item import Level
from cfr.constraint.demand import between, divisible

__all__ = ["FAMILIES"]

_WORDS = ("no", "one", "two", "three", "four", "five", "six")
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
        (2, 44, rng.randrange(6, 12), rng.randrange(3, 15)),
        (3, 80, rng.randrange(11, 20), rng.randrange(6, 16)),
        (5, 160, rng.randrange(18, 36), rng.randrange(13, 30)),
    )[level - 1]
    parts = [rng.randrange(high // 3, high) for _ in range(count)]
    total = sum(parts)
    packs = agree(ceil(Fraction(total, p)), next(n for n in range(total + 1) if n * p >= total))
    if total % p == 0:
        return None
    told = tell(
        rng,
        _PACKS,
        parts=listed(parts),
        n=_WORDS[count],
        N=_WORDS[count].capitalize(),
        p=p,
        c=c,
        name=rng.choice(NAMES),
    )
    rules = [
        gold("modular", f"packs are bought whole, so the price is a multiple of {c}", divisible(c)),
        gold(
            "bound",
            "the packs hold all that is needed, and one pack at most is opened in part",
            between(Fraction(total * c, p), Fraction(total * c, p) + c),
        ),
    ]
    lures: Lures = [
        (packs * c - c, "out_of_range"),
        (Fraction(total * c, p), "not_an_integer"),
        (packs, "encoded_form_not_applied"),
        (sum(-(-part // p) for part in parts) * c, "other"),
        (total * c, "other"),
        (total, "encoded_form_not_applied"),
        (round(Fraction(total * c, p)), "forgot_modular_reduction"),
        (ceil(Fraction(total * c, p)), "forgot_modular_reduction"),
        (packs * c + c, "other"),
        (packs - 1, "encoded_form_not_applied"),
    ]
    return Draft(told.text, packs * c, rules, lures)


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
        (2, 48, rng.randrange(5, 11), rng.randrange(3, 15)),
        (3, 90, rng.randrange(8, 17), rng.randrange(6, 19)),
        (5, 170, rng.randrange(14, 28), rng.randrange(12, 32)),
    )[level - 1]
    parts = [rng.randrange(high // 3, high) for _ in range(count)]
    total = sum(parts)
    boxes = agree(total // p, len(range(p, total + 1, p)))
    if total % p == 0:
        return None
    told = tell(
        rng,
        _INCOME,
        parts=listed(parts),
        n=_WORDS[count],
        N=_WORDS[count].capitalize(),
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
            "what is left over earns nothing, and it fills no box",
            between(Fraction(total * c, p) - c, Fraction(total * c, p)),
        ),
    ]
    lures: Lures = [
        (boxes * c + c, "out_of_range"),
        (Fraction(total * c, p), "not_an_integer"),
        (boxes, "encoded_form_not_applied"),
        (sum(part // p for part in parts) * c, "other"),
        (total * c, "out_of_range"),
        (round(Fraction(total * c, p)), "forgot_modular_reduction"),
        (total * c // p, "forgot_modular_reduction"),
        (total, "encoded_form_not_applied"),
        (total % p, "misled_by_cue"),
        (boxes * c - c, "other"),
    ]
    return Draft(told.text, boxes * c, rules, lures)


_BOARDS = (
    r"<name> saws shelves of $<s>$ centimetres from boards that are $<l>$ centimetres long and "
    r"cost $<c>$ dollars each. <N> rooms get <parts> shelves. How many dollars do the boards cost?",
    r"A board is $<l>$ centimetres long and costs $<c>$ dollars. What does <name> pay, in dollars, "
    r"for enough boards to cut <parts> shelves for <n> cupboards, each shelf $<s>$ centimetres "
    r"long?",
    r"Rolls of $<l>$ centimetres of ribbon cost $<c>$ dollars each. <name> needs <parts> ribbons "
    r"for <n> shows, every ribbon $<s>$ centimetres long and in one piece. What is the least sum "
    r"in dollars for the rolls?",
    r"How many dollars must be spent on pipes of $<l>$ centimetres, at $<c>$ dollars a pipe, if "
    r"<n> houses need <parts> tubes that are $<s>$ centimetres long?",
    r"For <n> gates a smith needs <parts> bars of $<s>$ centimetres. The bars are cut from rods of "
    r"$<l>$ centimetres, which cost $<c>$ dollars a rod. Find the cost of the rods in dollars.",
    r"<name> cuts ropes of $<s>$ centimetres for <n> swings, which take <parts> ropes. The ropes "
    r"come from coils of $<l>$ centimetres at $<c>$ dollars a coil. How many dollars do the coils "
    r"cost?",
    r"A tailor cuts scarves of $<s>$ centimetres from lengths of cloth that measure $<l>$ "
    r"centimetres and cost $<c>$ dollars each. <N> shops order <parts> scarves. How many dollars "
    r"does the cloth cost the tailor?",
    r"Window frames take rails of $<s>$ centimetres, <parts> of them for <n> frames. A strip of "
    r"$<l>$ centimetres costs $<c>$ dollars. What is the smallest possible bill for the strips, in "
    r"dollars?",
)


@family("implicit", ("modular", "bound"), "the price of boards from which pieces are cut")
def boards_cost(rng: Random, level: Level) -> Draft | None:
    """Ask for a price; a piece is cut from one board, and the offcut is wasted."""
    count, high, c = (
        (2, 11, rng.randrange(3, 18)),
        (3, 14, rng.randrange(6, 20)),
        (5, 30, rng.randrange(13, 32)),
    )[level - 1]
    per = rng.randrange(2, 3 + level)
    s = 5 * rng.randrange(8, 17)
    length = per * s + 5 * rng.randrange(s // 15, s // 5)
    parts = [rng.randrange(2, high) for _ in range(count)]
    total = sum(parts)
    left, boards = total, 0
    while left > 0:
        left, boards = left - length // s, boards + 1
    agree(boards, -(-total // per))
    joined = -(-total * s // length)
    if boards == joined:
        return None
    told = tell(
        rng,
        _BOARDS,
        parts=listed(parts),
        n=_WORDS[count],
        N=_WORDS[count].capitalize(),
        s=s,
        l=length,
        c=c,
        name=rng.choice(NAMES),
    )
    rules = [
        gold(
            "modular", f"boards are bought whole, so the price is a multiple of {c}", divisible(c)
        ),
        gold(
            "bound",
            "the boards are longer than all pieces together, and each gives two pieces or more",
            between(Fraction(total * s * c, length), Fraction((total + 1) * c, 2)),
        ),
    ]
    lures: Lures = [
        (joined * c, "other"),
        (boards, "encoded_form_not_applied"),
        (Fraction(total * s * c, length), "not_an_integer"),
        (round(Fraction(total * s * c, length)), "forgot_modular_reduction"),
        (total * s // length * c, "out_of_range"),
        (total // per * c, "other"),
        (total * c, "other"),
        (sum(-(-part // per) for part in parts) * c, "other"),
        (joined, "encoded_form_not_applied"),
        (total * s, "encoded_form_not_applied"),
    ]
    return Draft(told.text, boards * c, rules, lures)


FAMILIES = (whole_packs_cost, full_boxes_income, boards_cost)
