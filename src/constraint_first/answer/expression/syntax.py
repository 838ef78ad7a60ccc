"""What an answer says, as a tree. Both tiers judge these trees; neither ever sees model text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

__all__ = [
    "BINDERS",
    "BRACKETS",
    "INFINITE",
    "Measure",
    "Node",
    "Num",
    "Op",
    "Sym",
    "substitute",
    "symbols",
    "walk",
]

BRACKETS = frozenset({"()", "[]", "[)", "(]", "{}", "list"})
"""Operators that hold several things side by side; all but the last two can be intervals."""

CONSTANTS = frozenset({"pi", "e", "i", "oo"})
BINDERS = frozenset({"sum", "prod", "int"})
"""Operators with a body, the variable that it binds, and the two ends of its range."""


@dataclass(frozen=True, slots=True)
class Num:
    """A number as written."""

    value: Fraction
    digits: int | None = None
    """Significant digits of a decimal; None for what is exact by its form."""


@dataclass(frozen=True, slots=True)
class Sym:
    """A variable or a named constant."""

    name: str


@dataclass(frozen=True, slots=True)
class Op:
    """An operator, function, bracket or relation with its arguments."""

    name: str
    args: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Measure:
    """An expression with a unit behind it (or a currency before it)."""

    value: Node
    unit: str


Node: TypeAlias = Num | Sym | Op | Measure


INFINITE = (Sym("oo"), Op("neg", (Sym("oo"),)))
"""The two ends of the line, the upper one first."""


def walk(node: Node) -> Iterator[Node]:
    """Yield a node and all that is under it."""
    yield node
    if isinstance(node, Op):
        for arg in node.args:
            yield from walk(arg)
    elif isinstance(node, Measure):
        yield from walk(node.value)


def symbols(node: Node) -> frozenset[str]:
    """Name the free variables of an expression."""
    found = {n.name for n in walk(node) if isinstance(n, Sym) and n.name not in CONSTANTS}
    bound = {n.args[1] for n in walk(node) if isinstance(n, Op) and n.name in BINDERS}
    return frozenset(found - {n.name for n in bound if isinstance(n, Sym)} if bound else found)


def substitute(node: Node, name: str, value: Node) -> Node:
    """Put a value in the place of a free variable."""
    if isinstance(node, Sym):
        return value if node.name == name else node
    if isinstance(node, Op):
        if node.name in BINDERS and node.args[1] == Sym(name):
            ends = (substitute(arg, name, value) for arg in node.args[2:])
            return Op(node.name, (*node.args[:2], *ends))
        return Op(node.name, tuple(substitute(arg, name, value) for arg in node.args))
    return node
