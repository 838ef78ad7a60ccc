"""Interventions undone, and gold instructions followed."""

from pathlib import Path

import pytest
from hand_made import arm, attempt, study, texts
from instructed import FEW_WORDS, NO_COMMA, TITLE, request_store
from intervened import intervened_store
from snapshot import Golden

from constraint_first.benchmark.registry import GoldInstruction, write_instructions
from constraint_first.report.exhibit.interventions import (
    Following,
    follow_instructions,
    instruction_tables,
    intervention_tables,
)
from constraint_first.report.reader import open_study
from constraint_first.report.statistics import wilson
from constraint_first.report.study import Transcript
from constraint_first.report.table import to_markdown

# Instructions.

GOLD = {
    "a": write_instructions([NO_COMMA, FEW_WORDS, TITLE]),
    "b": write_instructions([NO_COMMA]),
    "c": write_instructions([GoldInstruction("emoji:count")]),
}
REPLIES = {
    ("a", 0): "Well, then:\n<<T>>\nYes.",
    ("a", 1): "<<T>>\nYes.",
    ("b", 0): "One, two.",
    ("b", 1): "One.",
    ("c", 0): "🙂",
}


def by_hand() -> Following:
    """Two runs of two requests and one of a third, whose only instruction nobody knows."""
    runs = {"a": [attempt("-"), attempt("+", 1)], "b": [attempt("-"), attempt("-", 1)]}
    one = arm("direct", runs | {"c": [attempt("-")]})
    said = {
        (*one.key, *key): Transcript(text, None, key == ("a", 1), 0)
        for key, text in REPLIES.items()
    }
    asked = texts({name: f"Request {name}" for name in GOLD}, gold=GOLD)
    (found,) = follow_instructions(study(one, problems=asked, transcripts=said))
    return found


def test_the_four_numbers_by_hand() -> None:
    found = by_hand()
    # Strictly a is right in one of two runs, b in one, c never; loosely a in both.
    assert found.levels[0].accuracy == pytest.approx(100 * (0.5 + 0.5 + 0) / 3)
    assert found.levels[1].accuracy == pytest.approx(100 * (1 + 0.5 + 0) / 3)
    # Five instructions: of a 2 and then 3 are followed, of b 0 and then 1.
    assert found.levels[2].accuracy == pytest.approx(100 * (2.5 + 0.5 + 0) / 5)
    assert found.levels[3].accuracy == pytest.approx(100 * (3 + 0.5 + 0) / 5)
    assert (found.levels[0].problems, found.levels[2].problems) == (3, 5)
    assert found.undecided == 1
    assert found.changed == 1, "the second run of b was stored as wrong"


def test_each_kind_for_itself() -> None:
    kinds = {kind: score.accuracy for kind, score in by_hand().kinds.items()}
    assert kinds == {NO_COMMA.kind: 50, FEW_WORDS.kind: 100, TITLE.kind: 100, "emoji:count": 0}


def test_intervals_contain_the_share_and_stay_within_bounds() -> None:
    found = by_hand()
    for one in (found.levels[2], found.levels[3], found.levels[1]):
        low, high = one.interval
        assert 0 <= low <= one.accuracy <= high <= 100
    assert found.levels[2].how == "percentile bootstrap"


def test_where_all_requests_go_alike_the_interval_is_wilsons() -> None:
    one = arm("direct", {"b": "+", "d": "+"})
    said = {(*one.key, name, 0): Transcript("Yes.", None, True, 0) for name in ("b", "d")}
    asked = texts({"b": "B", "d": "D"}, gold={"b": GOLD["b"], "d": GOLD["b"]})
    (found,) = follow_instructions(study(one, problems=asked, transcripts=said))
    low, high = wilson(2, 2)
    assert found.levels[2].interval == (100 * low, 100 * high)
    assert found.levels[2].how == "Wilson"


def test_one_instruction_for_each_request_is_the_prompt_level() -> None:
    """Then both levels are the same share, and resampling requests gives nearly the same ends."""
    one = arm("direct", {f"p{n}": "+" if n % 3 else "-" for n in range(90)})
    said = {
        (*one.key, name, 0): Transcript("Yes." if runs[0].correct else "No, no.", None, None, 0)
        for name, runs in one.attempts.items()
    }
    asked = texts(dict.fromkeys(one.attempts, "P"), gold=dict.fromkeys(one.attempts, GOLD["b"]))
    (found,) = follow_instructions(study(one, problems=asked, transcripts=said))
    assert found.levels[2].accuracy == pytest.approx(found.levels[0].accuracy)
    ends = zip(found.levels[2].interval, found.levels[0].interval, strict=True)
    assert all(abs(ours - wilsons) < 2 for ours, wilsons in ends)


def test_studies_without_instructions_or_without_replies() -> None:
    bare = study(arm("direct", {"a": "+"}))
    sums = study(arm("direct", {"a": "+"}), problems=texts({"a": "A"}, gold={"a": "42"}))
    outcomes = study(arm("direct", {"b": "+"}), problems=texts({"b": "B"}, gold=GOLD))
    for made in (bare, sums, outcomes):
        assert follow_instructions(made) == []
        assert instruction_tables(made) == ()
        assert intervention_tables(made) == ()


def test_a_real_store(tmp_path: Path) -> None:
    found = follow_instructions(open_study(request_store(str(tmp_path / "runs.db"))))
    assert [one.arm.method for one in found] == ["direct", "reminder"]
    direct, reminder = found
    assert direct.levels[0].accuracy == direct.levels[1].accuracy == 75
    assert reminder.levels[0].accuracy == pytest.approx(100 * 8 / 12)
    assert reminder.levels[1].accuracy == 100
    assert {one.changed for one in found} == {0}


# Instructions.


def test_tables_of_real_stores(golden: Golden, tmp_path: Path) -> None:
    """Then of an instruction that nobody knows, judged otherwise when it was stored."""
    followed = open_study(request_store(str(tmp_path / "requests.db")))
    intervened = open_study(intervened_store(str(tmp_path / "runs.db")))
    one = arm("direct", {"c": "+"})
    said = {(*one.key, "c", 0): Transcript("🙂", None, True, 0)}
    open_one = study(one, problems=texts({"c": "C"}, gold=GOLD), transcripts=said)
    tables = (
        *(*instruction_tables(followed), *intervention_tables(intervened)),
        instruction_tables(open_one)[0],
    )
    text = "\n".join(f"{table.name}: {to_markdown(table)}" for table in tables)
    assert text == golden("interventions-by-hand.md")


# Interventions.
