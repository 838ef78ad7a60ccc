import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from constraint_first.answer.extract import (
    bare,
    extract,
    from_end,
    without_approximation,
    without_check,
)
from constraint_first.answer.marks import from_marker

# --- extract


LATEX = [
    r"\frac{1}{2}", r"\tan x", r"\theta", r"\nu + 1", r"\neq", r"\binom{n}{k}", r"\beta^2", r"\rho",
    r"\{1, 2\}", r"\sqrt{3}", r"x^{2} - 1", r"\text{even}", r"\begin{pmatrix} 1 & 2 \end{pmatrix}",
]  # fmt: skip


def test_the_last_complete_box_wins() -> None:
    assert extract(r"First \boxed{3}, then \boxed{\frac{a}{b}}.").answer == r"\frac{a}{b}"


def test_a_box_token_that_the_budget_cut_off_is_no_answer() -> None:
    assert extract("So <|begin_of_box|>4", truncated=True).answer is None


def test_a_pleasantry_is_not_the_last_sentence() -> None:
    assert extract("So there are 12 such sequences in all. I hope it is correct.").answer == "12"


def test_an_unterminated_last_box_is_no_answer() -> None:
    found = extract(r"First \boxed{3}, then \boxed{\frac{a}{b")
    assert (found.answer, found.how) == (None, "unterminated box")


def test_thinking_alone_is_no_answer() -> None:
    assert extract(r"<think>it must be \boxed{3}").answer is None
    assert extract(json.dumps({"reasoning_content": r"\boxed{3}", "content": None})).answer is None


def test_a_truncated_reply_gives_no_intermediate_value() -> None:
    text = "We add 5 and 6, so x = 11."
    assert extract(text).answer == "11"
    assert extract(text, truncated=True).answer is None
    assert extract(r"so \boxed{11}, and furth", truncated=True).answer == "11"


@pytest.mark.parametrize("latex", LATEX)
@pytest.mark.parametrize("form", ["valid", "bare backslashes", "single quotes", "truncated"])
def test_latex_survives_damaged_json(latex: str, form: str) -> None:
    value = json.dumps(latex)
    reply = {
        "valid": f'{{"final_answer": {value}, "confidence": 0.5}}',
        "bare backslashes": f'{{"final_answer": "{latex}", "confidence": 0.5}}',
        "single quotes": f"{{'final_answer': '{latex}', 'confidence': 0.5}}",
        "truncated": f'{{"final_answer": {value}, "solution": "We st',
    }[form]
    assert extract(reply).answer == latex


@pytest.mark.parametrize("latex", LATEX)
def test_latex_that_a_json_decoder_has_eaten_is_given_back(latex: str) -> None:
    decoded = latex.replace(r"\f", "\f").replace(r"\b", "\b").replace(r"\r", "\r")
    decoded = decoded.replace(r"\tan", "\tan").replace(r"\the", "\the").replace(r"\nu", "\nu")
    assert extract(f'{{"final_answer": "{decoded}", "confidence": 1}}').answer == latex
    assert extract(f"So \\boxed{{{decoded}}}.").answer == latex


def test_a_matrix_row_ends_in_two_backslashes_however_json_had_them() -> None:
    matrix = r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}"
    assert extract(json.dumps({"final_answer": matrix})).answer == matrix
    assert extract(f'{{"final_answer": "{matrix}"}}').answer == matrix


@pytest.mark.parametrize("cut", range(1, 40))
def test_json_cut_anywhere_gives_its_answer_or_none(cut: int) -> None:
    reply = '{"certificate_type": "x", "final_answer": "1234", "confidence": 0.5}'
    assert extract(reply[:-cut]).answer in ("1234", None)


@given(st.text(alphabet="abc {}\\$0123456789^_,.", max_size=30))
def test_a_balanced_box_is_read_back(content: str) -> None:
    balanced = content.replace("{", "(").replace("}", ")").replace("\\", "")
    found = extract(f"Some reasoning. \\boxed{{{balanced}}} And that is all.")
    assert found.answer in (None, extract(balanced).answer or balanced.strip())


@given(st.text(max_size=300))
def test_no_text_breaks_it(text: str) -> None:
    found = extract(text)
    assert found.answer is None or found.answer.strip() == found.answer


@example("__0__")
@given(st.text(max_size=60) | st.text(alphabet="0123456789+-=., $*{}()is", max_size=40))
def test_an_answer_is_itself_or_has_none_in_it(text: str) -> None:
    answer = extract(f"\\boxed{{{text}}}").answer
    assert answer is None or extract(answer).answer in (answer, None)


@given(st.text(alphabet="<think>/ \\boxed{1}answer is:\"'final_", max_size=200))
def test_no_mixture_of_marks_breaks_it(text: str) -> None:
    assert extract(text).how


@given(
    st.integers(), st.sampled_from(["Answer: {}", "#### {}", "The answer is {}.", r"\boxed{{{}}}"])
)
def test_integers_come_through_every_mark(number: int, mark: str) -> None:
    assert extract("Let us see.\n" + mark.format(number)).answer == str(number)


# --- approximation


@given(st.text("1/6π≈ ,.$()orabout%\\frac{}", max_size=80))
def test_nothing_is_added(text: str) -> None:
    assert len(without_approximation(text)) <= len(text)


# --- check


@given(st.text("check: verify.\n12 So", max_size=80) | st.text(max_size=60))
def test_what_is_left_is_the_beginning(text: str) -> None:
    assert text.startswith(without_check(text))


# --- prose


def test_a_long_reply_that_was_cut_off_ends_in_nothing() -> None:
    text = "We look at all cases one by one. " * 20 + "In the 7 cases that are left we"
    assert from_end(text) is None
    assert from_end(text + " find 12 ways.") == ("12", "last number")


@given(st.text(max_size=120) | st.text("$*\\()[].:= \nanswerisB123", max_size=80))
def test_no_text_breaks_a_rule(text: str) -> None:
    """Whatever a rule takes is a part of the text, except that several values are joined."""
    found = from_end(text)
    # A bound gets a space ("< 0"), and formulas lose their marks.
    shown, plain = (one.translate({32: "", 36: ""}) for one in (found[0] if found else "", text))
    assert shown in plain or "," in shown
    assert (bare(text) or "") in text


@given(st.integers())
def test_a_number_comes_through_every_rule(number: int) -> None:
    assert bare(str(number)) == str(number)
    assert from_marker(f"The answer is {number}.") == (str(number), "marker")
    assert from_end(f"There are {number} of them.") == (str(number), "last number")
