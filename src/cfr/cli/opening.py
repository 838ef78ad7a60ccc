"""Opening a store that must be there already."""

from __future__ import annotations

from pathlib import Path

from cfr.evaluation.store import Store, StoreError

__all__ = ["open_existing"]


def open_existing(url: str) -> Store:
    """Open a store for reading; a mistyped name must not make a new one."""
    if "://" not in url and not Path(url).expanduser().is_file():
        raise StoreError(f"{url}: there is no such store; run 'cfr eval' first, or name one")
    return Store(url)
