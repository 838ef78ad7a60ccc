"""Repetition in a stream: whether each of its events came twice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["PairedEvents"]

_PAIRS_WITH_COUNT: Final = 2
_PAIRS_WITHOUT: Final = 8


@dataclass(slots=True)
class PairedEvents:
    """The events of one stream, as far as they come in equal pairs.

    The format numbers no events, and a model may well write the same piece twice, so that two equal
    events prove nothing. They do when all events are paired and they are more than the tokens that
    the endpoint counted; and, where it counted none, when many different pairs follow each other.
    """

    events: int = 0
    changes: int = 0
    """How often a pair differed from the one before it."""
    broken: bool = False
    _last: bytes = b""

    def add(self, event: bytes) -> None:
        """Take the next event."""
        self.events += 1
        same = event == self._last
        if self.events % 2 == 0:
            self.broken = self.broken or not same
        else:
            self.changes += not same
        self._last = event

    def doubled(self, tokens: int | None) -> bool:
        """Say whether it is certain that each event came twice."""
        if self.broken or self.events % 2:
            return False
        if tokens is None:
            return self.changes >= _PAIRS_WITHOUT
        return self.changes >= _PAIRS_WITH_COUNT and self.events > tokens
