"""The ``cfr`` command: one file for a command group, imported only when that command runs."""

from __future__ import annotations

import importlib
import io
import os
import sys
import traceback
from typing import Any

import click

from constraint_first.error import CfrError

__all__ = ["main"]


# name: (module of this package, one line of help). The help is repeated here so that `cfr --help`
# imports no command; a test compares it with the command's own first line.
COMMANDS: dict[str, tuple[str, str]] = {
    "solve": ("solve", "Solve a problem; show its cues, constraints, solution and cost."),
    "eval": ("eval", "Run methods on benchmarks; the same command resumes a run that was stopped."),
    "work": ("eval", "Make what is missing in a shared store, beside any number of other workers."),
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
        "compare",
        "Compare methods problem by problem: gain, interval, exact test, correction.",
    ),
    "calibrate": (
        "compare",
        "Learn from graded runs which method to use for which problems; say whether to switch.",
    ),
    "audit": (
        "audit",
        "Audit stored runs: the router, Stage 1, errors, and constraints that people marked.",
    ),
    "report": (
        "compare",
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
    "demo": ("demo", "Solve a few problems with Direct CoT and with auto, and compare."),
    "bench": ("assets", "Generate, show, verify and export ConstraintBench problems."),
    "grade": ("text", "Judge answers against gold answers."),
    "extract": ("text", "Read the final answer out of each reply of a file."),
}


class _ReaderGone(Exception):
    """The reader of our output closed the pipe (`cfr … | head`)."""


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one only to run it."""

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
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # an encoding without our characters gets "?"
    try:
        sys.exit(root.main(standalone_mode=False, prog_name="cfr") or 0)
    except CfrError as error:
        _fail(str(error), error.exit_code)
    except click.UsageError as error:
        error.show(said := io.StringIO())  # it quotes what was typed
        _end(said.getvalue().rstrip(), error.exit_code)
    except click.ClickException as error:
        _fail(error.format_message(), error.exit_code)
    except (KeyboardInterrupt, click.Abort) as stopped:
        _fail(str(stopped) or "stopped", 130)
    except _ReaderGone:  # no message could be read any more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except Exception:  # a bug: print the traceback, still without control characters
        _end(traceback.format_exc().rstrip(), 1)


def _fail(message: str, code: int) -> None:
    from constraint_first.file.safe import one_line

    _end(f"cfr: {one_line(message)}", code)


def _end(message: str, code: int) -> None:
    from constraint_first.cli.output import print_error

    print_error(message)
    sys.exit(code)
