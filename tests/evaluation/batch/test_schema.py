"""A store gets its tables of batches with its first batch, however old it is."""

from pathlib import Path

import sqlalchemy as sa

from constraint_first.run.batch_service import BatchLog, StoredBatch
from constraint_first.store import schema
from constraint_first.store import schema as batch_schema
from constraint_first.store.store import Store


def test_the_tables_of_batches_stand_apart(tmp_path: Path) -> None:
    assert not set(batch_schema.BATCHES.tables) & set(schema.METADATA.tables)
    path = str(tmp_path / "runs.db")
    with Store(path) as store:
        assert not sa.inspect(store.database).has_table("batches")
    with Store(path) as store, store.exclusively():
        BatchLog(store)
        assert sa.inspect(store.database).has_table("batch_requests")
    with Store(path, existing=True) as store:
        assert store.read(sa.select(batch_schema.batches)) == []


def test_a_row_of_batches_is_a_stored_batch() -> None:
    assert tuple(batch_schema.batches.c.keys()) == tuple(StoredBatch.__slots__)
