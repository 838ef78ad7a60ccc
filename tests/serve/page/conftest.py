from collections.abc import Iterator

import pytest
from paged_store import make_store
from postgres import Postgres


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    with Postgres() as server:
        yield server.url


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store with three methods; tests only read it."""
    return make_store(tmp_path_factory.mktemp("store") / "runs.db")
