"""Numbers and names in addresses and forms: read, and written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlencode

from constraint_first.serve.error_reply import RequestError

__all__ = ["read_number", "write_query"]

_LARGEST: Final = 999_999_999


def read_number(
    sent: Mapping[str, object],
    name: str,
    usual: int,
    *,
    least: int = 1,
    most: int = _LARGEST,
) -> int:
    """Read a whole number; where none is given it is the usual one."""
    written = str(sent.get(name, "") or usual)
    if written.isascii() and written.isdecimal() and len(written) < 10:
        number = int(written)
        if least <= number <= most:
            return number
    raise RequestError(
        f"{name}: {written[:40]!r} is no whole number from {least} to {most:,}", param=name
    )


def write_query(fields: Mapping[str, object]) -> str:
    """Write the query of an address; what is empty is left out."""
    return urlencode({name: value for name, value in fields.items() if value != ""})
