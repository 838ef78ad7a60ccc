"""Methods by name: ``direct``, ``routed-cfr``, ``cfr(reply=json)``.

A name may carry options in brackets. What an option takes is what the method's factory declares: a
whole number, one of a few words, or another method, which is written the same way.
"""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Final, Literal, cast, get_args, get_origin, get_type_hints

from cfr.constraint.router import Profile
from cfr.constraint.stage import ReplyStyle
from cfr.error import CfrError
from cfr.method.constraint_first import CFR, Convention, Routed
from cfr.method.direct import Direct
from cfr.method.method import Method

__all__ = ["METHODS", "MethodError", "make"]


class MethodError(CfrError):
    """A method name, or an option of one, that does not exist."""

    exit_code = 2


def direct() -> Direct:
    """Ask once for a step-by-step solution."""
    return Direct()


def cfr(reply: ReplyStyle = "prose") -> CFR:
    """List the constraints first, then solve under them, for every problem."""
    return CFR(reply=reply)


def routed_cfr(
    reply: ReplyStyle = "prose", router: Profile = "reconstructed", convention: Convention = "none"
) -> Routed:
    """List the constraints first where the text has restrictive cues; Direct CoT elsewhere."""
    return Routed(CFR(reply=reply), profile=router, convention=convention)


METHODS: Final[dict[str, Callable[..., Method]]] = {
    "direct": direct,
    "cfr": cfr,
    "routed-cfr": routed_cfr,
}
"""Every method's factory by its name on the command line."""


def make(text: str) -> Method:
    """Build the method that a text such as ``routed-cfr(reply=json)`` names."""
    shape = _SHAPE.fullmatch(text.strip())
    if not shape:
        raise MethodError(f"method {text!r}: write it as NAME or NAME(OPTION=VALUE,…)")
    name, options = shape["name"], shape["options"] or ""
    if name not in METHODS:
        raise MethodError(f"method {name!r}: not known; {_suggest(name, METHODS)}")
    factory = METHODS[name]
    return factory(**dict(_read_options(name, factory, options)))


_SHAPE: Final = re.compile(r"(?P<name>[\w-]+)(?:\((?P<options>.*)\))?", re.DOTALL)


def _read_options(
    name: str, factory: Callable[..., Method], options: str
) -> Iterator[tuple[str, object]]:
    kinds = get_type_hints(factory)
    known = list(inspect.signature(factory).parameters)
    for option in _split(options):
        key, equals, value = (part.strip() for part in option.partition("="))
        if not equals:
            raise MethodError(f"method {name!r}: option {option!r} must be written as OPTION=VALUE")
        if key not in known:
            raise MethodError(f"method {name!r}: no option {key!r}; {_suggest(key, known)}")
        yield key, _convert(f"method {name!r}, option {key!r}", kinds[key], value)


def _split(options: str) -> Iterator[str]:
    """Split at the commas that stand outside inner brackets."""
    depth, piece = 0, ""
    for character in options:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            yield piece
            piece = ""
        else:
            piece += character
    if piece.strip():
        yield piece


def _convert(where: str, kind: object, value: str) -> object:
    if get_origin(kind) is Literal:
        choices = cast("tuple[str, ...]", get_args(kind))
        if value not in choices:
            raise MethodError(f"{where}: {value!r} is not one of {', '.join(choices)}")
        return value
    if kind is int:
        if not value.isdecimal() or int(value) < 1:
            raise MethodError(f"{where}: {value!r} is not a whole number above zero")
        return int(value)
    return make(value)


def _suggest(name: str, known: dict[str, Callable[..., Method]] | list[str]) -> str:
    close = difflib.get_close_matches(name, list(known), n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"choose from {', '.join(known)}" if known else "it takes none"
