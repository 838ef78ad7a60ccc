import pytest

from cfr.constraint.kind import read_kind

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
]


@pytest.mark.parametrize("text", PROBLEMS)
def test_a_text_that_asks_for_a_value_is_a_problem(text: str) -> None:
    assert read_kind(text).what == "problem", read_kind(text).why


@pytest.mark.parametrize("text", OTHERS)
def test_any_other_text_is_none(text: str) -> None:
    assert read_kind(text).what == "other", read_kind(text).why
