"""How a method is written: ``NAME`` or ``NAME(OPTION=VALUE,…)``.

What an option takes is what the method's factory declares: a whole number, a text, one of a few
words, another method, or several methods joined by ``+``. ``none`` stands for no method where there
need not be one. A value with commas or brackets stands in quotation marks.
"""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from types import NoneType
from typing import Final, Literal, TypeAlias, cast, get_args, get_origin, get_type_hints

from constraint_first.method.method import Method
from constraint_first.method.plugin import MethodError

__all__ = [
    "DEEPEST",
    "nesting",
    "read_options",
    "split_name",
    "split_options",
    "suggest",
    "unquote",
]

Make: TypeAlias = Callable[[str], object]
"""Makes a method from its name."""

DEEPEST: Final = 16
"""How many brackets within brackets a method's name may have."""
_QUOTES: Final = ('"', "'")
_SHAPE: Final = re.compile(r"(?P<name>[\w-]+)(?:\((?P<options>.*)\))?", re.DOTALL)


def nesting(text: str) -> int:
    """Count the brackets within brackets."""
    return max(accumulate(({"(": 1, ")": -1}.get(one, 0) for one in text), initial=0))


def split_name(text: str) -> tuple[str, str]:
    """Split what was written into the method's name and its options."""
    shape = _SHAPE.fullmatch(text.strip())
    if not shape:
        raise MethodError(f"method {text!r}: write it as NAME or NAME(OPTION=VALUE,…)")
    return shape["name"], shape["options"] or ""


def read_options(
    name: str, factory: Callable[..., object], options: str, make: Make
) -> Iterator[tuple[str, object]]:
    """Read the options of a method by the types that its factory declares."""
    kinds = get_type_hints(factory)
    known = list(inspect.signature(factory).parameters)
    for option in split_options(options):
        key, equals, value = (part.strip() for part in option.partition("="))
        if not equals:
            raise MethodError(f"method {name!r}: option {option!r} must be written as OPTION=VALUE")
        if key not in known:
            raise MethodError(f"method {name!r}: no option {key!r}; {suggest(key, known)}")
        where = f"method {name!r}, option {key!r}"
        yield key, _convert(where, kinds[key], unquote(where, value), make)


def split_options(options: str, mark: str = ",") -> Iterator[str]:
    """Split at the marks that stand outside inner brackets and quoted values."""
    depth, quote, piece = 0, "", ""
    for character in options:
        if quote:
            quote = "" if character == quote else quote
        elif character in _QUOTES and piece.rstrip().endswith("="):
            quote = character
        else:
            depth += {"(": 1, ")": -1}.get(character, 0)
        if character == mark and depth == 0 and not quote:
            yield piece
            piece = ""
        else:
            piece += character
    if piece.strip():
        yield piece


def unquote(where: str, value: str) -> str:
    """Take the quotation marks off a value that has some."""
    if value[:1] not in _QUOTES:
        return value
    inner, closed, rest = value[1:].partition(value[0])
    if not closed or rest:
        raise MethodError(f"{where}: {value!r} must end with the quotation mark it begins with")
    return inner


def _convert(where: str, kind: object, value: str, make: Make) -> object:
    if NoneType in get_args(kind):  # None is what it is when it is not given
        (kind,) = (given for given in get_args(kind) if given is not NoneType)
        if value == "none" and kind is Method:
            return None
    if get_origin(kind) is Literal:
        choices = cast("tuple[str, ...]", get_args(kind))
        if value not in choices:
            raise MethodError(f"{where}: {value!r} is not one of {', '.join(choices)}")
        return value
    if kind is int:
        if not value.isdecimal() or len(value) > 9:
            raise MethodError(f"{where}: {value!r} is not a whole number of at most nine digits")
        return int(value)
    if get_origin(kind) is tuple:
        return tuple(make(one) for one in split_options(value, "+"))
    return value if kind is str else make(value)


def suggest(name: str, known: Sequence[str]) -> str:
    """Say what could have been meant instead of a name that is not known."""
    close = difflib.get_close_matches(name, known, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"choose from {', '.join(known)}" if known else "it takes none"
