"""Equations, inequalities and memberships, each in the one form in which they are compared."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

from cfr.answer.expression.exact import rational
from cfr.answer.expression.lexer import Unreadable
from cfr.answer.expression.syntax import INFINITE, Node, Num, Op, Sym, substitute, symbols

__all__ = ["relation"]

Canonical: TypeAlias = Callable[[Node], Node]
"""Brings what stands on one side of a relation to canonical form."""

_RISING = frozenset({"<", "le"})
_FALLING = frozenset({">", "ge"})


def relation(node: Op, canonical: Canonical) -> Node:
    """Bring a chain of relations to canonical form: a definition, an interval or an equation."""
    count = len(node.args) // 2 + 1
    parts = list(node.args[:count])
    signs = [sign.name for sign in node.args[count:] if isinstance(sign, Sym)]
    if "approx" in signs:
        at = signs.index("approx")
        # x = 1/3 ≈ 0.33 says 1/3; x ≈ 5 says 5.
        parts, signs = (parts[:2], ["="]) if at == 0 else (parts[: at + 1], signs[:at])
    if set(signs) <= {"=", "equiv"}:
        return _equation(parts, canonical)
    if signs[-1] == "in":
        return _define(parts[-2], canonical(parts[-1]))
    one_way = set(signs) <= _RISING or set(signs) <= _FALLING
    if len(signs) == 2 and one_way:
        return _between(parts, signs)
    if len(signs) == 1 and one_way:
        return _inequality(parts, signs[0])
    if signs == ["ne"]:
        return _unequal(*parts)
    raise Unreadable("a chain of relations")


def _unequal(left: Node, right: Node) -> Node:
    """Read x ≠ 2 as everything on either side of 2."""
    if name_of(left) and not symbols(right):
        rays = Op("()", (INFINITE[1], right)), Op("()", (right, INFINITE[0]))
        return _define(left, Op("union", rays))
    return Op("ne", (left, right))


def _equation(parts: list[Node], canonical: Canonical) -> Node:
    first, last = parts[0], parts[-1]
    if name_of(first) is not None:
        return _define(first, canonical(last))
    if not symbols(first) and isinstance(last, Sym):
        return _define(last, canonical(first))
    if len(parts) > 2 or (not symbols(last) and not symbols(first)):
        return canonical(last)
    return Op("=", (first, last))


def name_of(node: Node) -> str | None:
    """Name what stands left of an equals sign, where it is a name and not an expression."""
    match node:
        case Sym(name=name) if name not in ("pi", "e", "i", "oo"):
            return name
        case Op("call", (Sym(name=name), Sym(name=variable))):
            return f"{name}({variable})"
        case Op("()", args) if all(isinstance(arg, Sym) for arg in args):
            return ""
        case Op("abs", (inner,)):
            return name_of(inner)
        case Op("*", args):
            names = [arg.name for arg in args if isinstance(arg, Sym)]
            deep = names if len(names) == len(args) else [name_of(arg) or "?" for arg in args]
            joined = "".join(deep)
            return joined if joined.isupper() and joined.isalpha() else None
        case _:
            return None


def _define(left: Node, value: Node) -> Node:
    name = name_of(left)
    if name is None:
        raise Unreadable("a value for something that is not a name")
    if isinstance(value, Op) and value.name == "def":
        value = value.args[1]
    return Op("def", (Sym(name), value)) if name else value


def _inequality(parts: list[Node], sign: str) -> Node:
    small, big = parts if sign in _RISING else parts[::-1]
    closed = sign in ("le", "ge")
    if name_of(small) and not symbols(big):
        return _define(small, Op("(]" if closed else "()", (INFINITE[1], big)))
    if name_of(big) and not symbols(small):
        return _define(big, Op("[)" if closed else "()", (small, INFINITE[0])))
    if (bound := _solve(small, big)) is not None:
        name, value, rising = bound
        ends = (Num(value), INFINITE[0]) if rising else (INFINITE[1], Num(value))
        kind = ("[)" if rising else "(]") if closed else "()"
        return _define(Sym(name), Op(kind, ends))
    return Op("<=" if closed else "<", (small, big))


def _solve(small: Node, big: Node) -> tuple[str, Fraction, bool] | None:
    """Solve a linear inequality in one variable: its bound, and whether the variable exceeds it."""
    names = symbols(small) | symbols(big)
    if len(names) != 1:
        return None
    (name,) = names
    gap = Op("+", (big, Op("neg", (small,))))
    values = [rational(substitute(gap, name, Num(Fraction(at)))) for at in range(4)]
    if any(value is None for value in values):
        return None
    start, *rest = (value for value in values if value is not None)
    slope = rest[0] - start
    if not slope or any(value != start + slope * (at + 1) for at, value in enumerate(rest)):
        return None
    return name, -start / slope, slope > 0


def _between(parts: list[Node], signs: list[str]) -> Node:
    if signs[0] in _FALLING:
        parts, signs = parts[::-1], signs[::-1]
    low, middle, high = parts
    kind = ("[" if signs[0] in ("le", "ge") else "(") + ("]" if signs[1] in ("le", "ge") else ")")
    return _define(middle, Op(kind, (low, high)))
