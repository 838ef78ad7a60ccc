import json
from typing import Any

import pytest

from constraint_first.constraint.predicate import PredicateError, is_of_text, truth_of
from constraint_first.constraint.reply.check import REPLY
from constraint_first.constraint.stated.statement import Stated, check_stated

CASES: list[tuple[dict[str, Any], str, str]] = [
    ({"op": "words", "low": 2, "high": 3}, "a b c", "a b c d"),
    ({"op": "sentences", "high": 1}, "One.", "One. Two."),
    ({"op": "paragraphs", "low": 2, "high": 2}, "a\n\nb", "a\nb"),
    ({"op": "paragraphs", "separator": "***", "low": 2}, "a\n***\nb", "a\n***\n***\nb"),
    ({"op": "paragraph_begins", "nth": 2, "word": "Then"}, "a\n\nthen, b", "a"),
    ({"op": "sections", "mark": "Day", "low": 2}, "Day 1 x Day 2", "Day one Day 2"),
    ({"op": "responses", "separator": "******", "low": 2}, "a ****** b", "a ****** a"),
    ({"op": "bullets", "low": 1, "high": 1}, "* a", "* a\n- b"),
    ({"op": "highlights", "low": 1}, "an *important* one", "an * important one"),
    ({"op": "placeholders", "low": 1}, "[name]", "name"),
    ({"op": "capital_words", "low": 1, "high": 1}, "so BIG", "so big"),
    ({"op": "occurrences", "word": "Cat", "high": 1}, "a cat", "cat cat"),
    ({"op": "letters", "letter": "q", "high": 0}, "abc", "Queen"),
    ({"op": "contains", "words": ["sun", "moon"]}, "Sunny moon", "sunny"),
    ({"op": "lacks", "words": ["sun"]}, "sunny", "The sun."),
    ({"op": "contains_any", "texts": ["Yes.", "No."]}, "I say: No.", "no"),
    ({"op": "case", "case": "upper"}, "LOUD 1!", "Loud"),
    ({"op": "case", "case": "lower"}, "quiet", "123"),
    ({"op": "without", "marks": [","]}, "a b", "a, b"),
    ({"op": "json"}, '```json\n{"a": NaN}\n```', "{'a': 1}"),
    ({"op": "title"}, "<<a>>", "<a>"),
    ({"op": "postscript", "mark": "P.P.S"}, "bye\nP. P. S. more", "P.S. more"),
    ({"op": "postscript", "mark": "Note:"}, "bye\nNOTE: more", "bye"),
    ({"op": "quoted"}, ' "a" ', '"'),
    ({"op": "begins", "text": "Dear"}, " dear you", "Oh dear"),
    ({"op": "ends", "text": "The End"}, 'It was "the end"', "The End."),
    ({"op": "repeats", "text": "Say hi. "}, "Say hi.\nhi", "hi"),
    ({"op": "all", "of": [{"op": "quoted"}, {"op": "words", "low": 2}]}, '"a b"', '"a"'),
]


@pytest.mark.parametrize(("predicate", "good", "bad"), CASES, ids=lambda one: str(one)[:40])
def test_replies_hold_or_violate(predicate: dict[str, Any], good: str, bad: str) -> None:
    assert is_of_text(predicate)
    assert json.loads(json.dumps(predicate)) == predicate
    assert truth_of(predicate, good) == "holds"
    assert truth_of(predicate, bad) == "violated"
    assert truth_of(predicate, " \n ") == "violated"  # nothing is no reply
    (judged,) = check_stated([Stated("format", predicate, (0, 1), "")], good)
    assert judged[1] == "holds"


def test_every_op_has_its_case() -> None:
    assert {one["op"] for one, _, _ in CASES} - {"all"} == {*REPLY} - {"language"}


@pytest.mark.parametrize(
    "predicate",
    [
        {"op": "words"},
        {"op": "words", "low": "3"},
        {"op": "words", "high": True},
        {"op": "contains", "words": []},
        {"op": "contains", "words": "sun"},
        {"op": "ends", "text": " "},
        {"op": "case", "case": "title"},
        {"op": "letters", "low": 2},
    ],
)
def test_bad_arguments_are_named(predicate: dict[str, Any]) -> None:
    with pytest.raises(PredicateError, match="has a bad argument"):
        truth_of(predicate, "some text")


def test_what_cannot_be_read_is_undecided() -> None:
    assert truth_of({"op": "json"}, "[" * 100_000) == "undecided"
    assert truth_of({"op": "json"}, "9" * 100_000) == "holds"


def test_a_value_and_a_text_can_be_demanded_together() -> None:
    both: dict[str, Any] = {"op": "all", "of": [{"op": "integer"}, {"op": "words", "high": 1}]}
    assert [truth_of(both, one) for one in ("7", "7.5", "x y")] == ["holds", "violated", "violated"]


def test_replies_of_a_megabyte_are_judged() -> None:
    for piece in ("a", " ", "\n", "*", "[", "<<", "p. ", "1. ", "***", "{", "- "):
        long = (piece * 100_000)[:100_000]
        for predicate, _, _ in CASES:
            assert truth_of(predicate, long) in ("holds", "violated", "undecided")
    assert truth_of({"op": "words", "low": 1}, "word " * 200_000) == "holds"
