"""The journal of an attempt: its completions in order, so that a replay resumes it."""

from __future__ import annotations

import hashlib
from typing import Protocol

from cfr.engine.error import JournalMismatch
from cfr.protocol import Call, Completion

__all__ = ["Journal", "MemoryJournal", "digest", "require_same"]


class Journal(Protocol):
    """A record of the completions of one attempt, by their place in it."""

    def recall(self, ordinal: int, call: Call) -> Completion | None:
        """Return the stored completion of the attempt's nth call, or None if it was not made."""
        ...

    async def record(self, ordinal: int, call: Call, completion: Completion) -> None:
        """Store a completion; the attempt goes on when it is safe."""
        ...


class MemoryJournal:
    """A journal that lasts as long as the process."""

    def __init__(self) -> None:
        self._entries: dict[int, tuple[str, Completion]] = {}

    def recall(self, ordinal: int, call: Call) -> Completion | None:
        """Return what is stored, and refuse to hand it to a call that asks something else."""
        if ordinal not in self._entries:
            return None
        asked, completion = self._entries[ordinal]
        require_same(ordinal, call, asked)
        return completion

    async def record(self, ordinal: int, call: Call, completion: Completion) -> None:
        """Keep the completion."""
        self._entries[ordinal] = (digest(call), completion)


def require_same(ordinal: int, call: Call, stored: str) -> None:
    """Refuse a call whose digest is not the stored one."""
    if digest(call) != stored:
        raise JournalMismatch(
            f"call {ordinal} ({call.stage}) differs from the stored one: a prompt, budget or "
            "method has changed since; start a new run for the changed method"
        )


def digest(call: Call) -> str:
    """Name a call by everything it asks: equal calls have equal digests, in every process."""
    return hashlib.sha256(repr(call).encode("utf-8", "surrogatepass")).hexdigest()
