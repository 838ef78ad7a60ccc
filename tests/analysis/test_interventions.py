"""Interventions undone, and gold instructions followed."""

from pathlib import Path

import pytest
from hand_made import arm, attempt, cells, study, texts
from instructed import FEW_WORDS, NO_COMMA, TITLE, request_store
from intervened import intervened_store

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
    sums = study(arm("direct", {"a": "+"}), problems=texts({"a": "A"}, gold={"a": "1"}))
    assert follow_instructions(sums) == []
    outcomes = study(arm("direct", {"b": "+"}), problems=texts({"b": "B"}, gold=GOLD))
    assert follow_instructions(outcomes) == []


def test_a_real_store(tmp_path: Path) -> None:
    found = follow_instructions(open_study(request_store(str(tmp_path / "runs.db"))))
    assert [one.arm.method for one in found] == ["direct", "reminder"]
    direct, reminder = found
    assert direct.levels[0].accuracy == direct.levels[1].accuracy == 75
    assert reminder.levels[0].accuracy == pytest.approx(100 * 8 / 12)
    assert reminder.levels[1].accuracy == 100
    assert {one.changed for one in found} == {0}


# Instructions.


def test_four_numbers_for_each_method_and_each_kind(tmp_path: Path) -> None:
    levels, kinds = instruction_tables(open_study(request_store(str(tmp_path / "runs.db"))))
    direct, reminder = cells(levels)
    assert direct[:6] == ["m", "requests", "Direct CoT", "12", "2", "30"]
    assert [cell.partition(" ")[0] for cell in direct[6:]] == ["75.0", "75.0", "90.0", "90.0"]
    assert [cell.partition(" ")[0] for cell in reminder[6:]] == ["66.7", "100.0", "86.7", "100.0"]
    assert "[" in direct[6]
    heading, title, words, comma = cells(kinds)
    assert heading == ["m, requests"]
    assert title[:2] == ["detectable_format:title", "6"]
    assert [cell.partition(" ")[0] for cell in title[2:]] == ["50.0", "100.0"]
    assert comma[:2] == ["punctuation:no_comma", "12"]
    assert words[0] == "length_constraints:number_words"


def test_what_is_not_decided_and_what_was_judged_otherwise_is_said() -> None:
    one = arm("direct", {"a": "+"})
    gold = write_instructions([GoldInstruction("emoji:count")])
    said = {(*one.key, "a", 0): Transcript("🙂", None, True, 0)}
    made = study(one, problems=texts({"a": "A"}, gold={"a": gold}), transcripts=said)
    notes = " ".join(instruction_tables(made)[0].notes)
    assert "because it could not be decided: 1 check." in notes
    assert "Judged otherwise when stored: 1 stored verdict; 'cfr runs --regrade'" in notes


@pytest.mark.parametrize("gold", [{}, {"a": "42"}])
def test_a_study_without_instructions_has_none(gold: dict[str, str]) -> None:
    assert (
        instruction_tables(study(arm("direct", {"a": "+"}), problems=texts({"a": "A"}, gold=gold)))
        == ()
    )


# Interventions.


def test_accuracy_without_and_with_and_each_kind(tmp_path: Path) -> None:
    undone, steps = intervention_tables(open_study(intervened_store(str(tmp_path / "runs.db"))))
    requests, sums = cells(undone)
    assert requests[:6] == ["m", "requests", "Sound reply [then=off]", "6 / 8", "50.0", "50.0"]
    assert requests[7] == "1 / 1"
    assert sums[4:7] == ["0.0", "100.0", "+100.0"]
    assert cells(steps) == [
        ["m, requests, Sound reply [then=off]"],
        ["repair", "6", "2", "2", "0", "2"],
        ["m, sums, Checked"],
        ["repair", "2", "2", "0", "0", "0"],
    ]


def test_a_study_without_interventions_has_none() -> None:
    assert intervention_tables(study(arm("direct", {"a": "+"}))) == ()
