"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from cfr.error import OutputError

__all__ = ["whole_file"]


@contextmanager
def whole_file(path: Path) -> Generator[Path]:
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
