"""Untrusted text made safe to print or to store, and files that are written atomically."""

from __future__ import annotations

import json
import os
import re
import tempfile
import zlib
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from typing import Any, Final, cast

from constraint_first.error import OutputError
from constraint_first.pattern import lazy_pattern
from constraint_first.problem import Json

_LONGEST_LINE: Final = 1_000

_UNPRINTABLE: Final = lazy_pattern(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
# Direction and zero-width marks are kept in texts for people, and escaped in JSON for programs.
_ESCAPED: Final = lazy_pattern(rf"{_UNPRINTABLE.pattern[:-1]}\u061c\u200b-\u200f\u2060\ufeff]")


def printable(text: str) -> str:
    """Replace control characters, and characters that UTF-8 or XML cannot represent."""
    return text if text.isprintable() else _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def one_line(text: str) -> str:
    """Make a name or a message printable on one line; a huge one keeps its beginning and end."""
    line = printable(" ".join(text.split()))
    if len(line) > _LONGEST_LINE:
        return f"{line[: _LONGEST_LINE // 2]} … {line[-_LONGEST_LINE // 3 :]}"
    return line


def printable_json(value: Any, indent: int | None = None) -> str:
    """Write a value as JSON without loss: characters that are not printable are escaped."""
    written = json.dumps(value, ensure_ascii=False, indent=indent)
    return written if written.isprintable() else _ESCAPED.sub(_escape, written)


def _escape(character: re.Match[str]) -> str:
    return f"\\u{ord(character[0]):04x}"


# Sanitising external values for a database: the only place for texts, counts and JSON.
#
# A reply may contain anything. Values that SQLite, PostgreSQL or a JSON writer would refuse are
# replaced here; all others are returned unchanged.
#
# - text: NUL and lone surrogates become U+FFFD, adjacent surrogates their character, and the text
# is truncated to ``LONGEST`` characters
# - a count: an integer from 0 to ``MOST``, the largest that every database's INTEGER column holds
# - JSON: its texts as above, integers beyond 64 bits as text, NaN and infinities as null, values
# nested too deeply as "…", and nothing after the first ``LONGEST`` characters

LONGEST: Final = 2**22
"""The most characters of a text or a JSON value that are stored: about a million tokens."""
MOST: Final = 2**31 - 1
"""The largest count that is stored; more than any model reads or writes at once."""

_DEEPEST: Final = 100
_INTEGERS: Final = range(-(2**63), 2**63)
_REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"


def storable_text(text: str) -> str:
    """Return a text that every database accepts; the same object where nothing is replaced."""
    if "\0" in text:
        text = text.replace("\0", _REPLACEMENT)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:  # decoding UTF-16 joins adjacent surrogates
            text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text[:LONGEST]


def storable_count(count: float) -> int:
    """Return the whole number from 0 to ``MOST`` that is nearest to a count; 0 for NaN."""
    return int(min(max(0, count), MOST))


def storable_json(value: object, room: int = LONGEST) -> str:
    """Write a value as JSON text that every database accepts and every JSON parser reads."""
    import orjson  # not at the top: showing a help text imports this module

    try:
        written = orjson.dumps(value)
    except TypeError:  # too large, too deep, a lone surrogate, not JSON
        written = b""
    if not written or len(written) > room or b"\\u0000" in written:
        written = orjson.dumps(_Cut(room).kept(value, _DEEPEST))
    return written.decode()


class _Cut:
    """Copies a value recursively until ``room`` characters are used."""

    def __init__(self, room: int) -> None:
        self._room = room

    def kept(self, value: object, depth: int) -> Json:
        self._room -= 1
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int):
            return int(value) if value in _INTEGERS else self._text(_digits(value))
        if isinstance(value, float):
            return float(value) if isfinite(value) else None
        if isinstance(value, Mapping | list | tuple):
            return self._members(cast("Any", value), depth - 1) if depth else "…"
        return self._text(str(value))

    def _members(self, value: Mapping[Any, Any] | list[Any] | tuple[Any, ...], depth: int) -> Json:
        if isinstance(value, Mapping):
            return {
                self._text(str(name)): self.kept(member, depth)
                for name, member in value.items()
                if self._room > 0
            }
        return [self.kept(member, depth) for member in value if self._room > 0]

    def _text(self, text: str) -> str:
        kept = storable_text(text)[: max(self._room, 0)]
        self._room -= len(kept)
        return kept


def _digits(value: int) -> str:
    try:
        return str(value)
    except ValueError:  # more decimal digits than Python converts
        return hex(value)


# Names for files and ids, made from any words.

_LONGEST: Final = 48


def file_stem(*words: str) -> str:
    """Make a name for a file or an id from any words; different words give different names."""
    whole = "-".join(words)
    if len(whole) <= _LONGEST and re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", whole):
        return whole
    stem = re.sub(r"[^a-z0-9]+", "-", whole.lower())[:_LONGEST].strip("-")
    return f"{stem or 'file'}-{zlib.crc32(whole.encode(errors='surrogatepass')):08x}"


# Paths from the user.


def expand_user(path: str) -> Path:
    """Expand ``~`` to the home folder; ``~name`` of an unknown user is kept."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


# Atomic writes: a file is complete, or does not exist.


@contextmanager
def atomic_file(path: Path) -> Generator[Path]:
    """Yield a temporary file in the same folder, renamed to ``path`` once it is complete."""
    if path.is_dir():
        raise OutputError(f"{path}: a folder, not a file; name a file in it")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.absolute().parent)
        os.close(handle)
    except OSError as error:
        raise OutputError(
            f"{path}: cannot be written ({error.strerror}); name a file in a folder that exists"
            " and that you may write to"
        ) from None
    temporary = Path(name)
    try:
        yield temporary
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)  # mkstemp creates files with mode 0600
        temporary.replace(path)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({error.strerror})") from None
    finally:
        temporary.unlink(missing_ok=True)


def refuse_overwrite(path: Path, *, force: bool) -> None:
    """Refuse a path that cannot be written, or an existing file, before any work is done."""
    if path.is_dir():
        raise OutputError(f"{path}: a folder; name a file in it")
    if path.exists() and not force:
        raise OutputError(f"{path}: exists already; name another file or pass --force")
    if not path.parent.is_dir():
        raise OutputError(f"{path}: there is no folder {path.parent}; make it first")
