import tracemalloc
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import pytest
import sqlalchemy as sa
from instructed import TITLE, replies, requests
from stored import attempt
from sums import right, sums

from constraint_first.answer.grade import GradingCase, Verdict, grade_each
from constraint_first.answer.workers import Workers
from constraint_first.attempt.drive import Scripted
from constraint_first.benchmark.source import write_instructions
from constraint_first.run.job import prepare, run
from constraint_first.store import query as regrading
from constraint_first.store import schema
from constraint_first.store.database import StoreError
from constraint_first.store.query import attempt_rows, regrade, summaries
from constraint_first.store.series import Series
from constraint_first.store.store import Store

SERIES = Series("sums", "direct", "model-a")
REQUESTS = Series("requests", "direct", "model-a")


async def evaluated(store: Store) -> None:
    engine = Scripted(lambda call: right(call))
    await run(store, [prepare(store, SERIES, sums(6), 2, engine)], width=4)


def spoil(store: Store, where: sa.ColumnElement[bool], **values: str | None) -> None:
    with store.database.begin() as connection:
        connection.execute(schema.attempts.update().where(where).values(**values))


async def test_verdicts_of_another_grader_are_put_right(url: str) -> None:
    with Store(url) as store:
        await evaluated(store)
        before = list(attempt_rows(store))
        spoil(store, schema.attempts.c.run == 1, verdict="incorrect")
        assert summaries(store)[0].accuracy == pytest.approx(0.5)  # pyright: ignore
        assert regrade(store) == 6
        assert list(attempt_rows(store)) == before
        assert regrade(store) == 0


async def test_a_corrected_gold_answer_changes_the_verdict(url: str) -> None:
    with Store(url) as store:
        await evaluated(store)
        with store.database.begin() as connection:
            wrong = schema.problems.update().where(schema.problems.c.name == "p0")
            connection.execute(wrong.values(answer="99"))
        assert regrade(store) == 2
        (summary,) = summaries(store)
    assert (summary.tally.correct, summary.scores) == (10, {(2, 2): 5, (0, 2): 1})


async def test_failed_attempts_stay_without_a_verdict(url: str) -> None:
    with Store(url) as store:
        await evaluated(store)
        spoil(store, schema.attempts.c.run == 0, status="failed", verdict=None, tier=None)
        assert regrade(store) == 0
        (summary,) = summaries(store)
    assert (summary.tally.failed, summary.scores) == (6, {(1, 1): 6})


async def test_gold_instructions_are_checked_on_the_stored_reply(url: str) -> None:
    """Beside gold answers in one store, with more attempts than a page has."""
    with Store(url) as store:
        await evaluated(store)
        jobs = [prepare(store, REQUESTS, requests(12), 2, Scripted(replies))]
        await run(store, jobs, width=4)
        before = list(attempt_rows(store))
        ours = [row for row in before if row["benchmark"] == "requests"]
        assert Counter((row["verdict"], row["tier"]) for row in ours) == {
            ("correct", "instructions"): 18,
            ("incorrect", "instructions"): 6,
        }
        spoil(store, schema.attempts.c.run == 1, verdict="undecided", tier="exact")
        assert regrade(store) == 18
        assert list(attempt_rows(store)) == before
        with store.database.begin() as connection:
            other = schema.problems.update().where(schema.problems.c.name == "r0")
            connection.execute(other.values(answer=write_instructions([TITLE])))
        assert regrade(store) == 2
        assert regrade(store) == 0


LONG = "So we go on. " * 2_000


def fill(store: Store, problems: int, runs: int) -> None:
    """Store long replies, each judged incorrect by another grader; those of the last run are."""
    registered = store.register(SERIES, sums(problems))
    numbers = [registered.problems[problem.id] for problem in sums(problems)]
    same = {"verdict": "incorrect", "text": LONG}
    with store.database.begin() as connection:
        for run_index in range(runs):
            wrong = run_index == runs - 1
            rows = [
                attempt(registered.series, number, run_index, answer=str(n + 1 + wrong), **same)
                for n, number in enumerate(numbers)
            ]
            connection.execute(schema.attempts.insert(), rows)


def verdicts(store: Store) -> Counter[str]:
    with store.database.connect() as connection:
        return Counter(connection.scalars(sa.select(schema.attempts.c.verdict)))


def peak_of_regrading(store: Store, problems: int, runs: int) -> int:
    """Fill a store anew and say how much memory its regrading took at the most."""
    schema.METADATA.drop_all(store.database)
    schema.METADATA.create_all(store.database)
    fill(store, problems, runs)
    tracemalloc.start()
    try:
        regrade(store)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_store(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regrading, "_REGRADE_AT_ONCE", 50)
    with Store(url) as store, Workers(1) as workers:  # the grader reads ahead for each worker
        monkeypatch.setattr(regrading, "grade_each", partial(grade_each, workers=workers))
        peak_of_regrading(store, 100, 2)  # what is loaded once is loaded
        small = peak_of_regrading(store, 100, 2)
        # Another thread of the process may allocate meanwhile, so the lower of two counts.
        large = min(peak_of_regrading(store, 400, 4) for _ in range(2))
        assert verdicts(store) == {"correct": 1_200, "incorrect": 400}
    assert large < 2 * small, "eight times as many attempts took more memory"
    assert large < 100 * len(LONG), "the texts of 1,600 attempts were loaded"


@pytest.fixture
def dies_at_250(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the grader be interrupted at its 250th verdict, with batches of a hundred."""

    def interrupted(cases: Iterable[GradingCase]) -> Iterator[Verdict]:
        for n, verdict in enumerate(grade_each(cases)):
            if n == 250:
                raise KeyboardInterrupt
            yield verdict

    monkeypatch.setattr(regrading, "_REGRADE_AT_ONCE", 100)
    monkeypatch.setattr(regrading, "grade_each", interrupted)


@pytest.mark.usefixtures("dies_at_250")
def test_an_interrupted_regrading_can_be_done_again(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(url) as store:
        fill(store, problems=200, runs=3)
        with pytest.raises(KeyboardInterrupt):
            regrade(store)
        assert verdicts(store) == {"correct": 100, "incorrect": 500}
        monkeypatch.setattr(regrading, "grade_each", grade_each)
        assert regrade(store) == 300
        assert verdicts(store) == {"correct": 400, "incorrect": 200}
        assert regrade(store) == 0


def test_no_connection_is_held_while_answers_are_judged(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[str] = []

    def watched(cases: Iterable[GradingCase]) -> Iterator[Verdict]:
        for verdict in grade_each(cases):
            held.append(store.database.pool.status())
            yield verdict

    monkeypatch.setattr(regrading, "_REGRADE_AT_ONCE", 10)
    monkeypatch.setattr(regrading, "grade_each", watched)
    with Store(url) as store:
        fill(store, problems=20, runs=2)
        assert regrade(store) == 20
    assert len(held) == 40
    assert all("Current Checked out connections: 0" in status for status in held)


def test_a_store_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with Store(str(tmp_path / "runs.db")) as store:
        fill(store, problems=1, runs=2)
        with store.database.begin() as connection:
            refuse = "BEGIN SELECT RAISE(FAIL, 'the disk is full'); END"
            connection.execute(sa.text(f"CREATE TRIGGER full BEFORE UPDATE ON attempts {refuse}"))
        with pytest.raises(StoreError, match=r"runs\.db: cannot be regraded.*the disk is full"):
            regrade(store)
