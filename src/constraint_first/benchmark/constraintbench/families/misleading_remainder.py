"""Misleading tier, remainders: a remainder or a modulus stands in the text and is not asked for."""

from __future__ import annotations

from random import Random

from constraint_first.benchmark.constraintbench.families.phrase import NAMES, listed, tell
from constraint_first.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from constraint_first.benchmark.constraintbench.item import Level
from constraint_first.constraint.demand import above, all_of, at_most, below, congruent

__all__ = ["FAMILIES"]

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


@family("misleading", ("modular", "bound"), "a remainder is given; the number itself is asked")
def dividend_not_remainder(rng: Random, level: Level) -> Draft:
    """Ask for a dividend where the word "remainder" suggests a small answer."""
    d = rng.randrange(*((3, 10), (11, 21), (21, 45))[level - 1])
    top = (7, 12, 20)[level - 1]
    qs = [rng.randrange(2, top) for _ in range((2, 3, 4)[level - 1])]
    r = rng.randrange(2, d)
    by_counting = r
    for _ in range(sum(qs)):
        by_counting += d
    answer = agree(sum(d * q for q in qs) + r, by_counting)
    told = tell(rng, _DIVIDEND, d=d, qs=listed(qs), r=r, name=rng.choice(NAMES))
    rules = [
        gold(
            "modular",
            f"the number leaves the remainder {r} on division by {d}",
            congruent(r, d),
            told.span("mod"),
        ),
        gold(
            "bound",
            f"there are {len(qs)} numbers of parts of {d} each, the largest of them {max(qs)}",
            all_of(above(d * max(qs) + r), below(d * (len(qs) * max(qs) + 1))),
        ),
    ]
    lures: Lures = [
        (r, "misled_by_cue"),
        (answer - r, "arithmetic"),
        (sum(qs), "misled_by_cue"),
        (answer - 2 * r, "arithmetic"),
        (sum(qs) + r, "arithmetic"),
        (d * (sum(qs) + r), "arithmetic"),
        (sum(qs) % d, "misled_by_cue"),
        (d * max(qs) + r, "arithmetic"),
    ]
    return Draft(told.text, answer, rules, lures)


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


@family("misleading", ("modular", "bound"), "a check remainder stands beside the sum that is asked")
def check_digit_total(rng: Random, level: Level) -> Draft:
    """Ask for a sum whose remainder serves as a check."""
    m = rng.choice((7, 9, 11, 13))
    low, high, count = ((6, 40, 2), (12, 50, 3), (110, 500, 5))[level - 1]
    values = rng.sample(range(low, high), count)
    answer, c = agree(sum(values), _by_columns(values)), sum(v % m for v in values) % m
    told = tell(rng, _CHECK, values=listed(values), m=m, c=c, name=rng.choice(NAMES))
    rules = [
        gold(
            "modular", f"the sum leaves {c} on division by {m}", congruent(c, m), told.span("mod")
        ),
        gold(
            "bound",
            f"{count} numbers are added, the largest of them {max(values)}",
            all_of(above(max(values)), at_most(count * max(values))),
        ),
    ]
    lures: Lures = [
        (c, "misled_by_cue"),
        (answer // m, "misled_by_cue"),
        (answer - c, "misled_by_cue"),
        (answer + c, "misled_by_cue"),
        (sum(v % m for v in values), "misled_by_cue"),
        (answer - values[-1], "arithmetic"),
        (answer + 10, "arithmetic"),
        (answer - 10, "arithmetic"),
        (answer + 100, "arithmetic"),
        (answer - 100, "arithmetic"),
    ]
    return Draft(told.text, answer, rules, lures)


def _by_columns(values: list[int]) -> int:
    """Add as on paper, one decimal place after the other."""
    return sum(10**place * sum(v // 10**place % 10 for v in values) for place in range(3))


FAMILIES = (dividend_not_remainder, check_digit_total)
