"""Activity that goes on unseen, as one line: what it is, its tokens so far and its seconds."""

from __future__ import annotations

import time
from collections.abc import Callable

from rich.text import Text

from constraint_first.protocol import Call, Completion

__all__ = ["Activity"]


class Activity:
    """The calls and programs that are under way; rich renders it anew whenever it redraws."""

    def __init__(self, title: str = "", clock: Callable[[], float] = time.monotonic) -> None:
        self.programs = 0
        """Programs that are running."""
        self._title = title
        self._clock = clock
        self._began = clock()
        self._written = 0
        self._running: dict[int, tuple[Call, int]] = {}

    def __bool__(self) -> bool:
        return bool(self._running or self.programs)

    def __rich__(self) -> Text:
        """Write the line as it is now."""
        tokens = self._written + sum(count for _, count in self._running.values())
        said = f"about {tokens:,} tokens, " if tokens else ""
        return Text(f"{self._what()}  {said}{self._clock() - self._began:.0f} s")

    def started(self, call: Call) -> None:
        """Note that a call begins; where nothing went on, seconds and tokens begin with it."""
        if not self and not self._title:
            self._began, self._written = self._clock(), 0
        self._running[id(call)] = (call, 0)

    def wrote(self, call: Call) -> None:
        """Count a piece of a reply: most endpoints send one for each token."""
        self._running[id(call)] = (call, self._running.get(id(call), (call, 0))[1] + 1)

    def restarted(self, call: Call) -> None:
        """Forget what was written of a reply that begins anew."""
        self._running[id(call)] = (call, 0)

    def finished(self, call: Call, completion: Completion) -> None:
        """Count a reply as whoever wrote it does, where that is told."""
        _, pieces = self._running.pop(id(call), (call, 0))
        used = completion.usage
        self._written += used.output if used.reported else pieces

    def _what(self) -> str:
        if self._title:
            return self._title
        calls = [call for call, _ in self._running.values()]
        if any(call.stage == "stage1" for call in calls):
            return "Stage 1: what must the answer satisfy?"
        if calls:
            return f"{len(calls)} more repl{'y is' if len(calls) == 1 else 'ies are'} written"
        return "A program runs" if self.programs == 1 else f"{self.programs} programs run"
