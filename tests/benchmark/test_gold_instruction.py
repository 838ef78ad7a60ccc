from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instructed import FEW_WORDS, NO_COMMA, TITLE

from constraint_first.benchmark.registry import (
    INSTRUCTION_MARK,
    GoldInstruction,
    describe_gold,
    follow,
    parse_instructions,
    read_instructions,
    unknown_kinds,
    write_instructions,
)
from constraint_first.constraint.reply.instruction import INSTRUCTIONS
from constraint_first.problem import Json

UNKNOWN = GoldInstruction("emoji:count", {"count": 3})

NAMES = st.text(max_size=6)
VALUES = NAMES | st.integers() | st.booleans() | st.lists(NAMES, max_size=3)


@settings(max_examples=30)
@given(
    st.lists(st.tuples(NAMES, st.dictionaries(NAMES, VALUES, max_size=3)), min_size=1, max_size=3)
)
def test_what_is_written_is_read_again(given: list[tuple[str, dict[str, Json]]]) -> None:
    instructions = tuple(GoldInstruction(kind, arguments) for kind, arguments in given)
    gold = write_instructions(instructions)
    assert read_instructions(gold) == instructions
    assert write_instructions(read_instructions(gold) or ()) == gold


def test_the_order_of_arguments_does_not_matter() -> None:
    one = GoldInstruction("keywords:frequency", {"keyword": "a", "frequency": 2})
    two = GoldInstruction("keywords:frequency", {"frequency": 2, "keyword": "a"})
    assert write_instructions([one]) == write_instructions([two])


@pytest.mark.parametrize("gold", [None, "", "42", "instructions", '[{"id": "a", "kwargs": {}}]'])
def test_a_gold_answer_is_none(gold: str | None) -> None:
    assert read_instructions(gold) is None


@pytest.mark.parametrize(
    "rest", ["", "[", "7", "[7]", "[]", '[{"id": "a"}]', '[{"kwargs": {}}]', "[" * 9_999]
)
def test_what_bears_the_mark_is_never_an_answer(rest: str) -> None:
    """A maths answer is not compared with it, and it is neither right nor wrong."""
    found = read_instructions(INSTRUCTION_MARK + rest)
    assert found
    assert len(found) == 1
    assert found[0].truth("Some reply.") == "undecided"


def test_instructions_of_a_row() -> None:
    rows: Json = [
        {"id": "punctuation:no_comma"},
        {"id": FEW_WORDS.kind, "kwargs": {"relation": "less than", "num_words": 10.0, "n": None}},
    ]
    assert parse_instructions(rows) == (NO_COMMA, FEW_WORDS)
    packed = '[{"id": "punctuation:no_comma"}]'
    assert parse_instructions(packed) == (NO_COMMA,)
    apart: Json = [{"relation": None}, {**FEW_WORDS.arguments, "keywords": None}]
    assert parse_instructions([NO_COMMA.kind, FEW_WORDS.kind], apart) == (NO_COMMA, FEW_WORDS)
    assert parse_instructions([NO_COMMA.kind]) == (NO_COMMA,)


@pytest.mark.parametrize("value", [None, [], "[]", "Answer in one word.", ""])
def test_rows_without_instructions(value: Json) -> None:
    """A column of that name may be anybody's text."""
    assert parse_instructions(value) == ()


def test_a_kind_that_is_not_known_is_kept_and_undecided() -> None:
    (kept,) = parse_instructions([{"id": "emoji:count", "kwargs": {"count": 3}}])
    assert kept == UNKNOWN
    assert follow([kept, NO_COMMA], "No.") == ("undecided", "holds")
    gold = write_instructions([kept, NO_COMMA])
    assert unknown_kinds([gold, gold, "42", None]) == ("emoji:count",)


def test_strict_and_loose() -> None:
    reply = "Sure, here it is:\n<<Title>>\nIt rains."
    assert follow([NO_COMMA, FEW_WORDS, TITLE], reply) == ("violated", "holds", "holds")
    assert follow([NO_COMMA, FEW_WORDS, TITLE], reply, loose=True) == ("holds",) * 3


@pytest.mark.parametrize("reply", ["", " \n"])
@pytest.mark.parametrize("loose", [False, True])
def test_an_empty_reply_follows_nothing(reply: str, loose: bool) -> None:
    assert follow([NO_COMMA, UNKNOWN], reply, loose=loose) == ("violated", "violated")


def test_an_argument_that_only_some_replies_need() -> None:
    odd = GoldInstruction(
        "length_constraints:nth_paragraph_first_word",
        {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": 5},
    )
    assert follow([odd], "One.\n\nTwo.") == ("undecided",)


def test_a_gold_for_people() -> None:
    assert describe_gold("42") == "42"
    said = describe_gold(write_instructions([NO_COMMA, FEW_WORDS, UNKNOWN]))
    assert said.startswith("The reply does without “,”. The reply has at most 9 words. ")
    assert "emoji:count, which is not known" in said
    assert "{" not in said


def test_every_kind_is_in_the_docs_with_its_arguments() -> None:
    """The message about arguments that do not fit sends people there."""
    page = (Path(__file__).parents[2] / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert len(INSTRUCTIONS) == 25
    assert [kind for kind in INSTRUCTIONS if f"| `{kind}` |" not in page] == []
