from dataclasses import replace

import pytest
from stored import attempt
from sums import right, sums

from constraint_first.attempt.drive import Scripted
from constraint_first.model.wire import Decoding
from constraint_first.protocol import Usage
from constraint_first.run.job import prepare, run
from constraint_first.store import schema
from constraint_first.store.database import StoreError
from constraint_first.store.query import Failure, failures, problem_scores, summaries
from constraint_first.store.series import Series
from constraint_first.store.store import Store

SERIES = Series("sums", "direct", "model-a", Decoding(temperature=0, seed=3))

# How attempts ended, how they were judged, and how often.
ENDINGS = [
    ("ok", "correct", 5),
    ("ok", "incorrect", 2),
    ("ok", "undecided", 1),
    ("ok", None, 1),  # a problem without a gold answer
    ("truncated", "incorrect", 3),
    ("unparsed", "incorrect", 2),
    ("failed", None, 4),
]


def fill(store: Store) -> None:
    registered = store.register(SERIES, sums(1))
    (problem,) = registered.problems.values()
    tokens = {"input_tokens": 10, "output_tokens": 7, "reasoning_tokens": 3, "cached_tokens": 1}
    made = [(status, verdict) for status, verdict, count in ENDINGS for _ in range(count)]
    rows = [
        attempt(registered.series, problem, n, status=status, verdict=verdict, **tokens)
        for n, (status, verdict) in enumerate(made)
    ]
    with store.database.begin() as connection:
        connection.execute(schema.attempts.insert(), rows)


def test_the_numbers_of_a_series_are_those_of_its_attempts(url: str) -> None:
    with Store(url) as store:
        fill(store)
        (summary,) = summaries(store)
    assert summary.tally.total == 18
    assert (
        summary.tally.ok,
        summary.tally.truncated,
        summary.tally.unparsed,
        summary.tally.failed,
    ) == (9, 3, 2, 4)
    assert (summary.tally.correct, summary.tally.undecided, summary.scores) == (5, 1, {(5, 13): 1})
    assert summary.accuracy == 5 / 13
    assert summary.tally.usage == Usage(180, 126, 54, 18)


async def test_problems_are_counted_by_their_right_runs(url: str) -> None:
    """Seven problems in three runs, each right in as many as its number says, one never judged."""
    with Store(url) as store:
        registered = store.register(SERIES, sums(8))
        verdicts = {(n, r): "correct" if r < n else "undecided" for n in range(7) for r in range(3)}
        rows = [
            attempt(registered.series, registered.problems[f"p{n}"], r, verdict=verdict)
            for (n, r), verdict in verdicts.items()
        ]
        failed = {"status": "failed", "verdict": None}
        rows.append(attempt(registered.series, registered.problems["p7"], 0, **failed))
        with store.database.begin() as connection:
            connection.execute(schema.attempts.insert(), rows)
        (scores,) = problem_scores(store).values()
        (summary,) = summaries(store)
        (first,) = problem_scores(store, schema.attempts.c.run == 0).values()
    assert scores == summary.scores == {(0, 3): 1, (1, 3): 1, (2, 3): 1, (3, 3): 4}
    assert summary.tally.correct == 15
    assert first == {(0, 1): 1, (1, 1): 6}


def test_a_summary_for_programs(url: str) -> None:
    with Store(url) as store:
        fill(store)
        (summary,) = summaries(store)
    assert summary.to_json() == {
        "series": 1,
        "benchmark": "sums",
        "method": "direct",
        "label": "Direct CoT",
        "model": "model-a",
        "decoding": {"temperature": 0, "top_p": 0.95, "seed": 3},
        "attempts": 18,
        "ok": 9,
        "truncated": 3,
        "unparsed": 2,
        "failed": 4,
        "undecided": 1,
        "accuracy": pytest.approx(5 / 13),  # pyright: ignore
        "tokens": 306,
        "input_tokens": 180,
        "output_tokens": 126,
        "shared_tokens": 0,
    }


async def test_each_series_is_counted_by_itself(url: str) -> None:
    models = {"model-a": 2, "model-b": 1}
    with Store(url) as store:
        for model, runs in models.items():
            series = replace(SERIES, model=model)
            await run(store, [prepare(store, series, sums(5), runs, Scripted(right))], width=4)
        store.register(replace(SERIES, model="model-c"), sums(5))
        found = summaries(store)
    assert [(s.series.model, s.tally.total, s.tally.ok, s.accuracy) for s in found] == [
        ("model-a", 10, 10, 1.0),
        ("model-b", 5, 5, 1.0),
        ("model-c", 0, 0, None),
    ]
    assert found[2].tally.usage == Usage()
    assert found[2].to_json()["accuracy"] is None


def test_a_store_in_which_nothing_was_run(url: str) -> None:
    with Store(url) as store:
        assert summaries(store) == []


def test_failures_are_listed_by_reason_with_the_first_attempt_of_each(url: str) -> None:
    whys = ["slow, 3 s", "odd", "odd", None, "odd", "slow, 4 s"]
    with Store(url) as store:
        registered = store.register(SERIES, sums(3))
        rows = [
            attempt(registered.series, registered.problems[f"p{n % 3}"], n // 3, error=why)
            | {"status": "failed" if why else "ok"}
            for n, why in enumerate(whys)
        ]
        with store.database.begin() as connection:
            connection.execute(schema.attempts.insert(), rows)
        found = failures(store)
    assert found == [
        Failure("odd", 3, "sums", "direct", "model-a", "p1", 0),
        Failure("slow, 3 s", 2, "sums", "direct", "model-a", "p0", 0),
    ]
    assert found[1].to_json() == {
        "reason": "slow, 3 s",
        "count": 2,
        "benchmark": "sums",
        "method": "direct",
        "model": "model-a",
        "problem": "p0",
        "run": 0,
        "way_out": "run the same 'cfr eval' command again",
    }


@pytest.mark.parametrize(
    ("reason", "way"),
    [
        ("http://h: HTTP 401; put a key into KEY", "put a key into KEY, then run the same"),
        ("http://h: HTTP 500 (a; b)", "run the same"),
        ("odd", "run the same"),
        ("", "run the same"),
    ],
)
def test_a_failure_knows_its_way_out(reason: str, way: str) -> None:
    failure = Failure(reason, 1, "sums", "direct", "m", "p0", 0)
    assert failure.way_out == f"{way} 'cfr eval' command again"


def test_whoever_asked_a_server_was_told() -> None:
    failure = Failure("the client went away", 1, "served", "direct", "m", "p0", 0)
    assert "eval" not in failure.way_out


def test_settings_that_are_no_json_are_told_in_words(url: str) -> None:
    with Store(url) as store:
        fill(store)
        with store.database.begin() as connection:
            connection.execute(schema.series.update().values(decoding="{not json"))
        with pytest.raises(StoreError, match=r"cannot be read \("):
            summaries(store)
