"""Writing problems to a JSON Lines file, whole or not at all."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from cfr.benchmark.item import Item
from cfr.error import CfrError

__all__ = ["OutputError", "encode", "refuse_overwrite", "write_whole"]


class OutputError(CfrError):
    """A file that cannot, or should not, be written."""

    exit_code = 2


def encode(items: Iterable[Item]) -> bytes:
    """Write problems as JSON Lines, always with the same bytes for the same problems."""
    lines = (json.dumps(item.to_json(), ensure_ascii=False) for item in items)
    return "".join(f"{line}\n" for line in lines).encode()


def refuse_overwrite(path: Path, *, force: bool) -> None:
    """Stop before any work is done where the result would have no place to go."""
    if path.is_dir():
        raise OutputError(f"{path}: a folder; name a file in it")
    if path.exists() and not force:
        raise OutputError(f"{path}: exists already; name another file or pass --force")
    if not path.parent.is_dir():
        raise OutputError(f"{path}: there is no folder {path.parent}; make it first")


def write_whole(path: Path, content: bytes) -> None:
    """Write beside the file and move into place, so that nobody ever sees half of it."""
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        umask = os.umask(0)
        os.umask(umask)
        Path(temporary).chmod(0o666 & ~umask)  # mkstemp makes files that only their owner can read
        Path(temporary).replace(path)
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        raise OutputError(f"{path}: cannot be written ({error.strerror})") from None
