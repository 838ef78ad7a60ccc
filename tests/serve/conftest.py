from pathlib import Path

import pytest

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
