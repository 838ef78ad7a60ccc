import re
from pathlib import Path

import pytest
from edit_measure import REPLIES, measure
from hypothesis import given, settings
from hypothesis import strategies as st

from constraint_first.constraint.predicate import Predicate, all_of, truth_of
from constraint_first.constraint.reply.check import REPLY
from constraint_first.constraint.reply.edit import EDITS
from constraint_first.constraint.reply.protected import keeps, protected_spans
from constraint_first.constraint.reply.reader import read_demands
from constraint_first.constraint.reply.repair import repair_reply
from constraint_first.constraint.stated.statement import Stated

# --- repair


NO_COMMA: Predicate = {"op": "without", "marks": [","]}
LOWER: Predicate = {"op": "case", "case": "lower"}


def stated(*demands: Predicate) -> list[Stated]:
    return [Stated("format", one, (0, 0), "") for one in demands]


def test_several_demands_are_met_together() -> None:
    demands = stated(NO_COMMA, LOWER, {"op": "quoted"}, {"op": "ends", "text": "That is all."})
    assert (
        repair_reply(demands, "Well, well, it is late.")
        == '"well well it is late.\n\nthat is all."'
    )


def test_what_was_met_is_never_broken() -> None:
    demands = stated({"op": "words", "high": 5}, {"op": "contains", "words": ["tail"]})
    reply = "One two three. Four five. Six seven tail."
    assert repair_reply(demands, reply) == reply


def test_a_demand_that_contradicts_another_is_left_alone() -> None:
    demands = stated(LOWER, {"op": "contains_any", "texts": ["My answer is yes."]})
    repaired = repair_reply(demands, "My answer is yes.")
    assert repaired == "My answer is yes."
    both = stated({"op": "case", "case": "upper"}, LOWER)
    assert truth_of(both[0].predicate, repair_reply(both, "It rains.")) == "holds"


def test_a_sound_reply_is_never_touched() -> None:
    demands = stated(NO_COMMA, {"op": "words", "low": 2})
    assert repair_reply(demands, "  Just so.\n") == "  Just so.\n"
    assert repair_reply([], "a, b") == "a, b"


def test_what_an_edit_cannot_bring_stays_as_it_is() -> None:
    demands = stated({"op": "words", "low": 500}, {"op": "language", "language": "de"})
    assert repair_reply(demands, "A short reply.") == "A short reply."


def test_parts_of_a_demand_are_met_one_by_one() -> None:
    two: Predicate = {"op": "paragraphs", "separator": "\n\n", "low": 2, "high": 2}
    begins: Predicate = {"op": "paragraph_begins", "nth": 2, "word": "soon"}
    demands = stated(all_of(two, begins))
    assert repair_reply(demands, "One. Two.") == "One.\n\nSoon, Two."


@pytest.mark.parametrize(
    "reply", ["a," * 500_000, "*" * 1_000_000, "\n" * 1_000_000, "x " * 40_000]
)
def test_a_huge_reply_takes_no_long_time(reply: str) -> None:
    demands = stated(NO_COMMA, LOWER, {"op": "highlights", "low": 3}, {"op": "words", "high": 9})
    assert isinstance(repair_reply(demands, reply), str)


def test_demands_that_were_read_are_met() -> None:
    request = (
        "Write a limerick about a cat. Use no commas. Wrap your entire response with double "
        'quotation marks. Finish your response with the exact phrase "Meow for now."'
    )
    demands = read_demands(request)
    assert len(demands) == 3
    repaired = repair_reply(demands, "There was a cat, old and fat.")
    assert [truth_of(one.predicate, repaired) for one in demands] == ["holds"] * 3


DOCS = Path(__file__).parents[3] / "docs" / "demands.md"


def test_what_edits_bring_is_what_the_docs_say() -> None:
    if not REPLIES.is_file():
        pytest.skip(f"{REPLIES} is not here; set CFR_DATA to a folder that has it")
    found = measure()
    assert found.broken == 0
    assert str(found) in DOCS.read_text("utf-8")


# --- edit


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


CODE = "Use this:\n\n```python\ndef add(a, b):\n\n    return a + b\n```"


@pytest.mark.parametrize(("demand", "reply", "expected"), BROKEN)
def test_an_edit_meets_the_demand(demand: Predicate, reply: str, expected: str) -> None:
    assert truth_of(demand, reply) == "violated"
    assert repair_reply([Stated("format", demand, (0, 0), "")], reply) == expected


def test_every_edit_is_for_an_op_that_there_is_and_has_an_example() -> None:
    assert {*EDITS} <= {*REPLY}
    assert {*EDITS} == {str(demand["op"]) for demand, *_ in BROKEN}


@pytest.mark.parametrize("op", EDITS)
@pytest.mark.parametrize("reply", ["", " ", "*", "\n\n\n", "[]", '"', "a" * 3_000, "a. " * 3_000])
def test_no_edit_breaks_on_an_odd_reply(op: str, reply: str) -> None:
    for demand in (demand for demand, *_ in BROKEN if demand["op"] == op):
        assert all(isinstance(one, str) for one in EDITS[op](demand, reply))


# --- protected


PROTECTED = [
    *"2,5 1,234 3.14 -3 5% €20 10:30 1/2 2024-03-05 B12 H2O aZ93Kq".split(),
    *"x_1 max_tokens API_KEY=aZ93Kq iPhone getName os.path README.md --dry-run f(x,y)".split(),
    *"https://example.org/a,b?c=D www.Example.org/x a.b@Example.org /usr/lib/X src/Main.py".split(),
    *("5 mg", "2,5 ml", "10 MW", "(0, 3)", "[a, B]", "`f(a, b)`", "$x, Y$", r"\(x, y\)"),
    *(r"\frac{a}{B}", "x = 3", '"No, never."', "“No, never.”", "«Non, jamais.»", "'No, never'"),
    *('{"a": {"b": [1, 2]}}', "<b>", "„Nein, nie.“", "‘No, never’"),
]
BLOCKS = [
    "```python\ndef add(a, b):\n\n    return a\n```",
    "~~~\nA, B\n~~~",
    "| A, b | c |\n| --- | --- |\n| 1 | 2 |",
    "> Rain, rain. Go Away!",
    "    x = [A, b]",
]
WORDS = (
    "Rain not never the farmer Yes NASA don't well-known Section, tea, soon; Stop! so. Why?".split()
)
MARKS = ["# ", "* ", "- ", "1. ", "**", "<<", ">>", '"', "***\n\n", "P.S. "]

DEMANDS: list[Predicate] = [
    {"op": "case", "case": "upper"},
    {"op": "case", "case": "lower"},
    {"op": "capital_words", "low": 3},
    {"op": "capital_words", "high": 0},
    *({"op": "without", "marks": [mark]} for mark in ",;!?:*#"),
    {"op": "lacks", "words": ["rain", "not", "yes"]},
    {"op": "words", "high": 3},
    {"op": "sentences", "high": 1},
    {"op": "paragraphs", "low": 3, "high": 3},
    {"op": "paragraphs", "separator": "***", "low": 2, "high": 2},
    {"op": "paragraph_begins", "nth": 1, "word": "zebra"},
    {"op": "sections", "mark": "SECTION", "low": 2},
    {"op": "bullets", "low": 2, "high": 2},
    {"op": "highlights", "low": 3},
    {"op": "title"},
    {"op": "postscript", "mark": "Q.Q."},
    {"op": "begins", "text": "zebra zoo"},
    {"op": "ends", "text": "zebra zoo"},
    {"op": "quoted"},
    {"op": "json"},
    {"op": "contains_any", "texts": ["Yes Rain.", "not the farmer"]},
]
ADDED = {"zebra", "zoo", "section", "q"}


@pytest.mark.parametrize("text", [*PROTECTED, *BLOCKS])
def test_each_of_these_is_one_protected_stretch(text: str) -> None:
    reply = f"It is\n\n{text}\n\nand so on." if text in BLOCKS else f"It is {text} and so on."
    spans = [reply[one.start : one.end].strip("\n") for one in protected_spans(reply)]
    assert "\n".join(spans) == text


PIECE = st.one_of(
    st.sampled_from(WORDS),
    st.sampled_from(PROTECTED),
    st.sampled_from(BLOCKS).map(lambda block: f"\n\n{block}\n\n"),
    st.sampled_from(MARKS),
    st.sampled_from(["\n", "\n\n", "\n* ", "\n1. "]),
)


def content(text: str) -> list[str]:
    """List the words, in any case, without those that a demand brings."""
    words = re.findall(r"[^\W\d_]+", text.casefold())
    return [one for one in words if one not in ADDED]


@settings(max_examples=500)
@given(st.lists(PIECE, max_size=14), st.lists(st.sampled_from(DEMANDS), min_size=1, max_size=4))
def test_no_edit_costs_a_word_or_a_protected_stretch(
    pieces: list[str], demands: list[Predicate]
) -> None:
    reply = " ".join(pieces)
    edited = repair_reply(stated(*demands), reply)
    assert content(edited) == content(reply)
    spans = (reply[one.start : one.end].rstrip("\n") for one in protected_spans(reply))
    for stretches in (spans, (one for one in pieces if one in PROTECTED)):
        at = 0
        for kept in stretches:
            at = edited.find(kept, at)
            assert at >= 0, (kept, edited)
            at += len(kept)


@pytest.mark.parametrize(
    ("after", "kept"),
    [
        ("You should not mix 2,5 ml.", True),
        ("you should not mix 2,5 ml.", False),
        ("Please: You should not\nmix 2,5 ml. Thanks", True),
        ("You should mix 2,5 ml.", False),
        ("You should not mix 25 ml.", False),
        ("You should not mix 12,5 ml.", False),
        ("2,5 ml. You should not mix", False),
    ],
)
def test_what_was_there_must_still_be_there_in_its_order(after: str, kept: bool) -> None:
    assert keeps("You should not mix 2,5 ml.", after) is kept
    assert keeps("You should not mix 2,5 ml.", after.swapcase(), recased=True) is False


def test_what_follows_a_block_that_is_not_closed_would_be_in_it() -> None:
    assert not keeps("```\ncode", "```\ncode\n\nBye.")
    assert keeps("```\ncode\n```", "```\ncode\n```\n\nBye.")
    assert not keeps("```\ncode\n```", "```\ncode\n``` Bye.")


@pytest.mark.parametrize(
    "unit",
    ["a,", "(a, ", '"', "[[", '{"a":', "aA", "a1-", "http://", "“", "$a", "```\n", "a/", "a."],
)
def test_a_long_reply_takes_no_long_time(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    assert keeps(text, text)
