"""What every engine has in common: it turns one call into one completion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from cfr.protocol import Call, Completion

__all__ = ["SILENT", "Decoding", "Engine", "Watcher"]


@dataclass(frozen=True, slots=True)
class Decoding:
    """How replies are sampled: the paper's primary setting unless told otherwise.

    It belongs to the engine and not to a method, so that all methods in a comparison share it.
    """

    temperature: float = 0.7
    top_p: float = 0.95
    seed: int | None = None
    """Endpoints repeat a seeded reply only as far as they promise to; llama.cpp does so exactly
    only while calls run one at a time."""


class Watcher:
    """Is told what happens while calls are performed. Override what is of interest."""

    def started(self, call: Call) -> None:
        """Note that a call is about to be performed."""

    def wrote(self, call: Call, piece: str, *, reasoning: bool) -> None:
        """Take the next piece of a reply as it is written."""

    def retrying(self, call: Call, reason: str, seconds: float) -> None:
        """Note that a call failed and starts anew after a pause; pieces seen so far are void."""

    def finished(self, call: Call, completion: Completion) -> None:
        """Note a completion."""


SILENT = Watcher()


class Engine(Protocol):
    """Performs calls. Each engine decides only how; what is asked comes from the method."""

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
        """Perform one call, or raise an EngineError."""
        ...
