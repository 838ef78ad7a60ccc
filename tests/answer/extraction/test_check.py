import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.answer.extract import extract, without_check


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("It is **6**.\n\nLet me double check: 6 < 7. ✓", "It is **6**."),
        ("It is 12. Check: 3·4 = 12.", "It is 12."),
        ("It is 4.\nVerification: 2+2=4 ✓", "It is 4."),
        ("It is 4.\n\n**Sanity check:** 4 is even.", "It is 4."),
        ("It is 4.\n\nWe can verify that 4 is even.", "It is 4."),
        ("It is 4.\n\n5. **Verify the answer:**\n   2 + 2 = 4", "It is 4."),
        ("It is 4. To check, 2 + 2 = 4.", "It is 4."),
        ("It is 4. Check: 2 + 2 = 4. So the result is correct.", "It is 4."),
    ],
)
def test_a_check_at_the_end_is_cut_off(text: str, before: str) -> None:
    assert without_check(text).strip() == before


@pytest.mark.parametrize(
    "text",
    [
        "It is 4.",
        "There are 6 candidates. Checking each of them, we find that 3 work.",
        "There are 6 candidates. Let us verify each one: 3 work.",
        "It is 6. Check: 3 + 4 = 7. Wait, that gives 7.",
        "It is 6. Check: 3 + 4 = 7. So it is 7.",
        "It is 6. Double check: 3 + 4 is not 6.",
        "It is 6. Check: 3 + 3.\n\nTherefore, we have:\n\\[\n7\n\\]",
        "x is 5. Check: 5 + 5 = 10.\n\nNow y is 7.",
        "It is 6. Check: 3 + 3. " + "We add them up. " * 60,
        "A checkered board has 64 squares.",
    ],
)
def test_what_goes_on_to_an_answer_of_its_own_stays(text: str) -> None:
    assert without_check(text) == text


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("The remainder is **6**.\n\nLet me double check: 6 < 7. ✓", "6"),
        ("Answer: 12. Check: 3·4 = 12.", "12"),
        ("So there are 12 ways.\n\nCheck: 3·4 = 12, 5+7 = 12, and 2^2 = 4.", "12"),
        ("The total is 31.\n\nSanity check: 31 is prime and 31 = 2^5 - 1.", "31"),
        ("The total is $31$.\n\nLet's verify: $31 \\bmod 4 = 3$, $31 \\bmod 7 = 3$.", "31"),
        ("Verification: 2+2=4 ✓", "4"),
        ("Let me check: 3 + 4 = 7.", "7"),
        ("We check the cases. The total is 12.", "12"),
        ("It is 6. Double check: 6 < 7. Wait, that gives 7, so the answer is 7", "7"),
        ("It is 6. Check: 3 + 4 = 7. So it is 7.", "7"),
    ],
)
def test_a_check_is_no_place_for_an_answer_that_was_given(reply: str, answer: str) -> None:
    assert extract(reply).answer == answer


@given(st.text("check: verify.\n12 So", max_size=80) | st.text(max_size=60))
def test_what_is_left_is_the_beginning(text: str) -> None:
    assert text.startswith(without_check(text))
