"""An evaluation in waves: all calls that are due go into batches, and attempts go on in between.

Nothing of an attempt is kept in memory while a batch takes its day. Between two waves every missing
attempt is replayed from the store: what the last wave brought is stored as its calls, its programs
are run, and whatever it asks next is a request of the next wave. So a run that was killed goes on
as one that was not.
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from constraint_first.engine.batch.line import NOT_PERFORMED, Result
from constraint_first.engine.batch.model import BatchModel
from constraint_first.engine.batch.place import Place, RequestId, parse_request_id
from constraint_first.engine.batch.result_file import FoundResult, ReadBatch, ResultIndex
from constraint_first.engine.collector import collecting_rarely
from constraint_first.engine.error import Transient
from constraint_first.engine.refusal import DecodingRefused
from constraint_first.error import CfrError
from constraint_first.evaluation.batch.log import BatchLog, StoredBatch, new_batch
from constraint_first.evaluation.batch.option import BatchOptions
from constraint_first.evaluation.batch.progress import BatchView, WaveProgress
from constraint_first.evaluation.batch.replay import replay_attempts
from constraint_first.evaluation.batch.service import BatchService, Folder
from constraint_first.evaluation.batch.wave import OpenWave, WaveMemory
from constraint_first.evaluation.budget import Budget
from constraint_first.evaluation.runner import Job
from constraint_first.evaluation.store import Store
from constraint_first.evaluation.watcher import EvaluationWatcher

__all__ = ["Batches", "ResultsAwaited", "run_in_batches"]

_FIRST_LOOK: Final = 5.0
_LONGEST_LOOK: Final = 60.0
_GROWTH: Final = 1.5
_MOST_FAULTS: Final = 60
"""Looks in a row that may fail: an hour, at the longest pause."""


class ResultsAwaited(CfrError):
    """Files of requests whose results are not there yet; somebody has to make them."""

    exit_code = 7


@dataclass(frozen=True, slots=True)
class Batches:
    """What a run in batches needs beside its jobs."""

    options: BatchOptions
    services: Mapping[tuple[str, str], BatchService]
    """By where batches go, and the model."""
    models: Sequence[BatchModel]
    longest: int
    """The size of a line of results beyond which it is not looked at."""
    budget: Budget | None
    watcher: EvaluationWatcher


async def run_in_batches(
    store: Store, jobs: Sequence[Job], batches: Batches, counted: Callable[[], object]
) -> None:
    """Make all missing attempts in waves; what earlier runs sent is collected first."""
    with TemporaryDirectory(prefix="cfr-batch-") as folder, collecting_rarely():
        waves = _Waves(store, jobs, batches, Path(folder), counted)
        either = [asyncio.create_task(waves.run()), asyncio.create_task(store.watch())]
        try:
            done, _ = await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            for ended in done:
                ended.result()
        except asyncio.CancelledError:
            store.hasten()
            raise
        finally:
            for task in either:
                task.cancel()
            await asyncio.gather(*either, return_exceptions=True)
            await asyncio.to_thread(store.flush)


class _Waves:
    """The waves of one run."""

    def __init__(
        self,
        store: Store,
        jobs: Sequence[Job],
        batches: Batches,
        folder: Path,
        counted: Callable[[], object],
    ) -> None:
        factor = batches.options.price_factor
        self._store = store
        self._jobs = [replace(job, prices=job.prices.scaled(factor)) for job in jobs]
        self._batches = batches
        self._folder = folder
        self._counted = counted
        self._log = BatchLog(store)
        self._memory = WaveMemory(batches.budget)
        self._wave = self._log.next_wave()
        self._files: dict[str, Path] = {}
        self._collected: list[StoredBatch] = []

    async def run(self) -> None:
        """Go from wave to wave until nothing is left to ask."""
        sent = [one for batch in self._log.open() if (one := await self._recover(batch))]
        while True:
            sent = await self._wait(sent)
            wave = await self._read(sent)
            refused = await self._replay(wave)
            for batch in sent:
                self._log.close(batch.tag)
            if refused:
                raise refused
            if not wave.requests and await self._is_over(wave):
                return
            sent = [await self._submit(batch) for batch in self._collected]
            self._collected, self._wave = [], self._wave + 1

    async def _is_over(self, wave: OpenWave) -> bool:
        """Say whether all is done; where only the budget stands in the way that is raised."""
        if wave.postponed is None:
            return True
        if not wave.taken and self._memory.budget:
            most = wave.postponed.most
            price = wave.postponed.model.price
            await self._memory.budget.reserve(most, price.cost(most) if price else 0.0)
        return False

    def _service(self, batch: StoredBatch) -> BatchService | None:
        return self._batches.services.get((batch.endpoint, batch.model))

    async def _recover(self, batch: StoredBatch) -> StoredBatch | None:
        """Take up a batch of an earlier run, if it is one of this model."""
        service = self._service(batch)
        return await service.recover(batch) if service else None

    async def _submit(self, batch: StoredBatch) -> StoredBatch:
        service = self._batches.services[batch.endpoint, batch.model]
        submitted = await service.submit(batch, self._files.pop(batch.tag))
        view = BatchView(submitted.shown, submitted.status, submitted.requests)
        self._batches.watcher.batches(WaveProgress(batch.wave, (view,)))
        return submitted

    async def _wait(self, sent: list[StoredBatch]) -> list[StoredBatch]:
        """Look at the batches again and again until all have ended."""
        pause, faults = self._batches.options.batch_poll or _FIRST_LOOK, 0
        views = {one.tag: BatchView(one.shown, one.status, one.requests) for one in sent}
        while True:
            trouble = ""
            try:
                for n, batch in enumerate(sent):
                    service = self._batches.services[batch.endpoint, batch.model]
                    sent[n], views[batch.tag] = await service.look(batch)
                faults = 0
            except Transient as fault:
                faults, trouble = faults + 1, str(fault)
                if faults >= _MOST_FAULTS:
                    raise
            waiting = [one for one in sent if one.state != "ended"]
            shown = tuple(views[one.tag] for one in sent)
            if not waiting:
                if sent:
                    self._batches.watcher.batches(WaveProgress(sent[0].wave, shown))
                return sent
            self._require_waiting(waiting, shown)
            progress = WaveProgress(waiting[0].wave, shown, pause, trouble)
            self._batches.watcher.batches(progress)
            await asyncio.sleep(pause)
            if self._batches.options.batch_poll is None:
                pause = min(_LONGEST_LOOK, _GROWTH * pause)

    def _require_waiting(self, waiting: Sequence[StoredBatch], shown: Sequence[BatchView]) -> None:
        """End the run where results do not come by themselves, and say who makes them."""
        commands: list[str] = []
        for batch in waiting:
            service = self._service(batch)
            if isinstance(service, Folder):
                commands.append(shlex.join(service.command(batch)))
        if not commands:
            return
        self._batches.watcher.batches(WaveProgress(waiting[0].wave, tuple(shown)))
        for command in commands:
            self._batches.watcher.noted(command)
        count = sum(batch.requests for batch in waiting)
        requests = "1 request" if count == 1 else f"{count:,} requests"
        files = "1 file" if len(commands) == 1 else f"{len(commands)} files"
        raise ResultsAwaited(
            f"wave {waiting[0].wave}: {requests} in {files} without results; make them "
            f"({commands[0]}), then run the same command again"
        )

    async def _read(self, sent: Sequence[StoredBatch]) -> OpenWave:
        """Bring all results here and find out what each request came to."""
        results = ResultIndex(self._batches.longest)
        missing: dict[Place, FoundResult] = {}
        for batch in sent:
            service = self._batches.services[batch.endpoint, batch.model]
            paths = await service.fetch(batch, self._folder)
            wanted = await asyncio.to_thread(self._log.wanted, batch.tag)
            read = await asyncio.to_thread(results.read, paths, wanted)
            lost = [_not_performed(batch, name) for name in sorted(read.missing)]
            missing |= {one.request.place: one for one in lost}
            await asyncio.to_thread(self._log.fail, batch.tag, [*read.failed, *lost])
            self._note(batch, read)
        return OpenWave(
            results, self._memory, self._folder, self._batches.options.limits, self._collect,
            missing,
        )  # fmt: skip

    def _note(self, batch: StoredBatch, read: ReadBatch) -> None:
        """Tell what is odd about the results of a batch."""
        said = [f"{batch.reason}"] if batch.reason else []
        said += [str(read)] if read.odd else []
        if read.missing and batch.status == "completed":
            said.append(f"requests without a result, to be made again: {len(read.missing):,}")
        elif batch.status not in ("completed", "taken away"):
            said.append(f"requests without a reply: {len(read.missing) + len(read.failed):,}")
        if said:
            self._batches.watcher.noted(f"{batch.shown} {batch.status}: {'; '.join(said)}")

    async def _replay(self, wave: OpenWave) -> DecodingRefused | None:
        """Let every missing attempt go on as far as it comes, and collect what it asks.

        A setting that a model refuses ends its series, and is returned once all others have what
        the wave brought them.
        """
        refused: DecodingRefused | None = None
        for model in self._batches.models:
            model.wave = wave
        try:
            for job in self._jobs:
                wave.refused = await asyncio.to_thread(self._log.refusals, job.registered.series)
                try:
                    await replay_attempts(self._store, job, self._log, self._counted)
                except DecodingRefused as error:
                    refused = refused or error
        finally:
            for model in self._batches.models:
                model.wave = None
        wave.finish()
        return refused

    def _collect(self, model: BatchModel, path: Path, names: Sequence[RequestId]) -> None:
        """Enter a file of requests into the store."""
        factor = self._batches.options.price_factor
        batch = new_batch(model.where, model.model, self._wave, len(names), factor)
        self._files[batch.tag] = path.rename(path.with_name(f"{batch.tag}.jsonl"))
        self._log.collect(batch, names)
        self._collected.append(batch)


def _not_performed(batch: StoredBatch, name: str) -> FoundResult:
    """Say of a request without a line why there is none."""
    request = parse_request_id(name)
    assert request is not None  # noqa: S101
    reason = f"the batch was {batch.status}: {batch.reason}" if batch.reason else batch.status
    said = f"no result; batch {batch.shown} is {reason}"
    return FoundResult(
        request, Result(NOT_PERFORMED, said.encode(), cancelled=batch.status == "cancelled")
    )
