import pytest

from constraint_first.answer.syntax import (
    ALIASES,
    ATTACHED,
    COMMANDS,
    CONSTANTS,
    DECORATIONS,
    FUNCTIONS,
    GREEK,
    is_unit,
    tokenize,
)

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
