"""The budget of a grid: in this process, or in a database out of which all its workers pay.

Before a call the most that it can take is set aside, in a transaction that sees the reservations of
every worker; after it that is settled. A reservation of a worker that died counts as spent: its
calls were under way, and the provider may have charged for all of them.

Changes that come while a transaction is under way go into the next together, so that the one row of
a budget is no bottleneck.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, NamedTuple

import sqlalchemy as sa

from constraint_first.error import InputError
from constraint_first.file.safe import storable_json
from constraint_first.model.client import ServedModel
from constraint_first.model.limit import Budget, BudgetSpent, is_within, write_dollars
from constraint_first.protocol import Usage
from constraint_first.run.grid import RunOptions
from constraint_first.store import schema
from constraint_first.store.database import patiently
from constraint_first.store.series import Series
from constraint_first.store.store import Store

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
        # Between two tries of a call: it blocks the event loop for one transaction.
        if not usage.total:
            return True
        (granted,) = self._exchange([], [], [Amount(usage.total, cost)])
        return granted

    def settle(self, reserved: Usage, reserved_cost: float, used: Usage, cost: float) -> None:
        amounts = (Amount(reserved.total, reserved_cost), Amount(used.total, cost))
        self._settled.append(Settlement(*amounts))
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
            except Exception as error:  # whatever it is, no call may wait for ever
                _answer((done for _, done in wishes), error)
                return
            fine = [one for one, fits in zip(wishes, granted, strict=True) if fits]
            waiting = [one for one, fits in zip(wishes, granted, strict=True) if not fits]
            # What was granted to calls that were cancelled meanwhile is given back.
            self._settled += [Settlement(amount, NOTHING) for amount, done in fine if done.done()]
            _answer((done for _, done in fine), None)
            if waiting and not self._reserved_tokens:
                _answer((done for _, done in waiting), BudgetSpent())
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
                    if state.change != self._changes:  # else it was committed, and the reply lost
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


def _answer(waiting: Iterable[asyncio.Future[None]], error: Exception | None) -> None:
    for done in waiting:
        if done.done():  # the call was cancelled
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


def no_price(model: str) -> InputError:
    return InputError(
        f"model {model or 'without a name'}: --max-cost needs its price; write it into a "
        "models.toml of your own and name that in CFR_MODELS"
    )


# The ledger of a shared budget: it is read, changed and written back within one transaction.


class Amount(NamedTuple):
    tokens: int = 0
    cost: float = 0.0

    def plus(self, other: Amount) -> Amount:
        return Amount(self.tokens + other.tokens, self.cost + other.cost)

    def less(self, other: Amount) -> Amount:
        """Take away, down to nothing; sums of decimal fractions are not exact."""
        tokens = max(0, self.tokens - other.tokens)
        return Amount(tokens, max(0.0, self.cost - other.cost) if tokens else 0.0)


NOTHING: Final = Amount()


class Settlement(NamedTuple):
    """The amount that a call had set aside, and the one that it used."""

    reserved: Amount
    used: Amount


@dataclass(slots=True)
class Ledger:
    """A budget as it is within a transaction."""

    limits: tuple[int | None, float | None]
    spent: Amount
    lost: Amount
    mine: Amount = NOTHING
    others: Amount = NOTHING
    change: int = 0

    @property
    def reserved(self) -> Amount:
        return self.mine.plus(self.others)

    def settle(self, one: Settlement) -> None:
        """Give back and take. A reservation that expired was counted as spent in full already."""
        already = one.reserved.less(self.mine)
        self.mine = self.mine.less(one.reserved)
        self.spent = self.spent.plus(one.used.less(already) if already.tokens else one.used)

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
