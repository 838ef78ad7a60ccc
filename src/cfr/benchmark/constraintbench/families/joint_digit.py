"""Joint tier, digits: a number that its digits' order, their sum and one more condition fix."""

from __future__ import annotations

from random import Random

from cfr.benchmark.constraintbench.families.phrase import NAMES, tell
from cfr.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from cfr.benchmark.constraintbench.item import Level
from cfr.constraint.demand import between, congruent, digit_sum, digits_ordered, divisible

__all__ = ["FAMILIES"]

_ORDERED = (
    r"The digits of «size:a <size>-digit number» «order:<order> strictly from left to right», "
    r"«sum:their sum is $<s>$», and the number «mod:leaves remainder $<r>$ on division by $<m>$». "
    r"Find the number.",
    r"<name> thinks of «size:a <size>-digit number» whose «order:digits strictly <order> from "
    r"left to right». «sum:Its digits add up to $<s>$», and «mod:dividing it by $<m>$ leaves "
    r"$<r>$». Which number is it?",
    r"What is the only «size:<size>-digit number» with digit sum «sum:$<s>$», «order:every digit "
    r"being <than> the one before it», that is «mod:congruent to $<r>$ modulo $<m>$»?",
    r"Which house does <name> live in? «size:Its number has <size> digits», «order:each digit is "
    r"<than> the digit to the left of it», «sum:the digits add up to $<s>$», and «mod:the number "
    r"leaves $<r>$ when divided by $<m>$».",
    r"A lock opens with «size:a <size>-digit number». «sum:The sum of its digits is $<s>$», "
    r"«order:from left to right they <order> strictly», and «mod:the number is $<r>$ more than a "
    r"multiple of $<m>$». Find the number.",
    r"Find the «size:<size>-digit» number that «mod:gives the remainder $<r>$ on division by "
    r"$<m>$», has «sum:digit sum $<s>$», and in which «order:the digits strictly <order>, read "
    r"from the left».",
    r"<name>'s bus has «size:a <size>-digit number». «order:No digit is <unthan> or equal to the "
    r"one before it», «sum:the digits have the sum $<s>$», and «mod:the number is congruent to "
    r"$<r>$ modulo $<m>$». What number does the bus have?",
    r"«sum:With digit sum $<s>$» and «order:digits that <order> strictly from left to right», "
    r"«size:a <size>-digit number» «mod:leaves $<r>$ on division by $<m>$». Which number is meant?",
)


@family(
    "joint",
    ("modular", "bound", "monotonic", "structure"),
    "digits in order, a digit sum and a remainder",
)
def ordered_digits(rng: Random, level: Level) -> Draft | None:
    """Ask for a number with ordered digits, a digit sum and a remainder."""
    size = 2 if level == 1 else 3
    low, high = 10 ** (size - 1), 10**size - 1
    rising = rng.choice((True, False))
    digits = sorted(rng.sample(range(1, 10), size), reverse=not rising)
    number, s = int("".join(map(str, digits))), sum(digits)
    m = rng.choice(((3, 4, 5), (4, 5, 10), (6, 7, 8, 11, 13))[level - 1])
    r = number % m
    meets_order = [n for n in range(low, high + 1) if _in_order(n, rising)]
    fits = [n for n in meets_order if sum(map(int, str(n))) == s and n % m == r]
    rivals = [n for n in meets_order if sum(map(int, str(n))) == s and n != number]
    unordered = [
        n for n in range(low, high + 1)
        if sum(map(int, str(n))) == s and n % m == r and not _in_order(n, rising)
    ]  # fmt: skip
    if r == 0 or fits != [number] or not rivals or not unordered:
        return None
    answer = agree(number, _by_digits(size, rising, s, r, m))
    order = "increase" if rising else "decrease"
    than, unthan = ("greater than", "less than")[:: 1 if rising else -1]
    told = tell(
        rng, _ORDERED, size="two" if size == 2 else "three", order=order, s=s, m=m, r=r, than=than,
        unthan=unthan, name=rng.choice(NAMES),
    )  # fmt: skip
    rules = [
        gold("bound", f"the number has {size} digits", between(low, high), told.span("size")),
        gold(
            "monotonic",
            f"its digits strictly {order} from left to right",
            digits_ordered("increasing" if rising else "decreasing"),
            told.span("order"),
        ),
        gold("structure", f"its digits add up to {s}", digit_sum(s), told.span("sum")),
        gold("modular", f"it leaves {r} on division by {m}", congruent(r, m), told.span("mod")),
    ]
    lures: Lures = [
        (rivals[0], "forgot_modular_reduction"),
        (rivals[-1], "forgot_modular_reduction"),
        (int(str(number)[::-1]), "misled_by_cue"),
        *((n, "misled_by_cue") for n in unordered[:2]),
        (number + m, "arithmetic"),
        (number - m, "arithmetic"),
        (high + 1 + (r - high - 1) % m, "out_of_range"),
    ]
    return Draft(told.text, answer, rules, lures)


def _in_order(number: int, rising: bool) -> bool:
    digits = list(str(number))
    return len(set(digits)) == len(digits) and digits == sorted(digits, reverse=not rising)


def _by_digits(size: int, rising: bool, s: int, r: int, m: int) -> int:
    """Build the numbers digit by digit from the right instead of testing them all."""
    found: list[int] = []

    def extend(digits: tuple[int, ...]) -> None:
        if len(digits) == size:
            value = sum(d * 10**i for i, d in enumerate(digits))
            found.extend([value] if sum(digits) == s and value % m == r and digits[-1] else [])
            return
        for d in range(10):
            if not digits or (d < digits[-1] if rising else d > digits[-1]):
                extend((*digits, d))

    extend(())
    return found[0] if len(found) == 1 else -1


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
    size = 2 if level == 1 else 3
    digits = rng.sample(range(1, 10), size)
    number = int("".join(map(str, digits)))
    gap = int(str(number)[::-1]) - number
    low, high, s = 10 ** (size - 1), 10**size - 1, sum(digits)
    fits = [
        n for n in range(low, high + 1)
        if sum(map(int, str(n))) == s and int(str(n)[::-1]) - n == gap and n % 10
        and (level == 1 or str(n)[1] == str(digits[1]))
    ]  # fmt: skip
    step = gap // (9 if size == 2 else 99)
    outer = s if size == 2 else s - digits[1]
    first = (outer - step) // 2
    answer = agree(fits, [first * low + (digits[1] * 10 if size == 3 else 0) + first + step])[0]
    rising = gap > 0
    # At the third level the middle digit must be worked out, too.
    half = sum(digits) - digits[1]
    middle = ("", f", and the digit in the middle is ${digits[1]}$", "")[level - 1]
    if level == 3:
        more = half - digits[1]
        if more < 2:
            return None
        middle = f", and the first and last digit together are ${more}$ more than the middle one"
    told = tell(
        rng, _SWAP, size="two" if size == 2 else "three", s=s, gap=abs(gap), middle=middle,
        more="larger" if rising else "smaller", name=rng.choice(NAMES),
    )  # fmt: skip
    rules = [
        gold("structure", f"its digits add up to {s}", digit_sum(s), told.span("sum")),
        gold(
            "bound",
            f"it has {size} digits, also when it is {abs(gap)} {'larger' if rising else 'smaller'}",
            between(low + max(-gap, 0), high - max(gap, 0)),
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
    k = rng.choice(((4, 5, 7), (6, 7, 8, 11), (13, 14, 16, 17, 19))[level - 1])
    number = k * rng.randrange(*((3, 20), (15, 60), (30, 70))[level - 1])
    width = (6, 8, 10)[level - 1] * k
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
        *((n, "forgot_modular_reduction") for n in sums if n != number),
        (far[0], "out_of_range"),
        (far[-1], "out_of_range"),
        *((n, "arithmetic") for n in multiples[:4] if n != number),
    ]
    return Draft(told.text, answer, rules, lures[:10])


FAMILIES = (ordered_digits, digit_swap, digit_sum_multiple)
