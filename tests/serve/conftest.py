from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio
from loopback import Endpoint
from served import Served, served

from constraint_first.model import resolve as resolving
from constraint_first.model.local import Model


@pytest.fixture
def pulled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the models that would have been fetched; nothing is."""
    names: list[str] = []

    def pull(model: Model, progress: object) -> Path:
        names.append(model.name)
        return Path("/models") / model.file

    monkeypatch.setattr(resolving, "pull", pull)
    return names


@pytest_asyncio.fixture
async def server(endpoint: Endpoint) -> AsyncGenerator[Served]:
    """A server with its usual settings in front of the endpoint."""
    async with served(endpoint.url) as server:
        yield server
