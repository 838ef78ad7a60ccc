import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.answer.syntax import clean, fold


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
