"""The budget of a run, in tokens and money. Nothing is asked that could exceed what is left."""

from __future__ import annotations

import asyncio

from cfr.engine.engine import SILENT, Engine, Watcher
from cfr.engine.presets import Price
from cfr.error import CfrError
from cfr.protocol import Call, Completion, Usage

__all__ = ["Budget", "BudgetSpent", "Budgeted"]


class BudgetSpent(CfrError):
    """The next call could cost more than is left."""

    exit_code = 7


class Budget:
    """Tokens and money that are left, less what calls under way may still take."""

    def __init__(self, max_tokens: int | None = None, max_cost: float | None = None) -> None:
        self._max_tokens = max_tokens
        self._max_cost = max_cost
        self.tokens = 0
        self.cost = 0.0
        self._reserved_tokens = 0
        self._reserved_cost = 0.0
        self._settled = asyncio.Condition()

    async def reserve(self, usage: Usage, cost: float) -> None:
        """Set aside the most that a call can take; wait for calls under way if they hold it."""
        async with self._settled:
            while not self._fits(usage.total, cost):
                if not self._reserved_tokens:
                    raise BudgetSpent(
                        f"the budget is spent ({self.tokens:,} tokens, cost {self.cost:.4f}): the "
                        "next call could exceed it; raise the limit and run the same command again"
                    )
                await self._settled.wait()
            self._reserved_tokens += usage.total
            self._reserved_cost += cost

    async def settle(self, reserved: Usage, reserved_cost: float, used: Usage, cost: float) -> None:
        """Give back what was set aside and take what was used."""
        async with self._settled:
            self._reserved_tokens -= reserved.total
            self._reserved_cost -= reserved_cost
            self.tokens += used.total
            self.cost += cost
            self._settled.notify_all()

    def _fits(self, tokens: int, cost: float) -> bool:
        tokens += self.tokens + self._reserved_tokens
        cost += self.cost + self._reserved_cost
        return tokens <= (self._max_tokens or tokens) and cost <= (self._max_cost or cost)


class Budgeted:
    """An engine whose calls are paid for out of a budget."""

    def __init__(self, engine: Engine, budget: Budget, price: Price | None) -> None:
        self._engine = engine
        self._budget = budget
        self._price = price or Price(0.0, 0.0)

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
        """Perform a call if even its dearest reply can be paid."""
        most = Usage(_longest_prompt(call), call.max_tokens)
        reserved = self._price.cost(most)
        await self._budget.reserve(most, reserved)
        used = Usage()
        try:
            completion = await self._engine.complete(call, watcher)
            used = completion.usage
        finally:
            await self._budget.settle(most, reserved, used, self._price.cost(used))
        return completion


def _longest_prompt(call: Call) -> int:
    # No tokenizer makes more tokens of a text than it has bytes; 64 are for the chat template.
    return sum(len(m.content.encode("utf-8", "replace")) for m in call.messages) + 64
