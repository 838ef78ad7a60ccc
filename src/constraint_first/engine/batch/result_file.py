"""Result files: output and error files of batches, on the disk, found by the calls' places.

A file may have hundreds of megabytes. It is gone through once, line by line, and only where each
result stands is remembered; a result is read again when its call is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

from constraint_first.engine.batch.line import BadResult, Result, read_result
from constraint_first.engine.batch.place import Place, RequestId, parse_request_id
from constraint_first.error import InputError

__all__ = ["FoundResult", "ReadBatch", "ResultIndex"]

_MEGABYTE: Final = 10**6


@dataclass(frozen=True, slots=True)
class FoundResult:
    """A result and the request that it answers."""

    request: RequestId
    result: Result


@dataclass(frozen=True, slots=True)
class _Line:
    request: RequestId
    path: Path
    start: int
    length: int


@dataclass(slots=True)
class ReadBatch:
    """What the files of one batch brought."""

    failed: list[FoundResult] = field(default_factory=list[FoundResult])
    """Requests that got something else than a reply."""
    missing: set[str] = field(default_factory=set[str])
    """Requests of which there is no line."""
    answered: int = 0
    odd: Counter[str] = field(default_factory=Counter[str])
    """Lines that could not be used, counted by what is wrong with them."""

    def __str__(self) -> str:
        counts = [f"{count:,} × {what}" for what, count in self.odd.items()]
        return "; ".join(counts)


class ResultIndex:
    """Where each result stands, by the place of its call.

    ``longest`` is the size of a line beyond which it is not looked at.
    """

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._lines: dict[Place, _Line] = {}

    def __len__(self) -> int:
        return len(self._lines)

    def read(self, paths: Iterable[Path], wanted: set[str]) -> ReadBatch:
        """Go through the files of one batch, whose requests are ``wanted``.

        Of two lines for one request the first counts, and a reply before anything else.
        """
        found = ReadBatch(missing=set(wanted))
        failures: dict[Place, FoundResult] = {}
        good: set[Place] = set()
        for path in paths:
            for start, line in self._scan(path, found):
                if (read := self._read(line, wanted, found)) is None:
                    continue
                place = read.request.place
                if place in good or (place in failures and not read.result.succeeded):
                    found.odd["a second line for one request"] += 1
                    continue
                if read.result.succeeded:
                    good.add(place)
                    failures.pop(place, None)
                else:
                    failures[place] = read
                self._lines[place] = _Line(read.request, path, start, len(line))
        found.failed, found.answered = list(failures.values()), len(good)
        return found

    def find(self, place: Place) -> FoundResult | None:
        """Return the result of a call; None where there is none."""
        line = self._lines.get(place)
        if line is None:
            return None
        try:
            with line.path.open("rb") as file:
                file.seek(line.start)
                _, result = read_result(file.read(line.length))
        except (OSError, BadResult):
            raise InputError(
                f"{line.path}: changed while it was read; leave it alone and run the same "
                "command again"
            ) from None
        return FoundResult(line.request, result)

    def _read(self, line: bytes, wanted: set[str], found: ReadBatch) -> FoundResult | None:
        try:
            custom_id, result = read_result(line)
        except BadResult as error:
            found.odd[f"a line that is no result ({error})"] += 1
            return None
        request = parse_request_id(custom_id) if custom_id in wanted else None
        if request is None:
            found.odd["a result that nobody asked for"] += 1
            return None
        found.missing.discard(custom_id)
        return FoundResult(request, result)

    def _scan(self, path: Path, found: ReadBatch) -> Iterator[tuple[int, bytes]]:
        try:
            with path.open("rb") as file:
                yield from self._lines_of(file, found)
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error.strerror})") from None

    def _lines_of(self, file: BinaryIO, found: ReadBatch) -> Iterator[tuple[int, bytes]]:
        start = 0
        while line := file.readline(self._longest):
            size = len(line)
            if size == self._longest and not line.endswith(b"\n"):
                found.odd[f"a line larger than {self._longest / _MEGABYTE:g} MB"] += 1
                while not line.endswith(b"\n") and (line := file.readline(self._longest)):
                    size += len(line)
            elif line.strip():
                yield start, line
            start += size
