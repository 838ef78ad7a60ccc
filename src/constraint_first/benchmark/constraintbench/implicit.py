"""Implicit tier: the demand follows from common knowledge, and nothing states it."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import ceil
from random import Random

from constraint_first.benchmark.constraintbench.family import (
    COUNT_WORDS,
    Draft,
    agree,
    family,
    gold,
    joined,
    listed,
    tell,
    wrong,
)
from constraint_first.benchmark.constraintbench.item import Level
from constraint_first.constraint.predicate import (
    above,
    between,
    congruent,
    divisible,
    least_residue,
)

implicit = partial(family, "implicit")

# Implicit tier, time: a clock counts minutes to 59.

_MINUTE_ONE = (
    r"A lesson begins at $<start>$ and lasts <times> minutes. At how many minutes past the hour "
    r"does it end?",
    r"<name> starts cooking at $<start>$, and the meal takes <times> minutes. How many minutes "
    r"past the full hour is it when the meal is ready?",
    r"A digital clock shows hours and minutes. It reads $<start>$ when <name> sets out on a walk "
    r"of <times> minutes. Which number do the minutes on the clock show at the end of the walk?",
    r"The train leaves at $<start>$ and travels for <times> minutes. What number stands after the "
    r"colon in the time of arrival?",
    r"At how many minutes past the hour does a concert of <times> minutes end that begins at "
    r"$<start>$?",
    r"<name> puts a loaf into the oven at $<start>$. It bakes for <times> minutes. The loaf comes "
    r"out some minutes after a full hour. How many?",
    r"A film of <times> minutes is shown from $<start>$ on. What does the minute display of a "
    r"digital clock show when it ends?",
    r"Work on a machine starts at $<start>$ and takes <times> minutes. What are the minutes in the "
    r"time, written as hours and minutes, at which the work is done?",
)
_MINUTE = (
    r"A lesson day begins at $<start>$ and consists of blocks of <times> minutes, one right after "
    r"the other. At how many minutes past the hour does the last block end?",
    r"<name> starts cooking at $<start>$; the steps take <times> minutes and follow one another at "
    r"once. How many minutes past the full hour is it when the meal is ready?",
    r"A digital clock shows hours and minutes. It reads $<start>$ when <name> sets out on a walk "
    r"whose parts take <times> minutes. Which number do the minutes on the clock show at the end "
    r"of the walk?",
    r"The train leaves at $<start>$ and its stages, without any stops between them, take <times> "
    r"minutes. What number stands after the colon in the time of arrival?",
    r"At how many minutes past the hour does a concert end that begins at $<start>$ and is made up "
    r"of pieces of <times> minutes, played without a pause?",
    r"<name> puts loaves into the oven one after another, the first at $<start>$. They bake for "
    r"<times> minutes. Which minute of the hour is it when the last loaf comes out?",
    r"Films of <times> minutes are shown back to back from $<start>$ on. What does the minute "
    r"display of a digital clock show when the last one ends?",
    r"Work on a machine starts at $<start>$. The jobs take <times> minutes, and there is no break "
    r"between them. What are the minutes in the time, written as hours and minutes, at which the "
    r"work is done?",
)


@implicit(("domain", "modular"), "the minutes that a clock shows, from 0 to 59")
def minute_display(rng: Random, level: Level) -> Draft | None:
    count, low, high = ((1, 11, 59), (1, 62, 175), (3, 13, 75))[level - 1]
    hour, minute = rng.randrange(7, 12), rng.randrange(11, 59)
    times = [rng.randrange(low, high) for _ in range(count)]
    total = sum(times)
    if minute + total < 61:
        return None
    clock = minute
    for time in times:
        clock = (clock + time) % 60
    answer = agree((minute + total) % 60, clock)
    told = tell(
        rng,
        _MINUTE_ONE if count == 1 else _MINUTE,
        start=f"{hour}:{minute:02d}",
        times=listed(times),
    )
    rules = [
        gold("domain", "the minutes of a clock go from 0 to 59", least_residue(60)),
        gold(
            "modular",
            "an hour has 60 minutes, so the last digits alone give the last digit",
            congruent(minute + total, 10),
        ),
    ]
    lures = [
        *wrong("forgot_modular_reduction", minute + total),
        *wrong("out_of_range", total),
        *wrong("other", total % 60),
        *wrong("forgot_modular_reduction", 60 * hour + minute + total),
        *wrong("encoded_form_not_applied", (minute + total) // 60),
        *wrong("other", 60 - answer),
        *wrong("out_of_range", (minute + total) % 100),
        *wrong("other", (minute + total - times[-1]) % 60),
        *wrong("forgot_modular_reduction", minute + total - 60),
        *wrong("encoded_form_not_applied", hour + (minute + total) // 60),
    ]
    return Draft(told, answer, rules, lures)


# Implicit tier, contests: who loses is out, and the winner is never out.

_KNOCKOUT = (
    r"<parts> players enter <cups>. In each match the loser is out, there are no draws, and the "
    r"last one left is the champion. A match lasts $<t>$ minutes. How many minutes of play are "
    r"there altogether?",
    r"A club runs <cups> with <parts> players, in which whoever loses a match goes home, until one "
    r"winner is left. Every match uses $<t>$ new balls. How many balls are used?",
    r"How many dollars do the referees cost for <cups> with <parts> teams, if a referee gets $<t>$ "
    r"dollars for a match and a team that loses is out at once?",
    r"<name> organises <cups> with <parts> chess players. Each game has a winner, the loser drops "
    r"out, and play goes on until only the champion remains. <name> records $<t>$ minutes of film "
    r"of each game. How many minutes of film is that in all?",
    r"In <cups>, <parts> wrestlers meet two at a time; the one who is beaten leaves, and the other "
    r"stays in, until a single one is left. A bout lasts $<t>$ minutes. Find the total length of "
    r"all bouts in minutes.",
    r"<cups_first> with <parts> teams. Teams are knocked out by losing one match, and the "
    r"cup goes to the only team that is never beaten. Each match brings in $<t>$ dollars. How many "
    r"dollars do all the matches bring in?",
    r"Rock, paper, scissors is played in <cups> by <parts> children. Whoever loses a round between "
    r"two children sits down, until one child is left standing. A round takes $<t>$ seconds. How "
    r"many seconds do all the rounds take, one after another?",
    r"At a school <parts> pupils enter <cups>. A pupil who loses is out, and the last one wins the "
    r"cup. For every match the school prints $<t>$ score sheets. How many sheets does it print?",
)
_CUPS = ("", "a knock-out cup", "two knock-out cups", "three knock-out cups")


@implicit(("modular", "bound"), "matches of a knock-out cup: everyone but one loses once")
def knockout_matches(rng: Random, level: Level) -> Draft:
    count, high, t = (
        (1, 21, rng.randrange(2, 13)),
        (2, 24, rng.randrange(3, 12)),
        (3, 50, rng.randrange(8, 22)),
    )[level - 1]
    parts = [rng.randrange(4, high) for _ in range(count)]
    total = sum(parts)
    played = 0
    for part in parts:
        left = part
        while left > 1:
            played, left = played + left // 2, left - left // 2
    matches = agree(total - count, played)
    cups = _CUPS[count]
    told = tell(
        rng,
        _KNOCKOUT,
        parts=listed(parts),
        cups=cups,
        cups_first=f"{cups.capitalize()} {'starts' if count == 1 else 'start'}",
        t=t,
    )
    rules = [
        gold(
            "modular", f"every match counts {t}, so the answer is a multiple of {t}", divisible(t)
        ),
        gold(
            "bound",
            "nobody loses twice, so there are fewer matches than players",
            between(t * (total // 2), t * (total - 1)),
        ),
    ]
    pairs = sum(part * (part - 1) // 2 for part in parts)
    lures = [
        *wrong("out_of_range", t * total),
        *wrong("other", t * (total - 1)),
        *wrong("encoded_form_not_applied", matches),
        *wrong("other", t * sum(part // 2 for part in parts)),
        *wrong("out_of_range", t * pairs),
        *wrong("encoded_form_not_applied", pairs),
        *wrong("other", t * sum(len(f"{part - 1:b}") for part in parts)),
        *wrong("out_of_range", t * (total + count)),
        *wrong("encoded_form_not_applied", total),
        *wrong("other", t * (total - 2 * count)),
    ]
    return Draft(told, t * matches, rules, lures)


# Implicit tier, counts of known things: the worth of coins, the sides of polygons.

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


@implicit(("modular", "bound"), "the cents that coins are worth, less what is spent")
def coins_worth(rng: Random, level: Level) -> Draft | None:
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
    told = tell(rng, _COINS if level == 1 else _COINS_SPENT, coins=joined(phrases), k=k, c=c)
    total, low, top = sum(counts), min(worth), max(worth)
    rules = [
        gold("modular", "every coin and every price is a multiple of 5 cents", divisible(5)),
        gold(
            "bound",
            f"a coin is worth {low} to {top} cents",
            between(max(1, low * total - k * c + 1), top * total - k * c - 1),
        ),
    ]
    lures = [
        *wrong("encoded_form_not_applied", cents, total),
        *wrong("out_of_range", top * total - k * c),
        *wrong(
            "other",
            cents - c,
            sum(n * one for n, one in zip(counts, reversed(worth), strict=True)) - k * c,
        ),
        *wrong("misled_by_cue", *([k * c] if k else [])),
        *wrong("other", cents - counts[0] * worth[0] - k * c),
        *wrong("arithmetic", answer + 1),
        *wrong("encoded_form_not_applied", f"{answer // 100}.{answer % 100:02d}"),
    ]
    return Draft(told, answer, rules, lures)


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


@implicit(("modular", "bound"), "the sides or corners of polygons")
def polygon_sides(rng: Random, level: Level) -> Draft:
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
    told = tell(rng, _SIDES if level == 1 else _SIDES_PRICED, shapes=joined(phrases), p=p)
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
    lures = [
        *wrong("out_of_range", few * p * total, many * p * total, p * total),
        *wrong("encoded_form_not_applied", total, sides),
        *wrong(
            "other",
            p * sum(n * one for n, one in zip(counts, reversed(each), strict=True)),
            p * sum(each),
            p * (sides - counts[-1] * each[-1]),
            p * (sides - total),
        ),
        *wrong("arithmetic", answer + 1),
    ]
    return Draft(told, answer, rules, lures)


# Implicit tier, facts: the legs of animals, the days of a week. The reader knows them.

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


@implicit(("modular", "bound"), "the legs of animals, which come in pairs")
def legs_counted(rng: Random, level: Level) -> Draft:
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
    animals = joined(phrases)
    wordings = _LEGS if level == 1 else _LEGS_PRICED
    told = tell(rng, wordings, animals=animals, p=p)
    rules = [
        gold("modular", "legs come in pairs", divisible(2 * p)),
        gold(
            "bound",
            f"an animal has two to {most} legs, and not all have equally many",
            between(2 * p * total + 1, most * p * total - 1),
        ),
    ]
    lures = [
        *wrong("out_of_range", 2 * p * total, most * p * total, p * total),
        *wrong("encoded_form_not_applied", total, legs),
        *wrong(
            "other",
            p * sum(c * e for c, e in zip(counts, reversed(each), strict=True)),
            p * sum(each),
            p * (legs - counts[-1] * each[-1]),
            p * (legs + total),
        ),
        *wrong("arithmetic", p * legs + 1),
    ]
    return Draft(told, answer, rules, lures)


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


@implicit(("modular", "bound"), "a rate over weeks, years or days, told for smaller units")
def rate_over_time(rng: Random, level: Level) -> Draft:
    small, big, unit = rng.choice(_UNITS[:2] if level == 1 else _UNITS)
    d, w, x = (
        (rng.randrange(2, 13), rng.randrange(2, 9), 0),
        (rng.randrange(3, 13), rng.randrange(2, 6), rng.randrange(2, unit - 1)),
        (rng.randrange(11, 30), rng.randrange(5, 16), rng.randrange(2, unit - 1)),
    )[level - 1]
    answer = agree(d * (unit * w + x), sum(d * unit for _ in range(w)) + d * x)
    span = f"${w}$ {big}s" + (f" and ${x}$ {small}s" if x else "")
    told = tell(rng, _RATE, d=d, small=small, span=span)
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
    lures = [
        *wrong("out_of_range", d * (w + x)),
        *wrong("encoded_form_not_applied", unit * w + x),
        *wrong(
            "other",
            d * unit + x,
            d * (5 * w + x),
            d * unit * (w + x),
            d * unit * w + x,
            d * unit * w,
            d * (10 * w + x),
            d * (30 * w + x),
        ),
        *wrong("arithmetic", answer + 1),
    ]
    return Draft(told, answer, rules, lures)


# Implicit tier, intervals: cuts, floors, pages. Ends count once, or not at all.

_CUTS = (
    r"<name> saws <n> logs into <parts> pieces. Each cut takes $<t>$ minutes. How many minutes "
    r"does the sawing take?",
    r"A baker cuts <n> long loaves into <parts> slices, one loaf after the other. Every cut takes "
    r"$<t>$ seconds. For how many seconds does the baker cut?",
    r"At $<t>$ cents for a cut, how many cents does a workshop charge for dividing <n> rods into "
    r"<parts> pieces?",
    r"<N> ribbons are cut into <parts> pieces. <name> needs $<t>$ seconds for each snip of the "
    r"scissors and snips one ribbon at a time. How many seconds does that take?",
    r"A plumber divides <n> straight pipes into <parts> sections and loses $<t>$ millimetres of "
    r"pipe at each cut. How many millimetres are lost altogether?",
    r"How many minutes does it take to saw <n> planks, one at a time, into <parts> pieces, if the "
    r"saw needs $<t>$ minutes to go through a plank once?",
    r"<name> breaks <n> sticks of chalk into <parts> pieces. Each break makes $<t>$ crumbs. How "
    r"many crumbs are made?",
    r"A machine cuts <n> bars of soap crosswise into <parts> pieces and uses $<t>$ joules for "
    r"every cut. How many joules does it use in all?",
)


@implicit(("modular", "bound"), "cuts: one fewer than pieces")
def saw_cuts(rng: Random, level: Level) -> Draft:
    count, high, t = (
        (2, 10, rng.randrange(2, 12)),
        (3, 20, rng.randrange(5, 16)),
        (4, 34, rng.randrange(11, 24)),
    )[level - 1]
    parts = [rng.randrange(3, high) for _ in range(count)]
    total = sum(parts)
    cuts = agree(total - count, sum(len(range(1, part)) for part in parts))
    told = tell(
        rng,
        _CUTS,
        parts=listed(parts),
        n=COUNT_WORDS[count],
        N=COUNT_WORDS[count].capitalize(),
        t=t,
    )
    rules = [
        gold("modular", f"every cut counts {t}, so the answer is a multiple of {t}", divisible(t)),
        gold(
            "bound",
            "there are fewer cuts than pieces, but not many fewer",
            between(t * (total - 2 * count), t * (total - 1)),
        ),
    ]
    lures = [
        *wrong("out_of_range", t * total),
        *wrong("other", t * (total - 1)),
        *wrong("encoded_form_not_applied", cuts),
        *wrong("out_of_range", t * (total + count), t * (total + 1)),
        *wrong("encoded_form_not_applied", total),
        *wrong("other", t * total - count, t * (parts[0] - 1), t * (total - 2 * count)),
    ]
    return Draft(told, t * cuts, rules, lures)


_FLOORS = (
    r"In a tower there are $<s>$ steps between each floor and the next. <name> walks from floor "
    r"<route>. How many steps is that altogether?",
    r"A lift takes $<s>$ seconds from one floor to the next. It goes from floor <route>, and the "
    r"stops are not counted. For how many seconds does it move?",
    r"Neighbouring floors of a car park are joined by ramps of $<s>$ metres. <name> drives from "
    r"floor <route>. How many metres of ramp does <name> drive?",
    r"How many steps does <name> take on the stairs on the way from floor <route>, if each floor "
    r"is $<s>$ steps above the one below it?",
    r"<name> delivers parcels by the stairs and goes from floor <route>. It takes $<s>$ steps to "
    r"get from a floor to the one above or below. How many steps does <name> take?",
    r"A window cleaner's platform needs $<s>$ seconds to pass from one floor to a neighbouring "
    r"one. It travels from floor <route>. Find its travelling time in seconds.",
    r"Between two neighbouring floors of a library there are $<s>$ stairs. A librarian carries "
    r"books from floor <route>. How many stairs does the librarian go up or down in all?",
    r"A robot uses $<s>$ units of energy for each floor that it climbs or descends. It is sent "
    r"from floor <route>. How many units of energy does it use?",
)


@implicit(("modular", "bound"), "stairs between floors, not floors")
def floors_climbed(rng: Random, level: Level) -> Draft | None:
    legs, top, s = (
        (1, 13, rng.randrange(3, 23)),
        (2, 13, rng.randrange(5, 23)),
        (3, 24, rng.randrange(12, 27)),
    )[level - 1]
    stops = [rng.randrange(1, top) for _ in range(legs + 1)]
    gaps = [abs(b - a) for a, b in pairwise(stops)]
    if min(gaps) < 2:
        return None
    walked = sum(len(range(min(a, b), max(a, b))) for a, b in pairwise(stops))
    total = agree(sum(gaps), walked)
    route = f"${stops[0]}$ to floor ${stops[1]}$" + "".join(
        f", then to floor ${stop}$" for stop in stops[2:]
    )
    told = tell(rng, _FLOORS, s=s, route=route)
    rules = [
        gold("modular", f"each floor counts {s}, so the answer is a multiple of {s}", divisible(s)),
        gold(
            "bound",
            "the differences of the floors tell the way to a floor or so",
            between(s * (total - legs), s * (total + legs)),
        ),
    ]
    lures = [
        *wrong("other", s * (total + legs), s * (total + 1), s * (total - legs)),
        *wrong("encoded_form_not_applied", total),
        *wrong(
            "other",
            s * abs(stops[-1] - stops[0]),
            s * sum(stops),
            s * max(stops),
            s * sum(stops[1:]),
        ),
        *wrong("out_of_range", s * (sum(stops) + legs)),
        *wrong("other", s * gaps[0]),
    ]
    return Draft(told, s * total, rules, lures)


_PAGES = (
    r"For homework <name> reads <ranges> of a book and needs $<t>$ minutes for a page. How many "
    r"minutes does <name> read?",
    r"A copy shop charges $<t>$ cents a page. <name> has <ranges> of a manual copied. How many "
    r"cents does <name> pay?",
    r"How many seconds does a scanner need for <ranges> of an old diary, if it takes $<t>$ seconds "
    r"for each page?",
    r"<name> translates <ranges> of a novel for $<t>$ dollars a page. How many dollars does <name> "
    r"earn?",
    r"Every page of an album has room for $<t>$ photographs. <Ranges> are full and the others are "
    r"empty. How many photographs are in the album?",
    r"A proofreader finds exactly $<t>$ mistakes on every one of <ranges>. Find the number of "
    r"mistakes on these pages.",
    r"In <name>'s exercise book <ranges> have $<t>$ lines each. How many lines do these pages have "
    r"altogether?",
    r"<name> learns $<t>$ new words from each page of a textbook. The test covers <ranges>. How "
    r"many words must <name> know for the test?",
)


@implicit(("modular", "bound"), "pages from one to another, both read")
def pages_read(rng: Random, level: Level) -> Draft:
    count, high, t = (
        (1, 30, rng.randrange(2, 10)),
        (2, 50, rng.randrange(4, 15)),
        (4, 90, rng.randrange(7, 24)),
    )[level - 1]
    ends: list[tuple[int, int]] = []
    last = rng.randrange(3, 40 * level)
    for _ in range(count):
        first = last + rng.randrange(2, 20)
        last = first + rng.randrange(6, high)
        ends.append((first, last))
    spans = sum(b - a for a, b in ends)
    pages = agree(spans + count, sum(len(range(a, b + 1)) for a, b in ends))
    ranges = joined([f"${a}$ to ${b}$" for a, b in ends])
    told = tell(rng, _PAGES, ranges=f"pages {ranges}", Ranges=f"Pages {ranges}", t=t)
    rules = [
        gold("modular", f"each page counts {t}, so the answer is a multiple of {t}", divisible(t)),
        gold(
            "bound",
            "the differences of the page numbers tell the pages to one or two",
            between(t * (spans - count), t * (spans + 2 * count)),
        ),
    ]
    lures = [
        *wrong("other", t * spans, t * (spans + 1), t * (spans - count)),
        *wrong("encoded_form_not_applied", pages, spans),
        *wrong(
            "out_of_range", t * last, t * sum(b for _, b in ends), t * sum(a + b for a, b in ends)
        ),
        *wrong("other", t * (pages + count), t * (last - ends[0][0] + 1)),
    ]
    return Draft(told, t * pages, rules, lures)


# Implicit tier, lengths: a way there is also a way back.

_COMMUTE_ONE = (
    r"<name> goes to work on <parts> days, always in the car, and comes home again every evening. "
    r"The office is $<d>$ kilometres from home. How many kilometres does <name> drive?",
    r"On <parts> days <name> takes the bus to school in the morning and the bus back home in the "
    r"afternoon. The school is $<d>$ kilometres away. How many kilometres does <name> ride?",
    r"A ferry makes <parts> round trips to an island that is $<d>$ kilometres away. How many "
    r"kilometres does the ferry sail?",
    r"A bee flies <parts> times from the hive to a meadow and each time carries the nectar back to "
    r"the hive. The meadow is $<d>$ metres from the hive. How many metres does the bee fly?",
    r"<name> fetches <parts> buckets of water from a well and carries them home one at a time, "
    r"starting from the house. The well is $<d>$ metres from the house. How many metres does "
    r"<name> walk?",
    r"<name> takes <parts> parcels from the shop to the post office, one at a time, and returns to "
    r"the shop after each of them. The way is $<d>$ metres long. How many metres does <name> walk?",
    r"How many kilometres does a truck drive that brings <parts> loads of sand from a quarry to a "
    r"site, one at a time, and returns to the quarry after each load, if the site is $<d>$ "
    r"kilometres away?",
    r"<name> visits a grandmother <parts> times and drives home after every visit. The grandmother "
    r"lives $<d>$ kilometres from <name>. How many kilometres does <name> drive?",
)
_COMMUTE = (
    r"<name> lives $<d>$ kilometres from the office, drives to work in the morning and comes home "
    r"every evening. In <n> months <name> worked on <parts> days. How many kilometres did <name> "
    r"drive because of work?",
    r"The school is $<d>$ kilometres from <name>'s home. <name> takes the bus to school in the "
    r"morning and home in the afternoon, on <parts> days of <n> months. How many kilometres did "
    r"<name> ride on the bus?",
    r"On <n> days a ferry makes <parts> round trips to an island. The island is $<d>$ kilometres "
    r"away. How many kilometres does the ferry sail?",
    r"A bee flies from the hive to a meadow $<d>$ metres away and brings the nectar back at once. "
    r"On <n> days it visits the meadow <parts> times. How many metres does it fly?",
    r"<name> fetches water from a well $<d>$ metres from the house and carries it home, one bucket "
    r"at a time. On <n> days <name> needs <parts> buckets. How many metres does <name> walk for "
    r"the water?",
    r"The post office is $<d>$ metres from <name>'s shop. On <n> days <name> takes <parts> parcels "
    r"there, one parcel at a time, and returns to the shop after each of them. How many metres "
    r"does <name> walk for the parcels?",
    r"How many kilometres does a truck drive that brings <parts> loads of sand in <n> weeks from a "
    r"quarry to a site $<d>$ kilometres away, one load at a time, and returns to the quarry after "
    r"each load?",
    r"<name> visits a grandmother who lives $<d>$ kilometres away, <parts> times in <n> years, and "
    r"drives straight home after every visit. How many kilometres does <name> drive for these "
    r"visits?",
)


@implicit(("modular", "bound"), "ways that are gone twice: there and back")
def there_and_back(rng: Random, level: Level) -> Draft:
    count, high, d = (
        (1, 16, rng.randrange(2, 13)),
        (2, 12, rng.randrange(3, 13)),
        (3, 24, rng.randrange(11, 28)),
    )[level - 1]
    parts = [rng.randrange(3, high) for _ in range(count)]
    total = sum(parts)
    tens = sum(part // 10 * 10 for part in parts)
    answer = agree(2 * d * total, sum(d + d for part in parts for _ in range(part)))
    told = tell(
        rng,
        _COMMUTE_ONE if level == 1 else _COMMUTE,
        parts=listed(parts),
        n=COUNT_WORDS[count],
        d=d,
    )
    rules = [
        gold(
            "modular",
            f"the answer is a multiple of {2 * d}, the way there and back",
            divisible(2 * d),
        ),
        gold(
            "bound",
            "every way is gone in both directions, and the ways are known to tens",
            between(2 * d * max(max(parts), tens), 2 * d * (tens + 10 * count)),
        ),
    ]
    lures = [
        *wrong("other", d * total),
        *wrong("encoded_form_not_applied", total, 2 * total),
        *wrong("other", 2 * d * parts[0], d * parts[0]),
        *wrong("out_of_range", 4 * d * total),
        *wrong("other", count * d * total, 2 * d * count, 2 * d + total, d + total),
    ]
    return Draft(told, answer, rules, lures)


# Implicit tier, purchases: packs and boxes come whole, and nothing says so.

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


@implicit(("modular", "bound"), "the price of enough whole packs")
def whole_packs_cost(rng: Random, level: Level) -> Draft | None:
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
    )
    rules = [
        gold("modular", f"packs are bought whole, so the price is a multiple of {c}", divisible(c)),
        gold(
            "bound",
            "the packs hold all that is needed, and hardly more",
            between(Fraction(total * c, p), Fraction(total * c, p) + 2 * c),
        ),
    ]
    lures = [
        *wrong("out_of_range", packs * c - c),
        *wrong("not_an_integer", Fraction(total * c, p)),
        *wrong("encoded_form_not_applied", packs),
        *wrong("other", sum(-(-part // p) for part in parts) * c, total * c),
        *wrong("encoded_form_not_applied", total),
        *wrong("broken_condition", round(Fraction(total * c, p)), ceil(Fraction(total * c, p))),
        *wrong("other", packs * c + c),
        *wrong("encoded_form_not_applied", packs - 1),
    ]
    return Draft(told, packs * c, rules, lures)


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


@implicit(("modular", "bound"), "the income from full boxes only")
def full_boxes_income(rng: Random, level: Level) -> Draft | None:
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
    lures = [
        *wrong("out_of_range", boxes * c + c),
        *wrong("not_an_integer", Fraction(total * c, p)),
        *wrong("encoded_form_not_applied", boxes),
        *wrong("other", sum(part // p for part in parts) * c),
        *wrong("out_of_range", total * c),
        *wrong("broken_condition", round(Fraction(total * c, p)), total * c // p),
        *wrong("encoded_form_not_applied", total),
        *wrong("misled_by_cue", total % p),
        *wrong("other", boxes * c - c),
    ]
    return Draft(told, boxes * c, rules, lures)
