"""Atomic writes: a file is there whole, or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from constraint_first.error import OutputError

__all__ = ["atomic_file", "refuse_overwrite"]


@contextmanager
def atomic_file(path: Path) -> Generator[Path]:
    """Give a file to write beside the one that is meant; it takes its name once it is complete."""
    if path.is_dir():
        raise OutputError(f"{path}: a folder, not a file; name a file in it")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.absolute().parent)
        os.close(handle)
    except OSError as error:
        raise OutputError(
            f"{path}: cannot be written ({error.strerror}); name a file in a folder that exists"
            " and that you may write to"
        ) from None
    temporary = Path(name)
    try:
        yield temporary
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)  # mkstemp keeps its files private
        temporary.replace(path)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({error.strerror})") from None
    finally:
        temporary.unlink(missing_ok=True)


def refuse_overwrite(path: Path, *, force: bool) -> None:
    """Stop before any work is done where the result would have no place to go."""
    if path.is_dir():
        raise OutputError(f"{path}: a folder; name a file in it")
    if path.exists() and not force:
        raise OutputError(f"{path}: exists already; name another file or pass --force")
    if not path.parent.is_dir():
        raise OutputError(f"{path}: there is no folder {path.parent}; make it first")
