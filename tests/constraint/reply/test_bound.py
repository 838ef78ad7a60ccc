import re

import pytest

from constraint_first.constraint.reply.bound import amounts, both_ends, counts_of


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("at least 300 words", 300, None),
        ("no shorter than 1,000 words", 1000, None),
        ("a 300+ word summary", 300, None),
        ("more than four", 5, None),
        ("over twenty", 21, None),
        ("fewer than six", None, 5),
        ("no more than twice", None, 2),
        ("once or less", None, 1),
        ("do not use more than 80", None, 80),
        ("it must not have less than 10", 10, None),
        ("exactly 3", 3, 3),
        ("12", 12, 12),
        ("20 to 30", 20, 30),
        ("between 3 and 5", 3, 5),
        ("5 or 6", 5, 6),
        ("a dozen", 12, 12),
        ("nothing shorter than 200", 200, None),
        ("without going over 100", None, 100),
        ("i don't want it to be longer than 120", None, 120),
        ("keep the whole thing to 40", None, 40),
        ("cap it at 40", None, 40),
        ("hard limit: 100", None, 100),
        ("a floor of 700", 700, None),
        ("in two hundred", 200, 200),
    ],
)
def test_amounts(text: str, low: int | None, high: int | None) -> None:
    (found,) = amounts(text)
    assert (found.low, found.high) == (low, high)


@pytest.mark.parametrize(
    "text", ["about 300", "roughly 50", "anything over 100", "version 2.5", "word", "x2"]
)
def test_vague_and_other_numbers_are_no_amounts(text: str) -> None:
    assert [*amounts(text)] == []


def test_what_follows_the_counted_things_counts_too() -> None:
    (found,) = amounts("200 words or less")
    assert found.bare
    assert found.ends == {"low": 200, "high": 200}
    assert found.at_least.ends == {"low": 200}
    assert found.widened(" or less").ends == {"high": 200}
    assert found.widened(" at minimum").ends == {"low": 200}
    assert found.widened(" of text") == found


def test_more_ways_to_bound() -> None:
    (found,) = amounts("200 words")
    assert found.widened(" on the dot").bare is False
    assert found.widened(", no more and no fewer").ends == {"low": 200, "high": 200}
    assert found.widened(" is the absolute ceiling").ends == {"high": 200}
    assert found.widened(" or so").ends == {}


def test_an_amount_may_have_its_other_end_later() -> None:
    text = "at least 5 sentences but not more than 9."
    first = amounts(text)[0]
    assert both_ends(text, first, text.index(" but")).ends == {"low": 5, "high": 9}
    other = "at least 5 sentences but not more than 90 words."
    assert both_ends(other, amounts(other)[0], other.index(" but")).ends == {"low": 5}
    (joined,) = amounts("no fewer than 12 and no more than 20 sentences")
    assert joined.ends == {"low": 12, "high": 20}


def test_things_may_be_counted_after_they_are_named() -> None:
    gaps = re.compile(r"\s*gaps?")
    assert [one.ends for one, _ in counts_of("leave gaps, at least five of them", gaps)] == [
        {"low": 5}
    ]
    assert [one.low for one, _ in counts_of("leave gaps: 8 at the very least.", gaps)] == [8]
    assert [*counts_of("leave gaps for three people", gaps)] == []
