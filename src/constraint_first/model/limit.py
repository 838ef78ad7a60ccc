"""Limits on calls: concurrency, rate per minute, retries, prices and budgets.

Concurrency grows while replies come and is halved when the endpoint rejects many calls (429, 5xx
or a time-out), much as TCP does with its window. Where half the concurrency is rejected as often,
load is not the reason, and concurrency returns to what it was. Requests and tokens a minute are
kept below their limits where there are any.
"""

from __future__ import annotations

import asyncio
import email.utils
import math
import random
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import floor, log10
from typing import Final, TypeVar

from constraint_first.error import CfrError
from constraint_first.model.error import (
    EngineError,
    RateLimited,
    Rejected,
    ServerFault,
    TimedOut,
    Transient,
    Unreachable,
)
from constraint_first.model.wire import SampledCall
from constraint_first.problem import Json
from constraint_first.protocol import Call, Completion, Exchange, Usage

T = TypeVar("T")

_PUSHBACK: Final = (RateLimited, ServerFault, TimedOut)
_SHORTEST_ROUND: Final = 16
_CROWDED: Final = 0.25
"""The share of rejected calls in a round that is tolerated above the endpoint's usual share."""
_HELPED: Final = 1.25
"""By this factor the share of accepted calls must grow when concurrency is halved."""


class Limiter:
    """A semaphore whose size adapts to the load that one endpoint accepts, and a rate limit."""

    def __init__(
        self,
        most: int,
        start: int | None = None,
        *,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
    ) -> None:
        self.most = most
        self.requests = Pace(requests_per_minute)
        self.tokens = Pace(tokens_per_minute)
        self.paced = self.requests.limits or self.tokens.limits
        self.size = float(min(start or most, most))
        self.in_flight = 0
        self._waiting: deque[tuple[asyncio.Future[None], int]] = deque()
        self._threshold = float(most)
        self._replies = self._pushed_back = self._stale = 0
        self._usual = 1.0
        self._cut: tuple[float, float] | None = None
        """The window before it was halved, and the share of calls accepted then."""

    def has_room(self, places: int = 1) -> bool:
        return not self._waiting and self._fits(places)

    def take(self, places: int = 1) -> bool:
        """Take places if they are free now; ``release`` gives them back."""
        if not self.has_room(places):
            return False
        self.in_flight += places
        return True

    def release(self, places: int) -> None:
        self.in_flight -= places
        self._wake()

    async def enter(self, places: int = 1) -> None:
        """Wait for a turn and take places in the window, one for each requested reply."""
        if self.take(places):
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append((turn, places))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # already granted: pass it on
                self.release(places)
            raise

    def _fits(self, places: int) -> bool:
        # A group larger than the window, which may have shrunk since, is sent when all is idle.
        return not self.in_flight or self.in_flight + places <= int(self.size)

    async def pace(self, call: Call) -> None:
        """Wait until the rate limits allow a call that has its places in the window."""
        await self.requests.wait()
        if self.tokens.limits:
            # The length of a reply is unknown before it comes; a quarter of its budget is typical.
            prompt = sum(len(message.content) for message in call.messages) / 3
            await self.tokens.wait(prompt + replies_to(call) * call.max_tokens / 4)

    def succeeded(self, replies: int = 1) -> None:
        """Grow the window: by one a reply up to the last cut, then by one a round, like TCP."""
        for _ in range(replies):
            step = 1.0 if self.size < self._threshold else 1.0 / self.size
            self.size = min(float(self.most), self.size + step)
            self._count(pushed_back=False)
        self._wake()

    def failed(self, fault: Transient, replies: int = 1) -> None:
        """Count a fault for each lost reply; too many rejections halve the window."""
        for _ in range(replies):
            self._count(pushed_back=isinstance(fault, _PUSHBACK))

    def _count(self, *, pushed_back: bool) -> None:
        if self._stale:
            self._stale -= 1
            return
        self._replies += 1
        self._pushed_back += pushed_back
        if self._replies < max(_SHORTEST_ROUND, self.size):
            return
        through = 1 - self._pushed_back / self._replies
        self._replies = self._pushed_back = 0
        if self._cut and through < _HELPED * self._cut[1]:
            self._usual = through
            self.size, self._cut = self._cut[0], None
        elif through < self._usual - _CROWDED:
            self._cut = self.size, through
            self.size = self._threshold = max(1.0, self.size / 2)
            self._stale = self.in_flight  # sent at the old size: not counted for the new one
        else:
            self._usual, self._cut = max(self._usual, through), None

    def _wake(self) -> None:
        while self._waiting and self._fits(self._waiting[0][1]):
            turn, places = self._waiting.popleft()
            if not turn.done():
                self.in_flight += places
                turn.set_result(None)


class Pace:
    """A limit on units per minute, enforced by pauses between calls; None means no limit."""

    def __init__(self, per_minute: float | None) -> None:
        self._gap = 60.0 / per_minute if per_minute else 0.0
        self._free_at = 0.0
        self.limits = self._gap > 0

    async def wait(self, units: float = 1.0) -> None:
        if not self.limits:
            return
        now = asyncio.get_running_loop().time()
        turn = max(now, self._free_at)
        self._free_at = turn + self._gap * units
        await asyncio.sleep(turn - now)


def replies_to(call: Call) -> int:
    return call.samples if isinstance(call, SampledCall) else 1


# Retries after temporary faults, with growing pauses or the pause of a Retry-After header.

_GROWTH: Final = 3.0
_TRIES_OF_A_STRANGER: Final = 6


@dataclass(slots=True)
class Retry:
    """How often and after which pauses a call is retried. Only transport faults are retried.

    A call that failed while others succeeded is retried soon, since the endpoint works. While no
    call succeeds, and after a 429, pauses grow.
    """

    attempts: int = 8
    first_pause: float = 0.05
    longest_pause: float = 60.0
    patience: float = 300.0
    """A longer Retry-After counts as a refusal."""
    seconds: float = math.inf
    """A call that has taken longer than this is not retried."""
    answered: int = field(default=0, init=False)

    async def run(
        self,
        operation: Callable[[], Awaitable[T]],
        notify: Callable[[Transient, float], None] = lambda _fault, _pause: None,
    ) -> T:
        tries = Tries(self)
        while True:
            try:
                result = await operation()
            except Transient as fault:
                await tries.wait(fault, notify)
            else:
                tries.succeeded()
                return result

    def pause(self, in_a_row: int, fault: Transient) -> float:
        if fault.retry_after is not None:
            return fault.retry_after
        longest = min(self.longest_pause, self.first_pause * _GROWTH ** (in_a_row - 1))
        # Jitter, so that a thousand calls that failed together are not retried together.
        return longest * random.uniform(0.5, 1.0)  # noqa: S311

    def most(self, fault: Transient) -> int:
        """Return how many tries a call has: fewer where the address never gave an answer."""
        stranger = not self.answered and not isinstance(fault, RateLimited)
        return min(self.attempts, _TRIES_OF_A_STRANGER) if stranger else self.attempts


class Tries:
    __slots__ = ("_answered", "_count", "_in_a_row", "_retry", "_started")

    def __init__(self, retry: Retry) -> None:
        self._retry = retry
        self._started = time.monotonic()
        self._count = self._in_a_row = 0
        self._answered = retry.answered
        """How many calls had been answered when the latest try began."""

    def succeeded(self) -> None:
        self._retry.answered += 1

    async def wait(self, fault: Transient, notify: Callable[[Transient, float], None]) -> None:
        """Pause before the next try; raise the fault where no try is left."""
        retry = self._retry
        forgiven = retry.answered > self._answered and not isinstance(fault, RateLimited)
        self._count, self._in_a_row = self._count + 1, 1 if forgiven else self._in_a_row + 1
        pause = retry.pause(self._in_a_row, fault)
        late = time.monotonic() - self._started + pause > retry.seconds
        if self._count >= retry.most(fault) or pause > retry.patience or late:
            raise fault
        notify(fault, pause)
        await asyncio.sleep(pause)
        self._answered = retry.answered


def parse_retry_after(value: str | None) -> float | None:
    """Read a Retry-After header: seconds, or a date."""
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(value).timestamp() - time.time()
        except (ValueError, ArithmeticError, TypeError, LookupError):  # from the date parser
            return None
    return None if math.isnan(seconds) else max(0.0, seconds)


# Prices of models, and the cost of calls.

_SMALLEST: Final = 0.000_001


@dataclass(frozen=True, slots=True)
class Price:
    """A price in US dollars for a million tokens."""

    input: float
    output: float
    cached: float | None = None
    """For input from the endpoint's prompt cache; the full price where none is given."""

    def cost(self, usage: Usage) -> float:
        cached = self.input if self.cached is None else self.cached
        fresh = usage.input - usage.cached
        spent = fresh * self.input + usage.cached * cached + usage.output * self.output
        return spent / 1_000_000

    def scaled(self, factor: float) -> Price:
        cached = None if self.cached is None else factor * self.cached
        return Price(factor * self.input, factor * self.output, cached)


@dataclass(frozen=True, slots=True)
class Cost:
    dollars: float = 0.0
    complete: bool = True
    """False where a part is missing: tokens that were not counted, a model without a price."""

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.dollars + other.dollars, self.complete and other.complete)

    def to_json(self) -> dict[str, Json]:
        return {"dollars": self.dollars, "dollars_complete": self.complete}

    def __str__(self) -> str:
        return write_dollars(self.dollars) + ("" if self.complete else "+")


@dataclass(frozen=True, slots=True)
class PriceList:
    """The prices of a model and of those beside it, by name; None for one without."""

    main: Price | None = None
    others: Mapping[str, Price | None] = field(default_factory=dict[str, "Price | None"])

    @property
    def has_prices(self) -> bool:
        """Whether any of the models has a price; without one no amount is shown."""
        return self.main is not None or any(self.others.values())

    def cost(self, usage: Usage, model: str | None = None) -> Cost:
        price = self.others.get(model) if model else self.main
        if price is None:
            return Cost(complete=False)
        return Cost(price.cost(usage), usage.reported)

    def scaled(self, factor: float) -> PriceList:
        others = {name: one and one.scaled(factor) for name, one in self.others.items()}
        return PriceList(self.main and self.main.scaled(factor), others)

    def total(self, exchanges: Iterable[Exchange]) -> Cost | None:
        if not self.has_prices:
            return None
        each = (self.cost(one.completion.usage, one.call.model) for one in exchanges)
        return sum(each, Cost())


def sum_costs(costs: Iterable[Cost | None]) -> Cost | None:
    known = [cost for cost in costs if cost is not None]
    return sum(known, Cost()) if known else None


def write_dollars(amount: float) -> str:
    """Write an amount of money: $1.37, $0.05, $0.0042; a small one with two significant digits."""
    if not amount:
        return "$0"
    if abs(amount) < _SMALLEST:
        return f"under ${_SMALLEST:f}"
    places = max(2, 1 - floor(log10(abs(amount))))
    whole, _, part = f"{amount:,.{places}f}".partition(".")
    return f"${whole}.{part.rstrip('0').ljust(2, '0')}"


# A budget in tokens and money: a call is only made if its worst case fits into the rest of it.
#
# Tokens that an endpoint does not report are charged at their maximum. A failed try is charged
# too: its prompt where the endpoint broke down, the whole reservation where the reply was partial,
# malformed or too late. Only a call that was refused or never arrived costs nothing.

_ROUNDING: Final = 1e-9
"""Dollars by which a sum may exceed a limit: floating-point sums are not exact."""


class BudgetSpent(CfrError):
    """The next call could cost more than the rest of a budget; ``budget`` names a shared one."""

    exit_code = 7
    ends = "run"

    def __init__(self, message: str = "", budget: str = "") -> None:
        super().__init__(message)
        self.budget = budget


class Budget:
    """The tokens and money left, less the reservations of calls in flight."""

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
        """Reserve the most that a call can cost; wait while calls in flight hold too much."""
        while not self.has_room(usage, cost):
            if not self._reserved_tokens:
                raise BudgetSpent(self._refusal(usage, cost))
            self._changed.clear()
            await self._changed.wait()
        self._reserved_tokens += usage.total
        self._reserved_cost += cost

    def settle(self, reserved: Usage, reserved_cost: float, used: Usage, cost: float) -> None:
        """Release a reservation and charge the actual usage."""
        self._reserved_tokens -= reserved.total
        self._reserved_cost = self._reserved_tokens and self._reserved_cost - reserved_cost
        self.tokens += used.total
        self.cost += cost
        self._changed.set()

    def has_room(self, usage: Usage, cost: float) -> bool:
        tokens = self.tokens + self._reserved_tokens + usage.total
        cost += self.cost + self._reserved_cost
        return is_within(self._max_tokens, self._max_cost, tokens, cost)

    def spend(self, usage: Usage, cost: float) -> bool:
        if not self.has_room(usage, cost):
            return False
        self.tokens += usage.total
        self.cost += cost
        return True

    async def close(self) -> None:
        """Wait until all charges are settled; in this process they are settled at once."""

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
    return tokens <= (max_tokens or tokens) and cost <= (max_cost or cost) + _ROUNDING


def most_usage(call: Call) -> Usage:
    """Return the most tokens that a call can use; a group's prompt counts once."""
    # A text has at most as many tokens as bytes; 64 more are for the chat template.
    prompt = sum(len(m.content.encode("utf-8", "replace")) for m in call.messages) + 64
    return Usage(prompt, replies_to(call) * call.max_tokens)


def charged(completion: Completion, most: Usage) -> Usage:
    """Return the token counts that the endpoint reported; where it reported none, the most."""
    usage = completion.usage
    wrote = completion.text or completion.reasoning
    return replace(
        usage,
        input=usage.input or most.input,
        output=usage.output if usage.output or (usage.reported and not wrote) else most.output,
    )


def wasted(fault: EngineError, most: Usage) -> Usage:
    if isinstance(fault, Rejected | RateLimited | Unreachable):
        return Usage()
    return Usage(most.input) if isinstance(fault, ServerFault) else most
