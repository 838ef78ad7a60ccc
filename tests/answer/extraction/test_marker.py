import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.answer.marks import ANSWER_WORDS, from_marker, has_marker, unmarked


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
    ("text", "answer"),
    [
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
    ],
)
def test_markers_of_every_kind(text: str, answer: str) -> None:
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
    ("text", "answer"),
    [
        ("45 is the final answer.", "45"),
        ("So we get $12$ as our final answer.", "12"),
        ("Saturday is the answer.", "Saturday"),
    ],
)
def test_a_value_may_stand_before_its_mark(text: str, answer: str) -> None:
    assert from_marker(text) == (answer, "marker")


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


@pytest.mark.parametrize(
    "text",
    [
        "Let the answer be x. Then x = 31.",
        "Let the answer be $x$. Then $2x = 62$, so $x = 31$.",
        "Let the answer be N, so that N = 5 + 6 = 11.",
        "Let the answer be A. Then A = 5.",
        "The result is n.\nHence n = 5.",
    ],
)
def test_a_name_that_gets_its_value_later_is_no_answer(text: str) -> None:
    assert from_marker(text) is None


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("The answer is x.", "x"),
        ("The answer is n, where n is the number of sides.", "n"),
        ("The answer is n, where n = 2k.", "n"),
        ("The answer is C. Indeed, C = 15 is the largest.", "C"),
        ("The answer is B. We have B = 3.", "B"),
        ("Let the answer be x. Then x = 31. The answer is 31.", "31"),
        ("x = 31. The answer is x.", "x"),
    ],
)
def test_a_letter_may_be_the_answer(text: str, answer: str) -> None:
    assert from_marker(text) == (answer, "marker")


def test_the_first_of_several_options_is_no_mark() -> None:
    assert not has_marker("A: 12\nB: 15")
    assert has_marker("A: 12")


@pytest.mark.parametrize(
    "text", ["", "42", "The answer is not 42.", "We answered it.", "I have no answers to give"]
)
def test_where_there_is_no_marker(text: str) -> None:
    assert from_marker(text) is None


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


@given(st.text(max_size=120) | st.text("$*\\()[].:= \nanswerisB123", max_size=80))
def test_what_is_taken_is_a_part_of_the_text(text: str) -> None:
    found = from_marker(text)
    assert found is None or found[0] in text
    assert unmarked(text) in text
