"""Explicit tier, totals: rounded, rounded down, of chosen numbers only. The text says which."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from cfr.benchmark.constraintbench.families.phrase import NAMES, listed, tell
from cfr.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from cfr.benchmark.constraintbench.item import Level
from cfr.constraint.demand import above, below, between, divisible

__all__ = ["FAMILIES"]

_NEAREST = (
    r"Add $<sum>$ and «round:round the total to the nearest multiple of $<unit>$». What number do "
    r"you get?",
    r"What is $<sum>$, «round:rounded to the nearest multiple of $<unit>$»?",
    r"A theatre sold <sold> tickets on <days> evenings. Its manager reports the total «round:to "
    r"the nearest $<unit>$ tickets». What number does the manager report?",
    r"<name> counts visitors at a museum and notes <sold> of them on <days> days. In the yearly "
    r"summary the total is «round:rounded to the nearest $<unit>$». Which number is printed there?",
    r"«round:To the nearest multiple of $<unit>$», how many kilometres long is a tour whose <days> "
    r"stages measure <sold> kilometres?",
    r"The <days> trucks at a quarry carry loads of <sold> kilograms. <name> enters the total load "
    r"in the log, «round:rounded to the nearest $<unit>$ kilograms». What does <name> enter?",
    r"<name>'s water meter counted <sold> litres in <days> weeks. Find the total number of litres, "
    r"«round:rounded to the nearest $<unit>$».",
    r"A newspaper «round:rounds every total to the nearest multiple of $<unit>$». In <days> towns "
    r"<sold> people signed a petition. Which total does the newspaper print?",
    r"Give your answer «round:as the nearest multiple of $<unit>$»: how many bricks are there in "
    r"<days> piles that hold <sold> bricks?",
)
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@family("explicit", ("format", "bound"), "a total rounded to the nearest multiple of 10, 25, 50")
def nearest_multiple(rng: Random, level: Level) -> Draft | None:
    """Ask for a rounded total, where the total itself is the tempting answer."""
    count, least, most, unit = {1: (2, 11, 290, 10), 2: (3, 31, 950, rng.choice((10, 50)))}.get(
        level, (6, 112, 980, rng.choice((25, 40)))
    )
    terms = [rng.randrange(least, most) for _ in range(count)]
    total = sum(terms)
    if total % unit in (0, unit / 2) or any(term % unit == 0 for term in terms):
        return None
    down = total - total % unit
    answer = agree(
        (2 * total + unit) // (2 * unit) * unit,
        min((down, down + unit), key=lambda end: abs(end - total)),
    )
    each = sum((2 * term + unit) // (2 * unit) * unit for term in terms)
    told = tell(
        rng,
        _NEAREST,
        sum=" + ".join(map(str, terms)),
        sold=listed(terms),
        days=_WORDS[count],
        unit=unit,
        name=rng.choice(NAMES),
    )
    low, high = _estimate(terms)
    rules = [
        gold("format", f"the answer is a multiple of {unit}", divisible(unit), told.span("round")),
        gold(
            "bound", "the numbers rounded to tens bound the total", between(low - unit, high + unit)
        ),
    ]
    lures: Lures = [
        (total, "encoded_form_not_applied"),
        (2 * down + unit - answer, "encoded_form_not_applied"),
        (each, "encoded_form_not_applied"),
        ((total + 5) // 10 * 10, "encoded_form_not_applied"),
        ((total + 50) // 100 * 100, "encoded_form_not_applied"),
        (answer // unit, "encoded_form_not_applied"),
        (total % unit, "misled_by_cue"),
    ]
    return Draft(told.text, answer, rules, lures)


def _estimate(terms: Sequence[int]) -> tuple[int, int]:
    """Bound a sum by its terms rounded down and up to tens."""
    low = sum(term // 10 * 10 for term in terms)
    return low, low + 10 * len(terms)


_FULL_ONE = (
    r"Find «multiple:the largest multiple of $<k>$» that is not greater than $<sum>$.",
    r"What is «multiple:the greatest multiple of $<k>$» that is at most $<sum>$?",
    r"<name> has $<sum>$ apples and packs them in crates. «multiple:Each crate must hold exactly "
    r"$<k>$ apples.» <name> fills as many crates as possible. How many apples are in the crates?",
    r"«multiple:Stickers are pasted only in complete pages of $<k>$.» <name> has $<sum>$ stickers. "
    r"How many of the stickers are pasted?",
    r"How many of $<sum>$ screws can be packed, if «multiple:every packet must contain exactly "
    r"$<k>$ screws»?",
    r"$<sum>$ singers want to stand «multiple:in complete rows of $<k>$», as many of them as "
    r"possible. How many singers stand in the rows?",
    r"<name> counts upward «multiple:in steps of $<k>$», starting at $0$, and stops before going "
    r"above $<sum>$. What is the last number that <name> says?",
    r"A bakery baked $<sum>$ rolls and delivers them «multiple:only in full trays of $<k>$»; the "
    r"rest stay behind. How many rolls are delivered?",
)
_FULL = (
    r"Find «multiple:the largest multiple of $<k>$» that is not greater than $<sum>$.",
    r"What is «multiple:the greatest multiple of $<k>$» that does not exceed $<sum>$?",
    r"<name> picks <parts> apples on <days> days and fills crates with all of them together. Each "
    r"crate holds exactly $<k>$ apples, and «multiple:only full crates are sold». How many apples "
    r"are sold?",
    r"«multiple:Stickers are pasted only in complete pages of $<k>$.» <name> puts together <days> "
    r"envelopes with <parts> stickers. How many of the stickers are pasted?",
    r"How many of the screws from <days> bins, which hold <parts> screws, can be packed if "
    r"«multiple:every packet must contain exactly $<k>$ screws» and the bins may be mixed?",
    r"A choir director gathers the singers of <days> schools, <parts> of them, and lines up as "
    r"many as possible «multiple:in complete rows of $<k>$». How many singers stand in the rows?",
    r"<name> adds $<sum>$ and then «multiple:lowers the result to the nearest multiple of $<k>$ "
    r"that is not above it». Which number does <name> end with?",
    r"A bakery baked <parts> rolls in <days> batches. The rolls are mixed and delivered "
    r"«multiple:in full trays of $<k>$»; the rest stay behind. How many rolls are delivered?",
    r"Tiles come from <days> stacks of <parts> tiles. <name> lays «multiple:complete rows of $<k>$ "
    r"tiles» until no further row can be completed. How many tiles has <name> laid?",
)


@family("explicit", ("modular", "bound"), "the part of a total that fills whole groups")
def full_groups_total(rng: Random, level: Level) -> Draft | None:
    """Ask for the largest multiple that a total reaches; the total itself is the trap."""
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
    told = tell(
        rng,
        _FULL_ONE if level == 1 else _FULL,
        sum=" + ".join(map(str, terms)),
        parts=listed(terms),
        days=_WORDS[count],
        k=k,
        name=rng.choice(NAMES),
    )
    low, high = _estimate(terms)
    rules = [
        gold("modular", f"the answer is a multiple of {k}", divisible(k), told.span("multiple")),
        gold("bound", "the numbers rounded to tens bound the total", between(low - k + 1, high)),
    ]
    lures: Lures = [
        (total, "broken_condition"),
        (total // k, "encoded_form_not_applied"),
        (total % k, "misled_by_cue"),
        (answer + k, "out_of_range"),
        (each, "other"),
        (answer - k, "out_of_range"),
        (answer // k + 1, "encoded_form_not_applied"),
        (k - total % k, "misled_by_cue"),
    ]
    return Draft(told.text, answer, rules, lures)


_CHOSEN = (
    r"Add up «which:only those of the numbers <list> that are divisible by $<k>$». What is the "
    r"sum?",
    r"Here is a list: <list>. What is the sum of «which:the numbers in the list that are multiples "
    r"of $<k>$»?",
    r"<name> has number cards that show <list>. <name> keeps «which:only the cards whose numbers "
    r"are multiples of $<k>$» and adds up the numbers kept. What total does <name> get?",
    r"What do «which:the multiples of $<k>$» among <list> add up to?",
    r"Raffle tickets with the numbers <list> were sold. «which:A ticket wins if its number is "
    r"divisible by $<k>$.» Find the sum of the numbers on the winning tickets.",
    r"In a game, «which:a throw scores only if it is a multiple of $<k>$»; all other throws count "
    r"nothing. <name>'s throws are <list>. How many points does <name> score altogether?",
    r"The lockers in a hallway are numbered <list>. <name> paints «which:every locker whose number "
    r"$<k>$ divides» and leaves the others alone. What is the sum of the painted numbers?",
    r"Cross out «which:every number that is not a multiple of $<k>$» in the list <list>, and add "
    r"the numbers that remain. What is the result?",
)


@family("explicit", ("modular", "bound"), "the sum of the multiples in a list")
def sum_of_multiples(rng: Random, level: Level) -> Draft | None:
    """Ask for the sum of some numbers of a list; the others are there to be left out."""
    size, chosen, high, k = {
        1: (4, 2, 110, rng.choice((3, 4, 5, 10))),
        2: (6, 3, 90, rng.choice((4, 5, 6))),
    }.get(level, (9, 4, 160, rng.choice((7, 8, 9, 12))))
    inside = rng.sample([n for n in range(2 * k, high) if n % k == 0], chosen)
    outside = rng.sample([n for n in range(2 * k, high) if n % k], size - chosen)
    numbers = inside + outside
    rng.shuffle(numbers)
    answer = agree(sum(inside), k * sum(n // k for n in numbers if n // k * k == n))
    told = tell(rng, _CHOSEN, list=listed(numbers), k=k, name=rng.choice(NAMES))
    rules = [
        gold("modular", f"a sum of multiples of {k} is one", divisible(k), told.span("which")),
        gold("bound", "it is less than the sum of the whole list", below(sum(numbers))),
    ]
    near = rng.choice(outside)
    lures: Lures = [
        (sum(numbers), "broken_condition"),
        (sum(outside), "broken_condition"),
        (chosen, "encoded_form_not_applied"),
        (answer + near, "broken_condition"),
        *[(answer - n, "other") for n in inside],
        (answer // k, "encoded_form_not_applied"),
    ]
    return Draft(told.text, answer, rules, lures)


_BETWEEN = (
    r"Find the sum of all multiples of $<k>$ that are «strict:greater than $<low>$ and less than "
    r"$<high>$».",
    r"What is the sum of the multiples of $<k>$ that lie «strict:strictly between $<low>$ and "
    r"$<high>$»?",
    r"<name> writes down every multiple of $<k>$ «strict:between $<low>$ and $<high>$, leaving out "
    r"$<low>$ and $<high>$ themselves», and adds the numbers up. What is the total?",
    r"A tram passes a stop every $<k>$ minutes, starting at minute $0$. <name> notes the minute of "
    r"each tram that passes «strict:after minute $<low>$ and before minute $<high>$» and adds "
    r"these numbers. What sum does <name> get?",
    r"Houses on a street carry the multiples of $<k>$ as numbers. What is the sum of the house "
    r"numbers «strict:above $<low>$ and below $<high>$, both excluded»?",
    r"«strict:Neither $<low>$ nor $<high>$ is to be counted.» What do the multiples of $<k>$ from "
    r"$<low>$ to $<high>$ add up to?",
    r"Mile posts stand at every multiple of $<k>$ miles. <name> drives from mile $<low>$ to mile "
    r"$<high>$ and adds the numbers on the posts passed on the way, «strict:without the posts at "
    r"the two ends». Find the sum.",
    r"How much is the sum of all integers $n$ with «strict:$<low> \lt n \lt <high>$» that are "
    r"divisible by $<k>$?",
)


@family("explicit", ("modular", "bound"), "the sum of the multiples strictly between two multiples")
def strictly_between_sum(rng: Random, level: Level) -> Draft:
    """Ask for a sum over an open range whose ends would belong to it if it were closed."""
    count, k = {1: (2, rng.randrange(3, 13)), 2: (3, rng.randrange(3, 15))}.get(
        level, (rng.randrange(5, 8), rng.randrange(8, 22))
    )
    first = rng.randrange(2, 10)
    low, high = first * k, (first + count + 1) * k
    by_formula = k * (first * count + count * (count + 1) // 2)
    answer = agree(by_formula, sum(n for n in range(low + 1, high) if n % k == 0))
    told = tell(rng, _BETWEEN, k=k, low=low, high=high, name=rng.choice(NAMES))
    rules = [
        gold("modular", f"a sum of multiples of {k} is a multiple of {k}", divisible(k)),
        gold(
            "bound",
            f"several numbers above {low} are added",
            above(2 * low),
            told.span("strict"),
        ),
    ]
    lures: Lures = [
        (answer + low + high, "out_of_range"),
        (answer + low, "out_of_range"),
        (answer + high, "out_of_range"),
        (count, "encoded_form_not_applied"),
        (sum(range(low + 1, high)), "broken_condition"),
        (sum(range(low, high + 1)), "broken_condition"),
        (answer - high + k, "out_of_range"),
        (answer - low - k, "out_of_range"),
        (k * count * (count + 1) // 2, "other"),
    ]
    return Draft(told.text, answer, rules, lures)


FAMILIES = (nearest_multiple, full_groups_total, sum_of_multiples, strictly_between_sum)
