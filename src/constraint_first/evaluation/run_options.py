"""How a grid is run: where it is stored, how fast it may go, what it may spend."""

from __future__ import annotations

from dataclasses import dataclass, field

from constraint_first.engine.allowance import MOST_CALLS, MOST_TOKENS, AttemptLimit
from constraint_first.engine.transport import CALL_SECONDS, REPLY_BYTES, Bounds
from constraint_first.evaluation.batch.option import BatchOptions
from constraint_first.evaluation.cluster.option import RayOptions
from constraint_first.evaluation.lease import LEASE_SECONDS

__all__ = ["RunOptions"]


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a grid is run: where it is stored, how fast it may go, what it may spend."""

    store: str = "runs.db"
    """A SQLite file, or the address of a PostgreSQL database."""
    limit: int | None = None
    """Only the first so many problems of each benchmark."""
    concurrency: int | None = None
    """Most calls at the same time; without it the number grows as far as the endpoint bears."""
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    max_tokens_total: int | None = None
    """Nothing is asked that could bring all calls together above so many tokens."""
    max_cost: float | None = None
    """Likewise in US dollars; needs the model's price."""
    call_timeout: float = CALL_SECONDS
    """Seconds that a reply may take; later than that a call is not asked again."""
    lease: float = LEASE_SECONDS
    """Where workers share a store: seconds after which what one that is gone had begun is taken
    over."""
    max_reply_bytes: int = REPLY_BYTES
    """The size of a reply beyond which it is a fault and not read further."""
    max_calls: int = MOST_CALLS
    """An attempt that needs more calls fails."""
    max_attempt_tokens: int = MOST_TOKENS
    """Likewise for tokens, input and output together."""
    batch: BatchOptions = field(default_factory=BatchOptions)
    """Whether calls go into batches, and how."""
    ray: RayOptions = field(default_factory=RayOptions)
    """Whether workers on a Ray cluster make the attempts, and which."""

    @property
    def bounds(self) -> Bounds:
        """What each call is held to."""
        return Bounds(seconds=self.call_timeout, reply_bytes=self.max_reply_bytes)

    @property
    def attempt_limit(self) -> AttemptLimit:
        """What each attempt is held to."""
        return AttemptLimit(self.max_calls, self.max_attempt_tokens)

    @property
    def is_bounded(self) -> bool:
        """Whether there is a limit on what all calls together may spend."""
        return self.max_tokens_total is not None or self.max_cost is not None
