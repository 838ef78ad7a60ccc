"""What tests of the adapter for Inspect share."""

from pathlib import Path

import pytest
from inspecting import Installed, install


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return install(tmp_path_factory.mktemp("installed"))


@pytest.fixture(autouse=True)
def _inspect_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep Inspect's logs and cache in the folder of the test, and its screen silent."""
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "logs"))
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    monkeypatch.setenv("LOCAL_API_KEY", "sk-never-shown")
