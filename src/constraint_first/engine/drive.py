"""The driver of a method: performs its calls with an engine, its programs in a sandbox."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from constraint_first.engine.allowance import Allowance
from constraint_first.engine.engine import SILENT, Engine, Watcher
from constraint_first.engine.journal import (
    Journal,
    storable_call,
    storable_completion,
    storable_output,
    storable_program,
)
from constraint_first.engine.sampler import Sampler
from constraint_first.engine.sandbox.sandbox import run_program
from constraint_first.protocol import (
    Answer,
    Call,
    Completion,
    Entry,
    Exchange,
    Output,
    Program,
    Run,
    Step,
    Steps,
)
from constraint_first.thinking import split_thinking

__all__ = ["Advancing", "Outcome", "RunProgram", "drive"]

T = TypeVar("T")
R = TypeVar("R", covariant=True)

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


class Advancing(Protocol[R]):
    """A method under way that is run elsewhere: a ``Run`` whose next round is waited for."""

    @property
    def round(self) -> tuple[Step, ...]:
        """The steps to perform next."""
        ...

    @property
    def transcript(self) -> list[Entry]:
        """Every step so far with its answer."""
        ...

    @property
    def done(self) -> bool:
        """Whether the method has returned."""
        ...

    @property
    def result(self) -> R:
        """What it returned."""
        ...

    async def start(self) -> None:
        """Find the first round."""
        ...

    async def advance(self, answers: tuple[Answer, ...]) -> None:
        """Hand over the answers of a round, and find the next one."""
        ...


async def drive(
    steps: Steps[T] | Advancing[T],
    engine: Engine,
    *,
    watcher: Watcher = SILENT,
    journal: Journal | None = None,
    sandbox: RunProgram = run_program,
    allowance: Allowance | None = None,
) -> Outcome[T]:
    """Run a method to its end. Calls and programs of one round are performed at the same time.

    With a journal, answers it already has are not asked for again, and each new one is stored
    before the method sees it. Whatever comes from outside passes the gate for storable values
    first, so that the method sees the same on a replay; thinking inside a reply is set apart there
    too. An attempt that goes beyond its allowance fails with ``TooExpensive``.
    """
    run = Run(steps) if isinstance(steps, Generator) else steps
    allowed = allowance or Allowance()
    if not isinstance(run, Run):
        await run.start()
    while not run.done:
        allowed.admit([step for step in run.round if isinstance(step, Call)])
        first = len(run.transcript)
        asked = Sampler(engine) if len(run.round) > 1 else engine
        performed = [
            _execute(step, first + n, sandbox, watcher, journal)
            if isinstance(step, Program)
            else _perform(step, first + n, asked, watcher, journal, allowed)
            for n, step in enumerate(run.round)
        ]
        answers = tuple(_mark_shared(run, await _all(performed)))
        if isinstance(run, Run):
            run.advance(answers)
        else:
            await run.advance(answers)
    return Outcome(run.result, tuple(run.transcript))


async def _all(performed: Sequence[Coroutine[Any, Any, Answer]]) -> Iterable[Answer]:
    """Wait for all steps of a round even if one fails: what is paid for is journalled."""
    if len(performed) == 1:  # the usual round, and no task is needed for it
        return (await performed[0],)
    return map(_unless_failed, await asyncio.gather(*performed, return_exceptions=True))


def _unless_failed(result: Answer | BaseException) -> Answer:
    if isinstance(result, BaseException):
        raise result
    return result


def _mark_shared(run: Run[T] | Advancing[T], answers: Iterable[Answer]) -> Iterator[Answer]:
    """Count the input of a call that repeats an earlier one of the attempt as shared.

    It follows from the transcript alone, so that it is the same on every engine and on a replay.
    """
    exchanges = (entry for entry in run.transcript if isinstance(entry, Exchange))
    sent = {(exchange.call.model, exchange.call.messages) for exchange in exchanges}
    for step, answer in zip(run.round, answers, strict=True):
        if isinstance(step, Program) or not isinstance(answer, Completion):
            yield answer
            continue
        asked = step.model, step.messages
        shared = answer.usage.input if asked in sent else 0
        sent.add(asked)
        if shared == answer.usage.shared:
            yield answer
        else:
            yield replace(answer, usage=replace(answer.usage, shared=shared))


async def _perform(
    call: Call,
    ordinal: int,
    engine: Engine,
    watcher: Watcher,
    journal: Journal | None,
    allowed: Allowance,
) -> Completion:
    watcher.started(call)
    completion = journal.recall(ordinal, call) if journal else None
    if not isinstance(completion, Completion):
        reserved = await allowed.reserve(call)
        try:
            received = await engine.complete(storable_call(call), watcher)
            completion = storable_completion(_with_thinking_apart(received))
            allowed.count(call, completion)
        finally:
            allowed.release(reserved)
        if journal:
            await journal.record(ordinal, call, completion)
    else:
        allowed.count(call, completion)
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
