import pytest

from cfr.constraint.predicate import Predicate, truth_of
from cfr.constraint.reply.check import REPLY
from cfr.constraint.reply.edit import EDITS

STORY = "The sun rose. Birds sang in the old oak tree.\n\nThe farmer woke up, yawned and smiled."

BROKEN: list[tuple[Predicate, str, str]] = [
    ({"op": "case", "case": "upper"}, "It is so.", "IT IS SO."),
    ({"op": "case", "case": "lower"}, "It is SO.", "it is so."),
    ({"op": "without", "marks": [","]}, "Well, 1,000 times, yes.", "Well 1000 times yes."),
    ({"op": "quoted"}, ' Hello there."', '"Hello there."'),
    ({"op": "ends", "text": "Bye."}, "Good day.", "Good day.\n\nBye."),
    ({"op": "ends", "text": "Bye."}, "Good day. Bye. (End of reply)", "Good day. Bye."),
    ({"op": "begins", "text": "Dear Ann,"}, "How are you?", "Dear Ann,\n\nHow are you?"),
    ({"op": "repeats", "text": "Say hi."}, "Hi!", "Say hi.\n\nHi!"),
    ({"op": "title"}, "# My day\n\nIt was fine.", "<<My day>>\n\nIt was fine."),
    ({"op": "title"}, "It was fine.", "<<It was fine>>\n\nIt was fine."),
    (
        {"op": "postscript", "mark": "P.S."},
        "All is well.\n\nBe good.",
        "All is well.\n\nP.S. Be good.",
    ),
    (
        {"op": "postscript", "mark": "P.S."},
        "All is well. Be good.",
        "All is well.\n\nP.S. Be good.",
    ),
    (
        {"op": "lacks", "words": ["bad"]},
        "One is fine. Two is a bad one. Three is fine. Four is fine as well. Five too is fine.",
        "One is fine. Three is fine. Four is fine as well. Five too is fine.",
    ),
    ({"op": "lacks", "words": ["bad"]}, "A bad day.", "A day."),
    (
        {"op": "contains_any", "texts": ["My answer is yes.", "My answer is no."]},
        "**my answer is YES**",
        "**My answer is yes.**",
    ),
    (
        {"op": "contains_any", "texts": ["My answer is yes.", "My answer is no."]},
        "No, since it rains.",
        "My answer is no.",
    ),
    ({"op": "words", "high": 4}, "One two three. Four five six.", "One two three."),
    ({"op": "sentences", "high": 1}, "One two three. Four five six.", "One two three."),
    (
        {"op": "paragraphs", "separator": "***", "low": 2, "high": 2},
        STORY,
        STORY.replace("\n\n", "\n\n***\n\n"),
    ),
    ({"op": "paragraphs", "separator": "\n\n", "low": 1, "high": 1}, "A.\n\nB.", "A.\nB."),
    ({"op": "paragraphs", "low": 3, "high": 3}, "A b. C d. E f.", "A b.\n\nC d.\n\nE f."),
    ({"op": "paragraph_begins", "nth": 2, "word": "soon"}, "A.\n\nb c.", "A.\n\nSoon, b c."),
    (
        {"op": "sections", "mark": "PART", "low": 2},
        "Part 1\nA\n\nPart 2\nB",
        "PART 1\nA\n\nPART 2\nB",
    ),
    ({"op": "sections", "mark": "PART", "low": 2}, "A.\n\nB.", "PART 1\nA.\n\nPART 2\nB."),
    ({"op": "bullets", "low": 2, "high": 2}, "1. A\n2) B", "* A\n* B"),
    ({"op": "bullets", "low": 2, "high": 2}, "* A\n* B\n* C", "* A\n* B C"),
    ({"op": "bullets", "low": 2, "high": 2}, "A b. C d.", "* A b.\n* C d."),
    ({"op": "highlights", "low": 2}, "Red rose here\nBlue sky", "*Red rose here*\n*Blue sky*"),
    ({"op": "capital_words", "low": 2}, "We like green tea", "We LIKE GREEN tea"),
    ({"op": "capital_words", "high": 1}, "NASA and ESA", "Nasa and ESA"),
    ({"op": "json"}, 'Here it is:\n```json\n{"a": 1}\n```\nEnjoy.', '{"a": 1}'),
    ({"op": "json"}, 'Sure: {"a": 1} there.', '{"a": 1}'),
    ({"op": "json"}, "No JSON.", '{\n  "response": "No JSON."\n}'),
]


@pytest.mark.parametrize(("demand", "reply", "expected"), BROKEN)
def test_an_edit_meets_the_demand(demand: Predicate, reply: str, expected: str) -> None:
    assert truth_of(demand, reply) == "violated"
    met = [
        one for one in EDITS[str(demand["op"])](demand, reply) if truth_of(demand, one) == "holds"
    ]
    assert met[0] == expected


def test_every_edit_is_for_an_op_that_there_is_and_has_an_example() -> None:
    assert {*EDITS} <= {*REPLY}
    assert {*EDITS} == {str(demand["op"]) for demand, *_ in BROKEN}


@pytest.mark.parametrize("op", EDITS)
@pytest.mark.parametrize("reply", ["", " ", "*", "\n\n\n", "[]", '"', "a" * 3_000, "a. " * 3_000])
def test_no_edit_breaks_on_an_odd_reply(op: str, reply: str) -> None:
    for demand in (demand for demand, *_ in BROKEN if demand["op"] == op):
        assert all(isinstance(one, str) for one in EDITS[op](demand, reply))
