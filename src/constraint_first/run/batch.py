"""An evaluation in waves: all pending calls go into batches, and attempts advance in between.

A batch may take a day, so attempts are not kept in memory meanwhile. Between two waves every
missing attempt is replayed from the store: the results of the last wave are stored as its calls,
its programs are run, and its next call becomes a request of the next wave. A killed run is resumed
by the same replay.
"""

from __future__ import annotations

import asyncio
import shlex
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, TypeAlias

from constraint_first.attempt.attempt import Attempt, failed, judged_attempt
from constraint_first.attempt.drive import AsSent, collecting_rarely, digest
from constraint_first.error import CfrError, InputError
from constraint_first.model.batch import (
    NOT_PERFORMED,
    BatchClient,
    BatchModel,
    Deferred,
    FileLimits,
    FoundResult,
    Place,
    PlacedCall,
    ReadBatch,
    Request,
    RequestFile,
    RequestId,
    Result,
    ResultIndex,
    parse_request_id,
    request_line,
)
from constraint_first.model.client import Client, OpenAI, ServedModel
from constraint_first.model.error import JournalMismatch, Transient
from constraint_first.model.limit import Budget, Limiter, Price, Retry
from constraint_first.model.local import Local
from constraint_first.model.replicas import Balanced
from constraint_first.model.resolve import ModelRef, find_preset, find_price, runs_here
from constraint_first.model.transport import DecodingRefused, Endpoint
from constraint_first.model.wire import Served
from constraint_first.problem import Problem
from constraint_first.protocol import Call, Usage
from constraint_first.run.batch_service import (
    BatchLog,
    BatchService,
    Folder,
    Provider,
    StoredBatch,
    new_batch,
)
from constraint_first.run.grid import (
    Experiment,
    ModelPool,
    RunOptions,
    name_in_folder,
    no_price,
)
from constraint_first.run.job import (
    BatchView,
    EvaluationWatcher,
    Job,
    WaveProgress,
    until_first,
)
from constraint_first.store.database import Unstorable
from constraint_first.store.query import begun_calls
from constraint_first.store.store import Store, StoredJournal, attempt_columns
from constraint_first.store.writer import KnownCalls, RowValues

_TRIES: Final = 3
"""How often a request without a reply is made in one run of the command."""
_FREE: Final = Price(0.0, 0.0)

CollectRequests: TypeAlias = Callable[[BatchModel, Path, Sequence[RequestId]], None]
"""A function that is called with each complete input file, before it is sent."""


@dataclass(slots=True)
class WaveMemory:
    budget: Budget | None = None
    tries: Counter[Place] = field(default_factory=Counter[Place])
    prepaid: dict[Place, tuple[Usage, float]] = field(
        default_factory=dict[Place, "tuple[Usage, float]"]
    )
    """Reserved in the budget for requests under way: the most that each can use."""


@dataclass(slots=True)
class OpenWave:
    results: ResultIndex
    memory: WaveMemory
    folder: Path
    limits: FileLimits
    collect: CollectRequests
    missing: Mapping[Place, FoundResult] = field(default_factory=dict[Place, FoundResult])
    """Requests of the last wave that have no line in the results, and why."""
    refused: Mapping[Place, FoundResult] = field(default_factory=dict[Place, FoundResult])
    """Refusals of an earlier run, for the current series."""
    postponed: Request | None = None
    """A request that did not fit into the budget."""
    requests: int = 0
    taken: int = 0
    """The number of results that attempts have used."""
    _parts: dict[BatchModel, tuple[RequestFile, list[RequestId]]] = field(
        default_factory=dict[BatchModel, "tuple[RequestFile, list[RequestId]]"]
    )
    """The input files that are being written, and their requests."""
    _files: int = 0

    def find(self, name: RequestId) -> Result | None:
        """Return the result of a request; None if it was not made yet.

        A reply belongs to a call's place in its attempt, whatever the request body. A refusal
        belongs to a body: the same call without the refused setting is another request.
        """
        place = name.place
        found = self.results.find(place) or self.missing.get(place) or self.refused.get(place)
        if found is None:
            return None
        if found.request.asked != name.asked:
            raise JournalMismatch(
                f"call {place.ordinal} differs from the one in the batch: a prompt, budget, model "
                "or method has changed since; start a new run for the changed method"
            )
        if not found.result.succeeded and found.request.body != name.body:
            return None
        self.taken += 1
        return found.result

    def failed(self, name: RequestId) -> bool:
        """Count a request that got no reply; return whether it may be retried."""
        self.memory.tries[name.place] += 1
        return self.memory.tries[name.place] < _TRIES

    def spent(self, name: RequestId, used: Usage | None, price: Price | None) -> None:
        """Release the amount reserved in the budget, and spend the used one."""
        if (budget := self.memory.budget) is None:
            return
        most, reserved = self.memory.prepaid.pop(name.place, (Usage(), 0.0))
        taken = most if used is None else used
        budget.tokens += taken.total - most.total
        budget.cost += (price or _FREE).cost(taken) - reserved

    def ask(self, request: Request) -> None:
        """Put a request into an input file, if the budget allows even its longest reply."""
        model, place = request.model, request.name.place
        if (budget := self.memory.budget) is not None:
            cost = (model.price or _FREE).cost(request.most)
            if not budget.spend(request.most, cost):
                self.postponed = request
                return
            self.memory.prepaid[place] = (request.most, cost)
        line = request_line(str(request.name), request.body)
        if model in self._parts and not self._parts[model][0].has_room(line):
            self._finish(model)
        if model not in self._parts:
            self._files += 1
            path = self.folder / f"requests-{self._files}.jsonl"
            self._parts[model] = RequestFile(path, self.limits), []
        file, names = self._parts[model]
        file.add(line)
        names.append(request.name)
        self.requests += 1

    def finish(self) -> None:
        for model in list(self._parts):
            self._finish(model)

    def _finish(self, model: BatchModel) -> None:
        file, names = self._parts.pop(model)
        self.collect(model, file.path, names)


def placed(attempt: tuple[int, int, int], as_sent: AsSent | None) -> AsSent:
    """Give each call of an attempt its place, which identifies its result in a batch."""

    def place(ordinal: int, call: Call) -> PlacedCall:
        sent = as_sent(ordinal, call) if as_sent else call
        values = {one.name: getattr(sent, one.name) for one in fields(Call)}
        return PlacedCall(**values, place=Place(*attempt, ordinal), asked=digest(call))

    return place


# A pass over the missing attempts of a series between two waves.

_WIDTH: Final = 64
"""Attempts at a time: while one waits for the disk, the sandbox or the grader, others advance."""


async def replay_attempts(
    store: Store, job: Job, log: BatchLog, counted: Callable[[], object]
) -> None:
    """Replay every missing attempt of a series until it ends or needs the next wave."""
    known = await asyncio.to_thread(begun_calls, store, job.number)
    job.begun.clear()
    missing = job.missing()

    async def work() -> None:
        for number, problem, run_index in missing:
            key: RowValues = {"series": job.number, "problem": number, "run": run_index}
            calls = known.pop((number, run_index), {})
            if await _replay(store, job, log, key, problem, calls):
                counted()

    workers = [asyncio.create_task(work()) for _ in range(_WIDTH)]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)


async def _replay(
    store: Store, job: Job, log: BatchLog, key: RowValues, problem: Problem, known: KnownCalls
) -> bool:
    """Replay one attempt; return whether it has ended."""
    started, tally = time.monotonic(), job.tally
    if tally.refused:
        made = failed(Attempt(problem, job.method), tally.refused, Usage())
    else:
        journal = StoredJournal(store, key, known, job.prices)
        place = placed((job.number, key["problem"], key["run"]), job.as_sent(key["run"]))
        try:
            made = await judged_attempt(job.method, problem, job.engine, journal, job.limit, place)
        except Deferred:
            return False
        if tally.cost is not None:
            tally.cost += journal.cost
    if made.ends == "series" and tally.scored == tally.resumed:
        tally.refused = made.error or ""
    row = key | {"seconds": time.monotonic() - started, "finished_at": time.time()}
    try:
        await store.write_attempt(row | attempt_columns(made, made.usage))
    except Unstorable as error:
        made = failed(made, str(error), made.usage)
        await store.write_attempt(row | attempt_columns(made, made.usage))
    tally.count(made, made.usage)
    job.finished.add((key["problem"], key["run"]))  # a failed one too: the next command retries it
    if made.status == "failed":
        log.forget_refusals(Place(**key, ordinal=0))
    return True


# The waves of a run.

_FIRST_LOOK: Final = 5.0
_LONGEST_LOOK: Final = 60.0
_GROWTH: Final = 1.5
_MOST_FAULTS: Final = 60
"""Consecutive polls that may fail: an hour, at the longest pause."""


class ResultsAwaited(CfrError):
    """Request files are written, and the user has to run them and return the results."""

    exit_code = 7


class _Waves:
    def __init__(
        self,
        store: Store,
        jobs: Sequence[Job],
        batches: Batches,
        budget: Budget | None,
        folder: Path,
        counted: Callable[[], object],
    ) -> None:
        self._batches = batches
        self._options = batches.options.batch
        self._watcher = batches.watcher
        self._store = store
        factor = self._options.price_factor
        self._jobs = [replace(job, prices=job.prices.scaled(factor)) for job in jobs]
        self._folder = folder
        self._counted = counted
        self._log = BatchLog(store)
        self._services = batches.services(self._log)
        self._memory = WaveMemory(budget)
        self._wave = self._log.next_wave()
        self._files: dict[str, Path] = {}
        self._collected: list[StoredBatch] = []

    async def run(self) -> None:
        sent: list[StoredBatch] = []
        for batch in self._log.open():
            service = self._services.get(batch.place)
            if service and (found := await service.recover(batch)):
                sent.append(found)
        while True:
            await self._wait(sent)
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
        """Return whether all is done; raise ``BudgetSpent`` if only the budget prevents it."""
        if wave.postponed is None:
            return True
        if not wave.taken and self._memory.budget:
            most = wave.postponed.most
            price = wave.postponed.model.price
            await self._memory.budget.reserve(most, price.cost(most) if price else 0.0)
        return False

    async def _submit(self, batch: StoredBatch) -> StoredBatch:
        service = self._services[batch.place]
        submitted = await service.submit(batch, self._files.pop(batch.tag))
        view = BatchView(submitted.shown, submitted.status, submitted.requests)
        self._watcher.batches(WaveProgress(batch.wave, (view,)))
        return submitted

    async def _wait(self, sent: list[StoredBatch]) -> None:
        pause, faults = self._options.batch_poll or _FIRST_LOOK, 0
        views = {one.tag: BatchView(one.shown, one.status, one.requests) for one in sent}
        while True:
            trouble = ""
            try:
                for n, batch in enumerate(sent):
                    sent[n], views[batch.tag] = await self._services[batch.place].look(batch)
                faults = 0
            except Transient as fault:
                faults, trouble = faults + 1, str(fault)
                if faults >= _MOST_FAULTS:
                    raise
            waiting = [one for one in sent if one.state != "ended"]
            shown = tuple(views[one.tag] for one in sent)
            if not waiting:
                if sent:
                    self._watcher.batches(WaveProgress(sent[0].wave, shown))
                return
            self._require_waiting(waiting, shown)
            self._watcher.batches(WaveProgress(waiting[0].wave, shown, pause, trouble))
            await asyncio.sleep(pause)
            if self._options.batch_poll is None:
                pause = min(_LONGEST_LOOK, _GROWTH * pause)

    def _require_waiting(
        self, waiting: Sequence[StoredBatch], shown: tuple[BatchView, ...]
    ) -> None:
        """End the run if no service makes the results, and name the command that does."""
        commands = [
            shlex.join(service.command(batch))
            for batch in waiting
            if isinstance(service := self._services[batch.place], Folder)
        ]
        if not commands:
            return
        self._watcher.batches(WaveProgress(waiting[0].wave, shown))
        for command in commands:
            self._watcher.noted(command)
        count = sum(batch.requests for batch in waiting)
        requests = "1 request" if count == 1 else f"{count:,} requests"
        files = "1 file" if len(commands) == 1 else f"{len(commands)} files"
        raise ResultsAwaited(
            f"wave {waiting[0].wave}: {requests} in {files} without results; make them "
            f"({commands[0]}), then run the same command again"
        )

    async def _read(self, sent: Sequence[StoredBatch]) -> OpenWave:
        results = ResultIndex(self._batches.longest)
        missing: dict[Place, FoundResult] = {}
        for batch in sent:
            paths = await self._services[batch.place].fetch(batch, self._folder)
            wanted = await asyncio.to_thread(self._log.wanted, batch.tag)
            read = await asyncio.to_thread(results.read, paths, wanted)
            lost = [_not_performed(batch, name) for name in sorted(read.missing)]
            missing |= {one.request.place: one for one in lost}
            await asyncio.to_thread(self._log.fail, batch.tag, [*read.failed, *lost])
            if said := "; ".join(_oddities(batch, read)):
                self._watcher.noted(f"{batch.shown} {batch.status}: {said}")
        limits = self._options.limits
        return OpenWave(results, self._memory, self._folder, limits, self._collect, missing)

    async def _replay(self, wave: OpenWave) -> DecodingRefused | None:
        """Replay every missing attempt as far as possible, and collect its requests.

        A setting that a model refuses ends its series; it is returned after all other series have
        received the results of the wave.
        """
        refused: DecodingRefused | None = None
        for model in self._batches.models:
            model.wave = wave
        try:
            for job in self._jobs:
                wave.refused = await asyncio.to_thread(self._log.refusals, job.number)
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
        factor = self._options.price_factor
        batch = new_batch(model.where, model.model, self._wave, len(names), factor)
        self._files[batch.tag] = path.rename(path.with_name(f"{batch.tag}.jsonl"))
        self._log.collect(batch, names)
        self._collected.append(batch)


def _oddities(batch: StoredBatch, read: ReadBatch) -> Iterator[str]:
    if batch.reason:
        yield batch.reason
    if read.odd:
        yield str(read)
    if read.missing and batch.status == "completed":
        yield f"requests without a result, to be made again: {len(read.missing):,}"
    elif batch.status not in ("completed", "taken away"):
        yield f"requests without a reply: {len(read.missing) + len(read.failed):,}"


def _not_performed(batch: StoredBatch, name: str) -> FoundResult:
    """Make the result of a request that has no line in the results."""
    request = parse_request_id(name)
    assert request is not None  # noqa: S101
    reason = f"the batch was {batch.status}: {batch.reason}" if batch.reason else batch.status
    said = f"no result; batch {batch.shown} is {reason}"
    return FoundResult(
        request, Result(NOT_PERFORMED, said.encode(), cancelled=batch.status == "cancelled")
    )


# The executor for batches: the models of a grid, and the service for each.

_NO_LIMIT: Final = 2**31
_LINE_ROOM: Final = 2**20
"""Bytes that a line of results may have in addition to its reply."""


class Batches:
    """Makes attempts in waves of batches; clients of a provider are closed by ``stack``."""

    def __init__(
        self,
        options: RunOptions,
        stack: AsyncExitStack,
        pool: ModelPool,
        watcher: EvaluationWatcher,
    ) -> None:
        check_options(options)
        self.options = options
        self.watcher = watcher
        self.models: list[BatchModel] = []
        self.limiters: Sequence[Limiter] = pool.limiters
        self.longest = options.max_reply_bytes + _LINE_ROOM
        """The size limit of a line of results; longer lines are not read."""
        self._stack = stack
        self._pool = pool
        self._clients: dict[tuple[str, str], BatchClient] = {}

    @property
    def places(self) -> Sequence[tuple[str, str]]:
        return [(model.where, model.model) for model in self.models]

    def hold(self, store: Store) -> AbstractContextManager[None]:
        """Lock the store exclusively: one run sends and collects its batches."""
        return store.exclusively()

    async def open(
        self, experiment: Experiment, ref: ModelRef, engine: Served | Client | None
    ) -> list[ServedModel]:
        if folder := self.options.batch.folder:
            return self._open_for_folder(experiment, ref, folder)
        if engine is not None:
            return await self._take(
                [await self._pool.open_engine(engine, experiment.other_models())]
            )
        for name in experiment.models:  # before any download
            if runs_here(replace(ref, model=name or ref.model)):
                raise _not_an_endpoint(name or ref.model or "the embedded one")
        return await self._take(await self._pool.open(experiment, ref))

    async def make(
        self,
        store: Store,
        jobs: Sequence[Job],
        budget: Budget | None,
        counted: Callable[[], object],
    ) -> str:
        with TemporaryDirectory(prefix="cfr-batch-") as folder, collecting_rarely():
            waves = _Waves(store, jobs, self, budget, Path(folder), counted)
            tasks = (asyncio.create_task(waves.run()), asyncio.create_task(store.watch()))
            await until_first(store, tasks)
        return ""

    def services(self, log: BatchLog) -> dict[tuple[str, str], BatchService]:
        if folder := self.options.batch.folder:
            return {place: Folder(folder, log, self.longest) for place in self.places}
        return {place: Provider(client, log) for place, client in self._clients.items()}

    async def _take(self, models: Iterable[ServedModel]) -> list[ServedModel]:
        """Replace endpoint models by models that use the endpoint's batch API."""
        made: dict[int, ServedModel] = {}

        async def convert(one: ServedModel) -> ServedModel:
            if id(one.served) not in made:
                made[id(one.served)] = await self._of_endpoint(one)
            return made[id(one.served)]

        return [
            replace(
                await convert(one),
                others={name: await convert(other) for name, other in one.others.items()},
            )
            for one in models
        ]

    async def _of_endpoint(self, model: ServedModel) -> ServedModel:
        if isinstance(model.served, Balanced):
            raise InputError(
                f"model {model.served.model}: --batch goes to one endpoint, and several are named; "
                "leave one --base-url"
            )
        if isinstance(model.served, Local) or not isinstance(model.served, OpenAI):
            raise _not_an_endpoint(model.served.model)
        endpoint = model.served.endpoint
        client = BatchClient(endpoint, self.options.bounds, Retry())
        self._clients[endpoint.shown, endpoint.model] = client
        await self._stack.enter_async_context(client)
        served = self._model(endpoint, endpoint.shown, model.price)
        return ServedModel(served, Limiter(_NO_LIMIT), model.price, model.refused)

    def _model(self, endpoint: Endpoint, where: str, price: Price | None) -> BatchModel:
        factor = self.options.batch.price_factor
        made = BatchModel(endpoint, where, self.options.bounds, price and price.scaled(factor))
        self.models.append(made)
        return made

    def _open_for_folder(
        self, experiment: Experiment, ref: ModelRef, folder: Path
    ) -> list[ServedModel]:
        """Make models without an endpoint: their requests are files in a folder."""
        names = [name or ref.model or "" for name in experiment.models]
        served = {
            name: self._of_folder(name, ref, folder)
            for name in dict.fromkeys((*names, *experiment.other_models()))
        }
        others = {name: served[name] for name in experiment.other_models()}
        return [replace(served[name], others=others) for name in names]

    def _of_folder(self, name: str, ref: ModelRef, folder: Path) -> ServedModel:
        preset, model = find_preset(name), name_in_folder(name)
        context = ref.context or (preset.context if preset else None)
        price = find_price(name)
        if price is None and self.options.max_cost is not None:
            raise no_price(name)
        endpoint = Endpoint(str(folder), model, context=context)
        made = self._model(endpoint, str(folder), find_price(model))
        return ServedModel(made, Limiter(_NO_LIMIT), price)


def check_options(options: RunOptions) -> None:
    batch = options.batch
    if batch.batch and batch.batch_dir is not None:
        raise InputError("--batch and --batch-dir: one or the other; leave one out")
    given = {
        "--concurrency": options.concurrency,
        "--requests-per-minute": options.requests_per_minute,
        "--tokens-per-minute": options.tokens_per_minute,
    }
    for name, value in given.items():
        if value is not None:
            raise InputError(f"{name}: goes with single calls; leave it out with a batch")
    if (folder := batch.folder) and folder.exists() and not folder.is_dir():
        raise InputError(f"--batch-dir: {folder} is not a folder; name another")


def _not_an_endpoint(name: str) -> InputError:
    return InputError(
        f"model {name}: --batch needs an endpoint with a batch API; name it with --base-url, or "
        "write files for vLLM with --batch-dir"
    )
