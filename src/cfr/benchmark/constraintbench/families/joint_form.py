"""Joint tier, forms: a code or a rounding on top of another demand."""

from __future__ import annotations

from fractions import Fraction
from math import comb, floor
from random import Random

from cfr.answer.expression.value import decimal
from cfr.benchmark.constraintbench.families.chance import all_good, lowest_terms
from cfr.benchmark.constraintbench.families.phrase import NAMES, tell
from cfr.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from cfr.benchmark.constraintbench.item import Level
from cfr.constraint.demand import (
    between,
    encoded,
    integer,
    least_residue,
    measured,
    rounded,
)

__all__ = ["FAMILIES"]

_CODED = (
    r"<story> «code:This probability is $\frac{m}{n}$, where $m$ and $n$ are relatively prime "
    r"positive integers.» «mod:Find the remainder when $m+n$ is divided by $<k>$.»",
    r"<story> «code:Write that probability as $\frac{m}{n}$ in lowest terms.» «mod:What is the "
    r"remainder of $m+n$ modulo $<k>$?»",
    r"<story> If the probability equals «code:$\frac{m}{n}$ with coprime positive integers $m$ "
    r"and $n$», compute «mod:$m+n$ modulo $<k>$, an integer from $0$ to $<top>$».",
    r"«mod:What remainder does $m+n$ leave on division by $<k>$», if «code:$\frac{m}{n}$, in "
    r"lowest terms, is the probability» described here? <story>",
)
_STORIES = (
    r"A tray holds ${a}$ plain and ${b}$ filled biscuits, and {name} takes {c} at random. "
    r"Consider the probability that {all} plain.",
    r"Among ${total}$ keys, ${a}$ open a certain door. {name} picks {c} at random. We look at the "
    r"probability that {all} for this door.",
    r"From a team of ${a}$ runners and ${b}$ swimmers, {people} drawn by lot. We look at the "
    r"probability that {all} from among the runners.",
    r"{name} has ${a}$ red and ${b}$ grey socks in a drawer and pulls out {c} in the dark. "
    r"Consider the probability that {all} red.",
)


@family("joint", ("modular", "structure", "format"), "m + n of a probability, then a remainder")
def encoded_remainder(rng: Random, level: Level) -> Draft | None:
    """Ask for m + n modulo k: lowest terms first, then the sum, then the reduction."""
    low, high, c = ((12, 70, 1), (7, 24, 2), (8, 22, 3))[level - 1]
    a, b = rng.randrange(low, high), rng.randrange(low, high)
    value = all_good(a, a + b, c)
    m, n = agree((value.numerator, value.denominator), lowest_terms(comb(a, c), comb(a + b, c)))
    k = rng.randrange(*((17, 40), (23, 48), (31, 60))[level - 1])
    unreduced = comb(a, c) + comb(a + b, c)
    if m + n < k or (m + n) % k == unreduced % k:
        return None
    answer = agree((m + n) % k, (m % k + n % k) % k)
    words = {
        "c": ("one of them", "two of them", "three of them")[c - 1],
        "all": ("it is", "both are", "all three are")[c - 1],
        "people": ("one person is", "two people are", "three people are")[c - 1],
    }
    story = rng.choice(_STORIES).format(a=a, b=b, total=a + b, name=rng.choice(NAMES), **words)
    told = tell(rng, _CODED, story=story, k=k, top=k - 1)
    rules = [
        gold(
            "modular",
            f"the answer is a remainder on division by {k}",
            least_residue(k),
            told.span("mod"),
        ),
        gold(
            "structure",
            "m and n have no common factor",
            encoded("m+n", (m, n), k),
            told.span("code"),
            pins=True,
        ),
        gold("format", "the answer is an integer made from m and n", integer(), told.span("mod")),
    ]
    lures: Lures = [
        (m + n, "forgot_modular_reduction"),
        (unreduced % k, "encoded_form_not_applied"),
        (unreduced, "encoded_form_not_applied"),
        (value, "encoded_form_not_applied"),
        (m, "encoded_form_not_applied"),
        (n, "encoded_form_not_applied"),
        (m % k, "encoded_form_not_applied"),
        (n % k, "encoded_form_not_applied"),
        (m * n % k, "arithmetic"),
        ((m + n) // k, "misled_by_cue"),
    ]
    return Draft(told.text, answer, rules, lures)


_PERCENT = (
    r"Of the $<n>$ <things> in <place>, $<a>$ <quality>. «unit:That is $p$ percent of them.» "
    r"«round:Find $p$, rounded to the nearest integer.»",
    r"<name> checks $<n>$ <things> in <place> and finds that $<a>$ <quality>, «unit:which is $p$ "
    r"percent of the total». «round:What is $p$ to the nearest integer?»",
    r"«round:To the nearest whole number», «unit:how many percent» of the $<n>$ <things> in "
    r"<place> <quality>, if $<a>$ of them do?",
    r"In <place> there are $<n>$ <things>, of which $<a>$ <quality>. «unit:What percentage is "
    r"that», «round:rounded to the nearest whole number»?",
    r"<name> counts <things> in <place>: $<n>$ in all, and $<a>$ of them <quality>. «unit:Express "
    r"this share in percent» «round:and round it to the nearest integer».",
    r"Exactly $<a>$ of $<n>$ <things> in <place> <quality>. A report gives this share «unit:in "
    r"percent», «round:as the nearest integer». Which number stands in the report?",
    r"«unit:What percentage» of the <things> in <place> <quality>? There are $<n>$ <things>, and "
    r"$<a>$ of them do. «round:Give the nearest whole number.»",
    r"A survey of <place> finds $<n>$ <things>; $<a>$ of these <quality>. «unit:Find the "
    r"percentage of <things> that do so», «round:rounded to the nearest integer».",
)
_SETTINGS = (
    ("lanterns", "a street", "burn all night"),
    ("trees", "an orchard", "bear fruit this year"),
    ("letters", "an archive", "carry a date"),
    ("cups", "a cupboard", "match a saucer"),
    ("frogs", "a pond", "have a white throat"),
    ("songs", "a hymnal", "stand in a minor key"),
)


@family("joint", ("bound", "dimension", "format"), "a percentage, rounded to an integer")
def rounded_percent(rng: Random, level: Level) -> Draft | None:
    """Ask for a percentage as a rounded whole number."""
    n = rng.choice(
        ((30, 40, 60, 70, 80, 90), tuple(range(24, 99)), tuple(range(110, 990)))[level - 1]
    )
    a = rng.randrange(n // 10 + 1, 9 * n // 10)
    things, place, quality = rng.choice(_SETTINGS)
    share = Fraction(100 * a, n)
    if (2 * share).denominator == 1 or share - floor(share) < Fraction(1, 2):
        return None  # exact, disputable, or rounded down by mere truncation
    answer = agree(floor(share + Fraction(1, 2)), (200 * a + n) // (2 * n))
    told = tell(
        rng, _PERCENT, n=n, a=a, things=things, place=place, quality=quality, name=rng.choice(NAMES)
    )
    half = between(50, 100) if 2 * a > n else between(1, 50)
    rules = [
        gold(
            "dimension",
            "the answer is told in percent, so from 1 to 100 here",
            measured("percent", 1, 100),
            told.span("unit"),
        ),
        gold("bound", f"{a} is {'more' if 2 * a > n else 'less'} than half of {n}", half),
        gold("format", "the answer is an integer", integer(), told.span("round")),
        gold("format", "the nearest integer", rounded(share), told.span("round"), pins=True),
    ]
    lures: Lures = [
        (floor(share), "arithmetic"),
        (answer + 1, "arithmetic"),
        (decimal(Fraction(floor(share * 100), 100), 2), "not_an_integer"),
        (decimal(Fraction(floor(share * 10), 10), 1), "not_an_integer"),
        (decimal(Fraction(answer, 100), 2), "encoded_form_not_applied"),
        (100 - answer, "misled_by_cue"),
        (floor(Fraction(100 * n, a) + Fraction(1, 2)), "out_of_range"),
        (Fraction(a, n), "encoded_form_not_applied"),
    ]
    return Draft(told.text, answer, rules, lures)


FAMILIES = (encoded_remainder, rounded_percent)
