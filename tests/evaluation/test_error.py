import sqlite3

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from cfr.error import CfrError
from cfr.evaluation.error import StoreError, reason


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
