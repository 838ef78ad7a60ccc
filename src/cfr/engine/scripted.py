"""Replies written beforehand, for tests and documentation."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from cfr.engine.engine import SILENT, Watcher
from cfr.engine.error import EngineError
from cfr.protocol import Call, Completion

__all__ = ["Scripted"]


class Scripted:
    """Answers calls from a list, in order, or by a function; remembers what it was asked."""

    def __init__(self, replies: Iterable[str | Completion] | Callable[[Call], str | Completion]):
        self._reply = replies if callable(replies) else _in_order(replies)
        self.asked: list[Call] = []
        self.model = "scripted"

    async def complete(
        self, call: Call, watcher: Watcher = SILENT, decoding: object = None
    ) -> Completion:
        """Give the next reply."""
        self.asked.append(call)
        reply = self._reply(call)
        completion = reply if isinstance(reply, Completion) else Completion(reply)
        watcher.wrote(call, completion.text, reasoning=False)
        return completion


def _in_order(replies: Iterable[str | Completion]) -> Callable[[Call], str | Completion]:
    remaining = iter(replies)

    def reply(call: Call) -> str | Completion:
        for next_reply in remaining:
            return next_reply
        raise EngineError(f"the script has no reply left for a {call.stage} call")

    return reply
