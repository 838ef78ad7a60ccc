"""Errors between us and a model, each with its way out.

None of these is ever an answer: a call that ends in one of them has no completion, and the attempt
that made it can be run again.
"""

from __future__ import annotations

from constraint_first.error import CfrError

__all__ = [
    "BadReply",
    "EngineError",
    "JournalMismatch",
    "ModelFileError",
    "ModelNotFound",
    "PromptTooLong",
    "RateLimited",
    "Rejected",
    "ServerFault",
    "StaleReply",
    "StreamCut",
    "TimedOut",
    "TooExpensive",
    "TookTooLong",
    "Transient",
    "Unauthorized",
    "Unreachable",
]


class EngineError(CfrError):
    """A call that could not be performed."""

    exit_code = 3
    status: int | None = None
    """The HTTP status that an endpoint refused it with."""


class Rejected(EngineError):
    """The endpoint refused the request as it stands."""


class Unauthorized(Rejected):
    """The key is missing, wrong, or not allowed to do this."""


class ModelNotFound(Rejected):
    """There is no such model there."""


class PromptTooLong(Rejected):
    """The problem, or the budget beside it, does not fit into the model's context."""

    def __init__(self, message: str, limit: int | None = None) -> None:
        super().__init__(message)
        self.limit = limit
        """The context's size, where the endpoint names it."""


class ModelFileError(EngineError):
    """A model file that is missing, damaged, or cannot be loaded or written."""


class JournalMismatch(EngineError):
    """A replayed method asked something other than what its journal has an answer to."""


class TooExpensive(EngineError):
    """An attempt that needs more calls or tokens than one may have."""


class TookTooLong(EngineError):
    """A reply that was still not complete when the time of its call was over."""


class Transient(EngineError):
    """Something that may pass: the engine asks again before it gives up."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        """Seconds that the endpoint asked us to wait."""


class Unreachable(Transient):
    """No connection could be made."""


class TimedOut(Transient):
    """Nothing came for too long."""


class RateLimited(Transient):
    """Too many requests."""


class ServerFault(Transient):
    """The endpoint failed on its side."""


class BadReply(Transient):
    """The endpoint answered with something that is not a chat completion."""


class StreamCut(Transient):
    """The stream ended before the reply did."""


class StaleReply(Transient):
    """The reply may belong to an earlier request on the same connection."""
