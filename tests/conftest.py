"""What tests share: where the benchmark files are, and a real HTTP endpoint on loopback."""

import gc
import os
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from loopback import Endpoint
from snapshot import Golden, GoldenFile
from syrupy.assertion import SnapshotAssertion

from constraint_first.sandbox import snapshot

REPOSITORY = Path(__file__).parent.parent

# No test fails because the machine is busy with something else.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


def pytest_collection_finish() -> None:
    """Have the garbage collector pass over all that stays until the end: modules and tests."""
    gc.freeze()


@pytest.fixture(scope="session")
def benchmark_file() -> Callable[[str], Path]:
    """Find a benchmark file, or skip the test where there are none."""
    folder = Path(os.environ.get("CFR_DATA") or REPOSITORY.parent / "shared" / "data")

    def find(name: str) -> Path:
        path = folder / f"{name}.jsonl"
        if not path.is_file():
            pytest.skip(f"{path} is not here; set CFR_DATA to a folder that has it")
        return path

    return find


@pytest.fixture(scope="session")
def snapshots() -> Path:
    """The folder of the sandbox's snapshot, in the user's cache: made once, used by all tests."""
    if find_spec("eryx"):
        snapshot.prepare()
    return snapshot.folder()


@pytest.fixture
def golden(snapshot: SnapshotAssertion) -> Golden:
    files = snapshot.use_extension(GoldenFile)
    return lambda name: files(name=name)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint() as server:
        yield server


@pytest.fixture(autouse=True)
def _no_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep a developer's own keys, endpoints and presets out of the tests."""
    keys = ("OPENAI_API_KEY", "DEEPSEEK_API_KEY", "DASHSCOPE_API_KEY")
    for name in (*keys, "OPENAI_BASE_URL", "HF_ENDPOINT", "CFR_MODELS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    # Rich folds tables to the terminal's width; tests look for whole words.
    monkeypatch.setenv("COLUMNS", "200")
