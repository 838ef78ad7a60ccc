from typing import Any

import pytest

from constraint_first.constraint.reply.check import BLANK_LINE, REPLY
from constraint_first.constraint.reply.phrase import describe

SAID: list[tuple[dict[str, Any], str]] = [
    ({"op": "words", "low": 300}, "has at least 300 words"),
    ({"op": "sentences", "high": 1}, "has at most 1 sentence"),
    (
        {"op": "paragraphs", "separator": BLANK_LINE, "low": 2, "high": 2},
        "has exactly 2 paragraphs, separated by empty lines",
    ),
    (
        {"op": "paragraph_begins", "nth": 2, "word": "so"},
        "begins paragraph 2 with the word “so”",
    ),
    (
        {"op": "sections", "mark": "Day", "low": 3},
        "has at least 3 sections, each headed “Day 1” and so on",
    ),
    (
        {"op": "responses", "separator": "******", "low": 2, "high": 2},
        "has exactly 2 different parts, separated by ******",
    ),
    ({"op": "bullets", "low": 1, "high": 3}, "has from 1 to 3 bullet points"),
    ({"op": "highlights", "low": 1}, "has at least 1 highlighted stretch"),
    ({"op": "placeholders", "low": 2}, "has at least 2 placeholders in square brackets"),
    ({"op": "capital_words", "high": 4}, "has at most 4 words in capital letters"),
    ({"op": "occurrences", "word": "a", "low": 1}, "has “a” at least 1 time"),
    ({"op": "letters", "letter": "a", "high": 0}, "does not have the letter “a”"),
    ({"op": "contains", "words": ["a", "b"]}, "has the words “a”, “b”"),
    ({"op": "lacks", "words": ["a"]}, "does not have the words “a”"),
    ({"op": "contains_any", "texts": ["a"]}, "has one of “a”"),
    ({"op": "case", "case": "upper", "language": "en"}, "is all in capital letters, in English"),
    ({"op": "without", "marks": [","]}, "does without “,”"),
    ({"op": "json"}, "is JSON and nothing else"),
    ({"op": "title"}, "has a title in double angular brackets, like <<title>>"),
    ({"op": "postscript", "mark": "P.S."}, "has a postscript that begins with P.S."),
    ({"op": "quoted"}, "stands in double quotation marks as a whole"),
    ({"op": "begins", "text": "a"}, "begins with “a”"),
    ({"op": "ends", "text": "a"}, "ends with “a”"),
    ({"op": "repeats", "text": "a"}, "begins with the request, word for word: “a”"),
    ({"op": "language", "language": "kn"}, "is in Kannada"),
]


@pytest.mark.parametrize(("predicate", "words"), SAID, ids=lambda one: str(one)[:30])
def test_predicates_in_words(predicate: dict[str, Any], words: str) -> None:
    assert describe(predicate) == f"The reply {words}."


def test_every_op_has_its_words() -> None:
    assert {one["op"] for one, _ in SAID} == {*REPLY}


def test_conjunctions_and_others() -> None:
    both: dict[str, Any] = {"op": "all", "of": [{"op": "json"}, {"op": "words", "low": 2}]}
    assert describe(both) == "The reply is JSON and nothing else and has at least 2 words."
    assert describe({"op": "prime"}) == "The reply satisfies {'op': 'prime'}."
