from pathlib import Path

from hand_made import arm, cells, study
from intervened import intervened_store

from constraint_first.report.exhibit.interventions import intervention_tables
from constraint_first.report.reader import open_study


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
