import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.answer.extract import bare, corrected, from_end
from constraint_first.answer.marks import from_marker


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
    "text",
    [
        "Ans: seven", "rather E than A", "That leaves D", "I'm stuck at step 3", "La suma es 12",
        "Total: 12", "No valid answer here", "First 10 then 20 finally 30",
        "因为这两个数的和是偶数所以乘积也是偶数",
    ],
)  # fmt: skip
def test_a_few_words_may_be_a_sentence_too(text: str) -> None:
    assert bare(text) is None


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("[B]", "B"),
        ("(A) 12", "A"),
        ("==> 343", "343"),
        ("Total = 45", "45"),
        (r"\frac12 + \frac12 = 1", "1"),
    ],
)
def test_what_stands_around_a_bare_answer(text: str, answer: str) -> None:
    assert bare(text) == answer


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


@pytest.mark.parametrize(
    ("text", "answer", "how"),
    [
        ("The numbers are 3, 6, and 9.", "3, 6, and 9", "last numbers"),
        ("The probability is 1/4 (or 25%).", "1/4", "last number"),
        ("So Tom has 24 apples left after giving away 6.", "24", "last number"),
        ("The maximum is $5$, attained at $x = 3$.", "5", "inline"),
        ("The prime factors are 2, 3 and 5.", "2, 3 and 5", "last numbers"),
        ("It lies halfway between 621 and 630, which is 625.5.", "625.5", "last number"),
        ("It is $\\frac{15}{36}$, which simplifies to $\\frac{5}{12}$.", "\\frac{5}{12}", "inline"),
        ("Each child gets 22 candies, with 3 left over.", "22", "last number"),
        ("The greatest value is 6, which occurs at x = 2.", "6", "last number"),
        ("It is $10$.\n\nI hope this helps! Let me know if you need more.", "10", "inline"),
        (r"So the ratio is \frac{2}{3}.", r"\frac{2}{3}", "last value"),
        (r"So $k = 2$. $\blacksquare$", "2", "inline"),
        ("To find the cube: 3^3 = 27. ✅", "27", "label"),
        ("We count.\nNumber of ways: 12", "12", "label"),
        ("The system has no real solutions.", "no real solutions", "words"),
    ],
)
def test_what_else_a_reply_ends_in(text: str, answer: str, how: str) -> None:
    assert from_end(text) == (answer, how)


@pytest.mark.parametrize(
    ("text", "answer", "how"),
    [
        ("So x ∈ {1, 2, 3}.", "{1, 2, 3}", "last set"),
        (r"Hence x \in \{2, 5\}.", r"\{2, 5\}", "last set"),
        ("Therefore k ∈ (0, 2] ∪ [3, 5).", "(0, 2] ∪ [3, 5)", "last set"),
        ("From x² < 4 we get x ∈ (-2, 2).", "(-2, 2)", "last set"),
        ("The solution set is {7}.", "{7}", "last set"),
        (r"It is \left[0, \frac{1}{2}\right).", r"\left[0, \frac{1}{2}\right)", "last set"),
        ("The point is (3, 4).", "(3, 4)", "last set"),
        ("The roots are 1, 2, 3.", "1, 2, 3", "last numbers"),
        ("The roots are x = 1, 2, 3", "1, 2, 3", "last numbers"),
        ("So x = 1 or x = 3.", "x = 1 or x = 3", "last numbers"),
        ("Since x ∈ {1, 2, 3}, there are 3 of them.", "3", "last number"),
        ("The maximum is 7 for x ∈ [0, 1].", "7", "last number"),
        ("For x ∈ [0, 1] the maximum is 7.", "7", "last number"),
        ("So the total is 1,234.", "1,234", "last number"),
        ("So x = 2 and y = 3.", "x = 2 and y = 3", "last numbers"),
    ],
)
def test_a_set_or_a_list_that_a_reply_ends_in(text: str, answer: str, how: str) -> None:
    assert from_end(text) == (answer, how)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("The length is √2.", "√2"),
        ("The area is 5π square units.", "5π"),
        ("The angle is 3π/4.", "3π/4"),
        ("The volume is (4/3)π.", "(4/3)π"),
        ("It is -2√3.", "-2√3"),
    ],
)
def test_a_root_and_pi_belong_to_their_number(text: str, answer: str) -> None:
    assert from_end(text) == (answer, "last number")


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("No solution exists.", "No solution"),
        ("no solutions exist", "no solutions"),
        ("No real solution exists.", "No real solution"),
        ("no solution in integers", "no solution in integers"),
    ],
)
def test_that_none_exist_is_said_in_fewer_words(text: str, answer: str) -> None:
    assert bare(text) == answer


def test_a_long_reply_that_was_cut_off_ends_in_nothing() -> None:
    text = "We look at all cases one by one. " * 20 + "In the 7 cases that are left we"
    assert from_end(text) is None
    assert from_end(text + " find 12 ways.") == ("12", "last number")


@pytest.mark.parametrize("text", ["", "I give up.", "Nothing to see here"])
def test_what_ends_in_words_has_no_answer(text: str) -> None:
    assert from_end(text) is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The answer is 7. Wait: 3 + 5 = 8. So it's 8.", ("8", "last number")),
        ("The answer is 7. So it's 8.", None),
        ("The answer is 7. Wait, let me see 3 things.", None),
    ],
)
def test_an_answer_that_is_taken_back(text: str, found: tuple[str, str] | None) -> None:
    assert corrected(text, "7") == found


@given(st.text(max_size=120) | st.text("$*\\()[].:= \nanswerisB123", max_size=80))
def test_no_text_breaks_a_rule(text: str) -> None:
    """Whatever a rule takes is a part of the text, except that several values are joined."""
    found = from_end(text)
    assert found is None or found[0] in text or ", " in found[0]
    assert (bare(text) or "") in text


@given(st.integers())
def test_a_number_comes_through_every_rule(number: int) -> None:
    assert bare(str(number)) == str(number)
    assert from_marker(f"The answer is {number}.") == (str(number), "marker")
    assert from_end(f"There are {number} of them.") == (str(number), "last number")
