"""Errors of calls to a model: the call got no completion and may be tried again."""

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
    """The endpoint refused the request, and would refuse it again."""


class Unauthorized(Rejected):
    """The key is missing, wrong, or not allowed to do this."""

    ends = "series"


class ModelNotFound(Rejected):
    """The endpoint has no model of that name."""

    ends = "series"


class PromptTooLong(Rejected):
    """The prompt and the budget of its reply do not fit into the model's context."""

    def __init__(self, message: str, limit: int | None = None) -> None:
        super().__init__(message)
        self.limit = limit
        """The context's size, where the endpoint names it."""


class ModelFileError(EngineError):
    """A model file that is missing, damaged, or cannot be loaded or written."""


class JournalMismatch(EngineError):
    """A replayed method made a step that differs from the one in its journal."""

    ends = "run"


class TooExpensive(EngineError):
    """An attempt needs more calls or tokens than its limit allows."""


class TookTooLong(EngineError):
    """A reply that was still not complete when the time of its call was over."""


class Transient(EngineError):
    """A fault that may be temporary: the call is retried a few times."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        """Seconds that the endpoint asked us to wait."""


class Unreachable(Transient):
    """No connection could be made."""


class TimedOut(Transient):
    """No byte arrived for too long."""


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


# Redaction of secrets: an endpoint's response may echo the API key, so quotations remove it.

_LONGEST: Final = 200
_LOOKED_AT: Final = 4_096
_SHORTEST_PART: Final = 8
_BLOT: Final = "[key]"
# A character, plain or with the escapes of URLs and JSON.
_UNIT: Final = lazy_pattern(r"%([0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})|\\([\"'/\\])|(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Redaction:
    """The secrets of one endpoint, and the way to quote a text without them.

    Endpoints truncate and encode the text that they echo. So every part of at least eight
    characters of a secret is removed, also where it is escaped as in a URL or in JSON. A shorter
    secret is removed only where it is a whole word; elsewhere the match would be chance.
    """

    secrets: tuple[str, ...] = field(default=(), repr=False)

    def quote(self, text: str) -> str:
        """Write a text as one short line; secrets are removed before it is truncated."""
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
