from pathlib import Path

import pytest
from edit_measure import REPLIES, measure

from constraint_first.constraint.predicate import Predicate, all_of, truth_of
from constraint_first.constraint.reply.reader import read_demands
from constraint_first.constraint.reply.repair import repair_reply
from constraint_first.constraint.stated.statement import Stated

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
