"""Inspect in tests: its command line beside the package as a wheel, and models on loopback."""

from __future__ import annotations

import gc
import importlib
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from loopback import Endpoint, Reply, answer

REPOSITORY = Path(__file__).parent.parent
NEEDS_INSPECT = [
    pytest.mark.skipif(
        find_spec("inspect_ai") is None, reason="inspect_ai (the extra `inspect`) is not installed"
    ),
    # What Inspect does that other libraries warn of is not ours to mend.
    pytest.mark.filterwarnings("ignore::DeprecationWarning:inspect_ai.*"),
    pytest.mark.filterwarnings("ignore:Unclosed <MemoryObject:ResourceWarning"),
]


def _client_is_new() -> bool:
    try:
        return int(version("openai").split(".")[0]) >= 3
    except PackageNotFoundError:
        return False


MODELS = [
    "loopback/test-model",
    pytest.param(
        "openai-api/local/test-model",
        marks=pytest.mark.skipif(
            not _client_is_new(), reason="Inspect's provider needs openai 3.4 or newer"
        ),
    ),
]
"""The same model as asked by our provider for tests, and by Inspect's own."""


def chat(text: str | None, finish: str = "stop", **message: Any) -> Reply:
    """Send a completion with all the fields that OpenAI's own client wants."""
    told = {"role": "assistant", "content": text, **message}
    return answer(
        {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": "test-model",
            "choices": [{"index": 0, "message": told, "finish_reason": finish}],
            "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
        }
    )


@dataclass(frozen=True)
class Installed:
    """The package as a wheel installs it, with the provider for tests beside it."""

    folder: Path

    def run(
        self, words: Sequence[str], endpoint: Endpoint, cwd: Path
    ) -> subprocess.CompletedProcess[str]:
        """Run ``inspect`` with the words of a command line; its logs go to the folder logs."""
        inherited = {name: value for name, value in os.environ.items() if "INSPECT" not in name}
        surroundings = {
            "PYTHONPATH": str(self.folder),
            "INSPECT_LOG_DIR": str(cwd / "logs"),
            "INSPECT_CACHE_DIR": str(cwd / "cache"),
            "INSPECT_DISPLAY": "plain",
            "INSPECT_EVAL_MODEL": "loopback/test-model",
            "INSPECT_EVAL_MODEL_BASE_URL": endpoint.url,
            "LOCAL_API_KEY": "sk-never-shown",
            "COLUMNS": "200",
        }
        return subprocess.run(
            [sys.executable, "-m", "inspect_ai", *words],
            capture_output=True,
            text=True,
            env=inherited | surroundings,
            cwd=cwd,
            timeout=300,
            check=False,
        )


def install(folder: Path) -> Installed:
    """Build the wheel and unpack it, as an installer would."""
    target = folder / "site-packages"
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory"]
    subprocess.run([*build, str(folder)], cwd=REPOSITORY, capture_output=True, check=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(target)
    shutil.copy(Path(__file__).parent / "loopback_model.py", target)
    info = target / "loopback_model-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: loopback-model\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[inspect_ai]\nloopback = loopback_model\n")
    return Installed(target)


def run_task(task: Any, endpoint: Endpoint, **options: Any) -> Any:
    """Run a task with Inspect in this process, and return its log."""
    importlib.import_module("loopback_model")  # it is registered by that
    inspect_ai: Any = importlib.import_module("inspect_ai")
    given: dict[str, Any] = {
        "display": "none",
        "model": "loopback/test-model",
        "model_base_url": endpoint.url,
    }
    (log,) = inspect_ai.eval(task, **(given | options))
    gc.collect()  # what Inspect left open is complained of now, and not in somebody else's test
    return log
