"""Explicit tier, counts: without some, each pair once, both days included, nobody twice."""

from __future__ import annotations

from datetime import date
from itertools import combinations
from random import Random

from cfr.benchmark.constraintbench.families.phrase import NAMES, listed, tell
from cfr.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from cfr.benchmark.constraintbench.item import Level
from cfr.constraint.demand import between, divisible, integer

__all__ = ["FAMILIES"]

_WITHOUT = (
    r"How many integers from $<low>$ to $<high>$ (both included) are «not:not divisible by $<k>$»?",
    r"<name> writes the integers from $<low>$ to $<high>$ on the board and «not:wipes out all "
    r"multiples of $<k>$». How many numbers are left?",
    r"Find the number of integers $n$ with $<low> \le n \le <high>$ that «not:are not multiples of "
    r"$<k>$».",
    r"Seats $<low>$ to $<high>$ of a hall are free, but «not:seats whose number is a multiple of "
    r"$<k>$ may not be sold». How many of these seats may be sold?",
    r"«not:Every house whose number is divisible by $<k>$ is skipped.» <name> delivers one paper "
    r"to each other house with a number from $<low>$ to $<high>$. How many papers does <name> "
    r"deliver?",
    r"Tickets $<low>$ to $<high>$ go into a hat, «not:except those whose number is divisible by "
    r"$<k>$». How many tickets go into the hat?",
    r"In a counting game the players say the numbers from $<low>$ to $<high>$ in turn, but "
    r"«not:clap instead of saying a multiple of $<k>$». How many numbers are said aloud?",
    r"How many pages of a chapter that runs from page $<low>$ to page $<high>$ have no picture, if "
    r"«not:exactly the pages whose number is a multiple of $<k>$ have one»?",
)


@family("explicit", ("domain", "bound"), "how many numbers of a range are not multiples")
def count_without(rng: Random, level: Level) -> Draft | None:
    """Count the numbers of a range without the multiples of one number."""
    low = 1 if level == 1 else rng.randrange(11, 60 * level)
    k = rng.choice(((3, 4, 5, 6, 10), (4, 6, 7, 8), (7, 9, 11, 12, 13))[level - 1])
    size = rng.randrange(18, 60) if level == 1 else rng.randrange(30, 50 + 60 * level)
    high = low + size - 1
    listing = sum(n % k != 0 for n in range(low, high + 1))
    multiples = high // k - (low - 1) // k
    answer = agree(size - multiples, listing)
    if multiples == answer:
        return None
    told = tell(rng, _WITHOUT, low=low, high=high, k=k, name=rng.choice(NAMES))
    about = size - size // k
    rules = [
        gold("domain", "the answer is a count", integer()),
        gold(
            "bound",
            f"about one in {k} of the {size} numbers is left out",
            between(about - 2, about + 1),
            told.span("not"),
        ),
    ]
    lures: Lures = [
        (multiples, "misled_by_cue"),
        (size, "out_of_range"),
        (answer - 1, "out_of_range"),
        (answer + 1, "out_of_range"),
        (high - multiples, "out_of_range"),
        (high - high // k, "out_of_range"),
        (high - low - size // k, "out_of_range"),
        (size - 1, "out_of_range"),
        (f"{size - size / k:.1f}" if size * 10 % k else size * 10, "not_an_integer"),
        (sum(n for n in range(low, high + 1) if n % k), "encoded_form_not_applied"),
    ]
    return Draft(told.text, answer, rules, lures)


_PAIRS = (
    r"In <groups> there are <sizes> <people>. «once:Everyone shakes hands exactly once with "
    r"everyone else in the same <group>», and with nobody outside it. How many handshakes are "
    r"there?",
    r"A league has <groups> with <sizes> teams. «once:Within each <group>, every two teams meet in "
    r"exactly one match.» How many matches are played altogether?",
    r"How many phone calls are made if <groups> of <sizes> friends are formed and «once:every two "
    r"friends in the same <group> talk exactly once»?",
    r"<name> draws <groups> of <sizes> dots and «once:joins every two dots of the same <group> by "
    r"one line». How many lines does <name> draw?",
    r"At a chess evening <groups> of <sizes> players are made up. «once:Each player plays one game "
    r"against each other player of the same <group>.» Find the total number of games.",
    r"«once:Each pair in the same <group> exchanges a single photograph.» There are <groups>, with "
    r"<sizes> hikers. How many photographs are exchanged?",
    r"Cities lie on <groups> of islands, <sizes> cities on each in turn. «once:A ferry line links "
    r"every two cities of the same <group>», and each line is counted once. How many ferry lines "
    r"are there?",
    r"<name> compares colours: <groups> hold <sizes> samples, and «once:each sample is compared "
    r"once with each other sample of its <group>». How many comparisons does <name> make?",
)


@family("explicit", ("structure", "bound"), "pairs in groups, each pair counted once")
def pairs_once(rng: Random, level: Level) -> Draft | None:
    """Count pairs inside groups; counting each twice, or across groups, is the trap."""
    count = (2, 3, 4)[level - 1]
    sizes = [rng.randrange(3, 9 + 4 * level) for _ in range(count)]
    if len(set(sizes)) < count:
        return None
    listing = sum(len(list(combinations(range(size), 2))) for size in sizes)
    answer = agree(sum(size * (size - 1) for size in sizes) // 2, listing)
    total = sum(sizes)
    word = ("two", "three", "four")[count - 2]
    told = tell(
        rng,
        _PAIRS,
        groups=f"{word} groups",
        group="group",
        sizes=listed(sizes),
        people="people",
        name=rng.choice(NAMES),
    )
    rules = [
        gold(
            "structure",
            "every pair is counted once, so there are fewer than all pairs of the people together",
            between(total - count, total * (total - 1) // 2 - 1),
            told.span("once"),
        ),
        gold(
            "bound",
            "each group of s gives at least s - 1 and at most as many pairs as the largest group",
            between(sum(size - 1 for size in sizes), count * max(sizes) * (max(sizes) - 1) // 2),
        ),
    ]
    lures: Lures = [
        (2 * answer, "other"),
        (total * (total - 1) // 2, "out_of_range"),
        (sum(size * size for size in sizes), "other"),
        (sum(size * (size + 1) // 2 for size in sizes), "other"),
        (total * (total - 1), "out_of_range"),
        (total, "misled_by_cue"),
        (sum(size - 1 for size in sizes), "other"),
        (sizes[0] * sizes[1], "other"),
        (sizes[0] * (sizes[0] - 1) // 2, "encoded_form_not_applied"),
        (total - count - 1, "out_of_range"),
    ]
    return Draft(told.text, answer, rules, lures)


_DAYS = (
    r"A museum shows an exhibition from <first> to <last> of the same year, «both:the first and "
    r"the last day included». On how many days is it open?",
    r"<name> takes a tablet every day from <first> to <last>, «both:on both of these days too». "
    r"How many tablets does <name> take in that year?",
    r"How many days are there from <first> to <last> of the same year, «both:counting both of "
    r"these days»?",
    r"A ski pass is valid from <first> until <last> of one winter's year, «both:both dates "
    r"inclusive». For how many days is it valid?",
    r"From <first> to <last> of the same year <name> writes one page in a diary each day, "
    r"«both:including the first and the last of these days». How many pages does <name> fill?",
    r"«both:Both the day of arrival and the day of departure are charged» at a campsite. <name> "
    r"arrives on <first> and leaves on <last> of the same year. How many days are charged?",
    r"The road is closed from <first> up to and «both:including <last>», beginning with the first "
    r"of these days. For how many days of the year is it closed?",
    r"On each day from <first> to <last> a baker tries one new recipe, «both:starting on the first "
    r"date and ending on the second». How many recipes are tried, all in one year?",
)
_MONTHS = (
    ("March", 31, 3), ("April", 30, 4), ("May", 31, 5), ("June", 30, 6), ("July", 31, 7),
    ("August", 31, 8), ("September", 30, 9), ("October", 31, 10), ("November", 30, 11),
    ("December", 31, 12),
)  # fmt: skip


@family("explicit", ("bound", "domain"), "days from one date to another, both included")
def inclusive_days(rng: Random, level: Level) -> Draft | None:
    """Count the days of a span with both its ends."""
    start = rng.randrange(len(_MONTHS) - level + (level == 1))
    end = start + (0, 1, 2)[level - 1]
    if level == 3:
        end = min(start + rng.choice((2, 3)), len(_MONTHS) - 1)
    first, last = rng.randrange(2, 29), rng.randrange(2, 30)
    if level == 1:
        length = rng.randrange(4, 27)
        first = rng.randrange(2, 31 - length)
        last = first + length - 1
    months = _MONTHS[start : end + 1]
    days = (date(2027, months[-1][2], last) - date(2027, months[0][2], first)).days + 1
    by_months = sum(month[1] for month in months[:-1]) - first + last + 1
    answer = agree(days, by_months)
    if answer < 3:
        return None
    told = tell(
        rng,
        _DAYS,
        first=f"${first}$ {months[0][0]}",
        last=f"${last}$ {months[-1][0]}",
        name=rng.choice(NAMES),
    )
    whole = sum(month[1] for month in months[1:-1])
    rules = [
        gold("domain", "the answer is a count of days", integer()),
        gold(
            "bound",
            "the span lies within the months named",
            between(
                2 if level == 1 else whole + last + 1,
                sum(month[1] for month in months) - first + 1,
            ),
            told.span("both"),
        ),
    ]
    thirty = 30 * (len(months) - 1) + last - first
    lures: Lures = [
        (answer - 1, "out_of_range"),
        (answer - 2, "out_of_range"),
        (answer + 1, "out_of_range"),
        (thirty + 1, "other"),
        (thirty, "other"),
        (31 * (len(months) - 1) + last - first + 1, "other"),
        (abs(last - first) + 1, "other"),
        (abs(last - first), "other"),
        (first + last, "misled_by_cue"),
        (f"{answer}.5", "not_an_integer"),
    ]
    return Draft(told.text, answer, rules, lures)


_FEE = (
    r"<sizes> children go to <clubs>, and $<both>$ children go to two of these clubs (nobody goes "
    r"to more than two). «once:Every child pays the fee of $<fee>$ dollars only once.» How many "
    r"dollars are paid altogether?",
    r"A school offers <clubs>, with <sizes> members. «once:Each child gets exactly one T-shirt, "
    r"also the $<both>$ children who belong to two clubs»; none belongs to more than two. A "
    r"T-shirt costs $<fee>$ dollars. What do the T-shirts cost in dollars?",
    r"The lists of <clubs> carry <sizes> names. $<both>$ people stand on two lists and nobody on "
    r"more. <name> sends every person one letter, «once:never two to the same person». Each letter "
    r"takes $<fee>$ sheets. How many sheets are used?",
    r"<clubs> have <sizes> members, and $<both>$ of these people are members of two. No one is in "
    r"more than two. «once:Counting every person only once», how many sandwiches are needed so "
    r"that each person gets $<fee>$?",
    r"For an outing of <clubs> each person needs one ticket, «once:no matter in how many clubs he "
    r"or she is». The clubs have <sizes> members; $<both>$ people are in two clubs, nobody in "
    r"more. A ticket costs $<fee>$ dollars. What is the total price in dollars?",
    r"«once:Nobody is to be counted twice.» <clubs> have <sizes> members, $<both>$ people are in "
    r"exactly two of these clubs and the others in one. If every person plants $<fee>$ trees, how "
    r"many trees are planted?",
    r"How many dollars come in if every member of <clubs> gives $<fee>$ dollars, «once:and gives "
    r"it only once»? The clubs count <sizes> members, and $<both>$ people are counted in two of "
    r"them, none in more than two.",
    r"<name> prints $<fee>$ badges for each person in <clubs>, «once:one set for each person, even "
    r"for somebody who is in two clubs». There are <sizes> names on the lists of the clubs; "
    r"$<both>$ people are on two lists and nobody is on more. How many badges does <name> print?",
)
_CLUBS = ("chess", "choir", "drama", "judo", "robot", "garden", "film")


@family("explicit", ("modular", "bound"), "people of overlapping clubs, each counted once")
def counted_once(rng: Random, level: Level) -> Draft | None:
    """Ask for a total over people of whom some stand on two lists."""
    count, high, fee = (
        (2, 25, rng.randrange(2, 8)),
        (3, 40, rng.randrange(3, 10)),
        (4, 90, rng.randrange(6, 19)),
    )[level - 1]
    sizes = [rng.randrange(high // 3, high) for _ in range(count)]
    both = rng.randrange(2, min(sizes) - 1)
    total = sum(sizes)
    people = total - both
    answer = agree(fee * people, sum(fee for _ in range(total - 2 * both)) + fee * both)
    names = rng.sample(_CLUBS, count)
    clubs = f"the {', '.join(names[:-1])} and {names[-1]} clubs"
    told = tell(
        rng, _FEE, sizes=listed(sizes), clubs=clubs, both=both, fee=fee, name=rng.choice(NAMES)
    )
    rules = [
        gold(
            "modular",
            f"every person counts {fee}, so the answer is a multiple of {fee}",
            divisible(fee),
        ),
        gold(
            "bound",
            "there are fewer people than names on the lists",
            between(fee * max(sizes), fee * (total - 1)),
            told.span("once"),
        ),
    ]
    lures: Lures = [
        (fee * total, "out_of_range"),
        (people, "encoded_form_not_applied"),
        (fee * (total - 2 * both), "other"),
        (fee * (total + both), "out_of_range"),
        (total, "encoded_form_not_applied"),
        (fee * both, "misled_by_cue"),
        (fee * total - both, "other"),
        (fee * (total - count * both), "other"),
        (total - 2 * both, "encoded_form_not_applied"),
    ]
    return Draft(told.text[0].upper() + told.text[1:], answer, rules, lures)


FAMILIES = (count_without, pairs_once, inclusive_days, counted_once)
