from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constraint_first.answer.marks import (
    ANSWER_WORDS,
    Box,
    bald,
    bounds,
    find_box,
    from_choice,
    from_marker,
    has_marker,
    is_rejected,
    is_supposed,
    leading_letter,
    lone_letter,
    read_phrase,
    unmarked,
    unnamed,
)

# --- assertion


_PIECES = st.sampled_from(
    (
        "it is/not/cannot be/isn't/never/neither/nor/nicht/kein/weder/noch/none of the/nothing"
        "/no one/rather than/instead of/as opposed to/unlike/ruling out/eliminating/exclude"
        "/discard/reject/the value/dismissed/n'est pas/no es/no puede ser/at least/at the most"
        "/more than/fewer than or equal to/up to/exceeds/exceeding/over/under/above/below/almost"
        "/nearly/anything but/all numbers except/except for/between/3 and/negative of"
        "/square root of/half/twice/double/triple/log base 2 of/close to/not far from"
        "/divisible by/congruent to/ending in/starts with/mindestens/mehr als/au moins/plus de"
        "/menos de/al menos/x/</>/<=/>=/!=/=</\\leq/\\ge/\\leqslant/\\neq/\\ne/\\gt/\\lt/\\neg"
        "/\\le/\\geq/\\leslant/\\geslant/\\geqslant/exceed/between 3 and/au plus/suppose/assume"
        "/assuming/imagine/whether/one might think/we may guess/you could say/people would expect"
        "/my first guess/initial idea/original answer/earlier attempt/previous answer/mistakenly"
        "/wrongly/incorrectly/erroneously/thought/believe/I doubt that/it is false that"
        "/untrue that/deny that/no reason/evidence/the/a/an/about/exactly/approximately/$/(/[/**"
        '/"/\\(/\\[/`/_/so/,/./;/\n/\x1f/but'
    ).split("/")
)


@settings(max_examples=1_500, deadline=None)
@given(st.lists(_PIECES, max_size=7), st.sampled_from([" ", "  ", "\n", ""]), st.booleans())
def test_ascii_text_is_read_like_any_other(pieces: list[str], gap: str, shouts: bool) -> None:
    before = " ".join(pieces)[-60:] + gap
    before = before.upper() if shouts else before
    text, start = f"{before}5", len(before)
    # With another letter than ASCII's ahead, every pattern is tried.
    marked = f"é. {text}"
    assert is_supposed(before) == is_supposed(f"é. {before}")
    assert is_rejected(text, start, start + 1) == is_rejected(marked, start + 3, start + 4)
    assert bounds(text, start, start + 1) == bounds(marked, start + 3, start + 4)


# --- box


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (r"\boxed{5}", "5"),
        (r"\boxed 5", "5"),
        (r"\fbox{5}", "5"),
        (r"\framebox{5}", "5"),
        ("boxed{5}", "5"),
        (r"\boxed{5}, the boxed answer", "5"),
        (r"\boxed{5} Final answer: \boxed{}", "5"),
        (r"\boxed{5} Final answer: \boxed{\,} \boxed{ }", "5"),
        (r"\boxed{12}. Once more: \boxed{1", "12"),
        (r"\boxed{12}. Once more: $\boxed{", "12"),
        (r"\boxed{12}. Once more: $\boxed{12$.", "12"),
        (r"\boxed{12}. Once more: \boxed", "12"),
        (r"$x=\boxed{1}$ and $x=\boxed{2}$", "1, 2"),
    ],
)
def test_what_the_last_box_says(text: str, content: str) -> None:
    assert find_box(text) == Box(content)


@pytest.mark.parametrize(
    ("text", "box"),
    [
        ("nothing", None),
        ("the boxed answer", None),
        (r"\boxed{}", Box(None)),
        (r"\boxed{5", Box(None, closed=False)),
        (r"\boxed{5}, no: \boxed{6", Box(None, closed=False)),
        (r"\boxed{5} and \boxed{", Box(None, closed=False)),
    ],
)
def test_where_no_box_says_anything(text: str, box: Box | None) -> None:
    assert find_box(text) == box


@given(st.text(alphabet=r"\boxedf{} 12,and$", max_size=120))
def test_no_text_breaks_it(text: str) -> None:
    box = find_box(text)
    assert box is None or box.content is None or box.closed


# --- phrase


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
        ("5,", "5"),
        ("5;", "5"),
        ("*5*", "5"),
        ("5.*", "5"),
        ("__5__", "5"),
        ("“5”", "5"),
        ("5，", "5"),
    ],
)
def test_an_answer_without_its_wrapping(text: str, answer: str) -> None:
    assert bald(text) == answer


@given(st.text(max_size=120) | st.text("$*\\()[].:= \nanswerisB123", max_size=80))
def test_what_is_left_is_a_part_of_the_text(text: str) -> None:
    assert bald(text) in text
    assert unnamed(text) in text
    assert read_phrase(text) in text


# --- choice


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
        ("So I choose option B.", "B"),
        ("The correct choice is (C).", "C"),
        ("Option A is wrong; select **D**", "D"),
    ],
)
def test_a_letter_that_is_chosen(text: str, letter: str) -> None:
    assert from_choice(text) == (letter, "choice")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "B",
        "option b",
        "We choose All",
        "option A" + " x" * 300,
        "Option B is wrong.",
        "I would not choose B.",
        "It must be A, so the sum is 12.",
    ],
)
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


# --- marker


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
        ("Ans: seven", "seven"),
        ("A: no solution", "no solution"),
        ("Q: Which day?\nA: Tuesday", "Tuesday"),
        ("Answer — none of these", "none of these"),
        ("Answer → False", "False"),
        ("Answer 8", "8"),
        ("__Answer__ D", "D"),
        ("Answer B. This is the right choice.", "B"),
        ("Final Answer\n------\n14", "14"),
        ("__Answer__: 5", "5"),
        ("Answer: 12,", "12"),
        ("The answer is, of course, 42.", "42"),
        ("The answer, then, is 2/3.", "2/3"),
        ("The answer to the problem is 42.", "42"),
        ("The answer is not 10 but 11.", "11"),
        ("The answer turns out to be 2.", "2"),
        ("Answer: Yes, it is possible.", "Yes"),
        ("The answer is 0, i.e. there are none.", "0"),
        ("Final answer: Total = 45", "45"),
        ("The answer is seven (7).", "7"),
        ("Answer: 8. Correction: 9.", "9"),
        ("The answer is 5.\n\n**Answer:**", "5"),
        ("La respuesta es la opción C.", "C"),
        ("Answer: B, because A is too small", "B"),
        ("45 is the final answer.", "45"),
        ("So we get $12$ as our final answer.", "12"),
        ("Saturday is the answer.", "Saturday"),
        ("The answer is x.", "x"),
        ("The answer is n, where n is the number of sides.", "n"),
        ("The answer is n, where n = 2k.", "n"),
        ("The answer is C. Indeed, C = 15 is the largest.", "C"),
        ("The answer is B. We have B = 3.", "B"),
        ("Let the answer be x. Then x = 31. The answer is 31.", "31"),
        ("x = 31. The answer is x.", "x"),
    ],
)
def test_what_the_last_marker_introduces(text: str, answer: str) -> None:
    assert from_marker(text) == (answer, "marker")


@pytest.mark.parametrize("word", ANSWER_WORDS)
def test_an_answer_word_of_another_language(word: str) -> None:
    for text in (f"{word}: 42", f"**{word.capitalize()}:** 42", f"{word} = $42$."):
        assert from_marker(text) == ("42", "marker")


@pytest.mark.parametrize(
    "text",
    [
        "Die Antwort lautet 42.", "La réponse finale est 42.", "La respuesta es 42.",
        "La risposta è 42.", "A resposta é 42.", "Ответ — 42", "Het antwoord is 42.",
        "Odpowiedź to 42.", "Cevap 42'dir.", "Svaret är 42.", "Đáp án: 42", "الجواب هو 42",
        "उत्तर 42 है।", "所以，答案是42。", "答：一共有42个。", "したがって、答えは42です。",
        "따라서 정답은 42입니다.", "최종 답: 42",
    ],
)  # fmt: skip
def test_a_sentence_of_another_language(text: str) -> None:
    assert from_marker(text) == ("42", "marker")


@pytest.mark.parametrize(
    "text",
    [
        "Answer:",
        "The answer is unclear to me.",
        "The answer remains unknown.",
        "Answer: I could not find it.",
        "Answer: Unable to say",
    ],
)
def test_a_mark_without_an_answer(text: str) -> None:
    assert from_marker(text) == ("", "marker")


def test_the_first_of_several_options_is_no_mark() -> None:
    assert not has_marker("A: 12\nB: 15")
    assert has_marker("A: 12")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "42",
        "The answer is not 42.",
        "We answered it.",
        "I have no answers to give",
        "Let the answer be x. Then x = 31.",
        "Let the answer be $x$. Then $2x = 62$, so $x = 31$.",
        "Let the answer be N, so that N = 5 + 6 = 11.",
        "Let the answer be A. Then A = 5.",
        "The result is n.\nHence n = 5.",
    ],
)
def test_where_there_is_no_marker(text: str) -> None:
    assert from_marker(text) is None


@given(st.text(max_size=120) | st.text("$*\\()[].:= \nanswerisB123", max_size=80))
def test_what_is_taken_is_a_part_of_the_text(text: str) -> None:
    found = from_marker(text)
    assert found is None or found[0] in text
    assert unmarked(text) in text
