"""Joint tier, level 4: remainders, orders and sums of competition size, each with a condition."""

from __future__ import annotations

from itertools import count
from math import gcd, isqrt, lcm
from random import Random

from constraint_first.benchmark.constraintbench.families.phrase import NAMES, tell
from constraint_first.benchmark.constraintbench.family import Draft, Lures, agree, family, gold
from constraint_first.benchmark.constraintbench.item import Level
from constraint_first.constraint.demand import (
    above,
    at_least,
    between,
    congruent,
    digit_sum,
    divisible,
    integer,
    least_residue,
)

__all__ = ["FAMILIES"]

_LARGEST = (
    r"Find the largest «size:four-digit» integer that «one:leaves the remainder $<a>$ on division "
    r"by $<p>$», «two:the remainder $<b>$ on division by $<q>$», and has «sum:digit sum $<s>$».",
    r"What is the greatest «size:four-digit» number $n$ with «one:$n \equiv <a> \pmod{<p>}$» and "
    r"«two:$n \equiv <b> \pmod{<q>}$» «sum:whose digits add up to $<s>$»?",
    r"<name>'s code is «size:a number of four digits, the first of which is not $0$». «sum:The "
    r"digits have the sum $<s>$.» «one:Divided by $<p>$ it leaves $<a>$», «two:divided by $<q>$ "
    r"it leaves $<b>$», and no larger number has all these properties. Find the code.",
    r"«sum:The digits of an integer add up to $<s>$.» It has «size:exactly four digits», and it "
    r"is «one:$<a>$ more than a multiple of $<p>$» and «two:$<b>$ more than a multiple of $<q>$». "
    r"What is the largest value that it can have?",
    r"Among the «size:integers from $1000$ to $9999$» with «sum:digit sum $<s>$», determine the "
    r"largest that is «one:congruent to $<a>$ modulo $<p>$» and «two:congruent to $<b>$ modulo "
    r"$<q>$».",
    r"A library has «size:at least $1000$ and at most $9999$ books». «one:On shelves of $<p>$, "
    r"the last shelf gets $<a>$ books»; «two:on shelves of $<q>$, the last one gets $<b>$». "
    r"«sum:The digits of the number of books add up to $<s>$.» How many books can there be at "
    r"most?",
    r"Let $n$ be «size:a four-digit positive integer» such that «one:$n - <a>$ is divisible by "
    r"$<p>$», «two:$n - <b>$ is divisible by $<q>$», and «sum:the sum of the digits of $n$ is "
    r"$<s>$». Find the greatest possible $n$.",
    r"<name> lists all «size:four-digit» numbers with «sum:digit sum $<s>$» and strikes out those "
    r"that do not «one:leave remainder $<a>$ modulo $<p>$» or do not «two:leave remainder $<b>$ "
    r"modulo $<q>$». Which is the largest number that is left?",
)


@family(
    "joint",
    ("modular", "bound", "structure"),
    "the largest number with two remainders and a digit sum",
    levels=(4,),
)
def largest_with_digit_sum(rng: Random, level: Level) -> Draft | None:  # noqa: ARG001
    """Ask for the largest four-digit number with two remainders and a digit sum."""
    p, q = rng.sample((7, 8, 9, 11, 13, 15, 16, 17), 2)
    number = rng.randrange(1000, 10000)
    a, b, s = number % p, number % q, _digits(number)
    if gcd(p, q) > 1 or min(a, b) < 2 or not 9 < s < 28:
        return None
    by_descent = next(
        n for n in range(9999, 999, -1) if n % p == a and n % q == b and _digits(n) == s
    )
    first = next(n for n in range(b, p * q, q) if n % p == a)
    steps = [n for n in range(first, 10000, p * q) if n > 999 and _digits(n) == s]
    answer = agree(by_descent, steps[-1])
    if len(steps) < 2:
        return None
    told = tell(rng, _LARGEST, p=p, q=q, a=a, b=b, s=s, name=rng.choice(NAMES))
    rules = [
        gold("modular", f"it leaves {a} on division by {p}", congruent(a, p), told.span("one")),
        gold("modular", f"it leaves {b} on division by {q}", congruent(b, q), told.span("two")),
        gold("structure", f"its digits add up to {s}", digit_sum(s), told.span("sum")),
        gold("bound", "it has four digits", between(1000, 9999), told.span("size")),
    ]
    lures: Lures = [
        (first + p * q * ((9999 - first) // (p * q)), "broken_condition"),
        (
            next(n for n in range(9999, 0, -1) if n % p == a and _digits(n) == s),
            "broken_condition",
        ),
        (
            next(n for n in range(9999, 0, -1) if n % q == b and _digits(n) == s),
            "broken_condition",
        ),
        (steps[-2], "arithmetic"),
        (steps[0], "arithmetic"),
        (first + p * q * (10 + 10000 // (p * q)), "out_of_range"),
        (next(n for n in range(9999, 0, -1) if _digits(n) == s), "broken_condition"),
    ]
    return Draft(told.text, answer, rules, lures)


def _digits(number: int) -> int:
    return sum(map(int, str(number)))


_ORDER = (
    r"Find the least integer $n$ «least:greater than $<low>$» that is «mult:a multiple of $<k>$» "
    r"and for which «one:$<a>^n$ leaves the remainder $1$ on division by $<p>$» and «two:$<b>^n$ "
    r"leaves the remainder $1$ on division by $<q>$».",
    r"What is the smallest «mult:multiple $n$ of $<k>$» with «least:$n \ge <next>$», «one:$<a>^n "
    r"\equiv 1 \pmod{<p>}$» and «two:$<b>^n \equiv 1 \pmod{<q>}$»?",
    r"«one:The number $<a>^n - 1$ is divisible by $<p>$», and «two:$<b>^n - 1$ is divisible by "
    r"$<q>$», where $n$ is «mult:divisible by $<k>$» and «least:larger than $<low>$». Determine "
    r"the smallest such $n$.",
    r"<name> multiplies by $<a>$ again and again and keeps only the remainder modulo $<p>$, "
    r"starting with $1$; a friend does the same with $<b>$ modulo $<q>$. They stop after the same "
    r"number $n$ of multiplications, «least:more than $<low>$ of them». At that moment "
    r"«one:<name> has $1$» and «two:the friend has $1$», and $n$ is «mult:a multiple of $<k>$». "
    r"What is the least possible $n$?",
    r"Let $n$ be «least:an integer above $<low>$» such that «mult:$<k>$ divides $n$», «one:$<p>$ "
    r"divides $<a>^n - 1$» and «two:$<q>$ divides $<b>^n - 1$». Find the minimum of $n$.",
    r"Two wheels return to their starting marks: the first «one:after $n$ steps exactly if $<a>^n "
    r"\equiv 1$ modulo $<p>$», the second «two:exactly if $<b>^n \equiv 1$ modulo $<q>$». <name> "
    r"looks only at «mult:every $<k>$th step», and only «least:after step $<low>$». At which step "
    r"does <name> first see both wheels at their marks?",
    r"For how small an exponent $n$ «least:exceeding $<low>$» and «mult:divisible by $<k>$» do "
    r"both «one:$<a>^n \equiv 1 \pmod{<p>}$» and «two:$<b>^n \equiv 1 \pmod{<q>}$» hold?",
    r"Determine the smallest exponent $n$ with these properties: $n$ is «mult:a multiple of "
    r"$<k>$»; $n$ is «least:greater than $<low>$»; «one:$<p>$ divides $<a>^n - 1$»; «two:$<q>$ "
    r"divides $<b>^n - 1$».",
)


@family(
    "joint", ("modular", "bound"), "an exponent for two orders, a multiple and a bound", levels=(4,)
)
def common_exponent(rng: Random, level: Level) -> Draft | None:  # noqa: ARG001
    """Ask for the least exponent beyond a bound that fits two orders and a multiple."""
    p, q = rng.sample((11, 13, 17, 19, 23, 25, 27, 29, 31, 37, 41, 43, 47, 49), 2)
    a, b, k = rng.randrange(2, 10), rng.randrange(2, 10), rng.randrange(4, 27)
    low = rng.randrange(150, 5000)
    if gcd(a, p) > 1 or gcd(b, q) > 1:
        return None
    first, second = _order(a, p), _order(b, q)
    period = lcm(first, second)
    step = lcm(period, k)
    if min(first, second) < 4 or step in (period, k) or not 60 < step < 2500 or period < 20:
        return None
    by_testing = next(
        n for n in count(low + 1) if n % k == 0 and pow(a, n, p) == 1 and pow(b, n, q) == 1
    )
    answer = agree((low // step + 1) * step, by_testing)
    told = tell(rng, _ORDER, a=a, b=b, p=p, q=q, k=k, low=low, next=low + 1, name=rng.choice(NAMES))
    rules = [
        gold("modular", f"it is a multiple of {k}", divisible(k), told.span("mult")),
        gold("bound", f"it is greater than {low}", above(low), told.span("least")),
    ]
    lures: Lures = [
        ((low // period + 1) * period, "broken_condition"),
        ((low // lcm(first, k) + 1) * lcm(first, k), "broken_condition"),
        ((low // lcm(second, k) + 1) * lcm(second, k), "broken_condition"),
        (answer - step, "out_of_range"),
        (answer + step, "arithmetic"),
        (step, "out_of_range"),
        (low + 1, "broken_condition"),
        ((low // k + 1) * k, "broken_condition"),
    ]
    return Draft(told.text, answer, rules, lures)


def _order(base: int, modulus: int) -> int:
    return next(n for n in count(1) if pow(base, n, modulus) == 1)


_FLOOR = (
    r"Let $S$ be the sum of $\lfloor \sqrt{k} \rfloor$ over all «mult:multiples $k$ of $<m>$» "
    r"with $1 \le k \le <n>$. «mod:Find the remainder when $S$ is divided by $1000$.»",
    r"For each positive «mult:multiple of $<m>$» up to $<n>$, <name> writes down the greatest "
    r"integer whose square does not exceed it. «mod:What remainder does the sum of these integers "
    r"leave on division by $1000$?»",
    r"Compute $\sum \lfloor \sqrt{k} \rfloor$, where $k$ runs through the positive integers "
    r"«mult:divisible by $<m>$» that are at most $<n>$, and «mod:give the last three digits of "
    r"the result as an integer from $0$ to $999$».",
    r"«mod:Find, modulo $1000$,» the sum of $\lfloor \sqrt{<m>} \rfloor$, $\lfloor \sqrt{2 \cdot "
    r"<m>} \rfloor$, $\lfloor \sqrt{3 \cdot <m>} \rfloor$ and so on, «mult:over all multiples of "
    r"$<m>$» up to $<n>$. Answer with an integer from $0$ to $999$.",
    r"Squares of whole side length are cut out of sheets: a sheet of area $k$ gives a square of "
    r"side $\lfloor \sqrt{k} \rfloor$. <name> has one sheet of each area that is «mult:a multiple "
    r"of $<m>$» and at most $<n>$, and adds up the sides of all squares. «mod:What is the "
    r"remainder of the sum modulo $1000$?»",
    r"Define $f(k)$ as the largest integer $r$ with $r^2 \le k$. «mod:Determine the remainder "
    r"modulo $1000$» of the sum of $f(k)$ over all positive integers $k \le <n>$ that are "
    r"«mult:divisible by $<m>$».",
    r"«mod:What is the remainder, on division by $1000$,» of the sum of the integer parts of the "
    r"square roots of «mult:all positive multiples of $<m>$» that do not exceed $<n>$?",
    r"Adding up the numbers $\lfloor \sqrt{k} \rfloor$ for «mult:$k = <m>, <m2>, <m3>, \dots$, all "
    r"multiples of $<m>$» up to and including $<n>$ at most, one gets a number $S$. «mod:Find the "
    r"remainder when $S$ is divided by $1000$.»",
)


@family(
    "joint",
    ("modular", "domain"),
    "a sum of integer parts over multiples, then a remainder",
    levels=(4,),
)
def floor_root_sum(rng: Random, level: Level) -> Draft | None:  # noqa: ARG001
    """Ask for a sum of integer parts of roots over multiples, reduced."""
    m, n = rng.randrange(3, 12), rng.randrange(900, 5000)
    total = sum(isqrt(k) for k in range(m, n + 1, m))
    by_value = sum(
        r * (min(n, r * r + 2 * r) // m - (r * r - 1) // m) for r in range(1, isqrt(n) + 1)
    )
    answer = agree(total, by_value) % 1000
    if total < 1000:
        return None
    told = tell(rng, _FLOOR, m=m, n=n, m2=2 * m, m3=3 * m, name=rng.choice(NAMES))
    everything = sum(isqrt(k) for k in range(1, n + 1))
    rules = [
        gold("modular", "a remainder on division by 1000", least_residue(1000), told.span("mod")),
        gold("domain", "integer parts are added, so the answer is an integer", integer()),
    ]
    lures: Lures = [
        (total, "forgot_modular_reduction"),
        (everything % 1000, "arithmetic"),
        (everything, "broken_condition"),
        ((total + isqrt(n)) % 1000, "arithmetic"),
        (sum(int(k**0.5 + 0.5) for k in range(m, n + 1, m)) % 1000, "arithmetic"),
        (f"{total}/1000", "not_an_integer"),
    ]
    return Draft(told.text, answer, rules, lures)


_TOWER = (
    r"Find the smallest integer $x$ «least:not less than $<low>$» such that «one:$<a>x$ leaves "
    r"the remainder $<r>$ on division by $<p>$» and «two:$x^2$ leaves the remainder $<t>$ on "
    r"division by $<q>$».",
    r"What is the least integer «least:$x \ge <low>$» with «one:$<a>x \equiv <r> \pmod{<p>}$» and "
    r"«two:$x^2 \equiv <t> \pmod{<q>}$»?",
    r"<name> looks for an integer $x$, «least:at least $<low>$», for which «one:$<a>x - <r>$ is a "
    r"multiple of $<p>$» and «two:$x^2 - <t>$ is a multiple of $<q>$». Which is the smallest one?",
    r"«one:When $x$ is multiplied by $<a>$ and divided by $<p>$, the remainder is $<r>$»; "
    r"«two:when $x$ is squared and divided by $<q>$, the remainder is $<t>$». Find the smallest "
    r"such integer $x$ that is «least:$<low>$ or more».",
    r"Determine the minimum of all integers $x$ with «least:$x \ge <low>$», «two:$x^2 \equiv <t>$ "
    r"modulo $<q>$» and «one:$<a>x \equiv <r>$ modulo $<p>$».",
    r"A square array of $x$ rows and $x$ columns of seats «two:leaves $<t>$ seats over when the "
    r"seats are put in blocks of $<q>$»; «one:$<a>$ of its rows leave $<r>$ seats over in blocks "
    r"of $<p>$». There are «least:at least $<low>$ rows». What is the least possible number of "
    r"rows?",
    r"Let $x$ be «least:an integer from $<low>$ on» such that «one:$<p>$ divides $<a>x - <r>$» and "
    r"«two:$<q>$ divides $x^2 - <t>$». Find the least possible value of $x$.",
    r"How small can an integer $x$ be if «least:it is at least $<low>$», «one:$<a>x$ is $<r>$ "
    r"more than a multiple of $<p>$», and «two:its square is $<t>$ more than a multiple of $<q>$»?",
)


@family(
    "joint", ("modular", "bound"), "a linear and a quadratic congruence beyond a bound", levels=(4,)
)
def quadratic_congruence(rng: Random, level: Level) -> Draft | None:  # noqa: ARG001
    """Ask for the least number beyond a bound with a linear and a quadratic congruence."""
    p, q = rng.sample((11, 13, 17, 19, 23, 29), 2)
    a, root, residue = rng.randrange(2, 10), rng.randrange(4, q // 2 + 1), rng.randrange(1, p)
    r, t = a * residue % p, root * root % q
    low = rng.randrange(200, 900)
    by_testing = next(x for x in count(low) if a * x % p == r and x * x % q == t)
    inverse = pow(q, -1, p)
    both = [(y + q * ((residue - y) * inverse % p)) for y in (root, q - root)]
    answer = agree(min(x + -(-(low - x) // (p * q)) * p * q for x in both), by_testing)
    if answer == low or t == root or min(r, t) < 2:
        return None
    told = tell(rng, _TOWER, a=a, p=p, q=q, r=r, t=t, low=low, name=rng.choice(NAMES))
    rules = [
        gold(
            "modular",
            f"it leaves {residue} on division by {p}",
            congruent(residue, p),
            told.span("one"),
        ),
        gold("bound", f"it is at least {low}", at_least(low), told.span("least")),
    ]
    later = next(x for x in count(answer + 1) if a * x % p == r and x * x % q == t)
    lures: Lures = [
        (next(x for x in count(low) if a * x % p == r), "broken_condition"),
        (next(x for x in count(low) if x * x % q == t), "broken_condition"),
        (next(x for x in count(low) if x % p == r and x * x % q == t), "arithmetic"),
        (min(both), "out_of_range"),
        (later, "arithmetic"),
        (residue, "out_of_range"),
        (low, "broken_condition"),
    ]
    return Draft(told.text, answer, rules, lures)


FAMILIES = (largest_with_digit_sum, common_exponent, floor_root_sum, quadratic_congruence)
