"""A provider of batches over real HTTP, and a run that asks it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from batch_evaluation import BATCH
from batch_server import BatchServer, Provider
from batch_sums import finds_sums

from constraint_first import RunOptions


@pytest.fixture
def options(tmp_path: Path) -> RunOptions:
    return RunOptions(store=str(tmp_path / "runs.db"), batch=BATCH)


@pytest.fixture
def provider() -> Provider:
    return finds_sums()


@pytest.fixture
def server(provider: Provider) -> Iterator[BatchServer]:
    with BatchServer(provider) as running:
        yield running
