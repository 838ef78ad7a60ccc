"""What can go wrong with a store, and how a database's own words for it are shown."""

from __future__ import annotations

from sqlalchemy.exc import DBAPIError

from cfr.error import CfrError

__all__ = ["StoreError", "reason"]


class StoreError(CfrError):
    """A store that cannot be opened, is in use, or holds something else than what is run now."""

    exit_code = 5


def reason(error: Exception) -> str:
    """Say in a line what a database complained about, without the statement and its values."""
    said = error.orig if isinstance(error, DBAPIError) else error
    return " ".join(str(said).split())[:160]
