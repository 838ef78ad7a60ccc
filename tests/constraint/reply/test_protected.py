import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constraint_first.constraint.predicate import Predicate
from constraint_first.constraint.reply.protected import keeps, protected_spans
from constraint_first.constraint.reply.repair import repair_reply
from constraint_first.constraint.stated.statement import Stated

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


def stated(*demands: Predicate) -> list[Stated]:
    return [Stated("format", one, (0, 0), "") for one in demands]


@pytest.mark.parametrize("text", [*PROTECTED, *BLOCKS])
def test_each_of_these_is_one_protected_stretch(text: str) -> None:
    reply = f"It is\n\n{text}\n\nand so on." if text in BLOCKS else f"It is {text} and so on."
    spans = [reply[one.start : one.end].strip("\n") for one in protected_spans(reply)]
    assert "\n".join(spans) == text


@pytest.mark.parametrize(
    "text",
    [
        "It is plain prose, with words and nothing else; don't the dogs' bowls show it?",
        "<<A title>>\n\n* one point\n* and/or another\n    - a deeper one",
        "# Heading\n\n**Bold words**, _soft words_ and e.g. his/her well-known U.S. ones!",
    ],
)
def test_prose_and_its_layout_are_not_protected(text: str) -> None:
    assert protected_spans(text) == []


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
