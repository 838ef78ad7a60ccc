"""Whether two trees say the same. One set of rules for both tiers, which differ only in how they
compare two scalars: by rational arithmetic, or numerically to many digits.

Every comparison is true, false or None, and None means that this tier cannot tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from constraint_first.answer.expression.syntax import (
    BRACKETS,
    INFINITE,
    Measure,
    Node,
    Num,
    Op,
    Sym,
    substitute,
    symbols,
    walk,
)
from constraint_first.answer.expression.unit import compatible, ratio_of

__all__ = ["Equivalence", "Leaf"]

Leaf: TypeAlias = Callable[[Node, Node], bool | None]
"""Compares two scalars."""

_ORDERED = frozenset({"()", "[]", "[)", "(]"})
_UNORDERED = frozenset({"{}", "list", "union"})
_RELATIONS = frozenset({"=", "<", "<=", "ne"})
MAX_ITEMS = 64
_ZERO = Num(Fraction(0))
_HALF_DAY = 720


@dataclass(frozen=True, slots=True)
class Equivalence:
    """The rules by which two trees say the same, given a way to compare their scalars."""

    leaf: Leaf
    relate: Leaf
    """Compares two equations or inequalities."""
    percent: bool = False
    """Whether the problem asks for a percentage."""

    def same(self, pred: Node, gold: Node) -> bool | None:
        """Decide whether a prediction says what the gold answer says."""
        if pred == gold:
            return True
        if isinstance(pred, Measure) or isinstance(gold, Measure):
            return self._measures(pred, gold)
        if _is(pred, "def") or _is(gold, "def"):
            return self._definitions(pred, gold)
        kinds = _kind(pred), _kind(gold)
        if "relation" in kinds:
            return self.relate(pred, gold) if kinds[0] == kinds[1] else False
        if kinds == ("scalar", "scalar"):
            return self._scalars(pred, gold)
        return self._several(pred, gold, kinds)

    def _measures(self, pred: Node, gold: Node) -> bool | None:
        if _is_clock(pred) or _is_clock(gold):
            return _same_time(pred, gold)
        left, right = (n.unit if isinstance(n, Measure) else "" for n in (pred, gold))
        first, second = (n.value if isinstance(n, Measure) else n for n in (pred, gold))
        if {left, right} == {"degree", "radian"}:
            return self.same(_in_radians(first, left), _in_radians(second, right))
        if compatible(left, right):
            same = self.same(first, second)
            if same is not True and {left, right} == {"degree", ""} and _has_pi(first, second):
                # 30° is π/6, where the degree sign is given and the other side is in terms of π.
                return self.same(_in_radians(first, left), _in_radians(second, right))
            return same
        ratio = ratio_of(left, right)
        if ratio is None:
            return False
        return self.same(Op("*", (first, Num(ratio))), second)

    def _definitions(self, pred: Node, gold: Node) -> bool | None:
        left, pred_value = _definition(pred)
        right, gold_value = _definition(gold)
        if left and right and left != right:
            if _at_number(left) or _at_number(right):
                return False  # f(2) = 5 and f(3) = 5
            if (bound := _bound(left, right)) is None:
                return self._as_relation(pred, gold)
            pred_value = substitute(pred_value, bound[0], Sym(bound[1]))
        if _kind(pred_value) == "relation" or _kind(gold_value) == "relation":
            return self._as_relation(pred, gold)
        return self.same(pred_value, gold_value)

    def _as_relation(self, pred: Node, gold: Node) -> bool | None:
        """Compare y = 1 - x with x + y = 1; x = 5 and y = 5 are two different statements."""
        left, right = (_undefined(n) for n in (pred, gold))
        if left is None or right is None or symbols(left) != symbols(right):
            return False
        return self.relate(left, right)

    def _scalars(self, pred: Node, gold: Node) -> bool | None:
        if _is(pred, "base") and not _is(gold, "base"):
            pred = _in_ten(pred)
        elif _is(gold, "base") and not _is(pred, "base"):
            gold = _in_ten(gold)
        if _is(pred, "base") or _is(gold, "base"):
            # The base may be missing where the gold answer names it, like a unit.
            return isinstance(pred, Num | Sym) and _is(gold, "base") and pred == _args(gold)[0]
        if _is(pred, "time") or _is(gold, "time"):
            return _same_time(pred, gold)
        remainders = _is_remainder(pred) and _is_remainder(gold)
        if remainders or _is(pred, "residue") or _is(gold, "residue"):
            return self._residues(pred, gold)
        if _is(pred, ":") and _is(gold, ":"):
            return self._ratios(pred, gold)
        pred, gold = _quotient(pred), _quotient(gold)
        if _is(pred, "%") != _is(gold, "%"):
            return self._percent(pred, gold)
        return self.leaf(pred, gold)

    def _residues(self, pred: Node, gold: Node) -> bool | None:
        """Compare classes modulo a number; its least member alone stands for a class as well."""
        if _is_remainder(pred) and _is_remainder(gold):
            (first, modulus), (second, other) = _args(pred), _args(gold)
            gap = Op("mod", (Op("+", (first, Op("neg", (second,)))), modulus))
            return _all((self.leaf(modulus, other), self.leaf(gap, _ZERO)))
        return self.leaf(_remainder(pred), _remainder(gold))

    def _percent(self, pred: Node, gold: Node) -> bool | None:
        """10 % is 0.1; it is 10 as well where a percentage is asked for, as a gold with % shows."""
        value = self.leaf(pred, gold)
        if value is False and (self.percent or _is(gold, "%")):
            return self.leaf(_inside(pred), _inside(gold))
        return value

    def _ratios(self, pred: Node, gold: Node) -> bool | None:
        left, right = _args(pred), _args(gold)
        if len(left) != len(right):
            return False
        return _all(
            self.leaf(Op("*", (left[0], b)), Op("*", (a, right[0])))
            for a, b in zip(left[1:], right[1:], strict=True)
        )

    def _several(self, pred: Node, gold: Node, kinds: tuple[str, str]) -> bool | None:
        left, right = _args(pred), _args(gold)
        if kinds == ("matrix", "matrix"):
            return self._matrices(left, right)
        if "matrix" in kinds:
            return self._vector(pred, gold)
        if "scalar" in kinds:
            single = left if kinds[1] == "scalar" else right
            other = gold if kinds[1] == "scalar" else pred
            braces = _is(gold if kinds[0] == "scalar" else pred, "{}")
            return self._pairwise(single, (other,)) if len(single) == 1 and braces else False
        if kinds == ("ordered", "ordered"):
            same = _shape(pred) == _shape(gold)
            return self._pairwise(left, right) if same else False
        if kinds == ("unordered", "unordered"):
            return self._unordered(pred, gold)
        return self._mixed(pred, gold, ordered=pred if kinds[0] == "ordered" else gold)

    def _mixed(self, pred: Node, gold: Node, ordered: Node) -> bool | None:
        """Compare a tuple with a list: in order, and x = 1, y = 2 in the order of the names."""
        half_open = _is(ordered, "[)") or _is(ordered, "(]")
        if half_open or not (_is(pred, "list") or _is(gold, "list")):
            return False
        left, right = (_by_name(n) for n in (pred, gold))
        if _is(gold, "[]") and len(right) == 2:
            return False  # a closed interval, of which a list gives only the ends
        if _is(ordered, "[]") and len(left) > 2:
            return self._matching(left, right)
        return self._pairwise(left, right)

    def _unordered(self, pred: Node, gold: Node) -> bool | None:
        left, right = _args(pred), _args(gold)
        if _is(pred, "{}") or _is(gold, "{}"):
            left, right = (tuple(dict.fromkeys(items)) for items in (left, right))
        left, right = _roots(left, right), _roots(right, left)
        if any(map(_is_sequence, (left, right))):
            return self._pairwise(left, right)
        named = [_names(items) for items in (left, right)]
        # x = 1, y = 2 against 1, 2: without its names a list can only be meant in order.
        if (len(named[0]) > 1) != (len(named[1]) > 1):
            return self._pairwise(left, right)
        return self._matching(left, right)

    def _pairwise(self, left: Sequence[Node], right: Sequence[Node]) -> bool | None:
        if len(left) != len(right):
            return False
        return _all(self.same(a, b) for a, b in zip(left, right, strict=True))

    def _matching(self, left: Sequence[Node], right: Sequence[Node]) -> bool | None:
        """Pair the items off in any order."""
        if len(left) != len(right):
            return False
        if len(left) > MAX_ITEMS:
            return None
        unmatched, unsure = list(right), False
        for item in left:
            verdicts = [self.same(item, other) for other in unmatched]
            if True in verdicts:
                del unmatched[verdicts.index(True)]
            elif None in verdicts:
                unsure = True
            else:
                return False
        return None if unsure else True

    def _matrices(self, left: Sequence[Node], right: Sequence[Node]) -> bool | None:
        if [len(_args(row)) for row in left] != [len(_args(row)) for row in right]:
            return False
        pairs = zip(left, right, strict=True)
        return _all(self._pairwise(_args(a), _args(b)) for a, b in pairs)

    def _vector(self, pred: Node, gold: Node) -> bool | None:
        """Compare a row or column with a tuple."""
        matrix, other = (pred, gold) if _is(pred, "matrix") else (gold, pred)
        rows = [_args(row) for row in _args(matrix)]
        if not (isinstance(other, Op) and other.name in ("()", "[]")):
            return False
        if len(rows) != 1 and any(len(row) != 1 for row in rows):
            return False
        cells = [cell for row in rows for cell in row]
        return (
            self._pairwise(cells, other.args)
            if matrix is pred
            else self._pairwise(other.args, cells)
        )


def _all(verdicts: Iterable[bool | None]) -> bool | None:
    result: bool | None = True
    for verdict in verdicts:
        if verdict is False:
            return False
        if verdict is None:
            result = None
    return result


def _is(node: Node, name: str) -> bool:
    return isinstance(node, Op) and node.name == name


def _args(node: Node) -> tuple[Node, ...]:
    return node.args if isinstance(node, Op) else ()


def _inside(node: Node) -> Node:
    return node.args[0] if isinstance(node, Op) and node.name == "%" else node


def _kind(node: Node) -> str:
    if isinstance(node, Op):
        if node.name in _ORDERED:
            return "ordered"
        if node.name in _UNORDERED or node.name in BRACKETS:
            return "unordered"
        if node.name in _RELATIONS:
            return "relation"
        if node.name == "matrix":
            return "matrix"
    return "scalar"


def _shape(node: Node) -> str:
    """Tell open from closed where two things can be an interval; infinity has no closed end."""
    if not isinstance(node, Op) or len(node.args) != 2:
        return "tuple"
    low = "(" if node.args[0] in INFINITE else node.name[0]
    high = ")" if node.args[1] in INFINITE else node.name[1]
    return low + high


def _in_ten(node: Node) -> Node:
    """Take the base off digits in base ten, which is no base worth naming beside plain digits."""
    digits, base = _args(node)
    return digits if base == Num(Fraction(10)) else node


def _is_remainder(node: Node) -> bool:
    return _is(node, "residue") or _is(node, "mod")


def _remainder(node: Node) -> Node:
    return Op("mod", _args(node)) if _is(node, "residue") else node


def _in_radians(node: Node, unit: str) -> Node:
    if unit != "degree":
        return node
    return Op("*", (node, Op("/", (Sym("pi"), Num(Fraction(180))))))


def _has_pi(*nodes: Node) -> bool:
    return any(Sym("pi") in walk(node) for node in nodes)


def _is_clock(node: Node) -> bool:
    """Whether a node is a time of day by its form or its am or pm."""
    return _is(node, "time") or (isinstance(node, Measure) and node.unit in ("am", "pm"))


def _same_time(pred: Node, gold: Node) -> bool:
    """Compare two times of day; 3:05 may be in either half, 15:05 is in the afternoon."""
    left, right = _minutes(pred), _minutes(gold)
    if left is None or right is None:
        return False
    (first, half), (second, other) = left, right
    if bool(half) != bool(other) and "24" not in (half, other):
        return first % _HALF_DAY == second % _HALF_DAY
    return first == second


def _minutes(node: Node) -> tuple[Fraction, str] | None:
    """Count the minutes since midnight, and say how the half of the day is known."""
    half = node.unit if isinstance(node, Measure) else ""
    inner = node.value if isinstance(node, Measure) else node
    parts = _args(inner) if _is(inner, "time") or _is(inner, ":") else (inner,)
    values = [part.value for part in parts if isinstance(part, Num)]
    if len(values) != len(parts) or len(values) > 2 or half not in ("", "am", "pm"):
        return None
    hour, minute = (*values, Fraction(0))[:2]
    if len(values) == 1 and not half:
        return None
    if hour.denominator != 1 or not 0 <= hour < 24 or not 0 <= minute < 60:
        return None
    if half and hour <= 12:
        return (hour % 12 + (12 if half == "pm" else 0)) * 60 + minute, half
    return hour * 60 + minute, half or ("24" if hour > 12 or not hour else "")


def _quotient(node: Node) -> Node:
    """Read the ratio 3:2 as the fraction where the other side is a number."""
    if isinstance(node, Op) and node.name == ":" and len(node.args) == 2:
        return Op("/", node.args)
    return node


def _definition(node: Node) -> tuple[str, Node]:
    if isinstance(node, Op) and node.name == "def" and isinstance(node.args[0], Sym):
        return node.args[0].name, node.args[1]
    return "", node


def _undefined(node: Node) -> Node | None:
    """Turn a definition back into an equation between expressions."""
    name, value = _definition(node)
    if not name:
        return node if _kind(node) == "relation" else None
    return Op("=", (Sym(name.partition("(")[0]), value)) if _kind(value) == "scalar" else None


def _at_number(name: str) -> bool:
    inside = name.partition("(")[2]
    return inside.lstrip("-")[:1].isdecimal()


def _bound(left: str, right: str) -> tuple[str, str] | None:
    """Tell whether two names mean one function, and which variable to rename: f(x), f(t), y."""
    (f, _, x), (g, _, t) = (name.rstrip(")").partition("(") for name in (left, right))
    same = f == g and (x or t)
    if not (same or (f == "y" and t) or (g == "y" and x)):
        return None
    return (x or t, t or x)


def _names(items: Sequence[Node]) -> set[str]:
    return {name for item in items if (name := _definition(item)[0])}


def _roots(items: tuple[Node, ...], others: Sequence[Node]) -> tuple[Node, ...]:
    """Take the indices off x_1 = 3, x_2 = -2, unless the other side has them too."""
    names = {_definition(item)[0] for item in items}
    bases = {name.partition("_")[0] for name in names}
    indexed = len(bases) == 1 and len(names) == len(items) > 1 and all("_" in n for n in names)
    if not indexed or any("_" in name for name in _names(others)):
        return items
    return tuple(Op("def", (Sym(*bases), _definition(item)[1])) for item in items)


def _is_sequence(items: Sequence[Node]) -> bool:
    """Whether letters repeat, as in H, T, H: a sequence, and no list of things."""
    letters = [item.name for item in items if isinstance(item, Sym) and item.name.isupper()]
    return len(letters) == len(items) and len(set(letters)) < len(letters)


def _by_name(node: Node) -> tuple[Node, ...]:
    items = _args(node)
    if len(_names(items)) == len(items):
        return tuple(
            _definition(item)[1] for item in sorted(items, key=lambda i: _definition(i)[0])
        )
    return items
