from __future__ import annotations

import re

import pytest
from snapshot import Golden
from stating import said

from constraint_first.constraint.predicate import integer
from constraint_first.constraint.stated.numeral import INTEGER, NUMBERS, to_integer, to_integers
from constraint_first.constraint.stated.property import digits_range, read_properties
from constraint_first.constraint.stated.quantity import FUNCTION_WORDS, read_amounts, stem
from constraint_first.constraint.stated.read import read_stated
from constraint_first.constraint.stated.statement import Stated, check_stated


def texts(listed: str) -> list[str]:
    """Take a list apart: each text begins with a dash and goes on over the next lines."""
    return [" ".join(one.split()) for one in listed.split("\n- ")[1:]]


STATING = texts(
    r"""
- What is the largest odd multiple of $7$ that is less than $173$?
- Find the smallest positive integer $n$ such that $n!$ ends in three zeros.
- What is the greatest two-digit prime?
- Find the largest prime factor of $2^{16}-1$.
- Which number between 50 and 60 is divisible by both 6 and 9?
- A museum shows an exhibition from $4$ October to $15$ October of the same year, the first and the
last day included. On how many days is it open?
- For how many days is a permit valid from February 27 to March 2 inclusive?
- Yesterday was April 30, 2021. What is the date today in MM/DD/YYYY?
- A bill of 31 January is due in 30 days. On what date is it due? Use the form yyyy-mm-dd.
- What is the latest date in May that is a Sunday?
- If today is Monday, what day of the week will it be in 100 days?
- What month is it 30 months after March?
- Ann was 12 in 1987. In what year was she born?
- What is the probability that both coins show heads?
- What percent of the students are girls?
- What percentage of all her apples are not rotten?
- What percent of the mixture is acid?
- What percent of his shots did he miss?
- By what percent was the price of the coat reduced?
- What is the probability that it rains? Express your answer as a percent.
- What is the percentage chance that it rains?
- What is the measure of angle $ABC$ in degrees?
- Which is it? (A) one (B) two (C) three (D) four
- A film begins at 7:25 p.m. and runs for 118 minutes. At what time does it end?
- What time is 7 minutes before noon?
- School ends at 3:15. What time is it 50 minutes later? Answer in the form HH:MM.
- It is 11:50 p.m. now. What time will it be in 45 minutes?
- If it is 2:30 p.m. in Oslo and 75 minutes pass, what is the time in Oslo?
- A flight leaves at 22:10 and lasts 175 minutes. What time does it land? Use a watch, and give your
answer in 24-hour time.
- On a 12-hour clock, what time is it 100 hours after 3:00?
- No stall holder may rent more than $10$ tables. A table has room for $12$ pots. If they rent $9$,
$3$ and $8$ tables and fill them, how many pots are on show?
- How many stickers did Noor have to begin with? In turn $4$, $7$ and $10$ children each got $20$
stickers, and the remainder, $10$ stickers, stayed in the drawer.
- At dusk the thermometer shows $10$ degrees Celsius. Then the temperature falls by $3$ degrees
every hour for $4$ hours. What is the temperature then, in degrees Celsius?
- Soren works for $1$ hour $53$ minutes and $3$ hours $18$ minutes. How long is that altogether, in
minutes?
- How many primes are there below $100$?
- Find the number of ordered pairs $(a,b)$ of integers with $ab=12$.
- A class has boys and girls. How many students are absent?
- Ximena's jar contains $54$ mint sweets and $57$ caramel sweets. Ximena takes one sweet without
looking. The probability that it is a mint sweet is $\frac{m}{n}$ in lowest terms. What is the
denominator?
- It is $\frac{m}{n}$ with $m$ and $n$ coprime positive integers. What is $m+n$?
- The probability is $\frac{m}{n}$, where $m$ and $n$ are relatively prime positive integers. Find
$m+n$.
- The area is $a\sqrt{b}$, where $a$ and $b$ are positive integers and $b$ is square-free. Find
$100a+b$.
- In lowest terms these amounts are in the ratio $a : b : c$. Find $a + b + c$.
- The chance that both are green is a fraction that cannot be simplified further. Add its numerator
and its denominator. What is the result?
- A number divides $450$. It is larger than $38$ and smaller than $61$, and it is odd. Which number
is it?
- The digits of a page number add up to $9$. The number is divisible by $4$ and lies between $20$
and $40$. Which page is it?
- The number of rows is even, and there are more than $12$ but fewer than $28$ of them. How many
rows are there?
- One house belongs to Ann. Its number is odd, greater than $78$ and a multiple of $3$. What is the
number of the house?
- Stickers are pasted only in complete pages of $6$. Priya has $53$ stickers. How many of the
stickers are pasted?
- Elif arranges $108$ chairs in equal rows. How many rows are there?
- Packed in boxes of $4$ or $6$, the tins always fill the last box. Their number is between $20$ and
$30$. What is it?
- Arrange the numbers 3, 0.5, 2/3 and 1 in ascending order.
- Order the following from least to greatest: 0.3, 1/4, 0.28.
- Sort 12, 7, 30 in descending order, separated by commas.
- Find all $x$ with $x^2 = 9$. Enter your answers in decreasing order.
- Find all real $x$ with $|x| = 2$. List them from smallest to largest.
- Find the two roots of the equation, in ascending order.
- A florist ties $39$ bunches from $213$ roses. A festive bunch takes $7$ roses, a plain one $4$.
Find the number of festive bunches.
- A cat is $6$ months younger than a dog, and a parrot is $2$ months older than the dog. The ages of
all these animals add up to $95$ months. How many months old is the dog?
- Soren pays $8.89$ dollars for $7$ brushes. Rounded to whole dollars that is $9$. Find, in dollars,
what a single brush cost exactly.
- Farah lays $3$ boards end to end, each $4$ m $40$ cm long. How long is the row, in centimetres?
- Tamsin and Dmitri divide $110$ gold coins in the ratio $3:8$. How many gold coins does Tamsin get?
- Compute $84 + 116$ and give your answer modulo $7$, as an integer from $0$ to $6$.
- Ann evaluates $66 + 369$ and divides the result by $11$. Determine the remainder.
- Find the remainder when $7^{100}$ is divided by $1000$.
- What is the remainder when the remainder of $100$ divided by $13$ is divided by $5$?
- Compute $7^{100}$ modulo $13$.
- What is the units digit of $7^{2011}$?
- Find the last three digits of $3^{1000}$.
- The sum of these numbers is congruent to $5$ modulo $7$. Compute the sum.
- A positive integer is divided by $38$. The remainder is $30$. Find the integer.
- A two-digit number has digit sum $10$. Written backwards, it becomes larger by $54$. Find the
number.
- What number do you get if you add $201 + 171$ and write the result backwards?
- What is $\pi$, rounded to the nearest hundredth?
- How far is it? Round your answer to the nearest ten.
- What is $11 \div 3$, truncated (not rounded) after the decimal point?
- What is the mean height, to 3 decimal places?
- Yusuf writes the integers from $1$ to $40$ on the board and wipes out all multiples of $8$. How
many numbers are left?
- Leave out the largest and the smallest of the numbers $7$, $8$, $9$ and $13$, add the others, and
multiply the sum by $3$. What do you get?
- Soren draws $4$ dots on a circle and joins every two dots by one line. A line takes $7$ seconds.
How many seconds does Soren need for the lines?
- Find the second largest of $5$ consecutive multiples of $3$ that add up to $795$.
- What is the largest number in a row of $3$ consecutive odd integers whose sum is $171$?
- The largest of $4$ consecutive multiples of $11$ is $143$. Find their sum.
- Determine the mean of the first $4$ odd numbers that are at least $41$.
- Count each value only once. Which is the second smallest value among $96$, $74$, $56$, $29$ and
$29$?
"""
)


def test_what_is_stated(golden: Golden) -> None:
    shown = ("\n- ".join((text, *sorted(said(text)))) for text in STATING)
    assert "\n\n".join(shown) + "\n" == golden("stated-rules.md")


# --- numeral


@pytest.mark.parametrize("text", ["7", "1000", "1,000"])
def test_a_whole_number_stands_for_itself(text: str) -> None:
    assert to_integer(re.search(INTEGER, f"it is {text} in all")[0]) == int(text.replace(",", ""))  # type: ignore[index]


def test_a_list_is_read_whole() -> None:
    found = re.search(NUMBERS, "divisible by 10 , 1,100 and 14 .")
    assert found is not None
    assert to_integers(found.group()) == [10, 1100, 14]


# --- property


def words(text: str) -> list[str]:
    return [one.sentence for one in read_properties(text, 0, len(text))[0]]


def test_a_length_is_a_range() -> None:
    assert digits_range(2) == {"op": "between", "low": 10, "high": 99}


# --- quantity


@pytest.mark.parametrize(
    ("one", "many"),
    [("card", "cards"), ("cookie", "cookies"), ("city", "cities"), ("shelf", "shelves")],
)
def test_one_thing_and_many_have_the_same_stem(one: str, many: str) -> None:
    assert stem(one) == stem(many)


def test_amounts_are_told_from_the_numbers_of_other_things() -> None:
    found = read_amounts("every pack holds 15 cards. ann buys 3, 4 and 5 packs.", {"card": 1})
    assert found is not None
    own, others = found
    assert [(int(one.value), one.rate) for one in own] == [(15, True)]
    assert [int(one.value) for one in others] == [3, 4, 5]


def test_a_unit_is_converted() -> None:
    found = read_amounts("it takes 2 hours 15 minutes", {"minut": 1, "hour": 60})
    assert found is not None
    assert [int(one.value) for one in found[0]] == [120, 15]


@pytest.mark.parametrize("text", ["each has 2.5 cards", "there are 5 boxes", ""])
def test_no_whole_amount_of_the_unit(text: str) -> None:
    assert read_amounts(text, {"card": 1}) is None


def test_words_that_name_nothing() -> None:
    assert stem("the") in FUNCTION_WORDS


def test_what_is_told_of_one_of_the_other_things_is_marked() -> None:
    found = read_amounts(
        "every crate holds 6 pens. each pen costs 3 cents. ann pays 105 cents.", {"pen": 1}
    )
    assert found is not None
    assert [(int(one.value), one.rate) for one in found[1]] == [(3, True), (105, False)]


# --- statement


WHOLE = Stated("domain", integer(), (0, 8), "The answer is an integer.")


@pytest.mark.parametrize(
    ("answer", "truth"),
    [("12", "holds"), ("1.5", "violated"), ("no idea", "undecided"), ("B", "undecided")],
)
def test_an_answer_is_checked(answer: str, truth: str) -> None:
    assert check_stated([WHOLE], answer) == ((WHOLE, truth),)


def test_a_probability_in_percent_is_not_judged() -> None:
    (chance,) = read_stated("What is the probability that it rains?")
    assert check_stated([chance], "30%") == ((chance, "undecided"),)
    assert check_stated([chance], "30") == ((chance, "violated"),)


# --- unit


def test_a_total_in_two_units_is_counted_in_the_asked_one() -> None:
    text = (
        "Each tile weighs 300 g and each block weighs 2 kg. How many g do 3 tiles and 4 blocks "
        "weigh?"
    )
    assert "The answer is made of amounts that are multiples of 100." in said(text)


def test_a_total_is_no_multiple_where_parts_are_smaller_than_the_asked_unit() -> None:
    text = (
        "Each box weighs 6 kg and each book weighs 300 g. How many kg do 2 boxes and 5 books weigh?"
    )
    assert said(text) == set()
