"""Explicit tier, forms: rounding and multiple choice. The text names the form."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from cfr.answer.expression.value import decimal
from cfr.benchmark.constraintbench.families.phrase import NAMES, listed, tell
from cfr.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from cfr.benchmark.constraintbench.item import Level
from cfr.constraint.demand import decimals, form, rounded

__all__ = ["FAMILIES"]

_ROUND = (
    r"The daily catches of a fishing boat were <values> kilograms. Find the mean catch, "
    r"«round:rounded to the nearest <unit>».",
    r"<name> timed <count> runs at <values> seconds. What is the average of these times in "
    r"seconds, «round:to the nearest <unit>»?",
    r"Compute the arithmetic mean of <values>, «round:rounding your answer to the nearest <unit>».",
)
_ROUND_UNITS = (("integer", 0), ("tenth", 1), ("hundredth", 2))


@family("explicit", ("format",), "a mean, rounded as the text says")
def rounded_mean(rng: Random, level: Level) -> Draft | None:
    """Ask for a mean to a stated precision."""
    unit_name, places = _ROUND_UNITS[0 if level == 1 else rng.randrange(level)]
    count = rng.choice((3, 4, 6, 7) if level == 1 else (6, 7, 9))
    values = [rng.randrange(11, 60 * level) for _ in range(count)]
    mean, unit = Fraction(sum(values), count), Fraction(1, 10**places)
    up = (mean / unit).__floor__() + 1
    nearest = up if up - mean / unit <= Fraction(1, 2) else up - 1
    by_integers = (2 * sum(values) * 10**places + count) // (2 * count)
    agree(nearest, by_integers)
    if (mean * 10**places * 2).denominator == 1:  # exact, or a half: nothing to round, or a dispute
        return None
    answer = decimal(nearest * unit, places)
    number_words = {3: "three", 4: "four", 6: "six", 7: "seven", 9: "nine"}
    told = tell(
        rng,
        _ROUND,
        values=listed(values),
        unit=unit_name,
        count=number_words[count],
        name=rng.choice(NAMES),
    )
    other = up - 1 if nearest == up else up
    precise = gold(
        "format",
        f"the answer is rounded to the nearest {unit_name}",
        rounded(mean, unit),
        told.span("round"),
    )
    rule = gold(
        "format",
        f"the answer has no more than {places} decimals",
        decimals(places),
        told.span("round"),
    )
    lures: Lures = [
        (mean, "encoded_form_not_applied" if places else "not_an_integer"),
        (decimal(other * unit, places), "arithmetic"),
        (sum(values), "out_of_range"),
    ]
    return Draft(told.text, answer, [precise, rule], lures, "decimal" if places else "integer")


_CHOICE_ASK = (
    r"What is <what>? «letter:Give the letter of the correct option.» <options>",
    r"Which of the following is <what>? <options> «letter:Answer with a letter.»",
    r"<name> has to work out <what>. «letter:Which letter should <name> mark on the answer sheet?» "
    r"<options>",
)
_LETTERS = "ABCDE"


@family("explicit", ("format",), "multiple choice: the answer is a letter")
def option_letter(rng: Random, level: Level) -> Draft | None:
    """Ask for the letter of the right option."""
    a, b, c = (rng.randrange(6, 12 + 12 * level) for _ in range(3))
    what, value, near = {
        1: (rf"the value of ${a} + {b} \cdot {c}$", a + b * c, (a + b) * c),
        2: (
            rf"the area of a rectangle with perimeter ${2 * (a + b)}$ and one side of length ${a}$",
            a * b,
            a * (a + 2 * b),
        ),
        3: (
            rf"the sum of the integers from ${a}$ to ${a + 2 * b}$ inclusive",
            (2 * b + 1) * (a + b),
            2 * b * (a + b),
        ),
    }[level]
    agree(value, {1: sum([b] * c) + a, 2: sum([a] * b), 3: sum(range(a, a + 2 * b + 1))}[level])
    # Signs at random, so that no letter is likelier than the others to be right.
    ten, few, more = (rng.choice((-1, 1)) * step for step in (10, rng.randrange(1, 9), a))
    options = sorted({value, near, value + ten, value + few, value + more})
    if len(options) != len(_LETTERS) or options[0] <= 0:
        return None
    lettered = r" \qquad ".join(
        rf"\textbf{{({letter})}}\ {option}"
        for letter, option in zip(_LETTERS, options, strict=True)
    )
    answer = _LETTERS[options.index(value)]
    told = tell(rng, _CHOICE_ASK, what=what, options=f"${lettered}$", name=rng.choice(NAMES))
    rule = gold(
        "format", "the answer is one of the letters A to E", form("choice"), told.span("letter")
    )
    lures: Lures = [
        (value, "encoded_form_not_applied"),
        (_LETTERS[options.index(near)], "arithmetic"),
        (_LETTERS[options.index(value + ten)], "arithmetic"),
    ]
    return Draft(told.text, answer, [rule], lures, "choice")


FAMILIES = (rounded_mean, option_letter)
