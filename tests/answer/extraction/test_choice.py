import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.answer.marks import from_choice, leading_letter, lone_letter


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


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("rather E than A", "E"),
        ("I prefer C to B.", "C"),
        ("So it has to be E rather than D.", "E"),
        ("B is the correct answer, as A and C are not.", "B"),
        ("Between B and D, D is the right one.", "D"),
        ("Option A is correct. Options B and C ignore the boundary.", "A"),
        ("It can't be A, B or C, so D.", "D"),
        ("That leaves D.", "D"),
        ("So D it is.", "D"),
        ("故选 C。", "C"),
        ("C, because only 9 is odd.", "C"),
        ("Thus, option B (42) is correct.", "B"),
        ("I settle on E.", "E"),
        ("**D) This is the correct answer**", "D"),
        ("Between B and C, B wins because of its units.", "B"),
    ],
)
def test_a_letter_that_is_preferred_to_others(text: str, letter: str) -> None:
    assert from_choice(text) == (letter, "choice")


@pytest.mark.parametrize(
    "text", ["Option B is wrong.", "I would not choose B.", "It must be A, so the sum is 12."]
)
def test_a_letter_that_is_not_chosen(text: str) -> None:
    assert from_choice(text) is None


@pytest.mark.parametrize("text", ["", "B", "option b", "We choose All", "option A" + " x" * 300])
def test_no_letter_is_no_choice(text: str) -> None:
    assert from_choice(text) is None


@pytest.mark.parametrize(
    "text",
    ["B", "(B)", "[B]", "{B}", "**B.**", "$B$", r"\textbf{(B)}", r"\text{B}", "Option B", "B;"],
)
def test_a_letter_alone(text: str) -> None:
    assert lone_letter(text) == "B"


@pytest.mark.parametrize("text", ["", "b", "K", "BC", "B = 5", "A parabola"])
def test_what_is_not_a_letter_alone(text: str) -> None:
    assert lone_letter(text) == ""


@pytest.mark.parametrize(
    "phrase",
    [
        "D, since the others fail", "D because A is odd", "(D) because A and B are odd", "D. 20",
        "D) 20", "D: 20", "(D) 20", "[D]", "**D**, as C is odd", "D – the slope", "D - the slope",
        "D, not A.", "D rather than E", "option D: 3/8", "(D), (B) is wrong",
        "D，因为其他选项都不成立", "D, followed by B",
    ],
)  # fmt: skip
def test_a_letter_with_its_reason(phrase: str) -> None:
    assert leading_letter(phrase) == "D"


@pytest.mark.parametrize(
    "phrase", ["A parabola", "A = 5", "B, D", "A and C", "B - 2", "I think so", "(A) + (B)", "12"]
)
def test_what_only_begins_like_a_letter(phrase: str) -> None:
    assert leading_letter(phrase) == ""


@given(st.text(max_size=120) | st.text("ABCDI ()[]{}*$.,-is not", max_size=80))
def test_a_letter_is_a_part_of_the_text(text: str) -> None:
    found = from_choice(text)
    assert found is None or found[0] in text
    assert leading_letter(text) in text
    assert lone_letter(text) in text
