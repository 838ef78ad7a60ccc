"""Standard output and standard error: the way there for everything that is not a rich table.

Commands write through this module or through ``cli.console`` and in no other way: texts of
models, endpoints and files are shown, never obeyed. ``tests/cli/test_output.py`` holds them to it.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from constraint_first.file.printable import one_line, printable, printable_json

__all__ = ["print_error", "print_json", "print_note", "print_text"]


def print_text(text: object = "") -> None:
    """Write to standard output: a text for people, of any number of lines."""
    click.echo(printable(str(text)))


def print_note(text: str) -> None:
    """Write one line to standard error."""
    click.echo(one_line(text), err=True)


def print_error(text: str) -> None:
    """Write to standard error: what went wrong, in any number of lines."""
    click.echo(printable(text), err=True)


def print_json(value: Any, indent: int | None = None) -> None:
    """Write JSON to standard output for programs: exact, and safe on a terminal all the same."""
    written = printable_json(value, indent)
    try:
        written.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:  # an output that holds only some signs must not spoil the others
        written = json.dumps(value, indent=indent)
    click.echo(written)
