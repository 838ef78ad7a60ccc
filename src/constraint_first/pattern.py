"""Regular expressions that are compiled when they are first used.

Compiling all patterns of the package takes most of a second, and a command uses only a few.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

_FORWARDED = (
    "search match fullmatch finditer findall sub subn split scanner flags groups groupindex"
).split()


class _LazyPattern:
    """Compiles at its first use and copies the pattern's methods into itself."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # copy and pickle look up such names before __init__ ran
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self._flags)
        self.__dict__.update((each, getattr(compiled, each)) for each in _FORWARDED)
        return getattr(compiled, name)

    def __repr__(self) -> str:
        return repr(re.compile(self.pattern, self._flags))


def lazy_pattern(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Compile a pattern at its first use; call its methods, not functions of ``re``."""
    return cast("Any", _LazyPattern(pattern, flags))
