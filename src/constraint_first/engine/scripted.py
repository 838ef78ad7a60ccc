"""The scripted engine: replies written beforehand, for tests and documentation."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from constraint_first.engine.engine import SILENT, Decoding, Watcher
from constraint_first.engine.error import EngineError
from constraint_first.protocol import Call, Completion

__all__ = ["Scripted"]


class Scripted:
    """An engine that replies from a list, in order, or by a function, and keeps what was asked.

    It needs no opening, and however it is to be decoded it replies the same.
    """

    def __init__(
        self,
        replies: Iterable[str | Completion] | Callable[[Call], str | Completion],
        *,
        name: str = "scripted",
    ) -> None:
        self._reply = replies if callable(replies) else _in_order(replies)
        self._name = name
        self.asked: list[Call] = []

    @property
    def model(self) -> str:
        """The name that stands for a model's."""
        return self._name

    async def complete(
        self,
        call: Call,
        watcher: Watcher = SILENT,
        decoding: Decoding | None = None,  # noqa: ARG002
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
