"""A PostgreSQL server of our own on a Unix socket, where its binaries are installed."""

from __future__ import annotations

import getpass
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest


class Postgres:
    """A server with an empty database: ``with Postgres() as server``. It can be stopped between."""

    def __init__(self) -> None:
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
        initdb = shutil.which("initdb") or (str(found[-1]) if found else None)
        if initdb is None:
            pytest.skip("PostgreSQL is not installed here (no initdb)")
        # PostgreSQL refuses to run as root; its package brings a user for it.
        self._as_user = ["setpriv", "--reuid=postgres", "--clear-groups"]
        self._as_user = self._as_user if os.geteuid() == 0 else []
        # Not pytest's own folder: that is closed to other users.
        self._folder = Path(tempfile.mkdtemp(prefix="cfr-postgres-"))
        if self._as_user:
            shutil.chown(self._folder, "postgres")
        owner = "postgres" if self._as_user else getpass.getuser()
        self.url = f"postgresql://{owner}@/postgres?host={self._folder}"
        data = str(self._folder / "data")
        self._control = [str(Path(initdb).parent / "pg_ctl"), "-D", data, "-w"]
        self._run(initdb, "-D", data, "-A", "trust", "-E", "UTF8", "--no-sync")

    def __enter__(self) -> Postgres:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.stop()
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)

    def start(self) -> None:
        """Start the server and wait until it takes connections."""
        options = f"-c listen_addresses='' -c unix_socket_directories={self._folder} -c fsync=off"
        self._run(*self._control, "-l", str(self._folder / "log"), "-o", options, "start")

    def stop(self) -> None:
        """Kill the server, with all that it has under way."""
        self._run(*self._control, "-m", "immediate", "stop")

    def _run(self, *command: str) -> None:
        subprocess.run(
            [*self._as_user, *command], check=True, stdout=subprocess.DEVNULL, cwd=self._folder
        )


def empty_database(address: str) -> None:
    """Take away all that a test has left on a server."""
    import sqlalchemy as sa

    from constraint_first.store import database as schema

    engine = sa.create_engine(address.replace("postgresql://", "postgresql+psycopg://"))
    schema.BATCHES.drop_all(engine)
    schema.METADATA.drop_all(engine)
    engine.dispose()
