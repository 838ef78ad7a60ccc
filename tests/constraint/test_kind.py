import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.constraint.kind import FEATURES, describe, find_features, read_kind, tell_kind
from constraint_first.constraint.router import FAMILIES
from constraint_first.constraint.stage1 import KINDS

# --- kind


PROBLEMS = [
    "What is 15% of 80?",
    "what's 12 * 7 + 3",
    "What is two plus two?",
    "What is the square root of 144?",
    "Find the remainder when 7^100 is divided by 13.",
    "How many primes are there below 100?",
    "How many three-digit positive integers have digits whose sum is 10?",
    "Solve for x: 3x + 5 = 20",
    "Solve $x^2 - 5x + 6 = 0$.",
    "Simplify $4v - 7(1 - 8v)$",
    "Compute the area of a triangle with base 10 and height 6.",
    "Ann has 5 apples and buys 3 more. How many apples does she have?",
    "A shirt costs $40 and is on sale for 25% off. How much do I pay?",
    "If a train travels 60 miles in 45 minutes, how far does it go in 2 hours?",
    "Find the derivative of $x^3 \\ln x$.",
    "Evaluate $\\int_0^1 x^2\\,dx$.",
    "Which of the following is prime? (A) 21 (B) 27 (C) 31 (D) 33",
    "If $a + b = 5$ and $ab = 6$, then $a^2 + b^2$ = ____",
    "Write $0.125$ as a common fraction.",
    "Tom hat 5 Äpfel und kauft 3 dazu. Wie viele Äpfel hat er jetzt?",
    "Berechne die Summe von 17 und 25, wenn jede Zahl verdoppelt wird.",
    "What is 3/4 of 120?",
    "A car goes 60 km/h for 2.5 hours. How far does it go?",
    "Calculate 17 * 23.",
    "100 - 37",
    "(3+4)*5 = ?",
    "What's the sum of 12, 15 and 19?",
    "Find x if 2x + 3 = 11.",
    "Solve x^2 = 49.",
    "What is the area of a circle with radius 5?",
    "The sum of two numbers is 20 and their difference is 4. What is the larger number?",
    "What is the probability of rolling a 6 twice with a fair die?",
    "Find the greatest common divisor of 48 and 180.",
    "How many ways can 5 people sit in a row?",
    "If 3 pencils cost $1.20, how much do 10 pencils cost?",
    "A rectangle is 5 cm by 8 cm. What is its perimeter?",
    "What percent of 80 is 20?",
    "Evaluate the integral of x^2 from 0 to 3.",
    "What is the 10th term of the arithmetic sequence 3, 7, 11, ...?",
    "What is the square root of 2 to three decimals?",
    "I have 12 eggs and break 5. How many are left?",
    "Maria is 3 times as old as her son. In 10 years she will be twice as old. How old is she now?",
    "小明有 5 个苹果，又买了 3 个。他一共有多少个苹果？",
]

OTHERS = [
    "hello",
    "thanks!",
    "",
    "ok",
    "and why?",
    "Tell me a joke.",
    "An old silent pond / A frog jumps into the pond / Splash! Silence again.",
    "Schreibe ein kurzes Gedicht über den Herbst.",
    "Über allen Gipfeln ist Ruh, in allen Wipfeln spürest du kaum einen Hauch.",
    "请写一首关于秋天的诗。",
    "How many moons does Jupiter have?",
    "In what year did the Second World War end?",
    "What is the population of France?",
    "What is the average salary of a nurse with 5 years of experience?",
    "How many people lived in Paris in 1900 and in 1950?",
    "How many seasons did the show have between 2011 and 2019?",
    "How many calories are in 2 eggs and 3 slices of bacon?",
    "Explain how to calculate 2+2.",
    "Explain why $\\sqrt{2}$ is irrational.",
    "Prove that $\\sqrt{2}$ is irrational.",
    "Write a Python function that computes the sum of 3 numbers.",
    "Write a function in C++ that takes 2 integers and returns their product.",
    "for i in range(10):\n    print(i)\n\nHow many lines does this print?",
    "Why does `x = 5 / 0` raise an error, and how many lines do I need to change?",
    "How many words should my essay have? It has 3 paragraphs.",
    "Give me 5 names for a cat.",
    "Rate this 1-10: The food was cold.",
    "What's 5G?",
    "Convert this CSV to JSON: a,b\n1,2\n3,4",
    "Summarize this for me: The meeting took 2 hours and cost $500.",
    "My flight is at 5pm and lasts 3 hours, what should I pack?",
    "How much should I tip?",
    "How much protein do I need if I weigh 80 kg and train 4 times a week?",
    "I have 2 kids and 3 dogs. What is the best car for me?",
    "What is the difference between HTTP/1.1 and HTTP/2?",
    "What is the meaning of life?",
    "What is the best of the 3 Matrix films?",
    "Translate to German: I have 3 apples and 5 pears. How many do I have?",
    "What about when it is divided by 5?",
    "Extract the total: 3 x pens $5, 2 x books $30, total $75.",
    "According to the article, how many of the 500 workers left in the 3 years?",
    "Which phone is better, the one with 8 GB for $300 or the one with 12 GB for $400?",
    "Can you write me a story about 3 pigs and 1 wolf? How long should it be?",
    "You are a tax adviser. I earned $50,000 and paid $5,000. How much do I owe?",
    "Create a 7 day meal plan with 2,000 calories a day.",
    "List 10 facts about the number 7.",
    "How much does a Tesla Model 3 cost in 2024?",
    "How long does it take to fly from London to New York?",
    "How long does it take to boil 6 eggs?",
    "How many calories does a 70 kg man burn running 5 km?",
    "How old was Mozart when he wrote his 25th symphony?",
    "What is the price of 1 bitcoin in 2021 and 2022?",
    "How far is it from Berlin to Munich if I drive 120 km/h?",
    "How many employees did Google have in 2015 and how many in 2020?",
    "What is the value of friendship?",
    "What is the sum of human knowledge?",
    "Find me a good restaurant for 4 people under $50.",
    "Solve this problem: my boss gives me 3 tasks and 2 days.",
    "Calculate my chances of getting into Harvard with a 3.9 GPA and 1500 SAT.",
    "Evaluate this essay: Dogs are 2 times better than cats.",
    "Determine the sentiment: I waited 2 hours and paid $40.",
    "Find the error in my sentence: He have 3 dogs.",
    "What time is it in Tokyo when it's 5pm in London?",
    "Which of the following is a fruit? (A) apple (B) car (C) dog",
    "Which of the following planets is largest: Mars, Jupiter, Venus?",
    "What is the difference between a 401k and a Roth IRA?",
    "I bought 3 shirts and 2 pants yesterday. What do you think of the colors?",
    "Ok so I have 20 minutes and 3 eggs. What can I cook?",
    "What is the speed of light?",
    "What is the distance from Earth to the Moon in km?",
    "What is the atomic number of gold and the mass of 1 mole?",
    "How many players are on a football team of 11 with 5 substitutes?",
    "At what temperature should I bake 12 cookies?",
    "How many times has Brazil won the World Cup?",
    "What's the chance of rain tomorrow at 5pm?",
    "What are the top 10 largest countries by area?",
    "Who scored the most points in the 1998 finals, and how many?",
    "My name is Ann, I am 34, I have 2 kids. Introduce me in a tweet.",
    "What is the total length of the 3 Lord of the Rings films?",
    "If I invest in stocks now, will I be rich in 10 years?",
    "If you could have 3 wishes, what would they be?",
    "How many types of RNA exist?",
    "It's 30 degrees and 80% humidity. What is the dress code?",
    "I have a 10:30 meeting and a 12:00 lunch; draft a note to move it by 15 minutes.",
    "2024-11-18 10:32:11 ERROR code=500. What is the cause?",
    "Wie viele Einwohner hat Berlin?",
    "Wie lange dauert die Fahrt von 200 km bei 3 Pausen?",
    "中国有多少个省？",
    "请用 3 句话介绍北京。北京有多少人？",
    "iPhone 15 vs 14: how much faster is it?",
    "The movie got 4/5 stars and 90% on RT. How good is it?",
    "Give an example of a quadratic equation.",
    "What is a prime number?",
    "What is the Pythagorean theorem?",
    "What is an integral?",
    "How is the area of a circle derived?",
    "What does x = 5 mean in algebra?",
    "Is 91 a prime number?",
    "List the first 10 primes.",
    "Make a table of the squares of 1 to 10.",
    "What is the largest prime number known?",
    "tell me the sum up of this news",
    "Let's play 20 questions. I am thinking of an animal.",
    "How many days are there in February?",
    "How many grams in a pound?",
    "How much is 100 euros in dollars?",
    "A user has 3 roles and 5 permissions. What is the best schema?",
    "The temperature is 20 C. What is it like to live there?",
    "How many ml in 2 cups and 3 tablespoons?",
]


@pytest.mark.parametrize("text", PROBLEMS)
def test_a_text_that_asks_for_a_value_is_a_problem(text: str) -> None:
    assert read_kind(text).what == "problem", read_kind(text).why


@pytest.mark.parametrize("text", OTHERS)
def test_any_other_text_is_none(text: str) -> None:
    assert read_kind(text).what == "other", read_kind(text).why


def test_a_demand_on_the_reply_comes_first() -> None:
    kind = read_kind("What is 15% of 80? Answer without commas.")
    assert kind.what == "demand"
    assert "without commas" in kind.why


def test_problems_in_other_languages_are_told_apart() -> None:
    assert read_kind("What is 15% of 80?").english
    assert not read_kind("Tom hat 5 Äpfel und kauft 3 dazu. Wie viele Äpfel hat er?").english


@given(st.text(max_size=300))
def test_any_text_is_something(text: str) -> None:
    assert tell_kind(text).startswith("auto ")


@pytest.mark.parametrize(
    "text", ["$" * 4_000, "what is " * 500, "1 + " * 1_000, "\\(" * 1_999, "a\n" * 1_999]
)
def test_no_text_takes_long(text: str) -> None:
    # Backtracking without end would show as a test that never ends.
    assert read_kind(text).why


# --- feature


@pytest.mark.parametrize(
    ("text", "having", "lacking"),
    [
        ("Weng earns $12 an hour and $3 more. How much did she earn?", "asks.amount", "latex"),
        ("How many apples are there?", "asks.integer", "asks.amount"),
        ("Simplify $\\frac{x}{2}$ in terms of $y$.", "asks.expression", "asks.integer"),
        ("Find the probability as a common fraction.", "asks.fraction", "asks.amount"),
        ("Find all values of $x$, separated by commas.", "asks.list", "asks.expression"),
        ("Which is it? (A) 1 (B) 2 (C) 3", "asks.choice", "latex"),
        ("What is $2 + 2$?", "latex", "functions"),
        ("A factory made 3 figures.", "figure", "asks.expression"),
        ("Let $f(x) = x^2$ be a function.", "functions", "geometry"),
        ("The angle $ABC$ is 30 degrees.", "geometry", "functions"),
        ("How many quadrangles?", "asks.integer", "geometry"),
        ("Find the remainder when 7 is divided by 3.", "cue.modular_remainder", "long"),
        ("word " * 61, "long", "stated"),
        ("Write about tea. Do not use any commas.", "demand", "asks.integer"),
        ("Can you write me a poem about tea?", "request", "demand"),
        ("Ann has to write 15 pages. How many are left?", "asks.integer", "request"),
        ("Find the remainder when $7^{10}$ is divided by 13.", "stated.modular", "stated.parity"),
    ],
)
def test_features_of_texts(text: str, having: str, lacking: str) -> None:
    found = find_features(text)
    assert having in found
    assert lacking not in found
    assert found <= set(FEATURES)


def test_the_features_are_few_and_each_has_words() -> None:
    assert len(FEATURES) == len(set(FEATURES)) < 40
    assert {f"cue.{family}" for family in FAMILIES} < set(FEATURES)
    assert {f"stated.{kind}" for kind in KINDS} < set(FEATURES)
    for feature in FEATURES:
        assert describe(feature) != describe(feature, present=False)
        assert not describe(feature).endswith((" ", "."))


@given(st.text())
def test_any_text_has_features(text: str) -> None:
    found = find_features(text)
    assert found <= set(FEATURES)
    assert sum(name.startswith("asks.") for name in found) <= 1
    assert ("cue" in found) == any(name.startswith("cue.") for name in found)
    assert find_features(text) == found


def test_half_a_surrogate_pair_and_a_long_text_are_texts() -> None:
    assert "asks.integer" in find_features("\ud800 How many?")
    assert "long" in find_features("$a " * 100_000)
