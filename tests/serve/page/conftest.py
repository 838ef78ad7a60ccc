from __future__ import annotations

import socket
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from browsing import browser
from loopback import Endpoint
from paged import Paged, paged
from paged_store import make_store
from postgres import Postgres

if TYPE_CHECKING:
    from playwright.async_api import Browser


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    with Postgres() as server:
        yield server.url


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store with three methods; tests only read it."""
    return make_store(tmp_path_factory.mktemp("store") / "runs.db")


@pytest_asyncio.fixture
async def bare(endpoint: Endpoint) -> AsyncGenerator[Paged]:
    """The pages of a server without stored runs."""
    async with paged(endpoint.url) as pages:
        yield pages


@pytest_asyncio.fixture
async def pages(endpoint: Endpoint, store: str, tmp_path: Path) -> AsyncGenerator[Paged]:
    """The pages of a server with one store, which keeps marks in the folder of the test."""
    async with paged(endpoint.url, store, marks=tmp_path) as pages:
        yield pages


@pytest.fixture
def silent() -> Iterator[str]:
    """A store whose database takes connections and never says a word."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(64)
        yield f"postgresql://ada:secret@127.0.0.1:{listening.getsockname()[1]}/runs"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def started() -> AsyncGenerator[Browser]:
    """A browser for the tests of one module."""
    async with browser() as one:
        yield one
