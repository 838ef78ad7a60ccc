"""What waits to be sent to a client: words of several choices, merged while it is slow."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from io import StringIO

from constraint_first.serve.reply import ServedAnswer

__all__ = ["Outbox", "Words"]


@dataclass(slots=True)
class Words:
    """The next words of a choice, or its end."""

    index: int
    name: str
    """``content`` or ``reasoning_content``; empty for an end."""
    text: StringIO = field(default_factory=StringIO)
    ended: ServedAnswer | None = None


class Outbox:
    """A queue that never makes its writers wait.

    It holds the words alone and not the pieces that they came in, so that a client that does not
    read costs as much memory as what it was told, and no more.
    """

    def __init__(self) -> None:
        self._waiting: list[Words] = []
        self._changed = asyncio.Event()
        self._closed = False

    @property
    def is_drained(self) -> bool:
        """Whether nothing is there, and nothing will come."""
        return self._closed and not self._waiting

    def write(self, index: int, name: str, text: str) -> None:
        """Add words; those that follow on the last ones join them."""
        last = self._waiting[-1] if self._waiting else None
        if last is None or (last.index, last.name) != (index, name):
            last = Words(index, name)
            self._waiting.append(last)
            self._changed.set()
        last.text.write(text)

    def end(self, index: int, answer: ServedAnswer) -> None:
        """End a choice."""
        self._waiting.append(Words(index, "", ended=answer))
        self._changed.set()

    def close(self) -> None:
        """Say that nothing more will come."""
        self._closed = True
        self._changed.set()

    async def take(self, seconds: float) -> list[Words] | None:
        """Wait for words, and take all that there are; None where the time is over."""
        if not self._changed.is_set():
            try:
                async with asyncio.timeout(seconds):
                    await self._changed.wait()
            except TimeoutError:
                return None
        self._changed.clear()
        taken, self._waiting = self._waiting, []
        return taken
