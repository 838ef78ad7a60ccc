from collections import Counter

from sums import right, sums

from constraint_first.attempt.drive import Scripted
from constraint_first.protocol import Completion, Usage
from constraint_first.run.job import prepare, run
from constraint_first.store.query import (
    SeriesResult,
    Tally,
    mean_share,
    most_frequent_reason,
    without_numbers,
)
from constraint_first.store.series import Series
from constraint_first.store.store import Store

SERIES = Series("sums", "direct", "model-a")


async def test_a_smaller_run_counts_only_what_belongs_to_it(url: str) -> None:
    with Store(url) as store:
        engine = Scripted(lambda call: Completion(right(call), usage=Usage(3, 4)))
        await run(store, [prepare(store, SERIES, sums(6), 3, engine)], width=4)
        job = prepare(store, SERIES, sums(2), 2, engine)
        assert store.is_shared or not list(job.missing())
    tally = job.tally
    assert (tally.total, tally.ok, tally.correct, tally.resumed) == (4, 4, 4, 4)
    assert tally.usage == Usage(12, 16)


def test_the_most_frequent_reason_is_that_of_all_series_together() -> None:
    counts: list[Counter[str]] = [Counter(slow=2, odd=3), Counter(), Counter(slow=2)]
    results = [SeriesResult(SERIES, Tally(9, reasons=reasons)) for reasons in counts]
    assert most_frequent_reason(results) == ("slow", 4)


def test_reasons_that_differ_in_a_number_are_one() -> None:
    reasons = Counter(
        {"odd": 3, "HTTP 429 (again in 1.5s, req_8f3a)": 2, "HTTP 429 (again in 2s, req_c1)": 2}
    )
    results = [SeriesResult(SERIES, Tally(9, reasons=reasons))]
    assert most_frequent_reason(results) == ("HTTP 429 (again in 1.5s, req_8f3a)", 4)
    assert without_numbers("HTTP 429") != without_numbers("HTTP 503")


def test_each_problem_counts_once_however_many_runs_it_has() -> None:
    scores = Counter({(4, 4): 1, (0, 1): 1})
    assert mean_share(scores) == SeriesResult(SERIES, Tally(5), scores).accuracy == 0.5
    assert mean_share({}) is None
    assert SeriesResult(SERIES, Tally(5)).accuracy is None


def test_an_attempt_can_be_taken_back() -> None:
    tally = Tally(2)
    tally.add("ok", "correct", Usage(3, 4))
    tally.add("ok", "correct", Usage(), count=-1)
    tally.add("failed", None, Usage())
    assert (tally.ok, tally.correct, tally.failed, tally.scored) == (0, 0, 1, 0)
    assert tally.usage == Usage(3, 4)
