from pathlib import Path

import pytest
from hand_made import arm, cells, study, texts
from instructed import request_store

from constraint_first.benchmark.source import GoldInstruction, write_instructions
from constraint_first.report.exhibit.interventions import instruction_tables
from constraint_first.report.reader import open_study
from constraint_first.report.study import Transcript


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
