"""What commands write and how Ctrl-C ends them; texts of models and endpoints are made harmless."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import signal
import sys
import threading
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

import click

from constraint_first.file.safe import one_line, printable, printable_json

# Commands write through this module or through ``cli.console`` and in no other way: control
# characters in a model's reply must not reach the terminal. ``tests/cli/test_output.py`` checks it.


def print_text(text: object = "") -> None:
    """Write a text of any number of lines to standard output."""
    click.echo(printable(str(text)))


def print_note(text: str) -> None:
    """Write one line to standard error."""
    click.echo(one_line(text), err=True)


def print_error(text: str) -> None:
    """Write a message of any number of lines to standard error."""
    click.echo(printable(text), err=True)


def print_json(value: Any, indent: int | None = None) -> None:
    """Write exact JSON to standard output, its control characters escaped."""
    written = printable_json(value, indent)
    try:
        written.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:  # the encoding lacks some characters: escape them
        written = json.dumps(value, indent=indent)
    click.echo(written)


# Ctrl-C: the first ends the work in good order and says how to go on, the second ends at once.

T = TypeVar("T")

INTERRUPTED: Final = 130
"""The exit code of a command that was interrupted."""
_AT_ONCE: Final = b"cfr: stopped at once\n"
_SHOW_CURSOR: Final = b"\x1b[?25h"


class Stopped(click.Abort):
    """Ctrl-C ended a command; the message says how to go on."""


def run_interruptible(
    work: Coroutine[Any, Any, T], say: Callable[[], str], noticed: Callable[[], None] | None = None
) -> T:
    """Run a coroutine; Ctrl-C cancels it, and ``Stopped`` is then raised with the text of ``say``.

    ``noticed`` is called at once, before the cancellation changes anything. A handler of SIGINT
    that is not Python's own (ignored under nohup, for one) is left in place.
    """
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return asyncio.run(work)
    interrupt = _Interrupt(noticed)

    signal.signal(signal.SIGINT, interrupt.handle)
    try:
        with asyncio.Runner() as runner:
            interrupt.task = runner.get_loop().create_task(work)
            return runner.get_loop().run_until_complete(interrupt.task)
    except asyncio.CancelledError:
        raise Stopped(say()) from None
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


class _Interrupt:
    """The handler of SIGINT while a task runs."""

    def __init__(self, noticed: Callable[[], None] | None) -> None:
        self.task: asyncio.Task[Any] | None = None
        self._noticed = noticed
        self._seen = False

    def handle(self, *_: object) -> None:
        """Cancel the task; a second time exit at once, since the store is safe at any moment."""
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
    """Write the command that was typed, without a store's password."""
    from constraint_first.store.database import without_password

    return shlex.join(["cfr", *map(without_password, sys.argv[1:])])
