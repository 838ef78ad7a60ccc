import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from constraint_first.answer.extract import extract

LATEX = [
    r"\frac{1}{2}", r"\tan x", r"\theta", r"\nu + 1", r"\neq", r"\binom{n}{k}", r"\beta^2", r"\rho",
    r"\{1, 2\}", r"\sqrt{3}", r"x^{2} - 1", r"\text{even}", r"\begin{pmatrix} 1 & 2 \end{pmatrix}",
]  # fmt: skip


def test_the_last_complete_box_wins() -> None:
    assert extract(r"First \boxed{3}, then \boxed{\frac{a}{b}}.").answer == r"\frac{a}{b}"


@pytest.mark.parametrize(
    "reply",
    [
        "**Answer: 42**",
        "The answer is therefore $42$.",
        "The final answer is 42 (forty-two).",
        "Answer $42$",
        "So the final answer is:\n\n42",
    ],
)
def test_what_stands_around_an_answer_is_left_out(reply: str) -> None:
    assert extract(reply).answer == "42"


@pytest.mark.parametrize(
    "reply", ["The answer is <b>42</b>.", "Answer: 42 🎉", "<answer>42", "Ans: 42"]
)
def test_ornaments_are_left_out(reply: str) -> None:
    assert extract(reply).answer == "42"


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("<|begin_of_box|>42<|end_of_box|>", "42"),
        ("So <|begin_of_box|>42", "42"),
        (r"\boxed{42}. Final answer: \boxed{}", "42"),
        ('```json\n{"result": 42}\n```', "42"),
        ("<final_answer>42</final_answer>", "42"),
        ("[ANSWER]42[/ANSWER]", "42"),
        ("The answer is 41. Wait, I forgot one. So it is 42.", "42"),
        ("I could not determine the answer after 12 steps.", None),
        ("The answer is: none", "none"),
        ("Answer: None", None),
    ],
)
def test_what_the_rules_make_of_a_reply(reply: str, answer: str | None) -> None:
    assert extract(reply).answer == answer


def test_a_box_token_that_the_budget_cut_off_is_no_answer() -> None:
    assert extract("So <|begin_of_box|>4", truncated=True).answer is None


def test_a_pleasantry_is_not_the_last_sentence() -> None:
    assert extract("So there are 12 such sequences in all. I hope it is correct.").answer == "12"


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        (r"So \boxed{2+3=5}.", "5"),
        (r"\boxed{\text{The probability is 7/13.}}", "7/13"),
        (r'{"final_answer": "**The mean is $2.5$**"}', "2.5"),
        ("<answer>The final answer is 12.</answer>", "12"),
        (r"\boxed{x = 5}", "x = 5"),
        (r"\boxed{\text{Not possible}}", r"\text{Not possible}"),
    ],
)
def test_what_a_mark_encloses_is_read_in_its_turn(reply: str, answer: str) -> None:
    assert extract(reply).answer == answer


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        (r"The roots are \boxed{1} and \boxed{2}.", "1, 2"),
        (r"$\boxed{1}$, $\boxed{2}$, or $\boxed{3}$", "1, 2, 3"),
        (r"\boxed{7}\n\n\boxed{7}", "7"),
        (r"\boxed{1}. In all, \boxed{2}", "2"),
        (r'{"final_answer": "\\boxed{1}, \\boxed{2}"}', "1, 2"),
    ],
)
def test_boxes_side_by_side_are_one_answer(reply: str, answer: str) -> None:
    assert extract(reply).answer == answer


def test_an_unterminated_last_box_is_no_answer() -> None:
    found = extract(r"First \boxed{3}, then \boxed{\frac{a}{b")
    assert (found.answer, found.how) == (None, "unterminated box")


@pytest.mark.parametrize(
    "reply",
    [
        r"<think>maybe \boxed{3}</think>It is \boxed{4}.",
        r"maybe \boxed{3}</think>It is \boxed{4}.",
        r"[THINK]maybe \boxed{3}[/THINK]It is \boxed{4}.",
        r"<|channel|>analysis<|message|>\boxed{3}<|end|><|channel|>final<|message|>\boxed{4}<|end|>",
        json.dumps({"reasoning_content": r"maybe \boxed{3}", "content": r"It is \boxed{4}."}),
        json.dumps({"content": "It is 4.", "reasoning_content": r"maybe \boxed{3}"}, indent=1),
    ],
)
def test_thinking_is_not_the_reply(reply: str) -> None:
    assert extract(reply).answer == "4"


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
