"""Joint tier: several conditions fix the answer together."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import combinations, count, pairwise, product
from math import comb, gcd, isqrt, lcm, prod
from random import Random

from constraint_first.benchmark.constraintbench.family import (
    NAMES,
    Draft,
    Level,
    agree,
    family,
    joined,
    listed,
    lowest_terms,
)
from constraint_first.constraint.predicate import (
    above,
    all_of,
    at_least,
    at_most,
    below,
    between,
    congruent,
    digit_sum,
    divides,
    divisible,
    encoded,
    integer,
    least_residue,
    parity,
)

joint = partial(family, "joint")
hard = partial(family, "joint", levels=(4,))

# Joint tier, digits: a number that its digits and one more condition fix.


@joint(r"""a digit sum and what reversing does
- «size:A <size>-digit number» has «sum:digit sum $<s>$»<middle>. Written backwards, it becomes
  «swap:<more> by $<gap>$». Find the number.
- <name> types a price of «size:<size> digits» in the wrong order, from back to front, and
  «swap:gets a number that is <more> by $<gap>$». «sum:The digits of the right price add up to
  $<s>$»<middle>. What is the right price?
- Which «size:<size>-digit» number becomes «swap:<more> by $<gap>$» when the order of its digits is
  reversed, if «sum:the digits add up to $<s>$»<middle>?
- Reversing the digits of «size:a <size>-digit number» makes it «swap:<more> by $<gap>$». «sum:The
  sum of its digits is $<s>$»<middle>. What is the number?
- <name>'s room number has «size:<size> digits» with «sum:the sum $<s>$»<middle>. In a mirror, which
  turns the order of the digits round, <name> reads a number that is «swap:<more> by $<gap>$». What
  is the room number?
- «sum:The digits of a number add up to $<s>$»<middle>. The number has «size:<size> digits», and
  read from right to left it is «swap:<more> by $<gap>$». Determine the number.
- Find the «size:<size>-digit» number that is «swap:made <more> by $<gap>$» by reversing it and has
  «sum:the digit sum $<s>$»<middle>.
- A bus line has «size:a <size>-digit number» with «sum:digit sum $<s>$»<middle>. <name> remembers
  it from back to front and «swap:waits for a number that is <more> by $<gap>$». Which number does
  the line have?
""")
def digit_swap(rng: Random, level: Level) -> Draft | None:
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
    draft = Draft(
        answer,
        size="two" if size == 2 else "three",
        s=s,
        gap=abs(gap),
        middle=middle,
        more="larger" if rising else "smaller",
    )
    least, most = low + max(-gap, 0), high - max(gap, 0)
    draft.rule(digit_sum(s), f"its digits add up to {s}", "sum")
    draft.rule(
        between(least, most),
        f"it has {size} digits, and so has what it becomes: it is between {least} and {most}",
        "swap",
    )
    draft.wrong("misled_by_cue", int(str(number)[::-1]))
    draft.wrong("arithmetic", number + 9, number - 9, number + gap // 9)
    draft.wrong("misled_by_cue", abs(gap))
    draft.wrong("arithmetic", number + 1, number - 1)
    draft.wrong("out_of_range", 10 * number + 1, s)
    return draft


@joint(r"""a multiple with a digit sum inside a window
- Which «range:number between $<low>$ and $<high>$» is «mult:a multiple of $<k>$» and has «sum:digit
  sum $<s>$»?
- <name>'s raffle ticket carries «range:a number from $<low>$ to $<high>$». It is «mult:divisible by
  $<k>$», and «sum:its digits add up to $<s>$». What number is on the ticket?
- Find the only number that is «range:greater than $<low>$ and less than $<high>$», «mult:a multiple
  of $<k>$», and «sum:has digits with sum $<s>$».
- «sum:The digits of a page number add up to $<s>$.» The number is «mult:divisible by $<k>$» and
  lies «range:between $<low>$ and $<high>$». Which page is it?
- How many coins are in <name>'s chest? Their number is «range:over $<low>$ and under $<high>$»,
  «mult:they fill bags of $<k>$ exactly», and «sum:the digits of the number add up to $<s>$».
- A year «range:after the year $<low>$ and before the year $<high>$» of some calendar is «mult:a
  multiple of $<k>$», and «sum:the sum of its digits is $<s>$». Which year is it?
- «mult:Counting in steps of $<k>$ from $0$», <name> meets exactly one number «range:between $<low>$
  and $<high>$» «sum:whose digits add up to $<s>$». Which one is it?
- What is the whole number «range:larger than $<low>$ and smaller than $<high>$» with «sum:digit sum
  $<s>$» that «mult:can be divided by $<k>$ without remainder»?
""")
def digit_sum_multiple(rng: Random, level: Level) -> Draft | None:
    k = rng.choice(((4, 5), (4, 5, 7), (6, 7, 8, 11))[level - 1])
    number = k * rng.randrange(*((4, 20), (4, 24), (12, 50))[level - 1])
    width = (13, 4 * k, 7 * k)[level - 1]
    low = number - rng.randrange(2, width)
    high = low + width
    if low < 10:
        return None
    s = sum(map(int, str(number)))
    # The window includes its ends, so that the answer is unique however "between" is read.
    multiples = [n for n in range(low, high + 1) if n % k == 0]
    fits = [n for n in multiples if sum(map(int, str(n))) == s]
    sums = [n for n in range(low, high + 1) if sum(map(int, str(n))) == s]
    far = [n for n in range(k, 1000, k) if sum(map(int, str(n))) == s and n not in fits]
    if fits != [number] or len(sums) < 2 or not far or number in (low, high):
        return None
    answer = agree(number, next(n for n in sums if n % k == 0))
    draft = Draft(answer, low=low, high=high, k=k, s=s)
    draft.rule(between(low, high), f"it lies between {low} and {high}", "range")
    draft.rule(divisible(k), f"it is a multiple of {k}", "mult")
    draft.rule(digit_sum(s), f"its digits add up to {s}", "sum")
    others = [n for n in sums if n != number]
    draft.wrong("broken_condition", *others)
    draft.wrong("out_of_range", far[0], far[-1])
    draft.wrong("arithmetic", *[n for n in multiples[:4] if n != number][: 8 - len(others)])
    return draft


# Joint tier, factors: a divisor that two more conditions determine.


@joint(r"""a divisor of one parity inside a window
- Find the only «parity:<which>» «divisor:divisor of $<n>$» that lies «range:strictly between
  $<low>$ and $<high>$».
- Exactly one «divisor:positive divisor of $<n>$» is «parity:<which>», «range:greater than $<low>$
  and less than $<high>$». What is it?
- <name> «divisor:arranges $<n>$ chairs in equal rows». The number of rows is «parity:<which>», and
  there are «range:more than $<low>$ but fewer than $<high>$» of them. How many rows are there?
- How many children are there if «divisor:$<n>$ sweets can be shared equally among them with none
  left», their number is «parity:<which>», and there are «range:more than $<low>$ and fewer than
  $<high>$» of them?
- A number «divisor:divides $<n>$». It is «range:larger than $<low>$ and smaller than $<high>$», and
  it is «parity:<which>». Which number is it?
- «divisor:A rope of $<n>$ metres is cut into equal pieces, each a whole number of metres long.» The
  length of a piece in metres is «parity:an <which> number» «range:over $<low>$ and under $<high>$».
  How many metres long is a piece?
- <name> packs «divisor:$<n>$ books into boxes, the same number into each». This number is
  «range:between $<low>$ and $<high>$», neither of the two included, and it is «parity:<which>». How
  many books go into a box?
- Which «parity:<which>» number «range:above $<low>$ and below $<high>$» «divisor:goes into $<n>$
  without remainder»?
""")
def divisor_window(rng: Random, level: Level) -> Draft | None:
    answer = rng.randrange(*((8, 49), (12, 80), (20, 120))[level - 1])
    odd = answer % 2 == 1
    # Many windows are tried for one answer, so that all answers are equally likely.
    cases = (_window(rng, level, answer) for _ in range(60))
    if (case := next(filter(None, cases), None)) is None:
        return None
    n, low, high = case
    divisors = [d for d in range(1, n + 1) if n % d == 0]
    inside = [d for d in divisors if low < d < high]
    outside = [d for d in divisors if d % 2 == answer % 2 and d not in inside]
    misses = [d for d in range(low + 1, high) if n % d and d % 2 == answer % 2]
    # Divisors in pairs, below and above the square root of n.
    pairs = [(d, n // d) for d in range(1, isqrt(n) + 1) if n % d == 0]
    agree({answer}, {d for pair in pairs for d in pair if low < d < high and (d % 2 == 1) == odd})
    which = "odd" if odd else "even"
    draft = Draft(answer, which=which, n=n, low=low, high=high)
    draft.rule(divides(n), f"the answer divides {n}", "divisor")
    draft.rule(parity(which), f"the answer is {which}", "parity")
    draft.rule(
        between(low + 1, high - 1), f"the answer lies strictly between {low} and {high}", "range"
    )
    draft.wrong("ignored_parity", *(d for d in inside if d != answer))
    draft.wrong("out_of_range", *outside[-2:])
    draft.wrong("arithmetic", *misses[:3])
    draft.wrong("encoded_form_not_applied", n // answer)
    del draft.lures[10:]
    return draft


def _window(rng: Random, level: Level, answer: int) -> tuple[int, int, int] | None:
    """Draw a number and a window in which each of the three conditions excludes a number."""
    factors = ((2, 3, 4, 6, 10), (2, 4, 6, 10, 12), (6, 10, 12, 14, 18))[level - 1]
    n = answer * rng.choice(factors)
    reach = (11, 16, 24)[level - 1]
    low, high = answer - rng.randrange(2, reach), answer + rng.randrange(2, reach)
    inside = [d for d in range(max(low, 0) + 1, high) if n % d == 0]
    alike = [d for d in range(low + 1, high) if d % 2 == answer % 2]
    outside = [d for d in range(1, n + 1) if n % d == 0 and d % 2 == answer % 2 and d not in inside]
    alone = [d for d in inside if d in alike] == [answer]
    return (
        (n, low, high) if low > 0 and alone and inside[1:] and alike[level:] and outside else None
    )


# Joint tier, level 4: remainders, orders and sums of competition size, each with a condition.


@hard(r"""the largest number with two remainders and a digit sum
- Find the largest «size:four-digit» integer that «one:leaves the remainder $<a>$ on division by
  $<p>$», «two:the remainder $<b>$ on division by $<q>$», and has «sum:digit sum $<s>$».
- What is the greatest «size:four-digit» number $n$ with «one:$n \equiv <a> \pmod{<p>}$» and «two:$n
  \equiv <b> \pmod{<q>}$» «sum:whose digits add up to $<s>$»?
- <name>'s code is «size:a number of four digits, the first of which is not $0$». «sum:The digits
  have the sum $<s>$.» «one:Divided by $<p>$ it leaves $<a>$», «two:divided by $<q>$ it leaves
  $<b>$», and no larger number has all these properties. Find the code.
- «sum:The digits of an integer add up to $<s>$.» It has «size:exactly four digits», and it is
  «one:$<a>$ more than a multiple of $<p>$» and «two:$<b>$ more than a multiple of $<q>$». What is
  the largest value that it can have?
- Among the «size:integers from $1000$ to $9999$» with «sum:digit sum $<s>$», determine the largest
  that is «one:congruent to $<a>$ modulo $<p>$» and «two:congruent to $<b>$ modulo $<q>$».
- A library has «size:at least $1000$ and at most $9999$ books». «one:On shelves of $<p>$, the last
  shelf gets $<a>$ books»; «two:on shelves of $<q>$, the last one gets $<b>$». «sum:The digits of
  the number of books add up to $<s>$.» How many books can there be at most?
- Let $n$ be «size:a four-digit positive integer» such that «one:$n - <a>$ is divisible by $<p>$»,
  «two:$n - <b>$ is divisible by $<q>$», and «sum:the sum of the digits of $n$ is $<s>$». Find the
  greatest possible $n$.
- <name> lists all «size:four-digit» numbers with «sum:digit sum $<s>$» and strikes out those that
  do not «one:leave remainder $<a>$ modulo $<p>$» or do not «two:leave remainder $<b>$ modulo
  $<q>$». Which is the largest number that is left?
""")
def largest_with_digit_sum(rng: Random, level: Level) -> Draft | None:  # noqa: ARG001
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
    draft = Draft(answer, p=p, q=q, a=a, b=b, s=s)
    draft.rule(congruent(a, p), f"it leaves {a} on division by {p}", "one")
    draft.rule(congruent(b, q), f"it leaves {b} on division by {q}", "two")
    draft.rule(digit_sum(s), f"its digits add up to {s}", "sum")
    draft.rule(between(1000, 9999), "it has four digits", "size")
    draft.wrong(
        "broken_condition",
        first + p * q * ((9999 - first) // (p * q)),
        next(n for n in range(9999, 0, -1) if n % p == a and _digits(n) == s),
        next(n for n in range(9999, 0, -1) if n % q == b and _digits(n) == s),
    )
    draft.wrong("arithmetic", steps[-2], steps[0])
    draft.wrong("out_of_range", first + p * q * (10 + 10000 // (p * q)))
    draft.wrong("broken_condition", next(n for n in range(9999, 0, -1) if _digits(n) == s))
    return draft


def _digits(number: int) -> int:
    return sum(map(int, str(number)))


@hard(r"""an exponent for two orders, a multiple and a bound
- Find the least integer $n$ «least:greater than $<low>$» that is «mult:a multiple of $<k>$» and for
  which «one:$<a>^n$ leaves the remainder $1$ on division by $<p>$» and «two:$<b>^n$ leaves the
  remainder $1$ on division by $<q>$».
- What is the smallest «mult:multiple $n$ of $<k>$» with «least:$n \ge <next>$», «one:$<a>^n \equiv
  1 \pmod{<p>}$» and «two:$<b>^n \equiv 1 \pmod{<q>}$»?
- «one:The number $<a>^n - 1$ is divisible by $<p>$», and «two:$<b>^n - 1$ is divisible by $<q>$»,
  where $n$ is «mult:divisible by $<k>$» and «least:larger than $<low>$». Determine the smallest
  such $n$.
- <name> multiplies by $<a>$ again and again and keeps only the remainder modulo $<p>$, starting
  with $1$; a friend does the same with $<b>$ modulo $<q>$. They stop after the same number $n$ of
  multiplications, «least:more than $<low>$ of them». At that moment «one:<name> has $1$» and
  «two:the friend has $1$», and $n$ is «mult:a multiple of $<k>$». What is the least possible $n$?
- Let $n$ be «least:an integer above $<low>$» such that «mult:$<k>$ divides $n$», «one:$<p>$ divides
  $<a>^n - 1$» and «two:$<q>$ divides $<b>^n - 1$». Find the minimum of $n$.
- Two wheels return to their starting marks: the first «one:after $n$ steps exactly if $<a>^n \equiv
  1$ modulo $<p>$», the second «two:exactly if $<b>^n \equiv 1$ modulo $<q>$». <name> looks only at
  «mult:every $<k>$th step», and only «least:after step $<low>$». At which step does <name> first
  see both wheels at their marks?
- For how small an exponent $n$ «least:exceeding $<low>$» and «mult:divisible by $<k>$» do both
  «one:$<a>^n \equiv 1 \pmod{<p>}$» and «two:$<b>^n \equiv 1 \pmod{<q>}$» hold?
- Determine the smallest exponent $n$ with these properties: $n$ is «mult:a multiple of $<k>$»; $n$
  is «least:greater than $<low>$»; «one:$<p>$ divides $<a>^n - 1$»; «two:$<q>$ divides $<b>^n - 1$».
""")
def common_exponent(rng: Random, level: Level) -> Draft | None:  # noqa: ARG001
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
    draft = Draft(answer, a=a, b=b, p=p, q=q, k=k, low=low, next=low + 1)
    draft.rule(divisible(k), f"it is a multiple of {k}", "mult")
    draft.rule(above(low), f"it is greater than {low}", "least")
    draft.wrong("broken_condition", (low // period + 1) * period)
    draft.wrong("broken_condition", (low // lcm(first, k) + 1) * lcm(first, k))
    draft.wrong("broken_condition", (low // lcm(second, k) + 1) * lcm(second, k))
    draft.wrong("out_of_range", answer - step)
    draft.wrong("arithmetic", answer + step)
    draft.wrong("out_of_range", step)
    draft.wrong("broken_condition", low + 1, (low // k + 1) * k)
    return draft


def _order(base: int, modulus: int) -> int:
    return next(n for n in count(1) if pow(base, n, modulus) == 1)


@hard(r"""a sum of integer parts over multiples, then a remainder
- Let $S$ be the sum of $\lfloor \sqrt{k} \rfloor$ over all «mult:multiples $k$ of $<m>$» with $1
  \le k \le <n>$. «mod:Find the remainder when $S$ is divided by $1000$.»
- For each positive «mult:multiple of $<m>$» up to $<n>$, <name> writes down the greatest integer
  whose square does not exceed it. «mod:What remainder does the sum of these integers leave on
  division by $1000$?»
- Compute $\sum \lfloor \sqrt{k} \rfloor$, where $k$ runs through the positive integers
  «mult:divisible by $<m>$» that are at most $<n>$, and «mod:give the last three digits of the
  result as an integer from $0$ to $999$».
- «mod:Find, modulo $1000$,» the sum of $\lfloor \sqrt{<m>} \rfloor$, $\lfloor \sqrt{2 \cdot <m>}
  \rfloor$, $\lfloor \sqrt{3 \cdot <m>} \rfloor$ and so on, «mult:over all multiples of $<m>$» up to
  $<n>$. Answer with an integer from $0$ to $999$.
- Squares of whole side length are cut out of sheets: a sheet of area $k$ gives a square of side
  $\lfloor \sqrt{k} \rfloor$. <name> has one sheet of each area that is «mult:a multiple of $<m>$»
  and at most $<n>$, and adds up the sides of all squares. «mod:What is the remainder of the sum
  modulo $1000$?»
- Define $f(k)$ as the largest integer $r$ with $r^2 \le k$. «mod:Determine the remainder modulo
  $1000$» of the sum of $f(k)$ over all positive integers $k \le <n>$ that are «mult:divisible by
  $<m>$».
- «mod:What is the remainder, on division by $1000$,» of the sum of the integer parts of the square
  roots of «mult:all positive multiples of $<m>$» that do not exceed $<n>$?
- Adding up the numbers $\lfloor \sqrt{k} \rfloor$ for «mult:$k = <m>, <m2>, <m3>, \dots$, all
  multiples of $<m>$» up to and including $<n>$ at most, one gets a number $S$. «mod:Find the
  remainder when $S$ is divided by $1000$.»
""")
def floor_root_sum(rng: Random, level: Level) -> Draft | None:  # noqa: ARG001
    m, n = rng.randrange(3, 12), rng.randrange(900, 5000)
    total = sum(isqrt(k) for k in range(m, n + 1, m))
    by_value = sum(
        r * (min(n, r * r + 2 * r) // m - (r * r - 1) // m) for r in range(1, isqrt(n) + 1)
    )
    answer = agree(total, by_value) % 1000
    if total < 1000:
        return None
    draft = Draft(answer, m=m, n=n, m2=2 * m, m3=3 * m)
    everything = sum(isqrt(k) for k in range(1, n + 1))
    draft.rule(least_residue(1000), "a remainder on division by 1000", "mod")
    draft.rule(integer(), "integer parts are added, so the answer is an integer")
    draft.wrong("forgot_modular_reduction", total)
    draft.wrong("arithmetic", everything % 1000)
    draft.wrong("broken_condition", everything)
    draft.wrong("arithmetic", (total + isqrt(n)) % 1000)
    draft.wrong("arithmetic", sum(int(k**0.5 + 0.5) for k in range(m, n + 1, m)) % 1000)
    draft.wrong("not_an_integer", f"{total}/1000")
    return draft


@hard(r"""a linear and a quadratic congruence beyond a bound
- Find the smallest integer $x$ «least:not less than $<low>$» such that «one:$<a>x$ leaves the
  remainder $<r>$ on division by $<p>$» and «two:$x^2$ leaves the remainder $<t>$ on division by
  $<q>$».
- What is the least integer «least:$x \ge <low>$» with «one:$<a>x \equiv <r> \pmod{<p>}$» and
  «two:$x^2 \equiv <t> \pmod{<q>}$»?
- <name> looks for an integer $x$, «least:at least $<low>$», for which «one:$<a>x - <r>$ is a
  multiple of $<p>$» and «two:$x^2 - <t>$ is a multiple of $<q>$». Which is the smallest one?
- «one:When $x$ is multiplied by $<a>$ and divided by $<p>$, the remainder is $<r>$»; «two:when $x$
  is squared and divided by $<q>$, the remainder is $<t>$». Find the smallest such integer $x$ that
  is «least:$<low>$ or more».
- Determine the minimum of all integers $x$ with «least:$x \ge <low>$», «two:$x^2 \equiv <t>$ modulo
  $<q>$» and «one:$<a>x \equiv <r>$ modulo $<p>$».
- A square array of $x$ rows and $x$ columns of seats «two:leaves $<t>$ seats over when the seats
  are put in blocks of $<q>$»; «one:$<a>$ of its rows leave $<r>$ seats over in blocks of $<p>$».
  There are «least:at least $<low>$ rows». What is the least possible number of rows?
- Let $x$ be «least:an integer from $<low>$ on» such that «one:$<p>$ divides $<a>x - <r>$» and
  «two:$<q>$ divides $x^2 - <t>$». Find the least possible value of $x$.
- How small can an integer $x$ be if «least:it is at least $<low>$», «one:$<a>x$ is $<r>$ more than
  a multiple of $<p>$», and «two:its square is $<t>$ more than a multiple of $<q>$»?
""")
def quadratic_congruence(rng: Random, level: Level) -> Draft | None:  # noqa: ARG001
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
    draft = Draft(answer, a=a, p=p, q=q, r=r, t=t, low=low)
    draft.rule(congruent(residue, p), f"it leaves {residue} on division by {p}", "one")
    draft.rule(at_least(low), f"it is at least {low}", "least")
    later = next(x for x in count(answer + 1) if a * x % p == r and x * x % q == t)
    draft.wrong("broken_condition", next(x for x in count(low) if a * x % p == r))
    draft.wrong("broken_condition", next(x for x in count(low) if x * x % q == t))
    draft.wrong("arithmetic", next(x for x in count(low) if x % p == r and x * x % q == t))
    draft.wrong("out_of_range", min(both))
    draft.wrong("arithmetic", later)
    draft.wrong("out_of_range", residue)
    draft.wrong("broken_condition", low)
    return draft


# Joint tier, level 4: counting under several conditions, checked by enumeration.


@hard(r"""sets without neighbours whose sum is a multiple
- Find the number of subsets of $\{1, 2, \dots, <n>\}$ with «size:exactly $<k>$ elements», «gap:no
  two of them consecutive», whose «sum:sum is divisible by $<m>$».
- In how many ways can «size:$<k>$ numbers» be chosen from $1, 2, \dots, <n>$ so that «gap:no two of
  them differ by $1$» and «sum:their sum is a multiple of $<m>$»? The order does not matter.
- A row has $<n>$ seats, numbered from $1$ to $<n>$. «size:Exactly $<k>$ seats» are taken, «gap:no
  two of them next to each other», and «sum:the numbers of the taken seats add up to a multiple of
  $<m>$». How many sets of taken seats are possible?
- How many sets of «size:$<k>$ positive integers», none above $<n>$, have «sum:a sum that leaves no
  remainder on division by $<m>$» and «gap:contain no two consecutive integers»?
- <name> circles «size:$<k>$ of the numbers» from $1$ to $<n>$. «gap:Neighbouring numbers are never
  both circled», and «sum:the circled numbers have a sum divisible by $<m>$». Find the number of
  ways to do this.
- Lamps $1$ to $<n>$ stand in a line. <name> switches on «size:$<k>$ lamps» such that «gap:between
  any two that are on there is one that is off» and «sum:$<m>$ divides the sum of the numbers of the
  lamps that are on». In how many ways can this be done?
- Integers from $1$ to $<n>$ are picked in increasing order, «size:$<k>$ of them», «gap:each at
  least $2$ more than the one before». Determine the number of picks with «sum:a sum divisible by
  $<m>$».
- Of the sets of «size:$<k>$ numbers» from $1$ to $<n>$ «gap:without two neighbours», how many have
  «sum:a sum that is a multiple of $<m>$»?
""")
def spaced_subsets(rng: Random, level: Level) -> Draft:  # noqa: ARG001
    n, k, m = rng.randrange(14, 21), rng.randrange(4, 7), rng.randrange(3, 12)
    chosen = [c for c in combinations(range(1, n + 1), k) if sum(c) % m == 0]
    spaced = [c for c in chosen if all(b - a > 1 for a, b in pairwise(c))]
    answer = agree(len(spaced), _spaced(n, k, m))
    draft = Draft(answer, n=n, k=k, m=m)
    free = comb(n - k + 1, k)
    draft.rule(integer(), "a number of sets is an integer")
    draft.rule(
        between(0, free - 1), f"there are {free} sets of {k} without neighbours at all", "gap"
    )
    draft.wrong("broken_condition", free)
    draft.wrong("out_of_range", comb(n, k))
    draft.wrong("arithmetic", len(chosen), Fraction(free, m), Fraction(comb(n, k), m))
    draft.wrong("not_an_integer", Fraction(2 * free + 1, 2 * m))
    draft.wrong("arithmetic", free // m)
    return draft


def _spaced(n: int, k: int, m: int) -> int:
    """Count the sets by dynamic programming over (numbers taken, their sum, the last one)."""
    states: dict[tuple[int, int, bool], int] = {(0, 0, False): 1}
    for number in range(1, n + 1):
        following: dict[tuple[int, int, bool], int] = {}
        for (taken, total, last), ways in states.items():
            key = (taken, total, False)
            following[key] = following.get(key, 0) + ways
            if not last and taken < k:
                key = (taken + 1, (total + number) % m, True)
                following[key] = following.get(key, 0) + ways
        states = following
    return sum(ways for (taken, total, _), ways in states.items() if (taken, total) == (k, 0))


_PRIMES = (2, 3, 5, 7)


@hard(r"""sets of three different factors of a number
- Find the number of triples of integers $a$, $b$, $c$ with «order:$0$ less than $a$, $a$ less than
  $b$ and $b$ less than $c$» and «product:$abc = <n>$».
- In how many ways can $<n>$ be written as «product:a product of three positive integers» that are
  «order:all different», if the order of the factors does not matter?
- How many boxes with «order:edges of three different whole lengths» have «product:the volume
  $<n>$»? Boxes that differ only in the order of their edges count as one.
- <name> splits $<n>$ into «product:three positive integer factors», «order:no two of them equal».
  Writing the factors in increasing order, how many different results can <name> get?
- Determine the number of sets of «order:three distinct positive integers» whose «product:product is
  $<n>$».
- Three children have «order:different ages, in whole years», and «product:the product of the ages
  is $<n>$», however absurd this may be. How many sets of three ages are possible?
- How many sets $\{a, b, c\}$ of «order:three different positive integers» satisfy «product:$abc =
  <n>$»?
- A block of «product:$<n>$ unit cubes is a cuboid» whose «order:length, width and height are all
  different». How many such cuboids are there, if turning a cuboid does not make a new one?
""")
def distinct_factors(rng: Random, level: Level) -> Draft | None:  # noqa: ARG001
    exponents = [rng.randrange(1, 9), rng.randrange(1, 6), rng.randrange(0, 4), rng.randrange(0, 3)]
    n = prod(p**e for p, e in zip(_PRIMES, exponents, strict=True))
    if not 5000 < n < 2_000_000:
        return None
    ordered = prod(comb(e + 2, 2) for e in exponents)
    pair = prod(e // 2 + 1 for e in exponents)
    cube = int(all(e % 3 == 0 for e in exponents))
    divisors = [d for d in range(1, int(n ** (2 / 3)) + 2) if n % d == 0]
    small = [(a, b) for a, b in combinations(divisors, 2) if n % (a * b) == 0 and n // (a * b) > b]
    answer = agree((ordered - 3 * pair + 2 * cube) // 6, len(small))
    draft = Draft(answer, n=n)
    draft.rule(integer(), "a number of sets is an integer", "order")
    draft.rule(
        at_most(Fraction(ordered, 6)),
        f"each set comes from six of the {ordered} ordered triples",
        "product",
    )
    draft.wrong("out_of_range", ordered)
    draft.wrong("arithmetic", Fraction(ordered, 6), (ordered + 3 * pair + 2 * cube) // 6)
    draft.wrong("arithmetic", ordered - 3 * pair + 2 * cube)
    draft.wrong("not_an_integer", Fraction(2 * ordered + 1, 12))
    draft.wrong("arithmetic", prod(e + 1 for e in exponents), -(-ordered // 6))
    return draft


@hard(r"""m + n of a dice sum, reduced
- <name> rolls <c> fair dice with faces numbered from $1$ to $<f>$. The probability that «sum:the
  sum of the numbers is divisible by $<d>$» is $\frac{m}{n}$, where $m$ and $n$ are relatively prime
  positive integers. «mod:Find the remainder when $m+n$ is divided by $1000$.»
- Each of <c> fair spinners shows an integer from $1$ to $<f>$. Let $\frac{m}{n}$, in lowest terms,
  be the probability that «sum:$<d>$ divides the sum of what they show». «mod:What is the remainder
  of $m+n$ modulo $1000$?»
- «mod:What remainder does $m+n$ leave on division by $1000$», if $\frac{m}{n}$, with coprime
  positive integers $m$ and $n$, is the probability that <c> numbers chosen independently and
  uniformly from $1$ to $<f>$ have «sum:a sum that is a multiple of $<d>$»?
- <name> draws a card <c> times from $<f>$ cards numbered from $1$ to $<f>$ and puts it back each
  time. «sum:The numbers drawn add up to a multiple of $<d>$» with probability $\frac{m}{n}$ in
  lowest terms. «mod:Find $m+n$ modulo $1000$.»
- The digits of a code are <c> independent random integers from $1$ to $<f>$, all equally likely.
  The probability that «sum:their sum leaves no remainder on division by $<d>$» equals $\frac{m}{n}$
  with relatively prime positive integers $m$ and $n$. «mod:Compute the remainder of $m+n$ on
  division by $1000$.»
- From each of <c> urns with balls numbered from $1$ to $<f>$ one ball is drawn at random. Write the
  probability that «sum:the numbers drawn have a sum divisible by $<d>$» as $\frac{m}{n}$ in lowest
  terms. «mod:What is $m+n$ modulo $1000$, as an integer from $0$ to $999$?»
- A game is won if «sum:the total of <c> fair dice, each with the faces $1$ to $<f>$, is a multiple
  of $<d>$». The chance of winning is $\frac{m}{n}$, where $m$ and $n$ are coprime positive
  integers. «mod:Determine the remainder when $m+n$ is divided by $1000$.»
- Let $\frac{m}{n}$ in lowest terms be the probability that «sum:$<d>$ is a divisor of the sum» of
  <c> independent random integers, each uniform on $1, 2, \dots, <f>$. «mod:Find the remainder that
  $m+n$ leaves modulo $1000$.»
""")
def dice_sum_code(rng: Random, level: Level) -> Draft | None:  # noqa: ARG001
    dice, d = rng.choice((3, 4)), rng.randrange(3, 20)
    faces = rng.randrange(6, 23) if dice == 3 else rng.randrange(5, 12)
    if faces % d == 0 or d > 2 * faces:
        return None
    good = sum(sum(roll) % d == 0 for roll in product(range(1, faces + 1), repeat=dice))
    ways = [1] + [0] * (d - 1)  # ways to each remainder of the sum, die by die
    for _ in range(dice):
        ways = [sum(ways[(r - face) % d] for face in range(1, faces + 1)) for r in range(d)]
    agree(good, ways[0])
    total = faces**dice
    value = Fraction(good, total)
    m, n = agree((value.numerator, value.denominator), lowest_terms(good, total))
    answer = (m + n) % 1000
    if m + n < 1000:
        return None
    count = {3: "three", 4: "four"}[dice]
    draft = Draft(answer, c=count, f=faces, d=d)
    draft.rule(least_residue(1000), "a remainder on division by 1000", "mod")
    draft.rule(integer(), "m and n are integers, and so is the answer")
    draft.rule(encoded("m+n", (m, n), 1000), "m + n, reduced", "sum", kind="structure")
    draft.wrong("forgot_modular_reduction", m + n)
    draft.wrong("encoded_form_not_applied", (good + total) % 1000, good + total, value, n % 1000)
    draft.wrong("arithmetic", (d + 1) % 1000)
    draft.wrong("encoded_form_not_applied", n, m)
    return draft


@hard(r"""paths through one point and past another
- A path on a grid goes from $(0, 0)$ to $(<w>, <h>)$ in steps of $1$ to the right or up.
  «through:It must pass through $(<a>, <b>)$» and «avoid:must not pass through $(<c>, <d>)$».
  «mod:Find the remainder when the number of such paths is divided by $1000$.»
- «mod:What is, modulo $1000$, the number of ways» in which <name> can walk from the south-west
  corner of a town to a crossing $<w>$ blocks east and $<h>$ blocks north, always going east or
  north, if «through:the way must lead over the crossing $<a>$ blocks east and $<b>$ north of the
  start» and «avoid:the crossing $<c>$ east and $<d>$ north is closed»? Answer with an integer from
  $0$ to $999$.
- A robot moves from $(0, 0)$ to $(<w>, <h>)$ by unit steps, each in the direction of one of the two
  positive axes. «avoid:It never visits $(<c>, <d>)$», but «through:it does visit $(<a>, <b>)$». If
  $N$ is the number of its possible paths, «mod:find the remainder of $N$ on division by $1000$».
- Words are made of $<w>$ letters R and $<h>$ letters U. «through:The first $<ab>$ letters hold
  exactly $<a>$ letters R», and «avoid:the first $<cd>$ letters do not hold exactly $<c>$ letters
  R». «mod:What remainder does the number of such words leave on division by $1000$?»
- Let $N$ be the number of lattice paths from the origin to $(<w>, <h>)$, with steps $(1, 0)$ and
  $(0, 1)$, that «through:contain the point $(<a>, <b>)$» and «avoid:do not contain the point $(<c>,
  <d>)$». «mod:Determine the remainder when $N$ is divided by $1000$.»
- On a chessboard of unlimited size a piece moves one square to the right or one square up at a
  time. It has to get $<w>$ squares to the right and $<h>$ squares up, «through:by way of the square
  $<a>$ to the right and $<b>$ up» from the start, «avoid:without touching the square $<c>$ to the
  right and $<d>$ up». «mod:Find the number of ways modulo $1000$.»
- Two teams score $<w>$ and $<h>$ goals in a match. «through:At some moment the score was $<a>$ to
  $<b>$», and «avoid:at no moment was it $<c>$ to $<d>$» (the first team's goals named first).
  «mod:What is the remainder modulo $1000$ of the number of possible orders of the goals?»
- <name> stacks $<w>$ red and $<h>$ white bricks into a tower, one upon the other. «through:After
  $<ab>$ bricks exactly $<a>$ are red», and «avoid:after $<cd>$ bricks the number of red ones is not
  $<c>$». «mod:Find the remainder when the number of such towers is divided by $1000$.»
""")
def detour_paths(rng: Random, level: Level) -> Draft | None:  # noqa: ARG001
    w, h = rng.randrange(7, 14), rng.randrange(7, 14)
    a, b = rng.randrange(2, w - 2), rng.randrange(2, h - 2)
    c, d = rng.randrange(a + 1, w), rng.randrange(b + 1, h)
    through = comb(a + b, a) * comb(w - a + h - b, w - a)
    bad = comb(a + b, a) * comb(c - a + d - b, c - a) * comb(w - c + h - d, w - c)
    number = agree(through - bad, _paths((0, 0), (a, b), (c, d)) * _paths((a, b), (w, h), (c, d)))
    if number < 1000:
        return None
    draft = Draft(number % 1000, w=w, h=h, a=a, b=b, c=c, d=d, ab=a + b, cd=c + d)
    draft.rule(least_residue(1000), "a remainder on division by 1000", "mod")
    draft.rule(all_of(integer(), between(0, 999)), "an integer from 0 to 999", kind="domain")
    draft.wrong("forgot_modular_reduction", number)
    draft.wrong("arithmetic", through % 1000)
    draft.wrong("broken_condition", through)
    draft.wrong("arithmetic", bad % 1000, (comb(w + h, w) - bad) % 1000)
    draft.wrong("broken_condition", comb(w + h, w))
    return draft


def _paths(start: tuple[int, int], end: tuple[int, int], closed: tuple[int, int]) -> int:
    """Count the paths to each point as the sum of those from the left and from below."""
    ways = {start: 1}
    for x in range(start[0], end[0] + 1):
        for y in range(start[1], end[1] + 1):
            if (x, y) != start:
                ways[x, y] = ways.get((x - 1, y), 0) + ways.get((x, y - 1), 0)
            if (x, y) == closed:
                ways[x, y] = 0
    return ways[end]


# Joint tier, multiples: a multiple that a bound, a parity or another divisor determines.


@joint(r"""the largest odd (even) multiple below a bound
- Find the largest «parity:<which>» «mult:multiple of $<k>$» that is «bound:less than $<high>$».
- What is the greatest «parity:<which>» number «bound:below $<high>$» that is «mult:divisible by
  $<k>$»?
- <name> wants the biggest possible number that is «parity:<which>», is «mult:a multiple of $<k>$»
  and is «bound:smaller than $<high>$». Which number is it?
- A kiosk sells stickers only «mult:in sheets of $<k>$». <name> wants «parity:an <which> number» of
  stickers, as many as possible but «bound:fewer than $<high>$». How many stickers does <name> buy?
- Among the numbers «bound:under $<high>$», which is the largest that is both «parity:<which>» and
  «mult:a multiple of $<k>$»?
- How many chairs can be set up at most if «mult:they stand in full rows of $<k>$», their number is
  «parity:<which>», and there are «bound:fewer than $<high>$ of them»?
- <name> «mult:counts in steps of $<k>$, beginning with $<k>$ itself», and stops at the last
  «parity:<which>» number «bound:before $<high>$». What number is this?
- A code is «parity:an <which> number», «bound:less than $<high>$», and «mult:divisible by $<k>$».
  No larger number has these properties. What is the code?
""")
def largest_multiple(rng: Random, level: Level) -> Draft | None:
    k = rng.choice(((3, 5, 7), (3, 5, 7, 9, 11), (7, 9, 11, 13))[level - 1])
    high = rng.randrange(*((18, 100), (80, 180), (181, 330))[level - 1])
    which = rng.choice(("odd", "even"))
    odd = which == "odd"
    top = (high - 1) // k
    by_quotient = k * (top if (top % 2 == 1) == odd else top - 1)
    by_descent = next(n for n in range(high - 1, 0, -1) if n % k == 0 and (n % 2 == 1) == odd)
    answer = agree(by_quotient, by_descent)
    if by_quotient == k * top:  # parity must exclude a number, or it would not be a constraint
        return None
    draft = Draft(answer, which=which, k=k, high=high)
    draft.rule(parity(which), f"the answer is {which}", "parity")
    draft.rule(divisible(k), f"the answer is a multiple of {k}", "mult")
    draft.rule(below(high), f"the answer is less than {high}", "bound")
    draft.wrong("ignored_parity", k * top)
    draft.wrong("out_of_range", answer + 2 * k)
    draft.wrong(
        "broken_condition", high - 1 if ((high - 1) % 2 == 1) == odd else high - 2, high - 1
    )
    draft.wrong("arithmetic", answer - 2 * k)
    draft.wrong("ignored_parity", answer - k)
    draft.wrong("out_of_range", k * (top + 1))
    draft.wrong("encoded_form_not_applied", top)
    return draft


@joint(r"""a common multiple inside a window
- Which number «range:between $<low>$ and $<high>$» is «mult:a multiple of each of the numbers
  <ks>»?
- <name>'s marbles can be shared out «mult:equally among <or> friends», with none left over. There
  are «range:more than $<low>$ and fewer than $<high>$» marbles. How many are there?
- Find the number «range:greater than $<low>$ and less than $<high>$» that is «mult:divisible by
  <ks>».
- How many pupils has a school if they can be put «mult:into classes of <or> with nobody left out»,
  and their number is «range:over $<low>$ but under $<high>$»?
- Lamps that «mult:blink every <ks> seconds, respectively,» start together at second $0$. At which
  second «range:after second $<low>$ and before second $<high>$» do all of them blink together?
- «mult:Packed in boxes of <or>, the tins always fill the last box.» Their number is «range:between
  $<low>$ and $<high>$». What is it?
- «range:More than $<low>$ and less than $<high>$ metres» from the start of a road there is a place
  whose distance from the start, in metres, «mult:is a multiple of each of the numbers <ks>». How
  many metres from the start is it?
- <name> is looking for a whole number that «mult:has each of <ks> as a divisor» and lies
  «range:between $<low>$ and $<high>$». Which number fits?
""")
def common_multiple(rng: Random, level: Level) -> Draft | None:
    pool = ((2, 3, 4, 5, 6, 8, 9, 10), range(4, 12), (6, 8, 9, 10, 11, 12, 14, 15, 16, 18))
    ks = sorted(rng.sample(pool[level - 1], 2 if level < 3 else 3))
    common = lcm(*ks)
    answer = common * rng.randrange(2, (9, 7, 9)[level - 1])
    if common > (40, 800, 800)[level - 1]:
        return None
    near, far = (3, max(ks) + 3) if level == 1 else (common // 4, common - 1)
    low, high = answer - rng.randrange(near, far), answer + rng.randrange(near, far)
    fits = [n for n in range(low + 1, high) if all(n % k == 0 for k in ks)]
    agree(fits, list(range((low // common + 1) * common, high, common)))
    rest = [lcm(*(k for k in ks if k != one)) for one in ks]
    # Each divisor is needed: without it a second number in the window would fit.
    needed = all((high - 1) // other - low // other > 1 for other in rest)
    if fits != [answer] or not needed or low <= max(ks):
        return None
    joined = listed(ks)
    draft = Draft(
        answer,
        ks=joined,
        low=low,
        high=high,
        name=rng.choice(NAMES),
        **{"or": joined.replace(" and ", " or ")},
    )
    draft.rule(between(low + 1, high - 1), f"the number lies between {low} and {high}", "range")
    for k in ks:
        draft.rule(divisible(k), f"{k} divides it", "mult")
    draft.wrong("out_of_range", common, answer + common, answer - common)
    draft.wrong(
        "broken_condition", *(k * (low // k + 1) for k in ks), *(k * ((high - 1) // k) for k in ks)
    )
    draft.wrong("out_of_range", ks[0] * ks[1])
    return draft


@joint(r"""the one number of a list that meets all conditions
- Exactly one of the numbers <list> is <rules>. Which one?
- <name>'s locker number is one of <list>. It is <rules>. What is the locker number?
- Which of the numbers <list> is <rules>?
- The winning ticket is <rules>, and it is one of those with the numbers <list>. Find the number of
  the winning ticket.
- Out of the numbers <list>, <name> must cross out all but the one that is <rules>. Which number
  remains?
- A number is <rules>. On the board stand <list>, and one of them is this number. Which?
- One house in the row with the numbers <list> belongs to <name>. Its number is <rules>. What is the
  number of the house?
- Find, among the numbers <list>, the only one that is <rules>.
""")
def listed_number(rng: Random, level: Level) -> Draft | None:
    top = (120, 170, 500)[level - 1]
    k = rng.choice(((3, 5), (3, 5, 7), (5, 7, 9, 11))[level - 1])
    answer = k * rng.randrange(15 // k + 1, top // k)
    which = "odd" if answer % 2 else "even"
    bound, m = answer - rng.randrange(2, top // 4), rng.choice((5, 6, 7, 8))
    if bound < 12 or (m == 6 and k == 9):
        return None
    words = [f"«mult:a multiple of ${k}$»", f"«parity:{which}»"]
    words.append(f"«range:greater than ${bound}$»")
    r = answer % m if level == 3 else 0
    if level == 3:
        words.append(f"«mod:${r}$ more than a multiple of ${m}$»")

    def breaks(n: int) -> list[int]:
        met = (n % k == 0, (n - answer) % 2 == 0, n > bound, level < 3 or n % m == r)
        return [place for place, one in enumerate(met) if not one]

    pools = [[n for n in range(10, top) if breaks(n) == [p]] for p in range(len(words))]
    if not all(pools) or (level == 3 and r == 0):
        return None
    rivals = [rng.choice(pool) for pool in pools]
    others = [n for n in rng.sample(range(10, top), 6 * level) if len(breaks(n)) > 1][
        : 2 * level - 2
    ]
    numbers = [answer, *rivals, *others]
    by_sieve = set(range(0, top, k)) & set(range(answer % 2, top, 2)) & set(range(bound + 1, top))
    fits = [n for n in numbers if n in by_sieve and (level < 3 or n in range(r, top, m))]
    agree(fits, [n for n in numbers if not breaks(n)])
    rng.shuffle(numbers)
    rng.shuffle(words)
    draft = Draft(answer, list=listed(numbers), rules=joined(words))
    draft.rule(divisible(k), f"it is a multiple of {k}", "mult")
    draft.rule(parity(which), f"it is {which}", "parity")
    draft.rule(at_least(bound + 1), f"it is greater than {bound}", "range")
    draft.rule(between(min(numbers), max(numbers)), "it is on the list")
    if level == 3:
        draft.rule(congruent(answer, m), f"it leaves {answer % m} on division by {m}", "mod")
    draft.wrong("broken_condition", rivals[0])
    draft.wrong("ignored_parity", rivals[1])
    draft.wrong("out_of_range", rivals[2])
    draft.wrong("broken_condition", *rivals[3:])
    draft.wrong("arithmetic", *others[:4])
    draft.wrong("out_of_range", max(numbers) + 2 * k)
    return draft


# Joint tier, rows: one term of an arithmetic sequence.


@joint(r"""one of several consecutive odd numbers or multiples
- The sum of $<count>$ «kind:consecutive <kind>» is $<sum>$. What is «which:the <which> of them»?
- Find «which:the <which>» of $<count>$ «kind:consecutive <kind>» that add up to $<sum>$.
- <name> writes $<count>$ «kind:consecutive <kind>» on a board. Their sum is $<sum>$. What is
  «which:the <which> number» on the board?
- What is «which:the <which> number» in a row of $<count>$ «kind:consecutive <kind>» whose sum is
  $<sum>$?
- A row of $<count>$ lockers carries «kind:consecutive <kind>» as numbers. Added up, the numbers
  give $<sum>$. Find «which:the <which> locker number».
- Adding $<count>$ «kind:consecutive <kind>», <name> gets $<sum>$. What is «which:the <which> of the
  numbers» that were added?
- The tickets of <name>'s family carry $<count>$ «kind:consecutive <kind>», and <name> has the
  ticket with «which:the <which> number». The sum of the ticket numbers is $<sum>$. What number is
  on <name>'s ticket?
- On $<count>$ cards stand «kind:consecutive <kind>», one number on each card. All the numbers
  together make $<sum>$. What is «which:the <which> number» on a card?
""")
def consecutive_terms(rng: Random, level: Level) -> Draft | None:
    step = rng.choice(((2,), (2, 5), (3, 4, 6, 7))[level - 1])
    count = rng.choice(((3,), (4, 5), (5, 6, 7))[level - 1])
    odd = step == 2 and rng.choice((True, False))
    start = step * rng.randrange(*((2, 30), (6, 50), (10, 70))[level - 1]) + odd
    row = [start + step * place for place in range(count)]
    total = sum(row)
    which, place = rng.choice(
        (
            (("smallest", 0), ("largest", -1)),
            (("smallest", 0), ("largest", -1)),
            (("second smallest", 1), ("second largest", -2)),
        )[level - 1]
    )
    mean = Fraction(total, count)
    first = mean - Fraction(step * (count - 1), 2)
    answer = agree(row[place], int(first) + step * (place % count))
    kind = f"multiples of ${step}$" if step > 2 else "odd integers" if odd else "even integers"
    draft = Draft(answer, count=count, kind=kind, sum=total, which=which)
    high = place < 0
    bottom = mean if high else mean - step * count
    middle = row[count // 2]
    draft.rule(congruent(1 if odd else 0, step), f"the numbers are {kind}", "kind")
    draft.rule(
        all_of(integer(), above(bottom), below(bottom + step * count)),
        f"the {which} number is above {bottom} and below {bottom + step * count} "
        f"(the mean is {mean})",
        "which",
    )
    draft.wrong(
        "misled_by_cue", row[-1 - place], row[-1] if high else row[0], row[0] if high else row[-1]
    )
    draft.wrong("arithmetic", middle, mean, total // count, answer + 1, answer - 1, answer + step)
    draft.wrong("arithmetic", answer - step)
    return draft


# Joint tier, stories: counts that several statements determine together.

# Each wording has a slot for two more things that equal the one asked for (level 2), or for one
# more that equals the sum of the two others (level 3).


@joint(r"""the middle one of several ordered numbers
- «high:<x> has $<d>$ coins more than <y>», and «low:<y> has $<e>$ coins more than <z>».[2: <v> and
  <w> both have as many as <y>.][3: <w> has as many as <x> and <z> together.] All of them together
  have $<sum>$ coins. How many coins does <y> have?
- How many pages has the second book of a series? «high:The first has $<d>$ pages more than the
  second», «low:the third has $<e>$ pages fewer than the second»[2:, two more have as many pages
  each as the second][3:, a fourth has as many pages as the first and the third together], and all
  the books of the series have $<sum>$ pages together.
- «high:A blue rope is $<d>$ metres longer than a red one», and «low:a green rope is $<e>$ metres
  shorter than the red one».[2: A white rope and a brown rope are both as long as the red one.][3: A
  white rope is as long as the blue and the green one together.] All these ropes together are
  $<sum>$ metres long. Find the length of the red rope in metres.
- Some friends share $<sum>$ marbles. «low:<z> gets $<e>$ fewer than <y>», and «high:<x> gets $<d>$
  more than <y>».[2: <v> and <w> each get as many as <y>.][3: <w> gets as many as <x> and <z>
  together.] Nobody else gets any. How many marbles does <y> get?
- «high:The number $a$ is $<d>$ more than $b$», and «low:$c$ is $<e>$ less than $b$».[2: The numbers
  $f$ and $g$ are both equal to $b$.][3: The number $f$ is equal to $a + c$.] All these numbers have
  the sum $<sum>$. What is $b$?
- «high:On Friday <x> sold $<d>$ tickets more than on Saturday», and «low:on Sunday $<e>$ fewer than
  on Saturday».[2: On Monday and on Tuesday it was as many each day as on Saturday.][3: On Monday it
  was as many as on Friday and Sunday together.] On all these days together <x> sold $<sum>$
  tickets. How many were sold on Saturday?
- «low:A cat is $<e>$ months younger than a dog», and «high:a parrot is $<d>$ months older than the
  dog».[2: A rabbit and a goat are both as old as the dog.][3: A rabbit is as old as the cat and the
  parrot together.] The ages of all these animals add up to $<sum>$ months. How many months old is
  the dog?
- What does an iron weight weigh, in grams? «high:A brass weight is $<d>$ grams heavier than the
  iron one», and «low:a lead weight is $<e>$ grams lighter than the iron one».[2: A zinc weight and
  a tin weight are both as heavy as the iron one.][3: A zinc weight is as heavy as the brass and the
  lead one together.] All these weights together weigh $<sum>$ grams.
""")
def middle_one(rng: Random, level: Level) -> Draft | None:
    d, e = rng.sample(range(2, (9, 25, 90)[level - 1]), 2)
    mid = e + rng.randrange(*((4, 30), (20, 90), (60, 400))[level - 1])
    # The sum is ``times`` the middle one plus ``turns`` times the difference of d and e.
    times, turns = ((3, 1), (5, 1), (5, 2))[level - 1]
    three = [mid + d, mid, mid - e]
    total = sum(three) + (0, 2 * mid, three[0] + three[2])[level - 1]
    by_search = [b for b in range(e + 1, total) if times * b + turns * (d - e) == total]
    answer = agree([(total - turns * (d - e)) // times], by_search)[0]
    if turns * (d - e) % times == 0:
        return None
    x, y, z, v, w = rng.sample(NAMES, 5)
    draft = Draft(answer, x=x, y=y, z=z, v=v, w=w, sum=total, d=d, e=e)
    share = Fraction(total, times)
    draft.rule(
        all_of(above(e), below(Fraction(total - d, 2))),
        f"the middle one is more than {e}, and twice it and {d} are less than the sum",
        "high",
        kind="monotonic",
    )
    draft.rule(
        all_of(integer(), above(share - max(d, e)), below(share + max(d, e))),
        f"{times} times the middle one is the sum but for the differences {d} and {e}",
        "low",
    )
    draft.rule(
        parity("odd" if (total - turns * (d - e)) % 2 else "even"),
        f"{times} times the middle one is {total} but for {turns} times {d} and {e}",
    )
    draft.wrong("misled_by_cue", mid + d, mid - e)
    draft.wrong("not_an_integer", share)
    draft.wrong("arithmetic", Fraction(total - turns * (d + e), times))
    draft.wrong("arithmetic", Fraction(total + turns * (d - e), times), Fraction(total - d + e, 3))
    draft.wrong("out_of_range", Fraction(total - d, 2))
    draft.wrong("arithmetic", total // times)
    draft.wrong("ignored_parity", mid + 1, mid - 1)
    return draft


@joint(r"""how many of one kind, from a number and a total
- <name> buys $<c>$ tickets for $<v>$ dollars. «one:A ticket for adults costs $<p>$ dollars»,
  «two:one for children $<q>$ dollars». How many tickets for adults does <name> buy?
- How many large boxes are there, if «one:large boxes weigh $<p>$ kilograms each», «two:small ones
  $<q>$ kilograms each», and $<c>$ boxes weigh $<v>$ kilograms together?
- In a quiz with $<c>$ questions, «one:each hard question gives $<p>$ points» and «two:each easy one
  $<q>$ points». All questions together give $<v>$ points. How many hard questions are there?
- A florist ties $<c>$ bunches from $<v>$ roses. «one:A festive bunch takes $<p>$ roses», «two:a
  plain one $<q>$». Find the number of festive bunches.
- «one:A long plank measures $<p>$ decimetres» and «two:a short one $<q>$ decimetres». Laid end to
  end, $<c>$ planks reach $<v>$ decimetres. How many of them are long?
- At a camp $<c>$ tents have room for $<v>$ people. «one:Large tents hold $<p>$ people», «two:the
  others hold $<q>$». What is the number of large tents?
- <name> reads on $<c>$ days: «one:$<p>$ pages on a free day», «two:$<q>$ pages on a school day»,
  $<v>$ pages altogether. How many of the days were free days?
- There are $<c>$ stamps worth $<v>$ cents in a drawer. «one:Some are worth $<p>$ cents each», and
  «two:the other ones $<q>$ cents each». Find the number of stamps worth $<p>$ cents.
""")
def two_kinds(rng: Random, level: Level) -> Draft | None:
    p = 2 * rng.randrange(*((2, 6), (7, 16), (20, 50))[level - 1]) + 1
    q = 2 * rng.randrange(*((1, 3), (2, 6), (6, 25))[level - 1])
    x, y = (rng.randrange(*((2, 26), (15, 90), (100, 400))[level - 1]) for _ in range(2))
    c, v = x + y, p * x + q * y
    by_search = [n for n in range(c + 1) if p * n + q * (c - n) == v]
    answer = agree([(v - q * c) // (p - q)], by_search)[0] if p > q + 1 else 0
    if not answer or x == y or v // p >= c:
        return None
    draft = Draft(answer, p=p, q=q, c=c, v=v)
    which = "odd" if v % 2 else "even"
    draft.rule(
        parity(which), f"{q} is even and {p} is odd, so the number has the parity of {v}", "two"
    )
    draft.rule(
        all_of(integer(), at_most(v // p), (above if x > y else below)(Fraction(c, 2))),
        f"the total {v} leaves room for {v // p} of them, and if half of the {c} were of this "
        f"kind, it would be {'less' if x > y else 'more'} than {v}",
        "one",
    )
    draft.wrong("misled_by_cue", y)
    draft.wrong("arithmetic", Fraction(v, p + q))
    draft.wrong("out_of_range", v - q * c, c)
    draft.wrong("arithmetic", v // p, Fraction(c, 2))
    draft.wrong("ignored_parity", answer + 1, answer - 1)
    draft.wrong("out_of_range", v - c)
    return draft


# The markers in the wordings below: [1:…] is for level 1, [23:…] for levels 2 and 3, where part of
# the amount is lost or spent before the rest is shared.


@joint(r"""a share in a ratio, of a whole number of things
- <people> have found $<n>$ marbles.[23: They lose $<c>$ of them.] They share [1:them][23:the rest]
  «ratio:in the ratio $<ratio>$». How many marbles does <x> get?
- How many gold coins does <x> get? A prize of $<n>$ gold coins goes to <people>.[23: They spend
  $<c>$ of the coins on a party.] They divide [1:it][23:what is left] «ratio:in the ratio
  $<ratio>$».
- <people> pick $<n>$ pears.[23: They give $<c>$ pears to a neighbour.] «ratio:In the ratio
  $<ratio>$» they divide [1:them][23:the others] among themselves. How many pears are for <x>?
- <people> inherit $<n>$ sheep.[23: They sell $<c>$ of the sheep.] They split [1:the herd][23:the
  rest of the herd] «ratio:in the ratio $<ratio>$», in the order of their names here. Find the
  number of sheep that <x> gets.
- Find the number of stickers that <x> gets when <people> share [1:a pile of $<n>$ stickers][23:what
  is left of a pile of stickers] «ratio:in the ratio $<ratio>$».[23: The pile had $<n>$ stickers,
  but $<c>$ of them are missing.]
- <people> bake $<n>$ rolls.[23: They sell $<c>$ of the rolls.] They take [1:them][23:the other
  rolls] home «ratio:in the ratio $<ratio>$». How many rolls does <x> take home?
- «ratio:The ratio $<ratio>$» is how <people> agree to split [1:the tokens that they win][23:what
  they keep of the tokens that they win]. They win $<n>$ tokens.[23: A fee of $<c>$ tokens is taken
  off before they split.] How many tokens does <x> get?
- A job pays $<n>$ silver coins.[23: Of these, $<c>$ are needed for the tools.] <people> did the job
  and share [1:the coins][23:the remaining coins] «ratio:in the ratio $<ratio>$», because they
  worked for different times. How many silver coins does <x> get?
""")
def shared_in_ratio(rng: Random, level: Level) -> Draft | None:
    parts = rng.sample(range(2, (11, 12, 14)[level - 1]), level + 1)
    first, every, count = parts[0], sum(parts), level + 1
    unit = rng.randrange(*((2, 12), (6, 20), (9, 29))[level - 1])
    if first < 3 or gcd(*parts) > 1 or first * count == every:
        return None
    shared = unit * every
    c = 0 if level == 1 else rng.randrange(*((11, 40), (21, 80))[level - 2])
    n = shared + c
    by_dealing = [0] * count
    while sum(by_dealing) < shared:
        by_dealing = [have + part for have, part in zip(by_dealing, parts, strict=True)]
    answer = agree(shared * first // every, by_dealing[0])
    people = rng.sample(NAMES, count)
    draft = Draft(
        answer, people=joined(people), x=people[0], n=n, c=c, ratio=":".join(map(str, parts))
    )
    more = first * count > every
    equal = Fraction(shared, count)
    draft.rule(
        divisible(first),
        f"the ratio is in lowest terms, so this share is a multiple of {first}",
        "ratio",
    )
    draft.rule(
        all_of(integer(), above(equal if more else 0), below(shared if more else equal)),
        f"{first} is {'more' if more else 'less'} than the others of the ratio on average",
    )
    draft.wrong("misled_by_cue", shared - answer, unit * parts[1])
    draft.wrong("encoded_form_not_applied", unit)
    draft.wrong("arithmetic", Fraction(n * first, every), equal, shared // first, answer + 1)
    draft.wrong("out_of_range", n)
    draft.wrong("arithmetic", answer + c)
    draft.wrong("encoded_form_not_applied", every)
    return draft
