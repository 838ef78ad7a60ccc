"""Sets of real numbers: intervals and points, united, intersected and taken from one another.

The ends of intervals are trees, put in order by their rough values. Two ends that are too close to
tell apart, and not the same number by exact arithmetic, leave the set as it is written.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from constraint_first.answer.expression.exact import nearly, rational
from constraint_first.answer.expression.syntax import INFINITE, Node, Op

__all__ = ["REALS", "RealSet", "as_real_set", "as_tree"]

REALS = Op("()", (INFINITE[1], INFINITE[0]))
_INTERVALS = frozenset({"()", "[]", "[)", "(]"})
_CLOSE = 1e-9


@dataclass(frozen=True, slots=True)
class _Cut:
    """A place between two real numbers: just before or just behind a value."""

    at: float
    behind: bool
    node: Node

    def key(self) -> tuple[float, bool]:
        return self.at, self.behind


RealSet = tuple[tuple[_Cut, _Cut], ...]
"""Disjoint pieces in order, each from one cut to the next."""


class _Unordered(Exception):
    """Two ends whose order is not known."""


def as_real_set(node: Node) -> RealSet | None:
    """Read intervals, finite sets of numbers and what is made of them; None for anything else."""
    try:
        return _read(node)
    except _Unordered:
        return None


def _read(node: Node) -> RealSet | None:
    if not isinstance(node, Op):
        return None
    if node.name == "def":
        return _read(node.args[1])
    if node.name in _INTERVALS and len(node.args) == 2:
        low = _cut(node.args[0], behind=node.name[0] == "(")
        high = _cut(node.args[1], behind=node.name[1] == "]")
        return None if low is None or high is None else _settled([(low, high)])
    if node.name == "{}":
        cuts = [(_cut(arg, behind=False), _cut(arg, behind=True)) for arg in node.args]
        pieces = [(low, high) for low, high in cuts if low is not None and high is not None]
        return _settled(pieces) if len(pieces) == len(cuts) else None
    if node.name in ("union", "intersect", "minus"):
        sets = [found for arg in node.args if (found := _read(arg)) is not None]
        if len(sets) != len(node.args):
            return None
        result = sets[0]
        for other in sets[1:]:
            result = _combined(node.name, result, other)
        return result
    return None


def _combined(name: str, left: RealSet, right: RealSet) -> RealSet:
    if name == "union":
        return _settled([*left, *right])
    return _intersected(left, right if name == "intersect" else _complement(right))


def _cut(node: Node, *, behind: bool) -> _Cut | None:
    at = nearly(node)
    if at is None or at != at:
        return None
    if at == inf:
        return _Cut(at, False, node)
    return _Cut(at, behind or at == -inf, node)


def _compared(left: _Cut, right: _Cut) -> int:
    """Order two cuts; ends that are close must be the same number."""
    size = max(1, abs(left.at), abs(right.at))
    if left.at == right.at or (size < inf and abs(left.at - right.at) <= _CLOSE * size):
        if left.node != right.node:
            values = rational(left.node), rational(right.node)
            if None in values:
                raise _Unordered
            if values[0] != values[1]:
                return -1 if (values[0] or 0) < (values[1] or 0) else 1
        return left.behind - right.behind
    return -1 if left.at < right.at else 1


def _settled(pieces: list[tuple[_Cut, _Cut]]) -> RealSet:
    """Put pieces in order and join those that overlap or touch."""
    kept = [piece for piece in pieces if _compared(*piece) < 0]
    result: list[tuple[_Cut, _Cut]] = []
    for low, high in sorted(kept, key=lambda piece: piece[0].key()):
        if result and _compared(low, result[-1][1]) <= 0:
            if _compared(high, result[-1][1]) > 0:
                result[-1] = (result[-1][0], high)
        else:
            result.append((low, high))
    return tuple(result)


def _complement(pieces: RealSet) -> RealSet:
    low = _Cut(-inf, True, INFINITE[1])
    gaps: list[tuple[_Cut, _Cut]] = []
    for first, last in pieces:
        gaps.append((low, first))
        low = last
    gaps.append((low, _Cut(inf, False, INFINITE[0])))
    return _settled(gaps)


def _intersected(left: RealSet, right: RealSet) -> RealSet:
    return _settled(
        [
            (
                a[0] if _compared(a[0], b[0]) >= 0 else b[0],
                a[1] if _compared(a[1], b[1]) <= 0 else b[1],
            )
            for a in left
            for b in right
        ]
    )


def as_tree(pieces: RealSet) -> Node:
    """Write a set of real numbers in the one form in which such sets are compared."""
    nodes: list[Node] = []
    for low, high in pieces:
        if low.at == high.at:
            nodes.append(Op("{}", (low.node,)))
        else:
            opened, closed = "(" if low.behind else "[", "]" if high.behind else ")"
            nodes.append(Op(opened + closed, (low.node, high.node)))
    if all(isinstance(node, Op) and node.name == "{}" for node in nodes):
        return Op("{}", tuple(low.node for low, _ in pieces))
    return nodes[0] if len(nodes) == 1 else Op("union", tuple(nodes))
