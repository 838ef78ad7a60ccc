"""Request files: the input of batches, each within the limits of its provider."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from constraint_first.error import OutputError

__all__ = ["MOST_BYTES", "MOST_REQUESTS", "FileLimits", "RequestFile"]

MOST_REQUESTS: Final = 50_000
"""Requests that OpenAI takes in one file."""
MOST_BYTES: Final = 200_000_000
"""Bytes that OpenAI takes in one file."""


@dataclass(frozen=True, slots=True)
class FileLimits:
    """How large one input file may be."""

    requests: int = MOST_REQUESTS
    size: int = MOST_BYTES


@dataclass(slots=True)
class RequestFile:
    """An input file that is being written."""

    path: Path
    limits: FileLimits = field(default_factory=FileLimits)
    requests: int = 0
    size: int = 0

    def has_room(self, line: bytes) -> bool:
        """Say whether a line would still fit."""
        fits = self.size + len(line) <= self.limits.size
        return not self.requests or (self.requests < self.limits.requests and fits)

    def add(self, line: bytes) -> None:
        """Write one line."""
        try:
            with self.path.open("ab", buffering=2**16) as file:
                file.write(line)
        except OSError as error:
            raise OutputError(
                f"{self.path}: cannot be written ({error.strerror}); make room there"
            ) from None
        self.requests += 1
        self.size += len(line)
