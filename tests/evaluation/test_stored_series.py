from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from instructed import requests
from stored import attempt
from sums import sums

from constraint_first.attempt.drive import Scripted
from constraint_first.attempt.solve import run_sync
from constraint_first.error import InputError
from constraint_first.run.job import prepare, run
from constraint_first.store import schema
from constraint_first.store.query import (
    AttemptLine,
    Shown,
    count_begun,
    count_problems,
    find_series,
    list_problems,
    read_growth,
    read_series,
)
from constraint_first.store.series import Series
from constraint_first.store.store import Store

NO_VERDICT = {"verdict": None, "tier": None, "answer": None}


def fill(store: Store) -> None:
    """Five problems: right, mixed, wrong, without an answer, failed; and one that is under way."""
    known = store.register(Series("sums", "direct", "m"), sums(6))
    other = store.register(Series("sums", "cfr", "m"), sums(6))
    p = known.problems
    rows = [
        attempt(1, p["p0"], 0, finished_at=1.0),
        attempt(1, p["p0"], 1, finished_at=2.0),
        attempt(1, p["p1"], 0, finished_at=3.0),
        attempt(1, p["p1"], 1, verdict="incorrect", finished_at=4.0),
        attempt(1, p["p2"], 0, verdict="incorrect", answer="<b>", finished_at=5.0),
        attempt(1, p["p3"], 0, verdict="incorrect", status="unparsed", answer=None),
        attempt(1, p["p4"], 0, status="failed", error="HTTP 500", **NO_VERDICT),
        attempt(other.series, p["p0"], 0, finished_at=9.0),
    ]
    calls = [
        _call(1, p["p0"], 0),
        _call(1, p["p5"], 0),
        _call(1, p["p5"], 1),
        _call(2, p["p1"], 0),
    ]

    def work(connection: sa.Connection) -> None:
        connection.execute(schema.attempts.insert(), rows)
        connection.execute(schema.calls.insert(), calls)

    store.change(work)


def _call(series: int, problem: int, run: int) -> dict[str, Any]:
    key = {"series": series, "problem": problem, "run": run, "ordinal": 0, "stage": "direct"}
    asked = {"digest": "d", "messages": "[]", "max_tokens": 9, "text": "", "reasoning": ""}
    counts = dict.fromkeys(
        ("input_tokens", "output_tokens", "reasoning_tokens", "cached_tokens"), 0
    )
    return key | asked | counts | {"finish": "stop", "reported": True, "seconds": 0.1}


def names(store: Store, shown: Shown, search: str = "") -> list[str]:
    return [line.name for line in list_problems(store, 1, shown, search, most=9).lines]


def test_problems_are_listed_by_how_they_went(url: str) -> None:
    with Store(url) as store:
        fill(store)
        assert names(store, "all") == ["p0", "p1", "p2", "p3", "p4"]
        assert names(store, "right") == ["p0"]
        assert names(store, "mixed") == ["p1"]
        assert names(store, "wrong") == ["p2", "p3"]
        assert names(store, "unanswered") == ["p3"]
        assert names(store, "failed") == ["p4"]
        first, second, *_ = list_problems(store, 1, most=9).lines
    assert (first.right, first.judged, first.tokens, first.seconds) == (2, 2, 6, 1.0)
    assert first.opening == "What is 0 + 1?"
    assert second.attempts == (
        AttemptLine(0, "ok", "correct", "1"),
        AttemptLine(1, "ok", "incorrect", "1"),
    )


def test_words_are_looked_for_as_they_stand(url: str) -> None:
    with Store(url) as store:
        fill(store)
        assert names(store, "all", "P1") == ["p1"]
        assert names(store, "all", " 2 + 1 ") == ["p2"]
        assert names(store, "all", "%") == []
        assert names(store, "all", "_") == []
        assert names(store, "all", "'; DROP TABLE attempts") == []


def test_a_page_at_a_time(url: str) -> None:
    with Store(url) as store:
        fill(store)
        page = list_problems(store, 1, at=2, most=2)
        beyond = list_problems(store, 1, at=99, most=2)
    assert ([line.name for line in page.lines], page.total) == (["p2", "p3"], 5)
    assert (beyond.lines, beyond.total) == ((), 5)


def test_a_series_goes_by_its_number(url: str) -> None:
    with Store(url) as store:
        fill(store)
        found = read_series(store, 2)
        with pytest.raises(InputError, match="has no series 99"):
            read_series(store, 99)
    assert (found.method, found.label, found.benchmark) == ("cfr", "CFR (always-on)", "sums")
    assert found.settings["temperature"] == 0.7


def test_a_series_goes_by_all_that_names_it(url: str) -> None:
    with Store(url) as store:
        fill(store)
        decoding = '{"temperature":0.7,"top_p":0.95,"seed":null}'
        assert find_series(store, "sums", "cfr", "m", decoding) == 2
        with pytest.raises(InputError, match="has no series of cfr on sums with n"):
            find_series(store, "sums", "cfr", "n", decoding)


def test_what_is_under_way_is_counted(url: str) -> None:
    with Store(url) as store:
        fill(store)
        assert count_begun(store) == {1: 2, 2: 1}
        assert count_problems(store) == {"sums": 6}


def test_growth_follows_the_clock(url: str) -> None:
    with Store(url) as store:
        fill(store)
        found = read_growth(store, 1)
        every = read_growth(store)
        none = read_growth(store, 7)
    assert found.times == (1.0, 1.0, 2.0, 3.0, 4.0, 5.0)  # the one without an answer ended first
    assert found.attempts == (1, 2, 3, 4, 5, 6)
    assert found.right[-1] == 3
    assert every.attempts[-1] == 7
    assert none.times == ()


def test_growth_of_a_large_series_takes_few_steps(tmp_path: Path) -> None:
    with Store(str(tmp_path / "runs.db")) as store:
        known = store.register(Series("sums", "direct", "m"), sums(1))
        rows = [
            attempt(1, known.problems["p0"], run, finished_at=float(run)) for run in range(2_001)
        ]
        store.change(lambda c: c.execute(schema.attempts.insert(), rows))
        found = read_growth(store, 1)
    assert len(found.times) <= 401
    assert (found.attempts[-1], found.right[-1]) == (2_001, 2_001)


def test_what_was_read_from_a_reply_that_is_judged_whole_is_no_answer(url: str) -> None:
    with Store(url) as store:
        said = Scripted(lambda _: "It is \\boxed{7}.")
        run_sync(run(store, [prepare(store, Series("r", "direct", "m"), requests(1), 1, said)], 1))
        (line,) = list_problems(store, 1, most=5).lines
    assert [(one.verdict, one.answer) for one in line.attempts] == [("correct", None)]
