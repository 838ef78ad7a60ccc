"""Ctrl-C: the first ends the work in good order and says how to go on, the second ends at once."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import sys
import threading
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

import click

__all__ = ["INTERRUPTED", "Stopped", "run_interruptible", "typed_command"]

T = TypeVar("T")

INTERRUPTED: Final = 130
"""The exit code of a command that was interrupted."""
_AT_ONCE: Final = b"cfr: stopped at once\n"
_SHOW_CURSOR: Final = b"\x1b[?25h"


class Stopped(click.Abort):
    """The end of a command after Ctrl-C, with what is to be said of it."""


def run_interruptible(
    work: Coroutine[Any, Any, T], say: Callable[[], str], noticed: Callable[[], None] | None = None
) -> T:
    """Run a coroutine; Ctrl-C cancels it, and once it has ended ``say`` tells what is to be said.

    ``noticed`` hears of it at once, while everything still stands as it did. Where interrupts are
    ignored, or handled by somebody else, they stay so.
    """
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return asyncio.run(work)
    interrupt = _Interrupt(noticed)

    async def main() -> T:
        interrupt.task = asyncio.current_task()
        return await work

    signal.signal(signal.SIGINT, interrupt.handle)
    try:
        return asyncio.run(main())
    except asyncio.CancelledError:
        raise Stopped(say()) from None
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


class _Interrupt:
    """What Ctrl-C does while a task runs."""

    def __init__(self, noticed: Callable[[], None] | None) -> None:
        self.task: asyncio.Task[Any] | None = None
        self._noticed = noticed
        self._seen = False

    def handle(self, *_: object) -> None:
        """Cancel the task; what was written so far is safe, so a second time just end."""
        if self._seen:
            os.write(2, _SHOW_CURSOR * os.isatty(2) + _AT_ONCE)
            os._exit(INTERRUPTED)
        if self.task is None:
            raise KeyboardInterrupt
        self._seen = True
        if self._noticed:
            self._noticed()
        self.task.get_loop().call_soon_threadsafe(self.task.cancel)


def typed_command() -> str:
    """Write the command that was typed, for whoever repeats it; without a store's password."""
    from constraint_first.evaluation.database import without_password

    return shlex.join(["cfr", *map(without_password, sys.argv[1:])])
