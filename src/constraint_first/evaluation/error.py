"""What can go wrong with a store: whose fault it is, whether it may pass, and the words for it."""

from __future__ import annotations

import re
from typing import Any, Final

from sqlalchemy.exc import (
    DataError,
    DBAPIError,
    IntegrityError,
    InterfaceError,
    OperationalError,
    ProgrammingError,
    SQLAlchemyError,
    StatementError,
)

from constraint_first.error import CfrError
from constraint_first.file.printable import printable

__all__ = [
    "LeaseLost",
    "StoreError",
    "Unstorable",
    "cannot_be",
    "is_of_the_row",
    "is_outage",
    "reason",
]


class StoreError(CfrError):
    """A store that cannot be opened, is in use, or holds something else than what is run now."""

    exit_code = 5


class Unstorable(CfrError):
    """A row that its database refuses while it takes others."""

    exit_code = 5


class LeaseLost(CfrError):
    """An attempt that another worker has taken over: this one has to leave it."""

    exit_code = 5


# Where PostgreSQL names no state of its own (the constants of its manual, appendix A), it is the
# client that speaks.
_PASSES: Final = re.compile(r"08...|40...|53300|57P0[123]")
_ROW: Final = re.compile(r"22...|23502|23514|54...")
_ROW_OF_SQLITE: Final = ("SQLITE_CONSTRAINT_NOTNULL", "SQLITE_CONSTRAINT_CHECK", "SQLITE_TOOBIG")

# What the database complained about, and what a person can do.
_WAYS_OUT: Final = (
    (r"locked|busy", "close the program that holds it"),
    (r"malformed|not a database|disk I/O|decode", "restore it from a copy, or name another store"),
    (r"no such (table|column)|does not exist", "name a store that 'cfr eval' made"),
    (r"read-?only|permission|unable to open", "see that it may be read and written"),
    (r"full|no space", "make room there"),
)
_SERVER: Final = "see that its server runs and that the address is right"


def is_outage(error: Exception) -> bool:
    """Say whether a server could not be reached or broke off, which may pass; SQLite has none."""
    if not isinstance(error, DBAPIError):
        return False
    state = getattr(error.orig, "sqlstate", "none")
    if state is None:
        return error.connection_invalidated or isinstance(error, OperationalError)
    return error.connection_invalidated or bool(_PASSES.fullmatch(state))


def is_of_the_row(error: Exception) -> bool:
    """Say whether it is a row's values that were refused; other rows may fare better."""
    if not isinstance(error, DBAPIError):  # a value that could not even be sent
        others = StoreError | SQLAlchemyError
        return isinstance(error, StatementError) or not isinstance(error, others)
    orig: Any = error.orig
    state, code = getattr(orig, "sqlstate", None), getattr(orig, "sqlite_errorname", None)
    if state or code:
        return bool(_ROW.fullmatch(state or "")) or code in _ROW_OF_SQLITE
    refused = DataError | IntegrityError | InterfaceError | ProgrammingError
    return isinstance(error, refused) and not error.connection_invalidated


def cannot_be(done: str, url: str, error: Exception) -> StoreError:
    """Say in a sentence what cannot be done to a store, why, and what helps."""
    why = reason(error)
    found = (way for sign, way in _WAYS_OUT if re.search(sign, why, re.IGNORECASE))
    way_out = _SERVER if is_outage(error) else next(found, "put that right")
    return StoreError(f"{url}: cannot be {done} ({why}); {way_out} and run the same command again")


def reason(error: Exception) -> str:
    """Say in a line what a database complained about, without the statement and its values."""
    orig: Any = error.orig if isinstance(error, DBAPIError) else error
    said = getattr(getattr(orig, "diag", None), "message_primary", None) or str(orig)
    return printable(" ".join(str(said).split())[:160])
