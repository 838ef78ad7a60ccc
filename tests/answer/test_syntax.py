import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.answer.syntax import (
    MAX_TOKENS,
    Unreadable,
    clean,
    fold,
    read_number,
    tokenize,
)

# --- lexer


@pytest.mark.parametrize("text", [r"\foo", r"\input{x}", "\\", "5\\", r"\write18"])
def test_what_has_no_meaning_is_said(text: str) -> None:
    with pytest.raises(Unreadable):
        tokenize(text)


def test_a_text_of_too_many_tokens_is_refused() -> None:
    assert len(tokenize("+" * MAX_TOKENS)) == MAX_TOKENS
    with pytest.raises(Unreadable, match="too long"):
        tokenize("+" * (MAX_TOKENS + 2))


# --- normal


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("１２", "12"),
        ("٣", "3"),
        ("x²", "x^{2}"),
        ("½", r"\frac{1}{2}"),
        ("1 4/5", r"1\frac{4}{5}"),
        ("1 000", "1000"),
        (r"1{,}000", "1000"),
        (r"10,\! 080", "10080"),
        ("**5**", "5"),
        ("5.", "5"),
        ("$x$", "x"),
        ("52 (base 8)", "52_{8}"),
        (r"52\text{ base eight}", "52_{eight}"),
        ("$5", r"\usd 5"),
        (r"\left(1\right)", "(1 )"),
    ],
)
def test_one_spelling(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


@given(st.text(max_size=100))
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


# --- spelling


@pytest.mark.parametrize(
    ("text", "number", "rest"),
    [
        ("zero", "0", ""),
        ("twenty-one", "21", ""),
        ("Twenty one", "21", ""),
        ("one hundred and five", "105", ""),
        ("three thousand two hundred", "3200", ""),
        ("two million and one", "2000001", ""),
        ("a dozen", "12", ""),
        ("one half", r"\frac{1}{2}", ""),
        ("five-sixths", r"\frac{5}{6}", ""),
        ("two and a half", r"(2+\frac{1}{2})", ""),
        ("three point one four", "3.14", ""),
        ("negative one third", r"-\frac{1}{3}", ""),
        ("first", "1", ""),
        ("twenty-first", "21", ""),
        ("one hundred first", "101", ""),
        ("forty two apples", "42", "apples"),
    ],
)
def test_a_number_in_words_is_read(text: str, number: str, rest: str) -> None:
    assert read_number(text) == (number, rest)


@pytest.mark.parametrize(
    "text",
    ["", "a circle", "ten five", "two third", "halves", "an apple", "twenty zero", "one " * 20],
)
def test_other_words_are_no_number(text: str) -> None:
    assert read_number(text) is None
