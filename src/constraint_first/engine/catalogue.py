"""The catalogue of models that run here: what they are, and where their files are kept."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import platformdirs

from constraint_first.engine.error import ModelFileError
from constraint_first.file.atomic import atomic_file

__all__ = [
    "DEFAULT_MODEL",
    "HuggingFace",
    "Model",
    "Part",
    "catalogue",
    "find_model",
    "model_folder",
    "sha256_of",
]

DEFAULT_MODEL: Final = "qwen2.5-coder-1.5b-instruct"


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a model file, carried as one member of a wheel on the package index."""

    name: str
    version: str
    wheel_sha256: str
    wheel_bytes: int
    member: str
    bytes: int


@dataclass(frozen=True, slots=True)
class HuggingFace:
    """A model file's place on Hugging Face."""

    repository: str
    file: str


@dataclass(frozen=True, slots=True)
class Model:
    """A model of the catalogue. Size and hash pin the file, wherever it comes from."""

    name: str
    file: str
    license: str
    bytes: int
    sha256: str
    about: str
    context: int
    hugging_face: HuggingFace | None
    parts: tuple[Part, ...]

    @property
    def path(self) -> Path:
        """Where the file lies once it has been pulled."""
        return model_folder() / self.file

    @property
    def present(self) -> bool:
        """Whether it has been pulled."""
        return self.path.is_file()

    def verify(self, progress: Callable[[int], object] = lambda _bytes: None) -> None:
        """Check the file on disk against size and hash."""
        if not self.present:
            raise ModelFileError(f"{self.name}: not on this machine; run 'cfr models pull'")
        state = self._state()  # before it is read: what changes meanwhile is found the next time
        if self.path.stat().st_size != self.bytes or sha256_of(self.path, progress) != self.sha256:
            raise ModelFileError(
                f"{self.path}: not the file that {self.name} should be (wrong size or SHA-256); "
                f"run 'cfr models remove {self.name}' and pull it again"
            )
        self._remember(state)

    def mark_verified(self) -> None:
        """Remember that the file, as it is now, has been checked."""
        self._remember(self._state())

    def verify_if_changed(self) -> None:
        """Check the file unless it is just as it was when it was last checked."""
        if not self._stamp().is_file() or self._stamp().read_text() != self._state():
            self.verify()

    def remove(self) -> bool:
        """Delete the file; whether there was one."""
        was_present = self.present
        self.path.unlink(missing_ok=True)
        self._stamp().unlink(missing_ok=True)
        return was_present

    def _stamp(self) -> Path:
        return self.path.with_name(self.file + ".verified")

    def _remember(self, state: str) -> None:
        with atomic_file(self._stamp()) as file:
            file.write_text(state)

    def _state(self) -> str:
        """Describe the file as far as a look at it tells.

        Whoever writes to it and sets its time back changes the time of that change (st_ctime), and
        whoever puts another in its place changes the inode.
        """
        stat = self.path.stat()
        times = f"{stat.st_mtime_ns} {stat.st_ctime_ns}"
        return f"{self.sha256} {stat.st_size} {times} {stat.st_ino}"


@cache
def catalogue() -> dict[str, Model]:
    """Read all models of the catalogue, by name; the default comes first."""
    text = files("constraint_first.engine").joinpath("catalogue.json").read_text(encoding="utf-8")
    entries: dict[str, dict[str, Any]] = json.loads(text)
    return {name: _model(name, entry) for name, entry in entries.items()}


def find_model(name: str) -> Model:
    """Look a model up by name."""
    if name not in catalogue():
        known = ", ".join(catalogue())
        raise ModelFileError(f"model {name!r}: not in the catalogue; choose from {known}")
    return catalogue()[name]


def model_folder() -> Path:
    """Return the folder for model files: under CFR_CACHE, else in the user's cache."""
    chosen = os.environ.get("CFR_CACHE")
    root = Path(chosen) if chosen else platformdirs.user_cache_path("constraint-first")
    return root / "models"


def sha256_of(path: Path, progress: Callable[[int], object] = lambda _bytes: None) -> str:
    """Hash a file, telling how many bytes were read since the last time."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(2**22):
            digest.update(block)
            progress(len(block))
    return digest.hexdigest()


def _model(name: str, entry: dict[str, Any]) -> Model:
    place: dict[str, str] | None = entry.pop("hugging_face")
    parts: list[dict[str, Any]] = entry.pop("parts")
    return Model(
        name=name,
        hugging_face=HuggingFace(**place) if place else None,
        parts=tuple(Part(**part) for part in parts),
        **entry,
    )
