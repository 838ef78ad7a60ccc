"""Joint tier, level 4: counting with several conditions at once, checked by counting one by one."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise, product
from math import comb, prod
from random import Random

from constraint_first.benchmark.constraintbench.families.chance import lowest_terms
from constraint_first.benchmark.constraintbench.families.phrase import NAMES, tell
from constraint_first.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from constraint_first.benchmark.constraintbench.item import Level
from constraint_first.constraint.demand import (
    all_of,
    at_most,
    between,
    encoded,
    integer,
    least_residue,
)

__all__ = ["FAMILIES"]

_SUBSETS = (
    r"Find the number of subsets of $\{1, 2, \dots, <n>\}$ with «size:exactly $<k>$ elements», "
    r"«gap:no two of them consecutive», whose «sum:sum is divisible by $<m>$».",
    r"In how many ways can «size:$<k>$ numbers» be chosen from $1, 2, \dots, <n>$ so that «gap:no "
    r"two of them differ by $1$» and «sum:their sum is a multiple of $<m>$»? The order does not "
    r"matter.",
    r"A row has $<n>$ seats, numbered from $1$ to $<n>$. «size:Exactly $<k>$ seats» are taken, "
    r"«gap:no two of them next to each other», and «sum:the numbers of the taken seats add up to "
    r"a multiple of $<m>$». How many sets of taken seats are possible?",
    r"How many sets of «size:$<k>$ positive integers», none above $<n>$, have «sum:a sum that "
    r"leaves no remainder on division by $<m>$» and «gap:contain no two consecutive integers»?",
    r"<name> circles «size:$<k>$ of the numbers» from $1$ to $<n>$. «gap:Neighbouring numbers are "
    r"never both circled», and «sum:the circled numbers have a sum divisible by $<m>$». Find the "
    r"number of ways to do this.",
    r"Lamps $1$ to $<n>$ stand in a line. <name> switches on «size:$<k>$ lamps» such that "
    r"«gap:between any two that are on there is one that is off» and «sum:$<m>$ divides the sum "
    r"of the numbers of the lamps that are on». In how many ways can this be done?",
    r"Integers from $1$ to $<n>$ are picked in increasing order, «size:$<k>$ of them», «gap:each "
    r"at least $2$ more than the one before». Determine the number of picks with «sum:a sum "
    r"divisible by $<m>$».",
    r"Of the sets of «size:$<k>$ numbers» from $1$ to $<n>$ «gap:without two neighbours», how "
    r"many have «sum:a sum that is a multiple of $<m>$»?",
)


@family(
    "joint", ("domain", "bound"), "sets without neighbours whose sum is a multiple", levels=(4,)
)
def spaced_subsets(rng: Random, level: Level) -> Draft:  # noqa: ARG001
    """Ask for the number of sets without neighbours and with a sum condition."""
    n, k, m = rng.randrange(14, 21), rng.randrange(4, 7), rng.randrange(3, 12)
    chosen = [c for c in combinations(range(1, n + 1), k) if sum(c) % m == 0]
    spaced = [c for c in chosen if all(b - a > 1 for a, b in pairwise(c))]
    answer = agree(len(spaced), _spaced(n, k, m))
    told = tell(rng, _SUBSETS, n=n, k=k, m=m, name=rng.choice(NAMES))
    free = comb(n - k + 1, k)
    rules = [
        gold("domain", "a number of sets is an integer", integer()),
        gold(
            "bound",
            f"there are {free} sets of {k} without neighbours at all",
            between(0, free - 1),
            told.span("gap"),
        ),
    ]
    lures: Lures = [
        (free, "broken_condition"),
        (comb(n, k), "out_of_range"),
        (len(chosen), "arithmetic"),
        (Fraction(free, m), "arithmetic"),
        (Fraction(comb(n, k), m), "arithmetic"),
        (Fraction(2 * free + 1, 2 * m), "not_an_integer"),
        (free // m, "arithmetic"),
    ]
    return Draft(told.text, answer, rules, lures)


def _spaced(n: int, k: int, m: int) -> int:
    """Count the sets number by number: states are how many are taken, the sum, and the last one."""
    states: dict[tuple[int, int, bool], int] = {(0, 0, False): 1}
    for number in range(1, n + 1):
        following: dict[tuple[int, int, bool], int] = {}
        for (taken, total, last), ways in states.items():
            key = (taken, total, False)
            following[key] = following.get(key, 0) + ways
            if not last and taken < k:
                key = (taken + 1, (total + number) % m, True)
                following[key] = following.get(key, 0) + ways
        states = following
    return sum(ways for (taken, total, _), ways in states.items() if (taken, total) == (k, 0))


_TRIPLES = (
    r"Find the number of triples of integers $a$, $b$, $c$ with «order:$0$ less than $a$, $a$ "
    r"less than $b$ and $b$ less than $c$» and «product:$abc = <n>$».",
    r"In how many ways can $<n>$ be written as «product:a product of three positive integers» "
    r"that are «order:all different», if the order of the factors does not matter?",
    r"How many boxes with «order:edges of three different whole lengths» have «product:the volume "
    r"$<n>$»? Boxes that differ only in the order of their edges count as one.",
    r"<name> splits $<n>$ into «product:three positive integer factors», «order:no two of them "
    r"equal». Writing the factors in increasing order, how many different results can <name> get?",
    r"Determine the number of sets of «order:three distinct positive integers» whose "
    r"«product:product is $<n>$».",
    r"Three children have «order:different ages, in whole years», and «product:the product of the "
    r"ages is $<n>$», however absurd this may be. How many sets of three ages are possible?",
    r"How many sets $\{a, b, c\}$ of «order:three different positive integers» satisfy "
    r"«product:$abc = <n>$»?",
    r"A block of «product:$<n>$ unit cubes is a cuboid» whose «order:length, width and height are "
    r"all different». How many such cuboids are there, if turning a cuboid does not make a new "
    r"one?",
)
_PRIMES = (2, 3, 5, 7)


@family("joint", ("domain", "bound"), "sets of three different factors of a number", levels=(4,))
def distinct_factors(rng: Random, level: Level) -> Draft | None:  # noqa: ARG001
    """Ask for the number of ways to write a number as a product of three different factors."""
    exponents = [rng.randrange(1, 9), rng.randrange(1, 6), rng.randrange(0, 4), rng.randrange(0, 3)]
    n = prod(p**e for p, e in zip(_PRIMES, exponents, strict=True))
    if not 5000 < n < 2_000_000:
        return None
    ordered = prod(comb(e + 2, 2) for e in exponents)
    pair = prod(e // 2 + 1 for e in exponents)
    cube = int(all(e % 3 == 0 for e in exponents))
    divisors = [d for d in range(1, int(n ** (2 / 3)) + 2) if n % d == 0]
    small = [(a, b) for a, b in combinations(divisors, 2) if n % (a * b) == 0 and n // (a * b) > b]
    answer = agree((ordered - 3 * pair + 2 * cube) // 6, len(small))
    told = tell(rng, _TRIPLES, n=n, name=rng.choice(NAMES))
    rules = [
        gold("domain", "a number of sets is an integer", integer(), told.span("order")),
        gold(
            "bound",
            f"each set comes from six of the {ordered} ordered triples",
            at_most(Fraction(ordered, 6)),
            told.span("product"),
        ),
    ]
    lures: Lures = [
        (ordered, "out_of_range"),
        (Fraction(ordered, 6), "arithmetic"),
        ((ordered + 3 * pair + 2 * cube) // 6, "arithmetic"),
        (ordered - 3 * pair + 2 * cube, "arithmetic"),
        (Fraction(2 * ordered + 1, 12), "not_an_integer"),
        (prod(e + 1 for e in exponents), "arithmetic"),
        (-(-ordered // 6), "arithmetic"),
    ]
    return Draft(told.text, answer, rules, lures)


_DICE = (
    r"<name> rolls <c> fair dice with faces numbered from $1$ to $<f>$. The probability that "
    r"«sum:the sum of the numbers is divisible by $<d>$» is $\frac{m}{n}$, where $m$ and $n$ are "
    r"relatively prime positive integers. «mod:Find the remainder when $m+n$ is divided by "
    r"$1000$.»",
    r"Each of <c> fair spinners shows an integer from $1$ to $<f>$. Let $\frac{m}{n}$, in lowest "
    r"terms, be the probability that «sum:$<d>$ divides the sum of what they show». «mod:What is "
    r"the remainder of $m+n$ modulo $1000$?»",
    r"«mod:What remainder does $m+n$ leave on division by $1000$», if $\frac{m}{n}$, with coprime "
    r"positive integers $m$ and $n$, is the probability that <c> numbers chosen independently and "
    r"uniformly from $1$ to $<f>$ have «sum:a sum that is a multiple of $<d>$»?",
    r"<name> draws a card <c> times from $<f>$ cards numbered from $1$ to $<f>$ and puts it back "
    r"each time. «sum:The numbers drawn add up to a multiple of $<d>$» with probability "
    r"$\frac{m}{n}$ in lowest terms. «mod:Find $m+n$ modulo $1000$.»",
    r"The digits of a code are <c> independent random integers from $1$ to $<f>$, all equally "
    r"likely. The probability that «sum:their sum leaves no remainder on division by $<d>$» "
    r"equals $\frac{m}{n}$ with relatively prime positive integers $m$ and $n$. «mod:Compute the "
    r"remainder of $m+n$ on division by $1000$.»",
    r"From each of <c> urns with balls numbered from $1$ to $<f>$ one ball is drawn at random. "
    r"Write the probability that «sum:the numbers drawn have a sum divisible by $<d>$» as "
    r"$\frac{m}{n}$ in lowest terms. «mod:What is $m+n$ modulo $1000$, as an integer from $0$ to "
    r"$999$?»",
    r"A game is won if «sum:the total of <c> fair dice, each with the faces $1$ to $<f>$, is a "
    r"multiple of $<d>$». The chance of winning is $\frac{m}{n}$, where $m$ and $n$ are coprime "
    r"positive integers. «mod:Determine the remainder when $m+n$ is divided by $1000$.»",
    r"Let $\frac{m}{n}$ in lowest terms be the probability that «sum:$<d>$ is a divisor of the "
    r"sum» of <c> independent random integers, each uniform on $1, 2, \dots, <f>$. «mod:Find the "
    r"remainder that $m+n$ leaves modulo $1000$.»",
)


@family("joint", ("domain", "modular", "structure"), "m + n of a dice sum, reduced", levels=(4,))
def dice_sum_code(rng: Random, level: Level) -> Draft | None:  # noqa: ARG001
    """Ask for m + n modulo 1000 of the probability that a sum is a multiple."""
    dice, d = rng.choice((3, 4)), rng.randrange(3, 20)
    faces = rng.randrange(6, 23) if dice == 3 else rng.randrange(5, 12)
    if faces % d == 0 or d > 2 * faces:
        return None
    good = sum(sum(roll) % d == 0 for roll in product(range(1, faces + 1), repeat=dice))
    agree(good, _multiples(faces, dice, d))
    total = faces**dice
    value = Fraction(good, total)
    m, n = agree((value.numerator, value.denominator), lowest_terms(good, total))
    answer = (m + n) % 1000
    if m + n < 1000:
        return None
    count = {3: "three", 4: "four"}[dice]
    told = tell(rng, _DICE, c=count, f=faces, d=d, name=rng.choice(NAMES))
    rules = [
        gold("modular", "a remainder on division by 1000", least_residue(1000), told.span("mod")),
        gold("domain", "m and n are integers, and so is the answer", integer()),
        gold(
            "structure", "m + n, reduced", encoded("m+n", (m, n), 1000), told.span("sum"), pins=True
        ),
    ]
    lures: Lures = [
        (m + n, "forgot_modular_reduction"),
        ((good + total) % 1000, "encoded_form_not_applied"),
        (good + total, "encoded_form_not_applied"),
        (value, "encoded_form_not_applied"),
        (n % 1000, "encoded_form_not_applied"),
        ((d + 1) % 1000, "arithmetic"),
        (n, "encoded_form_not_applied"),
        (m, "encoded_form_not_applied"),
    ]
    return Draft(told.text, answer, rules, lures)


def _multiples(faces: int, dice: int, d: int) -> int:
    """Count the rolls whose sum is a multiple of d, die by die, by remainders."""
    ways = [1] + [0] * (d - 1)
    for _ in range(dice):
        ways = [sum(ways[(r - face) % d] for face in range(1, faces + 1)) for r in range(d)]
    return ways[0]


_PATHS = (
    r"A path on a grid goes from $(0, 0)$ to $(<w>, <h>)$ in steps of $1$ to the right or up. "
    r"«through:It must pass through $(<a>, <b>)$» and «avoid:must not pass through $(<c>, <d>)$». "
    r"«mod:Find the remainder when the number of such paths is divided by $1000$.»",
    r"«mod:What is, modulo $1000$, the number of ways» in which <name> can walk from the "
    r"south-west corner of a town to a crossing $<w>$ blocks east and $<h>$ blocks north, always "
    r"going east or north, if «through:the way must lead over the crossing $<a>$ blocks east and "
    r"$<b>$ north of the start» and «avoid:the crossing $<c>$ east and $<d>$ north is closed»? "
    r"Answer with an integer from $0$ to $999$.",
    r"A robot moves from $(0, 0)$ to $(<w>, <h>)$ by unit steps, each in the direction of one of "
    r"the two positive axes. «avoid:It never visits $(<c>, <d>)$», but «through:it does visit "
    r"$(<a>, <b>)$». If $N$ is the number of its possible paths, «mod:find the remainder of $N$ "
    r"on division by $1000$».",
    r"Words are made of $<w>$ letters R and $<h>$ letters U. «through:The first $<ab>$ letters "
    r"hold exactly $<a>$ letters R», and «avoid:the first $<cd>$ letters do not hold exactly "
    r"$<c>$ letters R». «mod:What remainder does the number of such words leave on division by "
    r"$1000$?»",
    r"Let $N$ be the number of lattice paths from the origin to $(<w>, <h>)$, with steps $(1, 0)$ "
    r"and $(0, 1)$, that «through:contain the point $(<a>, <b>)$» and «avoid:do not contain the "
    r"point $(<c>, <d>)$». «mod:Determine the remainder when $N$ is divided by $1000$.»",
    r"On a chessboard of unlimited size a piece moves one square to the right or one square up at "
    r"a time. It has to get $<w>$ squares to the right and $<h>$ squares up, «through:by way of "
    r"the square $<a>$ to the right and $<b>$ up» from the start, «avoid:without touching the "
    r"square $<c>$ to the right and $<d>$ up». «mod:Find the number of ways modulo $1000$.»",
    r"Two teams score $<w>$ and $<h>$ goals in a match. «through:At some moment the score was "
    r"$<a>$ to $<b>$», and «avoid:at no moment was it $<c>$ to $<d>$» (the first team's goals "
    r"named first). «mod:What is the remainder modulo $1000$ of the number of possible orders of "
    r"the goals?»",
    r"<name> stacks $<w>$ red and $<h>$ white bricks into a tower, one upon the other. "
    r"«through:After $<ab>$ bricks exactly $<a>$ are red», and «avoid:after $<cd>$ bricks the "
    r"number of red ones is not $<c>$». «mod:Find the remainder when the number of such towers is "
    r"divided by $1000$.»",
)


@family("joint", ("domain", "modular"), "paths through one point and past another", levels=(4,))
def detour_paths(rng: Random, level: Level) -> Draft | None:  # noqa: ARG001
    """Ask for the number of lattice paths through one point that avoid another, reduced."""
    w, h = rng.randrange(7, 14), rng.randrange(7, 14)
    a, b = rng.randrange(2, w - 2), rng.randrange(2, h - 2)
    c, d = rng.randrange(a + 1, w), rng.randrange(b + 1, h)
    through = comb(a + b, a) * comb(w - a + h - b, w - a)
    bad = comb(a + b, a) * comb(c - a + d - b, c - a) * comb(w - c + h - d, w - c)
    number = agree(through - bad, _paths((0, 0), (a, b), (c, d)) * _paths((a, b), (w, h), (c, d)))
    if number < 1000:
        return None
    told = tell(
        rng, _PATHS, w=w, h=h, a=a, b=b, c=c, d=d, ab=a + b, cd=c + d, name=rng.choice(NAMES)
    )
    rules = [
        gold("modular", "a remainder on division by 1000", least_residue(1000), told.span("mod")),
        gold("domain", "an integer from 0 to 999", all_of(integer(), between(0, 999))),
    ]
    lures: Lures = [
        (number, "forgot_modular_reduction"),
        (through % 1000, "arithmetic"),
        (through, "broken_condition"),
        (bad % 1000, "arithmetic"),
        ((comb(w + h, w) - bad) % 1000, "arithmetic"),
        (comb(w + h, w), "broken_condition"),
    ]
    return Draft(told.text, number % 1000, rules, lures)


def _paths(start: tuple[int, int], end: tuple[int, int], closed: tuple[int, int]) -> int:
    """Count the paths from point to point by adding up those from the left and from below."""
    ways = {start: 1}
    for x in range(start[0], end[0] + 1):
        for y in range(start[1], end[1] + 1):
            if (x, y) != start:
                ways[x, y] = ways.get((x - 1, y), 0) + ways.get((x, y - 1), 0)
            if (x, y) == closed:
                ways[x, y] = 0
    return ways[end]


FAMILIES = (spaced_subsets, distinct_factors, dice_sum_code, detour_paths)
