import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.answer.extract import extract, without_approximation


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("is 1/6, or about 16.7%.", "is 1/6."),
        (r"is \frac{7}{12} ≈ 0.583", r"is \frac{7}{12}"),
        (r"is $\frac{7}{12} \approx 0.583$.", r"is $\frac{7}{12}$."),
        (r"is $\frac{7}{12}$, which is approximately $0.583$.", r"is $\frac{7}{12}$."),
        (r"is $\frac{7}{12} \approx 0.583 = 58.3\%$.", r"is $\frac{7}{12}$."),
        ("√2 (approximately 1.414)", "√2"),
        ("3/8, which is roughly 0.375", "3/8"),
        ("5π, i.e. about 15.7", "5π"),
        ("**1/6** (≈ 0.167)", "**1/6**"),
        ("x = 5π ≈ 15.71 cm", "x = 5π cm"),
        ("-√3 ≈ -1.732...", "-√3"),
        ("1/3 ≈ 0.33 and 2/3 ≈ 0.67", "1/3 and 2/3"),
    ],
)
def test_an_approximation_of_an_exact_value_is_dropped(text: str, exact: str) -> None:
    assert without_approximation(text) == exact


@pytest.mark.parametrize(
    "text",
    [
        "x ≈ 3.14",
        "about 350",
        "There were 40 students, or about 10 per class.",
        "22/7 is approximately 3.14",
        "5π, which is about 15.7 to the nearest tenth.",
        "5π ≈ 15.71, rounded to two decimals.",
        r"$\frac{350}{13.5} \approx 25.9$",
        r"$\frac{5 \times 7}{3} \approx 11.7$",
        "5π ≈ 15.7 × 2",
        "The cost is 100/3, or about $33.33.",
        "1/6, or about a sixth",
        "The radius is 1/2 and the area is about 0.785.",
    ],
)
def test_a_number_that_is_no_repetition_stays(text: str) -> None:
    assert without_approximation(text) == text


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("The probability is 1/6, or about 16.7%.", "1/6"),
        (r"So it is \frac{7}{12} ≈ 0.583.", r"\frac{7}{12}"),
        ("The length is √2 (approximately 1.414).", "√2"),
        ("The area is 5π (about 15.7) square units.", "5π"),
        (r"Therefore the length is $2\sqrt{3} \approx 3.46$ units.", r"2\sqrt{3}"),
        (r"The answer is $\frac{7}{12} \approx 0.583$.", r"\frac{7}{12}"),
        (r"\boxed{5\pi \approx 15.7}", r"5\pi"),
        ('{"final_answer": "7/12 ≈ 0.583"}', "7/12"),
        ("The answer is approximately 3.14.", "3.14"),
        ("Divide 22 by 7 and we get approximately 3.14.", "3.14"),
        (r"\boxed{x \approx 0.58}", r"x \approx 0.58"),
    ],
)
def test_the_exact_value_of_a_reply_is_its_answer(reply: str, answer: str) -> None:
    assert extract(reply).answer == answer


@given(st.text("1/6π≈ ,.$()orabout%\\frac{}", max_size=80))
def test_nothing_is_added(text: str) -> None:
    assert len(without_approximation(text)) <= len(text)
