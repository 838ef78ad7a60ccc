"""Joint tier, digits: a number that its digits and one more condition fix."""

from __future__ import annotations

from random import Random

from constraint_first.benchmark.constraintbench.families.phrase import NAMES, tell
from constraint_first.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from constraint_first.benchmark.constraintbench.item import Level
from constraint_first.constraint.demand import between, digit_sum, divisible

__all__ = ["FAMILIES"]


_SWAP = (
    r"«size:A <size>-digit number» has «sum:digit sum $<s>$»<middle>. Written backwards, it "
    r"becomes «swap:<more> by $<gap>$». Find the number.",
    r"<name> types a price of «size:<size> digits» in the wrong order, from back to front, and "
    r"«swap:gets a number that is <more> by $<gap>$». «sum:The digits of the right price add up "
    r"to $<s>$»<middle>. What is the right price?",
    r"Which «size:<size>-digit» number becomes «swap:<more> by $<gap>$» when the order of its "
    r"digits is reversed, if «sum:the digits add up to $<s>$»<middle>?",
    r"Reversing the digits of «size:a <size>-digit number» makes it «swap:<more> by $<gap>$». "
    r"«sum:The sum of its digits is $<s>$»<middle>. What is the number?",
    r"<name>'s room number has «size:<size> digits» with «sum:the sum $<s>$»<middle>. In a "
    r"mirror, which turns the order of the digits round, <name> reads a number that is "
    r"«swap:<more> by $<gap>$». What is the room number?",
    r"«sum:The digits of a number add up to $<s>$»<middle>. The number has «size:<size> digits», "
    r"and read from right to left it is «swap:<more> by $<gap>$». Determine the number.",
    r"Find the «size:<size>-digit» number that is «swap:made <more> by $<gap>$» by reversing it "
    r"and has «sum:the digit sum $<s>$»<middle>.",
    r"A bus line has «size:a <size>-digit number» with «sum:digit sum $<s>$»<middle>. <name> "
    r"remembers it from back to front and «swap:waits for a number that is <more> by $<gap>$». "
    r"Which number does the line have?",
)


@family("joint", ("bound", "structure"), "a digit sum and what reversing does")
def digit_swap(rng: Random, level: Level) -> Draft | None:
    """Ask for a number from its digit sum and the change when it is reversed."""
    size = 2 if level < 3 else 3
    digits = rng.sample(range(1, 10), size)
    number = int("".join(map(str, digits)))
    gap = int(str(number)[::-1]) - number
    near = abs(digits[0] - digits[-1]) < 4
    if (level == 1 and (not near or sum(digits) > 12)) or (level == 2 and near):
        return None
    low, high, s = 10 ** (size - 1), 10**size - 1, sum(digits)
    fits = [
        n for n in range(low, high + 1)
        if sum(map(int, str(n))) == s and int(str(n)[::-1]) - n == gap and n % 10
        and (level < 3 or str(n)[1] == str(digits[1]))
    ]  # fmt: skip
    step = gap // (9 if size == 2 else 99)
    outer = s if size == 2 else s - digits[1]
    first = (outer - step) // 2
    answer = agree(fits, [first * low + (digits[1] * 10 if size == 3 else 0) + first + step])[0]
    rising = gap > 0
    middle = f", and the digit in the middle is ${digits[1]}$" if level == 3 else ""
    told = tell(
        rng, _SWAP, size="two" if size == 2 else "three", s=s, gap=abs(gap), middle=middle,
        more="larger" if rising else "smaller", name=rng.choice(NAMES),
    )  # fmt: skip
    least, most = low + max(-gap, 0), high - max(gap, 0)
    rules = [
        gold("structure", f"its digits add up to {s}", digit_sum(s), told.span("sum")),
        gold(
            "bound",
            f"it has {size} digits, and so has what it becomes: it is between {least} and {most}",
            between(least, most),
            told.span("swap"),
        ),
    ]
    lures: Lures = [
        (int(str(number)[::-1]), "misled_by_cue"),
        (number + 9, "arithmetic"),
        (number - 9, "arithmetic"),
        (number + gap // 9, "arithmetic"),
        (abs(gap), "misled_by_cue"),
        (number + 1, "arithmetic"),
        (number - 1, "arithmetic"),
        (10 * number + 1, "out_of_range"),
        (s, "out_of_range"),
    ]
    return Draft(told.text, answer, rules, lures)


_RANGED = (
    r"Which «range:number between $<low>$ and $<high>$» is «mult:a multiple of $<k>$» and has "
    r"«sum:digit sum $<s>$»?",
    r"<name>'s raffle ticket carries «range:a number from $<low>$ to $<high>$». It is "
    r"«mult:divisible by $<k>$», and «sum:its digits add up to $<s>$». What number is on the "
    r"ticket?",
    r"Find the only number that is «range:greater than $<low>$ and less than $<high>$», «mult:a "
    r"multiple of $<k>$», and «sum:has digits with sum $<s>$».",
    r"«sum:The digits of a page number add up to $<s>$.» The number is «mult:divisible by $<k>$» "
    r"and lies «range:between $<low>$ and $<high>$». Which page is it?",
    r"How many coins are in <name>'s chest? Their number is «range:over $<low>$ and under "
    r"$<high>$», «mult:they fill bags of $<k>$ exactly», and «sum:the digits of the number add up "
    r"to $<s>$».",
    r"A year «range:after the year $<low>$ and before the year $<high>$» of some calendar is "
    r"«mult:a multiple of $<k>$», and «sum:the sum of its digits is $<s>$». Which year is it?",
    r"«mult:Counting in steps of $<k>$ from $0$», <name> meets exactly one number «range:between "
    r"$<low>$ and $<high>$» «sum:whose digits add up to $<s>$». Which one is it?",
    r"What is the whole number «range:larger than $<low>$ and smaller than $<high>$» with "
    r"«sum:digit sum $<s>$» that «mult:can be divided by $<k>$ without remainder»?",
)


@family("joint", ("modular", "bound", "structure"), "a multiple with a digit sum inside a window")
def digit_sum_multiple(rng: Random, level: Level) -> Draft | None:
    """Ask for the one multiple of a window that has a digit sum."""
    k = rng.choice(((4, 5), (4, 5, 7), (6, 7, 8, 11))[level - 1])
    number = k * rng.randrange(*((4, 20), (4, 24), (12, 50))[level - 1])
    width = (13, 4 * k, 7 * k)[level - 1]
    low = number - rng.randrange(2, width)
    high = low + width
    if low < 10:
        return None
    s = sum(map(int, str(number)))
    # The window is counted with its ends, so that nothing depends on how "between" is read.
    multiples = [n for n in range(low, high + 1) if n % k == 0]
    fits = [n for n in multiples if sum(map(int, str(n))) == s]
    sums = [n for n in range(low, high + 1) if sum(map(int, str(n))) == s]
    far = [n for n in range(k, 1000, k) if sum(map(int, str(n))) == s and n not in fits]
    if fits != [number] or len(sums) < 2 or not far or number in (low, high):
        return None
    answer = agree(number, next(n for n in sums if n % k == 0))
    told = tell(rng, _RANGED, low=low, high=high, k=k, s=s, name=rng.choice(NAMES))
    rules = [
        gold(
            "bound",
            f"it lies between {low} and {high}",
            between(low, high),
            told.span("range"),
        ),
        gold("modular", f"it is a multiple of {k}", divisible(k), told.span("mult")),
        gold("structure", f"its digits add up to {s}", digit_sum(s), told.span("sum")),
    ]
    lures: Lures = [
        *((n, "broken_condition") for n in sums if n != number),
        (far[0], "out_of_range"),
        (far[-1], "out_of_range"),
        *((n, "arithmetic") for n in multiples[:4] if n != number),
    ]
    return Draft(told.text, answer, rules, lures[:10])


FAMILIES = (digit_swap, digit_sum_multiple)
