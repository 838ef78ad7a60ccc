"""A parsed answer in one canonical form, so that two ways to say a thing become one tree.

``x > 3`` and ``(3, oo)``, ``x = 1 or x = 2`` and ``{1, 2}``, ``±3`` and ``3, -3`` meet here.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from itertools import product

from cfr.answer.exact import rational
from cfr.answer.lexer import Unreadable
from cfr.answer.normal import clean
from cfr.answer.number import literal
from cfr.answer.parse import parse
from cfr.answer.syntax import BRACKETS, Measure, Node, Num, Op, Sym, substitute, symbols, walk

__all__ = ["readings"]

_SIMPLE = re.compile(
    r"([-−]?)(?:([0-9]{1,40})(?:\.([0-9]{1,40})|/([1-9][0-9]{0,40}))?"
    r"|\\[dt]?frac\{([0-9]{1,40})\}\{([1-9][0-9]{0,40})\})"
)
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")
_DECIMAL_COMMA = re.compile(r"-?(?:0,\d+|\d+,(?:\d\d|\d{4,}))")
_FLIPPED = {">": "<", "ge": "le", "<": "<", "le": "le"}
_MAX_SIGNS = 4
INFINITE = (Sym("oo"), Op("neg", (Sym("oo"),)))


@lru_cache(4096)  # a gold answer meets many predictions, and predictions repeat themselves
def readings(text: str) -> tuple[Node, ...]:
    """Read an answer in every way that its commas allow; empty where it is not mathematics."""
    if simple := _SIMPLE.fullmatch(text):
        return (_simple(simple),)
    cleaned = clean(text)
    spellings = [cleaned]
    if "," in cleaned:
        if _THOUSANDS.search(cleaned) and not _inside_brackets(cleaned):
            spellings.insert(0, _THOUSANDS.sub(lambda m: m[0].replace(",", ""), cleaned))
        if _DECIMAL_COMMA.fullmatch(cleaned):
            spellings.append(cleaned.replace(",", "."))
    return tuple(tree for spelling in spellings if (tree := _read(spelling)) is not None)


def _simple(match: re.Match[str]) -> Num:
    """Read the commonest answers of all without a parser."""
    sign, whole, part, below, over, under = match.groups()
    if part is not None:
        number = literal(f"{whole}.{part}")
    else:
        number = Num(Fraction(int(whole or over), int(below or under or 1)))
    return Num(-number.value, number.digits) if sign else number


def _read(text: str) -> Node | None:
    try:
        return canonical(parse(text))
    except (Unreadable, RecursionError):
        return None


def _inside_brackets(text: str) -> bool:
    return text[:1] in "([{" or text.startswith("\\{")


def canonical(node: Node) -> Node:
    """Bring a tree to the form in which trees are compared."""
    if isinstance(node, Measure):
        inner = canonical(node.value)
        return inner if isinstance(inner, Measure) else Measure(inner, node.unit)
    if not isinstance(node, Op):
        return node
    if node.name == "rel":
        return _relation(node)
    if node.name in BRACKETS or node.name in ("and", "or"):
        return _several(node)
    if node.name == "deg":
        return Measure(canonical(node.args[0]), "degree")
    if node.name == "union":
        return Op("union", tuple(_parts("union", node)))
    if node.name in (":", "time"):
        return _ratio(node)
    return _spread([node])


def _parts(name: str, node: Node) -> list[Node]:
    if isinstance(node, Op) and node.name == name:
        return [part for arg in node.args for part in _parts(name, arg)]
    inner = canonical(node)
    return [inner.args[1]] if _is_definition(inner) and isinstance(inner, Op) else [inner]


def _ratio(node: Op) -> Node:
    unit = next((arg.unit for arg in node.args if isinstance(arg, Measure)), "")
    plain = Op(
        node.name, tuple(arg.value if isinstance(arg, Measure) else arg for arg in node.args)
    )
    return Measure(plain, unit) if unit else plain


# Several things side by side.


def _several(node: Op) -> Node:
    name = "list" if node.name in ("and", "or") else node.name
    items = [canonical(arg) for arg in node.args]
    if name in ("list", "{}"):
        items = [part for item in items for part in _flat(item)]
        if len(items) == 1 and name == "{}" and _is_interval_definition(items[0]):
            return items[0]
        if len(items) > 1 and all(_is_interval_definition(item) for item in items):
            return _joined(items, node.name)
        return Op(name, tuple(items))
    if name == "[]" and (rows := _rows(items)):
        return Op("matrix", rows)
    return _spread_tuple(Op(name, tuple(items)))


def _flat(item: Node) -> tuple[Node, ...]:
    if isinstance(item, Op) and item.name == "list":
        return item.args
    if isinstance(item, Op) and item.name == "def" and isinstance(item.args[1], Op):
        name, value = item.args
        if isinstance(value, Op) and value.name == "list":
            return tuple(Op("def", (name, part)) for part in value.args)
    return (item,)


def _rows(items: list[Node]) -> tuple[Node, ...]:
    rows = [Op("row", item.args) for item in items if isinstance(item, Op) and item.name == "[]"]
    same = len(rows) == len(items) and len({len(row.args) for row in rows}) == 1
    return tuple(rows) if same else ()


def _is_definition(node: Node) -> bool:
    return isinstance(node, Op) and node.name == "def"


def _is_interval_definition(node: Node) -> bool:
    if not (isinstance(node, Op) and node.name == "def"):
        return False
    value = node.args[1]
    return isinstance(value, Op) and value.name in ("()", "[]", "[)", "(]") and len(value.args) == 2


def _joined(items: list[Node], how: str) -> Node:
    """Join inequalities: "or" and commas unite them, "and" intersects two opposite rays."""
    definitions = [item for item in items if isinstance(item, Op)]
    intervals = [d.args[1] for d in definitions if isinstance(d.args[1], Op)]
    name = definitions[0].args[0]
    if how == "and" and len(intervals) == 2:
        low = next((i for i in intervals if i.args[1] == INFINITE[0]), None)
        high = next((i for i in intervals if i.args[0] == INFINITE[1]), None)
        if low and high and low is not high:
            return Op("def", (name, Op(low.name[0] + high.name[1], (low.args[0], high.args[1]))))
    return Op("def", (name, Op("union", tuple(intervals))))


# Signs that stand for two.


def _spread(nodes: list[Node]) -> Node:
    """Write ± out as two values; one value stays itself."""
    spread: list[Node] = []
    for node in nodes:
        if any(isinstance(n, Op) and n.name in ("±", "∓") for n in walk(node)):
            spread += [_resolve(node, up=True), _resolve(node, up=False)]
        else:
            spread.append(node)
    return spread[0] if len(spread) == 1 else Op("list", tuple(spread))


def _spread_tuple(node: Op) -> Node:
    """Write (±1, ±2) out as every choice of signs."""
    choices = [
        item.args if isinstance(item, Op) and item.name == "list" else (item,) for item in node.args
    ]
    if sum(len(choice) > 1 for choice in choices) == 0:
        return node
    if sum(len(choice) > 1 for choice in choices) > _MAX_SIGNS:
        raise Unreadable("too many signs")
    return Op("list", tuple(Op(node.name, tuple(items)) for items in product(*choices)))


def _resolve(node: Node, *, up: bool) -> Node:
    if not isinstance(node, Op):
        return node
    if node.name in ("±", "∓"):
        inner = _resolve(node.args[0], up=up)
        if (node.name == "±") == up:
            return inner
        return Num(-inner.value, inner.digits) if isinstance(inner, Num) else Op("neg", (inner,))
    return Op(node.name, tuple(_resolve(arg, up=up) for arg in node.args))


# Relations.


def _relation(node: Op) -> Node:
    count = len(node.args) // 2 + 1
    parts = list(node.args[:count])
    signs = [sign.name for sign in node.args[count:] if isinstance(sign, Sym)]
    if "approx" in signs:
        at = signs.index("approx")
        # x = 1/3 ≈ 0.33 says 1/3; x ≈ 5 says 5.
        parts, signs = (parts[:2], ["="]) if at == 0 else (parts[: at + 1], signs[:at])
    if set(signs) <= {"=", "equiv"}:
        return _equation(parts)
    if signs[-1] == "in":
        return _define(parts[-2], canonical(parts[-1]))
    if len(signs) == 2 and len({_FLIPPED.get(s) and s in (">", "ge") for s in signs}) == 1:
        return _between(parts, signs)
    if len(signs) == 1 and signs[0] in _FLIPPED:
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


def _equation(parts: list[Node]) -> Node:
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
    small, big = parts if sign in ("<", "le") else parts[::-1]
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
    if signs[0] in (">", "ge"):
        parts, signs = parts[::-1], signs[::-1]
    low, middle, high = parts
    kind = ("[" if signs[0] in ("le", "ge") else "(") + ("]" if signs[1] in ("le", "ge") else ")")
    return _define(middle, Op(kind, (low, high)))
