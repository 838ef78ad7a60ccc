"""Misleading tier: a cue in the text suggests another answer."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import accumulate
from math import floor, gcd
from random import Random

from constraint_first.answer.value import decimal
from constraint_first.benchmark.constraintbench.family import (
    NAMES,
    Draft,
    agree,
    family,
    gold,
    joined,
    listed,
    lowest_terms,
    plural,
    stages,
    tell,
    wrong,
)
from constraint_first.benchmark.constraintbench.item import Level
from constraint_first.constraint.predicate import (
    above,
    all_of,
    at_most,
    below,
    between,
    congruent,
    divides,
    divisible,
    in_unit,
    integer,
    parity,
)

misleading = partial(family, "misleading")

# Misleading tier, chances: probabilities in the text, and a part or a number is asked.

_SETTINGS = (
    (
        r"A bag holds <things>, and one marble is drawn at random.",
        "the marble is <one>",
        "marble",
        ("red", "blue", "green", "yellow", "white", "black"),
    ),
    (
        r"<name>'s jar contains <things>. <name> takes one sweet without looking.",
        "it is a <one> sweet",
        "sweet",
        ("lemon", "cherry", "mint", "caramel", "honey", "plum"),
    ),
    (
        r"On a shelf there are <things>; <name> picks a book at random.",
        "it is a <one> book",
        "book",
        ("history", "poetry", "travel", "cookery", "garden", "law"),
    ),
    (
        r"In an orchard stand <things>. Lightning strikes one tree, and every tree is equally "
        r"likely to be struck.",
        "the tree is <an>",
        "tree",
        ("apple", "pear", "cherry", "walnut", "plum", "quince"),
    ),
)


def _setting(rng: Random, counts: list[int]) -> tuple[str, str]:
    """Tell what is drawn from, and the event that the first kind is drawn."""
    story, event, thing, kinds = rng.choice(_SETTINGS)
    chosen = rng.sample(kinds, len(counts))
    parts = [f"${n}$ {kind} {thing}s" for n, kind in zip(counts, chosen, strict=True)]
    things = joined(parts)
    article = "an" if chosen[0][0] in "aeiou" else "a"
    event = event.replace("<an>", f"{article} {chosen[0]} tree").replace("<one>", chosen[0])
    return story.replace("<things>", things).replace("<name>", rng.choice(NAMES)), event


def _counts(rng: Random, level: Level) -> list[int] | None:
    """Draw how many there are of each kind, so that the chance of the first can be reduced."""
    low, high, kinds = ((4, 50, 2), (20, 190, 2), (9, 60, 4))[level - 1]
    counts = [rng.randrange(low, high) for _ in range(kinds)]
    first, total = counts[0], sum(counts)
    common = gcd(first, total)
    # A small denominator would be guessed, and 1/n makes too much come out alike.
    return counts if 1 < common < first and total // common > (8, 16, 16)[level - 1] else None


_DENOMINATOR = (
    r"<story> The probability that <event> is $\frac{m}{n}$, where $m$ and $n$ are relatively "
    r"prime positive integers. «part:What is $n$?»",
    r"<story> Write the probability that <event> as $\frac{m}{n}$ in lowest terms. «part:Find the "
    r"denominator $n$.»",
    r"<story> Let $\frac{m}{n}$, with coprime positive integers $m$ and $n$, be the probability "
    r"that <event>. «part:Determine $n$ alone.»",
    r"«part:Find the value of $n$» for which the following probability can be written as "
    r"$\frac{m}{n}$ with relatively prime positive integers $m$ and $n$. <story> We ask for the "
    r"chance that <event>.",
    r"<story> In lowest terms, the probability that <event> is $\frac{m}{n}$. «part:What is the "
    r"denominator?»",
    r"<story> How likely is it that <event>? The answer can be written as $\frac{m}{n}$, where $m$ "
    r"and $n$ are coprime positive integers. «part:Give $n$.»",
    r"«part:Which number $n$ is the denominator» when the probability described here is written as "
    r"a fraction $\frac{m}{n}$ in lowest terms? <story> The event is that <event>.",
    r"<story> If the probability that <event> equals $\frac{m}{n}$ with coprime positive integers "
    r"$m$ and $n$, «part:what is the value of $n$?»",
)


@misleading(("domain", "structure"), "m/n is introduced, and n alone is asked")
def denominator_asked(rng: Random, level: Level) -> Draft | None:
    counts = _counts(rng, level)
    if counts is None:
        return None
    first, total = counts[0], sum(counts)
    value = Fraction(first, total)
    m, n = agree((value.numerator, value.denominator), lowest_terms(first, total))
    story, event = _setting(rng, counts)
    told = tell(rng, _DENOMINATOR, story=story, event=event)
    odds = Fraction(first, total - first)
    rules = [
        gold("structure", f"the denominator divides {total}, the number of all", divides(total)),
        gold(
            "domain",
            f"n is an integer, larger than m, and smaller than {total} once reduced",
            all_of(integer(), above(1), below(total)),
            "part",
        ),
    ]
    lures = [
        *wrong("misled_by_cue", m + n),
        *wrong("encoded_form_not_applied", total),
        *wrong("arithmetic", m),
        *wrong("encoded_form_not_applied", value),
        *wrong("arithmetic", first),
        *wrong("misled_by_cue", first + total),
        *wrong("arithmetic", odds.denominator),
        *wrong("misled_by_cue", odds.numerator + odds.denominator),
        *wrong("arithmetic", n - m, total - first),
    ]
    return Draft(told, n, rules, lures)


_FORECAST = (
    r"For each of the next $<n>$ days the probability of rain is $<p>$ percent. <name> sells "
    r"«price:$<w>$ umbrellas on a rainy day and $<d>$ on a dry day». In the end it rains on "
    r"exactly $<r>$ of the $<n>$ days. How many umbrellas does <name> sell in these days?",
    r"How many cups does a café sell in $<n>$ days if «price:a cold day means $<w>$ cups and any "
    r"other day $<d>$ cups»? The almanac gives a probability of $<p>$ percent for a cold day, and "
    r"in fact $<r>$ of the days were cold.",
    r"A lottery stall says that the probability of a win is $<p>$ percent. <name> buys $<n>$ "
    r"tickets, and $<r>$ of them win. «price:A winning ticket pays $<w>$ tokens and a losing one "
    r"still pays $<d>$ tokens.» How many tokens does <name> get?",
    r"A ferry has to wait for the fog with a probability of $<p>$ percent. «price:It burns $<w>$ "
    r"litres of fuel on a trip with fog and $<d>$ litres on a clear one.» Of this month's $<n>$ "
    r"trips, $<r>$ had fog. Find the number of litres burnt.",
    r"«price:A hen that lays well gives $<w>$ eggs a season, any other one $<d>$.» A breeder "
    r"claims that a chick becomes a good layer with a probability of $<p>$ percent. <name> raises "
    r"$<n>$ chicks, and $<r>$ of them become good layers. How many eggs are laid in a season?",
    r"<name>'s team keeps a clean sheet in $<r>$ of $<n>$ games; the coach had put the "
    r"probability of this at $<p>$ percent for each game. «price:A game with a clean sheet brings "
    r"the team $<w>$ points, any other game $<d>$ points.» Find the number of points from all "
    r"games.",
    r"A test kit gives the right colour with a probability of $<p>$ percent. Out of $<n>$ kits "
    r"that <name> tried, $<r>$ gave the right colour. «price:Each of these earned $<w>$ credits, "
    r"each of the others $<d>$ credits.» How many credits were earned?",
    r"What number of buns did the bakery bake in $<n>$ days, when «price:it bakes $<w>$ buns on a "
    r"market day and $<d>$ on other days», there were $<r>$ market days, and the probability that "
    r"a day is a market day is usually $<p>$ percent?",
)


@misleading(("modular", "bound"), "a probability is given, and what happened is asked")
def forecast_sales(rng: Random, level: Level) -> Draft | None:
    g = rng.choice(((2, 3, 5), (4, 6, 7), (8, 9, 11))[level - 1])
    n = 10 * rng.randrange(*((1, 2), (1, 4), (4, 7))[level - 1])
    w, d = g * rng.randrange(4, (8, 11, 11)[level - 1]), g * rng.randrange(1, 4)
    p = 10 * rng.randrange(2, 9)
    r, expected = rng.randrange(2, n - 1), n * p // 100
    if r == expected:
        return None
    answer = agree(w * r + d * (n - r), n * d + r * (w - d))
    told = tell(rng, _FORECAST, n=n, p=p, w=w, d=d, r=r)
    rules = [
        gold(
            "modular",
            f"{w} and {d} are multiples of {g}, and so are their sums",
            divisible(g),
            "price",
        ),
        gold(
            "bound",
            f"the answer is between {n * d} and {n * w}, as if all {n} were alike",
            between(n * d, n * w),
            "price",
        ),
    ]
    lures = [
        *wrong("misled_by_cue", w * expected + d * (n - expected), Fraction(answer * p, 100)),
        *wrong("arithmetic", w * r, d * (n - r), w * r + d * n, w * (n - r) + d * r),
        *wrong("misled_by_cue", Fraction(w * r * p, 100) + d * (n - r), w * expected),
        *wrong("out_of_range", n * (w + d)),
        *wrong("arithmetic", w * r + d * r),
    ]
    return Draft(told, answer, rules, lures)


# Misleading tier, extremes: "at most", "largest" or "odd" is said, not asked.

_CAPACITY = (
    r"«pack:Tickets are printed in booklets of $<k>$», and nobody may buy «cap:more than $<cap>$ "
    r"booklets», nor less than two. <name>'s friends buy <values> booklets. How many tickets do "
    r"they buy together?",
    r"How many cards does a collector have after getting <values> sealed packs from different "
    r"shops, when «pack:every pack holds $<k>$ cards» and a shop sells «cap:at most $<cap>$ "
    r"packs» to a customer?",
    r"A lift may carry «cap:at most $<cap>$ crates» at a time. On its trips today it carried "
    r"<values> crates, «pack:each with $<k>$ bottles». Find the number of bottles that it carried.",
    r"A school trip needs boats with «pack:exactly $<k>$ seats, all of them taken». The classes, "
    r"each of which may take «cap:at most $<cap>$ boats», take <values> boats. How many people go "
    r"by boat?",
    r"«pack:A carton contains $<k>$ light bulbs.» The largest order that the shop accepts is "
    r"«cap:$<cap>$ cartons». This morning orders for <values> cartons came in. How many bulbs were "
    r"ordered this morning?",
    r"<name> reads <values> chapters in the weeks of a summer, and at least two and «cap:at most "
    r"$<cap>$» in any week. «pack:All chapters have $<k>$ pages.» Find the number of pages read.",
    r"At a fair the least you can buy is two strips and the most is «cap:$<cap>$ strips» of "
    r"vouchers, «pack:$<k>$ vouchers to a strip». Some visitors buy <values> strips. What is the "
    r"number of vouchers that they buy in all?",
    r"No stall holder may rent «cap:more than $<cap>$ tables», and each must rent at least two. "
    r"«pack:A table has room for $<k>$ pots.» If the stall holders rent <values> tables and fill "
    r"them, how many pots are on show?",
)


@misleading(("modular", "bound"), "'at most' in a story whose total is asked")
def at_most_total(rng: Random, level: Level) -> Draft:
    k = rng.randrange(*((3, 11), (6, 14), (14, 26))[level - 1])
    cap = rng.randrange(*((7, 11), (10, 15), (13, 22))[level - 1])
    count = (2, 3, 4)[level - 1]
    values = [rng.randrange(2, cap) for _ in range(count)]
    answer = agree(k * sum(values), sum(k * value for value in values))
    told = tell(rng, _CAPACITY, k=k, cap=cap, values=listed(values))
    rules = [
        gold("modular", f"everything comes in parts of {k}", divisible(k), "pack"),
        gold(
            "bound",
            f"there are {count} numbers of parts, each at most {cap}, and one is {max(values)}",
            all_of(above(k * max(values)), at_most(k * cap * count)),
            "cap",
        ),
    ]
    lures = [
        *wrong("misled_by_cue", k * cap * count, k * cap),
        *wrong("encoded_form_not_applied", sum(values)),
        *wrong("misled_by_cue", k * cap * count - answer, k * max(values)),
        *wrong("arithmetic", answer - k * values[-1], k + sum(values)),
        *wrong("out_of_range", k * sum(values) * count),
        *wrong("misled_by_cue", abs(sum(values) - cap)),
        *wrong("arithmetic", answer - 10),
    ]
    return Draft(told, answer, rules, lures)


_CONSECUTIVE = (
    r"The smallest of $<count>$ consecutive odd integers is «first:$<first>$». Find the arithmetic "
    r"mean of all of them.",
    r"What number lies exactly halfway between the smallest and the largest of $<count>$ "
    r"consecutive odd integers, if the smallest is «first:$<first>$»?",
    r"On one side of a street the houses bear consecutive odd numbers. <name> delivers papers to "
    r"$<count>$ neighbouring houses there, beginning with number «first:$<first>$» and going up. "
    r"Find the mean of these house numbers.",
    r"<name> writes down $<count>$ odd positive integers one after another, «first:starting with "
    r"$<first>$» and leaving out none. What is their average?",
    r"The lockers with odd numbers are on the left. <name>'s class gets $<count>$ lockers in a row "
    r"there, the least number being «first:$<first>$». What is the average of the locker numbers?",
    r"Determine the mean of the first $<count>$ odd numbers that are «first:at least $<first>$».",
    r"A list holds the odd integers «first:from $<first>$ on», $<count>$ of them, without a gap. "
    r"Compute the average of the list.",
    r"In a theatre the odd seats are on one side. A group sits on $<count>$ neighbouring odd "
    r"seats, of which «first:number $<first>$» is the smallest. What is the mean of the seat "
    r"numbers?",
)


@misleading(("parity", "bound"), "odd integers whose mean is even")
def mean_of_odds(rng: Random, level: Level) -> Draft:
    count = rng.choice(((4,), (6,), (8, 10, 12))[level - 1])
    first = 2 * rng.randrange(*((2, 30), (15, 60), (80, 300))[level - 1]) + 1
    run = [first + 2 * k for k in range(count)]
    last = run[-1]
    answer = agree(Fraction(sum(run), count), Fraction(first + last, 2))
    told = tell(rng, _CONSECUTIVE, count=count, first=first)
    rules = [
        gold(
            "parity",
            "the mean of an even number of consecutive odd integers lies between two of them",
            parity("even"),
        ),
        gold(
            "bound",
            f"the mean lies above {first}, and below the last of {count} numbers, {last}",
            all_of(above(first), below(last)),
            "first",
        ),
    ]
    lures = [
        *wrong("misled_by_cue", answer + 1, answer - 1, first + count),
        *wrong("out_of_range", sum(run), last, first + last),
        *wrong("not_an_integer", Fraction(2 * first + count - 1, 2)),
        *wrong("out_of_range", first + 2 * count),
        *wrong("arithmetic", answer + 2, answer - 2),
    ]
    return Draft(told, answer, rules, lures)


_LARGEST = (
    r"The largest of $<count>$ consecutive multiples of «k:$<k>$» is $<top>$. Find their sum.",
    r"What do $<count>$ consecutive multiples of «k:$<k>$» add up to if the greatest of them is "
    r"$<top>$?",
    r"<name> stacks $<count>$ boxes. From each box to the one below it the weight grows by $<k>$ "
    r"kilograms, every weight is a multiple of «k:$<k>$ kilograms», and the largest weight is "
    r"$<top>$ kilograms. How many kilograms does the whole stack weigh?",
    r"A theatre has $<count>$ blocks of seats. The maximum is $<top>$ seats in a block, and each "
    r"other block has $<k>$ seats fewer than the next larger one; «k:all seats stand in rows of "
    r"$<k>$». How many seats are there altogether?",
    r"«k:Coins are packed in rolls of $<k>$.» On $<count>$ days <name> packs coins, the maximum of "
    r"$<top>$ coins on the first day and then every day one roll fewer than the day before. How "
    r"many coins does <name> pack altogether?",
    r"Find the sum of the $<count>$ largest multiples of «k:$<k>$» that are at most $<top>$. "
    r"($<top>$ itself is a multiple of $<k>$.)",
    r"The greatest number on a list is $<top>$; the list goes down in steps of $<k>$, «k:all its "
    r"numbers being divisible by $<k>$», and has $<count>$ numbers. What is the sum of the list?",
    r"A choir stands in $<count>$ groups, «k:each of them a multiple of $<k>$ in size»: the "
    r"largest group has $<top>$ singers, the next one $<k>$ fewer, and so on. How many singers "
    r"are in the choir?",
)


@misleading(("modular", "bound"), "'largest' is said of a part, and the sum is asked")
def largest_given(rng: Random, level: Level) -> Draft:
    k = rng.randrange(*((2, 12), (4, 13), (12, 26))[level - 1])
    count = rng.randrange(*((3, 4), (4, 5), (5, 8))[level - 1])
    top = k * rng.randrange(count + 1, count + (9, 10, 20)[level - 1])
    parts = [top - k * place for place in range(count)]
    answer = agree(sum(parts), count * top - k * count * (count - 1) // 2)
    told = tell(rng, _LARGEST, k=k, count=count, top=top)
    rules = [
        gold("modular", f"multiples of {k} are added", divisible(k), "k"),
        gold(
            "bound",
            f"{count} parts are added, the largest of them {top}",
            between(top, count * top),
        ),
    ]
    lures = [
        *wrong("misled_by_cue", top, parts[-1], count * top),
        *wrong("arithmetic", answer - parts[-1], answer + parts[-1] - k),
        *wrong("out_of_range", count * top + k * count * (count - 1) // 2),
        *wrong(
            "arithmetic",
            sum(top - place for place in range(count)),
            sum(parts) - top,
            k * count,
            answer // k,
        ),
    ]
    return Draft(told, answer, rules, lures)


# Misleading tier, measures: degrees and distances that suggest another answer.

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


@misleading(("modular", "bound"), "'degrees' below zero, where an angle is positive")
def degrees_below_zero(rng: Random, level: Level) -> Draft | None:
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
    told = tell(rng, wordings, a=a, d=d, h0=h0, h1=h1, h2=h2)
    falls, rises = sum(used[::2]), sum(used[1::2])
    rules = [
        gold("modular", f"the temperature is congruent to {a} modulo {d}", congruent(a, d), "pace"),
        gold("bound", f"it falls longer than it rises, so it ends below {a}", below(a)),
    ]
    lures = [
        *wrong("misled_by_cue", -answer, answer % 360),
        *wrong("out_of_range", a + d * falls, a + d * (falls + rises)),
        *wrong("arithmetic", answer - a),
        *wrong("out_of_range", a - d * (falls + rises)),
        *wrong("arithmetic", a - d, a - d * hours[0], a - falls + rises),
        *wrong("misled_by_cue", 0),
    ]
    return Draft(told, answer, rules, lures)


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


@misleading(("modular", "bound"), "'distance': the way back counts against the way out")
def steps_from_start(rng: Random, level: Level) -> Draft | None:
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
    told = tell(rng, (_WALK[which],), s=s, legs=legs_text)
    rules = [
        gold("modular", f"whole {noun} of {s} are made", divisible(s), "step"),
        gold(
            "bound",
            f"some {noun} go back, so it is nearer than all {sum(legs)} {noun}",
            all_of(integer(), below(s * sum(legs))),
        ),
    ]
    lures = [
        *wrong("misled_by_cue", s * sum(legs)),
        *wrong("encoded_form_not_applied", net),
        *wrong("misled_by_cue", sum(legs)),
        *wrong(
            "arithmetic",
            s * legs[-1],
            s * sum(signed[:-1]),
            s * sum(signed[:2]),
            s * sum(legs[::2]),
            s * sum(legs[1::2]),
            -s * net,
        ),
    ]
    return Draft(told, s * net, rules, lures)


# Misleading tier, remainders: a remainder or a modulus stands in the text and is not asked for.

_DIVIDEND = (
    r"<name> packs apples into boxes of $<d>$. On successive days <qs> boxes are filled, and at "
    r"the end «mod:a remainder of $<r>$ apples» does not fill a box. How many apples were there?",
    r"How many stickers did <name> have to begin with? In turn <qs> children each got $<d>$ "
    r"stickers, and «mod:the remainder, $<r>$ stickers», stayed in the drawer.",
    r"A positive integer is divided by $<d>$. «mod:The remainder is $<r>$», and the quotient is "
    r"the sum of <qs>. Find the integer.",
    r"A florist ties bunches of $<d>$ tulips each: <qs> bunches for the different shops. «mod:A "
    r"remainder of $<r>$ tulips» goes into a vase. Find the number of tulips at the start.",
    r"Buses with $<d>$ seats leave full: the companies send <qs> of them. «mod:The remainder of "
    r"the group, $<r>$ people», goes by car. How many people are in the group?",
    r"«mod:With remainder $<r>$», the number $N$ is divided by $<d>$; the quotient is what one "
    r"gets by adding <qs>. What is $N$?",
    r"<name> cuts ribbon into pieces of $<d>$ centimetres and gets <qs> pieces from the rolls, "
    r"which are used one after the other without a break. «mod:The remainder at the end is $<r>$ "
    r"centimetres long». How long was all the ribbon together, in centimetres?",
    r"In a warehouse <qs> shelves are filled by the shifts of one day, with $<d>$ tins on every "
    r"shelf. «mod:The remainder is $<r>$ tins», too few for a shelf. How many tins are there?",
)


@misleading(("modular", "bound"), "a remainder is given; the number itself is asked")
def dividend_not_remainder(rng: Random, level: Level) -> Draft:
    d = rng.randrange(*((3, 10), (11, 21), (21, 45))[level - 1])
    top = (7, 12, 20)[level - 1]
    qs = [rng.randrange(2, top) for _ in range((2, 3, 4)[level - 1])]
    r = rng.randrange(2, d)
    by_counting = r
    for _ in range(sum(qs)):
        by_counting += d
    answer = agree(sum(d * q for q in qs) + r, by_counting)
    told = tell(rng, _DIVIDEND, d=d, qs=listed(qs), r=r)
    rules = [
        gold(
            "modular",
            f"the number leaves the remainder {r} on division by {d}",
            congruent(r, d),
            "mod",
        ),
        gold(
            "bound",
            f"there are {len(qs)} numbers of parts of {d} each, the largest of them {max(qs)}",
            all_of(above(d * max(qs) + r), below(d * (len(qs) * max(qs) + 1))),
        ),
    ]
    lures = [
        *wrong("misled_by_cue", r),
        *wrong("arithmetic", answer - r),
        *wrong("misled_by_cue", sum(qs)),
        *wrong("arithmetic", answer - 2 * r, sum(qs) + r, d * (sum(qs) + r)),
        *wrong("misled_by_cue", sum(qs) % d),
        *wrong("arithmetic", d * max(qs) + r),
    ]
    return Draft(told, answer, rules, lures)


_CHECK = (
    r"<name> adds up the bills <values>. To check the sum, <name> works out its remainder when "
    r"divided by $<m>$ from the remainders of the bills, and «mod:finds $<c>$». What is the sum of "
    r"the bills?",
    r"What is the total weight in kilograms of crates that weigh <values> kilograms? As a "
    r"safeguard the freight note carries «mod:the total modulo $<m>$, which is $<c>$».",
    r"A spreadsheet stores, next to the numbers <values>, a check digit: «mod:the remainder of "
    r"their sum modulo $<m>$, in this case $<c>$». Find the sum of the numbers.",
    r"The visitors of a museum on successive days numbered <values>. The clerk notes that «mod:the "
    r"total leaves the remainder $<c>$ on division by $<m>$». Find the number of visitors on all "
    r"these days together.",
    r"«mod:Modulo $<m>$ the sum is $<c>$», says a slip of paper with which <name> tests the "
    r"addition of <values>. How large is the sum itself?",
    r"<name> casts out to test a sum: «mod:divided by $<m>$, the sum of <values> must leave the "
    r"remainder $<c>$». What does the addition come to?",
    r"A teacher writes <values> on the board and tells the class that «mod:the sum of these "
    r"numbers is congruent to $<c>$ modulo $<m>$», so that everybody can test the result. Compute "
    r"the sum.",
    r"Lorries bring <values> sacks of grain to a mill. In the book each day's total is followed by "
    r"«mod:its residue modulo $<m>$, today $<c>$». How many sacks were brought today?",
)


@misleading(("modular", "bound"), "a check remainder stands beside the sum that is asked")
def check_digit_total(rng: Random, level: Level) -> Draft:
    m = rng.choice((7, 9, 11, 13))
    low, high, count = ((6, 40, 2), (12, 50, 3), (110, 500, 5))[level - 1]
    values = rng.sample(range(low, high), count)
    answer, c = agree(sum(values), _by_columns(values)), sum(v % m for v in values) % m
    told = tell(rng, _CHECK, values=listed(values), m=m, c=c)
    rules = [
        gold("modular", f"the sum leaves {c} on division by {m}", congruent(c, m), "mod"),
        gold(
            "bound",
            f"{count} numbers are added, the largest of them {max(values)}",
            all_of(above(max(values)), at_most(count * max(values))),
        ),
    ]
    lures = [
        *wrong("misled_by_cue", c, answer // m, answer - c, answer + c, sum(v % m for v in values)),
        *wrong(
            "arithmetic", answer - values[-1], answer + 10, answer - 10, answer + 100, answer - 100
        ),
    ]
    return Draft(told, answer, rules, lures)


def _by_columns(values: list[int]) -> int:
    """Add as on paper, one decimal place after the other."""
    return sum(10**place * sum(v // 10**place % 10 for v in values) for place in range(3))


# Misleading tier, rounding: rounded prices and rounds of a game; the answer is never rounded.

_LABEL = (
    r"A pack of <packs> costs $<cost>$ dollars; «round:an advertisement rounds this to the nearest "
    r"dollar, $<shown>$». What is the exact price of one <thing>, in dollars?",
    r"<name> pays $<cost>$ dollars for <packs>. «round:Rounded to whole dollars, as the till also "
    r"prints it, that is $<shown>$.» Find, in dollars, what a single <thing> cost exactly.",
    r"«round:On a price list that is rounded to the nearest dollar, <packs> cost $<shown>$ "
    r"dollars»; the true price of the <many> together is $<cost>$ dollars. How many dollars does "
    r"each <thing> cost exactly?",
    r"What does one <thing> cost exactly, in dollars, if <packs> of the same price cost $<cost>$ "
    r"dollars, «round:or $<shown>$ dollars when rounded to the nearest dollar»?",
    r"In <name>'s household book, «round:where every amount is rounded to the nearest dollar, "
    r"<packs> stand with $<shown>$ dollars». The receipt says $<cost>$ dollars. All the <many> had "
    r"the same price. What was this price to the cent, in dollars?",
    r"«round:About $<shown>$ dollars, rounded to the nearest dollar,» is what <name> remembers "
    r"having paid for <packs>; in fact it was $<cost>$ dollars. Give the exact price of each "
    r"<thing> in dollars.",
    r"A customer's total for <packs> is $<cost>$ dollars. «round:The shop's screen shows it "
    r"rounded to the nearest dollar: $<shown>$.» Each <thing> costs the same. Determine the "
    r"unrounded price of a <thing> in dollars.",
    r"The invoice for <packs> says $<cost>$ dollars, «round:which the accountant's summary "
    r"rounds to $<shown>$ dollars, the nearest whole number». How many dollars, to the cent, did "
    r"one <thing> cost?",
)
_THINGS = (
    ("pen", "pens"), ("candle", "candles"), ("notebook", "notebooks"), ("postcard", "postcards"),
    ("brush", "brushes"), ("lemon", "lemons"), ("battery", "batteries"), ("magnet", "magnets"),
)  # fmt: skip


@misleading(("bound", "dimension"), "a rounded price in the story, the exact one asked")
def rounded_label(rng: Random, level: Level) -> Draft | None:
    count = rng.randrange(*((2, 6), (6, 10), (11, 16))[level - 1])
    each = Fraction(rng.randrange(*((3, 40), (111, 399), (401, 1499))[level - 1]), 100)
    each = each * 10 if level == 1 else each
    cost = count * each
    shown = floor(cost + Fraction(1, 2))
    cents = agree(int(each * 100), int(cost * 100) // count)
    low, high = (Fraction(2 * shown + side, 2 * count) for side in (-1, 1))
    if (
        shown < 2
        or (2 * cost).denominator == 1
        or each.denominator == 1
        or Fraction(shown, count) == each
    ):
        return None
    thing, many = rng.choice(_THINGS)
    told = tell(
        rng,
        _LABEL,
        packs=plural(count, thing, many),
        thing=thing,
        many=many,
        cost=decimal(cost, 2),
        shown=shown,
    )
    rules = [
        gold(
            "bound",
            f"all of them cost {shown} dollars to the nearest dollar, and one {count} times less",
            between(low, high),
            "round",
        ),
        gold(
            "dimension", "the exact price", in_unit(Fraction(cents, 100), 1, "dollars"), pins=True
        ),
    ]
    lures = [
        *wrong(
            "misled_by_cue",
            Fraction(shown, count),
            decimal(Fraction(shown * 100 // count, 100), 2),
            floor(each + Fraction(1, 2)),
            floor(each),
            decimal(Fraction(floor(each * 10 + Fraction(1, 2)), 10), 1),
        ),
        *wrong("encoded_form_not_applied", cents),
        *wrong("out_of_range", decimal(cost, 2), decimal(count * cost, 2)),
    ]
    return Draft(told, decimal(each, 2), rules, lures, "decimal")


_ROUNDS = (
    r"A tournament has $<n>$ rounds. «points:A win brings $<w>$ points and a draw $<d>$ points; a "
    r"lost round costs $<l>$ points.» <name> wins $<a>$ rounds, draws $<b>$ and loses all the "
    r"other ones. How many points does <name> have at the end?",
    r"How many points has <name> after $<n>$ rounds of a card game with $<a>$ rounds won, $<b>$ "
    r"drawn and the rest lost? «points:Each round won counts $<w>$ points, each draw $<d>$, and "
    r"for each round lost $<l>$ points are taken away.»",
    r"«points:In a quiz a right answer earns $<w>$ points, a partly right one $<d>$ points, and a "
    r"wrong one costs $<l>$ points.» There are $<n>$ rounds with one question each. <name> is "
    r"right in $<a>$ rounds, partly right in $<b>$ rounds and wrong in the others. Find the final "
    r"score.",
    r"<name> plays $<n>$ rounds of chess against a computer, wins $<a>$ of them and draws $<b>$; "
    r"the computer wins the rest. «points:The score goes up by $<w>$ for a win and by $<d>$ for a "
    r"draw, and down by $<l>$ for a loss.» It started at $0$. What is it at the end?",
    r"In an archery match «points:the centre gives $<w>$ points, the ring round it $<d>$ points, "
    r"and a miss takes $<l>$ points off». <name> shoots once in each of $<n>$ rounds, hits the "
    r"centre $<a>$ times and the ring $<b>$ times, and misses otherwise. Find the number of "
    r"points.",
    r"Two teams meet for $<n>$ rounds. «points:Per round, a victory is worth $<w>$ points, a tie "
    r"$<d>$, and a defeat minus $<l>$.» Our team had $<a>$ victories and $<b>$ ties; all the other "
    r"rounds were defeats. What is our team's total?",
    r"What score does <name> reach in a game of $<n>$ rounds, $<a>$ of which are won, $<b>$ drawn "
    r"and the remaining ones lost, if «points:winning a round adds $<w>$, drawing it adds $<d>$ "
    r"and losing it subtracts $<l>$»?",
    r"<name>'s dog does $<n>$ rounds of an obstacle course: $<a>$ rounds without a mistake, $<b>$ "
    r"with one mistake, and the others broken off. «points:They count $<w>$, $<d>$ and minus $<l>$ "
    r"points each.» How many points is that altogether?",
)


@misleading(("modular", "bound"), "'round' is a part of a game, and nothing is rounded")
def rounds_played(rng: Random, level: Level) -> Draft | None:
    g = rng.choice(((2, 3, 5), (4, 6, 7), (8, 9, 11, 12))[level - 1])
    n = rng.randrange(*((6, 11), (11, 17), (20, 40))[level - 1])
    w, d, lost = (g * k for k in ((3, 2, 1), (4, 2, 1), (5, 2, 1), (5, 3, 2))[rng.randrange(4)])
    a, b = rng.randrange(2, n - 3), rng.randrange(2, n)
    c = n - a - b
    if c < 2:
        return None
    total = a * w + b * d - c * lost
    agree(total, sum([w] * a + [d] * b + [-lost] * c))
    told = tell(rng, _ROUNDS, n=n, w=w, d=d, l=lost, a=a, b=b)
    rules = [
        gold(
            "modular",
            f"{w}, {d} and {lost} are multiples of {g}, so every score is",
            divisible(g),
            "points",
        ),
        gold(
            "bound",
            f"the answer is between {-n * lost}, all {n} lost, and {n * w}, all won",
            all_of(integer(), between(-n * lost, n * w)),
        ),
    ]
    lures = [
        *wrong(
            "arithmetic",
            a * w + b * d,
            a * w + b * d + c * lost,
            a * w + b * d - n * lost,
            a * w + b * d - lost,
        ),
        *wrong("misled_by_cue", c, Fraction(total, n)),
        *wrong("arithmetic", a * w - c * lost),
        *wrong("out_of_range", n * (w + d - lost), n * (w + d)),
    ]
    return Draft(told, total, rules, lures)
