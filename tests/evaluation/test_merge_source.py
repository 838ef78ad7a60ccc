import asyncio
from pathlib import Path

import sqlalchemy as sa
from stored import attempt
from sums import right, sums

from constraint_first.attempt.drive import Scripted
from constraint_first.run.job import prepare, run
from constraint_first.store import schema
from constraint_first.store.merge import MergePart, MergeSource, Standing, read_standing, snapshot
from constraint_first.store.series import Series
from constraint_first.store.store import Store


def test_the_further_of_two_attempts() -> None:
    order = [
        Standing(finished=False, calls=0),
        Standing(finished=False, calls=2),
        Standing(finished=False, calls=2, finished_at=5.0),
        Standing(finished=True, calls=1),
    ]
    assert order == sorted({*order})


def test_how_far_attempts_are(url: str) -> None:
    with Store(url) as store:
        job = prepare(store, Series("sums", "direct", "m"), sums(2), 1, Scripted(right))
        asyncio.run(run(store, [job], 1))
        table = schema.attempts
        store.change(
            lambda connection: connection.execute(
                table.update().where(table.c.problem == 1).values(status="failed", finished_at=3.0)
            )
        )
        store.change(
            lambda connection: connection.execute(table.delete().where(table.c.problem == 2))
        )
        store.change(lambda connection: connection.execute(table.insert(), attempt(1, 2, 1)))
        with snapshot(store) as reading:
            assert read_standing(reading, 1) == {
                (1, 0): Standing(finished=False, calls=1, finished_at=3.0),
                (2, 0): Standing(finished=False, calls=1),
                (2, 1): Standing(finished=True, calls=0, finished_at=1.0),
            }


def test_a_snapshot_does_not_change_while_it_is_read(tmp_path: Path) -> None:
    url = str(tmp_path / "runs.db")
    with Store(url) as store:
        known = store.register(Series("sums", "direct", "m"), sums(2))
        row = attempt(known.series, 1)
        store.change(lambda connection: connection.execute(schema.attempts.insert(), row))
        with snapshot(store) as reading:
            source = MergeSource(store, reading)
            assert source.names == {"sums": "sums"}
            more = attempt(known.series, 2)
            store.change(lambda connection: connection.execute(schema.attempts.insert(), more))
            assert [row["problem"] for row in source.rows(schema.attempts, known.series)] == [1]
        assert store.read(sa.select(sa.func.count()).select_from(schema.attempts))[0][0] == 2


def test_a_row_gets_the_numbers_of_the_target() -> None:
    part = MergePart({}, 7, {1: 9})
    moved = [*part.move([{"series": 4, "problem": 1, "run": 2, "text": "x"}, {"problem": 2}])]
    assert moved == [{"series": 7, "problem": 9, "run": 2, "text": "x"}]
