"""The database behind a store, opened by its address: a SQLite file or PostgreSQL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.event import listens_for
from sqlalchemy.exc import ArgumentError

from cfr.evaluation.error import StoreError

__all__ = ["connect", "without_password"]


def connect(url: str) -> tuple[sa.Engine, Path | None]:
    """Open a database by its address; a plain path is a SQLite file."""
    try:
        if "://" not in url:
            path = Path(url).expanduser()
            if not path.absolute().parent.is_dir():
                raise StoreError(f"{url}: there is no folder {path.parent}; make it first")
            return _sqlite(f"sqlite:///{path}"), path.with_name(path.name + ".lock")
        if url.startswith("sqlite"):
            path = Path(sa.make_url(url).database or "runs.db")
            return _sqlite(url), path.with_name(path.name + ".lock")
        parsed = sa.make_url(url)
        if parsed.get_backend_name() != "postgresql":
            raise StoreError(f"{parsed.render_as_string()}: a store is SQLite or PostgreSQL")
        return sa.create_engine(parsed.set(drivername="postgresql+psycopg")), None
    except ArgumentError:
        raise StoreError(f"{url}: not a store's address; give a file or postgresql://…") from None
    except ModuleNotFoundError:
        raise StoreError("PostgreSQL needs: pip install 'constraint-first[postgres]'") from None


def without_password(url: str) -> str:
    """Return an address as it may be shown."""
    try:
        return sa.make_url(url).render_as_string() if "://" in url else url
    except ArgumentError:
        return url


def _sqlite(url: str) -> sa.Engine:
    engine = sa.create_engine(url, connect_args={"timeout": 30})

    @listens_for(engine, "connect")
    def _pragmas(connection: Any, _record: object) -> None:
        cursor = connection.cursor()
        # Readers do not wait for the writer; a commit is on the disk when it returns.
        cursor.execute("PRAGMA journal_mode=WAL")
        cursor.execute("PRAGMA synchronous=FULL")
        cursor.close()

    return engine
