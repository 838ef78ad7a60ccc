"""Implicit tier, objects: a counter with three wheels, dice, page numbers, seats."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from cfr.benchmark.constraintbench.families.phrase import NAMES, listed, tell
from cfr.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from cfr.benchmark.constraintbench.item import Level
from cfr.constraint.demand import between, congruent, divisible, least_residue

__all__ = ["FAMILIES"]

_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_COUNTER = (
    r"A turnstile has a counter with three digit wheels, which shows $<start>$. Then <parts> "
    r"people pass in <n> groups. What number does the counter show now?",
    r"The counter at a museum door has three digit wheels. It stands at $<start>$ in the morning, "
    r"and during the day <n> parties of <parts> visitors come in. Which number can be read in the "
    r"evening?",
    r"<name>'s old trip meter has three digit wheels and counts whole kilometres. It reads "
    r"$<start>$ before <n> trips of <parts> kilometres. What does it read afterwards?",
    r"Which number does a three-digit tally counter show after <n> further counts of <parts> "
    r"clicks, if it showed $<start>$ before?",
    r"A printer counts its sheets on a display with exactly three digits. The display shows "
    r"$<start>$. <name> prints <n> jobs of <parts> sheets. What does the display show then?",
    r"A step counter has only three digits and shows $<start>$ when <name> starts <n> walks of "
    r"<parts> steps. What does it show at the end?",
    r"At noon the three-wheel counter of a bottling machine shows $<start>$. In the next hours it "
    r"fills <parts> bottles, in <n> runs. Give the number on the counter after that.",
    r"A ticket stamp with three digit wheels moves on by one for each ticket. The last ticket got "
    r"the number $<start>$. Now <n> schools bring <parts> people, and each person takes a ticket. "
    r"Which number is on the last of these tickets?",
)


@family("implicit", ("modular", "bound"), "a counter of three digits that starts again")
def three_digit_counter(rng: Random, level: Level) -> Draft | None:
    """Ask what a counter shows after it has run over."""
    count, low, high = ((2, 101, 500), (4, 120, 480), (6, 150, 900))[level - 1]
    start = rng.randrange(512, 998)
    parts = [rng.randrange(low, high) for _ in range(count)]
    total = start + sum(parts)
    shown = start
    for part in parts:
        shown = (shown + part) % 1000
    answer = agree(int(str(total)[-3:]), shown)
    if total < 1000 or answer < 100:
        return None
    told = tell(
        rng,
        _COUNTER,
        start=start,
        parts=listed(parts),
        n=_WORDS[count],
        N=_WORDS[count].capitalize(),
        name=rng.choice(NAMES),
    )
    rules = [
        gold("modular", "the last digits alone give the last digit", congruent(total, 10)),
        gold("bound", "three digits can show at most 999", between(0, 999)),
    ]
    lures: Lures = [
        (total, "out_of_range"),
        (total - start, "out_of_range" if total - start > 999 else "other"),
        ((total - start) % 1000, "other"),
        (total % 999, "other"),
        (answer + 1, "other"),
        (answer - 1, "other"),
        (total // 10, "other"),
        (total - 1000, "out_of_range" if total > 1999 else "other"),
        (999, "other"),
        (Fraction(total, 1000), "not_an_integer"),
    ]
    return Draft(told.text, answer, rules, lures)


_DICE = (
    r"<name> rolls <n> ordinary dice and sees <tops> on top. Every pip on the faces that touch the "
    r"table is worth $<p>$ points. How many points is that?",
    r"<N> standard dice lie on a table and show <tops>. <name> gets $<p>$ cents for each pip on "
    r"the undersides. How many cents does <name> get?",
    r"How many points does <name> get for <n> standard six-sided dice with <tops> on top, if $<p>$ "
    r"points are given for every pip on the face opposite the top?",
    r"On a glass table there are <n> ordinary dice. From above one sees <tops>. Someone under the "
    r"table looks at the dice from below and scores $<p>$ points for each pip that can be seen "
    r"from there. What is the score?",
    r"Each of <n> usual dice is turned upside down. Before, the top faces showed <tops>. After "
    r"that, every pip on top counts $<p>$. What is the total?",
    r"<name> plays a game in which the hidden bottom face of a die counts, $<p>$ points a pip. The "
    r"<n> dice, all of the usual kind, show <tops> on top. Find the number of points.",
    r"The tops of <n> normal dice show <tops>. A mirror lies under them, and <name> pays $<p>$ "
    r"dollars for each pip in the mirror. How many dollars does <name> pay?",
    r"Multiply by $<p>$ the number of all pips on the bottom faces of <n> ordinary dice whose top "
    r"faces show <tops>. What do you get?",
)


@family("implicit", ("modular", "bound"), "the undersides of dice: opposite faces make seven")
def dice_undersides(rng: Random, level: Level) -> Draft:
    """Ask for the pips below; opposite faces of a die add up to seven."""
    count, p = ((2, rng.randrange(3, 16)), (4, rng.randrange(4, 16)), (7, rng.randrange(7, 24)))[
        level - 1
    ]
    tops = [rng.randrange(1, 7) for _ in range(count)]
    total = sum(tops)
    opposite = {1: 6, 2: 5, 3: 4, 4: 3, 5: 2, 6: 1}
    below = agree(7 * count - total, sum(opposite[top] for top in tops))
    told = tell(
        rng,
        _DICE,
        n=_WORDS[count],
        N=_WORDS[count].capitalize(),
        tops=listed(tops),
        p=p,
        name=rng.choice(NAMES),
    )
    rules = [
        gold("modular", f"every pip counts {p}, so the answer is a multiple of {p}", divisible(p)),
        gold("bound", "a face has one to six pips", between(p * count, 6 * p * count)),
    ]
    lures: Lures = [
        (p * total, "other"),
        (below, "encoded_form_not_applied"),
        (p * (6 * count - total), "other"),
        (p * 7 * count, "out_of_range"),
        (total, "encoded_form_not_applied"),
        (p * (21 * count - total), "out_of_range"),
        (p * abs(7 - total), "other"),
        (p * 6 * count, "other"),
        (p * count, "other"),
        (p * abs(21 - total), "other"),
    ]
    return Draft(told.text, p * below, rules, lures)


_DIGITS = (
    r"The pages of a book are numbered from $<a>$ to $<b>$. How many digits are printed for these "
    r"page numbers?",
    r"<name> paints the numbers from $<a>$ to $<b>$ on doors, digit by digit. How many digits does "
    r"<name> paint?",
    r"How many number tiles with one digit each does a hotel need to label its rooms $<a>$ to "
    r"$<b>$, every number once?",
    r"<name> types all whole numbers from $<a>$ up to $<b>$ without spaces. How many digit keys "
    r"does <name> press?",
    r"Lockers $<a>$ to $<b>$ get metal numbers that are put together from single digits. How many "
    r"single digits are used?",
    r"A clerk stamps the tickets $<a>$ to $<b>$ with a hand stamp that prints one digit at a time. "
    r"Find the number of times the clerk stamps.",
    r"The integers from $<a>$ to $<b>$ are written one after another in a long row. How many "
    r"digits does the row have?",
    r"At one dollar for each digit, how many dollars does a sign painter charge for the house "
    r"numbers $<a>$ to $<b>$ of a street that has a house for every number?",
)


@family("implicit", ("modular", "bound"), "how many digits a run of numbers takes")
def page_digits(rng: Random, level: Level) -> Draft:
    """Ask for digits; numbers have one, two or three of them."""
    a, b = (
        (1, rng.randrange(12, 100)),
        (rng.randrange(11, 95), rng.randrange(105, 180)),
        (rng.randrange(2, 10), rng.randrange(140, 600)),
    )[level - 1]
    numbers = b - a + 1
    one, two = max(0, 10 - a), max(0, min(b, 99) - max(a, 10) + 1)
    three = numbers - one - two
    answer = agree(one + 2 * two + 3 * three, sum(len(str(number)) for number in range(a, b + 1)))
    longest = len(str(b))
    long = three or two
    told = tell(rng, _DIGITS, a=a, b=b, name=rng.choice(NAMES))
    rules = [
        gold(
            "modular",
            f"only the numbers with fewer than {longest} digits spoil a multiple of {longest}",
            congruent(one + 2 * two if three else one, longest),
        ),
        gold(
            "bound",
            f"the numbers with {longest} digits take most of them, and the others take fewer",
            between(longest * long + 1, longest * numbers - 1),
        ),
    ]
    lures: Lures = [
        (numbers, "encoded_form_not_applied"),
        (longest * numbers, "out_of_range"),
        (answer - longest, "other"),
        (answer + longest, "other"),
        (2 * numbers, "other"),
        (numbers - 1, "out_of_range"),
        (answer - 1, "other"),
        (answer + 1, "other"),
        (3 * three + 2 * two, "other"),
        (len(str(b)) + len(str(a)), "out_of_range"),
    ]
    return Draft(told.text, answer, rules, lures)


_SEATS = (
    r"Groups of <parts> people travel in coaches with $<c>$ seats each, and as few coaches as "
    r"possible are hired for all of them together. How many seats stay empty?",
    r"<name> puts <parts> photographs from <n> holidays into albums that hold $<c>$ photographs "
    r"each, filling one album after the other. How many more photographs would fit into the last "
    r"album that <name> uses?",
    r"A school buys as few boxes of $<c>$ pens as it can for <n> classes, which need <parts> pens. "
    r"How many pens are left over?",
    r"How many free places are there in the smallest number of boats, $<c>$ places each, that can "
    r"carry <n> clubs with <parts> members at the same time?",
    r"<N> tents of scouts, with <parts> scouts, sit down at tables for $<c>$. All tables are full "
    r"except perhaps the last. How many chairs at the last table stay free?",
    r"Cakes are cut into $<c>$ slices. For <n> tables with <parts> guests <name> buys just enough "
    r"cakes to give every guest one slice. How many slices remain?",
    r"<N> choirs with <parts> singers stand in rows of $<c>$, row after row, all choirs mixed. How "
    r"many singers are missing in the last row to make it complete?",
    r"A cinema opens just enough halls, with $<c>$ seats each, for <n> schools that bring <parts> "
    r"children. How many seats are not used?",
)


@family("implicit", ("modular",), "the places that stay empty in the last coach")
def empty_seats(rng: Random, level: Level) -> Draft | None:
    """Ask for empty seats; those taken in the last coach are the trap."""
    count, high, c = (
        (2, 60, rng.choice((20, 30))),
        (3, 110, rng.choice((30, 40))),
        (5, 190, rng.choice((40, 50, 60))),
    )[level - 1]
    parts = [rng.randrange(11, high) for _ in range(count)]
    total = sum(parts)
    coaches = next(n for n in range(total + 1) if n * c >= total)
    answer = agree(-total % c, coaches * c - total)
    if answer == 0 or 2 * answer == c or coaches == 1:
        return None
    told = tell(
        rng,
        _SEATS,
        parts=listed(parts),
        n=_WORDS[count],
        N=_WORDS[count].capitalize(),
        c=c,
        name=rng.choice(NAMES),
    )
    rules = [
        gold("modular", f"fewer than {c} seats stay empty", least_residue(c)),
        gold(
            "modular",
            "the seats are a multiple of 10, so the people give the last digit",
            congruent(-total, 10),
        ),
    ]
    lures: Lures = [
        (total % c, "misled_by_cue"),
        (coaches, "encoded_form_not_applied"),
        (coaches - 1, "encoded_form_not_applied"),
        (coaches * c, "out_of_range"),
        (-(total % c), "out_of_range"),
        (
            sum(-part % c for part in parts),
            "out_of_range" if sum(-part % c for part in parts) >= c else "other",
        ),
        (total, "out_of_range"),
        (Fraction(total, c), "not_an_integer"),
        (answer + c, "out_of_range"),
        (total - c, "out_of_range" if total - c >= c else "other"),
    ]
    return Draft(told.text, answer, rules, lures)


FAMILIES = (three_digit_counter, dice_undersides, page_digits, empty_seats)
