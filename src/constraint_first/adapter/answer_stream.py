"""An answer as it is made: the work and the solution in pieces, then the whole of it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import suppress
from dataclasses import dataclass, replace
from queue import SimpleQueue
from typing import ClassVar, Final, TypeAlias, TypeVar

from constraint_first.engine.automatic import AUTO, choose_for
from constraint_first.engine.dispatch import Dispatch, opened_all
from constraint_first.engine.resolve import Resolved
from constraint_first.engine.solve import asolve, preceded
from constraint_first.method import Method, make
from constraint_first.method.calibrated import in_conversation
from constraint_first.problem import Problem, Solution
from constraint_first.protocol import Call, Message, Steps
from constraint_first.serve.certainty import announcing
from constraint_first.serve.outbox import Outbox
from constraint_first.serve.reply import ServedAnswer
from constraint_first.serve.stream_watcher import REASONING, StreamWatcher
from constraint_first.serve.work import describe_start

__all__ = ["Piece", "Question", "Streamed", "iterate", "stream_answer"]

T = TypeVar("T")

_PATIENCE: Final = 60.0
"""Seconds between two looks at a model that says nothing."""


@dataclass(frozen=True, slots=True)
class Question:
    """A problem, the method that is to answer it, and what was said before."""

    problem: Problem
    method: str = AUTO
    context: tuple[Message, ...] = ()
    """System messages and earlier turns, which go ahead of every call."""


@dataclass(frozen=True, slots=True)
class Piece:
    """The next words: of the work before the solution, or of the solution."""

    text: str
    is_work: bool


Streamed: TypeAlias = Piece | ServedAnswer
"""What comes out of a stream: pieces, and at its end the answer with all that led to it."""


async def stream_answer(question: Question, engine: Dispatch[Resolved]) -> AsyncGenerator[Streamed]:
    """Answer a question; the split into work and solution is that of ``cfr serve``."""
    outbox = Outbox()
    work = asyncio.create_task(_answer(question, engine, outbox))
    work.add_done_callback(lambda _: outbox.close())
    try:
        while not outbox.is_drained:
            for words in await outbox.take(_PATIENCE) or ():
                yield words.ended or Piece(words.text.getvalue(), words.name == REASONING)
        await work
    finally:
        work.cancel()
        with suppress(BaseException):
            await work


async def _answer(question: Question, engine: Dispatch[Resolved], outbox: Outbox) -> None:
    problem, name = question.problem, question.method
    async with opened_all(engine) as opened:
        if name == AUTO:
            name = choose_for(opened.main).method
        method = in_conversation(make(name), question.context)
        watcher = StreamWatcher(outbox, 0, describe_start(method, problem))
        told = _Announced(method, watcher, question.context)
        solved = await asolve(problem, told, engine=opened, watcher=watcher)
        upstream = opened.main.model
    watcher.conclude(ServedAnswer(replace(solved, method=method), name, upstream))


@dataclass(frozen=True, slots=True)
class _Announced:
    """A method whose watcher hears which call is the solving one, before it is asked."""

    label: ClassVar[str] = "announced"
    method: Method
    watcher: StreamWatcher
    context: tuple[Message, ...]

    def solve(self, problem: Problem) -> Steps[Solution]:
        """Take the method's steps, with what was said before ahead of each call."""
        steps = preceded(self.method.solve(problem), self.context)
        return announcing(steps, self.method, problem, self._tell)

    def _tell(self, call: Call) -> None:
        self.watcher.announce(call)


def iterate(source: AsyncGenerator[T]) -> Generator[T]:
    """Read an asynchronous generator from ordinary code, also where an event loop runs already.

    It runs in a thread of its own, and is stopped where the reader goes away.
    """
    waiting: SimpleQueue[tuple[T] | BaseException | None] = SimpleQueue()
    begun: SimpleQueue[tuple[asyncio.AbstractEventLoop, asyncio.Task[None]]] = SimpleQueue()

    async def read() -> None:
        async for one in source:
            waiting.put((one,))

    async def main() -> None:
        task = asyncio.create_task(read())
        begun.put((asyncio.get_running_loop(), task))
        await task

    def work() -> None:
        try:
            asyncio.run(main())
        except BaseException as error:  # whatever it is, it belongs to the reader
            waiting.put(error)
        else:
            waiting.put(None)

    thread = threading.Thread(target=work, name="cfr-iterate", daemon=True)
    thread.start()
    loop, task = begun.get()
    try:
        while (one := waiting.get()) is not None:
            if isinstance(one, BaseException):
                raise one
            yield one[0]
    finally:
        with suppress(RuntimeError):  # the loop has ended by itself
            loop.call_soon_threadsafe(task.cancel)
        thread.join()
