import pytest
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from stored import attempt
from sums import sums
from sums_run import evaluate

from constraint_first.store import schema
from constraint_first.store.query import outcome_rows
from constraint_first.store.series import Series
from constraint_first.store.store import Store

SERIES = Series("sums", "direct", "m")
# Stores that were written before have these tables; another set of columns is another version.
KEY = "series problem run "
TOKENS = " input_tokens output_tokens reasoning_tokens cached_tokens "
COLUMNS = {
    "store": "version",
    "problems": "id benchmark name text answer",
    "series": "id benchmark method label model decoding fingerprint",
    "prompts": "series name text",  # those of before lack it, and are read all the same
    "attempts": KEY
    + "status verdict tier"
    + TOKENS
    + "seconds finished_at answer error details text",
    "calls": KEY
    + "ordinal stage digest messages max_tokens text reasoning finish"
    + TOKENS
    + "reported seconds",
}
# For many workers, on PostgreSQL alone.
SHARED = {
    "leases": KEY + "owner expires begun",
    "run_settings": "series models budget",
    "budgets": "id max_tokens max_cost tokens cost lost_tokens lost_cost",
    "reservations": "budget owner tokens cost change expires",
}


def test_the_tables_are_those_of_version_1() -> None:
    assert schema.VERSION == 1
    found = {name: list(table.columns.keys()) for name, table in schema.METADATA.tables.items()}
    assert found == {name: columns.split() for name, columns in (COLUMNS | SHARED).items()}


def test_a_store_has_these_tables(url: str) -> None:
    with Store(url) as store:
        seen = sa.inspect(store.database)
        expected = COLUMNS | (SHARED if store.is_shared else {})
        assert set(seen.get_table_names()) == set(expected)
        for name, columns in expected.items():
            assert [column["name"] for column in seen.get_columns(name)] == columns.split()
        assert seen.get_pk_constraint("attempts")["constrained_columns"] == KEY.split()
        assert seen.get_pk_constraint("calls")["constrained_columns"] == [*KEY.split(), "ordinal"]


async def test_a_store_from_before_there_were_workers_gets_their_tables_when_it_is_run(
    url: str,
) -> None:
    with Store(url) as store:
        await evaluate(store, runs=1)
        schema.METADATA.drop_all(store.database, schema.SHARED)
    with Store(url, existing=True) as store:  # whoever reads changes nothing
        assert set(sa.inspect(store.database).get_table_names()) == set(COLUMNS)
        assert len(list(outcome_rows(store))) == 5
    with Store(url) as store:
        assert len((await evaluate(store, runs=2)).asked) == 5
        assert len(list(outcome_rows(store))) == 10


@pytest.mark.parametrize("table", [schema.series, schema.problems, schema.attempts])
async def test_nothing_is_there_twice(url: str, table: sa.Table) -> None:
    with Store(url) as store:
        registered = store.register(SERIES, sums(1))
        await store.write_attempt(attempt(registered.series, registered.problems["p0"]))
        with store.database.connect() as connection:
            (row,) = connection.execute(sa.select(table)).mappings()
            again = {name: value for name, value in row.items() if name != "id"}
            with pytest.raises(IntegrityError, match=r"(?i)unique"):
                connection.execute(table.insert(), again)
