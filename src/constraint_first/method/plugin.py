"""Methods that other packages bring, found by their entry points in the group ``cfr.methods``.

A package is imported only when its method is asked for, so a broken one is in nobody's way.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from typing import Final

from constraint_first.error import CfrError

__all__ = ["GROUP", "MethodError", "load", "names"]

GROUP: Final = "cfr.methods"


class MethodError(CfrError):
    """A method, or an option of one, that does not exist or cannot be had."""

    exit_code = 2


def names() -> tuple[str, ...]:
    """List the methods that are installed beside the built-in ones, without importing them."""
    return tuple(sorted({point.name for point in entry_points(group=GROUP)}))


def load(name: str) -> Callable[..., object] | None:
    """Import the factory that a package registered under a name; None where there is none."""
    points = tuple(entry_points(group=GROUP, name=name))
    if not points:
        return None
    if len({point.value for point in points}) > 1:
        packages = ", ".join(sorted(map(_package, points)))
        raise MethodError(f"method {name!r}: brought by several packages ({packages}); keep one")
    (point, *_) = points
    try:
        factory: object = point.load()
    except Exception as error:  # whatever another package raises while it is imported
        raise MethodError(
            f"method {name!r}: {point.value} of the package {_package(point)} cannot be loaded "
            f"({type(error).__name__}: {error}); update or remove that package"
        ) from error
    if not callable(factory):
        raise MethodError(
            f"method {name!r}: {point.value} of the package {_package(point)} is no factory; "
            "it must be something that returns a method when it is called"
        )
    return factory


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist else "of unknown name"
