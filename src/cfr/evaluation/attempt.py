"""One attempt: its calls in the store, its engine, and how it ended."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Final

import orjson

from cfr.answer import GradingCase, grade_all
from cfr.engine.drive import Outcome
from cfr.engine.engine import SILENT, Engine, Watcher
from cfr.engine.journal import digest, require_same
from cfr.evaluation.status import Status
from cfr.evaluation.store import Store, StoredCall, usage_columns
from cfr.evaluation.writer import RowValues
from cfr.problem import Problem, Solution
from cfr.protocol import Call, Completion, Message, Usage

__all__ = ["Ending", "EngineForRun", "StoredJournal", "ended", "failed"]

# Runs of one problem, and samples within a run, get seeds of their own where a seed is fixed.
_SEEDS_A_RUN: Final = 1_000


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


def failed(reason: str, usage: Usage) -> Ending:
    """End an attempt without a result."""
    return Ending("failed", usage, error=reason)


async def ended(outcome: Outcome[Solution], problem: Problem) -> Ending:
    """End an attempt with what its method returned, and judge it where there is a gold answer."""
    solution = outcome.result
    ending = Ending(
        status=_status(solution),
        usage=sum((e.completion.usage for e in outcome.exchanges), Usage()),
        answer=solution.answer,
        text=solution.text,
        details=orjson.dumps(solution.details).decode(),
    )
    if problem.answer is None:
        return ending
    (verdict,) = await grade_all([GradingCase(solution.answer, problem.answer, problem.text)])
    return replace(ending, verdict=verdict.verdict, tier=verdict.tier)


def _status(solution: Solution) -> Status:
    if solution.answer is not None:
        return "ok"
    return "truncated" if solution.truncated else "unparsed"


class StoredJournal:
    """The calls of one attempt, in the store."""

    def __init__(self, store: Store, key: dict[str, int], known: dict[int, StoredCall]) -> None:
        self._store = store
        self._key = key
        self._known = known
        self._began = time.monotonic()
        self.usage = Usage()

    def recall(self, ordinal: int, call: Call) -> Completion | None:
        """Return what is stored of an earlier run, if it was asked the same."""
        if ordinal not in self._known:
            self._began = time.monotonic()
            return None
        stored = self._known[ordinal]
        require_same(ordinal, call, stored.digest)
        self.usage += stored.completion.usage
        return stored.completion

    async def record(self, ordinal: int, call: Call, completion: Completion) -> None:
        """Store a completion with what was asked."""
        self.usage += completion.usage
        messages = [{"role": m.role, "content": m.content} for m in call.messages]
        await self._store.write_call(
            self._key
            | {
                "ordinal": ordinal,
                "stage": call.stage,
                "digest": digest(call),
                "messages": orjson.dumps(messages).decode(),
                "max_tokens": call.max_tokens,
                "text": completion.text,
                "reasoning": completion.reasoning,
                "finish": completion.finish,
                "reported": completion.usage.reported,
                "seconds": time.monotonic() - self._began,
            }
            | usage_columns(completion.usage)
        )


class EngineForRun:
    """An engine for one run of a series: with its system prompt, and seeds of its own."""

    def __init__(self, engine: Engine, run_index: int, system: str) -> None:
        self._engine = engine
        self._offset = run_index * _SEEDS_A_RUN
        self._ahead = (Message("system", system),) if system else ()

    async def complete(self, call: Call, watcher: Watcher = SILENT) -> Completion:
        """Perform a call."""
        messages = self._ahead + call.messages
        sample = call.sample + self._offset
        return await self._engine.complete(replace(call, messages=messages, sample=sample), watcher)
