"""Errors between us and a model: no completion, never an answer, and may be tried again."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from constraint_first.error import CfrError
from constraint_first.file.safe import one_line
from constraint_first.pattern import lazy_pattern


class EngineError(CfrError):
    """A call that could not be performed."""

    exit_code = 3
    status: int | None = None
    """The HTTP status that an endpoint refused it with."""


class Rejected(EngineError):
    """The endpoint refused the request as it stands."""


class Unauthorized(Rejected):
    """The key is missing, wrong, or not allowed to do this."""

    ends = "series"


class ModelNotFound(Rejected):
    """There is no such model there."""

    ends = "series"


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

    ends = "run"


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


# Redaction of secrets: quotations of what an endpoint says, without the key that it was sent.

_LONGEST: Final = 200
_LOOKED_AT: Final = 4_096
_SHORTEST_PART: Final = 8
_BLOT: Final = "[key]"
# A character as a URL or a JSON text may write it, or as it is.
_UNIT: Final = lazy_pattern(r"%([0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})|\\([\"'/\\])|(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Redaction:
    """The secrets of one endpoint, and the way to quote a text without them.

    Of a secret of eight characters and more every part of at least eight is blotted out, also where
    it is written as in a URL or in JSON: endpoints cut and encode what they echo. A shorter one is
    blotted out where it stands as a word of its own; in every other place it would be chance.
    """

    secrets: tuple[str, ...] = field(default=(), repr=False)

    def quote(self, text: str) -> str:
        """Write a text as one short line that can be shown and stored: blotted first, then cut."""
        return one_line(self._blot(text[:_LOOKED_AT]))[:_LONGEST]

    def is_clean(self, text: str) -> bool:
        return not self.secrets or self._blot(text) == text

    def _blot(self, text: str) -> str:
        units = [(_character(found), *found.span()) for found in _UNIT.finditer(text)]
        plain = "".join(character for character, _, _ in units)
        hidden = sorted(span for secret in self.secrets for span in _places(secret, plain))
        pieces, shown = list[str](), 0
        for first, last in hidden:
            start, end = units[first][1], units[last - 1][2]
            if start >= shown:
                pieces += (text[shown:start], _BLOT)
            shown = max(shown, end)
        return "".join((*pieces, text[shown:]))


NOTHING_SECRET: Final = Redaction()
"""For texts from an endpoint that was sent no secret."""


def _character(found: re.Match[str]) -> str:
    in_url, in_json, escaped, plain = found.groups()
    return chr(int(in_url or in_json, 16)) if in_url or in_json else escaped or plain


def _places(secret: str, text: str) -> list[tuple[int, int]]:
    if len(secret) < _SHORTEST_PART:
        word = re.compile(rf"(?<![A-Za-z0-9]){re.escape(secret)}(?![A-Za-z0-9])")
        return [found.span() for found in word.finditer(text)] if secret else []
    places: list[tuple[int, int]] = []
    first = 0
    while first <= len(text) - _SHORTEST_PART:
        last = first + _SHORTEST_PART
        if text[first:last] not in secret:
            first += 1
            continue
        while last < len(text) and text[first : last + 1] in secret:
            last += 1
        places.append((first, last))
        first = last
    return places
