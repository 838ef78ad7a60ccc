"""Explicit tier: the text states the demand on the answer."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from fractions import Fraction
from functools import partial
from itertools import combinations, permutations
from math import comb, floor, gcd, perm
from random import Random

from constraint_first.answer.value import decimal
from constraint_first.benchmark.constraintbench.family import (
    COUNT_WORDS,
    NAMES,
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
    all_of,
    at_most,
    between,
    congruent,
    decimals,
    digit_sum,
    divides,
    divisible,
    encoded,
    integer,
    measured,
    one_of,
    parity,
)

explicit = partial(family, "explicit")

# Explicit tier, counts: without some numbers, with both days. The text says which are counted.

_WITHOUT = (
    r"How many integers from $<low>$ to $<high>$ (both included) are «not:not divisible by $<k>$»?",
    r"<name> writes the integers from $<low>$ to $<high>$ on the board and «not:wipes out all "
    r"multiples of $<k>$». How many numbers are left?",
    r"Find the number of integers $n$ with $<low> \le n \le <high>$ that «not:are not multiples of "
    r"$<k>$».",
    r"Seats $<low>$ to $<high>$ of a hall are free, but «not:seats whose number is a multiple of "
    r"$<k>$ may not be sold». How many of these seats may be sold?",
    r"«not:Every house whose number is divisible by $<k>$ is skipped.» <name> delivers one paper "
    r"to each other house with a number from $<low>$ to $<high>$. How many papers does <name> "
    r"deliver?",
    r"Of the tickets $<low>$ to $<high>$, «not:those whose number is divisible by $<k>$ are thrown "
    r"away». How many tickets are kept?",
    r"In a counting game the players say the numbers from $<low>$ to $<high>$ in turn, but "
    r"«not:clap instead of saying a multiple of $<k>$». How many numbers are said aloud?",
    r"How many pages of a chapter that runs from page $<low>$ to page $<high>$ have no picture, if "
    r"«not:exactly the pages whose number is a multiple of $<k>$ have one»?",
)


@explicit(("domain", "bound"), "how many numbers of a range are not multiples")
def count_without(rng: Random, level: Level) -> Draft | None:
    k = rng.choice(((3, 4, 5, 6, 7, 8, 9, 10), (4, 6, 7, 8), (7, 9, 11, 12, 13))[level - 1])
    low = rng.randrange(61, 180) if level == 3 else 1
    size = (k * rng.randrange(2, 15), rng.randrange(20, 60), rng.randrange(80, 230))[level - 1]
    high = low + size - 1
    listing = sum(n % k != 0 for n in range(low, high + 1))
    multiples = high // k - (low - 1) // k
    answer = agree(size - multiples, listing)
    if multiples == answer:
        return None
    told = tell(rng, _WITHOUT, low=low, high=high, k=k)
    about = size - size // k
    rules = [
        gold("domain", "the answer is a count", integer()),
        gold(
            "bound",
            f"about one in {k} of the {size} numbers is left out",
            between(about - 2, about + 1),
            "not",
        ),
    ]
    lures = [
        *wrong("misled_by_cue", multiples),
        *wrong("out_of_range", size),
        *wrong("other", answer - 1, answer + 1),
        *wrong(
            "out_of_range", high - multiples, high - high // k, high - low - size // k, size - 1
        ),
        *wrong("not_an_integer", f"{size - size / k:.1f}" if size % k else f"{answer}.5"),
        *wrong("encoded_form_not_applied", sum(n for n in range(low, high + 1) if n % k)),
    ]
    return Draft(told, answer, rules, lures)


_DAYS = (
    r"A museum shows an exhibition from <first> to <last> of the same year, «both:the first and "
    r"the last day included». On how many days is it open?",
    r"<name> takes a tablet every day from <first> to <last>, «both:on both of these days too». "
    r"How many tablets does <name> take in that year?",
    r"How many days are there from <first> to <last> of the same year, «both:counting both of "
    r"these days»?",
    r"A fishing permit is valid from <first> until <last> of the same year, «both:both dates "
    r"inclusive». For how many days is it valid?",
    r"From <first> to <last> of the same year <name> writes one page in a diary each day, "
    r"«both:including the first and the last of these days». How many pages does <name> fill?",
    r"«both:Both the day of arrival and the day of departure are charged» at a campsite. <name> "
    r"arrives on <first> and leaves on <last> of the same year. How many days are charged?",
    r"The road is closed from <first> up to and «both:including <last>», beginning with the first "
    r"of these days. For how many days of the year is it closed?",
    r"On each day from <first> to <last> a baker tries one new recipe, «both:starting on the first "
    r"date and ending on the second». How many recipes are tried, all in one year?",
)
_MONTHS = (
    ("March", 31, 3), ("April", 30, 4), ("May", 31, 5), ("June", 30, 6), ("July", 31, 7),
    ("August", 31, 8), ("September", 30, 9), ("October", 31, 10), ("November", 30, 11),
    ("December", 31, 12),
)  # fmt: skip


@explicit(("bound", "domain"), "days from one date to another, both included")
def inclusive_days(rng: Random, level: Level) -> Draft | None:
    start = rng.randrange(len(_MONTHS) - level + (level == 1))
    end = start + (0, 1, rng.choice((1, 2)))[level - 1]
    first, last = rng.randrange(2, 29), rng.randrange(2, 30)
    if level == 1:
        first = rng.randrange(1, 6)
        last = first + rng.randrange(3, 26)
    elif level == 2:
        first, last = rng.randrange(20, 30), rng.randrange(2, 21)
    months = _MONTHS[start : end + 1]
    days = (date(2027, months[-1][2], last) - date(2027, months[0][2], first)).days + 1
    by_months = sum(month[1] for month in months[:-1]) - first + last + 1
    answer = agree(days, by_months)
    if answer < 3:
        return None
    told = tell(rng, _DAYS, first=f"${first}$ {months[0][0]}", last=f"${last}$ {months[-1][0]}")
    thirty = 30 * (len(months) - 1) + last - first
    rules = [
        gold("domain", "the answer is a count of days", integer()),
        gold(
            "bound",
            "months have 30 or 31 days, so the dates tell the length to a few days",
            between(thirty - 1, thirty + len(months) + 1),
            "both",
        ),
    ]
    lures = [
        *wrong(
            "other",
            answer - 1,
            answer - 2,
            answer + 1,
            thirty + 1,
            thirty,
            31 * (len(months) - 1) + last - first + 1,
            abs(last - first) + 1,
            abs(last - first),
        ),
        *wrong("misled_by_cue", first + last),
        *wrong("not_an_integer", f"{answer}.5"),
    ]
    return Draft(told, answer, rules, lures)


# Explicit tier, digits: the smallest or largest number that given digits make, odd or even.

_ARRANGE = (
    r"Using each of the digits <digits> exactly once, form the <most> possible «parity:<which>» "
    r"number. What is it?",
    r"<name> has the digit cards <digits> and lays all of them in a row to make a number that is "
    r"as <size> as possible, but «parity:it must be <which>». Which number does <name> make?",
    r"What is the <most> «parity:<which>» number that can be written with the digits <digits>, "
    r"each used once?",
    r"The code of a lock uses the digits <digits>, each once. It is the <most> such number that is "
    r"«parity:<which>». What is the code?",
    r"Among all numbers that use each of the digits <digits> once, look at «parity:the <which> "
    r"ones». Find the <most> of them.",
    r"«parity:The number must be <which>.» Which is the <most> number that one can write with the "
    r"digits <digits>, using every digit once?",
    r"<name> rearranges the digits <digits> so that the number becomes as <size> as it can be "
    r"while «parity:remaining <which>». What number results, if every digit is used once?",
    r"Magnets with the digits <digits> hang in a line on a fridge, and all of them are used. What "
    r"is the <most> number they can show «parity:that is <which>»?",
)


@explicit(("parity", "structure"), "the smallest odd number that given digits make")
def arranged_digits(rng: Random, level: Level) -> Draft | None:
    digits = rng.sample(range(1, 10), 2 + level)
    largest, odd = rng.choice((True, False)), rng.choice((True, False))
    fitting = [digit for digit in digits if digit % 2 == odd]
    order = sorted(digits, reverse=largest)
    if len(fitting) in (0, len(digits)) or order[-1] in fitting:
        return None
    numbers = [int("".join(map(str, one))) for one in permutations(digits)]
    matching = [number for number in numbers if number % 2 == odd]
    last = min(fitting) if largest else max(fitting)
    front = [digit for digit in order if digit != last]
    by_rule = int("".join(map(str, [*front, last])))
    best = agree(max(matching) if largest else min(matching), by_rule)
    which = "odd" if odd else "even"
    told = tell(
        rng,
        _ARRANGE,
        digits=listed(digits),
        most="largest" if largest else "smallest",
        size="large" if largest else "small",
        which=which,
    )
    rules = [
        gold("parity", f"the number is {which}", parity(which), "parity"),
        gold(
            "structure",
            "every digit is used once, so the digit sum is known",
            digit_sum(sum(digits)),
        ),
    ]
    other = min(matching) if largest else max(matching)
    free = max(numbers) if largest else min(numbers)
    lures = [
        *wrong("ignored_parity", free),
        *wrong("misled_by_cue", other),
        *wrong("ignored_parity", min(numbers) if largest else max(numbers)),
        *wrong(
            "other",
            int("".join(map(str, digits))),
            int("".join(map(str, [*front, last]))[1:]),
            int("".join(str(digit) for digit in order if digit in fitting)),
        ),
        *wrong("encoded_form_not_applied", sum(digits)),
        *wrong(
            "other",
            *(int("".join(map(str, [*(d for d in order if d != end), end]))) for end in fitting),
        ),
    ]
    return Draft(told, best, rules, lures)


# Explicit tier, fractions and ratios: in lowest terms, as a code.

_ODDS = (
    r"A bag holds $<a>$ red and $<b>$ blue marbles. <draw> The probability that <event> red is "
    r"$\frac{m}{n}$ «code:in lowest terms». Find $m+n$.",
    r"Among the eggs in a basket $<a>$ are brown and $<b>$ are white. <draw> «code:Write the "
    r"probability that <event> brown as a fraction $\frac{m}{n}$ in lowest terms.» What is $m+n$?",
    r"Find «code:$p+q$, where $\frac{p}{q}$ is the simplest form» of the probability in question: "
    r"a drawer contains $<a>$ grey and $<b>$ black socks. <draw> How likely is it that <event> "
    r"grey?",
    r"<name> has $<a>$ silver and $<b>$ gold coins in a chest. <draw> The chance that <event> "
    r"silver equals $\frac{m}{n}$ «code:with coprime positive integers $m$ and $n$». Determine "
    r"$m+n$.",
    r"A box of tiles contains $<a>$ square and $<b>$ round ones. <draw> «code:Let $\frac{m}{n}$, "
    r"fully reduced, be the probability» that <event> square. Compute $m+n$.",
    r"$<a>$ sweet and $<b>$ sour apples lie in a crate. <draw> What is «code:the sum of the "
    r"numerator and the denominator of the reduced fraction» that gives the probability that "
    r"<event> sweet?",
    r"A deck has $<a>$ green and $<b>$ yellow cards. <draw> The probability that <event> green "
    r"«code:is written as a fraction that cannot be simplified further». Add its numerator and its "
    r"denominator. What is the result?",
    r"In a jar there are $<a>$ mint and $<b>$ lemon sweets. <draw> «code:If the probability is "
    r"$\frac{m}{n}$ after cancelling all common factors», what is $m+n$ for the event that <event> "
    r"mint?",
)


@explicit(("format", "structure"), "a probability in lowest terms, coded as m + n")
def reduced_probability(rng: Random, level: Level) -> Draft | None:
    takes, a, b = _bag(rng, level)
    total = a + b
    ways, all_ways = comb(a, takes), comb(total, takes)
    listing = sum(all(i < a for i in pair) for pair in combinations(range(total), takes))
    value = Fraction(agree(ways, listing), all_ways)
    if gcd(ways, all_ways) == 1:
        return None
    m, n = value.numerator, value.denominator
    shared = gcd(ways, all_ways)
    small = next(d for d in range(2, shared + 1) if shared % d == 0)
    many = "{} of them are taken at random, one after the other, without putting back."
    draw = ("One of them is taken at random.", many.format("Two"), many.format("Three"))[level - 1]
    event = ("it is", "both are", "all three are")[level - 1]
    told = tell(rng, _ODDS, a=a, b=b, draw=draw, event=event)
    ordered, all_ordered = perm(a, takes), perm(total, takes)
    rules = [
        gold(
            "format",
            "the answer is a sum of two positive integers",
            all_of(integer(), between(3, None)),
        ),
        gold(
            "structure",
            "numerator and denominator are divided by the same number, and so is their sum",
            divides(ordered + all_ordered),
        ),
        gold(
            "format",
            "the answer is m + n in lowest terms",
            encoded("m + n", (m, n)),
            "code",
            pins=True,
        ),
    ]
    lures = [
        *wrong(
            "encoded_form_not_applied",
            value,
            ordered + all_ordered,
            ways + all_ways,
            (ways + all_ways) // small,
            n,
            m,
        ),
        *wrong("misled_by_cue", n - m + n),
        *wrong(
            "other",
            (Fraction(a, total) ** takes).numerator + (Fraction(a, total) ** takes).denominator,
            Fraction(a, b).numerator + Fraction(a, b).denominator,
        ),
        *wrong("encoded_form_not_applied", a + total),
    ]
    return Draft(told, m + n, rules, lures)


def _bag(rng: Random, level: Level) -> tuple[int, int, int]:
    """Draw how many are taken, how many fit and how many do not."""
    if level > 1:
        return level, rng.randrange(4, 16), rng.randrange(3, 16)
    shared = rng.choice((2, 3, 5, 10))
    both = rng.randrange(7, 35)
    m = rng.choice([m for m in range(1, (both + 1) // 2) if gcd(m, both) == 1])
    return 1, shared * m, shared * (both - 2 * m)


_RATIO = (
    r"A recipe uses <parts> grams of <things>. «code:In lowest terms» these amounts are in the "
    r"ratio $<letters>$. Find $<plus>$.",
    r"The prizes in a lottery are <parts> dollars. «code:Write their ratio with the smallest "
    r"possible whole numbers, $<letters>$.» What is $<plus>$?",
    r"<name> mixes <parts> spoonfuls of <things>. The ratio of the amounts, «code:fully "
    r"simplified», is $<letters>$. What is $<plus>$?",
    r"What is $<plus>$ if «code:$<letters>$ is the simplest whole-number form» of the ratio of "
    r"<parts>, in this order?",
    r"<people> earned <parts> dollars and will share the costs of a trip in the same ratio, "
    r"$<letters>$, «code:reduced to lowest terms». Determine $<plus>$.",
    r"The sticks that <name> found are <parts> centimetres long. «code:The ratio of their lengths "
    r"is $<letters>$, where the numbers have no common factor.» Compute $<plus>$.",
    r"In a park stand <parts> trees of <n> kinds. <name> writes the ratio of the numbers as "
    r"$<letters>$ «code:after cancelling every common factor». What is the value of $<plus>$?",
    r"«code:Simplify the ratio as far as possible» and add up its terms: <parts>. What sum do you "
    r"get?",
    r"A farmer sowed <parts> rows with <things>. How much is $<plus>$ if the ratio of these "
    r"numbers «code:in lowest terms» is $<letters>$?",
)
_THINGS = ("oats", "rye", "barley", "maize")


@explicit(("format", "structure"), "a ratio in lowest terms, coded as the sum of its terms")
def ratio_code(rng: Random, level: Level) -> Draft | None:
    count, shared = (
        (2, rng.choice((2, 3, 5, 10))),
        (2, rng.choice((4, 6, 8, 9))),
        (3, rng.choice((6, 8, 9, 12, 14, 15))),
    )[level - 1]
    both = rng.randrange(7, 50)
    first = rng.randrange(1, both)
    terms = [first, both - first] if level == 1 else rng.sample(range(2, 30), count)
    divisor = gcd(*terms)
    parts = [shared * term for term in terms]
    by_gcd = sum(parts) // gcd(*parts)
    largest = max(d for d in range(1, max(parts) + 1) if all(part % d == 0 for part in parts))
    answer = agree(by_gcd, sum(part // largest for part in parts))
    if divisor > 1:
        return None
    names = rng.sample(NAMES, count)
    things = list(_THINGS[:count])
    told = tell(
        rng,
        _RATIO,
        parts=listed(parts),
        letters=" : ".join("abcd"[:count]),
        plus=" + ".join("abcd"[:count]),
        name=names[0],
        n=("two", "three")[count - 2],
        things=joined(things),
        people=joined(names),
    )
    total = sum(parts)
    small = next(d for d in range(2, shared + 1) if shared % d == 0)
    rules = [
        gold(
            "structure",
            "the amounts are equal multiples of the terms, and so are their sums",
            divides(total),
        ),
        gold(
            "format",
            "the answer is the sum of the terms in lowest terms",
            encoded("a + b", tuple(terms)),
            "code",
            pins=True,
        ),
    ]
    lures = [
        *wrong("encoded_form_not_applied", total, total // small, Fraction(parts[0], parts[1])),
        *wrong("misled_by_cue", gcd(*parts)),
        *wrong("other", terms[0] + terms[1]),
        *wrong("encoded_form_not_applied", terms[0], terms[-1]),
        *wrong(
            "other",
            sum(part // gcd(parts[0], parts[1]) for part in parts[:2]),
            Fraction(total, gcd(parts[0], parts[1])),
        ),
        *wrong("arithmetic", answer + 1),
    ]
    return Draft(told, answer, rules, lures)


# Explicit tier, lists: by rank, without the extremes, written backwards. The text says how.

_RANK = (
    r"Consider the numbers <list>. «rank:Equal numbers count as one number.» What is the <which> "
    r"of them?",
    r"What is the <which> number in the list <list>, «rank:if a number that occurs several times "
    r"is counted only once»?",
    r"The scores in a quiz were <list>. <name> strikes out repeated scores, «rank:so that every "
    r"score stands there once». What is the <which> score that remains?",
    r"A shop lists the prices <list> dollars. «rank:Prices that occur more than once are to be "
    r"counted once.» Find the <which> price in dollars.",
    r"«rank:Count each value only once.» Which is the <which> value among <list>?",
    r"<name> collects the house numbers <list> on slips of paper and «rank:throws away "
    r"duplicates». What is the <which> number on the slips that are left?",
    r"The stones in a bag weigh <list> grams. What is the <which> weight that occurs, in grams, "
    r"«rank:not counting the same weight twice»?",
    r"Find the <which> element of the set $\{<plain>\}$, «rank:in which repeated entries are the "
    r"same element».",
)
_ORDINAL = ("", "", "second", "third", "fourth")


@explicit(("structure", "bound"), "the second largest of the different values in a list")
def rank_in_list(rng: Random, level: Level) -> Draft | None:
    rank = (2, 3, rng.choice((3, 4)))[level - 1]
    different = (3, 7, 11)[level - 1]
    values = rng.sample(range(11, (60, 99, 190)[level - 1]), different)
    largest = rng.choice((True, False))
    order = sorted(values, reverse=largest)
    numbers = [*values, rng.choice(order[: rank - 1])]
    if level > 1:
        numbers += rng.sample(order[:rank], level - 1)
    rng.shuffle(numbers)
    one_by_one = list(numbers)
    for _ in range(rank - 1):
        extreme = max(one_by_one) if largest else min(one_by_one)
        one_by_one = [n for n in one_by_one if n != extreme]
    answer = agree(order[rank - 1], max(one_by_one) if largest else min(one_by_one))
    repeated = sorted(numbers, reverse=largest)[rank - 1]
    if repeated == answer:
        return None
    which = f"{_ORDINAL[rank]} {'largest' if largest else 'smallest'}"
    told = tell(rng, _RANK, list=listed(numbers), plain=", ".join(map(str, numbers)), which=which)
    limit = at_most(max(values) - rank + 1) if largest else between(min(values) + rank - 1, None)
    rules = [
        gold("structure", "the answer is one of the listed values", one_of(*sorted(values))),
        gold("bound", "different values rank before it", limit, "rank"),
    ]
    other = sorted(values, reverse=not largest)
    lures = [
        *wrong("other", repeated),
        *wrong("out_of_range", order[0]),
        *wrong("misled_by_cue", other[rank - 1]),
        *wrong("other", order[rank], order[rank - 2]),
        *wrong("arithmetic", order[rank - 1] + 1),
        *wrong("other", numbers[rank - 1]),
        *wrong("misled_by_cue", rank),
    ]
    return Draft(told, answer, rules, lures)


_JUDGES = (
    r"A diver receives the marks <marks>. «drop:The highest and the lowest mark are struck out», "
    r"and the sum of the others is multiplied by the difficulty $<d>$. What is the diver's score?",
    r"<name>'s pie was given <marks> points by the jury. «drop:The best and the worst mark do not "
    r"count.» The remaining marks are added, and the sum is multiplied by $<d>$. Find the result.",
    r"In a skating contest «drop:the top mark and the bottom mark are left out», and $<d>$ times "
    r"the sum of the rest is the score. What score do the marks <marks> give?",
    r"Leave out «drop:the largest and the smallest» of the numbers <marks>, add the others, and "
    r"multiply the sum by $<d>$. What do you get?",
    r"What is $<d>$ times the sum of the numbers <marks>, «drop:not counting the largest and the "
    r"smallest of them»?",
    r"<name> asks for offers and hears <marks> dollars a box. «drop:The dearest and the cheapest "
    r"offer are put aside», and <name> buys $<d>$ boxes from each of the other sellers. How many "
    r"dollars does <name> spend?",
    r"The masses of some pumpkins are <marks> kilograms. <name> sells «drop:all but the heaviest "
    r"and the lightest» at $<d>$ dollars a kilogram. How many dollars does <name> earn?",
    r"How many points does a gymnast get for the marks <marks>, if «drop:the highest and the "
    r"lowest are dropped» and each point of the others counts $<d>$ times?",
)


@explicit(("modular", "bound"), "a sum without its extremes, times a factor")
def dropped_extremes(rng: Random, level: Level) -> Draft:
    count, low, high, d = {
        1: (4, 2, 14, rng.choice((2, 3, 5, 10))),
        2: (5, 3, 30, rng.randrange(2, 6)),
    }.get(level, (8, 21, 99, rng.randrange(7, 15)))
    marks = rng.sample(range(low, high), count)
    if level == 1:
        marks.sort(reverse=rng.choice((True, False)))
    kept = sorted(marks)[1:-1]
    size, tens = len(kept), sum(mark // 10 * 10 for mark in kept)
    total = sum(marks)
    answer = agree(d * sum(kept), d * (total - max(marks) - min(marks)))
    told = tell(rng, _JUDGES, marks=listed(marks), d=d)
    rules = [
        gold("modular", f"the score is {d} times a whole number", divisible(d)),
        gold(
            "bound",
            f"{count - 2} marks count, none of them extreme, and they are known to tens",
            between(d * max(tens, size * min(marks)), d * min(tens + 10 * size, size * max(marks))),
            "drop",
        ),
    ]
    lures = [
        *wrong("out_of_range", d * total),
        *wrong("encoded_form_not_applied", sum(kept)),
        *wrong("other", d * (total - max(marks)), d * (total - min(marks))),
        *wrong("encoded_form_not_applied", total, total - max(marks)),
        *wrong(
            "other", d * (total - marks[0] - marks[-1]), d * (max(marks) + min(marks)), d * kept[-1]
        ),
    ]
    return Draft(told, answer, rules, lures)


_REVERSED = (
    r"Work out $<sum>$ and «back:write the digits of the result in reverse order». Which number do "
    r"you get?",
    r"<name> adds $<sum>$ and «back:reads the result from right to left». Which number does <name> "
    r"read?",
    r"A secret code is made by computing $<sum>$ and «back:reversing the order of the digits». "
    r"What is the code?",
    r"What number do you get if you add $<sum>$ and «back:write the result backwards, digit by "
    r"digit»?",
    r"A faulty display shows every number «back:with its digits in reverse order». What does it "
    r"show for the value of $<sum>$?",
    r"<name> has <parts> beads in <n> jars. To lock the safe, <name> uses the total number of "
    r"beads, «back:read backwards». What is the combination?",
    r"«back:Report the sum with its last digit first, its first digit last and those between in "
    r"reverse order»: what becomes of $<sum>$?",
    r"In a mirror game you answer with the total, «back:its digits being turned round from back to "
    r"front». What is the right answer to $<sum>$?",
)


@explicit(("modular", "format"), "a sum with its digits in reverse order")
def reversed_result(rng: Random, level: Level) -> Draft | None:
    count, low, high = ((2, 11, 50), (2, 61, 400), (5, 600, 2900))[level - 1]
    terms = [rng.randrange(low, high) for _ in range(count)]
    total = sum(terms)
    by_arithmetic, left = 0, total
    while left:
        by_arithmetic, left = 10 * by_arithmetic + left % 10, left // 10
    answer = agree(by_arithmetic, int(str(total)[::-1]))
    size = len(str(total))
    if total < (30, 100, 1000)[level - 1] or answer == total or total % 10 == 0:
        return None
    told = tell(
        rng, _REVERSED, sum=" + ".join(map(str, terms)), parts=listed(terms), n=COUNT_WORDS[count]
    )
    rules = [
        gold(
            "modular",
            f"its digits are those of the sum, so it leaves the remainder {total % 9} modulo 9",
            congruent(total % 9, 9),
        ),
        gold(
            "format",
            f"the sum has {size} digits and does not end in 0, so the answer has {size} digits",
            between(10 ** (size - 1) + 1, 10**size - 1),
            "back",
        ),
    ]
    text = str(total)
    lures = [
        *wrong(
            "encoded_form_not_applied",
            total,
            int(text[-1] + text[1:-1] + text[0]),
            int(text[1:] + text[0]),
            int(text[-1] + text[:-1]),
            sum(int(str(term)[::-1]) for term in terms),
            sum(map(int, text)),
            int(text[::-1][: size - 1]),
        ),
        *wrong("arithmetic", total + 1),
    ]
    return Draft(told, answer, rules, lures)


# Explicit tier, pairs of people or things, each counted once. The text says so.

_PAIRS_ONE = (
    r"$<size>$ people meet. «once:Everyone shakes hands exactly once with everyone else.» Each "
    r"handshake lasts $<f>$ seconds. How many seconds do all the handshakes last, added up?",
    r"A league has $<size>$ teams, and «once:every two teams meet in exactly one match». A match "
    r"lasts $<f>$ minutes. How many minutes of play are there altogether?",
    r"How many cents do the phone calls cost if «once:every two of $<size>$ friends talk exactly "
    r"once» and a call costs $<f>$ cents?",
    r"<name> draws $<size>$ dots on a circle and «once:joins every two dots by one line». A line "
    r"takes $<f>$ seconds. How many seconds does <name> need for the lines?",
    r"At a chess evening there are $<size>$ players. «once:Each player plays one game against each "
    r"other player», and $<f>$ points are given out in every game. Find the total number of points "
    r"given out.",
    r"«once:Every two of $<size>$ hikers have one photograph taken together.» A photograph costs "
    r"$<f>$ dollars. How many dollars do the photographs cost?",
    r"«once:One ferry line links every two of $<size>$ islands», and on each line there are $<f>$ "
    r"ferries. How many ferries are there?",
    r"<name> has $<size>$ colour samples, and «once:each sample is compared once with each other "
    r"sample». A comparison takes $<f>$ seconds. How many seconds do the comparisons take?",
)
_PAIRS = (
    r"In <groups> there are <sizes> people. «once:Everyone shakes hands exactly once with everyone "
    r"else in the same group», and with nobody outside it. Each handshake lasts $<f>$ seconds. How "
    r"many seconds do all the handshakes last, added up?",
    r"A league has <groups> with <sizes> teams. «once:Within each group, every two teams meet in "
    r"exactly one match.» A match lasts $<f>$ minutes. How many minutes of play are there "
    r"altogether?",
    r"How many cents do the phone calls cost if <groups> of <sizes> friends are formed, "
    r"«once:every two friends in the same group talk exactly once», and a call costs $<f>$ cents?",
    r"<name> draws <groups> of <sizes> dots and «once:joins every two dots of the same group by "
    r"one line». A line takes $<f>$ seconds. How many seconds does <name> need for the lines?",
    r"At a chess evening <groups> of <sizes> players are made up. «once:Each player plays one game "
    r"against each other player of the same group», and $<f>$ points are given out in every game. "
    r"Find the total number of points given out.",
    r"«once:Every two hikers of the same group have one photograph taken together.» There are "
    r"<groups>, with <sizes> hikers. A photograph costs $<f>$ dollars. How many dollars do the "
    r"photographs cost?",
    r"There are <groups> with <sizes> islands. «once:One ferry line links every two islands of the "
    r"same group», and on each line there are $<f>$ ferries. How many ferries are there?",
    r"<name> compares colours: <groups> hold <sizes> samples, and «once:each sample is compared "
    r"once with each other sample of its group». A comparison takes $<f>$ seconds. How many "
    r"seconds do the comparisons take?",
)


@explicit(("modular", "bound"), "pairs in groups, each pair counted once")
def pairs_once(rng: Random, level: Level) -> Draft | None:
    count, top, f = (
        (1, 13, rng.randrange(2, 13)),
        (2, 9, rng.randrange(3, 10)),
        (4, 14, rng.randrange(7, 20)),
    )[level - 1]
    sizes = [rng.randrange(3, top) for _ in range(count)]
    if len(set(sizes)) < count:
        return None
    listing = sum(len(list(combinations(range(size), 2))) for size in sizes)
    pairs = agree(sum(size * (size - 1) for size in sizes) // 2, listing)
    total = sum(sizes)
    told = tell(
        rng,
        _PAIRS_ONE if count == 1 else _PAIRS,
        groups=f"{('', 'two', '', 'four')[count - 1]} groups",
        size=sizes[0],
        sizes=listed(sizes),
        f=f,
    )
    rules = [
        gold("modular", f"every pair counts {f}, so the answer is a multiple of {f}", divisible(f)),
        gold(
            "bound",
            "everyone is in a pair, pairs of different groups do not count, and none counts twice",
            between(f * (total - count), f * (total * (total - 1) // 2 - (count > 1))),
            "once",
        ),
    ]
    lures = [
        *wrong("other", 2 * f * pairs),
        *wrong("out_of_range", f * total * (total - 1) // 2),
        *wrong("encoded_form_not_applied", pairs),
        *wrong("misled_by_cue", f * total),
        *wrong(
            "other",
            f * sum(size * size for size in sizes),
            f * sum(size * (size + 1) // 2 for size in sizes),
        ),
        *wrong("out_of_range", f * total * (total - 1)),
        *wrong("other", f * (total - count), f * sizes[0] * sizes[-1]),
        *wrong("encoded_form_not_applied", 2 * pairs),
    ]
    return Draft(told, f * pairs, rules, lures)


# Explicit tier, totals that are rounded down as the text says.


def _estimate(terms: Sequence[int]) -> tuple[int, int]:
    """Bound a sum by its terms rounded down and up to tens."""
    low = sum(term // 10 * 10 for term in terms)
    return low, low + 10 * len(terms)


_FULL_ONE = (
    r"Find «multiple:the largest multiple of $<k>$» that is not greater than $<sum>$.",
    r"What is «multiple:the greatest multiple of $<k>$» that is at most $<sum>$?",
    r"<name> has $<sum>$ apples and packs them in crates. «multiple:Each crate must hold exactly "
    r"$<k>$ apples.» <name> fills as many crates as possible. How many apples are in the crates?",
    r"«multiple:Stickers are pasted only in complete pages of $<k>$.» <name> has $<sum>$ stickers. "
    r"How many of the stickers are pasted?",
    r"How many of $<sum>$ screws can be packed, if «multiple:every packet must contain exactly "
    r"$<k>$ screws»?",
    r"$<sum>$ singers want to stand «multiple:in complete rows of $<k>$», as many of them as "
    r"possible. How many singers stand in the rows?",
    r"<name> counts upward «multiple:in steps of $<k>$», starting at $0$, and stops before going "
    r"above $<sum>$. What is the last number that <name> says?",
    r"A bakery baked $<sum>$ rolls and delivers them «multiple:only in full trays of $<k>$»; the "
    r"rest stay behind. How many rolls are delivered?",
)
_FULL = (
    r"Find «multiple:the largest multiple of $<k>$» that is not greater than $<sum>$.",
    r"What is «multiple:the greatest multiple of $<k>$» that does not exceed $<sum>$?",
    r"<name> picks <parts> apples on <days> days and fills crates with all of them together. Each "
    r"crate holds exactly $<k>$ apples, and «multiple:only full crates are sold». How many apples "
    r"are sold?",
    r"«multiple:Stickers are pasted only in complete pages of $<k>$.» <name> puts together <days> "
    r"envelopes with <parts> stickers. How many of the stickers are pasted?",
    r"How many of the screws from <days> bins, which hold <parts> screws, can be packed if "
    r"«multiple:every packet must contain exactly $<k>$ screws» and the bins may be mixed?",
    r"A choir director gathers the singers of <days> schools, <parts> of them, and lines up as "
    r"many as possible «multiple:in complete rows of $<k>$». How many singers stand in the rows?",
    r"<name> adds $<sum>$ and then «multiple:lowers the result to the nearest multiple of $<k>$ "
    r"that is not above it». Which number does <name> end with?",
    r"A bakery baked <parts> rolls in <days> batches. The rolls are mixed and delivered "
    r"«multiple:in full trays of $<k>$»; the rest stay behind. How many rolls are delivered?",
    r"Tiles come from <days> stacks of <parts> tiles. <name> lays «multiple:complete rows of $<k>$ "
    r"tiles» until no further row can be completed. How many tiles has <name> laid?",
)


@explicit(("modular", "bound"), "the part of a total that fills whole groups")
def full_groups_total(rng: Random, level: Level) -> Draft | None:
    count, most, k = {
        1: (1, 210, rng.choice((4, 5, 6, 8, 10))),
        2: (2, 120, rng.randrange(4, 12)),
    }.get(level, (4, 400, rng.randrange(13, 25)))
    terms = [rng.randrange(most // 4, most) for _ in range(count)]
    total = sum(terms)
    answer = agree(total - total % k, max(n for n in range(0, total + 1, k)))
    each = sum(term - term % k for term in terms)
    if answer == total or (count > 1 and answer == each):
        return None
    told = tell(
        rng,
        _FULL_ONE if level == 1 else _FULL,
        sum=" + ".join(map(str, terms)),
        parts=listed(terms),
        days=COUNT_WORDS[count],
        k=k,
    )
    low, high = _estimate(terms)
    rules = [
        gold("modular", f"the answer is a multiple of {k}", divisible(k), "multiple"),
        gold("bound", "the numbers rounded to tens bound the total", between(low - k + 1, high)),
    ]
    lures = [
        *wrong("broken_condition", total),
        *wrong("encoded_form_not_applied", total // k),
        *wrong("misled_by_cue", total % k),
        *wrong("out_of_range", answer + k),
        *wrong("other", each),
        *wrong("out_of_range", answer - k),
        *wrong("encoded_form_not_applied", answer // k + 1),
        *wrong("misled_by_cue", k - total % k),
    ]
    return Draft(told, answer, rules, lures)


# Explicit tier, units: minutes, cents, centimetres, decimals cut off. The text names the unit.

_MINUTES = (
    r"<name> works for <times>. How long is that altogether, «unit:in minutes»?",
    r"«unit:How many minutes» of music are there on <n> recordings that last <times>?",
    r"The <n> legs of a train journey take <times>. Find the total travelling time «unit:in "
    r"minutes».",
    r"A hiker walks for <times> on <n> days. For «unit:how many minutes» does the hiker walk in "
    r"all?",
    r"What is the total length, «unit:in minutes», of <n> operas that last <times>?",
    r"<name> logged <n> flights, lasting <times>. «unit:Give the total in minutes.»",
    r"A machine ran for <times> in <n> shifts. Its log shows the whole running time «unit:as a "
    r"number of minutes». Which number does the log show?",
    r"To finish a quilt, <name> sewed on <n> evenings, for <times>. «unit:Expressed in minutes», "
    r"how long did the sewing take?",
    r"For a concert the orchestra rehearsed <n> times, for <times>. «unit:How many minutes» of "
    r"rehearsal is that in total?",
)


@explicit(("dimension", "bound", "modular"), "hours and minutes added up and told in minutes")
def total_in_minutes(rng: Random, level: Level) -> Draft:
    count, most, step = ((2, 3, 5), (4, 5, 1), (8, 12, 1))[level - 1]
    hours = [rng.randrange(1, most) for _ in range(count)]
    minutes = [step * rng.randrange(11 // step, 59 // step) for _ in range(count)]
    total = agree(
        sum(60 * h + m for h, m in zip(hours, minutes, strict=True)), 60 * sum(hours) + sum(minutes)
    )
    times = [_time(h, m) for h, m in zip(hours, minutes, strict=True)]
    told = tell(rng, _MINUTES, times=joined(times), n=COUNT_WORDS[count])
    low, tens = 60 * sum(hours), sum(minute // 10 * 10 for minute in minutes)
    rules = [
        gold("dimension", "the time is told in minutes", integer(), "unit"),
        gold(
            "bound",
            f"the hours alone make {low} minutes, and the minutes are known to tens",
            measured("minutes", low + tens, low + tens + 10 * count),
        ),
        gold(
            "modular",
            "hours end in 0 as minutes, so the minutes alone give the last digit",
            congruent(sum(minutes), 10),
        ),
    ]
    whole, rest = divmod(total, 60)
    lures = [
        *wrong(
            "encoded_form_not_applied",
            f"{whole}.{rest:02d}",
            sum(minutes),
            low,
            whole,
            rest,
            100 * sum(hours) + sum(minutes),
            sum(hours) + sum(minutes),
        ),
        *wrong("other", total - 60, total + 60),
        *wrong("encoded_form_not_applied", Fraction(total, 60)),
    ]
    return Draft(told, total, rules, lures)


def _time(hours: int, minutes: int) -> str:
    return f"${hours}$ hour{'' if hours == 1 else 's'} ${minutes}$ minutes"


_CHANGE = (
    r"<name> buys <goods> and pays with a $<note>$-dollar note. How much change does <name> get, "
    r"«unit:in cents»?",
    r"«unit:How many cents» of change are due to a customer who buys <goods> and hands over "
    r"$<note>$ dollars?",
    r"At a market stall <name> takes <goods> and gives the seller a $<note>$-dollar note. The till "
    r"shows the change «unit:in cents». What number does it show?",
    r"<name> has $<note>$ dollars and spends some of it on <goods>. «unit:Express the money that "
    r"is left in cents.»",
    r"After paying for <goods> out of $<note>$ dollars, «unit:how many cents» does <name> have "
    r"left?",
    r"A vending machine is fed a $<note>$-dollar note for <goods>. What change, «unit:as a number "
    r"of cents», must it return?",
    r"<name> orders <goods> at a kiosk and puts $<note>$ dollars on the counter. «unit:Find the "
    r"change in cents.»",
    r"Change is counted out «unit:in cents» at the school shop. <name> pays with $<note>$ dollars "
    r"for <goods>. How much change comes back?",
)
_GOODS = ("sandwich", "notebook", "juice", "pie", "postcard", "muffin", "salad", "soup")


@explicit(("dimension", "modular", "bound"), "change told in cents")
def change_in_cents(rng: Random, level: Level) -> Draft | None:
    kinds = (1, 2, 4)[level - 1]
    note = rng.choice(((5, 10), (10, 20), (50, 100))[level - 1])
    amounts = [rng.randrange(2, 6) if level == 3 else 1 for _ in range(kinds)]
    prices = [5 * rng.randrange(13, 50 + 40 * (level - 1)) for _ in range(kinds)]
    cost = sum(a * p for a, p in zip(amounts, prices, strict=True))
    cheap = sum(a * (p // 100) for a, p in zip(amounts, prices, strict=True))
    dear = cheap + sum(amounts)
    paid = 0
    for amount, price in zip(amounts, prices, strict=True):
        for _ in range(amount):
            paid += price
    answer = agree(100 * note - cost, 100 * note - paid)
    if answer < 60 or answer % 100 == 0 or any(price % 100 == 0 for price in prices):
        return None
    names = rng.sample(_GOODS, kinds)
    goods = [_priced(a, g, p) for a, g, p in zip(amounts, names, prices, strict=True)]
    told = tell(rng, _CHANGE, goods=joined(goods), note=note)
    rules = [
        gold("dimension", "the change is told in whole cents", integer(), "unit"),
        gold("modular", "every price is a multiple of 5 cents, so is the change", divisible(5)),
        gold(
            "bound",
            "the prices, rounded to whole dollars, bound the change",
            between(100 * (note - dear), 100 * (note - cheap)),
        ),
    ]
    lures = [
        *wrong("encoded_form_not_applied", decimal(Fraction(answer, 100), 2)),
        *wrong("misled_by_cue", cost),
        *wrong("encoded_form_not_applied", decimal(Fraction(cost, 100), 2)),
        *wrong("other", 100 * note - sum(prices), 100 * note - prices[0] * amounts[0]),
        *wrong("encoded_form_not_applied", answer % 100),
        *wrong("other", answer + 100, answer - 100),
    ]
    return Draft(told, answer, rules, lures)


def _priced(amount: int, name: str, cents: int) -> str:
    price = f"${cents // 100}.{cents % 100:02d}$ dollars"
    many = f"{name}{'es' if name == 'sandwich' else 's'}"
    return f"a {name} for {price}" if amount == 1 else f"${amount}$ {many} at {price} each"


_PIECES = (
    r"<name> lays $<n>$ boards end to end, each $<m>$ m $<cm>$ cm long. How long is the row, "
    r"«unit:in centimetres»?",
    r"«unit:How many centimetres» of ribbon are needed for $<n>$ garlands that take $<m>$ m $<cm>$ "
    r"cm each?",
    r"A kangaroo makes $<n>$ jumps and covers $<m>$ m $<cm>$ cm each time. Find the total length "
    r"of the jumps «unit:in centimetres».",
    r"$<n>$ trailers stand bumper to bumper. Each is $<m>$ m $<cm>$ cm long. What is the length of "
    r"the queue, «unit:expressed in centimetres»?",
    r"A tailor cuts $<n>$ pieces of $<m>$ m $<cm>$ cm from a roll of cloth. «unit:Give the length "
    r"of cloth used in centimetres.»",
    r"For $<n>$ equal shelves, each $<m>$ m $<cm>$ cm long, <name> orders edging tape. The shop "
    r"sells it «unit:by the centimetre». How many centimetres does <name> order?",
    r"Each of $<n>$ curtains takes $<m>$ m $<cm>$ cm of cloth. «unit:In centimetres», how much "
    r"cloth do the curtains take?",
    r"<name> builds a fence of $<n>$ panels, all $<m>$ m $<cm>$ cm wide, without gaps. The plan "
    r"states its width «unit:in centimetres only». What number is on the plan?",
)


@explicit(("dimension", "modular"), "equal lengths in m and cm, told in cm")
def pieces_in_centimetres(rng: Random, level: Level) -> Draft:
    n = rng.choice(((2, 3, 4, 5), (3, 4, 6, 7, 8), (17, 18, 19, 23, 27, 34))[level - 1])
    m = rng.randrange(1, 3 + 2 * level)
    cm = rng.randrange(10, 60, 10) if level == 1 else rng.randrange(3, 98)
    each = 100 * m + cm
    answer = agree(n * each, sum(each for _ in range(n)))
    told = tell(rng, _PIECES, n=n, m=m, cm=cm)
    rules = [
        gold(
            "dimension",
            "the length is told in centimetres, and a piece is not longer than the next metre",
            measured("centimetres", 100 * m * n + 1, 100 * (m + 1) * n - 1),
            "unit",
        ),
        gold("modular", f"{n} pieces of whole centimetres make a multiple of {n}", divisible(n)),
    ]
    lures = [
        *wrong(
            "encoded_form_not_applied",
            decimal(Fraction(answer, 100), 2),
            each,
            n * (m + cm),
            n * m + cm,
        ),
        *wrong("other", 100 * n * m + cm, 100 * m + n * cm),
        *wrong("encoded_form_not_applied", n * (10 * m + cm), n * (1000 * m + cm)),
        *wrong("other", 100 * n * m),
        *wrong("out_of_range", answer + each),
    ]
    return Draft(told, answer, rules, lures)


_CUT = (
    r"Write $<a> \div <b>$ as a decimal and «cut:cut it off after <place>, without rounding». What "
    r"number is left?",
    r"<name> divides $<a>$ by $<b>$. «cut:All digits after <place> are deleted; nothing is "
    r"rounded.» What number remains?",
    r"A cheap calculator «cut:drops every digit after <place> instead of rounding». What does it "
    r"show for $<a> \div <b>$?",
    r"What is $<a> \div <b>$, «cut:truncated (not rounded) after <place>»?",
    r"A rope of $<a>$ metres is shared equally among $<b>$ climbers. <name> writes down the share "
    r"in metres and «cut:leaves off all digits after <place>, without rounding». What does <name> "
    r"write?",
    r"The price of $<b>$ tickets is $<a>$ dollars. A website shows the price of one ticket in "
    r"dollars, «cut:simply cutting the decimal off after <place>». Which number does it show?",
    r"«cut:Truncate after <place>; do not round.» How many litres does each of $<b>$ jugs get if "
    r"$<a>$ litres are poured out evenly?",
    r"At an archery contest the average is «cut:truncated after <place>, never rounded». <name> "
    r"scored $<a>$ points in $<b>$ rounds. What average is announced?",
)


@explicit(("format", "bound"), "a quotient cut off after a decimal place, not rounded")
def truncated_quotient(rng: Random, level: Level) -> Draft | None:
    places = level - 1
    b = rng.choice(((2, 3, 4, 5), (3, 4, 6, 8), (7, 9, 11, 12, 13))[level - 1])
    a = rng.randrange(2 * b, (40, 20, 15)[level - 1] * b)
    scale = 10**places
    value = Fraction(a, b)
    exact, cut = value * scale, a * scale // b
    up = int(exact + Fraction(1, 2))
    if up == cut or exact.denominator == 1 or (places and cut % 10 in (0, 9)):
        return None
    digits, rest = a // b, a % b
    for _ in range(places):
        digits, rest = 10 * digits + 10 * rest // b, 10 * rest % b
    answer = decimal(Fraction(agree(cut, digits), scale), places)
    place = ("the decimal point", "the first decimal place", "the second decimal place")[places]
    told = tell(rng, _CUT, a=a, b=b, place=place)
    rules = [
        gold("format", f"there is no digit after {place}", decimals(places), "cut"),
        gold(
            "bound",
            "cutting off never gives more than the quotient, and takes off little",
            between(value - 2, value),
        ),
    ]
    lures = [
        *wrong(
            "encoded_form_not_applied",
            _rounded(value, places),
            _rounded(value, places + 1),
            _cut(value, places + 1),
            _rounded(value, places + 2),
            a // b,
            round(value),
            _cut(value, 1),
            value,
        ),
        *wrong("misled_by_cue", a % b),
        *wrong("arithmetic", a // b + 2),
    ]
    return Draft(told, answer, rules, lures, "decimal" if places else "integer")


def _rounded(value: Fraction, places: int) -> str:
    return _cut(value + Fraction(1, 2 * int("1" + "0" * places)), places)


def _cut(value: Fraction, places: int) -> str:
    scale = int("1" + "0" * places)  # int ** int may be a float, says its type
    return decimal(Fraction(floor(value * scale), scale), places)
