import pytest

from constraint_first.constraint.predicate import Predicate, truth_of
from constraint_first.constraint.reply.check import REPLY
from constraint_first.constraint.reply.edit import EDITS
from constraint_first.constraint.reply.repair import repair_reply
from constraint_first.constraint.stated.statement import Stated

STORY = "The sun rose. Birds sang in the old oak tree.\n\nThe farmer woke up, yawned and smiled."

BROKEN: list[tuple[Predicate, str, str]] = [
    ({"op": "case", "case": "upper"}, "It is so.", "IT IS SO."),
    ({"op": "case", "case": "lower"}, "It is SO.", "it is so."),
    ({"op": "without", "marks": [","]}, "Well, in 2024, yes.", "Well in 2024 yes."),
    ({"op": "quoted"}, ' Hello there."', '"Hello there."'),
    ({"op": "ends", "text": "Bye."}, "Good day.", "Good day.\n\nBye."),
    ({"op": "begins", "text": "Dear Ann,"}, "How are you?", "Dear Ann,\n\nHow are you?"),
    ({"op": "repeats", "text": "Say hi."}, "Hi!", "Say hi.\n\nHi!"),
    ({"op": "title"}, "# My day\n\nIt was fine.", "<<My day>>\n\nIt was fine."),
    ({"op": "title"}, "My day\n\nIt was fine.", "<<My day>>\n\nIt was fine."),
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
        {"op": "contains_any", "texts": ["My answer is yes.", "My answer is no."]},
        "**my answer is YES**",
        "**My answer is yes.**",
    ),
    (
        {"op": "contains_any", "texts": ["My answer is yes.", "My answer is no."]},
        "No.",
        "My answer is no.",
    ),
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
    ({"op": "bullets", "low": 2, "high": 2}, "1. A\n2) B", "* 1. A\n* 2) B"),
    ({"op": "bullets", "low": 2, "high": 2}, "* A\n* B\n* C", "* A\n* B; C"),
    ({"op": "bullets", "low": 2, "high": 2}, "A b. C d.", "* A b.\n* C d."),
    ({"op": "highlights", "low": 2}, "Red rose here\nBlue sky", "*Red rose here*\n*Blue sky*"),
    ({"op": "capital_words", "low": 2}, "We like green tea", "We LIKE GREEN tea"),
    ({"op": "without", "marks": [";"]}, "It rains; we stay.", "It rains, we stay."),
    ({"op": "without", "marks": ["!"]}, "Stop! Now!!", "Stop. Now."),
    ({"op": "without", "marks": ["*"]}, "**Tea** is *good*.", "Tea is good."),
    ({"op": "without", "marks": ["#"]}, "# Tea\n\nGood.", "Tea\n\nGood."),
]


NO_COMMAS: Predicate = {"op": "without", "marks": [","]}
UPPER: Predicate = {"op": "case", "case": "upper"}
LOWER: Predicate = {"op": "case", "case": "lower"}
TWO_PARTS: Predicate = {"op": "paragraphs", "low": 2, "high": 2}
CODE = "Use this:\n\n```python\ndef add(a, b):\n\n    return a + b\n```"

LEFT_ALONE: list[tuple[Predicate, str]] = [
    # Words of content are neither deleted nor replaced.
    ({"op": "lacks", "words": ["not"]}, "You should not mix bleach and ammonia."),
    ({"op": "lacks", "words": ["yes"]}, "Yes."),
    ({"op": "lacks", "words": ["bad"]}, "One is fine. Two is bad. Three is fine. Four is fine."),
    ({"op": "words", "high": 4}, "Mix both. Never do so without an open window."),
    ({"op": "sentences", "high": 1}, "Take two pills. Never take more than two."),
    ({"op": "paragraphs", "low": 4, "high": 4}, "Just one sentence."),
    ({"op": "ends", "text": "Bye."}, "```\nBye. (End)"),
    ({"op": "title"}, "It is safe to take aspirin only with food."),
    ({"op": "postscript", "mark": "P.S."}, "All is well."),
    ({"op": "contains_any", "texts": ["My answer is yes.", "My answer is no."]}, "No, never."),
    (
        {"op": "contains_any", "texts": ["My answer is yes.", "My answer is no."]},
        "My answer is not yes",
    ),
    ({"op": "capital_words", "high": 1}, "NASA and ESA"),
    ({"op": "json"}, 'Here it is:\n```json\n{"a": 1}\n```\nIt is untested.'),
    ({"op": "json"}, 'Sure: {"a": 1} but only in May.'),
    ({"op": "json"}, "No JSON."),
    ({"op": "without", "marks": ["?"]}, "Is it safe?"),
    ({"op": "without", "marks": [":"]}, "Note: 10:30 is late."),
    # Numbers, expressions and lists of values keep their commas, and so does all around them.
    *(
        (NO_COMMAS, one)
        for one in (
            "Give 2,5 ml, then wait.",
            "It has 1,234 rows, all good.",
            "The point (0,3), then (1, 4), is on it.",
            "Values are 1, 2, 3.",
            "Take 5 ml, 10 mg and rest.",
            "Write `f(a, b)`, then run it.",
            "def add(a, b): return a",
            'She said "no, never", and left.',
            "She said “no, never”, and left.",
            "See https://example.org/a,b for more.",
            "Let $x, y > 0$ hold.",
            r"Let \(x, y\) be points.",
            '{"a": 1, "b": [1, 2]}',
            "| a, b | c |\n| --- | --- |\n| 1 | 2 |",
            "France, Italy, South Korea",
            "> Rain, rain, go away.",
            "Like so:\n\n    x = [a, b]\n",
            "SELECT a, b FROM t WHERE x = 1;",
            "Write this:\nimport os, sys\nand run it.",
            "for (int i = 0, j = 1; i < n; i++) {",
        )
    ),
    # Case has a meaning in these.
    *(
        (LOWER, one)
        for one in (
            "Set API_KEY=aZ93Kq first.",
            "Open README.md now.",
            "Call getName() once.",
            "Use MW and 5 MW.",
            "He said “No”.",
            "Go to https://Example.org/A.",
            "It is H2O.",
            "Run `Make` now.",
            "class Foo:\n    pass",
        )
    ),
    (UPPER, "Take 5 mg of it."),
    (UPPER, "Write to a.b@example.org now."),
    (UPPER, "Set max_tokens to nine."),
    # Code keeps its lines and stays by itself.
    ({"op": "quoted"}, CODE),
    ({"op": "postscript", "mark": "P.S."}, CODE),
    ({"op": "paragraphs", "low": 1, "high": 1}, CODE),
    ({"op": "paragraph_begins", "nth": 2, "word": "soon"}, CODE),
    ({"op": "paragraph_begins", "nth": 1, "word": "soon"}, "# Heading"),
    ({"op": "highlights", "low": 1}, "`only code here`"),
    (TWO_PARTS, '"It rains. It pours."'),
    (TWO_PARTS, "It is for Dr. Smith and Mrs. Jones."),
]


@pytest.mark.parametrize(("demand", "reply", "expected"), BROKEN)
def test_an_edit_meets_the_demand(demand: Predicate, reply: str, expected: str) -> None:
    assert truth_of(demand, reply) == "violated"
    assert repair_reply([Stated("format", demand, (0, 0), "")], reply) == expected


@pytest.mark.parametrize(("demand", "reply"), LEFT_ALONE)
def test_an_edit_that_would_cost_meaning_is_not_made(demand: Predicate, reply: str) -> None:
    assert truth_of(demand, reply) == "violated"
    assert repair_reply([Stated("format", demand, (0, 0), "")], reply) == reply


def test_every_edit_is_for_an_op_that_there_is_and_has_an_example() -> None:
    assert {*EDITS} <= {*REPLY}
    assert {*EDITS} == {str(demand["op"]) for demand, *_ in BROKEN}


@pytest.mark.parametrize("op", EDITS)
@pytest.mark.parametrize("reply", ["", " ", "*", "\n\n\n", "[]", '"', "a" * 3_000, "a. " * 3_000])
def test_no_edit_breaks_on_an_odd_reply(op: str, reply: str) -> None:
    for demand in (demand for demand, *_ in BROKEN if demand["op"] == op):
        assert all(isinstance(one, str) for one in EDITS[op](demand, reply))
