"""The budget of a run, in tokens and money. Nothing is asked that could exceed what is left.

What an endpoint does not count is charged at the most that it can have been. A try that failed is
charged too: its prompt where the endpoint broke down, all that was set aside where a reply came in
part, came odd or did not come in time. Only what was refused or never arrived costs nothing.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, TypeVar

from constraint_first.error import CfrError
from constraint_first.model.error import (
    EngineError,
    RateLimited,
    Rejected,
    ServerFault,
    Transient,
    Unreachable,
)
from constraint_first.model.resolve import Price, write_dollars
from constraint_first.model.wire import SILENT, Engine, Relay, SampledCall, Watcher, most_samples
from constraint_first.protocol import Call, Completion, Usage

_ROUNDING: Final = 1e-9
"""Dollars by which a sum may be above a limit: sums of decimal fractions are not exact."""


C = TypeVar("C", bound=Call)


class BudgetSpent(CfrError):
    """The next call could cost more than is left of a budget, which is named where it is shared."""

    exit_code = 7
    ends = "run"

    def __init__(self, message: str = "", budget: str = "") -> None:
        super().__init__(message)
        self.budget = budget


class Budget:
    """Tokens and money that are left, less what calls under way may still take."""

    def __init__(self, max_tokens: int | None = None, max_cost: float | None = None) -> None:
        self._max_tokens = max_tokens
        self._max_cost = max_cost
        self.tokens = 0
        self.cost = 0.0
        self._reserved_tokens = 0
        self._reserved_cost = 0.0
        self._note = ""
        """What is to be said of what was spent."""
        self._changed = asyncio.Condition()

    async def reserve(self, usage: Usage, cost: float) -> None:
        """Set aside the most that a call can take; wait for calls under way if they hold it."""
        async with self._changed:
            while not self._fits(usage.total, cost):
                if not self._reserved_tokens:
                    raise BudgetSpent(self._refusal(usage, cost))
                await self._changed.wait()
            self._reserved_tokens += usage.total
            self._reserved_cost += cost

    def has_room(self, usage: Usage, cost: float) -> bool:
        """Say whether that much could be set aside at once."""
        return self._fits(usage.total, cost)

    def spend(self, usage: Usage, cost: float) -> bool:
        """Take what a call used beside what it has set aside; whether there was enough."""
        if not self._fits(usage.total, cost):
            return False
        self.tokens += usage.total
        self.cost += cost
        return True

    async def settle(self, reserved: Usage, reserved_cost: float, used: Usage, cost: float) -> None:
        """Give back what was set aside and take what was used."""
        async with self._changed:
            self._reserved_tokens -= reserved.total
            self._reserved_cost = self._reserved_tokens and self._reserved_cost - reserved_cost
            self.tokens += used.total
            self.cost += cost
            self._changed.notify_all()

    async def close(self) -> None:
        """See that all is settled, which it is."""

    def _fits(self, tokens: int, cost: float) -> bool:
        tokens += self.tokens + self._reserved_tokens
        cost += self.cost + self._reserved_cost
        return is_within(self._max_tokens, self._max_cost, tokens, cost)

    def _refusal(self, usage: Usage, cost: float) -> str:
        """Say which limit stands in the way of a call, and what can be done about it."""
        if self._max_cost and self.cost + cost > _most_cost(self._max_cost):
            option, verb = "--max-cost", "cost"
            spent, most, needed = map(write_dollars, (self.cost, self._max_cost, cost))
            fits_alone = cost <= _most_cost(self._max_cost)
        else:
            option, verb, limit = "--max-tokens-total", "take", self._max_tokens or 0
            spent, most, needed = f"{self.tokens:,}", f"{limit:,} tokens", f"{usage.total:,} tokens"
            fits_alone = usage.total <= limit
        if fits_alone:
            next_call = f"the next call could {verb} up to {needed}"
            again = f"raise {option} and run the same command again"
            return f"the budget is spent: {spent} of {most}{self._note}; {next_call}; {again}"
        return (
            f"one call could {verb} up to {needed}, and {option} is {most}; raise it, or lower "
            f"--max-tokens, the longest reply (now {usage.output:,} tokens)"
        )


def is_within(max_tokens: int | None, max_cost: float | None, tokens: int, cost: float) -> bool:
    """Say whether so much is within limits, of which there may be none."""
    return tokens <= (max_tokens or tokens) and cost <= _most_cost(max_cost or cost)


def _most_cost(limit: float) -> float:
    return limit + _ROUNDING


class Budgeted:
    """An engine whose calls are paid for out of a budget.

    ``most_output`` is the longest reply that the model can give, where that is known.
    """

    def __init__(
        self, engine: Engine, budget: Budget, price: Price | None, most_output: int | None = None
    ) -> None:
        self._engine = engine
        self._budget = budget
        self._price = price or Price(0.0, 0.0)
        self._most_output = most_output

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
        """Perform a call if even its dearest reply can be paid."""
        call = self._lowered(call)
        most = _most(call)
        reserved = self._price.cost(most)
        await self._budget.reserve(most, reserved)
        used = most  # whoever is interrupted may have used it all
        try:
            paying = _PayingWatcher(watcher, self._budget, self._price, most)
            completion = await self._engine.complete(call, paying)
            used = _used(completion, most)
        except EngineError as fault:
            used = _wasted(fault, most)
            raise
        finally:
            await self._budget.settle(most, reserved, used, self._price.cost(used))
        return completion

    def most_samples(self, group: SampledCall) -> int:
        """As many as the engine takes; one at a time where the budget is short of all together."""
        group = self._lowered(group)
        most = _most(group)
        short = not self._budget.has_room(most, self._price.cost(most))
        return 1 if short else most_samples(self._engine, group)

    def _lowered(self, call: C) -> C:
        """Ask for no more than is set aside."""
        most = self._most_output or call.max_tokens
        return call if call.max_tokens <= most else replace(call, max_tokens=most)


class _PayingWatcher(Relay):
    """A watcher that pays for each try that failed before the next is made."""

    def __init__(self, watcher: Watcher, budget: Budget, price: Price, most: Usage) -> None:
        super().__init__(watcher)
        self._budget = budget
        self._price = price
        self._most = most

    def retrying(self, call: Call, fault: Transient, seconds: float) -> None:
        wasted = _wasted(fault, self._most)
        if not self._budget.spend(wasted, self._price.cost(wasted)):
            raise fault  # the budget does not reach for another try
        super().retrying(call, fault, seconds)


def _most(call: Call) -> Usage:
    """Say what a call can take at the most; the endpoint reads a group's prompt once."""
    samples = call.samples if isinstance(call, SampledCall) else 1
    return Usage(_longest_prompt(call), samples * call.max_tokens)


def _used(completion: Completion, most: Usage) -> Usage:
    """Take the endpoint's counts, and the most that is possible where it has none."""
    usage = completion.usage
    wrote = completion.text or completion.reasoning
    return replace(
        usage,
        input=usage.input or most.input,
        output=usage.output if usage.output or (usage.reported and not wrote) else most.output,
    )


def _wasted(fault: EngineError, most: Usage) -> Usage:
    """Say what a try that failed can have cost."""
    if isinstance(fault, Rejected | RateLimited | Unreachable):
        return Usage()
    return Usage(most.input) if isinstance(fault, ServerFault) else most


def _longest_prompt(call: Call) -> int:
    # No tokenizer makes more tokens of a text than it has bytes; 64 are for the chat template.
    return sum(len(m.content.encode("utf-8", "replace")) for m in call.messages) + 64


# The ledger of a shared budget: what is spent, and set aside by this worker and by others.
#
# It is read, changed and written back within one transaction, and performs no I/O itself.


class Amount(NamedTuple):
    """Tokens and money."""

    tokens: int = 0
    cost: float = 0.0

    def plus(self, other: Amount) -> Amount:
        """Add."""
        return Amount(self.tokens + other.tokens, self.cost + other.cost)

    def less(self, other: Amount) -> Amount:
        """Take away, down to nothing; sums of decimal fractions are not exact."""
        tokens = max(0, self.tokens - other.tokens)
        return Amount(tokens, max(0.0, self.cost - other.cost) if tokens else 0.0)


NOTHING: Final = Amount()


@dataclass(frozen=True, slots=True)
class Settlement:
    """What a call had set aside, and what it used."""

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
        """What all workers have set aside."""
        return self.mine.plus(self.others)

    def settle(self, one: Settlement) -> None:
        """Give back and take. What others took for dead was counted as spent in full already."""
        already = one.reserved.less(self.mine)
        self.mine = self.mine.less(one.reserved)
        self.spent = self.spent.plus(one.used.less(already) if already.tokens else one.used)

    def reserve(self, wish: Amount) -> bool:
        """Set something aside, if it fits."""
        if fits := self._fits(wish):
            self.mine = self.mine.plus(wish)
        return fits

    def spend(self, amount: Amount) -> bool:
        """Take something that was not set aside, if it fits."""
        if fits := self._fits(amount):
            self.spent = self.spent.plus(amount)
        return fits

    def _fits(self, wish: Amount) -> bool:
        return is_within(*self.limits, *self.spent.plus(self.reserved).plus(wish))
