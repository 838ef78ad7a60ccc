from hand_made import arm, study, two_benchmarks

from constraint_first.report.comparison import pairs_by_model
from constraint_first.report.study import by_model
from constraint_first.report.table import size_note, status_note, unequal_runs


def test_attempts_by_how_they_ended() -> None:
    assert status_note(two_benchmarks().arms) == (
        "Of 26 attempts: 0 truncated (0.0 %), 1 unparsed (3.8 %), 0 failed (0.0 %); failed ones "
        "are not scored."
    )
    assert "1 failed (100.0 %)" in status_note([arm("direct", {"1": "?"})])
    assert status_note([]) == "No attempts."


def test_problems_and_runs_of_each_benchmark() -> None:
    parts = by_model(study(*two_benchmarks().arms, arm("direct", {"1": "+"}, benchmark="")))
    assert size_note(parts) == "Problems × runs: AIME24 4 × 2, AIME25 1 × 1, all 1 × 1."
    uneven = by_model(study(arm("direct", {"1": "++"}), arm("cfr", {"1": "+", "2": "+"})))
    assert size_note(uneven) == "Problems × runs: set 1 × 2 or 2 × 1."


def test_unequal_chances_matter_where_any_run_may_be_right() -> None:
    found = pairs_by_model(study(arm("direct", {"p": "----"}), arm("cfr", {"p": "+"})), "cfr")
    assert list(unequal_runs(found, "any")) == [
        "model on set: up to 4 runs before and 1 after, so chances differ."
    ]
    assert list(unequal_runs(found, "first")) == []
