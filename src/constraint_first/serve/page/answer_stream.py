"""One answer on its way to a page: each stage as it is written, and as HTML once it is whole."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final, TypeAlias

import orjson
from aiohttp import web

from constraint_first.constraint.recovery import read_spec
from constraint_first.engine.error import Transient
from constraint_first.engine.ordered_watcher import OrderedWatcher, stage_title
from constraint_first.file.printable import one_line
from constraint_first.file.storable import storable_text
from constraint_first.protocol import Call, Completion, Output, Program
from constraint_first.serve.attempt import Question, answer
from constraint_first.serve.error_reply import describe_error
from constraint_first.serve.outbox import Outbox, Words
from constraint_first.serve.reply import ServedAnswer
from constraint_first.thinking import without_thinking

__all__ = ["PageWatcher", "stream_answer"]

Fill: TypeAlias = Callable[..., str]
"""Fills a template by its name, with values."""
Conclude: TypeAlias = Callable[[ServedAnswer], str]
"""Writes what comes last: the answer and what it is worth."""

_COMMENT: Final = b": still at work\n\n"
_EVENTS: Final = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",  # nginx would keep events back
}


class PageWatcher(OrderedWatcher):
    """Writes an attempt step by step.

    A step is a reply or a program. It has a title, then words as they come, then HTML that takes
    the place of the words.
    """

    def __init__(self, outbox: Outbox, fill: Fill, *, held: bool = False) -> None:
        super().__init__()
        self._outbox = outbox
        self._fill = fill
        self._held = held
        """Whether replies are drafts, folded away when the checked one comes."""
        self._step = 0

    def begin(self, call: Call) -> None:
        """Open a step."""
        self._open(self._title(call))

    def write(self, call: Call, text: str, *, thought: bool) -> None:  # noqa: ARG002
        """Add words."""
        self._outbox.write(self._step, "thought" if thought else "words", text)

    def end(self, call: Call, completion: Completion, *, written: bool) -> None:
        """Put the whole reply in the place of its words."""
        if not written:
            self._open(self._title(call))
        spec = read_spec(completion.text) if call.stage == "stage1" else None
        fold = self._held or not written
        self._close("reply_part.html", reply=completion, call=call, recovered=spec, fold=fold)

    def show_output(self, program: Program, output: Output) -> None:
        """Show a program and what it printed."""
        self._open("Program run")
        self._close("program_part.html", source=program.source, output=output)

    def retrying(self, call: Call, fault: Transient, seconds: float) -> None:
        """Say that a reply begins anew."""
        super().retrying(call, fault, seconds)
        self._outbox.write(self._step, "again", one_line(str(fault)))

    def _title(self, call: Call) -> str:
        return "Draft" if self._held else stage_title(call.stage)

    def _open(self, title: str) -> None:
        self._step += 1
        self._outbox.write(self._step, "step", title)

    def _close(self, template: str, **values: Any) -> None:
        html = self._fill(template, answer_of=without_thinking, **values)
        self._outbox.write(self._step, "html", html)


async def stream_answer(
    request: web.Request, question: Question, fill: Fill, conclude: Conclude
) -> web.StreamResponse:
    """Answer a question, and send what happens as it happens."""
    outbox = Outbox()
    held = await question.services.holds(question.chosen, question.problem)
    watcher = PageWatcher(outbox, fill, held=held)
    work = asyncio.create_task(answer(question, watcher=watcher))
    work.add_done_callback(lambda _: outbox.close())
    response = web.StreamResponse(headers=_EVENTS)
    try:
        await response.prepare(request)
        while not outbox.is_drained:
            await response.write(_written(await outbox.take(question.services.settings.silence)))
        await response.write(await _last(question, work, conclude))
        await response.write_eof()
    except ConnectionError:
        question.served.error = question.served.why_cancelled
    finally:
        work.cancel()
        with suppress(BaseException):
            await work
    return response


async def _last(question: Question, work: asyncio.Task[ServedAnswer], conclude: Conclude) -> bytes:
    """Write the event that ends an answer."""
    try:
        made = await work
        question.served.usage = made.solved.usage
        return _event("end", await asyncio.to_thread(conclude, made))
    except Exception as error:
        told = describe_error(error)
        question.served.error = told.message
        return _event("error", told.message)


def _written(waiting: Sequence[Words] | None) -> bytes:
    if waiting is None:
        return _COMMENT
    return b"".join(_event(one.name, one.text.getvalue(), one.index) for one in waiting)


def _event(kind: str, text: str, step: int = 0) -> bytes:
    value = {"kind": kind, "step": step, "text": storable_text(text)}
    return b"data: " + orjson.dumps(value) + b"\n\n"
