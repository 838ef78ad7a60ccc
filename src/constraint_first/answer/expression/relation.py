"""Equations, inequalities and memberships, each in the one form in which they are compared."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

from constraint_first.answer.expression.exact import rational
from constraint_first.answer.expression.lexer import Unreadable
from constraint_first.answer.expression.real_set import REALS, as_real_set, as_tree
from constraint_first.answer.expression.syntax import (
    INFINITE,
    Node,
    Num,
    Op,
    Sym,
    substitute,
    symbols,
)
from constraint_first.answer.expression.vocabulary import GREEK

__all__ = ["relation"]

Canonical: TypeAlias = Callable[[Node], Node]
"""Brings what stands on one side of a relation to canonical form."""

_RISING = frozenset({"<", "le"})
_FALLING = frozenset({">", "ge"})
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_TURNED = {">": "<", "ge": "le"}


def relation(node: Op, canonical: Canonical) -> Node:
    """Bring a chain of relations to canonical form: a definition, an interval or an equation."""
    count = len(node.args) // 2 + 1
    parts = list(node.args[:count])
    signs = [sign.name for sign in node.args[count:] if isinstance(sign, Sym)]
    if "equiv" in signs:
        parts = [_residue(part) for part in parts]
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
        return _unequal(parts[0], canonical(parts[1]))
    raise Unreadable("a chain of relations")


def _unequal(left: Node, right: Node) -> Node:
    """Read x ≠ 2 as everything on either side of 2."""
    if name_of(left) and isinstance(right, Op) and right.name == "list":
        holes = as_real_set(Op("minus", (REALS, Op("{}", right.args))))
        if holes is not None:
            return _define(left, as_tree(holes))
    if name_of(left) and not symbols(right):
        rays = Op("()", (INFINITE[1], right)), Op("()", (right, INFINITE[0]))
        return _define(left, Op("union", rays))
    return Op("ne", (left, right))


def _residue(node: Node) -> Node:
    """Read the mod of a congruence as its modulus, and not as a remainder."""
    return Op("residue", node.args) if isinstance(node, Op) and node.name == "mod" else node


def _equation(parts: list[Node], canonical: Canonical) -> Node:
    first, last = parts[0], parts[-1]
    if name_of(first) is not None:
        return _define(first, _in_order(first, canonical(last)))
    if not symbols(first) and isinstance(last, Sym):
        return _define(last, canonical(first))
    if len(parts) > 2 or (not symbols(last) and not symbols(first)):
        return canonical(last)
    return Op("=", (first, last))


def _in_order(names: Node, value: Node) -> Node:
    """Put (y, x) = (1, 2) in the order of the alphabet, where its letters are neighbours in it."""
    match names, value:
        case Op("()", letters), Op("()", values) if len(letters) == len(values):
            text = [letter.name for letter in letters if isinstance(letter, Sym)]
            if "".join(sorted(text)) in _ALPHABET:
                pairs = sorted(zip(text, values, strict=True), key=lambda pair: pair[0])
                return Op("()", tuple(pair[1] for pair in pairs))
        case _:
            pass
    return value


def name_of(node: Node) -> str | None:
    """Name what stands left of an equals sign, where it is a name and not an expression."""
    match node:
        case Sym(name=name) if name not in ("pi", "e", "i", "oo"):
            return name
        case Op("call", (Sym(name=name), Sym(name=variable))):
            return f"{name}({variable})"
        case Op(
            "call", (Sym(name="f" | "g" | "h" | "F" | "G" | "H" | "p" | "q" as name), Num(value))
        ):
            return f"{name}({value})"
        case Op("call", (Sym(name="P" | "E" | "V" | "D" as name), event)):
            return f"{name}({event!r})"
        case Op("/", (Op("*", (Sym(name="d"), Sym(name=value))), Op("*", (Sym(name="d"), Sym())))):
            return f"{value}'"
        case Op("*", (Op("^", (Sym(name=name), Num(value=Fraction(numerator=-1)))), Sym())):
            return f"{name}^-1"
        case Op("()" | "{}", args) if args and all(isinstance(arg, Sym) for arg in args):
            return ""
        case Op("abs", (inner,)) if (inside := name_of(inner)) is not None:
            return inside if inside.isupper() else f"|{inside}|"
        case Op("sin" | "cos" | "tan" | "cot" | "sec" | "csc" as name, (Sym(name=variable),)) if (
            variable.isupper() or variable in GREEK or variable.startswith("angle ")
        ):
            return f"{name} {variable}"
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
    if (bounded := _bounded(small, big, sign)) is not None:
        return bounded
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


def _bounded(small: Node, big: Node, sign: str) -> Node | None:
    """Read |x - 2| < 3 as the interval that it is, and |x| > 3 as two rays."""
    sign = {"<": "<", ">": "<", "le": "le", "ge": "le"}[sign]
    match small, big:
        case Op("abs", (inner,)), bound if not symbols(bound):
            sides = (
                _inequality([Op("neg", (bound,)), inner], sign),
                _inequality([inner, bound], sign),
            )
            name = "intersect"
        case bound, Op("abs", (inner,)) if not symbols(bound):
            sides = (
                _inequality([inner, Op("neg", (bound,))], sign),
                _inequality([bound, inner], sign),
            )
            name = "union"
        case _:
            return None
    if any(not (isinstance(side, Op) and side.name == "def") for side in sides):
        return None
    values = [side.args[1] for side in sides if isinstance(side, Op)]
    pieces = as_real_set(Op(name, tuple(values)))
    variable = sides[0].args[0] if isinstance(sides[0], Op) else Sym("x")
    return None if pieces is None else Op("def", (variable, as_tree(pieces)))


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
        parts, signs = parts[::-1], [_TURNED[sign] for sign in signs[::-1]]
    low, middle, high = parts
    if name_of(middle) is None:  # 1 < 2x + 1 < 5
        sides = [_inequality([low, middle], signs[0]), _inequality([middle, high], signs[1])]
        values = [side.args[1] for side in sides if isinstance(side, Op) and side.name == "def"]
        pieces = as_real_set(Op("intersect", tuple(values))) if len(values) == 2 else None
        if pieces is not None and isinstance(sides[0], Op):
            return Op("def", (sides[0].args[0], as_tree(pieces)))
    kind = ("[" if signs[0] in ("le", "ge") else "(") + ("]" if signs[1] in ("le", "ge") else ")")
    return _define(middle, Op(kind, (low, high)))
