"""Explicit tier: the text states the demand on the answer."""

from __future__ import annotations

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
    Level,
    agree,
    family,
    joined,
    listed,
    plural,
)
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

# Explicit tier, counts: without some numbers, with both days. The text states which are counted.


@explicit(r"""how many numbers of a range are not multiples
- How many integers from $<low>$ to $<high>$ (both included) are «not:not divisible by $<k>$»?
- <name> writes the integers from $<low>$ to $<high>$ on the board and «not:wipes out all multiples
  of $<k>$». How many numbers are left?
- Find the number of integers $n$ with $<low> \le n \le <high>$ that «not:are not multiples of
  $<k>$».
- Seats $<low>$ to $<high>$ of a hall are free, but «not:seats whose number is a multiple of $<k>$
  may not be sold». How many of these seats may be sold?
- «not:Every house whose number is divisible by $<k>$ is skipped.» <name> delivers one paper to each
  other house with a number from $<low>$ to $<high>$. How many papers does <name> deliver?
- Of the tickets $<low>$ to $<high>$, «not:those whose number is divisible by $<k>$ are thrown
  away». How many tickets are kept?
- In a counting game the players say the numbers from $<low>$ to $<high>$ in turn, but «not:clap
  instead of saying a multiple of $<k>$». How many numbers are said aloud?
- How many pages of a chapter that runs from page $<low>$ to page $<high>$ have no picture, if
  «not:exactly the pages whose number is a multiple of $<k>$ have one»?
""")
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
    draft = Draft(answer, low=low, high=high, k=k)
    about = size - size // k
    draft.rule(integer(), "the answer is a count")
    draft.rule(
        between(about - 2, about + 1), f"about one in {k} of the {size} numbers is left out", "not"
    )
    draft.wrong("misled_by_cue", multiples)
    draft.wrong("out_of_range", size)
    draft.wrong("other", answer - 1, answer + 1)
    draft.wrong(
        "out_of_range", high - multiples, high - high // k, high - low - size // k, size - 1
    )
    draft.wrong("not_an_integer", f"{size - size / k:.1f}" if size % k else f"{answer}.5")
    draft.wrong("encoded_form_not_applied", sum(n for n in range(low, high + 1) if n % k))
    return draft


_MONTHS = (
    ("March", 31, 3), ("April", 30, 4), ("May", 31, 5), ("June", 30, 6), ("July", 31, 7),
    ("August", 31, 8), ("September", 30, 9), ("October", 31, 10), ("November", 30, 11),
    ("December", 31, 12),
)  # fmt: skip


@explicit(r"""days from one date to another, both included
- A museum shows an exhibition from <first> to <last> of the same year, «both:the first and the last
  day included». On how many days is it open?
- <name> takes a tablet every day from <first> to <last>, «both:on both of these days too». How many
  tablets does <name> take in that year?
- How many days are there from <first> to <last> of the same year, «both:counting both of these
  days»?
- A fishing permit is valid from <first> until <last> of the same year, «both:both dates inclusive».
  For how many days is it valid?
- From <first> to <last> of the same year <name> writes one page in a diary each day,
  «both:including the first and the last of these days». How many pages does <name> fill?
- «both:Both the day of arrival and the day of departure are charged» at a campsite. <name> arrives
  on <first> and leaves on <last> of the same year. How many days are charged?
- The road is closed from <first> up to and «both:including <last>», beginning with the first of
  these days. For how many days of the year is it closed?
- On each day from <first> to <last> a baker tries one new recipe, «both:starting on the first date
  and ending on the second». How many recipes are tried, all in one year?
""")
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
    draft = Draft(answer, first=f"${first}$ {months[0][0]}", last=f"${last}$ {months[-1][0]}")
    thirty = 30 * (len(months) - 1) + last - first
    draft.rule(integer(), "the answer is a count of days")
    draft.rule(
        between(thirty - 1, thirty + len(months) + 1),
        "months have 30 or 31 days, so the dates tell the length to a few days",
        "both",
    )
    draft.wrong("other", answer - 1, answer - 2, answer + 1, thirty + 1, thirty)
    draft.wrong("other", 31 * (len(months) - 1) + last - first + 1, abs(last - first) + 1)
    draft.wrong("other", abs(last - first))
    draft.wrong("misled_by_cue", first + last)
    draft.wrong("not_an_integer", f"{answer}.5")
    return draft


# Explicit tier, digits: the smallest or largest number that given digits make, odd or even.


@explicit(r"""the smallest odd number that given digits make
- Using each of the digits <digits> exactly once, form the <most> possible «parity:<which>» number.
  What is it?
- <name> has the digit cards <digits> and lays all of them in a row to make a number that is as
  <size> as possible, but «parity:it must be <which>». Which number does <name> make?
- What is the <most> «parity:<which>» number that can be written with the digits <digits>, each used
  once?
- The code of a lock uses the digits <digits>, each once. It is the <most> such number that is
  «parity:<which>». What is the code?
- Among all numbers that use each of the digits <digits> once, look at «parity:the <which> ones».
  Find the <most> of them.
- «parity:The number must be <which>.» Which is the <most> number that one can write with the digits
  <digits>, using every digit once?
- <name> rearranges the digits <digits> so that the number becomes as <size> as it can be while
  «parity:remaining <which>». What number results, if every digit is used once?
- Magnets with the digits <digits> hang in a line on a fridge, and all of them are used. What is the
  <most> number they can show «parity:that is <which>»?
""")
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
    draft = Draft(
        best,
        digits=listed(digits),
        most="largest" if largest else "smallest",
        size="large" if largest else "small",
        which=which,
    )
    draft.rule(parity(which), f"the number is {which}", "parity")
    draft.rule(digit_sum(sum(digits)), "every digit is used once, so the digit sum is known")
    other = min(matching) if largest else max(matching)
    free = max(numbers) if largest else min(numbers)
    draft.wrong("ignored_parity", free)
    draft.wrong("misled_by_cue", other)
    draft.wrong("ignored_parity", min(numbers) if largest else max(numbers))
    draft.wrong("other", int("".join(map(str, digits))), int("".join(map(str, [*front, last]))[1:]))
    draft.wrong("other", int("".join(str(digit) for digit in order if digit in fitting)))
    draft.wrong("encoded_form_not_applied", sum(digits))
    draft.wrong(
        "other",
        *(int("".join(map(str, [*(d for d in order if d != end), end]))) for end in fitting),
    )
    return draft


# Explicit tier, fractions and ratios: in lowest terms, as a code.


@explicit(r"""a probability in lowest terms, coded as m + n
- A bag holds $<a>$ red and $<b>$ blue marbles. <draw> The probability that <event> red is
  $\frac{m}{n}$ «code:in lowest terms». Find $m+n$.
- Among the eggs in a basket $<a>$ are brown and $<b>$ are white. <draw> «code:Write the probability
  that <event> brown as a fraction $\frac{m}{n}$ in lowest terms.» What is $m+n$?
- Find «code:$p+q$, where $\frac{p}{q}$ is the simplest form» of the probability in question: a
  drawer contains $<a>$ grey and $<b>$ black socks. <draw> How likely is it that <event> grey?
- <name> has $<a>$ silver and $<b>$ gold coins in a chest. <draw> The chance that <event> silver
  equals $\frac{m}{n}$ «code:with coprime positive integers $m$ and $n$». Determine $m+n$.
- A box of tiles contains $<a>$ square and $<b>$ round ones. <draw> «code:Let $\frac{m}{n}$, fully
  reduced, be the probability» that <event> square. Compute $m+n$.
- $<a>$ sweet and $<b>$ sour apples lie in a crate. <draw> What is «code:the sum of the numerator
  and the denominator of the reduced fraction» that gives the probability that <event> sweet?
- A deck has $<a>$ green and $<b>$ yellow cards. <draw> The probability that <event> green «code:is
  written as a fraction that cannot be simplified further». Add its numerator and its denominator.
  What is the result?
- In a jar there are $<a>$ mint and $<b>$ lemon sweets. <draw> «code:If the probability is
  $\frac{m}{n}$ after cancelling all common factors», what is $m+n$ for the event that <event> mint?
""")
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
    draft = Draft(m + n, a=a, b=b, draw=draw, event=event)
    ordered, all_ordered = perm(a, takes), perm(total, takes)
    draft.rule(
        all_of(integer(), between(3, None)),
        "the answer is a sum of two positive integers",
        kind="format",
    )
    draft.rule(
        divides(ordered + all_ordered),
        "numerator and denominator are divided by the same number, and so is their sum",
    )
    draft.rule(encoded("m + n", (m, n)), "the answer is m + n in lowest terms", "code")
    draft.wrong("encoded_form_not_applied", value, ordered + all_ordered, ways + all_ways)
    draft.wrong("encoded_form_not_applied", (ways + all_ways) // small, n, m)
    draft.wrong("misled_by_cue", n - m + n)
    draft.wrong(
        "other", (Fraction(a, total) ** takes).numerator + (Fraction(a, total) ** takes).denominator
    )
    draft.wrong("other", Fraction(a, b).numerator + Fraction(a, b).denominator)
    draft.wrong("encoded_form_not_applied", a + total)
    return draft


def _bag(rng: Random, level: Level) -> tuple[int, int, int]:
    """Draw how many are taken, how many of the kind asked for there are, and how many others."""
    if level > 1:
        return level, rng.randrange(4, 16), rng.randrange(3, 16)
    shared = rng.choice((2, 3, 5, 10))
    both = rng.randrange(7, 35)
    m = rng.choice([m for m in range(1, (both + 1) // 2) if gcd(m, both) == 1])
    return 1, shared * m, shared * (both - 2 * m)


_THINGS = ("oats", "rye", "barley", "maize")


@explicit(r"""a ratio in lowest terms, coded as the sum of its terms
- A recipe uses <parts> grams of <things>. «code:In lowest terms» these amounts are in the ratio
  $<letters>$. Find $<plus>$.
- The prizes in a lottery are <parts> dollars. «code:Write their ratio with the smallest possible
  whole numbers, $<letters>$.» What is $<plus>$?
- <name> mixes <parts> spoonfuls of <things>. The ratio of the amounts, «code:fully simplified», is
  $<letters>$. What is $<plus>$?
- What is $<plus>$ if «code:$<letters>$ is the simplest whole-number form» of the ratio of <parts>,
  in this order?
- <people> earned <parts> dollars and will share the costs of a trip in the same ratio, $<letters>$,
  «code:reduced to lowest terms». Determine $<plus>$.
- The sticks that <name> found are <parts> centimetres long. «code:The ratio of their lengths is
  $<letters>$, where the numbers have no common factor.» Compute $<plus>$.
- In a park stand <parts> trees of <n> kinds. <name> writes the ratio of the numbers as $<letters>$
  «code:after cancelling every common factor». What is the value of $<plus>$?
- «code:Simplify the ratio as far as possible» and add up its terms: <parts>. What sum do you get?
- A farmer sowed <parts> rows with <things>. How much is $<plus>$ if the ratio of these numbers
  «code:in lowest terms» is $<letters>$?
""")
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
    draft = Draft(
        answer,
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
    draft.rule(
        divides(total), "the amounts are equal multiples of the terms, and so are their sums"
    )
    draft.rule(
        encoded("a + b", tuple(terms)), "the answer is the sum of the terms in lowest terms", "code"
    )
    draft.wrong("encoded_form_not_applied", total, total // small, Fraction(parts[0], parts[1]))
    draft.wrong("misled_by_cue", gcd(*parts))
    draft.wrong("other", terms[0] + terms[1])
    draft.wrong("encoded_form_not_applied", terms[0], terms[-1])
    draft.wrong("other", sum(part // gcd(parts[0], parts[1]) for part in parts[:2]))
    draft.wrong("other", Fraction(total, gcd(parts[0], parts[1])))
    draft.wrong("arithmetic", answer + 1)
    return draft


# Explicit tier, lists: by rank, without the extremes, written backwards, as the text states.

_ORDINAL = ("", "", "second", "third", "fourth")


@explicit(r"""the second largest of the different values in a list
- Consider the numbers <list>. «rank:Equal numbers count as one number.» What is the <which> of
  them?
- What is the <which> number in the list <list>, «rank:if a number that occurs several times is
  counted only once»?
- The scores in a quiz were <list>. <name> strikes out repeated scores, «rank:so that every score
  stands there once». What is the <which> score that remains?
- A shop lists the prices <list> dollars. «rank:Prices that occur more than once are to be counted
  once.» Find the <which> price in dollars.
- «rank:Count each value only once.» Which is the <which> value among <list>?
- <name> collects the house numbers <list> on slips of paper and «rank:throws away duplicates». What
  is the <which> number on the slips that are left?
- The stones in a bag weigh <list> grams. What is the <which> weight that occurs, in grams,
  «rank:not counting the same weight twice»?
- Find the <which> element of the set $\{<plain>\}$, «rank:in which repeated entries are the same
  element».
""")
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
    draft = Draft(answer, list=listed(numbers), plain=", ".join(map(str, numbers)), which=which)
    limit = at_most(max(values) - rank + 1) if largest else between(min(values) + rank - 1, None)
    draft.rule(one_of(*sorted(values)), "the answer is one of the listed values")
    draft.rule(limit, "different values rank before it", "rank", kind="bound")
    other = sorted(values, reverse=not largest)
    draft.wrong("other", repeated)
    draft.wrong("out_of_range", order[0])
    draft.wrong("misled_by_cue", other[rank - 1])
    draft.wrong("other", order[rank], order[rank - 2])
    draft.wrong("arithmetic", order[rank - 1] + 1)
    draft.wrong("other", numbers[rank - 1])
    draft.wrong("misled_by_cue", rank)
    return draft


@explicit(r"""a sum without its extremes, times a factor
- A diver receives the marks <marks>. «drop:The highest and the lowest mark are struck out», and the
  sum of the others is multiplied by the difficulty $<d>$. What is the diver's score?
- <name>'s pie was given <marks> points by the jury. «drop:The best and the worst mark do not
  count.» The remaining marks are added, and the sum is multiplied by $<d>$. Find the result.
- In a skating contest «drop:the top mark and the bottom mark are left out», and $<d>$ times the sum
  of the rest is the score. What score do the marks <marks> give?
- Leave out «drop:the largest and the smallest» of the numbers <marks>, add the others, and multiply
  the sum by $<d>$. What do you get?
- What is $<d>$ times the sum of the numbers <marks>, «drop:not counting the largest and the
  smallest of them»?
- <name> asks for offers and hears <marks> dollars a box. «drop:The dearest and the cheapest offer
  are put aside», and <name> buys $<d>$ boxes from each of the other sellers. How many dollars does
  <name> spend?
- The masses of some pumpkins are <marks> kilograms. <name> sells «drop:all but the heaviest and the
  lightest» at $<d>$ dollars a kilogram. How many dollars does <name> earn?
- How many points does a gymnast get for the marks <marks>, if «drop:the highest and the lowest are
  dropped» and each point of the others counts $<d>$ times?
""")
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
    draft = Draft(answer, marks=listed(marks), d=d)
    draft.rule(divisible(d), f"the score is {d} times a whole number")
    draft.rule(
        between(d * max(tens, size * min(marks)), d * min(tens + 10 * size, size * max(marks))),
        f"{count - 2} marks count, none of them extreme, and they are known to tens",
        "drop",
    )
    draft.wrong("out_of_range", d * total)
    draft.wrong("encoded_form_not_applied", sum(kept))
    draft.wrong("other", d * (total - max(marks)), d * (total - min(marks)))
    draft.wrong("encoded_form_not_applied", total, total - max(marks))
    draft.wrong(
        "other", d * (total - marks[0] - marks[-1]), d * (max(marks) + min(marks)), d * kept[-1]
    )
    return draft


@explicit(r"""a sum with its digits in reverse order
- Work out $<sum>$ and «back:write the digits of the result in reverse order». Which number do you
  get?
- <name> adds $<sum>$ and «back:reads the result from right to left». Which number does <name> read?
- A secret code is made by computing $<sum>$ and «back:reversing the order of the digits». What is
  the code?
- What number do you get if you add $<sum>$ and «back:write the result backwards, digit by digit»?
- A faulty display shows every number «back:with its digits in reverse order». What does it show for
  the value of $<sum>$?
- <name> has <parts> beads in <n> jars. To lock the safe, <name> uses the total number of beads,
  «back:read backwards». What is the combination?
- «back:Report the sum with its last digit first, its first digit last and those between in reverse
  order»: what becomes of $<sum>$?
- In a mirror game you answer with the total, «back:its digits being turned round from back to
  front». What is the right answer to $<sum>$?
""")
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
    draft = Draft(
        answer, sum=" + ".join(map(str, terms)), parts=listed(terms), n=COUNT_WORDS[count]
    )
    draft.rule(
        congruent(total % 9, 9),
        f"its digits are those of the sum, so it leaves the remainder {total % 9} modulo 9",
    )
    draft.rule(
        between(10 ** (size - 1) + 1, 10**size - 1),
        f"the sum has {size} digits and does not end in 0, so the answer has {size} digits",
        "back",
        kind="format",
    )
    text = str(total)
    draft.wrong("encoded_form_not_applied", total, int(text[-1] + text[1:-1] + text[0]))
    draft.wrong("encoded_form_not_applied", int(text[1:] + text[0]), int(text[-1] + text[:-1]))
    draft.wrong("encoded_form_not_applied", sum(int(str(term)[::-1]) for term in terms))
    draft.wrong("encoded_form_not_applied", sum(map(int, text)), int(text[::-1][: size - 1]))
    draft.wrong("arithmetic", total + 1)
    return draft


# Explicit tier, pairs of people or things, each counted once, as the text states.


@explicit(r"""pairs in groups, each pair counted once
1- $<size>$ people meet. «once:Everyone shakes hands exactly once with everyone else.» Each
  handshake lasts $<f>$ seconds. How many seconds do all the handshakes last, added up?
1- A league has $<size>$ teams, and «once:every two teams meet in exactly one match». A match lasts
  $<f>$ minutes. How many minutes of play are there altogether?
1- How many cents do the phone calls cost if «once:every two of $<size>$ friends talk exactly once»
  and a call costs $<f>$ cents?
1- <name> draws $<size>$ dots on a circle and «once:joins every two dots by one line». A line takes
  $<f>$ seconds. How many seconds does <name> need for the lines?
1- At a chess evening there are $<size>$ players. «once:Each player plays one game against each
  other player», and $<f>$ points are given out in every game. Find the total number of points given
  out.
1- «once:Every two of $<size>$ hikers have one photograph taken together.» A photograph costs $<f>$
  dollars. How many dollars do the photographs cost?
1- «once:One ferry line links every two of $<size>$ islands», and on each line there are $<f>$
  ferries. How many ferries are there?
1- <name> has $<size>$ colour samples, and «once:each sample is compared once with each other
  sample». A comparison takes $<f>$ seconds. How many seconds do the comparisons take?
23- In <groups> there are <sizes> people. «once:Everyone shakes hands exactly once with everyone
  else in the same group», and with nobody outside it. Each handshake lasts $<f>$ seconds. How many
  seconds do all the handshakes last, added up?
23- A league has <groups> with <sizes> teams. «once:Within each group, every two teams meet in
  exactly one match.» A match lasts $<f>$ minutes. How many minutes of play are there altogether?
23- How many cents do the phone calls cost if <groups> of <sizes> friends are formed, «once:every
  two friends in the same group talk exactly once», and a call costs $<f>$ cents?
23- <name> draws <groups> of <sizes> dots and «once:joins every two dots of the same group by one
  line». A line takes $<f>$ seconds. How many seconds does <name> need for the lines?
23- At a chess evening <groups> of <sizes> players are made up. «once:Each player plays one game
  against each other player of the same group», and $<f>$ points are given out in every game. Find
  the total number of points given out.
23- «once:Every two hikers of the same group have one photograph taken together.» There are
  <groups>, with <sizes> hikers. A photograph costs $<f>$ dollars. How many dollars do the
  photographs cost?
23- There are <groups> with <sizes> islands. «once:One ferry line links every two islands of the
  same group», and on each line there are $<f>$ ferries. How many ferries are there?
23- <name> compares colours: <groups> hold <sizes> samples, and «once:each sample is compared once
  with each other sample of its group». A comparison takes $<f>$ seconds. How many seconds do the
  comparisons take?
""")
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
    draft = Draft(
        f * pairs,
        groups=f"{('', 'two', '', 'four')[count - 1]} groups",
        size=sizes[0],
        sizes=listed(sizes),
        f=f,
    )
    draft.rule(divisible(f), f"every pair counts {f}, so the answer is a multiple of {f}")
    draft.rule(
        between(f * (total - count), f * (total * (total - 1) // 2 - (count > 1))),
        "everyone is in a pair, pairs of different groups do not count, and none counts twice",
        "once",
    )
    draft.wrong("other", 2 * f * pairs)
    draft.wrong("out_of_range", f * total * (total - 1) // 2)
    draft.wrong("encoded_form_not_applied", pairs)
    draft.wrong("misled_by_cue", f * total)
    draft.wrong("other", f * sum(size * size for size in sizes))
    draft.wrong("other", f * sum(size * (size + 1) // 2 for size in sizes))
    draft.wrong("out_of_range", f * total * (total - 1))
    draft.wrong("other", f * (total - count), f * sizes[0] * sizes[-1])
    draft.wrong("encoded_form_not_applied", 2 * pairs)
    return draft


# Explicit tier, totals that are rounded down, as the text states.


@explicit(r"""the part of a total that fills whole groups
1- Find «multiple:the largest multiple of $<k>$» that is not greater than $<sum>$.
1- What is «multiple:the greatest multiple of $<k>$» that is at most $<sum>$?
1- <name> has $<sum>$ apples and packs them in crates. «multiple:Each crate must hold exactly $<k>$
  apples.» <name> fills as many crates as possible. How many apples are in the crates?
1- «multiple:Stickers are pasted only in complete pages of $<k>$.» <name> has $<sum>$ stickers. How
  many of the stickers are pasted?
1- How many of $<sum>$ screws can be packed, if «multiple:every packet must contain exactly $<k>$
  screws»?
1- $<sum>$ singers want to stand «multiple:in complete rows of $<k>$», as many of them as possible.
  How many singers stand in the rows?
1- <name> counts upward «multiple:in steps of $<k>$», starting at $0$, and stops before going above
  $<sum>$. What is the last number that <name> says?
1- A bakery baked $<sum>$ rolls and delivers them «multiple:only in full trays of $<k>$»; the rest
  stay behind. How many rolls are delivered?
23- Find «multiple:the largest multiple of $<k>$» that is not greater than $<sum>$.
23- What is «multiple:the greatest multiple of $<k>$» that does not exceed $<sum>$?
23- <name> picks <parts> apples on <days> days and fills crates with all of them together. Each
  crate holds exactly $<k>$ apples, and «multiple:only full crates are sold». How many apples are
  sold?
23- «multiple:Stickers are pasted only in complete pages of $<k>$.» <name> puts together <days>
  envelopes with <parts> stickers. How many of the stickers are pasted?
23- How many of the screws from <days> bins, which hold <parts> screws, can be packed if
  «multiple:every packet must contain exactly $<k>$ screws» and the bins may be mixed?
23- A choir director gathers the singers of <days> schools, <parts> of them, and lines up as many as
  possible «multiple:in complete rows of $<k>$». How many singers stand in the rows?
23- <name> adds $<sum>$ and then «multiple:lowers the result to the nearest multiple of $<k>$ that
  is not above it». Which number does <name> end with?
23- A bakery baked <parts> rolls in <days> batches. The rolls are mixed and delivered «multiple:in
  full trays of $<k>$»; the rest stay behind. How many rolls are delivered?
23- Tiles come from <days> stacks of <parts> tiles. <name> lays «multiple:complete rows of $<k>$
  tiles» until no further row can be completed. How many tiles has <name> laid?
""")
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
    draft = Draft(
        answer, sum=" + ".join(map(str, terms)), parts=listed(terms), days=COUNT_WORDS[count], k=k
    )
    low = sum(term // 10 * 10 for term in terms)
    high = low + 10 * len(terms)
    draft.rule(divisible(k), f"the answer is a multiple of {k}", "multiple")
    draft.rule(between(low - k + 1, high), "the numbers rounded to tens bound the total")
    draft.wrong("broken_condition", total)
    draft.wrong("encoded_form_not_applied", total // k)
    draft.wrong("misled_by_cue", total % k)
    draft.wrong("out_of_range", answer + k)
    draft.wrong("other", each)
    draft.wrong("out_of_range", answer - k)
    draft.wrong("encoded_form_not_applied", answer // k + 1)
    draft.wrong("misled_by_cue", k - total % k)
    return draft


# Explicit tier, units: minutes, cents, centimetres, decimals cut off. The text names the unit.


@explicit(r"""hours and minutes added up and told in minutes
- <name> works for <times>. How long is that altogether, «unit:in minutes»?
- «unit:How many minutes» of music are there on <n> recordings that last <times>?
- The <n> legs of a train journey take <times>. Find the total travelling time «unit:in minutes».
- A hiker walks for <times> on <n> days. For «unit:how many minutes» does the hiker walk in all?
- What is the total length, «unit:in minutes», of <n> operas that last <times>?
- <name> logged <n> flights, lasting <times>. «unit:Give the total in minutes.»
- A machine ran for <times> in <n> shifts. Its log shows the whole running time «unit:as a number of
  minutes». Which number does the log show?
- To finish a quilt, <name> sewed on <n> evenings, for <times>. «unit:Expressed in minutes», how
  long did the sewing take?
- For a concert the orchestra rehearsed <n> times, for <times>. «unit:How many minutes» of rehearsal
  is that in total?
""")
def total_in_minutes(rng: Random, level: Level) -> Draft:
    count, most, step = ((2, 3, 5), (4, 5, 1), (8, 12, 1))[level - 1]
    hours = [rng.randrange(1, most) for _ in range(count)]
    minutes = [step * rng.randrange(11 // step, 59 // step) for _ in range(count)]
    total = agree(
        sum(60 * h + m for h, m in zip(hours, minutes, strict=True)), 60 * sum(hours) + sum(minutes)
    )
    times = [f"{plural(h, 'hour')} ${m}$ minutes" for h, m in zip(hours, minutes, strict=True)]
    draft = Draft(total, times=joined(times), n=COUNT_WORDS[count])
    low, tens = 60 * sum(hours), sum(minute // 10 * 10 for minute in minutes)
    draft.rule(integer(), "the time is told in minutes", "unit", kind="dimension")
    draft.rule(
        measured("minutes", low + tens, low + tens + 10 * count),
        f"the hours alone make {low} minutes, and the minutes are known to tens",
        kind="bound",
    )
    draft.rule(
        congruent(sum(minutes), 10),
        "hours end in 0 as minutes, so the minutes alone give the last digit",
    )
    whole, rest = divmod(total, 60)
    draft.wrong("encoded_form_not_applied", f"{whole}.{rest:02d}", sum(minutes), low, whole, rest)
    draft.wrong("encoded_form_not_applied", 100 * sum(hours) + sum(minutes))
    draft.wrong("encoded_form_not_applied", sum(hours) + sum(minutes))
    draft.wrong("other", total - 60, total + 60)
    draft.wrong("encoded_form_not_applied", Fraction(total, 60))
    return draft


_GOODS = ("sandwich", "notebook", "juice", "pie", "postcard", "muffin", "salad", "soup")


@explicit(r"""change told in cents
- <name> buys <goods> and pays with a $<note>$-dollar note. How much change does <name> get,
  «unit:in cents»?
- «unit:How many cents» of change are due to a customer who buys <goods> and hands over $<note>$
  dollars?
- At a market stall <name> takes <goods> and gives the seller a $<note>$-dollar note. The till shows
  the change «unit:in cents». What number does it show?
- <name> has $<note>$ dollars and spends some of it on <goods>. «unit:Express the money that is left
  in cents.»
- After paying for <goods> out of $<note>$ dollars, «unit:how many cents» does <name> have left?
- A vending machine is fed a $<note>$-dollar note for <goods>. What change, «unit:as a number of
  cents», must it return?
- <name> orders <goods> at a kiosk and puts $<note>$ dollars on the counter. «unit:Find the change
  in cents.»
- Change is counted out «unit:in cents» at the school shop. <name> pays with $<note>$ dollars for
  <goods>. How much change comes back?
""")
def change_in_cents(rng: Random, level: Level) -> Draft | None:
    kinds = (1, 2, 4)[level - 1]
    note = rng.choice(((5, 10), (10, 20), (50, 100))[level - 1])
    amounts = [rng.randrange(2, 6) if level == 3 else 1 for _ in range(kinds)]
    prices = [5 * rng.randrange(13, 50 + 40 * (level - 1)) for _ in range(kinds)]
    cost = sum(a * p for a, p in zip(amounts, prices, strict=True))
    cheap = sum(a * (p // 100) for a, p in zip(amounts, prices, strict=True))
    dear = cheap + sum(amounts)
    paid = sum(price for a, price in zip(amounts, prices, strict=True) for _ in range(a))
    answer = agree(100 * note - cost, 100 * note - paid)
    if answer < 60 or answer % 100 == 0 or any(price % 100 == 0 for price in prices):
        return None
    names = rng.sample(_GOODS, kinds)
    goods = [_priced(a, g, p) for a, g, p in zip(amounts, names, prices, strict=True)]
    draft = Draft(answer, goods=joined(goods), note=note)
    draft.rule(integer(), "the change is told in whole cents", "unit", kind="dimension")
    draft.rule(divisible(5), "every price is a multiple of 5 cents, so is the change")
    draft.rule(
        between(100 * (note - dear), 100 * (note - cheap)),
        "the prices, rounded to whole dollars, bound the change",
    )
    draft.wrong("encoded_form_not_applied", decimal(Fraction(answer, 100), 2))
    draft.wrong("misled_by_cue", cost)
    draft.wrong("encoded_form_not_applied", decimal(Fraction(cost, 100), 2))
    draft.wrong("other", 100 * note - sum(prices), 100 * note - prices[0] * amounts[0])
    draft.wrong("encoded_form_not_applied", answer % 100)
    draft.wrong("other", answer + 100, answer - 100)
    return draft


def _priced(amount: int, name: str, cents: int) -> str:
    price = f"${cents // 100}.{cents % 100:02d}$ dollars"
    many = f"{name}{'es' if name == 'sandwich' else 's'}"
    return f"a {name} for {price}" if amount == 1 else f"${amount}$ {many} at {price} each"


@explicit(r"""equal lengths in m and cm, told in cm
- <name> lays $<n>$ boards end to end, each $<m>$ m $<cm>$ cm long. How long is the row, «unit:in
  centimetres»?
- «unit:How many centimetres» of ribbon are needed for $<n>$ garlands that take $<m>$ m $<cm>$ cm
  each?
- A kangaroo makes $<n>$ jumps and covers $<m>$ m $<cm>$ cm each time. Find the total length of the
  jumps «unit:in centimetres».
- $<n>$ trailers stand bumper to bumper. Each is $<m>$ m $<cm>$ cm long. What is the length of the
  queue, «unit:expressed in centimetres»?
- A tailor cuts $<n>$ pieces of $<m>$ m $<cm>$ cm from a roll of cloth. «unit:Give the length of
  cloth used in centimetres.»
- For $<n>$ equal shelves, each $<m>$ m $<cm>$ cm long, <name> orders edging tape. The shop sells it
  «unit:by the centimetre». How many centimetres does <name> order?
- Each of $<n>$ curtains takes $<m>$ m $<cm>$ cm of cloth. «unit:In centimetres», how much cloth do
  the curtains take?
- <name> builds a fence of $<n>$ panels, all $<m>$ m $<cm>$ cm wide, without gaps. The plan states
  its width «unit:in centimetres only». What number is on the plan?
""")
def pieces_in_centimetres(rng: Random, level: Level) -> Draft:
    n = rng.choice(((2, 3, 4, 5), (3, 4, 6, 7, 8), (17, 18, 19, 23, 27, 34))[level - 1])
    m = rng.randrange(1, 3 + 2 * level)
    cm = rng.randrange(10, 60, 10) if level == 1 else rng.randrange(3, 98)
    each = 100 * m + cm
    answer = agree(n * each, sum(each for _ in range(n)))
    draft = Draft(answer, n=n, m=m, cm=cm)
    draft.rule(
        measured("centimetres", 100 * m * n + 1, 100 * (m + 1) * n - 1),
        "the length is told in centimetres, and a piece is not longer than the next metre",
        "unit",
    )
    draft.rule(divisible(n), f"{n} pieces of whole centimetres make a multiple of {n}")
    draft.wrong("encoded_form_not_applied", decimal(Fraction(answer, 100), 2), each, n * (m + cm))
    draft.wrong("encoded_form_not_applied", n * m + cm)
    draft.wrong("other", 100 * n * m + cm, 100 * m + n * cm)
    draft.wrong("encoded_form_not_applied", n * (10 * m + cm), n * (1000 * m + cm))
    draft.wrong("other", 100 * n * m)
    draft.wrong("out_of_range", answer + each)
    return draft


@explicit(r"""a quotient cut off after a decimal place, not rounded
- Write $<a> \div <b>$ as a decimal and «cut:cut it off after <place>, without rounding». What
  number is left?
- <name> divides $<a>$ by $<b>$. «cut:All digits after <place> are deleted; nothing is rounded.»
  What number remains?
- A cheap calculator «cut:drops every digit after <place> instead of rounding». What does it show
  for $<a> \div <b>$?
- What is $<a> \div <b>$, «cut:truncated (not rounded) after <place>»?
- A rope of $<a>$ metres is shared equally among $<b>$ climbers. <name> writes down the share in
  metres and «cut:leaves off all digits after <place>, without rounding». What does <name> write?
- The price of $<b>$ tickets is $<a>$ dollars. A website shows the price of one ticket in dollars,
  «cut:simply cutting the decimal off after <place>». Which number does it show?
- «cut:Truncate after <place>; do not round.» How many litres does each of $<b>$ jugs get if $<a>$
  litres are poured out evenly?
- At an archery contest the average is «cut:truncated after <place>, never rounded». <name> scored
  $<a>$ points in $<b>$ rounds. What average is announced?
""")
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
    draft = Draft(answer, "decimal" if places else "integer", a=a, b=b, place=place)
    draft.rule(decimals(places), f"there is no digit after {place}", "cut")
    draft.rule(
        between(value - 2, value),
        "cutting off never gives more than the quotient, and takes off little",
    )
    draft.wrong("encoded_form_not_applied", _rounded(value, places), _rounded(value, places + 1))
    draft.wrong("encoded_form_not_applied", _cut(value, places + 1), _rounded(value, places + 2))
    draft.wrong("encoded_form_not_applied", a // b, round(value), _cut(value, 1), value)
    draft.wrong("misled_by_cue", a % b)
    draft.wrong("arithmetic", a // b + 2)
    return draft


def _rounded(value: Fraction, places: int) -> str:
    return _cut(value + Fraction(1, 2 * int("1" + "0" * places)), places)


def _cut(value: Fraction, places: int) -> str:
    scale = int("1" + "0" * places)  # typed as int; int ** int may be a float
    return decimal(Fraction(floor(value * scale), scale), places)
