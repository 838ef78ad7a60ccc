"""The log of batches in the store, written ahead of every step that may cost money.

A batch goes through these states, each written before the step that follows it:

- collected: its requests are stored; nothing was sent yet, or the upload's response was lost
- uploaded: its input file is at the provider; the batch may exist if that response was lost
- created: it has an id, and its results are awaited
- ended: it is complete or failed; its results are being read, and their calls stored
- closed: all its results are in the store, or their requests were retried
- forgotten: the user abandoned it
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeAlias, cast
from uuid import uuid4

import sqlalchemy as sa

from constraint_first.error import OutputError
from constraint_first.file.safe import atomic_file, storable_text
from constraint_first.model.batch import (
    BatchClient,
    CannotList,
    FoundResult,
    Place,
    RequestId,
    Result,
    ResultIndex,
    parse_request_id,
)
from constraint_first.model.error import EngineError, ModelNotFound
from constraint_first.run.job import BatchView
from constraint_first.store.database import BATCHES, OPEN, batches, requests
from constraint_first.store.store import Store

_LONGEST: Final = 2_000
"""Characters of a refusal that are stored: the parser of refusals reads no more."""


@dataclass(frozen=True, slots=True)
class StoredBatch:
    tag: str
    endpoint: str
    model: str
    wave: int
    requests: int
    price_factor: float
    created_at: float
    state: str = "collected"
    input_file: str = ""
    batch: str = ""
    status: str = ""
    output_file: str = ""
    error_file: str = ""
    reason: str = ""

    @property
    def shown(self) -> str:
        """The provider's id of the batch, or else our tag."""
        return self.batch or self.tag

    @property
    def place(self) -> tuple[str, str]:
        return self.endpoint, self.model


class BatchLog:
    """The batches of one store, which must be held exclusively."""

    def __init__(self, store: Store) -> None:
        self._store = store
        store.change(BATCHES.create_all)

    def open(self) -> list[StoredBatch]:
        order = (batches.c.wave, batches.c.created_at, batches.c.tag)
        query = sa.select(batches).where(batches.c.state.in_(OPEN)).order_by(*order)
        return [StoredBatch(**row._mapping) for row in self._store.read(query)]

    def next_wave(self) -> int:
        ((last,),) = self._store.read(sa.select(sa.func.max(batches.c.wave)))
        return (last or 0) + 1

    def collect(self, batch: StoredBatch, names: Sequence[RequestId]) -> None:
        """Insert a batch with all its requests, before any step."""
        rows = [asdict(name.place) | {"tag": batch.tag, "digests": name.digests} for name in names]

        def work(connection: sa.Connection) -> None:
            fields = {name: getattr(batch, name) for name in StoredBatch.__slots__}
            connection.execute(batches.insert(), fields)
            connection.execute(requests.insert(), rows)

        self._store.change(work)

    def change(self, batch: StoredBatch, /, **columns: Any) -> StoredBatch:
        statement = batches.update().where(batches.c.tag == batch.tag).values(**columns)
        self._store.change(lambda connection: connection.execute(statement))
        return replace(batch, **columns)

    def drop(self, tag: str) -> None:
        """Delete a batch that cost nothing."""

        def work(connection: sa.Connection) -> None:
            connection.execute(requests.delete().where(requests.c.tag == tag))
            connection.execute(batches.delete().where(batches.c.tag == tag))

        self._store.change(work)

    def wanted(self, tag: str) -> set[str]:
        query = sa.select(requests).where(requests.c.tag == tag)
        return {str(_request(row)) for row in self._store.read(query)}

    def fail(self, tag: str, failed: Iterable[FoundResult]) -> None:
        rows = [
            {
                **{f"its_{name}": getattr(one.request.place, name) for name in _KEY},
                "status": one.result.status,
                "said": storable_text(one.result.body[:_LONGEST].decode("utf-8", "replace")),
            }
            for one in failed
        ]
        if not rows:
            return
        where = [requests.c[name] == sa.bindparam(f"its_{name}") for name in _KEY]
        statement = requests.update().where(requests.c.tag == tag, *where)
        values = statement.values(status=sa.bindparam("status"), said=sa.bindparam("said"))
        self._store.change(lambda connection: connection.execute(values, rows))

    def close(self, tag: str) -> None:
        unknown = (requests.c.tag == tag, requests.c.status.is_(None))

        def work(connection: sa.Connection) -> None:
            connection.execute(requests.update().where(*unknown).values(status=200))
            connection.execute(batches.update().where(batches.c.tag == tag).values(state="closed"))

        self._store.change(work)

    def refusals(self, series: int) -> dict[Place, FoundResult]:
        """Return the refusals of closed batches by place, so that they are not requested again."""
        query = (
            sa.select(requests)
            .join(batches)
            .where(
                requests.c.series == series,
                requests.c.status.between(400, 499),
                batches.c.state == "closed",
            )
            .order_by(batches.c.wave)
        )
        found: dict[Place, FoundResult] = {}
        for row in self._store.read(query):
            request = _request(row)
            result = Result(row.status, (row.said or "").encode())
            found[request.place] = FoundResult(request, result)
        return found

    def forget_refusals(self, place: Place) -> None:
        """Delete the refusals of an attempt that failed: the next run retries it."""
        named = [requests.c[name] == getattr(place, name) for name in _KEY if name != "ordinal"]
        statement = requests.delete().where(*named, requests.c.status.between(400, 499))
        self._store.change(lambda connection: connection.execute(statement))


def new_batch(endpoint: str, model: str, wave: int, count: int, factor: float) -> StoredBatch:
    return StoredBatch(uuid4().hex[:16], endpoint, model, wave, count, factor, time.time())


_KEY: Final = ("series", "problem", "run", "ordinal")


def _request(row: sa.Row[Any]) -> RequestId:
    place = Place(row.series, row.problem, row.run, row.ordinal)
    return cast("RequestId", parse_request_id(f"{place}-{row.digests}"))


# Where batches go: a provider's batch API, or a folder for vLLM's ``run_batch``.
#
# Each step is committed to the store before the next begins, so that a resumed run can tell which
# step may have happened, and looks for its result first.

_ENDED: Final = "ended"


class LostBatch(EngineError):
    """A batch whose state cannot be determined."""


@dataclass(frozen=True, slots=True)
class Provider:
    client: BatchClient
    log: BatchLog

    async def recover(self, batch: StoredBatch) -> StoredBatch | None:
        """Determine how far an earlier run got.

        An upload whose response was lost costs nothing, so its requests are collected again. A
        batch may exist although the response to its creation was lost, so it is searched for
        before it is created again.
        """
        if batch.state == "collected":
            self.log.drop(batch.tag)
            return None
        return await self._create(batch, made_before=True) if batch.state == "uploaded" else batch

    async def submit(self, batch: StoredBatch, path: Path) -> StoredBatch:
        file = await self.client.upload(path, f"cfr-{batch.tag}.jsonl")
        path.unlink()
        return await self._create(self.log.change(batch, state="uploaded", input_file=file))

    async def _create(self, batch: StoredBatch, *, made_before: bool = False) -> StoredBatch:
        try:
            found = await self.client.create(
                batch.input_file, batch.tag, batch.created_at, made_before=made_before
            )
        except CannotList as error:
            raise LostBatch(
                f"{error}; it does not list its batches, so nobody can say whether one was made "
                f"of file {batch.input_file}; look there, and pass --forget-batches to make it anew"
            ) from None
        return self.log.change(batch, state="created", batch=found.id, status=found.status)

    async def look(self, batch: StoredBatch) -> tuple[StoredBatch, BatchView]:
        if batch.state == _ENDED:
            return batch, BatchView(batch.shown, batch.status, batch.requests, batch.requests)
        try:
            found = await self.client.look(batch.batch)
        except ModelNotFound as error:
            raise LostBatch(
                f"{error}; batch {batch.batch} is not there any more; pass --forget-batches to "
                "make its requests again"
            ) from None
        view = BatchView(batch.shown, found.status, batch.requests, found.done, found.failed)
        if not found.has_ended:
            return batch, view
        names = ("status", "output_file", "error_file", "reason")
        known = {name: getattr(found, name) for name in names}
        return self.log.change(batch, state=_ENDED, **known), view

    async def fetch(self, batch: StoredBatch, folder: Path) -> list[Path]:
        paths: list[Path] = []
        for kind, file in (("output", batch.output_file), ("errors", batch.error_file)):
            if file:
                path = folder / f"{batch.tag}-{kind}.jsonl"
                await self.client.download(file, path)
                paths.append(path)
        return paths


@dataclass(frozen=True, slots=True)
class Folder:
    path: Path
    log: BatchLog
    longest: int
    """The size limit of a line; longer lines are ignored."""

    async def recover(self, batch: StoredBatch) -> StoredBatch | None:
        """Check whether the input file was written; writing it is atomic."""
        if batch.state != "collected":
            return batch
        if self.input_file(batch).exists():
            return self._created(batch)
        self.log.drop(batch.tag)
        return None

    async def submit(self, batch: StoredBatch, path: Path) -> StoredBatch:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            with atomic_file(self.input_file(batch)) as temporary:
                shutil.copyfile(path, temporary)
        except OSError as error:
            raise OutputError(
                f"{self.path}: cannot be written ({error.strerror}); name another --batch-dir"
            ) from None
        path.unlink()
        return self._created(batch)

    def _created(self, batch: StoredBatch) -> StoredBatch:
        return self.log.change(batch, state="created", status="waiting")

    async def look(self, batch: StoredBatch) -> tuple[StoredBatch, BatchView]:
        """Check whether all results are there, or the input file was removed."""
        results = self.result_file(batch)
        paths = [results] if results.exists() else []
        read = ResultIndex(self.longest).read(paths, self.log.wanted(batch.tag))
        there = "waiting" if self.input_file(batch).exists() else "taken away"
        status = there if read.missing else "completed"
        if status != "waiting":
            batch = self.log.change(batch, state=_ENDED, status=status)
        name = self.input_file(batch).name
        return batch, BatchView(name, status, batch.requests, read.answered, len(read.failed))

    async def fetch(self, batch: StoredBatch, folder: Path) -> list[Path]:  # noqa: ARG002
        """Return the result file, which is on the disk already."""
        results = self.result_file(batch)
        return [results] if results.exists() else []

    def input_file(self, batch: StoredBatch) -> Path:
        return self.path / f"wave-{batch.wave}-{batch.tag}.jsonl"

    def result_file(self, batch: StoredBatch) -> Path:
        return self.path / f"wave-{batch.wave}-{batch.tag}.results.jsonl"

    def command(self, batch: StoredBatch) -> list[str]:
        files = ["-i", str(self.input_file(batch)), "-o", str(self.result_file(batch))]
        return ["vllm", "run-batch", *files, "--model", batch.model]


BatchService: TypeAlias = Provider | Folder
"""Accepts batches and returns their results."""
