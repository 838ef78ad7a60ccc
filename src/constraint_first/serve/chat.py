"""Answers to questions that name a method: whole, or as a stream of events."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Any, Final

from aiohttp import web

from constraint_first.protocol import Usage
from constraint_first.serve.attempt import Question, answer
from constraint_first.serve.error_reply import ErrorReply, describe_error
from constraint_first.serve.outbox import Outbox, Words
from constraint_first.serve.reply import DONE, ReplyHead, ServedAnswer
from constraint_first.serve.stream_watcher import StreamWatcher
from constraint_first.serve.work import describe_start

__all__ = ["answer_in_stream", "answer_whole"]

_COMMENT: Final = b": still at work\n\n"
_FAREWELL: Final = 1.0
"""Seconds that a client has to hear what went wrong."""
_EVENTS: Final = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-cache",
    "X-Accel-Buffering": "no",  # nginx would keep events back
}


async def answer_whole(question: Question) -> web.Response:
    """Make all attempts, and answer when they are there."""
    head = _head(question)
    answers = await _attempts(question.asked.n, lambda number: answer(question, number))
    question.served.usage = _used(answers)
    return web.Response(body=head.whole(answers), content_type="application/json")


async def answer_in_stream(request: web.Request, question: Question) -> web.StreamResponse:
    """Make all attempts, and write down what happens as it happens."""
    outbox = Outbox()
    work = asyncio.create_task(_work(question, outbox))
    work.add_done_callback(lambda _: outbox.close())
    stream = _EventStream(request, question)
    try:
        while not outbox.is_drained:
            await stream.send(await outbox.take(question.services.settings.silence))
        answers = await work
    except (Exception, asyncio.CancelledError) as error:
        told = question.served.overdue if isinstance(error, asyncio.CancelledError) else error
        if told is None or not stream.is_begun:  # nobody is there, or it can still be a status
            raise
        await stream.fail(describe_error(told))
    else:
        question.served.usage = _used(answers)
        await stream.end(question.served.usage)
    finally:
        work.cancel()
        with suppress(BaseException):
            await work
    return stream.response


async def _work(question: Question, outbox: Outbox) -> list[ServedAnswer]:
    start = describe_start(question.chosen.method, question.problem)

    async def attempt(number: int) -> ServedAnswer:
        watcher = StreamWatcher(outbox, number, start)
        made = await answer(question, number, watcher, watcher.announce)
        watcher.conclude(made)
        return made

    return await _attempts(question.asked.n, attempt)


async def _attempts(
    n: int, attempt: Callable[[int], Coroutine[Any, Any, ServedAnswer]]
) -> list[ServedAnswer]:
    """Make n attempts at the same time; one that fails ends the others."""
    if n == 1:
        return [await attempt(0)]
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(attempt(number)) for number in range(n)]
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [task.result() for task in tasks]


def _used(answers: Sequence[ServedAnswer]) -> Usage:
    return sum((one.solved.usage for one in answers), Usage())


def _head(question: Question) -> ReplyHead:
    head = ReplyHead(question.served.model, include_usage=question.asked.include_usage)
    question.served.id = head.id
    return head


class _EventStream:
    """The events of one reply. Nothing is sent before there is something to say."""

    def __init__(self, request: web.Request, question: Question) -> None:
        self.response = web.StreamResponse(headers=_EVENTS)
        self._request = request
        self._asked = question.asked
        self._served = question.served
        self._head = _head(question)

    @property
    def is_begun(self) -> bool:
        """Whether the client has a status already."""
        return self.response.prepared

    async def send(self, waiting: Sequence[Words] | None) -> None:
        """Send words; a comment where there were none for too long."""
        if waiting is None:
            await self._write(_COMMENT)
        elif waiting:
            self._served.spoke()
            await self._write(b"".join(map(self._event, waiting)))

    async def end(self, usage: Usage) -> None:
        """Send what comes last."""
        last = self._head.usage(usage) if self._asked.include_usage else b""
        await self._write(last + DONE)
        await self.response.write_eof()

    async def fail(self, error: ErrorReply) -> None:
        """Send what went wrong, unless the client takes nothing any more."""
        self._served.error = error.message
        try:
            async with asyncio.timeout(_FAREWELL):
                await self._write(error.event())
                await self.response.write_eof()
        except (TimeoutError, ConnectionError):
            if self._request.transport:
                self._request.transport.abort()

    def _event(self, words: Words) -> bytes:
        if words.ended:
            return self._head.finish(words.index, words.ended)
        return self._head.piece(words.index, words.name, words.text.getvalue())

    async def _write(self, data: bytes) -> None:
        if not self.response.prepared:
            await self.response.prepare(self._request)
            data = b"".join(map(self._head.role, range(self._asked.n))) + data
        await self.response.write(data)
