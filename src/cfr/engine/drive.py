"""The driver of a method: performs its calls with an engine until it returns."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from cfr.engine.engine import SILENT, Engine, Watcher
from cfr.engine.journal import Journal, storable_call, storable_completion
from cfr.protocol import Call, Completion, Exchange, Run, Steps
from cfr.thinking import split_thinking

__all__ = ["Outcome", "drive"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """A method's result and every exchange that led to it."""

    result: T
    exchanges: tuple[Exchange, ...]


async def drive(
    steps: Steps[T], engine: Engine, *, watcher: Watcher = SILENT, journal: Journal | None = None
) -> Outcome[T]:
    """Run a method to its end. Calls of one round are performed at the same time.

    With a journal, completions it already has are not asked for again, and each new one is stored
    before the method sees it. Whatever an engine returns passes the gate for storable values first,
    so that the method sees the same on a replay; thinking inside a reply is set apart there too.
    """
    run = Run(steps)
    while not run.done:
        first = len(run.exchanges)
        # All calls of a round are waited for even if one fails: what is paid for is journalled.
        results = await asyncio.gather(
            *(
                _perform(call, first + n, engine, watcher, journal)
                for n, call in enumerate(run.calls)
            ),
            return_exceptions=True,
        )
        run.advance(tuple(map(_unless_failed, results)))
    return Outcome(run.result, tuple(run.exchanges))


def _unless_failed(result: Completion | BaseException) -> Completion:
    if isinstance(result, BaseException):
        raise result
    return result


async def _perform(
    call: Call, ordinal: int, engine: Engine, watcher: Watcher, journal: Journal | None
) -> Completion:
    watcher.started(call)
    completion = journal.recall(ordinal, call) if journal else None
    if completion is None:
        received = await engine.complete(storable_call(call), watcher)
        completion = storable_completion(_with_thinking_apart(received))
        if journal:
            await journal.record(ordinal, call, completion)
    watcher.finished(call, completion)
    return completion


def _with_thinking_apart(completion: Completion) -> Completion:
    """Move thinking that a model wrote into its reply to where other endpoints return it."""
    thinking, said = split_thinking(completion.text)
    if said is completion.text:
        return completion
    apart = "\n\n".join(filter(None, (completion.reasoning, thinking)))
    return replace(completion, text=said, reasoning=apart)
