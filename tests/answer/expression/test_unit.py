from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.answer.parse import parse
from constraint_first.answer.syntax import MULTIPLES, UNIT_LETTERS, Measure, Num, is_unit, unit_name


@pytest.mark.parametrize(
    "words",
    [
        ("cm", "centimeter", "centimetres", "Centimeters", "CM"),
        ("inch^2", "square inches", "sq inch", "inches squared", "inch^{2}", "square inch"),
        ("metre^3", "cubic metres", "cubic meter", "m^3", "metres cubed"),
        ("metre/second", "m/s", "metres per second", "meter per sec"),
        ("mph", "miles per hour", "mile/hour", "mph"),
        ("kmh", "km/h", "kilometres per hour", "kph"),
        ("dollar", "dollars", "USD", "bucks", "dollars in total"),
        ("euro", "€", "eur", "euros"),
        ("degree", "degrees", "deg"),
        ("percent", "percentage", "pct"),
        ("unit", "units"),
        ("unit^2", "square units", "sq units"),
        ("hour", "h", "hrs", "hours each"),
        ("apple", "apples", "Apples", "of the apples"),
    ],
)
def test_one_name_for_every_spelling(words: tuple[str, ...]) -> None:
    name, *spellings = words
    assert {spelling: unit_name(spelling) for spelling in spellings} == dict.fromkeys(
        spellings, name
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [("cm", "cm^2"), ("cm", "mm"), ("m/s", "m/h"), ("apples", "pears"), ("am", "pm"), ("g", "kg")],
)
def test_different_units_keep_different_names(one: str, other: str) -> None:
    assert unit_name(one) != unit_name(other)


@pytest.mark.parametrize("word", ["cm", "Dollars", "feet", "hrs", "pm", "radians", "litres"])
def test_units_are_known_by_name(word: str) -> None:
    assert is_unit(word)


@pytest.mark.parametrize("word", ["x", "m", "s", "apple", "sec", "min", "", "es", "circle"])
def test_letters_functions_and_other_words_are_no_units(word: str) -> None:
    assert not is_unit(word)


@pytest.mark.parametrize(("letter", "name"), UNIT_LETTERS.items())
def test_a_letter_is_a_unit_only_where_it_is_set_as_one(letter: str, name: str) -> None:
    assert unit_name(letter) == name
    assert parse(rf"5\text{{ {letter}}}") == Measure(Num(Fraction(5)), name)
    assert not isinstance(parse(f"5{letter}"), Measure)


def test_words_that_are_part_of_a_number() -> None:
    assert MULTIPLES["dozen"] == 12
    powers = ["hundred", "thousand", "million", "billion", "trillion"]
    assert [len(str(MULTIPLES[word])) - 1 for word in powers] == [2, 3, 6, 9, 12]
    assert not any(is_unit(word) for word in MULTIPLES)


WORDS = st.lists(st.sampled_from("m s per / ^2 square sq of 5".split())).map(" ".join)


@given(st.text(max_size=30) | WORDS)
def test_any_phrase_has_one_spelling(text: str) -> None:
    name = unit_name(text)
    assert name == name.strip()
    assert unit_name(text.replace(" ", "  ")) == name
