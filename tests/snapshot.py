"""Golden files in ``tests/snapshots``: ``pytest --snapshot-update`` writes them."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from syrupy.location import PyTestLocation
from syrupy.types import SnapshotIndex

FOLDER = Path(__file__).parent / "snapshots"

Golden: TypeAlias = Callable[[str], object]
"""Gives the text of a golden file, for comparison with ``==``."""


class GoldenFile(SingleFileSnapshotExtension):
    _write_mode = WriteMode.TEXT
    file_extension = ""

    @classmethod
    def get_snapshot_name(
        cls,
        *,
        test_location: PyTestLocation,
        index: SnapshotIndex = 0,
    ) -> str:
        return str(index)

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        return str(FOLDER)

    def is_snapshot_location(self, *, location: str) -> bool:
        # syrupy searches a folder for files that no test has used. It cannot tell here: several
        # tests share one folder, and one run may have selected a few of them.
        return False
