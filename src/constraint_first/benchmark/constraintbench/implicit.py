"""Implicit tier: the demand follows from common knowledge and is not stated."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import ceil
from random import Random

from constraint_first.benchmark.constraintbench.family import (
    COUNT_WORDS,
    Draft,
    Level,
    agree,
    family,
    joined,
    listed,
)
from constraint_first.constraint.predicate import (
    above,
    between,
    congruent,
    divisible,
    least_residue,
)

implicit = partial(family, "implicit")

# Implicit tier, time: a clock counts minutes to 59.


@implicit(r"""the minutes that a clock shows, from 0 to 59
12- A lesson begins at $<start>$ and lasts <times> minutes. At how many minutes past the hour does
  it end?
12- <name> starts cooking at $<start>$, and the meal takes <times> minutes. How many minutes past
  the full hour is it when the meal is ready?
12- A digital clock shows hours and minutes. It reads $<start>$ when <name> sets out on a walk of
  <times> minutes. Which number do the minutes on the clock show at the end of the walk?
12- The train leaves at $<start>$ and travels for <times> minutes. What number stands after the
  colon in the time of arrival?
12- At how many minutes past the hour does a concert of <times> minutes end that begins at
  $<start>$?
12- <name> puts a loaf into the oven at $<start>$. It bakes for <times> minutes. The loaf comes out
  some minutes after a full hour. How many?
12- A film of <times> minutes is shown from $<start>$ on. What does the minute display of a digital
  clock show when it ends?
12- Work on a machine starts at $<start>$ and takes <times> minutes. What are the minutes in the
  time, written as hours and minutes, at which the work is done?
3- A lesson day begins at $<start>$ and consists of blocks of <times> minutes, one right after the
  other. At how many minutes past the hour does the last block end?
3- <name> starts cooking at $<start>$; the steps take <times> minutes and follow one another at
  once. How many minutes past the full hour is it when the meal is ready?
3- A digital clock shows hours and minutes. It reads $<start>$ when <name> sets out on a walk whose
  parts take <times> minutes. Which number do the minutes on the clock show at the end of the walk?
3- The train leaves at $<start>$ and its stages, without any stops between them, take <times>
  minutes. What number stands after the colon in the time of arrival?
3- At how many minutes past the hour does a concert end that begins at $<start>$ and is made up of
  pieces of <times> minutes, played without a pause?
3- <name> puts loaves into the oven one after another, the first at $<start>$. They bake for <times>
  minutes. Which minute of the hour is it when the last loaf comes out?
3- Films of <times> minutes are shown back to back from $<start>$ on. What does the minute display
  of a digital clock show when the last one ends?
3- Work on a machine starts at $<start>$. The jobs take <times> minutes, and there is no break
  between them. What are the minutes in the time, written as hours and minutes, at which the work is
  done?
""")
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
    draft = Draft(answer, start=f"{hour}:{minute:02d}", times=listed(times))
    draft.rule(least_residue(60), "the minutes of a clock go from 0 to 59", kind="domain")
    draft.rule(
        congruent(minute + total, 10),
        "an hour has 60 minutes, so the last digits alone give the last digit",
    )
    draft.wrong("forgot_modular_reduction", minute + total)
    draft.wrong("out_of_range", total)
    draft.wrong("other", total % 60)
    draft.wrong("forgot_modular_reduction", 60 * hour + minute + total)
    draft.wrong("encoded_form_not_applied", (minute + total) // 60)
    draft.wrong("other", 60 - answer)
    draft.wrong("out_of_range", (minute + total) % 100)
    draft.wrong("other", (minute + total - times[-1]) % 60)
    draft.wrong("forgot_modular_reduction", minute + total - 60)
    draft.wrong("encoded_form_not_applied", hour + (minute + total) // 60)
    return draft


# Implicit tier, contests: every loser is eliminated, and the winner never is.

_CUPS = ("", "a knock-out cup", "two knock-out cups", "three knock-out cups")


@implicit(r"""matches of a knock-out cup: everyone but one loses once
- <parts> players enter <cups>. In each match the loser is out, there are no draws, and the last one
  left is the champion. A match lasts $<t>$ minutes. How many minutes of play are there altogether?
- A club runs <cups> with <parts> players, in which whoever loses a match goes home, until one
  winner is left. Every match uses $<t>$ new balls. How many balls are used?
- How many dollars do the referees cost for <cups> with <parts> teams, if a referee gets $<t>$
  dollars for a match and a team that loses is out at once?
- <name> organises <cups> with <parts> chess players. Each game has a winner, the loser drops out,
  and play goes on until only the champion remains. <name> records $<t>$ minutes of film of each
  game. How many minutes of film is that in all?
- In <cups>, <parts> wrestlers meet two at a time; the one who is beaten leaves, and the other stays
  in, until a single one is left. A bout lasts $<t>$ minutes. Find the total length of all bouts in
  minutes.
- <cups_first> with <parts> teams. Teams are knocked out by losing one match, and the cup goes to
  the only team that is never beaten. Each match brings in $<t>$ dollars. How many dollars do all
  the matches bring in?
- Rock, paper, scissors is played in <cups> by <parts> children. Whoever loses a round between two
  children sits down, until one child is left standing. A round takes $<t>$ seconds. How many
  seconds do all the rounds take, one after another?
- At a school <parts> pupils enter <cups>. A pupil who loses is out, and the last one wins the cup.
  For every match the school prints $<t>$ score sheets. How many sheets does it print?
""")
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
    draft = Draft(
        t * matches,
        parts=listed(parts),
        cups=cups,
        cups_first=f"{cups.capitalize()} {'starts' if count == 1 else 'start'}",
        t=t,
    )
    draft.rule(divisible(t), f"every match counts {t}, so the answer is a multiple of {t}")
    draft.rule(
        between(t * (total // 2), t * (total - 1)),
        "nobody loses twice, so there are fewer matches than players",
    )
    pairs = sum(part * (part - 1) // 2 for part in parts)
    draft.wrong("out_of_range", t * total)
    draft.wrong("other", t * (total - 1))
    draft.wrong("encoded_form_not_applied", matches)
    draft.wrong("other", t * sum(part // 2 for part in parts))
    draft.wrong("out_of_range", t * pairs)
    draft.wrong("encoded_form_not_applied", pairs)
    draft.wrong("other", t * sum(len(f"{part - 1:b}") for part in parts))
    draft.wrong("out_of_range", t * (total + count))
    draft.wrong("encoded_form_not_applied", total)
    draft.wrong("other", t * (total - 2 * count))
    return draft


# Implicit tier, known quantities: the value of coins, the sides of polygons.

_WORTH = {"quarters": 25, "dimes": 10, "nickels": 5}


@implicit(r"""the cents that coins are worth, less what is spent
1- <name> has <coins>. How many cents is that altogether?
1- How many cents are <coins> worth?
1- In a jar there are <coins>. What is their value in cents?
1- <name> empties a piggy bank and finds <coins>. How many cents did <name> save?
1- A vending machine took in <coins>. How many cents are in the machine?
1- <name> pays the exact fare for a ride with <coins>. How many cents does the ride cost?
1- Under the sofa <name> finds <coins>. Find the total in cents.
1- A street musician got <coins>. How many cents did the musician get?
23- <name> has <coins> and buys $<k>$ stamps at $<c>$ cents each. How many cents does <name> have
  left?
23- How many cents are left of <coins> after $<k>$ buns at $<c>$ cents each have been paid for?
23- A vending machine took in <coins> and $<k>$ times gave back $<c>$ cents. How many cents more
  than before are in the machine?
23- <name> empties a piggy bank with <coins> and spends part of the money on $<k>$ pens, which cost
  $<c>$ cents each. How much is left, in cents?
23- A street musician got <coins> and paid $<k>$ fares of $<c>$ cents each. How many cents remained?
23- For a lemonade stand <name> has <coins> and buys $<k>$ lemons at $<c>$ cents each. How much
  money is left, in cents?
23- From a purse with <coins> <name> pays for $<k>$ rides at $<c>$ cents each. How many cents does
  the purse hold then?
23- <name> brings <coins> to a fair and plays $<k>$ games for $<c>$ cents each. With how many cents
  does <name> go home?
""")
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
    draft = Draft(answer, coins=joined(phrases), k=k, c=c)
    total, low, top = sum(counts), min(worth), max(worth)
    draft.rule(divisible(5), "every coin and every price is a multiple of 5 cents")
    draft.rule(
        between(max(1, low * total - k * c + 1), top * total - k * c - 1),
        f"a coin is worth {low} to {top} cents",
    )
    draft.wrong("encoded_form_not_applied", cents, total)
    draft.wrong("out_of_range", top * total - k * c)
    draft.wrong("other", cents - c)
    draft.wrong(
        "other", sum(n * one for n, one in zip(counts, reversed(worth), strict=True)) - k * c
    )
    draft.wrong("misled_by_cue", *([k * c] if k else []))
    draft.wrong("other", cents - counts[0] * worth[0] - k * c)
    draft.wrong("arithmetic", answer + 1)
    draft.wrong("encoded_form_not_applied", f"{answer // 100}.{answer % 100:02d}")
    return draft


_POLYGONS = ((("triangles", 3), ("hexagons", 6)), (("squares", 4), ("octagons", 8)))


@implicit(r"""the sides or corners of polygons
1- <name> lays <shapes> with matches, one match for each side. No match belongs to two shapes. How
  many matches does <name> use?
1- How many sides do <shapes> have altogether?
1- <name> draws <shapes>. How many corners do these shapes have altogether?
1- A frame maker glues one strip of wood along each side of <shapes>. How many strips are needed?
1- Each corner of <shapes> is marked with a dot. How many dots are there?
1- There are <shapes> on a sheet of paper, none touching another. Find the total number of their
  sides.
1- A tailor sews one button on every corner of <shapes> made of cloth. How many buttons does the
  tailor sew on?
1- <name> cuts <shapes> out of card and glues a ribbon to every side. How many ribbons does <name>
  need?
23- <name> lays <shapes> with sticks, one stick for each side. No stick belongs to two shapes. A
  stick costs $<p>$ cents. How many cents do the sticks cost?
23- How many seconds does it take to draw all the sides of <shapes>, at $<p>$ seconds a side?
23- A tailor sews $<p>$ beads on every corner of <shapes> made of cloth. How many beads does the
  tailor need?
23- <name> cuts <shapes> out of card. Every side gets a ribbon of $<p>$ centimetres. How many
  centimetres of ribbon does <name> use?
23- For each corner of <shapes> <name> gets $<p>$ points. How many points does <name> get?
23- A frame maker glues one strip of wood along each side of <shapes>. A strip weighs $<p>$ grams.
  What do all the strips weigh in grams?
23- <name> nails <shapes> made of wood to a wall, with $<p>$ nails in each corner. How many nails
  does <name> use?
23- At $<p>$ cents for each side, how many cents does a sign painter charge for <shapes>?
""")
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
    draft = Draft(answer, shapes=joined(phrases), p=p)
    total, few, many = sum(counts), min(each), max(each)
    share = p if level == 3 else p * few
    draft.rule(divisible(share), f"every shape adds a multiple of {share}")
    draft.rule(
        between(few * p * total + 1, many * p * total - 1),
        f"a shape has {few} to {many} sides, and not all have equally many",
    )
    draft.wrong("out_of_range", few * p * total, many * p * total, p * total)
    draft.wrong("encoded_form_not_applied", total, sides)
    draft.wrong("other", p * sum(n * one for n, one in zip(counts, reversed(each), strict=True)))
    draft.wrong("other", p * sum(each), p * (sides - counts[-1] * each[-1]), p * (sides - total))
    draft.wrong("arithmetic", answer + 1)
    return draft


# Implicit tier, facts of common knowledge: the legs of animals, the days of a week.

_TWO_LEGS = ("hens", "ducks", "geese", "swans", "crows")
_FOUR_LEGS = ("cows", "goats", "horses", "dogs", "cats", "sheep", "pigs")
_MANY_LEGS = {"beetles": 6, "ants": 6, "spiders": 8}


@implicit(r"""the legs of animals, which come in pairs
1- There are <animals> on a farm. How many legs do these animals have altogether?
1- How many legs do <animals> have in all?
1- <name> draws <animals> and gives each animal all of its legs. How many legs does <name> draw?
1- <animals> walk through fresh snow, and every foot leaves a track. How many feet leave tracks?
1- A vet examines every leg of <animals>. How many legs does the vet examine?
1- In a meadow <name> counts <animals>. Find the total number of their legs.
1- <name> makes toy animals: <animals>. Every leg is one wooden stick. How many sticks does <name>
  need for the legs?
1- In a puppet show there are <animals>, with as many legs as real ones. How many legs do the
  puppets have altogether?
23- A toy shop sells <animals>. Each leg gets a ring, and a ring costs $<p>$ cents. How many cents
  do the rings cost?
23- <name> makes <animals> out of clay and needs $<p>$ grams for every leg. How many grams of clay
  go into the legs?
23- A vet checks every leg of <animals>, and each leg takes $<p>$ seconds. How many seconds does the
  vet need?
23- How many minutes does <name> need to paint the legs of <animals>, all made of wood, at $<p>$
  minutes a leg?
23- For a cartoon <name> draws <animals>, with a shoe on every foot. A shoe takes $<p>$ seconds to
  draw. How many seconds does <name> need for the shoes?
23- <name> knits for toy animals, one sock for each leg. There are <animals>. A sock takes $<p>$
  metres of wool. How many metres of wool does <name> use?
23- A museum builds models of <animals>. Every leg is held by $<p>$ screws. How many screws hold the
  legs?
23- At $<p>$ cents for each leg, how many cents does a toy maker charge for the legs of <animals>?
""")
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
    draft = Draft(answer, animals=animals, p=p)
    draft.rule(divisible(2 * p), "legs come in pairs")
    draft.rule(
        between(2 * p * total + 1, most * p * total - 1),
        f"an animal has two to {most} legs, and not all have equally many",
    )
    draft.wrong("out_of_range", 2 * p * total, most * p * total, p * total)
    draft.wrong("encoded_form_not_applied", total, legs)
    draft.wrong("other", p * sum(c * e for c, e in zip(counts, reversed(each), strict=True)))
    draft.wrong("other", p * sum(each), p * (legs - counts[-1] * each[-1]), p * (legs + total))
    draft.wrong("arithmetic", p * legs + 1)
    return draft


_UNITS = (("day", "week", 7), ("month", "year", 12), ("hour", "day", 24))


@implicit(r"""a rate over weeks, years or days, told for smaller units
- A spring gives $<d>$ litres of water every <small>. How many litres does it give in <span>?
- A machine makes $<d>$ toys every <small>, without ever stopping. How many toys does it make in
  <span>?
- How many dollars does it cost to park a trailer for <span>, at $<d>$ dollars for each <small>?
- A glacier moves $<d>$ millimetres every <small>. How many millimetres does it move in <span>?
- A web site gets $<d>$ new readers every <small>. How many new readers does it get in <span>?
- <name> rents a boat for <span> and pays $<d>$ dollars for every <small>. What is the rent in
  dollars?
- In <span>, by how many millimetres does a plant grow that grows $<d>$ millimetres each <small>?
- <name>'s robot uses $<d>$ units of energy each <small> and is never switched off. How many units
  does it use in <span>?
""")
def rate_over_time(rng: Random, level: Level) -> Draft:
    small, big, unit = rng.choice(_UNITS[:2] if level == 1 else _UNITS)
    d, w, x = (
        (rng.randrange(2, 13), rng.randrange(2, 9), 0),
        (rng.randrange(3, 13), rng.randrange(2, 6), rng.randrange(2, unit - 1)),
        (rng.randrange(11, 30), rng.randrange(5, 16), rng.randrange(2, unit - 1)),
    )[level - 1]
    answer = agree(d * (unit * w + x), sum(d * unit for _ in range(w)) + d * x)
    span = f"${w}$ {big}s" + (f" and ${x}$ {small}s" if x else "")
    draft = Draft(answer, d=d, small=small, span=span)
    share = d if x else d * w
    draft.rule(divisible(share), f"every part counts alike, so the answer is a multiple of {share}")
    if x:
        draft.rule(
            between(d * unit * w + 1, d * unit * (w + 1) - 1),
            f"the answer is above {d * unit * w} and below {d * unit * (w + 1)} "
            f"(that of {w} and {w + 1} {big}s)",
        )
    else:
        draft.rule(above(d * (w + x)), f"a {big} has more than one {small}")
    draft.wrong("out_of_range", d * (w + x))
    draft.wrong("encoded_form_not_applied", unit * w + x)
    draft.wrong("other", d * unit + x, d * (5 * w + x), d * unit * (w + x), d * unit * w + x)
    draft.wrong("other", d * unit * w, d * (10 * w + x), d * (30 * w + x))
    draft.wrong("arithmetic", answer + 1)
    return draft


# Implicit tier, intervals: cuts, floors, pages. The question is whether the ends are counted.


@implicit(r"""cuts: one fewer than pieces
- <name> saws <n> logs into <parts> pieces. Each cut takes $<t>$ minutes. How many minutes does the
  sawing take?
- A baker cuts <n> long loaves into <parts> slices, one loaf after the other. Every cut takes $<t>$
  seconds. For how many seconds does the baker cut?
- At $<t>$ cents for a cut, how many cents does a workshop charge for dividing <n> rods into <parts>
  pieces?
- <N> ribbons are cut into <parts> pieces. <name> needs $<t>$ seconds for each snip of the scissors
  and snips one ribbon at a time. How many seconds does that take?
- A plumber divides <n> straight pipes into <parts> sections and loses $<t>$ millimetres of pipe at
  each cut. How many millimetres are lost altogether?
- How many minutes does it take to saw <n> planks, one at a time, into <parts> pieces, if the saw
  needs $<t>$ minutes to go through a plank once?
- <name> breaks <n> sticks of chalk into <parts> pieces. Each break makes $<t>$ crumbs. How many
  crumbs are made?
- A machine cuts <n> bars of soap crosswise into <parts> pieces and uses $<t>$ joules for every cut.
  How many joules does it use in all?
""")
def saw_cuts(rng: Random, level: Level) -> Draft:
    count, high, t = (
        (2, 10, rng.randrange(2, 12)),
        (3, 20, rng.randrange(5, 16)),
        (4, 34, rng.randrange(11, 24)),
    )[level - 1]
    parts = [rng.randrange(3, high) for _ in range(count)]
    total = sum(parts)
    cuts = agree(total - count, sum(len(range(1, part)) for part in parts))
    draft = Draft(
        t * cuts, parts=listed(parts), n=COUNT_WORDS[count], N=COUNT_WORDS[count].capitalize(), t=t
    )
    draft.rule(divisible(t), f"every cut counts {t}, so the answer is a multiple of {t}")
    draft.rule(
        between(t * (total - 2 * count), t * (total - 1)),
        "there are fewer cuts than pieces, but not many fewer",
    )
    draft.wrong("out_of_range", t * total)
    draft.wrong("other", t * (total - 1))
    draft.wrong("encoded_form_not_applied", cuts)
    draft.wrong("out_of_range", t * (total + count), t * (total + 1))
    draft.wrong("encoded_form_not_applied", total)
    draft.wrong("other", t * total - count, t * (parts[0] - 1), t * (total - 2 * count))
    return draft


@implicit(r"""stairs between floors, not floors
- In a tower there are $<s>$ steps between each floor and the next. <name> walks from floor <route>.
  How many steps is that altogether?
- A lift takes $<s>$ seconds from one floor to the next. It goes from floor <route>, and the stops
  are not counted. For how many seconds does it move?
- Neighbouring floors of a car park are joined by ramps of $<s>$ metres. <name> drives from floor
  <route>. How many metres of ramp does <name> drive?
- How many steps does <name> take on the stairs on the way from floor <route>, if each floor is
  $<s>$ steps above the one below it?
- <name> delivers parcels by the stairs and goes from floor <route>. It takes $<s>$ steps to get
  from a floor to the one above or below. How many steps does <name> take?
- A window cleaner's platform needs $<s>$ seconds to pass from one floor to a neighbouring one. It
  travels from floor <route>. Find its travelling time in seconds.
- Between two neighbouring floors of a library there are $<s>$ stairs. A librarian carries books
  from floor <route>. How many stairs does the librarian go up or down in all?
- A robot uses $<s>$ units of energy for each floor that it climbs or descends. It is sent from
  floor <route>. How many units of energy does it use?
""")
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
    draft = Draft(s * total, s=s, route=route)
    draft.rule(divisible(s), f"each floor counts {s}, so the answer is a multiple of {s}")
    draft.rule(
        between(s * (total - legs), s * (total + legs)),
        "the differences of the floors tell the way to a floor or so",
    )
    draft.wrong("other", s * (total + legs), s * (total + 1), s * (total - legs))
    draft.wrong("encoded_form_not_applied", total)
    draft.wrong(
        "other", s * abs(stops[-1] - stops[0]), s * sum(stops), s * max(stops), s * sum(stops[1:])
    )
    draft.wrong("out_of_range", s * (sum(stops) + legs))
    draft.wrong("other", s * gaps[0])
    return draft


@implicit(r"""pages from one to another, both read
- For homework <name> reads <ranges> of a book and needs $<t>$ minutes for a page. How many minutes
  does <name> read?
- A copy shop charges $<t>$ cents a page. <name> has <ranges> of a manual copied. How many cents
  does <name> pay?
- How many seconds does a scanner need for <ranges> of an old diary, if it takes $<t>$ seconds for
  each page?
- <name> translates <ranges> of a novel for $<t>$ dollars a page. How many dollars does <name> earn?
- Every page of an album has room for $<t>$ photographs. <Ranges> are full and the others are empty.
  How many photographs are in the album?
- A proofreader finds exactly $<t>$ mistakes on every one of <ranges>. Find the number of mistakes
  on these pages.
- In <name>'s exercise book <ranges> have $<t>$ lines each. How many lines do these pages have
  altogether?
- <name> learns $<t>$ new words from each page of a textbook. The test covers <ranges>. How many
  words must <name> know for the test?
""")
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
    draft = Draft(t * pages, ranges=f"pages {ranges}", Ranges=f"Pages {ranges}", t=t)
    draft.rule(divisible(t), f"each page counts {t}, so the answer is a multiple of {t}")
    draft.rule(
        between(t * (spans - count), t * (spans + 2 * count)),
        "the differences of the page numbers tell the pages to one or two",
    )
    draft.wrong("other", t * spans, t * (spans + 1), t * (spans - count))
    draft.wrong("encoded_form_not_applied", pages, spans)
    draft.wrong(
        "out_of_range", t * last, t * sum(b for _, b in ends), t * sum(a + b for a, b in ends)
    )
    draft.wrong("other", t * (pages + count), t * (last - ends[0][0] + 1))
    return draft


# Implicit tier, lengths: a trip there and back is twice the way.


@implicit(r"""ways that are gone twice: there and back
1- <name> goes to work on <parts> days, always in the car, and comes home again every evening. The
  office is $<d>$ kilometres from home. How many kilometres does <name> drive?
1- On <parts> days <name> takes the bus to school in the morning and the bus back home in the
  afternoon. The school is $<d>$ kilometres away. How many kilometres does <name> ride?
1- A ferry makes <parts> round trips to an island that is $<d>$ kilometres away. How many kilometres
  does the ferry sail?
1- A bee flies <parts> times from the hive to a meadow and each time carries the nectar back to the
  hive. The meadow is $<d>$ metres from the hive. How many metres does the bee fly?
1- <name> fetches <parts> buckets of water from a well and carries them home one at a time, starting
  from the house. The well is $<d>$ metres from the house. How many metres does <name> walk?
1- <name> takes <parts> parcels from the shop to the post office, one at a time, and returns to the
  shop after each of them. The way is $<d>$ metres long. How many metres does <name> walk?
1- How many kilometres does a truck drive that brings <parts> loads of sand from a quarry to a site,
  one at a time, and returns to the quarry after each load, if the site is $<d>$ kilometres away?
1- <name> visits a grandmother <parts> times and drives home after every visit. The grandmother
  lives $<d>$ kilometres from <name>. How many kilometres does <name> drive?
23- <name> lives $<d>$ kilometres from the office, drives to work in the morning and comes home
  every evening. In <n> months <name> worked on <parts> days. How many kilometres did <name> drive
  because of work?
23- The school is $<d>$ kilometres from <name>'s home. <name> takes the bus to school in the morning
  and home in the afternoon, on <parts> days of <n> months. How many kilometres did <name> ride on
  the bus?
23- On <n> days a ferry makes <parts> round trips to an island. The island is $<d>$ kilometres away.
  How many kilometres does the ferry sail?
23- A bee flies from the hive to a meadow $<d>$ metres away and brings the nectar back at once. On
  <n> days it visits the meadow <parts> times. How many metres does it fly?
23- <name> fetches water from a well $<d>$ metres from the house and carries it home, one bucket at
  a time. On <n> days <name> needs <parts> buckets. How many metres does <name> walk for the water?
23- The post office is $<d>$ metres from <name>'s shop. On <n> days <name> takes <parts> parcels
  there, one parcel at a time, and returns to the shop after each of them. How many metres does
  <name> walk for the parcels?
23- How many kilometres does a truck drive that brings <parts> loads of sand in <n> weeks from a
  quarry to a site $<d>$ kilometres away, one load at a time, and returns to the quarry after each
  load?
23- <name> visits a grandmother who lives $<d>$ kilometres away, <parts> times in <n> years, and
  drives straight home after every visit. How many kilometres does <name> drive for these visits?
""")
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
    draft = Draft(answer, parts=listed(parts), n=COUNT_WORDS[count], d=d)
    draft.rule(divisible(2 * d), f"the answer is a multiple of {2 * d}, the way there and back")
    draft.rule(
        between(2 * d * max(max(parts), tens), 2 * d * (tens + 10 * count)),
        "every way is gone in both directions, and the ways are known to tens",
    )
    draft.wrong("other", d * total)
    draft.wrong("encoded_form_not_applied", total, 2 * total)
    draft.wrong("other", 2 * d * parts[0], d * parts[0])
    draft.wrong("out_of_range", 4 * d * total)
    draft.wrong("other", count * d * total, 2 * d * count, 2 * d + total, d + total)
    return draft


# Implicit tier, purchases: only whole packs and boxes are sold, which is not stated.


@implicit(r"""the price of enough whole packs
1- <name> needs <parts> cups for a party. Cups come in packs of $<p>$, and a pack costs $<c>$
  dollars. How many dollars must <name> spend to have enough cups?
1- For a wall <name> needs <parts> tiles. The shop has boxes of $<p>$ tiles for $<c>$ dollars a box.
  How many dollars does <name> pay for the tiles?
1- How many dollars does a school pay at least if it needs <parts> pencils and pencils are sold in
  packets of $<p>$ at $<c>$ dollars a packet?
1- <name> wants to sow <parts> seeds. A packet of $<p>$ seeds costs $<c>$ dollars. What is the least
  amount, in dollars, that <name> has to pay for the seeds?
1- A wedding table needs <parts> candles. Candles are sold in cartons of $<p>$, and a carton costs
  $<c>$ dollars. How many dollars do the candles cost?
1- <name> needs <parts> eggs for baking. The farm sells trays of $<p>$ eggs for $<c>$ dollars a
  tray. How many dollars does <name> spend at the farm?
1- A street is to be decorated with <parts> flags. Flags come in bundles of $<p>$ and cost $<c>$
  dollars a bundle. How many dollars are needed?
1- A group of <parts> people goes up a mountain in cabins with room for $<p>$ people each. A ride
  costs $<c>$ dollars for a whole cabin. How many dollars does the group pay at least?
23- <name> needs <parts> cups for <n> parties. Cups come in packs of $<p>$, and a pack costs $<c>$
  dollars. How many dollars must <name> spend to have enough cups?
23- For <n> walls <name> needs <parts> tiles. The shop has boxes of $<p>$ tiles for $<c>$ dollars a
  box. What do the tiles for all the walls together cost in dollars?
23- How many dollars does a school pay at least for pencils if its <n> classes need <parts> pencils
  and pencils are sold in packets of $<p>$ at $<c>$ dollars a packet?
23- A packet of $<p>$ seeds costs $<c>$ dollars. <name> wants to sow <parts> seeds in <n> beds. What
  is the least amount, in dollars, that <name> has to pay for the seeds?
23- The <n> tables at a wedding need <parts> candles. A carton with $<p>$ candles costs $<c>$
  dollars. Find the cost of the candles in dollars.
23- <name> bakes for <n> fairs and needs <parts> eggs. The farm sells trays of $<p>$ eggs for $<c>$
  dollars. How much money, in dollars, does <name> hand over for the eggs?
23- At $<c>$ dollars for a bundle of $<p>$ flags, what is the smallest sum in dollars for which <n>
  streets can be given the <parts> flags that they need?
23- A cabin of a cable car has room for $<p>$ people, and a ride costs $<c>$ dollars for the whole
  cabin. Groups of <parts> people from <n> villages go up together in as few cabins as possible. How
  many dollars do the rides cost?
""")
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
    draft = Draft(
        packs * c,
        parts=listed(parts),
        n=COUNT_WORDS[count],
        N=COUNT_WORDS[count].capitalize(),
        p=p,
        c=c,
    )
    draft.rule(divisible(c), f"packs are bought whole, so the price is a multiple of {c}")
    draft.rule(
        between(Fraction(total * c, p), Fraction(total * c, p) + 2 * c),
        "the packs hold all that is needed, and hardly more",
    )
    draft.wrong("out_of_range", packs * c - c)
    draft.wrong("not_an_integer", Fraction(total * c, p))
    draft.wrong("encoded_form_not_applied", packs)
    draft.wrong("other", sum(-(-part // p) for part in parts) * c, total * c)
    draft.wrong("encoded_form_not_applied", total)
    draft.wrong("broken_condition", round(Fraction(total * c, p)), ceil(Fraction(total * c, p)))
    draft.wrong("other", packs * c + c)
    draft.wrong("encoded_form_not_applied", packs - 1)
    return draft


@implicit(r"""the income from full boxes only
1- A hen house gives <parts> eggs. <name> packs them in boxes of $<p>$ and sells every box that is
  full for $<c>$ dollars. How many dollars does <name> take?
1- <name> picks <parts> roses, ties them in bunches of $<p>$ and gets $<c>$ dollars for a bunch. How
  many dollars does <name> get?
1- A baker has <parts> rolls and sells them in bags of $<p>$ rolls at $<c>$ dollars a bag. How many
  dollars can the baker earn?
1- <name> brings <parts> apples to a juice press. It takes $<p>$ apples to fill a bottle, and a full
  bottle sells for $<c>$ dollars. For how many dollars can <name> sell the bottles?
1- There are <parts> candle ends in a bag. From $<p>$ candle ends <name> makes one new candle and
  sells it for $<c>$ dollars. How many dollars do the new candles bring?
1- <name> owns <parts> stamps. A collector buys sets of $<p>$ stamps for $<c>$ dollars a set. <name>
  sells as many sets as possible. How many dollars does <name> receive?
1- <parts> players come to a tournament and form as many teams of $<p>$ as they can. Each team pays
  $<c>$ dollars. How many dollars do the teams pay?
1- How many dollars can <name> earn with <parts> sheets of paper, if a paper lantern takes $<p>$
  sheets and is sold for $<c>$ dollars?
23- A hen house gives <parts> eggs on <n> days. <name> packs all of them in boxes of $<p>$ and sells
  every box that is full for $<c>$ dollars. How many dollars does <name> take?
23- <name> picks <parts> roses from <n> bushes, ties them in bunches of $<p>$ and gets $<c>$ dollars
  for a bunch. What does <name> earn in dollars?
23- How many dollars can a baker earn from <n> trays with <parts> rolls, if the rolls are sold in
  bags of $<p>$ rolls at $<c>$ dollars a bag?
23- A juice press needs $<p>$ apples for a bottle, which sells for $<c>$ dollars. <name> brings
  <parts> apples in <n> baskets. For how many dollars can the juice from these apples be sold?
23- From $<p>$ candle ends <name> makes one new candle and sells it for $<c>$ dollars. <N> churches
  send <parts> candle ends. How many dollars do the new candles bring?
23- A collector buys sets of $<p>$ stamps for $<c>$ dollars each. <name> owns <parts> suitable
  stamps in <n> albums and sells as many sets as possible. How many dollars does <name> receive?
23- Teams of $<p>$ players enter a tournament, and each team pays $<c>$ dollars. <N> schools send
  <parts> players, who form as many teams as they can, all schools mixed. How many dollars do the
  teams pay?
23- <name> folds paper lanterns. Each takes $<p>$ sheets and is sold for $<c>$ dollars. There are
  <n> pads with <parts> sheets. What is the most, in dollars, that <name> can earn?
""")
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
    draft = Draft(
        boxes * c,
        parts=listed(parts),
        n=COUNT_WORDS[count],
        N=COUNT_WORDS[count].capitalize(),
        p=p,
        c=c,
    )
    draft.rule(divisible(c), f"only whole ones are sold, so the income is a multiple of {c}")
    draft.rule(
        between(Fraction(total * c, p) - 2 * c, Fraction(total * c, p)),
        "what is left over earns nothing, and it is not much",
    )
    draft.wrong("out_of_range", boxes * c + c)
    draft.wrong("not_an_integer", Fraction(total * c, p))
    draft.wrong("encoded_form_not_applied", boxes)
    draft.wrong("other", sum(part // p for part in parts) * c)
    draft.wrong("out_of_range", total * c)
    draft.wrong("broken_condition", round(Fraction(total * c, p)), total * c // p)
    draft.wrong("encoded_form_not_applied", total)
    draft.wrong("misled_by_cue", total % p)
    draft.wrong("other", boxes * c - c)
    return draft
