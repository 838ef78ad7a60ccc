"""The shared state of workers on one PostgreSQL store: budget, settings of series, the work.

``cfr work`` and the actors of a cluster run ``awork``. All settings of a series are in the store;
keys, prices and model files come from the machine that a worker runs on.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Final, NamedTuple, TypeAlias

import orjson
import sqlalchemy as sa

from constraint_first.attempt.solve import synchronous
from constraint_first.error import CfrError, InputError
from constraint_first.file.safe import expand_user, storable_json
from constraint_first.method.method import models_of
from constraint_first.method.policy import runs_programs
from constraint_first.method.registry import Wording, make, plain_name, reword
from constraint_first.model.client import Client, ServedModel
from constraint_first.model.limit import Budget, BudgetSpent, Limiter, is_within, write_dollars
from constraint_first.model.resolve import ModelRef, endpoint_addresses
from constraint_first.model.transport import DecodingRefused, without_secrets
from constraint_first.model.wire import Served
from constraint_first.problem import Json, Prompt
from constraint_first.protocol import Usage
from constraint_first.run.grid import ModelPool, RunOptions, no_price
from constraint_first.run.job import (
    Evaluated,
    EvaluationWatcher,
    Job,
    TellEvaluationProgress,
    adopt,
    measure_progress,
    refuse_in_flight,
    result_of,
    run,
)
from constraint_first.sandbox.interpreter import SandboxMissing
from constraint_first.store import database as schema
from constraint_first.store.database import StoreError, patiently, sqlite_path
from constraint_first.store.query import explain_missing
from constraint_first.store.series import (
    Series,
    explain_interpreter,
    fingerprint,
    read_prompts,
)
from constraint_first.store.store import Store
from constraint_first.store.writer import (
    EVERY_RUN,
    SeriesShare,
    name_owner,
    requeue_failed,
    resolve,
)

# The budget of a grid, shared by all its workers.
#
# Before a call the most that it can use is reserved, in a transaction that sees the reservations
# of every worker; after the call the reservation is settled with the actual usage. A reservation
# of a dead worker counts as spent: its calls were under way, and the provider may have charged for
# all of them.
#
# Changes that arrive during a transaction are combined in the next one, because all workers
# compete for the one row of a budget.

_LOOK_AGAIN: Final = 0.25
"""Seconds after which a call that does not fit into the budget tries again."""


_BUDGETS: Final = schema.budgets
_LIMIT: Final = sa.text(
    "INSERT INTO budgets (id, max_tokens, max_cost, tokens, cost, lost_tokens, lost_cost)"
    " VALUES (:name, :max_tokens, :max_cost, 0, 0, 0, 0) ON CONFLICT (id)"
    " DO UPDATE SET max_tokens = excluded.max_tokens, max_cost = excluded.max_cost"
)
_HOLD: Final = sa.text("SELECT * FROM budgets WHERE id = :name FOR UPDATE")
_BURY: Final = sa.text(
    "DELETE FROM reservations WHERE budget = :name AND owner <> :owner"
    " AND (expires = '-infinity' OR expires < clock_timestamp()"
    " AND pg_postmaster_start_time() < clock_timestamp() - make_interval(secs => :seconds))"
    " RETURNING tokens, cost"
)
_RESERVED: Final = sa.text(
    "SELECT owner, tokens, cost, change FROM reservations WHERE budget = :name"
)
_RESERVE: Final = sa.text(
    "INSERT INTO reservations (budget, owner, tokens, cost, change, expires) VALUES (:name, :owner,"
    " :tokens, :cost, :change, clock_timestamp() + make_interval(secs => :seconds))"
    " ON CONFLICT (budget, owner) DO UPDATE SET tokens = excluded.tokens, cost = excluded.cost,"
    " change = excluded.change, expires = excluded.expires"
)


class Amount(NamedTuple):
    tokens: int = 0
    cost: float = 0.0

    def plus(self, other: Amount) -> Amount:
        return Amount(self.tokens + other.tokens, self.cost + other.cost)

    def less(self, other: Amount) -> Amount:
        """Subtract, but not below zero: sums of floating-point costs are inexact."""
        tokens = max(0, self.tokens - other.tokens)
        return Amount(tokens, max(0.0, self.cost - other.cost) if tokens else 0.0)


NOTHING: Final = Amount()


@dataclass(slots=True)
class Ledger:
    """The state of a budget within a transaction."""

    limits: tuple[int | None, float | None]
    spent: Amount
    lost: Amount
    mine: Amount = NOTHING
    others: Amount = NOTHING
    change: int = 0

    @property
    def reserved(self) -> Amount:
        return self.mine.plus(self.others)

    def settle(self, reserved: Amount, used: Amount) -> None:
        """Release the reservation of a call and add its usage.

        A reservation that expired was counted as spent in full already.
        """
        already = reserved.less(self.mine)
        self.mine = self.mine.less(reserved)
        self.spent = self.spent.plus(used.less(already) if already.tokens else used)

    def reserve(self, wish: Amount) -> bool:
        if fits := self._fits(wish):
            self.mine = self.mine.plus(wish)
        return fits

    def spend(self, amount: Amount) -> bool:
        if fits := self._fits(amount):
            self.spent = self.spent.plus(amount)
        return fits

    def _fits(self, wish: Amount) -> bool:
        return is_within(*self.limits, *self.spent.plus(self.reserved).plus(wish))


def name_budget(series: Iterable[Series]) -> str:
    """Name the budget of a grid; equal grids on any machines share it."""
    named = sorted(storable_json([s.benchmark, s.method, s.model, s.settings]) for s in series)
    return sha256("\n".join(named).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def open_budget(store: Store, name: str, options: RunOptions) -> SharedBudget | None:
    """Open the budget of a grid; None if it has none.

    A limit applies to every worker until another one is given, also to workers that are started
    without a limit.
    """
    if options.is_bounded:
        limits = {"max_tokens": options.max_tokens_total, "max_cost": options.max_cost}
        store.change(lambda connection: connection.execute(_LIMIT, {"name": name} | limits))
    return find_budget(store, name, options.lease)


def find_budget(store: Store, name: str | None, lease: float) -> SharedBudget | None:
    if name is None or not store.read(sa.select(_BUDGETS.c.id).where(_BUDGETS.c.id == name)):
        return None
    return SharedBudget(store, name, lease)


class SharedBudget(Budget):
    """A budget shared by workers; its numbers are those of its last transaction."""

    def __init__(self, store: Store, name: str, lease: float) -> None:
        super().__init__()
        self.name = name
        self._store = store
        self._named = {"name": name, "owner": store.owner, "seconds": lease}
        self._one_by_one = threading.Lock()
        self._changes = secrets.randbelow(2**30)  # differs from that of an earlier object
        self._wishes: list[tuple[Amount, asyncio.Future[None]]] = []
        self._settled: list[tuple[Amount, Amount]] = []
        """Pairs of a call's reservation and its usage."""
        self._task: asyncio.Task[None] | None = None
        self._exchange([], [])

    def require_prices(self, models: Iterable[ServedModel]) -> None:
        """Refuse a model without a price if money is limited."""
        for model in models if self._max_cost else ():
            for one in (model, *model.others.values()):
                if one.price is None:
                    raise no_price(one.served.model)

    async def reserve(self, usage: Usage, cost: float) -> None:
        done = asyncio.get_running_loop().create_future()
        self._wishes.append((Amount(usage.total, cost), done))
        self._begin()
        try:
            await done
        except BudgetSpent:
            raise BudgetSpent(self._refusal(usage, cost), self.name) from None
        except asyncio.CancelledError:
            if done.done() and not done.cancelled() and not done.exception():
                self._settled.append((Amount(usage.total, cost), NOTHING))
            raise

    def spend(self, usage: Usage, cost: float) -> bool:
        # Called between two tries of a call; blocks the event loop for one transaction.
        if not usage.total:
            return True
        (granted,) = self._exchange([], [], [Amount(usage.total, cost)])
        return granted

    def settle(self, reserved: Usage, reserved_cost: float, used: Usage, cost: float) -> None:
        amounts = (Amount(reserved.total, reserved_cost), Amount(used.total, cost))
        self._settled.append(amounts)
        self._begin()

    async def close(self) -> None:
        self._begin()
        while self._task and not self._task.done():
            await self._task

    def _begin(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._work())

    async def _work(self) -> None:
        while self._wishes or self._settled:
            wishes, self._wishes = self._wishes, []
            settled, self._settled = self._settled, []
            wishes = [one for one in wishes if not one[1].done()]
            amounts = [amount for amount, _ in wishes]
            try:
                granted = await asyncio.to_thread(self._exchange, amounts, settled)
            except Exception as error:  # of any kind, else calls would wait forever
                resolve((done for _, done in wishes), error)
                return
            fine = [one for one, fits in zip(wishes, granted, strict=True) if fits]
            waiting = [one for one, fits in zip(wishes, granted, strict=True) if not fits]
            # Release the reservations of calls that were cancelled meanwhile.
            self._settled += [(amount, NOTHING) for amount, done in fine if done.done()]
            resolve((done for _, done in fine), None)
            if waiting and not self._reserved_tokens:
                resolve((done for _, done in waiting), BudgetSpent())
            elif waiting:
                self._wishes = waiting + self._wishes
                await asyncio.sleep(0 if self._settled else _LOOK_AGAIN)

    def _exchange(
        self,
        wishes: Sequence[Amount],
        settled: Sequence[tuple[Amount, Amount]],
        spent: Sequence[Amount] = (),
    ) -> list[bool]:
        """Settle calls, reserve wishes, and return which ones fitted; in one transaction."""
        with self._one_by_one:
            self._changes += 1
            answer: list[bool] = []

            def once() -> Ledger:
                with self._store.database.begin() as connection:
                    state = self._read(connection)
                    if state.change != self._changes:  # else the commit's response was lost
                        for one in settled:
                            state.settle(*one)
                        granted = [state.reserve(wish) for wish in wishes]
                        answer[:] = granted + [state.spend(amount) for amount in spent]
                    self._write(connection, state)
                return state

            self._show(patiently(self._store.url, "written", once))
        return answer

    def _read(self, connection: sa.Connection) -> Ledger:
        row = connection.execute(_HOLD, self._named).one()
        spent, lost = Amount(row.tokens, row.cost), Amount(row.lost_tokens, row.lost_cost)
        state = Ledger((row.max_tokens, row.max_cost), spent, lost)
        for tokens, cost in connection.execute(_BURY, self._named):
            dead = Amount(tokens, cost)
            state.spent, state.lost = state.spent.plus(dead), state.lost.plus(dead)
        for owner, tokens, cost, change in connection.execute(_RESERVED, self._named):
            if owner == self._named["owner"]:
                state.mine, state.change = Amount(tokens, cost), change
            else:
                state.others = state.others.plus(Amount(tokens, cost))
        return state

    def _write(self, connection: sa.Connection, state: Ledger) -> None:
        values = {"tokens": state.spent.tokens, "cost": state.spent.cost}
        lost = {"lost_tokens": state.lost.tokens, "lost_cost": state.lost.cost}
        update = _BUDGETS.update().where(_BUDGETS.c.id == self.name)
        connection.execute(update.values(values | lost))
        mine: dict[str, Any] = {"tokens": state.mine.tokens, "cost": state.mine.cost}
        connection.execute(_RESERVE, self._named | mine | {"change": self._changes})

    def _show(self, state: Ledger) -> None:
        self._max_tokens, self._max_cost = state.limits
        self.tokens, self.cost = state.spent
        self._reserved_tokens, self._reserved_cost = state.reserved
        if state.lost.tokens:
            lost = write_dollars(state.lost.cost) if self._max_cost else f"{state.lost.tokens:,}"
            self._note = f" ({lost} of it set aside by workers that died)"


# How a series is run, stored in a shared store, so that a worker elsewhere can run it too.
#
# The method's name, own prompts, problems, decoding and system prompt are in other tables. Here
# are the names and endpoints of the models. Keys are never stored: they come from the environment
# and the presets of each machine, as prices do.


SeriesModels: TypeAlias = tuple[ModelRef, tuple[tuple[str, ModelRef], ...]]
"""The models of a series: its own, and the others that its method names."""


class Unrunnable(InputError):
    """A series that cannot be run on this machine; the message names what is missing."""


@dataclass(frozen=True, slots=True)
class PendingSeries:
    """A series with missing attempts, as described in the store."""

    series: Series
    prompts: Mapping[str, str]
    models: Mapping[str, Any] | None
    budget: str | None

    def __str__(self) -> str:
        one = self.series
        return f"series {one.number} ({one.method} on {one.benchmark} with {one.model})"

    def build(self) -> Series:
        try:
            method = make(plain_name(self.series.method))
        except CfrError as error:
            raise Unrunnable(
                f"{error}; a method or policy of one's own must be on this machine too, and one "
                "that was given as an object runs only where it was made"
            ) from None
        own = tuple(Prompt(name, text, replaced=True) for name, text in self.prompts.items())
        method = reword(method, Wording("", own)) if own else method
        if fingerprint(method) != self.series.fingerprint:
            raise Unrunnable(
                "its method asks otherwise here than where it was entered; install the same "
                "version of cfr and of what it uses"
            )
        if runs_programs(method):
            try:
                why = explain_interpreter(self.series.interpreter)
            except SandboxMissing as missing:
                why = str(missing)
            if why:
                raise Unrunnable(why)
        return replace(self.series, given=method)

    def find_models(self, instead: ModelRef) -> SeriesModels:
        """Return its models for this machine; an address in ``instead`` replaces theirs."""
        if self.models is None:
            raise Unrunnable("its engine was given as an object; it runs only where it was made")
        main = _read_ref(self.models["main"], instead)
        beside = {name: _read_ref(one, instead) for name, one in self.models["beside"].items()}
        return main, tuple(beside.items())


def write_settings(
    store: Store, series: Sequence[int], model: ServedModel, budget: str | None
) -> None:
    """Store how some series are run, by the last command."""
    if not series:
        return
    beside = {name: _describe_ref(one) for name, one in model.others.items()}
    models = storable_json({"main": _describe_ref(model), "beside": beside})
    described = None if model.ref is None else models
    rows = [{"series": number, "models": described, "budget": budget} for number in series]
    store.change(lambda connection: connection.execute(_PUT, rows))


def pending_series(store: Store) -> list[PendingSeries]:
    def read(connection: sa.Connection) -> list[PendingSeries]:
        return [
            PendingSeries(
                Series.read(row),
                read_prompts(connection, row["id"]),
                row["models"] and orjson.loads(row["models"]),
                row["budget"],
            )
            for row in connection.execute(_PENDING).mappings().all()
        ]

    with store.reading():
        return store.change(read, "read")


def _describe_ref(model: ServedModel) -> dict[str, Json]:
    ref = model.ref or ModelRef(model.served.model)
    name, addresses = ref.model or model.served.model, endpoint_addresses(ref)
    if not addresses and name.lower().endswith(".gguf"):
        name = str(expand_user(name).absolute())
    shown = tuple(map(without_secrets, addresses))
    return {
        "model": name,
        "base_url": list(shown),
        "withheld": shown != addresses,
        "key_name": ref.key_name,
        "context": ref.context,
    }


def _read_ref(described: Mapping[str, Any], instead: ModelRef) -> ModelRef:
    given = dict(described)
    withheld = given.pop("withheld", False)
    if given["base_url"] and instead.base_url:
        given["base_url"] = instead.base_url
    elif withheld:
        raise Unrunnable(
            f"the address of its endpoint ({', '.join(given['base_url'])}) carries a secret, "
            "which is not stored; give the address with --base-url"
        )
    given["key_name"] = instead.key_name or given["key_name"]
    return ModelRef(**given)


_PENDING = sa.text(
    "SELECT series.*, models, budget FROM series LEFT JOIN run_settings"
    " ON run_settings.series = series.id"
    " WHERE EXISTS (SELECT FROM leases WHERE leases.series = series.id) ORDER BY id"
)
_PUT = sa.text(
    "INSERT INTO run_settings (series, models, budget) VALUES (:series, :models, :budget)"
    " ON CONFLICT (series) DO UPDATE SET budget = excluded.budget,"
    " models = coalesce(excluded.models, run_settings.models)"
)


# A worker: makes missing attempts of a shared store, concurrently with other workers.

_SILENT: Final = EvaluationWatcher()
_AS_STORED: Final = ModelRef()


class NothingRunnable(CfrError):
    """Attempts are missing, and none of them can be made on this machine."""

    exit_code = 3


async def awork(
    options: RunOptions,
    *,
    instead: ModelRef = _AS_STORED,
    engine: Served | None = None,
    series: Collection[int] | None = None,
    crew: str = "",
    watcher: EvaluationWatcher = _SILENT,
    progress: TellEvaluationProgress | None = None,
) -> Evaluated:
    """Make missing attempts of a shared store, with other workers, until none is left.

    The names and addresses of models come from the store; an address or the name of a key's
    variable in ``instead`` replaces the stored one. With an ``engine`` only series of its model
    are run. With the numbers of some ``series`` only those are run, and failed attempts are not
    queued again: the run that starts the worker has queued them. Rate limits in ``options`` apply
    to this worker; budgets are those of the store.
    """
    if sqlite_path(options.store):
        raise StoreError(
            f"{options.store}: a file has one run at a time, and 'cfr eval' is that; workers share "
            "a PostgreSQL database (--store postgresql://…)"
        )
    async with AsyncExitStack() as stack:
        store = stack.enter_context(Store(options.store))
        store.owner = name_owner(crew)
        stack.enter_context(store.running())
        pool = ModelPool(options, stack, watcher.fetching, watcher.noted)
        return await _Worker(store, options, pool, instead, engine, watcher, progress).run(series)


work = synchronous(awork)


@dataclass
class _Worker:
    """One worker: the models that it has opened, and the series that it cannot run."""

    store: Store
    options: RunOptions
    pool: ModelPool
    instead: ModelRef
    engine: Served | None
    watcher: EvaluationWatcher
    progress: TellEvaluationProgress | None
    started: float = field(default_factory=time.monotonic)
    models: dict[SeriesModels, ServedModel | CfrError] = field(default_factory=dict)
    given: dict[tuple[str, ...], ServedModel] = field(default_factory=dict)
    budgets: dict[str, SharedBudget | None] = field(default_factory=dict)
    skipped: dict[int, str] = field(default_factory=dict)
    pending: dict[int, PendingSeries] = field(default_factory=dict)
    done: dict[int, Job] = field(default_factory=dict)

    async def run(self, series: Collection[int] | None) -> Evaluated:
        """Run until no attempt is left that can be made on this machine."""
        if series is None:
            self.store.change(requeue_failed)
        while jobs := await self._find_jobs(series):
            self.done |= {job.number: job for job in jobs}
            try:
                await self._make(jobs)
            except BudgetSpent as spent:
                self._leave(jobs, str(spent), budget=spent.budget)
            except DecodingRefused as refused:
                self.watcher.refused(refused)
                self._leave(jobs, str(refused), model=refused.model)
            finally:
                for budget in filter(None, self.budgets.values()):
                    await budget.close()
            for job in jobs:
                if job.tally.left:
                    self.skipped[job.number] = job.tally.left
        if self.skipped and not self.done:
            raise NothingRunnable(f"{self.store.url}: {next(iter(self.skipped.values()))}")
        results = tuple(result_of(self.store, job) for job in self.done.values())
        stopped = next(iter(self.skipped.values()), "") or explain_missing(results)
        seconds = time.monotonic() - self.started
        return Evaluated(self.options.store, results, seconds, stopped)

    async def _find_jobs(self, series: Collection[int] | None) -> list[Job]:
        """Find series with missing attempts; report each that cannot be run here once."""
        jobs: list[Job] = []
        for one in pending_series(self.store):
            number = one.series.number
            if number in self.skipped or (series is not None and number not in series):
                continue
            self.pending[number] = one
            try:
                jobs.append(await self._job(one))
            except InputError as error:
                self._skip(one, str(error))
        return jobs

    async def _job(self, one: PendingSeries) -> Job:
        number = one.series.number
        refuse_in_flight(self.store, [number], forget=False)
        series = one.build()
        model = await self._open(one, models_of(series.given))
        if model.served.model != series.model:
            raise Unrunnable(f"the model is served here as {model.served.model}")
        budget = self._budget(one.budget)
        if budget:
            budget.require_prices([model])
        engine = Client(model, decoding=series.decoding, budget=budget)
        share, limit = SeriesShare(number, EVERY_RUN), self.options.attempt_limit
        return adopt(self.store, series, share, engine, model.prices, limit)

    async def _open(self, one: PendingSeries, others: tuple[str, ...]) -> ServedModel:
        if self.engine is not None:
            if others not in self.given:
                self.given[others] = await self.pool.open_engine(self.engine, others)
            return self.given[others]
        models = one.find_models(self.instead)
        if models not in self.models:
            try:
                self.models[models] = await self.pool.open_one(models[0], dict(models[1]))
            except CfrError as error:  # a key that is not set, a file that is not here
                self.models[models] = error
        found = self.models[models]
        if isinstance(found, CfrError):
            raise Unrunnable(str(found))
        return found

    def _budget(self, name: str | None) -> SharedBudget | None:
        if name is None:
            return None
        if name not in self.budgets:
            self.budgets[name] = find_budget(self.store, name, self.options.lease)
        return self.budgets[name]

    async def _make(self, jobs: list[Job]) -> None:
        def tell() -> None:
            if self.progress:
                seconds = time.monotonic() - self.started
                self.progress(measure_progress(jobs, seconds))

        tell()
        limiters: list[Limiter] = self.pool.limiters
        width = 2 * sum(limiter.most for limiter in limiters)
        async with self.watcher.running(jobs, limiters):
            await run(self.store, jobs, width, tell, self.options.lease)

    def _leave(self, jobs: Sequence[Job], why: str, *, budget: str = "", model: str = "") -> None:
        """Skip series whose budget is spent, or whose model refuses their decoding."""
        for job in jobs:
            one = self.pending[job.number]
            if (budget and one.budget == budget) or (model and one.series.model == model):
                self._skip(one, why)

    def _skip(self, one: PendingSeries, why: str) -> None:
        self.skipped[one.series.number] = f"{one} cannot be run here: {why}"
        self.watcher.skipped(str(one), why)
