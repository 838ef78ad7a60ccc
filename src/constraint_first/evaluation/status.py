"""The statuses of an attempt: how it ended."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

__all__ = ["STATUSES", "Status"]

Status: TypeAlias = Literal["ok", "truncated", "unparsed", "failed"]
"""How an attempt ended: with an answer; without one because its budget ran out; without one all
the same; or not at all, because a call never succeeded. Only the last is made again."""

STATUSES: Final[tuple[Status, ...]] = get_args(Status)
"""Every status, in the order in which they are counted and shown."""
