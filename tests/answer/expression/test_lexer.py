import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.answer.syntax import MAX_TOKENS, Token, Unreadable, tokenize

KINDS = {"num", "sym", "fun", "text", "cmd", "op"}


def kinds(text: str) -> list[tuple[str, str]]:
    return [(token.kind, token.text) for token in tokenize(text)]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        ("  ", []),
        ("12", [("num", "12")]),
        ("1.50", [("num", "1.50")]),
        (".5", [("num", ".5")]),
        ("12.", [("num", "12.")]),
        ("1e-3", [("num", "1e-3")]),
        ("2e", [("num", "2"), ("sym", "e")]),
        ("1...", [("num", "1"), ("cmd", "ldots")]),
        ("x**2", [("sym", "x"), ("op", "^"), ("num", "2")]),
        ("a==b", [("sym", "a"), ("op", "="), ("sym", "b")]),
        ("a<=b>=c", [("sym", "a"), ("cmd", "le"), ("sym", "b"), ("cmd", "ge"), ("sym", "c")]),
        ("a!=b<>c", [("sym", "a"), ("cmd", "ne"), ("sym", "b"), ("cmd", "ne"), ("sym", "c")]),
        ("5!", [("num", "5"), ("op", "!")]),
        (r"\{1\}", [("op", r"\{"), ("num", "1"), ("op", r"\}")]),
    ],
)
def test_signs_and_numbers(text: str, tokens: list[tuple[str, str]]) -> None:
    assert kinds(text) == tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("pi", [("sym", "pi")]),
        (r"\infty", [("sym", "oo")]),
        ("theta", [("sym", "theta")]),
        ("x", [("sym", "x")]),
        ("ab", [("sym", "a"), ("sym", "b")]),
        ("sin", [("fun", "sin")]),
        ("Sin", [("fun", "sin")]),
        ("sqrt", [("cmd", "sqrt")]),
        (r"\log", [("fun", "log10")]),
        (r"\lg", [("fun", "log10")]),
        ("log", [("fun", "log")]),
        (r"\dfrac", [("cmd", "frac")]),
        (r"\leqslant", [("cmd", "le")]),
        (r"\cdot", [("op", "*")]),
        (r"\arctan", [("fun", "arctan")]),
        ("atan", [("fun", "arctan")]),
        (r"\vec{v}", [("op", "{"), ("sym", "v"), ("op", "}")]),
        (r"\boxed{5}", [("op", "{"), ("num", "5"), ("op", "}")]),
        ("circle", [("text", "circle")]),
        ("cm", [("text", "cm")]),
        ("or", [("text", "or")]),
    ],
)
def test_names(text: str, tokens: list[tuple[str, str]]) -> None:
    assert kinds(text) == tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("sinx", [("fun", "sin"), ("sym", "x")]),
        ("xsin", [("sym", "x"), ("fun", "sin")]),
        ("2pir", [("num", "2"), ("sym", "pi"), ("sym", "r")]),
        ("lnx", [("fun", "ln"), ("sym", "x")]),
        ("lnab", [("text", "lnab")]),
        ("sinab", [("fun", "sin"), ("sym", "a"), ("sym", "b")]),
        ("arcsinx", [("fun", "arcsin"), ("sym", "x")]),
    ],
)
def test_names_that_touch_letters(text: str, tokens: list[tuple[str, str]]) -> None:
    assert kinds(text) == tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        (r"\text{even}", [("text", "even")]),
        (r"\mathrm{cm}", [("text", "cm")]),
        (r"5\text{ m}", [("num", "5"), ("text", "m")]),
        (r"\text{m}", [("sym", "m")]),
        (r"\text{min}", [("text", "min")]),
        (r"\min", [("fun", "min")]),
        (r"\operatorname{lcm}", [("fun", "lcm")]),
        (r"\mathbf{x}", [("sym", "x")]),
        (r"\text{17}", [("num", "17")]),
        (r"\text{}", []),
    ],
)
def test_texts_inside_mathematics(text: str, tokens: list[tuple[str, str]]) -> None:
    assert kinds(text) == tokens


def test_white_space_before_a_token_is_remembered() -> None:
    assert tokenize("f (x)") == [
        Token("sym", "f", False),
        Token("op", "(", True),
        Token("sym", "x", False),
        Token("op", ")", False),
    ]


@pytest.mark.parametrize("text", [r"\foo", r"\input{x}", "\\", "5\\", r"\write18"])
def test_what_has_no_meaning_is_said(text: str) -> None:
    with pytest.raises(Unreadable):
        tokenize(text)


def test_a_text_of_too_many_tokens_is_refused() -> None:
    assert len(tokenize("+" * MAX_TOKENS)) == MAX_TOKENS
    with pytest.raises(Unreadable, match="too long"):
        tokenize("+" * (MAX_TOKENS + 2))


@given(st.text(max_size=60) | st.text(r"\{}()[]|^_!.,0123456789 abcdefgimnoprstx$", max_size=60))
def test_any_text_is_tokens_or_unreadable(text: str) -> None:
    try:
        tokens = tokenize(text)
    except Unreadable:
        return
    assert {token.kind for token in tokens} <= KINDS
    assert tokens == tokenize(text)
    assert all(token.text for token in tokens if token.kind != "text")


@given(st.lists(st.sampled_from(["12", "x", "+", "(", ")", r"\pi", ".5", "sin"]), max_size=10))
def test_white_space_decides_nothing_but_where_words_end(words: list[str]) -> None:
    tokens = [(t.kind, t.text) for word in words for t in tokenize(word)]
    for space in (" ", "  \n\t"):
        assert kinds(space.join(words)) == tokens
