"""Explicit tier, lists: by rank, without the extremes, written backwards. The text says how."""

from __future__ import annotations

from random import Random

from constraint_first.benchmark.constraintbench.families.phrase import (
    COUNT_WORDS,
    NAMES,
    listed,
    tell,
)
from constraint_first.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from constraint_first.benchmark.constraintbench.item import Level
from constraint_first.constraint.demand import at_most, between, congruent, divisible, one_of

__all__ = ["FAMILIES"]

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


@family("explicit", ("structure", "bound"), "the second largest of the different values in a list")
def rank_in_list(rng: Random, level: Level) -> Draft | None:
    """Ask for a value by rank where repeated values would shift the rank."""
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
    told = tell(
        rng,
        _RANK,
        list=listed(numbers),
        plain=", ".join(map(str, numbers)),
        which=which,
        name=rng.choice(NAMES),
    )
    limit = at_most(max(values) - rank + 1) if largest else between(min(values) + rank - 1, None)
    rules = [
        gold("structure", "the answer is one of the listed values", one_of(*sorted(values))),
        gold("bound", "different values rank before it", limit, told.span("rank")),
    ]
    other = sorted(values, reverse=not largest)
    lures: Lures = [
        (repeated, "other"),
        (order[0], "out_of_range"),
        (other[rank - 1], "misled_by_cue"),
        (order[rank], "other"),
        (order[rank - 2], "other"),
        (order[rank - 1] + 1, "arithmetic"),
        (numbers[rank - 1], "other"),
        (rank, "misled_by_cue"),
    ]
    return Draft(told.text, answer, rules, lures)


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


@family("explicit", ("modular", "bound"), "a sum without its extremes, times a factor")
def dropped_extremes(rng: Random, level: Level) -> Draft:
    """Ask for a score after the best and the worst mark are taken out."""
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
    told = tell(rng, _JUDGES, marks=listed(marks), d=d, name=rng.choice(NAMES))
    rules = [
        gold("modular", f"the score is {d} times a whole number", divisible(d)),
        gold(
            "bound",
            f"{count - 2} marks count, none of them extreme, and they are known to tens",
            between(d * max(tens, size * min(marks)), d * min(tens + 10 * size, size * max(marks))),
            told.span("drop"),
        ),
    ]
    lures: Lures = [
        (d * total, "out_of_range"),
        (sum(kept), "encoded_form_not_applied"),
        (d * (total - max(marks)), "other"),
        (d * (total - min(marks)), "other"),
        (total, "encoded_form_not_applied"),
        (total - max(marks), "encoded_form_not_applied"),
        (d * (total - marks[0] - marks[-1]), "other"),
        (d * (max(marks) + min(marks)), "other"),
        (d * kept[-1], "other"),
    ]
    return Draft(told.text, answer, rules, lures)


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


@family("explicit", ("modular", "format"), "a sum with its digits in reverse order")
def reversed_result(rng: Random, level: Level) -> Draft | None:
    """Ask for the digits of a sum in reverse; the sum itself is the trap."""
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
        rng,
        _REVERSED,
        sum=" + ".join(map(str, terms)),
        parts=listed(terms),
        n=COUNT_WORDS[count],
        name=rng.choice(NAMES),
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
            told.span("back"),
        ),
    ]
    text = str(total)
    lures: Lures = [
        (total, "encoded_form_not_applied"),
        (int(text[-1] + text[1:-1] + text[0]), "encoded_form_not_applied"),
        (int(text[1:] + text[0]), "encoded_form_not_applied"),
        (int(text[-1] + text[:-1]), "encoded_form_not_applied"),
        (sum(int(str(term)[::-1]) for term in terms), "encoded_form_not_applied"),
        (sum(map(int, text)), "encoded_form_not_applied"),
        (int(text[::-1][: size - 1]), "encoded_form_not_applied"),
        (total + 1, "arithmetic"),
    ]
    return Draft(told.text, answer, rules, lures)


FAMILIES = (rank_in_list, dropped_extremes, reversed_result)
