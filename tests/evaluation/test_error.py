import sqlite3
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.event import listen
from sqlalchemy.exc import DBAPIError, StatementError

from constraint_first.error import CfrError
from constraint_first.store.database import (
    StoreError,
    Unstorable,
    cannot_be,
    is_of_the_row,
    is_outage,
    open_database,
    reason,
)


def test_a_store_that_will_not_do_has_an_exit_code_of_its_own() -> None:
    assert StoreError.exit_code == 5
    assert issubclass(StoreError, CfrError)


def test_neither_the_statement_nor_its_values_are_shown() -> None:
    engine = sa.create_engine("sqlite://")
    statement = sa.text("SELECT secret FROM nowhere WHERE text = :text")
    with engine.connect() as connection, pytest.raises(DBAPIError) as caught:
        connection.execute(statement, {"text": "a model's reply"})
    engine.dispose()
    assert "a model's reply" in str(caught.value), "sqlalchemy would show it"
    assert reason(caught.value) == "no such table: nowhere"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (sqlite3.OperationalError("disk\n  I/O\terror"), "disk I/O error"),
        (OSError(28, "No space left on device"), "[Errno 28] No space left on device"),
        (ValueError("x" * 1_000), "x" * 160),
        (ValueError(), ""),
    ],
)
def test_it_is_one_short_line(error: Exception, said: str) -> None:
    assert reason(error) == said


TABLE = sa.Table(
    "notes",
    sa.MetaData(),
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("true", sa.Boolean),
    sa.CheckConstraint("id < 9"),
)
GOOD = {"id": 1, "text": "good", "true": True}


@pytest.fixture
def database(url: str) -> Any:
    engine = open_database(url, existing=False)
    TABLE.metadata.create_all(engine)
    yield engine
    TABLE.metadata.drop_all(engine)
    engine.dispose()


def refused(database: sa.Engine, statement: Any, *rows: dict[str, Any]) -> Exception:
    try:
        with database.begin() as connection:
            connection.execute(statement, *rows)
    except Exception as error:
        return error
    raise AssertionError("it was not refused")


@pytest.mark.parametrize(
    "bad",
    [
        {"text": None},
        {"text": "\ud83d"},
        {"text": object()},
        {"id": 2**63},
        {"id": 9},
        {"true": "perhaps"},
    ],
)
def test_values_that_are_refused_are_the_fault_of_their_row(
    database: sa.Engine, bad: dict[str, Any]
) -> None:
    error = refused(database, TABLE.insert(), GOOD | bad)
    assert is_of_the_row(error)
    assert not is_outage(error)


def test_what_only_postgresql_refuses(postgres: str) -> None:
    database = open_database(postgres, existing=False)
    TABLE.metadata.create_all(database)
    for bad in ({"text": "\0"}, {"id": 2**31}):
        assert is_of_the_row(refused(database, TABLE.insert(), GOOD | bad))
    TABLE.metadata.drop_all(database)
    database.dispose()


@pytest.mark.parametrize(
    "statement", ["SELECT * FROM nowhere", "SELECT nothing FROM notes", "no SQL at all"]
)
def test_what_is_wrong_with_the_store_is_not_the_fault_of_a_row(
    database: sa.Engine, statement: str
) -> None:
    error = refused(database, sa.text(statement))
    assert not is_of_the_row(error)
    assert not is_outage(error)


def test_a_full_disk_is_not_the_fault_of_a_row(tmp_path: Path) -> None:
    database = open_database(str(tmp_path / "full.db"), existing=False)
    TABLE.metadata.create_all(database)

    def limit(connection: Any, _record: object) -> None:
        connection.execute("PRAGMA max_page_count=3")

    listen(database, "connect", limit)
    database.dispose()
    error = refused(database, TABLE.insert(), GOOD | {"text": "x" * 10_000})
    assert not is_of_the_row(error)
    assert "full); make room there" in str(cannot_be("written", "full.db", error))
    database.dispose()


def test_a_server_that_breaks_off_is_an_outage(postgres: str) -> None:
    database = open_database(postgres, existing=False)
    error = refused(database, sa.text("SELECT pg_terminate_backend(pg_backend_pid())"))
    assert is_outage(error)
    assert not is_of_the_row(error)
    database.dispose()


def test_a_lost_lock_is_nobodys_row() -> None:
    assert not is_of_the_row(StoreError("the lock was lost"))
    assert is_of_the_row(StatementError("odd", "INSERT", {}, TypeError("no number")))


def test_the_words_are_one_line_without_the_statement(database: sa.Engine) -> None:
    said = str(cannot_be("read", "runs.db", refused(database, sa.text("SELECT * FROM nowhere"))))
    assert said.startswith("runs.db: cannot be read (")
    assert "nowhere" in said
    assert "SELECT" not in said
    assert said.endswith("; name a store that 'cfr eval' made and run the same command again")
    assert "\n" not in said
    assert reason(ValueError("a\nb \x1b[31m" + "c" * 500)).startswith("a b \ufffd[31mccc")


def test_both_end_with_the_exit_code_of_a_store() -> None:
    assert (StoreError.exit_code, Unstorable.exit_code) == (5, 5)
