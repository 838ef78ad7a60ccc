"""Misleading tier, values: the text is full of integers, the answer is a fraction or a mean."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb, floor, gcd
from random import Random

from cfr.benchmark.constraintbench.families.chance import all_good
from cfr.benchmark.constraintbench.families.phrase import NAMES, listed, tell
from cfr.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from cfr.benchmark.constraintbench.item import Level
from cfr.constraint.demand import between, not_whole, reduced

__all__ = ["FAMILIES"]

_MEAN = (
    r"Find the exact mean of the positive integers between $<low>$ and $<high>$ inclusive that are "
    r"divisible by $<k>$ or equal to $<low>$.",
    r"<name> writes down $<low>$ together with all multiples of $<k>$ from $<low>$ to $<high>$. "
    r"What is the exact arithmetic mean of the integers on the list?",
    r"A set consists of the positive integer $<low>$ and of every multiple of $<k>$ that is "
    r"greater than $<low>$ and at most $<high>$. Determine the exact average of its elements.",
)


@family("misleading", ("bound", "format"), "a mean of integers that is not an integer")
def mean_of_integers(rng: Random, level: Level) -> Draft | None:
    """Ask for a mean; "integers", "divisible" and "at most" are only decoration."""
    k = rng.randrange(3, 5 + 3 * level)
    low = rng.randrange(2, 20 * level)
    high = low + k * rng.randrange(2 + level, 5 + 2 * level)
    if low % k == 0:
        return None
    elements = [n for n in range(low, high + 1) if n % k == 0 or n == low]
    first, last = elements[1], elements[-1]
    count = (last - first) // k + 1
    mean = agree(
        Fraction(sum(elements), len(elements)),
        Fraction(low + count * (first + last) // 2, count + 1),
    )
    if mean.denominator == 1:
        return None
    told = tell(rng, _MEAN, low=low, high=high, k=k, name=rng.choice(NAMES))
    rules = [
        gold(
            "bound",
            f"a mean lies between the least and the greatest element, {low} and {last}",
            between(low, last),
        ),
        gold("format", "the exact mean is no integer, and nothing asks for one", not_whole()),
    ]
    lures: Lures = [
        (floor(mean + Fraction(1, 2)), "misled_by_cue"),
        (sum(elements), "out_of_range"),
        (Fraction(first + last, 2), "arithmetic"),
        (Fraction(low + last, 2), "arithmetic"),
        (len(elements), "misled_by_cue"),
    ]
    return Draft(told.text, mean, rules, lures, "fraction")


_MARBLES = (
    r"A bag holds red and blue marbles only. The number of blue marbles is $<ratio>$ times the "
    r"number of red marbles, and there are $<red>$ red ones. If <draws>, what is the probability "
    r"that <all> blue?",
    r"In <name>'s jar the number of lemon sweets is $<red>$, and the number of cherry sweets, "
    r"the only other kind, is $<ratio>$ times as large. Suppose that <draws>. How likely is it "
    r"that <all> cherry?",
    r"The number of left-handed players in <name>'s club is $<red>$, and there are $<ratio>$ "
    r"times as many right-handed ones; nobody plays with both hands. For a photograph, <draws>. "
    r"Find the probability that <all> right-handed.",
)
_DRAWN = ("marble", "sweet", "player")
_DRAWS = (
    "one <thing> is chosen at random",
    "two <thing>s are chosen at random, without replacement",
    "three <thing>s are chosen at random, without replacement",
)


@family("misleading", ("domain",), "'the number of red marbles' where a probability is asked")
def marble_probability(rng: Random, level: Level) -> Draft:
    """Ask for a probability in a text that talks of numbers (the paper's edge case E2)."""
    red, ratio = rng.randrange(2, (30, 14, 7)[level - 1]), rng.randrange(2, 10 - level)
    blue, draws = red * ratio, level
    total = red + blue
    value = all_good(blue, total, draws)
    which = rng.randrange(3)
    chosen = _DRAWS[draws - 1].replace("<thing>", _DRAWN[which])
    whom = ("it is" if which < 2 else "this player is", "both are", "all three are")[draws - 1]
    told = tell(
        rng,
        (_MARBLES[which],),
        ratio=ratio,
        red=red,
        draws=chosen,
        all=whom,
        name=rng.choice(NAMES),
    )
    rule = gold(
        "domain", "a probability lies between 0 and 1, and need not be an integer", between(0, 1)
    )
    lures: Lures = [
        (comb(blue, draws), "misled_by_cue"),
        (blue, "misled_by_cue"),
        (Fraction(ratio), "out_of_range"),
        (Fraction(blue, total) ** draws if draws > 1 else Fraction(red, total), "arithmetic"),
        (1 - value, "arithmetic"),
    ]
    return Draft(told.text, value, [rule], lures, "fraction")


_CAPACITY = (
    r"A cable car carries at most $<cap>$ passengers. On its first <count> trips of the day it "
    r"took <values> passengers. What was the mean number of passengers on a trip?",
    r"No lesson at <name>'s music school may have more than $<cap>$ pupils, and each has at least "
    r"one. This week's <count> lessons were attended by <values> pupils. Find the average number "
    r"of pupils in a lesson.",
    r"<name> has a strategy for a card game that guarantees at least two points in a round; "
    r"nobody can score more than $<cap>$. In the last <count> rounds <name> scored <values> "
    r"points. What was the mean score in a round?",
    r"A shelf holds at most $<cap>$ books, and no shelf in the room is empty. The <count> "
    r"shelves hold <values> books. How many books are there on a shelf on average?",
)
_COUNT_WORDS = {3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine"}


@family("misleading", ("bound", "domain"), "'at most' in a story whose mean is asked")
def at_most_story(rng: Random, level: Level) -> Draft | None:
    """Ask for a mean in a story with a capacity that plays no part."""
    cap = rng.randrange(10, 16 + 10 * level)
    count = rng.choice(((4, 5), (4, 5, 6, 8), (6, 7, 8, 9))[level - 1])
    values = [rng.randrange(2, cap) for _ in range(count)]
    mean = agree(
        Fraction(sum(values), count),
        values[0] + Fraction(sum(value - values[0] for value in values), count),
    )
    if mean.denominator == 1:
        return None
    told = tell(
        rng,
        _CAPACITY,
        cap=cap,
        count=_COUNT_WORDS[count],
        values=listed(values),
        name=rng.choice(NAMES),
    )
    rules = [
        gold(
            "bound",
            f"a mean of numbers up to {max(values)} is at most {max(values)}",
            between(min(values), max(values)),
        ),
        gold(
            "domain", "the mean is not a whole number, although people and books are", not_whole()
        ),
    ]
    lures: Lures = [
        (cap, "misled_by_cue"),
        (floor(mean + Fraction(1, 2)), "misled_by_cue"),
        (sum(values), "out_of_range"),
        (Fraction(sum(values), cap), "misled_by_cue"),
        (Fraction(min(values) + max(values), 2), "arithmetic"),
    ]
    return Draft(told.text, mean, rules, lures, "fraction")


_FRACTION = (
    r"Two different integers are chosen at random from the integers from $1$ to $<n>$. The "
    r"probability that their <what> can be written as $\frac{p}{q}$, where $p$ and $q$ are "
    r"relatively prime positive integers. «form:What is $\frac{p}{q}$?»",
    r"<name> picks two different numbers from the list $1, 2, \dots, <n>$, every pair being "
    r"equally likely. Let $\frac{p}{q}$, with $p$ and $q$ coprime positive integers, be the "
    r"probability that their <what>. «form:Give this fraction in lowest terms.»",
    r"A hat contains $<n>$ slips numbered from $1$ to $<n>$, and two slips are drawn together. The "
    r"chance that the <what> is a fraction $\frac{p}{q}$ in lowest terms. «form:Find "
    r"$\frac{p}{q}$», not the sum of its terms.",
)


@family("misleading", ("domain", "format"), "p/q is introduced, and p/q itself is asked")
def fraction_itself(rng: Random, level: Level) -> Draft | None:
    """Ask for the fraction where competition habit would give p + q."""
    n = rng.randrange(6, 12 + 4 * level)
    goal = rng.randrange(n // 2, 3 * n // 2) if level < 3 else rng.randrange(2, n - 1)
    pairs = list(combinations(range(1, n + 1), 2))
    if level < 3:
        what = f"sum is ${goal}$" if level == 1 else f"sum is less than ${goal}$"
        good = sum(i + j == goal if level == 1 else i + j < goal for i, j in pairs)
        top = goal if level == 1 else goal - 1
        sums = range(goal, goal + 1) if level == 1 else range(3, top + 1)
        by_sums = sum(min(n, s - 1) - max(1, s - n) + 1 - (s % 2 == 0) for s in sums) // 2
    else:
        what = f"positive difference is at least ${goal}$"
        good = sum(j - i >= goal for i, j in pairs)
        by_sums = (n - goal) * (n - goal + 1) // 2
    agree(good, by_sums)
    total = len(pairs)
    if good == 0 or gcd(good, total) == 1:
        return None
    value = Fraction(good, total)
    told = tell(rng, _FRACTION, n=n, what=what, name=rng.choice(NAMES))
    rules = [
        gold("domain", "a probability lies between 0 and 1", between(0, 1)),
        gold(
            "format",
            "the answer is the fraction itself, in lowest terms",
            reduced(),
            told.span("form"),
        ),
    ]
    lures: Lures = [
        (value.numerator + value.denominator, "misled_by_cue"),
        (f"{good}/{total}", "encoded_form_not_applied"),
        (1 - value, "arithmetic"),
        (good, "misled_by_cue"),
    ]
    return Draft(told.text, value, rules, lures, "fraction")


FAMILIES = (mean_of_integers, marble_probability, at_most_story, fraction_itself)
