"""``cfr program``: one program, run as the programs of a method are."""

from __future__ import annotations

import click

from constraint_first.cli.option import json_option
from constraint_first.cli.output import print_json, print_text
from constraint_first.error import CfrError

__all__ = ["ProgramFailed", "command"]


class ProgramFailed(CfrError):
    """The program did not run to its end."""


@click.command("program")
@click.argument("source", metavar="FILE.py|-")
@click.option(
    "--time",
    "seconds",
    type=click.FloatRange(0.01, 3_600),
    default=1.5,
    show_default=True,
    help="Seconds that it may take.",
)
@click.option(
    "--memory",
    type=click.IntRange(1, 768),
    default=256,
    show_default=True,
    help="Megabytes that it may take.",
)
@json_option
def command(source: str, seconds: float, memory: int, *, as_json: bool) -> None:
    """Run a Python program in the sandbox and print what it prints.

    It has no access to files, network, environment or clock, and it is stopped where it takes too
    long, too much memory or prints too much. One that fails exits with 1, and says why in one line
    on standard error.

    \b
    cfr program answer.py
    echo "print(sum(range(101)))" | cfr program -
    cfr program answer.py --time 10 --json
    """
    from constraint_first.benchmark.source import read_stdin
    from constraint_first.engine.journal import storable_output, storable_program
    from constraint_first.engine.sandbox.sandbox import Limits, Sandbox
    from constraint_first.file.jsonl import read_text
    from constraint_first.file.path import expand_user
    from constraint_first.protocol import Program

    text = read_stdin() if source == "-" else read_text(expand_user(source))
    with Sandbox(Limits(seconds, memory), count=1) as sandbox:
        output = storable_output(sandbox.run_now(storable_program(Program(text))))
    if as_json:
        shown = {"text": output.text, "error": output.error, "seconds": round(output.seconds, 4)}
        print_json(shown)
    elif output.text:
        print_text(output.text.removesuffix("\n"))
    if output.error:
        raise ProgramFailed(output.error)
