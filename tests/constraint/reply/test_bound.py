import pytest

from cfr.constraint.reply.bound import amounts, ordinal, to_number


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
    ],
)
def test_amounts(text: str, low: int | None, high: int | None) -> None:
    (found,) = amounts(text)
    assert (found.low, found.high) == (low, high)


@pytest.mark.parametrize("text", ["about 300", "roughly 50", "version 2.5", "word", "x2"])
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


def test_which_of_a_row() -> None:
    assert [ordinal(one) for one in ("2nd", "third", "four", "7", "last", "x")] == [
        2,
        3,
        4,
        7,
        0,
        None,
    ]
    assert to_number("seventeen") == 17
