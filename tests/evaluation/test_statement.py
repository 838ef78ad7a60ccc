import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from constraint_first.store import schema
from constraint_first.store.writer import WriteStatements


def text(statement: sa.Executable, *, is_shared: bool) -> str:
    dialect = postgresql.dialect() if is_shared else sqlite.dialect()  # pyright: ignore
    return str(statement.compile(dialect=dialect))  # pyright: ignore


@pytest.mark.parametrize("is_shared", [True, False])
def test_a_failed_attempt_is_replaced_and_a_call_that_workers_share_never(is_shared: bool) -> None:
    statements = WriteStatements(is_shared=is_shared)
    assert "DO UPDATE" in text(statements.put_attempt, is_shared=is_shared)
    assert ("DO NOTHING" in text(statements.put_call, is_shared=is_shared)) == is_shared


def test_the_server_says_when_an_attempt_ended() -> None:
    now = WriteStatements(is_shared=True).put_attempt_now
    given = [column.name for column in schema.attempts.c if column.name != "finished_at"]
    compiled = now.compile(dialect=postgresql.dialect(), column_keys=given)  # pyright: ignore
    assert "clock_timestamp()" in str(compiled)
