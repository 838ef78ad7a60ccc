import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfr.answer.extraction.prose import bald, bare, from_choice, from_end, from_marker, unmarked


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("42", "42"),
        ("-3/7", "-3/7"),
        (r"$\frac{1}{2}$", r"\frac{1}{2}"),
        ("x = 5", "x = 5"),
        ("2+3=5", "5"),
        ("(B)", "B"),
        ("C.", "C"),
        ("12 cm", "12 cm"),
        ("three apples", "three apples"),
        ("**7**", "7"),
        ('"east"', "east"),
        ("9" * 6_000, "9" * 6_000),
    ],
)
def test_a_text_that_is_an_answer_and_nothing_else(text: str, answer: str) -> None:
    assert bare(text) == answer


@pytest.mark.parametrize(
    "text",
    [
        "The answer is 42.",
        "So we get 42",
        "there are 42",
        "one two three four five six",
        "I give up",
        "We found\n42",
        "Total apples 42",
        "Thus **42** follows",
        "x" * 6_000,
    ],
)
def test_a_sentence_is_no_bare_answer(text: str) -> None:
    assert bare(text) is None


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("The answer is 42.", "42"),
        ("The answer is $42$.", "42"),
        ("Answer: 42", "42"),
        ("**Answer:** 42", "42"),
        ("The final answer is:\n\n42", "42"),
        ("#### 42", "42"),
        ("## Final Answer\n\n42", "42"),
        ("最终答案是：42", "42"),
        ("The result equals 42 because 6*7 = 42.", "42"),
        ("The answer is therefore 42, since it must be.", "42"),
        ("The answer is 5 (five).", "5"),
        ("The answer is (C) 17.", "C"),
        ("The answer is C.", "C"),
        ("The answer is $1$ and $2$.", "$1$ and $2$"),
        ("The answer is 41. No: the answer is 42.", "42"),
        ("The answer is that the number of apples in the basket is 42.", "42"),
        ("The answer would be \\(42\\).", "42"),
    ],
)
def test_what_the_last_marker_introduces(text: str, answer: str) -> None:
    assert from_marker(text) == (answer, "marker")


@pytest.mark.parametrize(
    "text", ["", "42", "The answer is not 42.", "We answered it.", "I have no answers to give"]
)
def test_where_there_is_no_marker(text: str) -> None:
    assert from_marker(text) is None


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("So I choose option B.", "B"),
        ("The correct choice is (C).", "C"),
        ("Option A is wrong; select **D**", "D"),
    ],
)
def test_a_letter_behind_the_word_option(text: str, letter: str) -> None:
    assert from_choice(text) == (letter, "choice")


@pytest.mark.parametrize("text", ["", "B", "option b", "We choose All", "option A" + " x" * 300])
def test_no_letter_is_no_choice(text: str) -> None:
    assert from_choice(text) is None


@pytest.mark.parametrize(
    ("text", "answer", "how"),
    [
        ("We add.\n\\[ x = 2 + 3 = 5 \\]", "5", "display"),
        ("We add.\n$$6 \\cdot 7 = 42.$$", "42", "display"),
        ("We add the numbers.\n42", "42", "last line"),
        ("Therefore the sum is **42**.", "42", "bold"),
        ("So there are $x = 42$ of them.", "42", "inline"),
        ("So there are 12 such sequences in all.", "12", "last number"),
        ("So she has 1,234 coins. I hope this helps!", "1,234", "last number"),
        ("They cost $12.50.", "$12.50", "last number"),
    ],
)
def test_what_a_reply_ends_in(text: str, answer: str, how: str) -> None:
    assert from_end(text) == (answer, how)


def test_a_long_reply_that_was_cut_off_ends_in_nothing() -> None:
    text = "We look at all cases one by one. " * 20 + "In the 7 cases that are left we"
    assert from_end(text) is None
    assert from_end(text + " find 12 ways.") == ("12", "last number")


@pytest.mark.parametrize("text", ["", "I give up.", "Nothing to see here"])
def test_what_ends_in_words_has_no_answer(text: str) -> None:
    assert from_end(text) is None


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("The mean is 5", "The mean is 5"),
        ("The answer is 5.", "5"),
        ("$5$", "5"),
        ("answer:", "answer:"),
    ],
)
def test_a_value_that_is_a_sentence(text: str, answer: str) -> None:
    assert unmarked(text) == answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("$$5$$", "5"),
        (r"\(5\)", "5"),
        (r"\[5\]", "5"),
        ("**5**", "5"),
        ('"5"', "5"),
        ("5.", "5"),
        ("...", "..."),
        ("$5$ and $6$", "$5$ and $6$"),
        ("  5  ", "5"),
        ("$", "$"),
        ("", ""),
    ],
)
def test_an_answer_without_its_wrapping(text: str, answer: str) -> None:
    assert bald(text) == answer


@given(st.text(max_size=120) | st.text("$*\\()[].:= \nanswerisB123", max_size=80))
def test_no_text_breaks_a_rule(text: str) -> None:
    """Whatever a rule takes is a part of the text, except that wrapping and glosses go."""
    for rule in (from_marker, from_choice, from_end):
        found = rule(text)
        assert found is None or found[0] in text
    assert bald(text) in text
    assert (bare(text) or "") in text
    assert unmarked(text) in text


@given(st.integers())
def test_a_number_comes_through_every_rule(number: int) -> None:
    assert bare(str(number)) == str(number)
    assert from_marker(f"The answer is {number}.") == (str(number), "marker")
    assert from_end(f"There are {number} of them.") == (str(number), "last number")
