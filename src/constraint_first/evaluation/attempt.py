"""One attempt: its calls in the store, its engine, and how it ended."""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, cast

from constraint_first.engine.allowance import Allowance, AttemptLimit
from constraint_first.engine.drive import drive
from constraint_first.engine.engine import (
    SEEDS_A_RUN,
    SILENT,
    Engine,
    SampledCall,
    Watcher,
    most_samples,
)
from constraint_first.engine.error import EngineError, JournalMismatch, ModelNotFound, Unauthorized
from constraint_first.engine.journal import digest, require_same
from constraint_first.engine.price import Cost, PriceList
from constraint_first.engine.refusal import DecodingRefused
from constraint_first.engine.sandbox.sandbox import SandboxMissing
from constraint_first.error import CfrError
from constraint_first.evaluation.budget import BudgetSpent
from constraint_first.evaluation.error import LeaseLost, StoreError
from constraint_first.evaluation.judge import judge_attempt
from constraint_first.evaluation.status import Status
from constraint_first.evaluation.store import EXECUTED, Store, StoredCall, usage_columns
from constraint_first.evaluation.writer import RowValues
from constraint_first.file.printable import printable
from constraint_first.file.storable import storable_count, storable_json, storable_text
from constraint_first.method import Method
from constraint_first.method.confidence import assessed
from constraint_first.problem import Problem, Solution
from constraint_first.protocol import (
    Answer,
    Call,
    Completion,
    Exchange,
    Message,
    Output,
    Program,
    Step,
    Usage,
)

__all__ = [
    "Ending",
    "EngineForRun",
    "StoredJournal",
    "ending_of",
    "failed",
    "make_attempt",
    "raised_at",
]

_ENDS_THE_RUN: Final = (BudgetSpent, DecodingRefused, JournalMismatch, LeaseLost, StoreError)
# No other attempt will fare better.
_HOPELESS: Final = (Unauthorized, ModelNotFound, SandboxMissing)
_LONGEST_REASON: Final = 400
_NO_PRICES: Final = PriceList()


@dataclass(frozen=True, slots=True)
class Ending:
    """How an attempt ended: its status, and all that is stored of it."""

    status: Status
    usage: Usage
    answer: str | None = None
    text: str = ""
    error: str | None = None
    verdict: str | None = None
    tier: str | None = None
    details: str = "{}"
    hopeless: bool = False
    """Whether the endpoint said something that holds for every attempt."""

    def columns(self) -> RowValues:
        """Spread it over the columns of a row."""
        return {
            "status": self.status,
            "answer": self.answer,
            "text": self.text,
            "error": self.error,
            "verdict": self.verdict,
            "tier": self.tier,
            "details": self.details,
        } | usage_columns(self.usage)


def failed(why: str, usage: Usage, *, hopeless: bool = False) -> Ending:
    """End an attempt without a result."""
    reason = printable(" ".join(why.split())[:_LONGEST_REASON])
    return Ending("failed", usage, error=reason, hopeless=hopeless)


async def make_attempt(
    method: Method,
    problem: Problem,
    engine: EngineForRun,
    journal: StoredJournal,
    limit: AttemptLimit | None = None,
) -> Ending:
    """Make an attempt. Whatever goes wrong in it is how it ends, and touches no other.

    Only a spent budget, a refused decoding, a store that cannot be written, a stored call that no
    longer fits and a lease that was lost are raised. A method that breaks on stored replies would
    break on them for ever: they are dropped, and asked for anew.
    """
    try:
        outcome = await drive(
            assessed(method, problem), engine, journal=journal, allowance=Allowance(limit)
        )
        return await _judge(ending_of(outcome.result, outcome.exchanges), problem)
    except _ENDS_THE_RUN:
        raise
    except CfrError as error:
        return failed(str(error), journal.usage, hopeless=isinstance(error, _HOPELESS))
    except Exception as error:
        broken = failed(
            f"{type(error).__name__}: {_said(error)} ({raised_at(error)})", journal.usage
        )
    if not journal.replays:
        return broken
    await journal.forget()
    return await make_attempt(method, problem, engine, journal, limit)


def ending_of(solution: Solution, exchanges: Iterable[Exchange]) -> Ending:
    """End an attempt with what its method returned."""
    return Ending(
        status=_status(solution),
        usage=sum((one.completion.usage for one in exchanges), Usage()),
        answer=None if solution.answer is None else storable_text(solution.answer),
        text=storable_text(solution.text),
        details=storable_json(solution.details),
    )


async def _judge(ending: Ending, problem: Problem) -> Ending:
    """Judge what came of it where there is a gold to judge it by."""
    verdict = await judge_attempt(problem, ending.answer, ending.text)
    if verdict is None:
        return ending
    return replace(ending, verdict=verdict.verdict, tier=verdict.tier)


def _status(solution: Solution) -> Status:
    if solution.answer is not None:
        return "ok"
    return "truncated" if solution.truncated else "unparsed"


def _said(error: Exception) -> str:
    try:
        return str(error)
    except Exception:  # it has no words for itself either
        return "…"


def raised_at(error: Exception) -> str:
    """Say where an exception was raised, for whoever mends it."""
    *_, (frame, line) = traceback.walk_tb(error.__traceback__)
    return f"in {frame.f_globals.get('__name__', '?')}, line {line}"


class StoredJournal:
    """The calls and programs of one attempt, in the store."""

    def __init__(
        self,
        store: Store,
        key: dict[str, int],
        known: dict[int, StoredCall],
        prices: PriceList = _NO_PRICES,
    ) -> None:
        self._store = store
        self._key = key
        self._known = known
        self._prices = prices
        self._began = time.monotonic()
        self.usage = Usage()
        self.cost = Cost()

    @property
    def replays(self) -> bool:
        """Whether it has calls of an earlier run."""
        return bool(self._known)

    async def forget(self) -> None:
        """Forget the calls of earlier runs, in the store too; only what they cost stays counted."""
        await self._store.forget_calls(self._key)
        self._known, self.usage = {}, Usage()

    def recall(self, ordinal: int, step: Step) -> Answer | None:
        """Return what is stored of an earlier run, if it was asked the same."""
        if ordinal not in self._known:
            self._store.require_lease(self._key)
            self._began = time.monotonic()
            return None
        stored = self._known[ordinal]
        require_same(ordinal, step, stored.digest)
        self._count(step, stored.answer)
        return stored.answer

    async def record(self, ordinal: int, step: Step, answer: Answer) -> None:
        """Store an answer with what was asked."""
        self._count(step, answer)
        written = (
            _execution_columns(step.source, answer)
            if isinstance(step, Program) and isinstance(answer, Output)
            else self._exchange_columns(cast("Call", step), cast("Completion", answer))
        )
        named = {"ordinal": ordinal, "stage": storable_text(step.stage), "digest": digest(step)}
        await self._store.write_call(self._key | named | written)

    def _exchange_columns(self, call: Call, completion: Completion) -> RowValues:
        messages = [{"role": m.role, "content": m.content} for m in call.messages]
        return {
            "messages": storable_json(messages),
            "max_tokens": storable_count(call.max_tokens),
            "text": completion.text,
            "reasoning": completion.reasoning,
            "finish": completion.finish,
            "reported": completion.usage.reported,
            "seconds": time.monotonic() - self._began,
        } | usage_columns(completion.usage)

    def _count(self, step: Step, answer: Answer) -> None:
        if isinstance(step, Call) and isinstance(answer, Completion):
            self.usage += answer.usage
            self.cost += self._prices.cost(answer.usage, step.model)


def _execution_columns(source: str, output: Output) -> RowValues:
    return {
        "messages": storable_json([{"role": "program", "content": source}]),
        "max_tokens": 0,
        "text": output.text,
        "reasoning": output.error,
        "finish": EXECUTED,
        "reported": True,
        "seconds": output.seconds,
    } | usage_columns(Usage())


class EngineForRun:
    """An engine for one run of a series: with its system prompt, and seeds of its own."""

    def __init__(self, engine: Engine, run_index: int, system: str) -> None:
        self._engine = engine
        self._offset = run_index * SEEDS_A_RUN
        self._ahead = (Message("system", system),) if system else ()

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
        """Perform a call.

        What an engine did not foresee is told by its kind and place alone: its words may hold a
        key or an address, of which only the engine knows that they are secret.
        """
        if self._ahead or self._offset:
            messages = self._ahead + call.messages
            call = replace(call, messages=messages, sample=call.sample + self._offset)
        try:
            return await self._engine.complete(call, watcher)
        except CfrError:
            raise
        except Exception as error:
            told = f"the call broke off: {type(error).__name__} {raised_at(error)}"
            raise EngineError(told) from error

    def most_samples(self, group: SampledCall) -> int:
        """As many as the engine takes."""
        return most_samples(self._engine, group)
