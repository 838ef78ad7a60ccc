"""The ``cfr`` command: one file for a command group, imported only when that command runs."""

from __future__ import annotations

import gc
import importlib
import io
import json
import os
import shlex
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from constraint_first.error import CfrError
from constraint_first.file.safe import one_line, printable, printable_json

if TYPE_CHECKING:
    import asyncio

# name: (module of this package, one line of help). The help is repeated here so that `cfr --help`
# imports no command; a test compares it with the command's own first line.
COMMANDS: dict[str, tuple[str, str]] = {
    "solve": ("solve", "Solve a problem; show its cues, constraints, solution and cost."),
    "eval": ("eval", "Run methods on benchmarks; the same command resumes a run that was stopped."),
    "work": (
        "eval",
        "Run the missing attempts of a shared store, beside any number of other workers.",
    ),
    "serve": ("serve", "Serve a model with a method in front of it, for any OpenAI client."),
    "mcp": ("serve", "Serve tools to MCP clients: solve, constraints, check_answer and grade."),
    "runs": (
        "runs",
        "List what a store holds: each method on each benchmark, with its score and its cost.",
    ),
    "show": (
        "runs",
        "Show one stored attempt in full: the problem, every call, checks and the verdict.",
    ),
    "compare": (
        "study",
        "Compare methods problem by problem: gain, interval, exact test, correction.",
    ),
    "calibrate": (
        "study",
        "Learn from graded runs which method to use for which problems; say whether to switch.",
    ),
    "audit": (
        "study",
        "Audit stored runs: the router, Stage 1, errors, and constraints that people marked.",
    ),
    "report": (
        "study",
        "Write a report: one HTML page that works offline, Markdown, LaTeX tables, figures.",
    ),
    "export": ("runs", "Write every attempt of a store to a JSON Lines, CSV or Parquet file."),
    "merge": ("runs", "Join stores in one: attempts, failures and every call that was made."),
    "route": ("text", "Show which restrictive cues a problem has; on a file, count them."),
    "program": ("text", "Run a Python program in the sandbox and print what it prints."),
    "constraints": (
        "text",
        "Show what a text demands of any answer or reply; on a file, audit it or judge replies.",
    ),
    "prompts": ("assets", "List the prompts, show one, or copy them to write your own."),
    "models": ("assets", "List, pull, verify and remove the models that run on this machine."),
    "demo": ("solve", "Solve a few problems with Direct CoT and with auto, and compare."),
    "bench": ("assets", "Generate, show, verify and export ConstraintBench problems."),
    "grade": ("text", "Judge answers against gold answers."),
    "extract": ("text", "Read the final answer out of each reply of a file."),
}


class _ReaderGone(Exception):
    """The reader of our output closed the pipe (`cfr … | head`)."""


class LazyGroup(click.Group):
    """A group that lists its commands by name and imports one only to run it."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; click itself exits with 1 on a broken pipe."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise _ReaderGone from None

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"{__name__}.{COMMANDS[cmd_name][0]}")
        return getattr(module, f"{cmd_name}_command")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(
    cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "show_default": True}
)
@click.version_option(package_name="constraint-first", prog_name="cfr")
def root() -> None:
    """Make language models respect what a problem demands of its answer."""


def main() -> None:
    """Run the command line; a known error is one line on standard error, never a traceback."""
    gc.set_threshold(20_000)  # imports make objects that stay: early collections free nothing
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # an encoding without our characters gets "?"
    try:
        sys.exit(root.main(standalone_mode=False, prog_name="cfr") or 0)
    except CfrError as error:
        _fail(str(error), error.exit_code)
    except click.UsageError as error:
        error.show(said := io.StringIO())  # the message may quote control characters
        _end(said.getvalue().rstrip(), error.exit_code)
    except click.ClickException as error:
        _fail(error.format_message(), error.exit_code)
    except (KeyboardInterrupt, click.Abort) as stopped:
        _fail(str(stopped) or "stopped", 130)
    except _ReaderGone:  # standard output is closed
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except Exception:  # a bug: print the traceback, still without control characters
        _end(traceback.format_exc().rstrip(), 1)


def _fail(message: str, code: int) -> None:
    _end(f"cfr: {one_line(message)}", code)


def _end(message: str, code: int) -> None:
    click.echo(printable(message), err=True)
    sys.exit(code)


# Commands write only through this module or ``cli.console``: control characters in a model's reply
# must not reach the terminal. ``tests/cli/test_output.py`` checks it.


def print_text(text: object = "") -> None:
    click.echo(printable(str(text)))


def print_note(text: str) -> None:
    """Write one line to standard error."""
    click.echo(one_line(text), err=True)


def print_json(value: Any, indent: int | None = None) -> None:
    """Write exact JSON to standard output, its control characters escaped."""
    written = printable_json(value, indent)
    try:
        written.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:  # the encoding lacks some characters: escape them
        written = json.dumps(value, indent=indent)
    click.echo(written)


# Ctrl-C: the first stops the work gracefully and prints how to resume, the second exits at once.

T = TypeVar("T")

INTERRUPTED: Final = 130
"""The exit code of a command that was interrupted."""
_AT_ONCE: Final = b"cfr: stopped at once\n"
_SHOW_CURSOR: Final = b"\x1b[?25h"


class Stopped(click.Abort):
    """Ctrl-C ended a command; the message says how to resume."""


def run_interruptible(
    work: Coroutine[Any, Any, T], say: Callable[[], str], noticed: Callable[[], None] | None = None
) -> T:
    """Run a coroutine; Ctrl-C cancels it, and ``Stopped`` is then raised with the text of ``say``.

    ``noticed`` is called before the cancellation changes anything. A handler of SIGINT
    that is not Python's own (ignored under nohup, for one) is left in place.
    """
    import asyncio

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
    def __init__(self, noticed: Callable[[], None] | None) -> None:
        self.task: asyncio.Task[Any] | None = None
        self._noticed = noticed
        self._seen = False

    def handle(self, *_: object) -> None:
        """Cancel the task; the second time exit at once, which never harms the store."""
        if self._seen:
            os.write(2, _SHOW_CURSOR * os.isatty(2) + _AT_ONCE)
            os._exit(INTERRUPTED)
        if self.task is None:
            raise KeyboardInterrupt
        self._seen = True
        # Not here: the signal may have come in the middle of a print, which allows no second one.
        self.task.get_loop().call_soon_threadsafe(self._cancel, self.task)

    def _cancel(self, task: asyncio.Task[Any]) -> None:
        if self._noticed:
            self._noticed()
        task.cancel()


def typed_command() -> str:
    """Return the command line, without a store's password."""
    from constraint_first.store.database import without_password

    return shlex.join(["cfr", *map(without_password, sys.argv[1:])])
