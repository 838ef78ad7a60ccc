"""Writing problems to a JSON Lines file, whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from cfr.benchmark.constraintbench.item import Item
from cfr.error import OutputError
from cfr.file.atomic import whole_file

__all__ = ["encode", "refuse_overwrite", "write_whole"]


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
    """Write a file whole or not at all."""
    with whole_file(path) as temporary:
        temporary.write_bytes(content)
