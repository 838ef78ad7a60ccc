"""The driver of a method: performs its calls with an engine, its programs in a sandbox."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeAlias, TypeVar

from cfr.engine.engine import SILENT, Engine, Watcher
from cfr.engine.journal import (
    Journal,
    storable_call,
    storable_completion,
    storable_output,
    storable_program,
)
from cfr.engine.sandbox.sandbox import run_program
from cfr.protocol import (
    Answer,
    Call,
    Completion,
    Entry,
    Exchange,
    Output,
    Program,
    Run,
    Steps,
)
from cfr.thinking import split_thinking

__all__ = ["Outcome", "RunProgram", "drive"]

T = TypeVar("T")

RunProgram: TypeAlias = Callable[[Program], Awaitable[Output]]
"""What runs programs: a sandbox, or what stands for one in a test."""


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """A method's result and everything that led to it."""

    result: T
    transcript: tuple[Entry, ...]

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """The calls and their completions."""
        return tuple(entry for entry in self.transcript if isinstance(entry, Exchange))


async def drive(
    steps: Steps[T],
    engine: Engine,
    *,
    watcher: Watcher = SILENT,
    journal: Journal | None = None,
    sandbox: RunProgram = run_program,
) -> Outcome[T]:
    """Run a method to its end. Calls and programs of one round are performed at the same time.

    With a journal, answers it already has are not asked for again, and each new one is stored
    before the method sees it. Whatever comes from outside passes the gate for storable values
    first, so that the method sees the same on a replay; thinking inside a reply is set apart there
    too.
    """
    run = Run(steps)
    while not run.done:
        first = len(run.transcript)
        # All steps of a round are waited for even if one fails: what is paid for is journalled.
        results = await asyncio.gather(
            *(
                _execute(step, first + n, sandbox, watcher, journal)
                if isinstance(step, Program)
                else _perform(step, first + n, engine, watcher, journal)
                for n, step in enumerate(run.round)
            ),
            return_exceptions=True,
        )
        run.advance(tuple(map(_unless_failed, results)))
    return Outcome(run.result, tuple(run.transcript))


def _unless_failed(result: Answer | BaseException) -> Answer:
    if isinstance(result, BaseException):
        raise result
    return result


async def _perform(
    call: Call, ordinal: int, engine: Engine, watcher: Watcher, journal: Journal | None
) -> Completion:
    watcher.started(call)
    completion = journal.recall(ordinal, call) if journal else None
    if not isinstance(completion, Completion):
        received = await engine.complete(storable_call(call), watcher)
        completion = storable_completion(_with_thinking_apart(received))
        if journal:
            await journal.record(ordinal, call, completion)
    watcher.finished(call, completion)
    return completion


async def _execute(
    program: Program, ordinal: int, sandbox: RunProgram, watcher: Watcher, journal: Journal | None
) -> Output:
    watcher.executing(program)
    output = journal.recall(ordinal, program) if journal else None
    if not isinstance(output, Output):
        output = storable_output(await sandbox(storable_program(program)))
        if journal:
            await journal.record(ordinal, program, output)
    watcher.executed(program, output)
    return output


def _with_thinking_apart(completion: Completion) -> Completion:
    """Move thinking that a model wrote into its reply to where other endpoints return it."""
    thinking, said = split_thinking(completion.text)
    if said is completion.text:
        return completion
    apart = "\n\n".join(filter(None, (completion.reasoning, thinking)))
    return replace(completion, text=said, reasoning=apart)
