"""Explicit tier, digits: the smallest or largest number that given digits make, odd or even."""

from __future__ import annotations

from itertools import permutations
from random import Random

from constraint_first.benchmark.constraintbench.families.phrase import NAMES, listed, tell
from constraint_first.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from constraint_first.benchmark.constraintbench.item import Level
from constraint_first.constraint.demand import digit_sum, parity

__all__ = ["FAMILIES"]

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


@family("explicit", ("parity", "structure"), "the smallest odd number that given digits make")
def arranged_digits(rng: Random, level: Level) -> Draft | None:
    """Ask for an extreme arrangement of digits that has the parity asked for."""
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
        name=rng.choice(NAMES),
    )
    rules = [
        gold("parity", f"the number is {which}", parity(which), told.span("parity")),
        gold(
            "structure",
            "every digit is used once, so the digit sum is known",
            digit_sum(sum(digits)),
        ),
    ]
    other = min(matching) if largest else max(matching)
    free = max(numbers) if largest else min(numbers)
    lures: Lures = [
        (free, "ignored_parity"),
        (other, "misled_by_cue"),
        (min(numbers) if largest else max(numbers), "ignored_parity"),
        (int("".join(map(str, digits))), "other"),
        (int("".join(map(str, [*front, last]))[1:]), "other"),
        (int("".join(str(digit) for digit in order if digit in fitting)), "other"),
        (sum(digits), "encoded_form_not_applied"),
        *[
            (int("".join(map(str, [*(d for d in order if d != end), end]))), "other")
            for end in fitting
        ],
    ]
    return Draft(told.text, best, rules, lures)


FAMILIES = (arranged_digits,)
