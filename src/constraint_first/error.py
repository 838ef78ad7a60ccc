"""Errors whose message is for the user."""

from __future__ import annotations

from typing import Literal, TypeAlias

Ends: TypeAlias = Literal["attempt", "series", "run"]


class CfrError(Exception):
    """Something that a person can put right.

    The message is one line that names the input and the way out; the command line prints it as it
    stands and exits with ``exit_code``. It never carries a key.
    """

    exit_code = 1
    ends: Ends = "attempt"
    """What it ends in an evaluation: one attempt; a series without a success so far, each of whose
    attempts would fail alike; or the whole run."""


class InputError(CfrError):
    """A file that cannot be read, or does not hold what was asked for."""

    exit_code = 2


class OutputError(CfrError):
    """A file that cannot, or should not, be written."""

    exit_code = 2
