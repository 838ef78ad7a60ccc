import pytest

from constraint_first.cli.progress import (
    Incomplete,
    TerminalWatcher,
    print_evaluated,
    tell_stopped,
)
from constraint_first.model.resolve import Cost
from constraint_first.run.run import Evaluated
from constraint_first.store.query import SeriesResult, Tally
from constraint_first.store.series import Series

SERIES = Series("sums", "direct", "m")


def test_a_whole_run_is_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    tally = Tally(2, ok=2, correct=2, cost=Cost(0.25))
    print_evaluated(Evaluated("runs.db", (SeriesResult(SERIES, tally),), 1.0))
    said = capsys.readouterr().out
    assert "2/2" in said
    assert "All together $0.25" in said


def test_what_is_missing_ends_it_with_the_way_out(capsys: pytest.CaptureFixture[str]) -> None:
    tally = Tally(2, ok=1, failed=1)
    done = Evaluated("runs.db", (SeriesResult(SERIES, tally),), 1.0, "1 of 2 attempts failed")
    with pytest.raises(Incomplete, match=r"^1 of 2 attempts failed; 'cfr runs --failures' lists"):
        print_evaluated(done)
    assert "1/2" in capsys.readouterr().out


def test_who_stops_before_anything_was_asked_is_told_so() -> None:
    said = tell_stopped(TerminalWatcher(quiet=True), "postgresql://me:secret@host/runs")
    assert said.startswith("stopped before anything was asked; to begin anew: cfr")
