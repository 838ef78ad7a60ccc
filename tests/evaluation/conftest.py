"""Stores for the tests: a SQLite file, and a real PostgreSQL server where its binaries are."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from postgres import Postgres, empty_database


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL server of our own, for as long as the tests run."""
    with Postgres() as server:
        yield server.url


@pytest.fixture(scope="module")
def frail_postgres() -> Iterator[Postgres]:
    """A PostgreSQL server that a test may stop and start."""
    with Postgres() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An empty store of each kind."""
    if request.param == "sqlite":
        yield str(tmp_path / "runs.db")
        return
    address: str = request.getfixturevalue("postgres")
    yield address
    empty_database(address)
