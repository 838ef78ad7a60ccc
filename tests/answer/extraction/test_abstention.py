import pytest

from constraint_first.answer.extract import abstains, is_none, is_nothing


@pytest.mark.parametrize(
    "text",
    [
        "I could not determine the answer.",
        "No answer can be given.",
        "I was unable to find the answer to this problem.",
        "I'm sorry, but I can't solve this problem.",
        "The answer cannot be determined.",
        "The final answer could not be computed within 100 steps.",
        "I am not sure what the answer is.",
        "I ran out of time before reaching an answer.",
        "After 12 pages of casework I failed to find the answer.",
        "We get 5.\nI have no final answer.",
        "I give up after 5 tries.",
    ],
)
def test_a_reply_that_gives_up(text: str) -> None:
    assert abstains(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "There is no solution.",
        "The equation has no real solutions.",
        "Answer: none of these",
        "She could not find 3 of her 12 marbles, so 9 remain.",
        "I could not find the answer at first.\nThere are 12 ways.",
        "There are no such integers, so 0.",
    ],
)
def test_an_answer_is_not_given_up(text: str) -> None:
    assert not abstains(text)


@pytest.mark.parametrize(
    "word", ["", "N/A", "null", r"\text{None}", "unknown", "I don't know.", "?", "No valid answer"]
)
def test_words_for_no_answer(word: str) -> None:
    assert is_nothing(word)


@pytest.mark.parametrize("word", ["0", "no solution", "none of these", "does not exist", "?" * 80])
def test_words_that_are_an_answer(word: str) -> None:
    assert not is_nothing(word)


def test_none_in_small_letters_may_be_one() -> None:
    assert is_none(r"\text{none}")
    assert not is_none("None")
