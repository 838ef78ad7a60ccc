"""A parsed answer in one canonical form, so that two ways to say a thing become one tree.

``x > 3`` and ``(3, oo)``, ``x = 1 or x = 2`` and ``{1, 2}``, ``±3`` and ``3, -3`` meet here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, product

from cfr.answer.expression.exact import rational
from cfr.answer.expression.lexer import Unreadable
from cfr.answer.expression.normal import clean
from cfr.answer.expression.numeral import literal
from cfr.answer.expression.parse import parse
from cfr.answer.expression.relation import relation
from cfr.answer.expression.syntax import BRACKETS, INFINITE, Measure, Node, Num, Op, walk
from cfr.answer.expression.words import NUMERALS, plain_words

__all__ = ["SIMPLE", "interpret", "scalars"]

SIMPLE = re.compile(
    r"([-−]?)(?:([0-9]{1,40})(?:\.([0-9]{1,40})|/([1-9][0-9]{0,40}))?"
    r"|\\[dt]?frac\{([0-9]{1,40})\}\{([1-9][0-9]{0,40})\})"
)
"""The commonest answers: sign, whole, decimals, denominator; or numerator and denominator."""
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")
_DECIMAL_COMMA = re.compile(r"-?(?:0,\d+|\d+,(?:\d\d|\d{4,}))")
# "m + n = 17" where m + n is what was asked for, besides being an equation.
_NAMED_SUM = re.compile(r"[A-Za-z](?:\s*\+\s*[A-Za-z])+\s*=\s*(?=[-+]?\d)")
_WORDED = re.compile(r"(?:\\text\s*\{)?[A-Za-z]{2}[A-Za-z ]+\}?")
_IN_WORDS = {
    **NUMERALS,
    **dict.fromkeys(("no solution", "no solutions", "no real solution"), r"\emptyset"),
    **dict.fromkeys(("no real solutions", "empty set"), r"\emptyset"),
    **dict.fromkeys(
        ("no solution exists", "no solutions exist", "there no solution"), r"\emptyset"
    ),
    **dict.fromkeys(("all real numbers", "all reals", "any real number"), r"\mathbb{R}"),
}
_MAX_SIGNS = 4
_VECTORS = ("()", "[]", "matrix")


@lru_cache(4096)  # a gold answer meets many predictions, and predictions repeat themselves
def interpret(text: str) -> tuple[Node, ...]:
    """Read an answer as trees, one for every way its commas allow; none where it is not maths."""
    if simple := SIMPLE.fullmatch(text):
        return (_simple(simple),)
    cleaned = clean(text)
    if _WORDED.fullmatch(cleaned):
        cleaned = _IN_WORDS.get(plain_words(cleaned), cleaned)
    spellings = [cleaned]
    if "=" in cleaned and (asked := _NAMED_SUM.match(cleaned)):
        spellings.append(cleaned[asked.end() :])
    if "," in cleaned:
        if _THOUSANDS.search(cleaned) and not _inside_brackets(cleaned):
            spellings.insert(0, _THOUSANDS.sub(lambda m: m[0].replace(",", ""), cleaned))
        if _DECIMAL_COMMA.fullmatch(cleaned):
            spellings.append(cleaned.replace(",", "."))
    return tuple(tree for spelling in spellings if (tree := _read(spelling)) is not None)


def scalars(text: str) -> Iterator[Node]:
    """Yield an answer's trees without the name, the unit or the per cent sign of its value."""
    for node in interpret(text.strip()):
        while True:
            if isinstance(node, Measure):
                node = node.value
            elif isinstance(node, Op) and node.name in ("def", "%"):
                node = node.args[-1]
            else:
                break
        yield node


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
        return relation(node, canonical)
    if node.name in BRACKETS or node.name in ("and", "or"):
        return _several(node)
    if node.name == "deg":
        return Measure(canonical(node.args[0]), "degree")
    if node.name == "union":
        return Op("union", tuple(_parts("union", node)))
    if node.name == "minus":
        return _punctured(*(canonical(arg) for arg in node.args))
    if node.name in (":", "time"):
        return _ratio(node)
    if node.name in ("neg", "*", "/") and (scaled := _scaled(node)) is not None:
        return scaled
    return _spread([node])


# A number times a vector or a matrix.


def _scaled(node: Op) -> Node | None:
    """Multiply a vector or a matrix out, where it stands in a product with numbers alone."""
    if node.name == "neg":
        return _each(node.args[0], lambda cell: Op("neg", (cell,)))
    left, right = node.args
    if _is_vector(left) and not _is_vector(right):
        return _each(left, lambda cell: Op(node.name, (cell, right)))
    if node.name == "*" and _is_vector(right) and not _is_vector(left):
        return _each(right, lambda cell: Op("*", (left, cell)))
    return None


def _is_vector(node: Node) -> bool:
    """Whether a node is a vector or a matrix, itself or times a number."""
    if not isinstance(node, Op):
        return False
    scaled = node.name in ("neg", "*", "/") and any(_is_vector(arg) for arg in node.args)
    return scaled or (node.name in _VECTORS and bool(node.args))


def _each(node: Node, change: Callable[[Node], Node]) -> Node | None:
    whole = canonical(node) if _is_vector(node) else node
    if not isinstance(whole, Op) or whole.name not in _VECTORS:
        return None
    if whole.name != "matrix":
        return Op(whole.name, tuple(change(cell) for cell in whole.args))
    rows = [row.args for row in whole.args if isinstance(row, Op)]
    return Op("matrix", tuple(Op("row", tuple(change(cell) for cell in row)) for row in rows))


def _parts(name: str, node: Node) -> list[Node]:
    if isinstance(node, Op) and node.name == name:
        return [part for arg in node.args for part in _parts(name, arg)]
    inner = canonical(node)
    return [inner.args[1]] if _is_definition(inner) and isinstance(inner, Op) else [inner]


def _punctured(whole: Node, holes: Node) -> Node:
    """Read the line without some points as the intervals between them."""
    if not (isinstance(holes, Op) and holes.name == "{}"):
        raise Unreadable("a difference of sets")
    points = {value: hole for hole in holes.args if (value := rational(hole)) is not None}
    if whole != Op("()", (INFINITE[1], INFINITE[0])) or len(points) != len(holes.args):
        raise Unreadable("a difference of sets")
    ends = [INFINITE[1], *(points[value] for value in sorted(points)), INFINITE[0]]
    return Op("union", tuple(Op("()", pair) for pair in pairwise(ends)))


def _ratio(node: Op) -> Node:
    unit = next((arg.unit for arg in node.args if isinstance(arg, Measure)), "")
    parts = tuple(arg.value if isinstance(arg, Measure) else arg for arg in node.args)
    plain = Op("time" if unit in ("am", "pm") else node.name, parts)
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
