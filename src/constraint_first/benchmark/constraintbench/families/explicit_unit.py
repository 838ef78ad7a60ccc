"""Explicit tier, units: minutes, cents, centimetres, decimals cut off. The text names the unit."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from random import Random

from constraint_first.answer.expression.value import decimal
from constraint_first.benchmark.constraintbench.families.phrase import COUNT_WORDS, NAMES, tell
from constraint_first.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from constraint_first.benchmark.constraintbench.item import Level
from constraint_first.constraint.demand import (
    between,
    congruent,
    decimals,
    divisible,
    integer,
    measured,
)

__all__ = ["FAMILIES"]

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


@family(
    "explicit", ("dimension", "bound", "modular"), "hours and minutes added up and told in minutes"
)
def total_in_minutes(rng: Random, level: Level) -> Draft:
    """Ask for a total of mixed times in minutes; hours and minutes are the trap."""
    count, most, step = ((2, 3, 5), (4, 5, 1), (8, 12, 1))[level - 1]
    hours = [rng.randrange(1, most) for _ in range(count)]
    minutes = [step * rng.randrange(11 // step, 59 // step) for _ in range(count)]
    total = agree(
        sum(60 * h + m for h, m in zip(hours, minutes, strict=True)),
        60 * sum(hours) + sum(minutes),
    )
    times = [_time(h, m) for h, m in zip(hours, minutes, strict=True)]
    told = tell(
        rng,
        _MINUTES,
        times=f"{', '.join(times[:-1])} and {times[-1]}",
        n=COUNT_WORDS[count],
        name=rng.choice(NAMES),
    )
    low, tens = 60 * sum(hours), sum(minute // 10 * 10 for minute in minutes)
    rules = [
        gold("dimension", "the time is told in minutes", integer(), told.span("unit")),
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
    lures: Lures = [
        (f"{whole}.{rest:02d}", "encoded_form_not_applied"),
        (sum(minutes), "encoded_form_not_applied"),
        (low, "encoded_form_not_applied"),
        (whole, "encoded_form_not_applied"),
        (rest, "encoded_form_not_applied"),
        (100 * sum(hours) + sum(minutes), "encoded_form_not_applied"),
        (sum(hours) + sum(minutes), "encoded_form_not_applied"),
        (total - 60, "other"),
        (total + 60, "other"),
        (Fraction(total, 60), "encoded_form_not_applied"),
    ]
    return Draft(told.text, total, rules, lures)


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


@family("explicit", ("dimension", "modular", "bound"), "change told in cents")
def change_in_cents(rng: Random, level: Level) -> Draft | None:
    """Ask for change in cents where prices are told in dollars."""
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
    told = tell(
        rng,
        _CHANGE,
        goods=" and ".join(filter(None, (", ".join(goods[:-1]), goods[-1]))),
        note=note,
        name=rng.choice(NAMES),
    )
    rules = [
        gold("dimension", "the change is told in whole cents", integer(), told.span("unit")),
        gold("modular", "every price is a multiple of 5 cents, so is the change", divisible(5)),
        gold(
            "bound",
            "the prices, rounded to whole dollars, bound the change",
            between(100 * (note - dear), 100 * (note - cheap)),
        ),
    ]
    lures: Lures = [
        (decimal(Fraction(answer, 100), 2), "encoded_form_not_applied"),
        (cost, "misled_by_cue"),
        (decimal(Fraction(cost, 100), 2), "encoded_form_not_applied"),
        (100 * note - sum(prices), "other"),
        (100 * note - prices[0] * amounts[0], "other"),
        (answer % 100, "encoded_form_not_applied"),
        (answer + 100, "other"),
        (answer - 100, "other"),
    ]
    return Draft(told.text, answer, rules, lures)


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


@family("explicit", ("dimension", "modular"), "equal lengths in m and cm, told in cm")
def pieces_in_centimetres(rng: Random, level: Level) -> Draft:
    """Ask for the length of several equal pieces in centimetres."""
    n = rng.choice(((2, 3, 4, 5), (3, 4, 6, 7, 8), (17, 18, 19, 23, 27, 34))[level - 1])
    m = rng.randrange(1, 3 + 2 * level)
    cm = rng.randrange(10, 60, 10) if level == 1 else rng.randrange(3, 98)
    each = 100 * m + cm
    answer = agree(n * each, sum(each for _ in range(n)))
    told = tell(rng, _PIECES, n=n, m=m, cm=cm, name=rng.choice(NAMES))
    rules = [
        gold(
            "dimension",
            "the length is told in centimetres, and a piece is not longer than the next metre",
            measured("centimetres", 100 * m * n + 1, 100 * (m + 1) * n - 1),
            told.span("unit"),
        ),
        gold("modular", f"{n} pieces of whole centimetres make a multiple of {n}", divisible(n)),
    ]
    lures: Lures = [
        (decimal(Fraction(answer, 100), 2), "encoded_form_not_applied"),
        (each, "encoded_form_not_applied"),
        (n * (m + cm), "encoded_form_not_applied"),
        (n * m + cm, "encoded_form_not_applied"),
        (100 * n * m + cm, "other"),
        (100 * m + n * cm, "other"),
        (n * (10 * m + cm), "encoded_form_not_applied"),
        (n * (1000 * m + cm), "encoded_form_not_applied"),
        (100 * n * m, "other"),
        (answer + each, "out_of_range"),
    ]
    return Draft(told.text, answer, rules, lures)


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


@family("explicit", ("format", "bound"), "a quotient cut off after a decimal place, not rounded")
def truncated_quotient(rng: Random, level: Level) -> Draft | None:
    """Ask for a quotient cut off where rounding would go up."""
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
    told = tell(rng, _CUT, a=a, b=b, place=place, name=rng.choice(NAMES))
    rules = [
        gold("format", f"there is no digit after {place}", decimals(places), told.span("cut")),
        gold(
            "bound",
            "cutting off never gives more than the quotient, and takes off little",
            between(value - 2, value),
        ),
    ]
    lures: Lures = [
        (_rounded(value, places), "encoded_form_not_applied"),
        (_rounded(value, places + 1), "encoded_form_not_applied"),
        (_cut(value, places + 1), "encoded_form_not_applied"),
        (_rounded(value, places + 2), "encoded_form_not_applied"),
        (a // b, "encoded_form_not_applied"),
        (round(value), "encoded_form_not_applied"),
        (_cut(value, 1), "encoded_form_not_applied"),
        (value, "encoded_form_not_applied"),
        (a % b, "misled_by_cue"),
        (a // b + 2, "arithmetic"),
    ]
    return Draft(told.text, answer, rules, lures, "decimal" if places else "integer")


def _rounded(value: Fraction, places: int) -> str:
    return _cut(value + Fraction(1, 2 * int("1" + "0" * places)), places)


def _cut(value: Fraction, places: int) -> str:
    scale = int("1" + "0" * places)  # int ** int may be a float, says its type
    return decimal(Fraction(floor(value * scale), scale), places)


FAMILIES = (total_in_minutes, change_in_cents, pieces_in_centimetres, truncated_quotient)
