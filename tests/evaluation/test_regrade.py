import pytest
import sqlalchemy as sa
from sums import right, sums

from cfr.engine.scripted import Scripted
from cfr.evaluation import schema
from cfr.evaluation.record import attempt_rows
from cfr.evaluation.regrade import regrade
from cfr.evaluation.runner import prepare, run
from cfr.evaluation.series import Series
from cfr.evaluation.store import Store
from cfr.evaluation.summary import summaries

SERIES = Series("sums", "direct", "model-a")


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
    assert (summary.correct, summary.graded) == (10, 12)


async def test_failed_attempts_stay_without_a_verdict(url: str) -> None:
    with Store(url) as store:
        await evaluated(store)
        spoil(store, schema.attempts.c.run == 0, status="failed", verdict=None, tier=None)
        assert regrade(store) == 0
        (summary,) = summaries(store)
    assert (summary.failed, summary.graded) == (6, 6)
