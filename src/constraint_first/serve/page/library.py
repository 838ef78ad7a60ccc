"""The runs that pages show: stores and files of attempts, as they were named when it started.

Pages name them by number, so that no address reaches any other file. A study is read anew when its
source has changed.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

import sqlalchemy as sa

from constraint_first.analysis.study.reader import existing_store, open_study
from constraint_first.analysis.study.study import Study, StudyError
from constraint_first.error import InputError
from constraint_first.evaluation import schema
from constraint_first.evaluation.database import sqlite_path, without_password
from constraint_first.evaluation.store import Store
from constraint_first.file.path import expand_user
from constraint_first.file.row import row_format
from constraint_first.serve.error_reply import RequestError

__all__ = ["ALL", "RunLibrary", "RunSource"]

ALL: Final = 0
"""The number of all sources together."""
Stamp: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class RunSource:
    """A store, or a file of attempts."""

    number: int
    url: str

    @property
    def name(self) -> str:
        """What it is called, without a password."""
        return without_password(self.url)

    @property
    def is_store(self) -> bool:
        """Whether it is a store, which has every message and may grow."""
        return not row_format(Path(self.url))

    def open(self) -> Store:
        """Open the store; a file of attempts is none."""
        return existing_store(self.url)

    def stamp(self) -> Stamp:
        """Tell one state of it from another, at little cost."""
        path = sqlite_path(self.url) if self.is_store else expand_user(self.url)
        if path is None:
            with self.open() as store:
                a = schema.attempts.c
                return tuple(store.read(sa.select(sa.func.count(), sa.func.max(a.finished_at)))[0])
        return tuple(map(_state, (path, path.with_name(path.name + "-wal"))))


def _state(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


class RunLibrary:
    """All sources, and the studies that were read from them last."""

    def __init__(self, urls: Sequence[str]) -> None:
        unique = dict.fromkeys(urls)
        self.sources = tuple(RunSource(number, url) for number, url in enumerate(unique, start=1))
        self._studies: dict[int, tuple[Stamp, Study]] = {}
        self._reading = threading.Lock()

    def source(self, number: int) -> RunSource:
        """Find a source by its number."""
        if not 1 <= number <= len(self.sources):
            raise RequestError(f"runs {number}: there is no such store here", 404)
        return self.sources[number - 1]

    def study(self, number: int) -> Study:
        """Read the study of a source, or of all; it takes a while, so call it in a thread."""
        chosen = self.sources if number == ALL else (self.source(number),)
        if not chosen:
            raise InputError("no runs were named; start the server with some: cfr serve runs.db")
        with self._reading:
            stamp = tuple(source.stamp() for source in chosen)
            known = self._studies.get(number)
            if known is None or known[0] != stamp:
                known = (stamp, open_study([source.url for source in chosen]))
                self._studies[number] = known
        study = known[1]
        if not study.arms:
            raise StudyError(f"{study.source}: no attempts yet; run 'cfr eval' first")
        return study
