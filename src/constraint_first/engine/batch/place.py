"""Places of calls: which call of which attempt a request is, written into its ``custom_id``.

A result that comes back a day later, in any order, says by its ``custom_id`` alone where it
belongs and what was asked.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Final

from constraint_first.protocol import Call

__all__ = ["Place", "PlacedCall", "RequestId", "parse_request_id", "short_digest"]

_WRITTEN: Final = re.compile(
    r"s(\d{1,10})-p(\d{1,10})-r(\d{1,10})-c(\d{1,10})-([0-9a-f]{12})-([0-9a-f]{12})"
)
_DIGITS: Final = 12
"""Hexadecimal digits that tell what was asked: enough for one call of one attempt."""


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A call within a store: its series, problem, run and number in the attempt."""

    series: int
    problem: int
    run: int
    ordinal: int

    def __str__(self) -> str:
        return f"s{self.series}-p{self.problem}-r{self.run}-c{self.ordinal}"


@dataclass(frozen=True, slots=True)
class PlacedCall(Call):
    """A call that knows its place, on its way to a model that is asked in batches."""

    place: Place = Place(0, 0, 0, 0)
    asked: str = ""
    """The digest of the call as the journal has it."""


@dataclass(frozen=True, slots=True)
class RequestId:
    """What a ``custom_id`` says: the place, the call as its method made it, the body as sent."""

    place: Place
    asked: str
    body: str

    def __str__(self) -> str:
        return f"{self.place}-{self.asked}-{self.body}"

    @property
    def digests(self) -> str:
        """What was asked, without where."""
        return f"{self.asked}-{self.body}"


def parse_request_id(written: str) -> RequestId | None:
    """Read a ``custom_id``; None where it is not one of ours."""
    found = _WRITTEN.fullmatch(written)
    if found is None:
        return None
    *numbers, asked, body = found.groups()
    return RequestId(Place(*map(int, numbers)), asked, body)


def short_digest(data: bytes) -> str:
    """Name some bytes shortly."""
    return hashlib.sha256(data).hexdigest()[:_DIGITS]
