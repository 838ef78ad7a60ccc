"""The status of a batch, as its provider tells it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from constraint_first.engine.error import BadReply
from constraint_first.engine.redaction import NOTHING_SECRET, Redaction
from constraint_first.problem import Json

__all__ = ["BatchStatus", "read_status"]

_ENDED: Final = frozenset({"completed", "failed", "expired", "cancelled"})
_LONGEST_ID: Final = 256


@dataclass(frozen=True, slots=True)
class BatchStatus:
    """A batch at its provider: how far it is, and where its results are."""

    id: str
    status: str
    """validating, failed, in_progress, finalizing, completed, expired, cancelling, cancelled."""
    input_file: str = ""
    output_file: str = ""
    error_file: str = ""
    done: int = 0
    failed: int = 0
    created_at: float = 0.0
    tag: str = ""
    """Our own name for it, where the provider keeps what it is told."""
    reason: str = ""
    """Why it failed as a whole, where it did."""

    @property
    def has_ended(self) -> bool:
        """Whether nothing more will come of it."""
        return self.status in _ENDED


def read_status(value: Json, tag_key: str, redaction: Redaction = NOTHING_SECRET) -> BatchStatus:
    """Read a batch object; whatever of it makes no sense is left out, but for its name."""
    if not isinstance(value, dict) or not _text(value, "id") or not _text(value, "status"):
        raise BadReply("the endpoint's reply is not a batch: it has no id or no status")
    counts, metadata = value.get("request_counts"), value.get("metadata")
    return BatchStatus(
        id=_text(value, "id"),
        status=_text(value, "status"),
        input_file=_text(value, "input_file_id"),
        output_file=_text(value, "output_file_id"),
        error_file=_text(value, "error_file_id"),
        done=_count(counts, "completed"),
        failed=_count(counts, "failed"),
        created_at=float(_count(value, "created_at")),
        tag=_text(metadata, tag_key) if isinstance(metadata, dict) else "",
        reason=redaction.quote(_reason(value.get("errors"))),
    )


def _text(value: dict[str, Json], name: str) -> str:
    """Read a name; one that cannot be stored or is too long to be one is none."""
    found = value.get(name)
    fits = isinstance(found, str) and found.isprintable() and len(found) <= _LONGEST_ID
    return found if isinstance(found, str) and fits and _encodable(found) else ""


def _encodable(text: str) -> bool:
    return text.encode("utf-8", "replace").decode() == text


def _count(value: Json, name: str) -> int:
    found = value.get(name) if isinstance(value, dict) else None
    return found if type(found) is int and 0 <= found < 2**53 else 0


def _reason(errors: Json) -> str:
    listed = errors.get("data") if isinstance(errors, dict) else errors
    first = listed[0] if isinstance(listed, list) and listed else listed
    if isinstance(first, dict):
        said = [first.get("code"), first.get("message")]
        return ": ".join(one for one in said if isinstance(one, str))
    return first if isinstance(first, str) else ""
