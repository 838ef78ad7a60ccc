"""A budget in tokens and money: no call is made that could exceed the rest of it.

What an endpoint does not count is charged at the most that it can have been. A try that failed is
charged too: its prompt where the endpoint broke down, all that was set aside where a reply came in
part, came odd or did not come in time. Only a call that was refused or never arrived costs nothing.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Final

from constraint_first.error import CfrError
from constraint_first.model.error import (
    EngineError,
    RateLimited,
    Rejected,
    ServerFault,
    Unreachable,
)
from constraint_first.model.limit import replies_to
from constraint_first.model.resolve import write_dollars
from constraint_first.protocol import Call, Completion, Usage

_ROUNDING: Final = 1e-9
"""Dollars by which a sum may be above a limit: sums of decimal fractions are not exact."""


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
        """An addition to the amount spent, in the message of a refusal."""
        self._changed = asyncio.Event()

    async def reserve(self, usage: Usage, cost: float) -> None:
        """Set aside the most that a call can take; wait for calls under way if they hold it."""
        while not self.has_room(usage, cost):
            if not self._reserved_tokens:
                raise BudgetSpent(self._refusal(usage, cost))
            self._changed.clear()
            await self._changed.wait()
        self._reserved_tokens += usage.total
        self._reserved_cost += cost

    def settle(self, reserved: Usage, reserved_cost: float, used: Usage, cost: float) -> None:
        """Give back what was set aside and take what was used."""
        self._reserved_tokens -= reserved.total
        self._reserved_cost = self._reserved_tokens and self._reserved_cost - reserved_cost
        self.tokens += used.total
        self.cost += cost
        self._changed.set()

    def has_room(self, usage: Usage, cost: float) -> bool:
        """Say whether that much could be set aside at once."""
        tokens = self.tokens + self._reserved_tokens + usage.total
        cost += self.cost + self._reserved_cost
        return is_within(self._max_tokens, self._max_cost, tokens, cost)

    def spend(self, usage: Usage, cost: float) -> bool:
        """Take what a call used beside what it has set aside; whether there was enough."""
        if not self.has_room(usage, cost):
            return False
        self.tokens += usage.total
        self.cost += cost
        return True

    async def close(self) -> None:
        """Wait until all is settled, which it is."""

    def _refusal(self, usage: Usage, cost: float) -> str:
        if self._max_cost and self.cost + cost > self._max_cost + _ROUNDING:
            option, verb = "--max-cost", "cost"
            spent, most, needed = map(write_dollars, (self.cost, self._max_cost, cost))
            fits_alone = cost <= self._max_cost + _ROUNDING
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
    return tokens <= (max_tokens or tokens) and cost <= (max_cost or cost) + _ROUNDING


def most_usage(call: Call) -> Usage:
    """Say what a call can take at the most; the endpoint reads a group's prompt once."""
    # No tokenizer makes more tokens of a text than it has bytes; 64 are for the chat template.
    prompt = sum(len(m.content.encode("utf-8", "replace")) for m in call.messages) + 64
    return Usage(prompt, replies_to(call) * call.max_tokens)


def charged(completion: Completion, most: Usage) -> Usage:
    """Take the endpoint's counts, and the most that is possible where it has none."""
    usage = completion.usage
    wrote = completion.text or completion.reasoning
    return replace(
        usage,
        input=usage.input or most.input,
        output=usage.output if usage.output or (usage.reported and not wrote) else most.output,
    )


def wasted(fault: EngineError, most: Usage) -> Usage:
    """Say how much a try that failed can have used."""
    if isinstance(fault, Rejected | RateLimited | Unreachable):
        return Usage()
    return Usage(most.input) if isinstance(fault, ServerFault) else most
