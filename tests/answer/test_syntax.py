from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.answer.syntax import (
    ALIASES,
    ATTACHED,
    BRACKETS,
    COMMANDS,
    CONSTANTS,
    DECORATIONS,
    FUNCTIONS,
    GREEK,
    INFINITE,
    MAX_TOKENS,
    Measure,
    Node,
    Num,
    Op,
    Sym,
    Token,
    Unreadable,
    clean,
    fold,
    is_unit,
    read_number,
    substitute,
    symbols,
    tokenize,
    walk,
)

# --- syntax


ONE, X, Y = Num(Fraction(1)), Sym("x"), Sym("y")
SUM = Op("+", (X, Op("*", (ONE, Y)), Op("neg", (X,))))
"""x + 1·y - x"""


def test_a_tree_is_walked_from_its_root_and_from_left_to_right() -> None:
    assert list(walk(SUM)) == [SUM, X, SUM.args[1], ONE, Y, SUM.args[2], X]
    assert list(walk(Measure(SUM, "cm"))) == [Measure(SUM, "cm"), *walk(SUM)]
    assert list(walk(X)) == [X]
    assert list(walk(Op("{}", ()))) == [Op("{}", ())]


@pytest.mark.parametrize(
    ("node", "names"),
    [
        (SUM, {"x", "y"}),
        (Measure(SUM, "cm"), {"x", "y"}),
        (ONE, set[str]()),
        (Op("+", (Sym("pi"), Sym("e"), Sym("i"), Sym("oo"))), set[str]()),
        (Op("call", (Sym("f"), X)), {"f", "x"}),
    ],
)
def test_constants_are_no_variables(node: Node, names: set[str]) -> None:
    assert symbols(node) == names


def test_a_value_takes_the_place_of_a_variable_wherever_it_stands() -> None:
    two = Num(Fraction(2))
    assert substitute(SUM, "x", two) == Op("+", (two, Op("*", (ONE, Y)), Op("neg", (two,))))
    assert substitute(SUM, "z", two) == SUM
    assert substitute(X, "x", Y) == Y
    assert substitute(ONE, "x", Y) == ONE


def test_what_is_put_in_is_not_looked_into_again() -> None:
    twice = Op("*", (Num(Fraction(2)), X))
    assert substitute(Op("+", (X, Y)), "x", twice) == Op("+", (twice, Y))


def test_equal_trees_are_equal_keys() -> None:
    assert {SUM: 1}[Op("+", (X, Op("*", (ONE, Y)), Op("neg", (X,))))] == 1
    assert Num(Fraction(1, 2)) != Num(Fraction(1, 2), digits=2), "0.50 is not 1/2 by its form"


def test_the_ends_of_the_line() -> None:
    upper, lower = INFINITE
    assert lower == Op("neg", (upper,))
    assert symbols(lower) == frozenset()


def test_brackets_are_pairs_of_marks_or_a_list() -> None:
    assert {name for name in BRACKETS if len(name) != 2} == {"list"}


# --- lexer


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


# --- vocabulary


WORDS = (FUNCTIONS, GREEK, CONSTANTS.keys(), COMMANDS, DECORATIONS)


@pytest.mark.parametrize("word", sorted({word for words in WORDS for word in words} | set(ALIASES)))
def test_every_word_is_known_to_the_lexer(word: str) -> None:
    tokens = tokenize(f"\\{word} ")
    assert len(tokens) == (0 if word in DECORATIONS else 1)


@pytest.mark.parametrize(("word", "meaning"), ALIASES.items())
def test_another_spelling_means_the_same(word: str, meaning: str) -> None:
    (token,), (other,) = tokenize(f"\\{word} "), tokenize(f"\\{meaning} ")
    assert token == other
    assert meaning not in ALIASES or ALIASES[meaning] == meaning, "one step leads to the meaning"


def test_a_word_means_one_thing() -> None:
    """A function that takes its arguments as a command is both."""
    both = {"sqrt", "binom"}
    for place, words in enumerate(WORDS):
        for others in WORDS[place + 1 :]:
            assert set(words) & set(others) <= both


def test_constants_are_their_own_names() -> None:
    assert set(CONSTANTS.values()) == {"pi", "oo"}
    assert all(CONSTANTS[name] == name for name in CONSTANTS.values())


def test_attached_names_are_tried_before_the_names_within_them() -> None:
    for place, name in enumerate(ATTACHED):
        assert not any(earlier in name for earlier in ATTACHED[:place]), name
        assert name in FUNCTIONS or name in CONSTANTS


def test_no_function_is_taken_for_a_unit() -> None:
    assert not [word for word in FUNCTIONS | GREEK if is_unit(word)]


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
