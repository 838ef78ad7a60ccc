"""Errors whose message is for the user."""

from __future__ import annotations

from typing import Literal, TypeAlias

Ends: TypeAlias = Literal["attempt", "series", "run"]


class CfrError(Exception):
    """An error that the user can correct.

    The message is one line that names the input and the way out; the command line prints it
    unchanged and exits with ``exit_code``. It never contains an API key.
    """

    exit_code = 1
    ends: Ends = "attempt"
    """The scope that it ends in an evaluation: one attempt; a series, if it had no success so far
    and all its attempts would fail alike; or the whole run."""


class InputError(CfrError):
    """A file cannot be read, or lacks the expected content."""

    exit_code = 2


class OutputError(CfrError):
    """A file cannot, or should not, be written."""

    exit_code = 2
