"""Implicit tier, facts: the legs of animals, the days of a week. The reader knows them."""

from __future__ import annotations

from random import Random

from constraint_first.benchmark.constraintbench.families.phrase import NAMES, tell
from constraint_first.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from constraint_first.benchmark.constraintbench.item import Level
from constraint_first.constraint.demand import above, between, divisible

__all__ = ["FAMILIES"]

_LEGS = (
    r"There are <animals> on a farm. How many legs do these animals have altogether?",
    r"How many legs do <animals> have in all?",
    r"<name> draws <animals> and gives each animal all of its legs. How many legs does <name> "
    r"draw?",
    r"<animals> walk through fresh snow, and every foot leaves a track. How many feet leave "
    r"tracks?",
    r"A vet examines every leg of <animals>. How many legs does the vet examine?",
    r"In a meadow <name> counts <animals>. Find the total number of their legs.",
    r"<name> makes toy animals: <animals>. Every leg is one wooden stick. How many sticks does "
    r"<name> need for the legs?",
    r"In a puppet show there are <animals>, with as many legs as real ones. How many legs do the "
    r"puppets have altogether?",
)
_LEGS_PRICED = (
    r"A toy shop sells <animals>. Each leg gets a ring, and a ring costs $<p>$ cents. How many "
    r"cents do the rings cost?",
    r"<name> makes <animals> out of clay and needs $<p>$ grams for every leg. How many grams of "
    r"clay go into the legs?",
    r"A vet checks every leg of <animals>, and each leg takes $<p>$ seconds. How many seconds does "
    r"the vet need?",
    r"How many minutes does <name> need to paint the legs of <animals>, all made of wood, at $<p>$ "
    r"minutes a leg?",
    r"For a cartoon <name> draws <animals>, with a shoe on every foot. A shoe takes $<p>$ seconds "
    r"to draw. How many seconds does <name> need for the shoes?",
    r"<name> knits for toy animals, one sock for each leg. There are <animals>. A sock takes $<p>$ "
    r"metres of wool. How many metres of wool does <name> use?",
    r"A museum builds models of <animals>. Every leg is held by $<p>$ screws. How many screws hold "
    r"the legs?",
    r"At $<p>$ cents for each leg, how many cents does a toy maker charge for the legs of "
    r"<animals>?",
)
_TWO_LEGS = ("hens", "ducks", "geese", "swans", "crows")
_FOUR_LEGS = ("cows", "goats", "horses", "dogs", "cats", "sheep", "pigs")
_MANY_LEGS = {"beetles": 6, "ants": 6, "spiders": 8}


@family("implicit", ("modular", "bound"), "the legs of animals, which come in pairs")
def legs_counted(rng: Random, level: Level) -> Draft:
    """Ask for legs; how many legs each kind of animal has is known."""
    kinds = [rng.choice(_TWO_LEGS), rng.choice(_FOUR_LEGS)]
    high, p = ((19, 1), (12, rng.randrange(2, 10)), (30, rng.randrange(6, 16)))[level - 1]
    if level == 3:
        kinds += [rng.choice(("beetles", "ants")), "spiders"]
    rng.shuffle(kinds)
    counts = [rng.randrange(2, high) for _ in kinds]
    each = [2 if kind in _TWO_LEGS else _MANY_LEGS.get(kind, 4) for kind in kinds]
    legs = sum(count * one for count, one in zip(counts, each, strict=True))
    total, most = sum(counts), max(each)
    pairs = sum(one // 2 for count, one in zip(counts, each, strict=True) for _ in range(count))
    answer = agree(p * legs, 2 * p * pairs)
    phrases = [f"${count}$ {kind}" for count, kind in zip(counts, kinds, strict=True)]
    animals = f"{', '.join(phrases[:-1])} and {phrases[-1]}"
    wordings = _LEGS if level == 1 else _LEGS_PRICED
    told = tell(rng, wordings, animals=animals, p=p, name=rng.choice(NAMES))
    rules = [
        gold("modular", "legs come in pairs", divisible(2 * p)),
        gold(
            "bound",
            f"an animal has two to {most} legs, and not all have equally many",
            between(2 * p * total + 1, most * p * total - 1),
        ),
    ]
    lures: Lures = [
        (2 * p * total, "out_of_range"),
        (most * p * total, "out_of_range"),
        (p * total, "out_of_range"),
        (total, "encoded_form_not_applied"),
        (legs, "encoded_form_not_applied"),
        (p * sum(c * e for c, e in zip(counts, reversed(each), strict=True)), "other"),
        (p * sum(each), "other"),
        (p * (legs - counts[-1] * each[-1]), "other"),
        (p * (legs + total), "other"),
        (p * legs + 1, "arithmetic"),
    ]
    return Draft(told.text, answer, rules, lures)


_RATE = (
    r"A spring gives $<d>$ litres of water every <small>. How many litres does it give in <span>?",
    r"A machine makes $<d>$ toys every <small>, without ever stopping. How many toys does it make "
    r"in <span>?",
    r"How many dollars does it cost to park a trailer for <span>, at $<d>$ dollars for each "
    r"<small>?",
    r"A glacier moves $<d>$ millimetres every <small>. How many millimetres does it move in "
    r"<span>?",
    r"A web site gets $<d>$ new readers every <small>. How many new readers does it get in <span>?",
    r"<name> rents a boat for <span> and pays $<d>$ dollars for every <small>. What is the rent in "
    r"dollars?",
    r"In <span>, by how many millimetres does a plant grow that grows $<d>$ millimetres each "
    r"<small>?",
    r"<name>'s robot uses $<d>$ units of energy each <small> and is never switched off. How many "
    r"units does it use in <span>?",
)
_UNITS = (("day", "week", 7), ("month", "year", 12), ("hour", "day", 24))


@family(
    "implicit", ("modular", "bound"), "a rate over weeks, years or days, told for smaller units"
)
def rate_over_time(rng: Random, level: Level) -> Draft:
    """Ask for a total; how many days a week has is known."""
    small, big, unit = rng.choice(_UNITS[:2] if level == 1 else _UNITS)
    d, w, x = (
        (rng.randrange(2, 13), rng.randrange(2, 9), 0),
        (rng.randrange(3, 13), rng.randrange(2, 6), rng.randrange(2, unit - 1)),
        (rng.randrange(11, 30), rng.randrange(5, 16), rng.randrange(2, unit - 1)),
    )[level - 1]
    answer = agree(d * (unit * w + x), sum(d * unit for _ in range(w)) + d * x)
    span = f"${w}$ {big}s" + (f" and ${x}$ {small}s" if x else "")
    told = tell(rng, _RATE, d=d, small=small, span=span, name=rng.choice(NAMES))
    share = d if x else d * w
    rules = [
        gold(
            "modular",
            f"every part counts alike, so the answer is a multiple of {share}",
            divisible(share),
        ),
        gold("bound", f"a {big} has more than one {small}", above(d * (w + x))),
    ]
    if x:
        rules[1] = gold(
            "bound",
            f"the answer is above {d * unit * w} and below {d * unit * (w + 1)} "
            f"(that of {w} and {w + 1} {big}s)",
            between(d * unit * w + 1, d * unit * (w + 1) - 1),
        )
    lures: Lures = [
        (d * (w + x), "out_of_range"),
        (unit * w + x, "encoded_form_not_applied"),
        (d * unit + x, "other"),
        (d * (5 * w + x), "other"),
        (d * unit * (w + x), "other"),
        (d * unit * w + x, "other"),
        (d * unit * w, "other"),
        (d * (10 * w + x), "other"),
        (d * (30 * w + x), "other"),
        (answer + 1, "arithmetic"),
    ]
    return Draft(told.text, answer, rules, lures)


FAMILIES = (legs_counted, rate_over_time)
