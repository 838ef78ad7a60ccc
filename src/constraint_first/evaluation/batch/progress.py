"""The progress of a wave of batches, as a person is told it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

__all__ = ["BatchView", "WaveProgress"]

_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class BatchView:
    """One batch as it was seen last."""

    name: str
    status: str
    requests: int
    done: int = 0
    failed: int = 0

    def __str__(self) -> str:
        failed = f", {self.failed:,} failed" if self.failed else ""
        return f"{self.name} {self.status} ({self.done:,} of {self.requests:,}{failed})"


@dataclass(frozen=True, slots=True)
class WaveProgress:
    """How far the batches of one wave are, and what is waited for."""

    wave: int
    batches: tuple[BatchView, ...] = ()
    next_look: float | None = None
    """Seconds until they are looked at again; None where nobody waits."""
    trouble: str = ""
    """Why the last look brought nothing."""

    @property
    def requests(self) -> int:
        """Requests of all batches together."""
        return sum(one.requests for one in self.batches)

    @property
    def done(self) -> int:
        """Requests that have a reply."""
        return sum(one.done for one in self.batches)

    @property
    def failed(self) -> int:
        """Requests that failed."""
        return sum(one.failed for one in self.batches)

    def __str__(self) -> str:
        failed = f", {self.failed:,} failed" if self.failed else ""
        counted = f"wave {self.wave}: {self.done:,} of {self.requests:,} requests done{failed}"
        wait = "" if self.next_look is None else f"; next look in {self.next_look:.0f} s"
        trouble = f"; {self.trouble}" if self.trouble else ""
        return f"{counted}; {self._named()}{wait}{trouble}"

    def _named(self) -> str:
        if len(self.batches) <= _MOST_NAMED:
            return ", ".join(map(str, self.batches))
        counts = Counter(one.status for one in self.batches)
        listed = ", ".join(f"{count} {status}" for status, count in counts.items())
        return f"{len(self.batches)} batches ({listed})"
