import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from constraint_first.answer.extract import (
    abstains,
    bare,
    corrected,
    extract,
    from_end,
    is_none,
    is_nothing,
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


@pytest.mark.parametrize(
    "reply",
    [
        "**Answer: 42**",
        "The answer is therefore $42$.",
        "The final answer is 42 (forty-two).",
        "Answer $42$",
        "So the final answer is:\n\n42",
        "The answer is <b>42</b>.",
        "Answer: 42 🎉",
        "<answer>42",
        "Ans: 42",
    ],
)
def test_what_stands_around_an_answer_is_left_out(reply: str) -> None:
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
        (r"So \boxed{2+3=5}.", "5"),
        (r"\boxed{\text{The probability is 7/13.}}", "7/13"),
        (r'{"final_answer": "**The mean is $2.5$**"}', "2.5"),
        ("<answer>The final answer is 12.</answer>", "12"),
        (r"\boxed{x = 5}", "x = 5"),
        (r"\boxed{\text{Not possible}}", r"\text{Not possible}"),
        (r"The roots are \boxed{1} and \boxed{2}.", "1, 2"),
        (r"$\boxed{1}$, $\boxed{2}$, or $\boxed{3}$", "1, 2, 3"),
        (r"\boxed{7}\n\n\boxed{7}", "7"),
        (r"\boxed{1}. In all, \boxed{2}", "2"),
        (r'{"final_answer": "\\boxed{1}, \\boxed{2}"}', "1, 2"),
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
def test_what_the_rules_make_of_a_reply(reply: str, answer: str | None) -> None:
    assert extract(reply).answer == answer


def test_a_box_token_that_the_budget_cut_off_is_no_answer() -> None:
    assert extract("So <|begin_of_box|>4", truncated=True).answer is None


def test_a_pleasantry_is_not_the_last_sentence() -> None:
    assert extract("So there are 12 such sequences in all. I hope it is correct.").answer == "12"


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


# --- abstention


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


# --- approximation


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


@given(st.text("1/6π≈ ,.$()orabout%\\frac{}", max_size=80))
def test_nothing_is_added(text: str) -> None:
    assert len(without_approximation(text)) <= len(text)


# --- check


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


@given(st.text("check: verify.\n12 So", max_size=80) | st.text(max_size=60))
def test_what_is_left_is_the_beginning(text: str) -> None:
    assert text.startswith(without_check(text))


# --- prose


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
        ("[B]", "B"),
        ("(A) 12", "A"),
        ("==> 343", "343"),
        ("Total = 45", "45"),
        (r"\frac12 + \frac12 = 1", "1"),
        ("No solution exists.", "No solution"),
        ("no solutions exist", "no solutions"),
        ("No real solution exists.", "No real solution"),
        ("no solution in integers", "no solution in integers"),
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
        "Ans: seven",
        "rather E than A",
        "That leaves D",
        "I'm stuck at step 3",
        "La suma es 12",
        "Total: 12",
        "No valid answer here",
        "First 10 then 20 finally 30",
        "因为这两个数的和是偶数所以乘积也是偶数",
    ],
)
def test_a_sentence_is_no_bare_answer(text: str) -> None:
    assert bare(text) is None


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
def test_what_a_reply_ends_in(text: str, answer: str, how: str) -> None:
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
    shown = (found[0] if found else "").replace(" ", "")  # a bound gets a space: "< 0"
    assert shown in text.replace(" ", "") or "," in shown
    assert (bare(text) or "") in text


@given(st.integers())
def test_a_number_comes_through_every_rule(number: int) -> None:
    assert bare(str(number)) == str(number)
    assert from_marker(f"The answer is {number}.") == (str(number), "marker")
    assert from_end(f"There are {number} of them.") == (str(number), "last number")
