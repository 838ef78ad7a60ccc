"""A model as an evaluation asks it: how fast, at which price, decoded as far as it lets itself."""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Final

import orjson
import sqlalchemy as sa

from constraint_first.benchmark.registry import Benchmark
from constraint_first.error import CfrError, InputError
from constraint_first.file.safe import expand_user, storable_json
from constraint_first.method.registry import make
from constraint_first.method.rewording import Wording, plain_name, reword
from constraint_first.model.client import OpenAI
from constraint_first.model.connection import Tell
from constraint_first.model.limit import Limited, Limiter, Once, Retried, Retrying
from constraint_first.model.pull import Progress
from constraint_first.model.replicas import Balanced
from constraint_first.model.resolve import (
    Dispatch,
    ModelRef,
    Price,
    PriceList,
    accompanied,
    endpoint_addresses,
    find_price,
    opened_all,
    require_known,
    resolve,
    runs_here,
    served_name,
    write_dollars,
)
from constraint_first.model.transport import DecodingRefused, Setting, without_secrets
from constraint_first.model.wire import SILENT, Decoded, Decoding, Engine, Served, Watcher
from constraint_first.problem import Json, Prompt
from constraint_first.protocol import Call, Completion, Usage
from constraint_first.run.budget import (
    NOTHING,
    Amount,
    Budget,
    Budgeted,
    BudgetSpent,
    Ledger,
    Settlement,
)
from constraint_first.run.grid import Experiment, RunOptions
from constraint_first.store import schema
from constraint_first.store.database import patiently
from constraint_first.store.store import Series, Store, fingerprint, read_prompts, read_row


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model that is being served, how fast it may be asked, and what it costs.

    A method may name others to be asked beside it, each of which has limits and a price of its own.
    """

    served: Served
    limiter: Limiter | None
    """None where it keeps to limits by itself, as several endpoints do."""
    price: Price | None
    refused: dict[Setting, DecodingRefused] = field(
        default_factory=dict["Setting", DecodingRefused]
    )
    """Settings that it will not be decoded with."""
    others: Mapping[str, ServedModel] = field(default_factory=dict[str, "ServedModel"])
    """Models that are asked beside it, by the names that methods have for them."""

    ref: ModelRef | None = None
    """How it was named; None for an engine that somebody made."""

    @property
    def prices(self) -> PriceList:
        """What it costs, and what those beside it do."""
        return PriceList(self.price, {name: one.price for name, one in self.others.items()})

    def adapt(self, refused: DecodingRefused) -> bool:
        """Do without a setting from now on; whether this is news and about a model of these."""
        for one in (self, *self.others.values()):
            if refused.model == one.served.model and refused.setting not in one.refused:
                one.refused[refused.setting] = refused
                return True
        return False

    def series(self, experiment: Experiment, benchmark: Benchmark) -> list[Series]:
        """List the series of a benchmark, all decoded alike and in a way that the model takes.

        A series is named after the decoding that it really has. Where a whole sweep comes down to
        the same one it is run once.
        """
        named = experiment.series(benchmark, self.served.model)
        return list(
            dict.fromkeys(replace(one, decoding=self._adapted(one.decoding)) for one in named)
        )

    def engine(self, decoding: Decoding, budget: Budget | None) -> Dispatch[Engine]:
        """Build the engine of one series, which pays out of a budget where there is one.

        Models beside this one are decoded as it is, as far as they let themselves.
        """
        others = {name: one._paying(decoding, budget) for name, one in self.others.items()}
        return Dispatch(self._paying(decoding, budget), others)

    def _paying(self, decoding: Decoding, budget: Budget | None) -> Engine:
        taken = self._adapted(decoding)
        engine = self._limited(taken)
        if budget is None:
            return engine
        known = (taken.max_tokens, getattr(self.served, "context", None))
        longest = min((limit for limit in known if limit), default=None)
        return Budgeted(engine, budget, self.price, longest)

    def _limited(self, decoding: Decoding) -> Engine:
        """Keep to the limits; a call that pauses before it is asked again lets others go first."""
        if not isinstance(self.served, Retried):
            return self._in_turn(Decoded(self.served, decoding))
        once = self._in_turn(Decoded(Once(self.served), decoding))
        return Retrying(once, self.served.retry)

    def _in_turn(self, engine: Engine) -> Engine:
        return Limited(engine, self.limiter) if self.limiter else engine

    def _adapted(self, decoding: Decoding) -> Decoding:
        for refused in self.refused.values():
            decoding = refused.adapt(decoding)
        return decoding


def no_price(model: str) -> InputError:
    """Say that money is limited and a model has no price."""
    return InputError(
        f"model {model or 'without a name'}: --max-cost needs its price; write it into a "
        "models.toml of your own and name that in CFR_MODELS"
    )


# The models of an evaluation: each opened once, with limits and a price of its own.

_LOCAL_CONCURRENCY: Final = 4
_MOST_CONCURRENCY: Final = 256
_FIRST_CONCURRENCY: Final = 16


class ModelPool:
    """Opens the models of a grid, and those that its methods name beside them.

    ``stack`` closes them; ``fetching`` surrounds the fetching of a model file; ``tell`` is told
    what a person should know of an endpoint.
    """

    def __init__(
        self,
        options: RunOptions,
        stack: AsyncExitStack,
        fetching: Callable[[str], AbstractContextManager[Progress]],
        tell: Tell = lambda _line: None,
    ) -> None:
        self._options = options
        self._stack = stack
        self._fetching = fetching
        self._tell = tell
        self.limiters: list[Limiter] = []

    async def open(self, experiment: Experiment, ref: ModelRef) -> list[ServedModel]:
        """Open the models of a grid, which are served as ``ref`` says."""
        grid = _Grid(experiment, ref)
        for one in grid.refs:  # before any is fetched
            require_known(one)
        return grid.join({one: await self._open(one) for one in grid.refs})

    def name(self, experiment: Experiment, ref: ModelRef) -> list[ServedModel]:
        """Name the models of a grid and open none: workers elsewhere do."""
        grid = _Grid(experiment, ref)
        return grid.join({one: self._named(one) for one in grid.refs})

    async def open_given(
        self, experiment: Experiment, engine: Served | Dispatch[Served]
    ) -> list[ServedModel]:
        """Open an engine that somebody made, and what methods name beside it."""
        return [await self.open_engine(engine, experiment.other_models())]

    async def open_engine(
        self, engine: Served | Dispatch[Served], names: Sequence[str]
    ) -> ServedModel:
        """Open an engine that somebody made, and those of some names beside it."""
        given: Dispatch[Served] = accompanied(engine, names)
        await self._stack.enter_async_context(opened_all(given))
        main = self._given(given.main, given.main.model)
        others = {
            name: main if one is given.main else self._given(one, name)
            for name, one in given.others.items()
        }
        return replace(main, others=others)

    async def open_one(self, ref: ModelRef, beside: Mapping[str, ModelRef]) -> ServedModel:
        """Open a model and those that methods name beside it, each as it is told."""
        served = {one: await self._open(one) for one in dict.fromkeys((ref, *beside.values()))}
        return replace(served[ref], others={name: served[one] for name, one in beside.items()})

    def _named(self, ref: ModelRef) -> ServedModel:
        name = served_name(ref)
        if not name:
            raise InputError(
                "the endpoint's model has no name here, and workers elsewhere must know what they "
                "ask; name it with --model"
            )
        return ServedModel(AskedElsewhere(name), None, self._price(ref.model or name), ref=ref)

    def _given(self, served: Served, name: str) -> ServedModel:
        limiter = self._limit(served, _MOST_CONCURRENCY, _FIRST_CONCURRENCY)
        return ServedModel(served, limiter, self._price(name))

    async def _open(self, ref: ModelRef) -> ServedModel:
        here = runs_here(ref)
        most = _LOCAL_CONCURRENCY if here else _MOST_CONCURRENCY
        concurrency = self._options.concurrency or most
        name = ref.model or served_name(ref)
        price = self._price(name) if name else None
        with self._fetching(ref.model or "model") as progress:
            bounds = self._options.bounds
            opening = resolve(ref, bounds=bounds, concurrency=concurrency, progress=progress)
        served = await self._stack.enter_async_context(opening)
        if not name:  # the endpoint has said meanwhile what it serves
            price = self._price(served.model)
        limiter = self._limit(served, most, None if here else _FIRST_CONCURRENCY)
        return ServedModel(served, limiter, price, ref=ref)

    def _limit(self, served: Served, most: int, start: int | None) -> Limiter | None:
        """Make the limiter of a model; None for one whose endpoints have one each."""
        if isinstance(served, OpenAI | Balanced):
            served.report_to(self._tell)
        if not isinstance(served, Balanced):
            return self._limiter(most, start)
        served.balancer.limit(lambda: self._limiter(most, start))
        return None

    def _limiter(self, most: int, start: int | None) -> Limiter:
        # A number that somebody gave is taken at its word; otherwise the limiter starts low and
        # grows until the endpoint pushes back.
        chosen = self._options.concurrency
        limiter = Limiter(
            chosen or most,
            None if chosen else start,
            requests_per_minute=self._options.requests_per_minute,
            tokens_per_minute=self._options.tokens_per_minute,
        )
        self.limiters.append(limiter)
        return limiter

    def _price(self, model: str) -> Price | None:
        price = find_price(model)
        if price is None and self._options.max_cost is not None:
            raise no_price(model)
        return price


class AskedElsewhere:
    """A model that is not asked in this process, which knows its name alone."""

    def __init__(self, model: str) -> None:
        self.model = model

    async def complete(
        self,
        call: Call,  # noqa: ARG002
        watcher: Watcher = SILENT,  # noqa: ARG002
        decoding: Decoding | None = None,  # noqa: ARG002
    ) -> Completion:
        """Perform no call."""
        raise RuntimeError(f"{self.model} is asked elsewhere")


class _Grid:
    """How the models of a grid are named, and those that its methods name beside each."""

    def __init__(self, experiment: Experiment, ref: ModelRef) -> None:
        if ref.key and not ref.base_url and len(experiment.models) > 1:
            raise InputError(
                f"models {', '.join(experiment.models)}: one key is given and no address; name the "
                "endpoint that the key is for, or put each model's key into its own variable"
            )
        names = experiment.other_models()
        mains = {model: replace(ref, model=model or None) for model in experiment.models}
        listed = {name: mains[name] for name in names if name in mains}
        self._beside = {
            main: {name: main.beside(name) for name in names} | listed for main in mains.values()
        }
        others = (one for found in self._beside.values() for one in found.values())
        self.refs = tuple(dict.fromkeys((*self._beside, *others)))

    def join(self, served: Mapping[ModelRef, ServedModel]) -> list[ServedModel]:
        """Put beside each model those that its methods name."""
        return [
            replace(served[main], others={name: served[one] for name, one in found.items()})
            for main, found in self._beside.items()
        ]


# A budget in the database, which all workers of a grid pay out of. It outlives each of them.
#
# Before a call the most that it can take is set aside, in a transaction that sees what every
# worker has set aside; after it that is settled. What a worker had set aside when it died counts
# as spent: its calls were under way, and whoever serves the model may have been paid for all of
# them.
#
# Changes that come while a transaction is under way go into the next together, so that the one
# row of a budget is no bottleneck.

_LOOK_AGAIN: Final = 0.25
"""Seconds after which a call that does not fit in looks whether others have settled theirs."""


def name_budget(series: Iterable[Series]) -> str:
    """Name the budget of a grid: the same grid, on any machine, has the same."""
    named = sorted(storable_json([s.benchmark, s.method, s.model, s.settings]) for s in series)
    return sha256("\n".join(named).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def open_budget(store: Store, name: str, options: RunOptions) -> Budget | None:
    """Open the budget of a grid; None where it has none.

    In a shared store a limit holds for every worker until another is given, also for one that gives
    none: it is there to be kept.
    """
    if not store.is_shared:
        limits = (options.max_tokens_total, options.max_cost)
        return Budget(*limits) if options.is_bounded else None
    if options.is_bounded:
        limits = {"max_tokens": options.max_tokens_total, "max_cost": options.max_cost}
        store.change(lambda connection: connection.execute(_LIMIT, {"name": name} | limits))
    return find_budget(store, name, options.lease)


def find_budget(store: Store, name: str | None, lease: float) -> SharedBudget | None:
    """Find the budget of a grid in a shared store; None where there is none."""
    if name is None or not store.read(sa.select(_BUDGETS.c.id).where(_BUDGETS.c.id == name)):
        return None
    return SharedBudget(store, name, lease)


class SharedBudget(Budget):
    """Tokens and money that are left to all workers; what it shows is as of its last change."""

    def __init__(self, store: Store, name: str, lease: float) -> None:
        super().__init__()
        self.name = name
        self._store = store
        self._named = {"name": name, "owner": store.owner, "seconds": lease}
        self._one_by_one = threading.Lock()
        self._changes = secrets.randbelow(2**30)  # another of the same worker may be there
        self._wishes: list[tuple[Amount, asyncio.Future[None]]] = []
        self._settled: list[Settlement] = []
        self._task: asyncio.Task[None] | None = None
        self._exchange([], [])

    def require_prices(self, models: Iterable[ServedModel]) -> None:
        """Refuse a model without a price where money is limited."""
        for model in models if self._max_cost else ():
            for one in (model, *model.others.values()):
                if one.price is None:
                    raise no_price(one.served.model)

    async def reserve(self, usage: Usage, cost: float) -> None:
        """Set aside the most that a call can take; wait for calls under way if they hold it."""
        done = asyncio.get_running_loop().create_future()
        self._wishes.append((Amount(usage.total, cost), done))
        self._begin()
        try:
            await done
        except BudgetSpent:
            raise BudgetSpent(self._refusal(usage, cost), self.name) from None
        except asyncio.CancelledError:
            if done.done() and not done.cancelled() and not done.exception():
                self._settled.append(Settlement(Amount(usage.total, cost), NOTHING))
            raise

    def spend(self, usage: Usage, cost: float) -> bool:
        """Take what a call used beside what it has set aside; whether there was enough.

        It is asked for between two tries of a call, where nobody can wait but all together.
        """
        if not usage.total:
            return True
        (granted,) = self._exchange([], [], [Amount(usage.total, cost)])
        return granted

    async def settle(self, reserved: Usage, reserved_cost: float, used: Usage, cost: float) -> None:
        """Give back what was set aside and take what was used; nobody waits for it."""
        amounts = (Amount(reserved.total, reserved_cost), Amount(used.total, cost))
        self._settled.append(Settlement(*amounts))
        self._begin()

    async def close(self) -> None:
        """See that all is settled."""
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
            except Exception as error:  # whatever it is, nobody must wait for ever
                _tell((done for _, done in wishes), error)
                return
            fine = [one for one, fits in zip(wishes, granted, strict=True) if fits]
            waiting = [one for one, fits in zip(wishes, granted, strict=True) if not fits]
            # Whoever was cancelled meanwhile asks nothing.
            self._settled += [Settlement(amount, NOTHING) for amount, done in fine if done.done()]
            _tell((done for _, done in fine), None)
            if waiting and not self._reserved_tokens:
                _tell((done for _, done in waiting), BudgetSpent())
            elif waiting:
                self._wishes = waiting + self._wishes
                await asyncio.sleep(0 if self._settled else _LOOK_AGAIN)

    def _exchange(
        self,
        wishes: Sequence[Amount],
        settled: Sequence[Settlement],
        spent: Sequence[Amount] = (),
    ) -> list[bool]:
        """Settle, set aside what fits, and say of each wish whether it did; all in one change."""
        with self._one_by_one:
            self._changes += 1
            answer: list[bool] = []

            def once() -> Ledger:
                with self._store.database.begin() as connection:
                    state = self._read(connection)
                    if state.change != self._changes:  # else it was made, and nobody heard of it
                        for one in settled:
                            state.settle(one)
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


def _tell(waiting: Iterable[asyncio.Future[None]], error: Exception | None) -> None:
    for done in waiting:
        if done.done():  # whoever waited was cancelled
            continue
        if error:
            done.set_exception(error)
        else:
            done.set_result(None)


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


# How a series is run, kept in a shared store, so that a worker elsewhere can run it too.
#
# The store has the method's name, own prompts, problems, decoding and system prompt already.
# Beside them it keeps how the models are named and where they are served. Keys it never has: they
# come from the environment and the presets of each machine, and so do prices.


class Unrunnable(InputError):
    """A series that cannot be run on this machine; its words say what is missing."""


@dataclass(frozen=True, slots=True)
class SeriesModels:
    """The models of a series: its own, and those that its method names beside it."""

    main: ModelRef
    beside: tuple[tuple[str, ModelRef], ...] = ()


@dataclass(frozen=True, slots=True)
class PendingSeries:
    """A series of which attempts are to be made, as a store describes it."""

    number: int
    benchmark: str
    method: str
    model: str
    decoding: Mapping[str, Any]
    fingerprint: str
    prompts: Mapping[str, str]
    models: Mapping[str, Any] | None
    budget: str | None

    def __str__(self) -> str:
        return f"series {self.number} ({self.method} on {self.benchmark} with {self.model})"

    def build(self) -> Series:
        """Make the series as it was entered, or say why that cannot be done here."""
        try:
            method = make(plain_name(self.method))
        except CfrError as error:
            raise Unrunnable(
                f"{error}; a method or policy of one's own must be on this machine too, and one "
                "that was given as an object runs only where it was made"
            ) from None
        own = tuple(Prompt(name, text, replaced=True) for name, text in self.prompts.items())
        method = reword(method, Wording("", own)) if own else method
        if fingerprint(method) != self.fingerprint:
            raise Unrunnable(
                "its method asks otherwise here than where it was entered; install the same "
                "version of cfr and of what it uses"
            )
        settings = dict(self.decoding)
        system = settings.pop("system", "")
        return Series(self.benchmark, self.method, self.model, Decoding(**settings), system, method)

    def find_models(self, instead: ModelRef) -> SeriesModels:
        """Say how its models are to be named here; an address that is given stands instead."""
        if self.models is None:
            raise Unrunnable("its engine was given as an object; it runs only where it was made")
        main = _read_ref(self.models["main"], instead)
        beside = {name: _read_ref(one, instead) for name, one in self.models["beside"].items()}
        return SeriesModels(main, tuple(beside.items()))


def write_settings(
    store: Store, series: Sequence[int], model: ServedModel, budget: str | None
) -> None:
    """Keep how some series are run, as the last command said it; a file has no need for it."""
    if not store.is_shared or not series:
        return
    described = None if model.ref is None else storable_json(_describe(model))
    rows = [{"series": number, "models": described, "budget": budget} for number in series]
    store.change(lambda connection: connection.execute(_PUT, rows))


def pending_series(store: Store) -> list[PendingSeries]:
    """List the series of which attempts are to be made."""

    def read(connection: sa.Connection) -> Iterator[PendingSeries]:
        for row in connection.execute(_PENDING).mappings():
            series = read_row(row)
            yield PendingSeries(
                series.id,
                series.benchmark,
                series.method,
                series.model,
                orjson.loads(series.decoding),
                series.fingerprint,
                read_prompts(connection, series.id),
                None if row["models"] is None else orjson.loads(row["models"]),
                row["budget"],
            )

    with store.reading():
        return store.change(lambda connection: list(read(connection)), "read")


def _describe(model: ServedModel) -> dict[str, Json]:
    beside: dict[str, Json] = {n: _describe_ref(one) for n, one in model.others.items()}
    return {"main": _describe_ref(model), "beside": beside}


def _describe_ref(model: ServedModel) -> dict[str, Json]:
    """Describe how a model is named, without any secret."""
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
