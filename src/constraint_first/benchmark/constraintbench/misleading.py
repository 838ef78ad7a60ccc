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
    Level,
    agree,
    family,
    joined,
    listed,
    lowest_terms,
    plural,
)
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

# Misleading tier, chances: the text has a probability, and a part of it or a count is asked for.

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
    """Describe what is drawn from, and the event that the first kind is drawn."""
    story, event, thing, kinds = rng.choice(_SETTINGS)
    chosen = rng.sample(kinds, len(counts))
    things = joined([f"${n}$ {kind} {thing}s" for n, kind in zip(counts, chosen, strict=True)])
    article = "an" if chosen[0][0] in "aeiou" else "a"
    event = event.replace("<an>", f"{article} {chosen[0]} tree").replace("<one>", chosen[0])
    return story.replace("<things>", things).replace("<name>", rng.choice(NAMES)), event


def _counts(rng: Random, level: Level) -> list[int] | None:
    """Draw the count of each kind, so that the fraction of the first can be reduced."""
    low, high, kinds = ((4, 50, 2), (20, 190, 2), (9, 60, 4))[level - 1]
    counts = [rng.randrange(low, high) for _ in range(kinds)]
    first, total = counts[0], sum(counts)
    common = gcd(first, total)
    # A small denominator could be guessed, and with 1/n several wrong answers coincide.
    return counts if 1 < common < first and total // common > (8, 16, 16)[level - 1] else None


@misleading(r"""m/n is introduced, and n alone is asked
- <story> The probability that <event> is $\frac{m}{n}$, where $m$ and $n$ are relatively prime
  positive integers. «part:What is $n$?»
- <story> Write the probability that <event> as $\frac{m}{n}$ in lowest terms. «part:Find the
  denominator $n$.»
- <story> Let $\frac{m}{n}$, with coprime positive integers $m$ and $n$, be the probability that
  <event>. «part:Determine $n$ alone.»
- «part:Find the value of $n$» for which the following probability can be written as $\frac{m}{n}$
  with relatively prime positive integers $m$ and $n$. <story> We ask for the chance that <event>.
- <story> In lowest terms, the probability that <event> is $\frac{m}{n}$. «part:What is the
  denominator?»
- <story> How likely is it that <event>? The answer can be written as $\frac{m}{n}$, where $m$ and
  $n$ are coprime positive integers. «part:Give $n$.»
- «part:Which number $n$ is the denominator» when the probability described here is written as a
  fraction $\frac{m}{n}$ in lowest terms? <story> The event is that <event>.
- <story> If the probability that <event> equals $\frac{m}{n}$ with coprime positive integers $m$
  and $n$, «part:what is the value of $n$?»
""")
def denominator_asked(rng: Random, level: Level) -> Draft | None:
    counts = _counts(rng, level)
    if counts is None:
        return None
    first, total = counts[0], sum(counts)
    value = Fraction(first, total)
    m, n = agree((value.numerator, value.denominator), lowest_terms(first, total))
    story, event = _setting(rng, counts)
    draft = Draft(n, story=story, event=event)
    odds = Fraction(first, total - first)
    draft.rule(divides(total), f"the denominator divides {total}, the number of all")
    draft.rule(
        all_of(integer(), above(1), below(total)),
        f"n is an integer, larger than m, and smaller than {total} once reduced",
        "part",
        kind="domain",
    )
    draft.wrong("misled_by_cue", m + n)
    draft.wrong("encoded_form_not_applied", total)
    draft.wrong("arithmetic", m)
    draft.wrong("encoded_form_not_applied", value)
    draft.wrong("arithmetic", first)
    draft.wrong("misled_by_cue", first + total)
    draft.wrong("arithmetic", odds.denominator)
    draft.wrong("misled_by_cue", odds.numerator + odds.denominator)
    draft.wrong("arithmetic", n - m, total - first)
    return draft


@misleading(r"""a probability is given, and what happened is asked
- For each of the next $<n>$ days the probability of rain is $<p>$ percent. <name> sells
  «price:$<w>$ umbrellas on a rainy day and $<d>$ on a dry day». In the end it rains on exactly
  $<r>$ of the $<n>$ days. How many umbrellas does <name> sell in these days?
- How many cups does a café sell in $<n>$ days if «price:a cold day means $<w>$ cups and any other
  day $<d>$ cups»? The almanac gives a probability of $<p>$ percent for a cold day, and in fact
  $<r>$ of the days were cold.
- A lottery stall says that the probability of a win is $<p>$ percent. <name> buys $<n>$ tickets,
  and $<r>$ of them win. «price:A winning ticket pays $<w>$ tokens and a losing one still pays $<d>$
  tokens.» How many tokens does <name> get?
- A ferry has to wait for the fog with a probability of $<p>$ percent. «price:It burns $<w>$ litres
  of fuel on a trip with fog and $<d>$ litres on a clear one.» Of this month's $<n>$ trips, $<r>$
  had fog. Find the number of litres burnt.
- «price:A hen that lays well gives $<w>$ eggs a season, any other one $<d>$.» A breeder claims that
  a chick becomes a good layer with a probability of $<p>$ percent. <name> raises $<n>$ chicks, and
  $<r>$ of them become good layers. How many eggs are laid in a season?
- <name>'s team keeps a clean sheet in $<r>$ of $<n>$ games; the coach had put the probability of
  this at $<p>$ percent for each game. «price:A game with a clean sheet brings the team $<w>$
  points, any other game $<d>$ points.» Find the number of points from all games.
- A test kit gives the right colour with a probability of $<p>$ percent. Out of $<n>$ kits that
  <name> tried, $<r>$ gave the right colour. «price:Each of these earned $<w>$ credits, each of the
  others $<d>$ credits.» How many credits were earned?
- What number of buns did the bakery bake in $<n>$ days, when «price:it bakes $<w>$ buns on a market
  day and $<d>$ on other days», there were $<r>$ market days, and the probability that a day is a
  market day is usually $<p>$ percent?
""")
def forecast_sales(rng: Random, level: Level) -> Draft | None:
    g = rng.choice(((2, 3, 5), (4, 6, 7), (8, 9, 11))[level - 1])
    n = 10 * rng.randrange(*((1, 2), (1, 4), (4, 7))[level - 1])
    w, d = g * rng.randrange(4, (8, 11, 11)[level - 1]), g * rng.randrange(1, 4)
    p = 10 * rng.randrange(2, 9)
    r, expected = rng.randrange(2, n - 1), n * p // 100
    if r == expected:
        return None
    answer = agree(w * r + d * (n - r), n * d + r * (w - d))
    draft = Draft(answer, n=n, p=p, w=w, d=d, r=r)
    draft.rule(divisible(g), f"{w} and {d} are multiples of {g}, and so are their sums", "price")
    draft.rule(
        between(n * d, n * w),
        f"the answer is between {n * d} and {n * w}, as if all {n} were alike",
        "price",
    )
    draft.wrong("misled_by_cue", w * expected + d * (n - expected), Fraction(answer * p, 100))
    draft.wrong("arithmetic", w * r, d * (n - r), w * r + d * n, w * (n - r) + d * r)
    draft.wrong("misled_by_cue", Fraction(w * r * p, 100) + d * (n - r), w * expected)
    draft.wrong("out_of_range", n * (w + d))
    draft.wrong("arithmetic", w * r + d * r)
    return draft


# Misleading tier, extremes: "at most", "largest" or "odd" occurs, but is not asked for.


@misleading(r"""'at most' in a story whose total is asked
- «pack:Tickets are printed in booklets of $<k>$», and nobody may buy «cap:more than $<cap>$
  booklets», nor less than two. <name>'s friends buy <values> booklets. How many tickets do they buy
  together?
- How many cards does a collector have after getting <values> sealed packs from different shops,
  when «pack:every pack holds $<k>$ cards» and a shop sells «cap:at most $<cap>$ packs» to a
  customer?
- A lift may carry «cap:at most $<cap>$ crates» at a time. On its trips today it carried <values>
  crates, «pack:each with $<k>$ bottles». Find the number of bottles that it carried.
- A school trip needs boats with «pack:exactly $<k>$ seats, all of them taken». The classes, each of
  which may take «cap:at most $<cap>$ boats», take <values> boats. How many people go by boat?
- «pack:A carton contains $<k>$ light bulbs.» The largest order that the shop accepts is
  «cap:$<cap>$ cartons». This morning orders for <values> cartons came in. How many bulbs were
  ordered this morning?
- <name> reads <values> chapters in the weeks of a summer, and at least two and «cap:at most
  $<cap>$» in any week. «pack:All chapters have $<k>$ pages.» Find the number of pages read.
- At a fair the least you can buy is two strips and the most is «cap:$<cap>$ strips» of vouchers,
  «pack:$<k>$ vouchers to a strip». Some visitors buy <values> strips. What is the number of
  vouchers that they buy in all?
- No stall holder may rent «cap:more than $<cap>$ tables», and each must rent at least two. «pack:A
  table has room for $<k>$ pots.» If the stall holders rent <values> tables and fill them, how many
  pots are on show?
""")
def at_most_total(rng: Random, level: Level) -> Draft:
    k = rng.randrange(*((3, 11), (6, 14), (14, 26))[level - 1])
    cap = rng.randrange(*((7, 11), (10, 15), (13, 22))[level - 1])
    count = (2, 3, 4)[level - 1]
    values = [rng.randrange(2, cap) for _ in range(count)]
    answer = agree(k * sum(values), sum(k * value for value in values))
    draft = Draft(answer, k=k, cap=cap, values=listed(values))
    draft.rule(divisible(k), f"everything comes in parts of {k}", "pack")
    draft.rule(
        all_of(above(k * max(values)), at_most(k * cap * count)),
        f"there are {count} numbers of parts, each at most {cap}, and one is {max(values)}",
        "cap",
    )
    draft.wrong("misled_by_cue", k * cap * count, k * cap)
    draft.wrong("encoded_form_not_applied", sum(values))
    draft.wrong("misled_by_cue", k * cap * count - answer, k * max(values))
    draft.wrong("arithmetic", answer - k * values[-1], k + sum(values))
    draft.wrong("out_of_range", k * sum(values) * count)
    draft.wrong("misled_by_cue", abs(sum(values) - cap))
    draft.wrong("arithmetic", answer - 10)
    return draft


@misleading(r"""odd integers whose mean is even
- The smallest of $<count>$ consecutive odd integers is «first:$<first>$». Find the arithmetic mean
  of all of them.
- What number lies exactly halfway between the smallest and the largest of $<count>$ consecutive odd
  integers, if the smallest is «first:$<first>$»?
- On one side of a street the houses bear consecutive odd numbers. <name> delivers papers to
  $<count>$ neighbouring houses there, beginning with number «first:$<first>$» and going up. Find
  the mean of these house numbers.
- <name> writes down $<count>$ odd positive integers one after another, «first:starting with
  $<first>$» and leaving out none. What is their average?
- The lockers with odd numbers are on the left. <name>'s class gets $<count>$ lockers in a row
  there, the least number being «first:$<first>$». What is the average of the locker numbers?
- Determine the mean of the first $<count>$ odd numbers that are «first:at least $<first>$».
- A list holds the odd integers «first:from $<first>$ on», $<count>$ of them, without a gap. Compute
  the average of the list.
- In a theatre the odd seats are on one side. A group sits on $<count>$ neighbouring odd seats, of
  which «first:number $<first>$» is the smallest. What is the mean of the seat numbers?
""")
def mean_of_odds(rng: Random, level: Level) -> Draft:
    count = rng.choice(((4,), (6,), (8, 10, 12))[level - 1])
    first = 2 * rng.randrange(*((2, 30), (15, 60), (80, 300))[level - 1]) + 1
    run = [first + 2 * k for k in range(count)]
    last = run[-1]
    answer = agree(Fraction(sum(run), count), Fraction(first + last, 2))
    draft = Draft(answer, count=count, first=first)
    draft.rule(
        parity("even"),
        "the mean of an even number of consecutive odd integers lies between two of them",
    )
    draft.rule(
        all_of(above(first), below(last)),
        f"the mean lies above {first}, and below the last of {count} numbers, {last}",
        "first",
    )
    draft.wrong("misled_by_cue", answer + 1, answer - 1, first + count)
    draft.wrong("out_of_range", sum(run), last, first + last)
    draft.wrong("not_an_integer", Fraction(2 * first + count - 1, 2))
    draft.wrong("out_of_range", first + 2 * count)
    draft.wrong("arithmetic", answer + 2, answer - 2)
    return draft


@misleading(r"""'largest' is said of a part, and the sum is asked
- The largest of $<count>$ consecutive multiples of «k:$<k>$» is $<top>$. Find their sum.
- What do $<count>$ consecutive multiples of «k:$<k>$» add up to if the greatest of them is $<top>$?
- <name> stacks $<count>$ boxes. From each box to the one below it the weight grows by $<k>$
  kilograms, every weight is a multiple of «k:$<k>$ kilograms», and the largest weight is $<top>$
  kilograms. How many kilograms does the whole stack weigh?
- A theatre has $<count>$ blocks of seats. The maximum is $<top>$ seats in a block, and each other
  block has $<k>$ seats fewer than the next larger one; «k:all seats stand in rows of $<k>$». How
  many seats are there altogether?
- «k:Coins are packed in rolls of $<k>$.» On $<count>$ days <name> packs coins, the maximum of
  $<top>$ coins on the first day and then every day one roll fewer than the day before. How many
  coins does <name> pack altogether?
- Find the sum of the $<count>$ largest multiples of «k:$<k>$» that are at most $<top>$. ($<top>$
  itself is a multiple of $<k>$.)
- The greatest number on a list is $<top>$; the list goes down in steps of $<k>$, «k:all its numbers
  being divisible by $<k>$», and has $<count>$ numbers. What is the sum of the list?
- A choir stands in $<count>$ groups, «k:each of them a multiple of $<k>$ in size»: the largest
  group has $<top>$ singers, the next one $<k>$ fewer, and so on. How many singers are in the choir?
""")
def largest_given(rng: Random, level: Level) -> Draft:
    k = rng.randrange(*((2, 12), (4, 13), (12, 26))[level - 1])
    count = rng.randrange(*((3, 4), (4, 5), (5, 8))[level - 1])
    top = k * rng.randrange(count + 1, count + (9, 10, 20)[level - 1])
    parts = [top - k * place for place in range(count)]
    answer = agree(sum(parts), count * top - k * count * (count - 1) // 2)
    draft = Draft(answer, k=k, count=count, top=top)
    draft.rule(divisible(k), f"multiples of {k} are added", "k")
    draft.rule(between(top, count * top), f"{count} parts are added, the largest of them {top}")
    draft.wrong("misled_by_cue", top, parts[-1], count * top)
    draft.wrong("arithmetic", answer - parts[-1], answer + parts[-1] - k)
    draft.wrong("out_of_range", count * top + k * count * (count - 1) // 2)
    draft.wrong("arithmetic", sum(top - place for place in range(count)), sum(parts) - top)
    draft.wrong("arithmetic", k * count, answer // k)
    return draft


# Misleading tier, measures: degrees and distances that suggest another answer.


@misleading(r"""'degrees' below zero, where an angle is positive
- At dusk the thermometer shows $<a>$ degrees Celsius. Then «pace:the temperature falls by $<d>$
  degrees every hour» for $<h0>$ hours.[23: In the next $<h1>$ hours it rises again, by $<d>$
  degrees an hour.][3: After that it falls by $<d>$ degrees an hour for another $<h2>$ hours.] What
  is the temperature then, in degrees Celsius?
- What temperature, in degrees Celsius, does <name> read at the end? A cold store starts at $<a>$
  degrees and «pace:is cooled by $<d>$ degrees an hour» for $<h0>$ hours.[23: Then a door stands
  open for $<h1>$ hours, and it gets warmer by $<d>$ degrees an hour.][3: Finally it is cooled by
  $<d>$ degrees an hour for $<h2>$ hours.]
- A chemist begins with a liquid at $<a>$ degrees Celsius and «pace:lowers its temperature by $<d>$
  degrees per minute» for $<h0>$ minutes.[23: For the following $<h1>$ minutes the temperature is
  raised by $<d>$ degrees per minute.][3: Then it is lowered once more by $<d>$ degrees per minute,
  for $<h2>$ minutes.] How many degrees Celsius does the liquid have at the end?
- A weather balloon is released where the air has $<a>$ degrees Celsius. «pace:With every kilometre
  upwards the air is $<d>$ degrees colder.» The balloon rises $<h0>$ kilometres.[23: It then sinks
  by $<h1>$ kilometres.][3: At last it rises by $<h2>$ kilometres more.] Find the temperature of the
  air at the place it has reached, in degrees Celsius.
- In <name>'s town it is $<a>$ degrees Celsius on Sunday, and «pace:each day of the cold spell that
  follows is $<d>$ degrees colder than the day before». The spell lasts $<h0>$ days.[23: Afterwards
  each of $<h1>$ days is $<d>$ degrees warmer than the day before.][3: Then come $<h2>$ days that
  are again $<d>$ degrees colder, each than the day before.] What is the temperature in degrees
  Celsius on the last of these days?
- Find the temperature in degrees Celsius that a freezer shows at the end. It is $<a>$ degrees warm
  when <name> switches it on; «pace:it loses $<d>$ degrees every ten minutes», and this goes on for
  $<h0>$ times ten minutes.[23: During a power cut of $<h1>$ times ten minutes it gains $<d>$
  degrees every ten minutes.][3: With the power back, it loses $<d>$ degrees every ten minutes,
  $<h2>$ times.]
- «pace:Each press of a button makes a room $<d>$ degrees colder»; at the start it has $<a>$ degrees
  Celsius. <name> presses this button $<h0>$ times.[23: Then <name> presses $<h1>$ times another
  button, which makes it $<d>$ degrees warmer each time.][3: Last, the first button is pressed
  $<h2>$ more times.] How many degrees Celsius does the room have now?
- A mountaineer reads $<a>$ degrees Celsius in the valley. «pace:For every hour of climbing the
  temperature drops by $<d>$ degrees.» The climb takes $<h0>$ hours.[23: Then the mountaineer
  descends for $<h1>$ hours, and each of them brings $<d>$ degrees back.][3: A second climb of
  $<h2>$ hours follows, with the same drop in every hour.] What does the thermometer show at the
  end, in degrees Celsius?
""")
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
    draft = Draft(answer, a=a, d=d, h0=h0, h1=h1, h2=h2)
    falls, rises = sum(used[::2]), sum(used[1::2])
    draft.rule(congruent(a, d), f"the temperature is congruent to {a} modulo {d}", "pace")
    draft.rule(below(a), f"it falls longer than it rises, so it ends below {a}")
    draft.wrong("misled_by_cue", -answer, answer % 360)
    draft.wrong("out_of_range", a + d * falls, a + d * (falls + rises))
    draft.wrong("arithmetic", answer - a)
    draft.wrong("out_of_range", a - d * (falls + rises))
    draft.wrong("arithmetic", a - d, a - d * hours[0], a - falls + rises)
    draft.wrong("misled_by_cue", 0)
    return draft


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


@misleading(r"""'distance': the way back counts against the way out""")
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
    draft = Draft(s * net, "integer", (_WALK[which],), s=s, legs=legs_text)
    draft.rule(divisible(s), f"whole {noun} of {s} are made", "step")
    draft.rule(
        all_of(integer(), below(s * sum(legs))),
        f"some {noun} go back, so it is nearer than all {sum(legs)} {noun}",
    )
    draft.wrong("misled_by_cue", s * sum(legs))
    draft.wrong("encoded_form_not_applied", net)
    draft.wrong("misled_by_cue", sum(legs))
    draft.wrong("arithmetic", s * legs[-1], s * sum(signed[:-1]), s * sum(signed[:2]))
    draft.wrong("arithmetic", s * sum(legs[::2]), s * sum(legs[1::2]), -s * net)
    return draft


# Misleading tier, remainders: a remainder or a modulus occurs, but is not asked for.


@misleading(r"""a remainder is given; the number itself is asked
- <name> packs apples into boxes of $<d>$. On successive days <qs> boxes are filled, and at the end
  «mod:a remainder of $<r>$ apples» does not fill a box. How many apples were there?
- How many stickers did <name> have to begin with? In turn <qs> children each got $<d>$ stickers,
  and «mod:the remainder, $<r>$ stickers», stayed in the drawer.
- A positive integer is divided by $<d>$. «mod:The remainder is $<r>$», and the quotient is the sum
  of <qs>. Find the integer.
- A florist ties bunches of $<d>$ tulips each: <qs> bunches for the different shops. «mod:A
  remainder of $<r>$ tulips» goes into a vase. Find the number of tulips at the start.
- Buses with $<d>$ seats leave full: the companies send <qs> of them. «mod:The remainder of the
  group, $<r>$ people», goes by car. How many people are in the group?
- «mod:With remainder $<r>$», the number $N$ is divided by $<d>$; the quotient is what one gets by
  adding <qs>. What is $N$?
- <name> cuts ribbon into pieces of $<d>$ centimetres and gets <qs> pieces from the rolls, which are
  used one after the other without a break. «mod:The remainder at the end is $<r>$ centimetres
  long». How long was all the ribbon together, in centimetres?
- In a warehouse <qs> shelves are filled by the shifts of one day, with $<d>$ tins on every shelf.
  «mod:The remainder is $<r>$ tins», too few for a shelf. How many tins are there?
""")
def dividend_not_remainder(rng: Random, level: Level) -> Draft:
    d = rng.randrange(*((3, 10), (11, 21), (21, 45))[level - 1])
    top = (7, 12, 20)[level - 1]
    qs = [rng.randrange(2, top) for _ in range((2, 3, 4)[level - 1])]
    r = rng.randrange(2, d)
    by_counting = r
    for _ in range(sum(qs)):
        by_counting += d
    answer = agree(sum(d * q for q in qs) + r, by_counting)
    draft = Draft(answer, d=d, qs=listed(qs), r=r)
    draft.rule(congruent(r, d), f"the number leaves the remainder {r} on division by {d}", "mod")
    draft.rule(
        all_of(above(d * max(qs) + r), below(d * (len(qs) * max(qs) + 1))),
        f"there are {len(qs)} numbers of parts of {d} each, the largest of them {max(qs)}",
    )
    draft.wrong("misled_by_cue", r)
    draft.wrong("arithmetic", answer - r)
    draft.wrong("misled_by_cue", sum(qs))
    draft.wrong("arithmetic", answer - 2 * r, sum(qs) + r, d * (sum(qs) + r))
    draft.wrong("misled_by_cue", sum(qs) % d)
    draft.wrong("arithmetic", d * max(qs) + r)
    return draft


@misleading(r"""a check remainder stands beside the sum that is asked
- <name> adds up the bills <values>. To check the sum, <name> works out its remainder when divided
  by $<m>$ from the remainders of the bills, and «mod:finds $<c>$». What is the sum of the bills?
- What is the total weight in kilograms of crates that weigh <values> kilograms? As a safeguard the
  freight note carries «mod:the total modulo $<m>$, which is $<c>$».
- A spreadsheet stores, next to the numbers <values>, a check digit: «mod:the remainder of their sum
  modulo $<m>$, in this case $<c>$». Find the sum of the numbers.
- The visitors of a museum on successive days numbered <values>. The clerk notes that «mod:the total
  leaves the remainder $<c>$ on division by $<m>$». Find the number of visitors on all these days
  together.
- «mod:Modulo $<m>$ the sum is $<c>$», says a slip of paper with which <name> tests the addition of
  <values>. How large is the sum itself?
- <name> casts out to test a sum: «mod:divided by $<m>$, the sum of <values> must leave the
  remainder $<c>$». What does the addition come to?
- A teacher writes <values> on the board and tells the class that «mod:the sum of these numbers is
  congruent to $<c>$ modulo $<m>$», so that everybody can test the result. Compute the sum.
- Lorries bring <values> sacks of grain to a mill. In the book each day's total is followed by
  «mod:its residue modulo $<m>$, today $<c>$». How many sacks were brought today?
""")
def check_digit_total(rng: Random, level: Level) -> Draft:
    m = rng.choice((7, 9, 11, 13))
    low, high, count = ((6, 40, 2), (12, 50, 3), (110, 500, 5))[level - 1]
    values = rng.sample(range(low, high), count)
    # The second computation: add the units, the tens and the hundreds separately.
    by_columns = sum(10**place * sum(v // 10**place % 10 for v in values) for place in range(3))
    answer, c = agree(sum(values), by_columns), sum(v % m for v in values) % m
    draft = Draft(answer, values=listed(values), m=m, c=c)
    draft.rule(congruent(c, m), f"the sum leaves {c} on division by {m}", "mod")
    draft.rule(
        all_of(above(max(values)), at_most(count * max(values))),
        f"{count} numbers are added, the largest of them {max(values)}",
    )
    draft.wrong("misled_by_cue", c, answer // m, answer - c, answer + c, sum(v % m for v in values))
    draft.wrong(
        "arithmetic", answer - values[-1], answer + 10, answer - 10, answer + 100, answer - 100
    )
    return draft


# Misleading tier, rounding: rounded prices and rounds of a game; the answer is never rounded.

_THINGS = (
    ("pen", "pens"), ("candle", "candles"), ("notebook", "notebooks"), ("postcard", "postcards"),
    ("brush", "brushes"), ("lemon", "lemons"), ("battery", "batteries"), ("magnet", "magnets"),
)  # fmt: skip


@misleading(r"""a rounded price in the story, the exact one asked
- A pack of <packs> costs $<cost>$ dollars; «round:an advertisement rounds this to the nearest
  dollar, $<shown>$». What is the exact price of one <thing>, in dollars?
- <name> pays $<cost>$ dollars for <packs>. «round:Rounded to whole dollars, as the till also prints
  it, that is $<shown>$.» Find, in dollars, what a single <thing> cost exactly.
- «round:On a price list that is rounded to the nearest dollar, <packs> cost $<shown>$ dollars»; the
  true price of the <many> together is $<cost>$ dollars. How many dollars does each <thing> cost
  exactly?
- What does one <thing> cost exactly, in dollars, if <packs> of the same price cost $<cost>$
  dollars, «round:or $<shown>$ dollars when rounded to the nearest dollar»?
- In <name>'s household book, «round:where every amount is rounded to the nearest dollar, <packs>
  stand with $<shown>$ dollars». The receipt says $<cost>$ dollars. All the <many> had the same
  price. What was this price to the cent, in dollars?
- «round:About $<shown>$ dollars, rounded to the nearest dollar,» is what <name> remembers having
  paid for <packs>; in fact it was $<cost>$ dollars. Give the exact price of each <thing> in
  dollars.
- A customer's total for <packs> is $<cost>$ dollars. «round:The shop's screen shows it rounded to
  the nearest dollar: $<shown>$.» Each <thing> costs the same. Determine the unrounded price of a
  <thing> in dollars.
- The invoice for <packs> says $<cost>$ dollars, «round:which the accountant's summary rounds to
  $<shown>$ dollars, the nearest whole number». How many dollars, to the cent, did one <thing> cost?
""")
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
    draft = Draft(
        decimal(each, 2),
        "decimal",
        packs=plural(count, thing, many),
        thing=thing,
        many=many,
        cost=decimal(cost, 2),
        shown=shown,
    )
    draft.rule(
        between(low, high),
        f"all of them cost {shown} dollars to the nearest dollar, and one {count} times less",
        "round",
    )
    draft.rule(in_unit(Fraction(cents, 100), 1, "dollars"), "the exact price")
    draft.wrong("misled_by_cue", Fraction(shown, count))
    draft.wrong("misled_by_cue", decimal(Fraction(shown * 100 // count, 100), 2))
    draft.wrong("misled_by_cue", floor(each + Fraction(1, 2)), floor(each))
    draft.wrong("misled_by_cue", decimal(Fraction(floor(each * 10 + Fraction(1, 2)), 10), 1))
    draft.wrong("encoded_form_not_applied", cents)
    draft.wrong("out_of_range", decimal(cost, 2), decimal(count * cost, 2))
    return draft


@misleading(r"""'round' is a part of a game, and nothing is rounded
- A tournament has $<n>$ rounds. «points:A win brings $<w>$ points and a draw $<d>$ points; a lost
  round costs $<l>$ points.» <name> wins $<a>$ rounds, draws $<b>$ and loses all the other ones. How
  many points does <name> have at the end?
- How many points has <name> after $<n>$ rounds of a card game with $<a>$ rounds won, $<b>$ drawn
  and the rest lost? «points:Each round won counts $<w>$ points, each draw $<d>$, and for each round
  lost $<l>$ points are taken away.»
- «points:In a quiz a right answer earns $<w>$ points, a partly right one $<d>$ points, and a wrong
  one costs $<l>$ points.» There are $<n>$ rounds with one question each. <name> is right in $<a>$
  rounds, partly right in $<b>$ rounds and wrong in the others. Find the final score.
- <name> plays $<n>$ rounds of chess against a computer, wins $<a>$ of them and draws $<b>$; the
  computer wins the rest. «points:The score goes up by $<w>$ for a win and by $<d>$ for a draw, and
  down by $<l>$ for a loss.» It started at $0$. What is it at the end?
- In an archery match «points:the centre gives $<w>$ points, the ring round it $<d>$ points, and a
  miss takes $<l>$ points off». <name> shoots once in each of $<n>$ rounds, hits the centre $<a>$
  times and the ring $<b>$ times, and misses otherwise. Find the number of points.
- Two teams meet for $<n>$ rounds. «points:Per round, a victory is worth $<w>$ points, a tie $<d>$,
  and a defeat minus $<l>$.» Our team had $<a>$ victories and $<b>$ ties; all the other rounds were
  defeats. What is our team's total?
- What score does <name> reach in a game of $<n>$ rounds, $<a>$ of which are won, $<b>$ drawn and
  the remaining ones lost, if «points:winning a round adds $<w>$, drawing it adds $<d>$ and losing
  it subtracts $<l>$»?
- <name>'s dog does $<n>$ rounds of an obstacle course: $<a>$ rounds without a mistake, $<b>$ with
  one mistake, and the others broken off. «points:They count $<w>$, $<d>$ and minus $<l>$ points
  each.» How many points is that altogether?
""")
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
    draft = Draft(total, n=n, w=w, d=d, l=lost, a=a, b=b)
    draft.rule(
        divisible(g), f"{w}, {d} and {lost} are multiples of {g}, so every score is", "points"
    )
    draft.rule(
        all_of(integer(), between(-n * lost, n * w)),
        f"the answer is between {-n * lost}, all {n} lost, and {n * w}, all won",
    )
    draft.wrong("arithmetic", a * w + b * d, a * w + b * d + c * lost, a * w + b * d - n * lost)
    draft.wrong("arithmetic", a * w + b * d - lost)
    draft.wrong("misled_by_cue", c, Fraction(total, n))
    draft.wrong("arithmetic", a * w - c * lost)
    draft.wrong("out_of_range", n * (w + d - lost), n * (w + d))
    return draft
