import pytest

from constraint_first.constraint.predicate import Predicate
from constraint_first.constraint.reply.insertion import can_be_added, insertions, join_responses
from constraint_first.constraint.stated.statement import Stated


def stated(demand: Predicate) -> Stated:
    return Stated("format", demand, (0, 0), "")


@pytest.mark.parametrize(
    ("demand", "may"),
    [
        ({"op": "words", "low": 300}, True),
        ({"op": "words", "high": 300}, False),
        ({"op": "contains", "words": ["rain"]}, True),
        ({"op": "lacks", "words": ["rain"]}, False),
        ({"op": "occurrences", "word": "rain", "low": 2}, True),
        ({"op": "bullets", "low": 2, "high": 2}, False),
        ({"op": "all", "of": [{"op": "words", "low": 9}, {"op": "json"}]}, False),
    ],
)
def test_what_grows_with_the_text_can_be_added(demand: Predicate, may: bool) -> None:
    assert can_be_added(stated(demand)) is may


def test_an_addition_stands_at_the_end_or_ahead_of_the_last_paragraph() -> None:
    assert [*insertions("A.\n\nB.", "C\nD")] == [
        "A.\n\nB.\n\nC\nD",
        "A.\n\nB. C D",
        "A.\n\nC\nD\n\nB.",
    ]
    assert len([*insertions("A.", "B.")]) == 2


def test_two_replies_become_one_where_two_were_asked_for() -> None:
    two = stated({"op": "responses", "separator": "******", "low": 2, "high": 2})
    assert [*join_responses([two], "A ", " B")] == ["A\n\n******\n\nB"]
    assert not [*join_responses([stated({"op": "json"})], "A", "B")]
