"""Joint tier, rows: one of several numbers that follow each other in equal steps."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from constraint_first.benchmark.constraintbench.families.phrase import NAMES, tell
from constraint_first.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from constraint_first.benchmark.constraintbench.item import Level
from constraint_first.constraint.demand import above, all_of, below, congruent, integer

__all__ = ["FAMILIES"]

_ROW = (
    r"The sum of $<count>$ «kind:consecutive <kind>» is $<sum>$. What is «which:the <which> of "
    r"them»?",
    r"Find «which:the <which>» of $<count>$ «kind:consecutive <kind>» that add up to $<sum>$.",
    r"<name> writes $<count>$ «kind:consecutive <kind>» on a board. Their sum is $<sum>$. What is "
    r"«which:the <which> number» on the board?",
    r"What is «which:the <which> number» in a row of $<count>$ «kind:consecutive <kind>» whose sum "
    r"is $<sum>$?",
    r"A row of $<count>$ lockers carries «kind:consecutive <kind>» as numbers. Added up, the "
    r"numbers give $<sum>$. Find «which:the <which> locker number».",
    r"Adding $<count>$ «kind:consecutive <kind>», <name> gets $<sum>$. What is «which:the <which> "
    r"of the numbers» that were added?",
    r"The tickets of <name>'s family carry $<count>$ «kind:consecutive <kind>», and <name> has the "
    r"ticket with «which:the <which> number». The sum of the ticket numbers is $<sum>$. What "
    r"number is on <name>'s ticket?",
    r"On $<count>$ cards stand «kind:consecutive <kind>», one number on each card. All the numbers "
    r"together make $<sum>$. What is «which:the <which> number» on a card?",
)


@family("joint", ("modular", "bound"), "one of several consecutive odd numbers or multiples")
def consecutive_terms(rng: Random, level: Level) -> Draft | None:
    """Ask for one of several consecutive odd numbers, even numbers or multiples."""
    step = rng.choice(((2,), (2, 5), (3, 4, 6, 7))[level - 1])
    count = rng.choice(((3,), (4, 5), (5, 6, 7))[level - 1])
    odd = step == 2 and rng.choice((True, False))
    start = step * rng.randrange(*((2, 30), (6, 50), (10, 70))[level - 1]) + odd
    row = [start + step * place for place in range(count)]
    total = sum(row)
    which, place = rng.choice(
        ((("smallest", 0), ("largest", -1)), (("smallest", 0), ("largest", -1)),
         (("second smallest", 1), ("second largest", -2)))[level - 1]
    )  # fmt: skip
    mean = Fraction(total, count)
    first = mean - Fraction(step * (count - 1), 2)
    answer = agree(row[place], int(first) + step * (place % count))
    kind = f"multiples of ${step}$" if step > 2 else "odd integers" if odd else "even integers"
    told = tell(rng, _ROW, count=count, kind=kind, sum=total, which=which, name=rng.choice(NAMES))
    high = place < 0
    bottom = mean if high else mean - step * count
    middle = row[count // 2]
    rules = [
        gold(
            "modular",
            f"the numbers are {kind}",
            congruent(1 if odd else 0, step),
            told.span("kind"),
        ),
        gold(
            "bound",
            f"the {which} number is above {bottom} and below {bottom + step * count} "
            f"(the mean is {mean})",
            all_of(integer(), above(bottom), below(bottom + step * count)),
            told.span("which"),
        ),
    ]
    lures: Lures = [
        (row[-1 - place], "misled_by_cue"),
        (row[-1] if high else row[0], "misled_by_cue"),
        (row[0] if high else row[-1], "misled_by_cue"),
        (middle, "arithmetic"),
        (mean, "arithmetic"),
        (total // count, "arithmetic"),
        (answer + 1, "arithmetic"),
        (answer - 1, "arithmetic"),
        (answer + step, "arithmetic"),
        (answer - step, "arithmetic"),
    ]
    return Draft(told.text, answer, rules, lures)


FAMILIES = (consecutive_terms,)
