"""Where batches go: a provider's batch API, or a folder for vLLM's ``run_batch``.

Each step is in the store before the next is taken, so that whoever starts again knows what may have
been done and looks for it first.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Protocol

from constraint_first.engine.batch.client import BatchClient, CannotList
from constraint_first.engine.batch.result_file import ResultIndex
from constraint_first.engine.batch.status import BatchStatus
from constraint_first.engine.error import EngineError, ModelNotFound
from constraint_first.error import OutputError
from constraint_first.evaluation.batch.log import BatchLog, StoredBatch
from constraint_first.evaluation.batch.progress import BatchView
from constraint_first.file.atomic import atomic_file

__all__ = ["BatchService", "Folder", "LostBatch", "Provider"]

_ENDED: Final = "ended"


class LostBatch(EngineError):
    """A batch of which nobody can say what became of it."""


class BatchService(Protocol):
    """A place that takes batches and gives their results."""

    async def recover(self, batch: StoredBatch) -> StoredBatch | None:
        """Find out how far an earlier run came; None where nothing was paid for."""
        ...

    async def submit(self, batch: StoredBatch, path: Path) -> StoredBatch:
        """Hand a batch over."""
        ...

    async def look(self, batch: StoredBatch) -> tuple[StoredBatch, BatchView]:
        """See how a batch gets on."""
        ...

    async def fetch(self, batch: StoredBatch, folder: Path) -> list[Path]:
        """Bring the results of a batch that has ended onto the disk."""
        ...


@dataclass(frozen=True, slots=True)
class Provider:
    """The batch API of an endpoint."""

    client: BatchClient
    log: BatchLog

    async def recover(self, batch: StoredBatch) -> StoredBatch | None:
        """Find out how far an earlier run came.

        A file that was uploaded and not heard of costs nothing, so the requests are collected anew.
        A batch that was asked for and not heard of is looked for before it is made.
        """
        if batch.state == "collected":
            self.log.drop(batch.tag)
            return None
        return await self._create(batch, made_before=True) if batch.state == "uploaded" else batch

    async def submit(self, batch: StoredBatch, path: Path) -> StoredBatch:
        """Upload the input file and make the batch."""
        file = await self.client.upload(path, f"cfr-{batch.tag}.jsonl")
        path.unlink()
        self.log.change(batch.tag, state="uploaded", input_file=file)
        return await self._create(replace(batch, state="uploaded", input_file=file))

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
        known = {"state": "created", "batch": found.id, "status": found.status}
        self.log.change(batch.tag, **known)
        return replace(batch, **known)

    async def look(self, batch: StoredBatch) -> tuple[StoredBatch, BatchView]:
        """Ask how a batch gets on, and note when it has ended."""
        if batch.state == _ENDED:
            return batch, BatchView(batch.shown, batch.status, batch.requests, batch.requests)
        try:
            found = await self.client.look(batch.batch)
        except ModelNotFound as error:
            raise LostBatch(
                f"{error}; batch {batch.batch} is not there any more; pass --forget-batches to "
                "make its requests again"
            ) from None
        return self._noted(batch, found), BatchView(
            batch.shown, found.status, batch.requests, found.done, found.failed
        )

    def _noted(self, batch: StoredBatch, found: BatchStatus) -> StoredBatch:
        if not found.has_ended:
            return batch
        known = {
            "state": _ENDED,
            "status": found.status,
            "output_file": found.output_file,
            "error_file": found.error_file,
            "reason": found.reason,
        }
        self.log.change(batch.tag, **known)
        return replace(batch, **known)

    async def fetch(self, batch: StoredBatch, folder: Path) -> list[Path]:
        """Download the output and the error file, as far as there are any."""
        paths: list[Path] = []
        for kind, file in (("output", batch.output_file), ("errors", batch.error_file)):
            if file:
                path = folder / f"{batch.tag}-{kind}.jsonl"
                await self.client.download(file, path)
                paths.append(path)
        return paths


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that input files are written to and result files are read from."""

    path: Path
    log: BatchLog
    longest: int
    """The size of a line beyond which it is not looked at."""

    async def recover(self, batch: StoredBatch) -> StoredBatch | None:
        """See whether the input file was written; it is there whole or not at all."""
        if batch.state != "collected":
            return batch
        if self.input_file(batch).exists():
            return self._created(batch)
        self.log.drop(batch.tag)
        return None

    async def submit(self, batch: StoredBatch, path: Path) -> StoredBatch:
        """Write the input file."""
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
        self.log.change(batch.tag, state="created", status="waiting")
        return replace(batch, state="created", status="waiting")

    async def look(self, batch: StoredBatch) -> tuple[StoredBatch, BatchView]:
        """See whether all results are there, or whether somebody took the input file away."""
        results = self.result_file(batch)
        paths = [results] if results.exists() else []
        read = ResultIndex(self.longest).read(paths, self.log.wanted(batch.tag))
        failed = len(read.failed)
        status = "waiting"
        if not read.missing:
            status = "completed"
        elif not self.input_file(batch).exists():
            status = "taken away"
        if status != "waiting":
            self.log.change(batch.tag, state=_ENDED, status=status)
            batch = replace(batch, state=_ENDED, status=status)
        return batch, BatchView(
            self.input_file(batch).name, status, batch.requests, read.answered, failed
        )

    async def fetch(self, batch: StoredBatch, folder: Path) -> list[Path]:  # noqa: ARG002
        """Name the result file; it is on the disk already."""
        results = self.result_file(batch)
        return [results] if results.exists() else []

    def input_file(self, batch: StoredBatch) -> Path:
        """The file of requests."""
        return self.path / f"wave-{batch.wave}-{batch.tag}.jsonl"

    def result_file(self, batch: StoredBatch) -> Path:
        """The file that results are expected in."""
        return self.path / f"wave-{batch.wave}-{batch.tag}.results.jsonl"

    def command(self, batch: StoredBatch) -> list[str]:
        """The command that makes the result file of an input file."""
        files = ["-i", str(self.input_file(batch)), "-o", str(self.result_file(batch))]
        return ["vllm", "run-batch", *files, "--model", batch.model]
