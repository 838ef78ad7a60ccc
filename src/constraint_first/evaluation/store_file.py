"""The file of a SQLite store itself, whatever name leads to it: its lock, and whether it is there.

Closing any descriptor of a file drops all POSIX locks that the process has on that file (fcntl(2)),
SQLite's own among them. So a descriptor that was opened here is closed only when this process has
no store open on the file.
"""

from __future__ import annotations

import errno
import importlib
import os
import struct
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypeAlias

__all__ = ["StoreFile", "opening"]

_Identity: TypeAlias = tuple[int, int]
"""Device and inode."""

# SQLite locks bytes from 2**30 on and no file reaches this one, so neither sees the other's lock.
_LOCKED_BYTE: Final = 2**62
_MAGIC: Final = b"SQLite format 3\0"
_BESIDE: Final = ("-wal", "-shm")

_guard = threading.Lock()
_opening = 0
_in_use: Final = set["StoreFile"]()
_unused: Final = list[tuple[_Identity, int]]()
"""Descriptors to close once no store of this process uses their file."""


@contextmanager
def opening() -> Generator[None]:
    """Close no descriptor while SQLite opens a file that is not counted yet."""
    global _opening
    with _guard:
        _opening += 1
    try:
        yield
    finally:
        with _guard:
            _opening -= 1
            _close_unused()


class StoreFile:
    """The file that SQLite has open under a name; make it within ``opening()``, after SQLite."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor = _open(path)
        found = path.stat() if self._descriptor is None else os.fstat(self._descriptor)
        self.identity = _identity(found)
        self._beside: dict[Path, _Identity] = {}
        """The log and its index, once they were seen."""
        self._locked = False
        with _guard:
            _in_use.add(self)

    def close(self) -> None:
        """Give the descriptor up, after SQLite's connections are closed."""
        with _guard:
            _in_use.discard(self)
            if self._descriptor is not None:
                _unused.append((self.identity, self._descriptor))
                self._descriptor = None
            _close_unused()

    def leave_to_parent(self) -> None:
        """Close the descriptor in a forked child, which would keep the lock of a parent that died.

        Locks of SQLite are the parent's own, and closing it here does nothing to them.
        """
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def lock(self) -> bool:
        """Lock the file against every other holder; False where it is locked already.

        Lasts until ``unlock`` or the end of the process. Where the system has no such lock this
        does nothing.
        """
        if self._descriptor is None:
            return True
        try:
            _set_lock(self._descriptor, "F_WRLCK")
        except OSError as error:
            # A file system that knows no locks leaves it at the lock beside the file.
            return error.errno not in (errno.EAGAIN, errno.EACCES)
        self._locked = True
        return True

    def unlock(self) -> None:
        """Let others lock the file."""
        if self._locked and self._descriptor is not None:
            self._locked = False
            with suppress(OSError):
                _set_lock(self._descriptor, "F_UNLCK")

    @property
    def has_other_names(self) -> bool:
        """Whether hard links lead to it; SQLite keeps a log of its own for each name."""
        return self.path.stat().st_nlink > 1

    def is_locked(self) -> bool:
        """Say whether the file is locked, here or elsewhere."""
        return self._locked or (self._descriptor is not None and _is_locked(self._descriptor))

    def find_damage(self) -> str:
        """Describe the loss where the name no longer leads to the file that was opened."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return "the file was deleted or moved"
        except OSError as error:
            return f"the file can no longer be reached ({error.strerror})"
        if _identity(found) != self.identity:
            return "the file was replaced by another"
        if self._descriptor is not None:
            begins = os.pread(self._descriptor, len(_MAGIC), 0)
            if begins != _MAGIC:
                return "the file was overwritten" if begins else "the file was emptied"
        for path in (self.path.with_name(self.path.name + end) for end in _BESIDE):
            try:
                now = _identity(path.stat())
            except OSError:
                now = None
            known = self._beside.get(path)
            if known is None and now is not None:
                self._beside[path] = now
            elif known != now:
                return f"{path.name}, a part of it, was deleted or replaced"
        return ""

    def drop_log(self) -> None:
        """Delete the log that was left under the name of a file that is gone.

        SQLite would replay it into the next file of that name. Call this only once all of it is
        saved elsewhere.
        """
        with suppress(OSError):
            if _identity(self.path.stat()) == self.identity:
                return
        for path, known in self._beside.items():
            with suppress(OSError):
                if _identity(path.stat()) == known:
                    path.unlink()


def _identity(found: os.stat_result) -> _Identity:
    return found.st_dev, found.st_ino


def _close_unused() -> None:
    if _opening:
        return
    used = {file.identity for file in _in_use}
    for identity, descriptor in list(_unused):
        if identity not in used:
            _unused.remove((identity, descriptor))
            os.close(descriptor)


def _after_fork() -> None:
    global _guard, _opening
    _guard, _opening = threading.Lock(), 0  # another thread of the parent may have had it
    for file in _in_use:
        file.leave_to_parent()
    _in_use.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


# Locks of an open file description: unlike flock() they stay clear of SQLite's locks on every file
# system, and unlike other fcntl() locks they outlive the closing of other descriptors.
_FLOCK: Final = struct.Struct("hhqqi4x")
_fcntl: Any = importlib.import_module("fcntl") if sys.platform == "linux" else None


def _open(path: Path) -> int | None:
    if _fcntl:
        for mode in (os.O_RDWR, os.O_RDONLY):
            with suppress(OSError):
                return os.open(path, mode | os.O_CLOEXEC)
    return None


def _set_lock(descriptor: int, kind: str) -> None:
    _fcntl.fcntl(descriptor, _fcntl.F_OFD_SETLK, _request(kind))


def _is_locked(descriptor: int) -> bool:
    try:
        answer = _fcntl.fcntl(descriptor, _fcntl.F_OFD_GETLK, _request("F_WRLCK"))
    except OSError:
        return False
    return _FLOCK.unpack(answer)[0] != _fcntl.F_UNLCK


def _request(kind: str) -> bytes:
    return _FLOCK.pack(getattr(_fcntl, kind), os.SEEK_SET, _LOCKED_BYTE, 1, 0)
