"""The errors that a person is meant to read."""

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
    """What it ends in an evaluation: one attempt; all of a series that has had no success yet,
    because it would meet each of them; or the whole run."""


class InputError(CfrError):
    """A file that cannot be read, or does not hold what was asked for."""

    exit_code = 2


class OutputError(CfrError):
    """A file that cannot, or should not, be written."""

    exit_code = 2
