from pathlib import Path

from paged_store import ITEMS, make_store
from stored import attempt

from constraint_first.serve.page.runs import view_store
from constraint_first.serve.page.site import RunSource
from constraint_first.store import schema
from constraint_first.store.store import Store


def test_each_series_has_its_score_and_its_cost(store: str) -> None:
    view = view_store(RunSource(1, store))
    direct, cfr, program = view.lines
    assert (direct.accuracy, cfr.accuracy, program.accuracy) == ("50.0", "75.0", "100.0")
    assert direct.interval.startswith("[29.")
    assert (direct.attempted, direct.problems, direct.begun) == (24, 24, 0)
    assert view.attempts == 3 * 48
    assert view.tokens == sum(line.summary.tally.usage.total for line in view.lines)
    assert (view.failures, view.running, view.cost, view.begun) == ((), False, None, 0)


def test_words_choose_series(store: str) -> None:
    source = RunSource(1, store)

    def found(words: str) -> list[str]:
        return [line.summary.series.method for line in view_store(source, words).shown]

    assert found("") == ["direct", "cfr", "program"]
    assert found("always-ON") == ["cfr"]
    assert found("mini cot") == ["direct"]
    assert found("3") == ["program"]
    assert found("nothing like it") == []


def test_failures_and_what_is_under_way(tmp_path: Path) -> None:
    url = make_store(tmp_path / "runs.db", ITEMS[:2], runs=1)
    with Store(url) as store, store.exclusively():
        ended = {"status": "failed", "verdict": None, "tier": None, "answer": None}
        row = attempt(1, 1, 9, **ended, error="HTTP 500; wait")
        store.change(lambda c: c.execute(schema.attempts.insert(), row))
        view = view_store(RunSource(1, url))
        assert view.running
    (failure,) = view.failures
    assert (failure.count, failure.run) == (1, 9)
    assert not view_store(RunSource(1, url)).running
