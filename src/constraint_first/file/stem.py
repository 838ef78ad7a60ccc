"""Names for files and ids, made out of any words."""

from __future__ import annotations

import re
import zlib
from typing import Final

__all__ = ["file_stem"]

_LONGEST: Final = 48


def file_stem(*words: str) -> str:
    """Make a name for files and ids out of any words; different words give different names."""
    whole = "-".join(words)
    if len(whole) <= _LONGEST and re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", whole):
        return whole
    stem = re.sub(r"[^a-z0-9]+", "-", whole.lower())[:_LONGEST].strip("-")
    return f"{stem or 'file'}-{zlib.crc32(whole.encode(errors='surrogatepass')):08x}"
