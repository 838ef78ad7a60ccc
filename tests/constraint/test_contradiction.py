import pytest

from constraint_first.constraint.claim import contradicts
from constraint_first.constraint.stated.read import read_stated

REMAINDER = "Find the remainder when $3^{50}$ is divided by 7."


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ("The answer is between 50 and 90.", True),
        ("The remainder is at least 7.", True),
        ("The answer is less than 0.", True),
        ("The answer is less than 7.", False),
        ("The answer is even.", False),
        ("The answer is an integer between 0 and 100.", False),
        ("n is between 50 and 90.", False),
        ("The answer is in minutes.", False),
        ("The answer is rounded to the nearest tenth.", False),
        ("Something that nobody can read.", False),
        ("", False),
    ],
)
def test_what_cannot_hold_beside_the_text_contradicts_it(said: str, wrong: bool) -> None:
    assert contradicts(read_stated(REMAINDER), said, REMAINDER) is wrong


def test_a_text_that_states_nothing_is_hard_to_contradict() -> None:
    assert not contradicts((), "The answer is negative.", "Simplify $x+x$.")
    assert contradicts((), "The answer is even and the answer is odd.", "Simplify $x+x$.")


COUNT = "How many positive integers have this property?"
FOUR_DIGITS = "Find the smallest four-digit integer with this property."
THOUSANDS = "Find the remainder when $7^{100}$ is divided by 5000."


@pytest.mark.parametrize(
    ("text", "said", "wrong"),
    [
        (COUNT, "The answer is between 2000 and 3000.", False),
        (COUNT, "The answer is divisible by 1234.", False),
        (COUNT, "The answer is 4096.", False),
        (COUNT, "The answer is a perfect square greater than 2000000.", False),
        (FOUR_DIGITS, "The answer is divisible by 13.", False),
        (FOUR_DIGITS, "The answer is greater than 12000.", True),
        (THOUSANDS, "The answer is at least 2500 and even.", False),
        (THOUSANDS, "The answer is between 6000 and 7000.", True),
    ],
)
def test_numbers_that_are_large_are_tried_too(text: str, said: str, wrong: bool) -> None:
    assert contradicts(read_stated(text), said, text) is wrong
