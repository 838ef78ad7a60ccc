"""Stores for the tests: a SQLite file, and a real PostgreSQL server where its binaries are."""

import getpass
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """Start a PostgreSQL server of our own on a Unix socket, for as long as the tests run."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    initdb = shutil.which("initdb") or (str(found[-1]) if found else None)
    if initdb is None:
        pytest.skip("PostgreSQL is not installed here (no initdb)")
    binaries = Path(initdb).parent
    # PostgreSQL refuses to run as root; its package brings a user for it.
    as_user = ["setpriv", "--reuid=postgres", "--clear-groups"] if os.geteuid() == 0 else []
    owner = "postgres" if as_user else getpass.getuser()
    # Not pytest's own folder: that is closed to other users.
    folder = Path(tempfile.mkdtemp(prefix="cfr-postgres-"))
    if as_user:
        shutil.chown(folder, "postgres")
    data = folder / "data"
    options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
    control = [*as_user, str(binaries / "pg_ctl"), "-D", str(data), "-w"]
    subprocess.run(
        [*as_user, initdb, "-D", str(data), "-A", "trust", "-E", "UTF8"],
        check=True,
        stdout=subprocess.DEVNULL,
        cwd=folder,
    )
    try:
        log = str(folder / "log")
        subprocess.run(
            [*control, "-l", log, "-o", options, "start"],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=folder,
        )
        yield f"postgresql://{owner}@/postgres?host={folder}"
        subprocess.run(
            [*control, "-m", "immediate", "stop"], check=True, stdout=subprocess.DEVNULL, cwd=folder
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An empty store of each kind."""
    if request.param == "sqlite":
        yield str(tmp_path / "runs.db")
        return
    address: str = request.getfixturevalue("postgres")
    yield address
    _empty(address)


def _empty(address: str) -> None:
    import sqlalchemy as sa

    from cfr.evaluation import schema

    engine = sa.create_engine(address.replace("postgresql://", "postgresql+psycopg://"))
    schema.METADATA.drop_all(engine)
    engine.dispose()
