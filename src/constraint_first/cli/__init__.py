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

__all__ = [
    "main",
]


# name: (module and attribute, one line of help). The help stands here so that `cfr --help` imports
# no command; a test holds it equal to the command's own first line.
COMMANDS: dict[str, tuple[str, str]] = {
    "solve": (
        "constraint_first.cli.solve:solve_command",
        "Solve a problem; show its cues, constraints, solution and cost.",
    ),
    "eval": (
        "constraint_first.cli.eval:eval_command",
        "Run methods on benchmarks; the same command resumes a run that was stopped.",
    ),
    "work": (
        "constraint_first.cli.eval:work_command",
        "Make what is missing in a shared store, beside any number of other workers.",
    ),
    "serve": (
        "constraint_first.cli.serve:serve_command",
        "Serve a model with a method in front of it, for any OpenAI client.",
    ),
    "mcp": (
        "constraint_first.cli.serve:mcp_command",
        "Serve tools to MCP clients: solve, constraints, check_answer and grade.",
    ),
    "runs": (
        "constraint_first.cli.runs:runs_command",
        "List what a store holds: each method on each benchmark, with its score and its cost.",
    ),
    "show": (
        "constraint_first.cli.runs:show_command",
        "Show one stored attempt in full: the problem, every call, checks and the verdict.",
    ),
    "compare": (
        "constraint_first.cli.compare:compare_command",
        "Compare methods problem by problem: gain, interval, exact test, correction.",
    ),
    "calibrate": (
        "constraint_first.cli.compare:calibrate_command",
        "Learn from graded runs which method to use for which problems; say whether to switch.",
    ),
    "audit": (
        "constraint_first.cli.audit:audit_command",
        "Audit stored runs: the router, Stage 1, errors, and constraints that people marked.",
    ),
    "report": (
        "constraint_first.cli.compare:report_command",
        "Write a report: one HTML page that works offline, Markdown, LaTeX tables, figures.",
    ),
    "export": (
        "constraint_first.cli.runs:export_command",
        "Write every attempt of a store to a JSON Lines, CSV or Parquet file.",
    ),
    "merge": (
        "constraint_first.cli.runs:merge_command",
        "Join stores in one: attempts, failures and every call that was made.",
    ),
    "route": (
        "constraint_first.cli.text:route_command",
        "Show which restrictive cues a problem has; on a file, count them.",
    ),
    "program": (
        "constraint_first.cli.text:program_command",
        "Run a Python program in the sandbox and print what it prints.",
    ),
    "constraints": (
        "constraint_first.cli.text:constraints_command",
        "Show what a text demands of any answer or reply; on a file, audit it or judge replies.",
    ),
    "prompts": (
        "constraint_first.cli.assets:prompts_command",
        "List the prompts, show one, or copy them to write your own.",
    ),
    "models": (
        "constraint_first.cli.assets:models_command",
        "List, pull, verify and remove the models that run on this machine.",
    ),
    "demo": (
        "constraint_first.cli.demo:demo_command",
        "Solve a few problems with Direct CoT and with auto, and compare.",
    ),
    "bench": (
        "constraint_first.cli.assets:bench_command",
        "Generate, show, verify and export ConstraintBench problems.",
    ),
    "grade": ("constraint_first.cli.text:grade_command", "Judge answers against gold answers."),
    "extract": (
        "constraint_first.cli.text:extract_command",
        "Read the final answer out of each reply of a file.",
    ),
}


class _ReaderGone(Exception):
    """Whatever read our output went away (`cfr … | head`)."""


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one only to run it."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; click would take a broken pipe for a failure and exit with 1."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise _ReaderGone from None

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Name the commands in the order of the table above."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import the command that is about to run."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        return getattr(importlib.import_module(module), attribute)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the list of commands from the table, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="constraint-first", prog_name="cfr")
def root() -> None:
    """Make language models respect what a problem demands of its answer."""


def main() -> None:
    """Run the command line; a known error is one line on standard error, never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # an output that cannot hold our signs gets "?"
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
    except _ReaderGone:  # there is nobody left to tell
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except Exception:  # a mistake of ours: all that is known of it, and still no control characters
        _end(traceback.format_exc().rstrip(), 1)


def _fail(message: str, code: int) -> None:
    from constraint_first.file.safe import one_line

    _end(f"cfr: {one_line(message)}", code)


def _end(message: str, code: int) -> None:
    from constraint_first.cli.output import print_error

    print_error(message)
    sys.exit(code)
