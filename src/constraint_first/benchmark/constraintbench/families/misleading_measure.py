"""Misleading tier, measures: degrees and distances that suggest another answer."""

from __future__ import annotations

from itertools import accumulate
from random import Random

from constraint_first.benchmark.constraintbench.families.phrase import NAMES, stages, tell
from constraint_first.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from constraint_first.benchmark.constraintbench.item import Level
from constraint_first.constraint.demand import (
    all_of,
    below,
    congruent,
    divisible,
    integer,
)

__all__ = ["FAMILIES"]

_DEGREES = (
    (
        r"At dusk the thermometer shows $<a>$ degrees Celsius. Then «pace:the temperature falls by "
        r"$<d>$ degrees every hour» for $<h0>$ hours.",
        r"In the next $<h1>$ hours it rises again, by $<d>$ degrees an hour.",
        r"After that it falls by $<d>$ degrees an hour for another $<h2>$ hours.",
        r"What is the temperature then, in degrees Celsius?",
    ),
    (
        r"What temperature, in degrees Celsius, does <name> read at the end? A cold store starts "
        r"at $<a>$ degrees and «pace:is cooled by $<d>$ degrees an hour» for $<h0>$ hours.",
        r"Then a door stands open for $<h1>$ hours, and it gets warmer by $<d>$ degrees an hour.",
        r"Finally it is cooled by $<d>$ degrees an hour for $<h2>$ hours.",
        r"",
    ),
    (
        r"A chemist begins with a liquid at $<a>$ degrees Celsius and «pace:lowers its temperature "
        r"by $<d>$ degrees per minute» for $<h0>$ minutes.",
        r"For the following $<h1>$ minutes the temperature is raised by $<d>$ degrees per minute.",
        r"Then it is lowered once more by $<d>$ degrees per minute, for $<h2>$ minutes.",
        r"How many degrees Celsius does the liquid have at the end?",
    ),
    (
        r"A weather balloon is released where the air has $<a>$ degrees Celsius. «pace:With every "
        r"kilometre upwards the air is $<d>$ degrees colder.» The balloon rises $<h0>$ kilometres.",
        r"It then sinks by $<h1>$ kilometres.",
        r"At last it rises by $<h2>$ kilometres more.",
        r"Find the temperature of the air at the place it has reached, in degrees Celsius.",
    ),
    (
        r"In <name>'s town it is $<a>$ degrees Celsius on Sunday, and «pace:each day of the cold "
        r"spell that follows is $<d>$ degrees colder than the day before». The spell lasts $<h0>$ "
        r"days.",
        r"Afterwards each of $<h1>$ days is $<d>$ degrees warmer than the day before.",
        r"Then come $<h2>$ days that are again $<d>$ degrees colder, each than the day before.",
        r"What is the temperature in degrees Celsius on the last of these days?",
    ),
    (
        r"Find the temperature in degrees Celsius that a freezer shows at the end. It is $<a>$ "
        r"degrees warm when <name> switches it on; «pace:it loses $<d>$ degrees every ten "
        r"minutes», and this goes on for $<h0>$ times ten minutes.",
        r"During a power cut of $<h1>$ times ten minutes it gains $<d>$ degrees every ten minutes.",
        r"With the power back, it loses $<d>$ degrees every ten minutes, $<h2>$ times.",
        r"",
    ),
    (
        r"«pace:Each press of a button makes a room $<d>$ degrees colder»; at the start it has "
        r"$<a>$ degrees Celsius. <name> presses this button $<h0>$ times.",
        r"Then <name> presses $<h1>$ times another button, which makes it $<d>$ degrees warmer "
        r"each time.",
        r"Last, the first button is pressed $<h2>$ more times.",
        r"How many degrees Celsius does the room have now?",
    ),
    (
        r"A mountaineer reads $<a>$ degrees Celsius in the valley. «pace:For every hour of "
        r"climbing the temperature drops by $<d>$ degrees.» The climb takes $<h0>$ hours.",
        r"Then the mountaineer descends for $<h1>$ hours, and each of them brings $<d>$ degrees "
        r"back.",
        r"A second climb of $<h2>$ hours follows, with the same drop in every hour.",
        r"What does the thermometer show at the end, in degrees Celsius?",
    ),
)


@family("misleading", ("modular", "bound"), "'degrees' below zero, where an angle is positive")
def degrees_below_zero(rng: Random, level: Level) -> Draft | None:
    """Ask for a temperature that has fallen below zero."""
    d = rng.randrange(*((2, 6), (3, 8), (4, 9))[level - 1])
    a = rng.randrange(*((2, 13), (5, 25), (12, 40))[level - 1])
    hours = [rng.randrange(3, (9, 13, 14)[level - 1]), rng.randrange(2, 6), rng.randrange(3, 8)]
    signs = [-1, 1, -1][:level]
    used = hours[:level]
    answer = a + d * sum(sign * hour for sign, hour in zip(signs, used, strict=True))
    one_by_one = [
        a,
        *(sign * d for sign, hour in zip(signs, used, strict=True) for _ in range(hour)),
    ]
    agree(answer, list(accumulate(one_by_one))[-1])
    if answer >= -1 or hours[1] >= hours[0]:
        return None
    h0, h1, h2 = hours
    wordings = stages(_DEGREES, level)
    told = tell(rng, wordings, a=a, d=d, h0=h0, h1=h1, h2=h2, name=rng.choice(NAMES))
    falls, rises = sum(used[::2]), sum(used[1::2])
    rules = [
        gold(
            "modular",
            f"the temperature is congruent to {a} modulo {d}",
            congruent(a, d),
            told.span("pace"),
        ),
        gold(
            "bound",
            f"it falls longer than it rises, so it ends below {a}",
            below(a),
        ),
    ]
    lures: Lures = [
        (-answer, "misled_by_cue"),
        (answer % 360, "misled_by_cue"),
        (a + d * falls, "out_of_range"),
        (a + d * (falls + rises), "out_of_range"),
        (answer - a, "arithmetic"),
        (a - d * (falls + rises), "out_of_range"),
        (a - d, "arithmetic"),
        (a - d * hours[0], "arithmetic"),
        (a - falls + rises, "arithmetic"),
        (0, "misled_by_cue"),
    ]
    return Draft(told.text, answer, rules, lures)


_WALK = (
    r"<name> walks along a straight beach with steps of a «step:length of $<s>$ centimetres»: "
    r"<legs>. How many centimetres is <name> from the starting point at the end?",
    r"A robot moves on a rail in jumps, «step:each over a distance of $<s>$ millimetres». It makes "
    r"<legs>. At what distance from its start, in millimetres, does it stop?",
    r"What is the distance in centimetres between a crab's first and last place if it takes "
    r"<legs>, «step:each step having a length of $<s>$ centimetres», along one straight line?",
    r"In a dance every step is «step:$<s>$ centimetres long», and the dancer takes <legs> along "
    r"one line. Find the distance in centimetres from where the dance began to where it ends.",
    r"<name> pushes a trolley along a corridor of square slabs with «step:a side of length $<s>$ "
    r"centimetres», one slab at a time: <legs>. How far, in centimetres, is the trolley from "
    r"where it stood at first?",
    r"A tram track has marks at «step:a distance of $<s>$ metres from each other», and a tram "
    r"moves from mark to mark: <legs>. How many metres lie between where it started and where it "
    r"is now?",
    r"«step:One turn of a crank moves a sledge by a length of $<s>$ centimetres.» <name> makes "
    r"<legs>. By how many centimetres is the sledge away from its first position?",
    r"How far from home, in centimetres, is a toy tortoise that left home in a straight line with "
    r"steps of «step:length $<s>$ centimetres» and took <legs>?",
)
_NOUNS = ("steps", "jumps", "steps", "steps", "moves", "moves", "turns", "steps")


@family("misleading", ("modular", "bound"), "'distance': the way back counts against the way out")
def steps_from_start(rng: Random, level: Level) -> Draft | None:
    """Ask how far from the start a walk to and fro ends."""
    s = rng.randrange(*((2, 13), (13, 40), (13, 50))[level - 1])
    count = (2, 2, 3)[level - 1]
    legs = [rng.randrange(3, (15, 20, 20)[level - 1]) for _ in range(count)]
    signed = [leg if place % 2 == 0 else -leg for place, leg in enumerate(legs)]
    net = agree(sum(signed), sum(legs[::2]) - sum(legs[1::2]))
    if net < 2 or min(accumulate(signed)) < 1:
        return None
    which = rng.randrange(len(_WALK))
    noun = _NOUNS[which]
    first, *rest = [
        f"${leg}$ {'forwards' if place % 2 == 0 else 'back'}" for place, leg in enumerate(legs)
    ]
    legs_text = ", then ".join([first.replace("$ f", f"$ {noun} f"), *rest])
    told = tell(rng, (_WALK[which],), s=s, legs=legs_text, name=rng.choice(NAMES))
    rules = [
        gold("modular", f"whole {noun} of {s} are made", divisible(s), told.span("step")),
        gold(
            "bound",
            f"some {noun} go back, so it is nearer than all {sum(legs)} {noun}",
            all_of(integer(), below(s * sum(legs))),
        ),
    ]
    lures: Lures = [
        (s * sum(legs), "misled_by_cue"),
        (net, "encoded_form_not_applied"),
        (sum(legs), "misled_by_cue"),
        (s * legs[-1], "arithmetic"),
        (s * sum(signed[:-1]), "arithmetic"),
        (s * sum(signed[:2]), "arithmetic"),
        (s * sum(legs[::2]), "arithmetic"),
        (s * sum(legs[1::2]), "arithmetic"),
        (-s * net, "arithmetic"),
    ]
    return Draft(told.text, s * net, rules, lures)


FAMILIES = (degrees_below_zero, steps_from_start)
