"""TOML files that a person writes."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from cfr.error import InputError

__all__ = ["parse_toml"]


def parse_toml(where: Path | str, text: str) -> dict[str, Any]:
    """Parse the text of a TOML file that is called ``where`` in a message."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also a number of more digits than Python reads
        reason = str(error).split(";")[0]
        raise InputError(f"{where}: not TOML ({reason}); correct the file") from None
