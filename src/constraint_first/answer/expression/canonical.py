"""A parsed answer in one canonical form, so that two ways to say a thing become one tree.

``x > 3`` and ``(3, oo)``, ``x = 1 or x = 2`` and ``{1, 2}``, ``±3`` and ``3, -3`` meet here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import TypeGuard

from constraint_first.answer.expression.exact import nearly, rational
from constraint_first.answer.expression.lexer import Unreadable
from constraint_first.answer.expression.normal import clean
from constraint_first.answer.expression.numeral import literal
from constraint_first.answer.expression.parse import parse
from constraint_first.answer.expression.real_set import REALS, as_real_set, as_tree
from constraint_first.answer.expression.relation import relation
from constraint_first.answer.expression.spelling import read_number
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
from constraint_first.answer.expression.unit import compatible, joined
from constraint_first.answer.expression.words import NUMERALS, plain_words

__all__ = ["SIMPLE", "interpret", "scalars"]

SIMPLE = re.compile(
    r"([-−]?)(?:([0-9]{1,40})(?:\.([0-9]{1,40})|/([1-9][0-9]{0,40}))?"
    r"|\\[dt]?frac\{([0-9]{1,40})\}\{([1-9][0-9]{0,40})\})"
)
"""The commonest answers: sign, whole, decimals, denominator; or numerator and denominator."""
# 1,234,567 and, in India, 12,34,567.
_THOUSANDS = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:(?:,\d{3})+|(?:,\d\d)+,\d{3})(?![\d,])")
# 1'234 in Switzerland; 1.234,5 and 1.234.567 in much of Europe.
_APOSTROPHES = re.compile(r"(?<![\d.,'])\d{1,3}(?:'\d{3})+(?![\d'])")
_POINTS = re.compile(
    r"(?<![\d.,])(\d{1,3}(?:\.\d{3})+),(\d+)(?![\d,.])|(?<![\d.,])\d{1,3}(?:\.\d{3}){2,}(?![\d,.])"
)
_DECIMAL_COMMA = re.compile(r"-?(?:0,\d+|\d+,(?:\d\d|\d{4,}))")
# "m + n = 17" where m + n is what was asked for, besides being an equation.
_NAMED_SUM = re.compile(r"[A-Za-z](?:\s*\+\s*[A-Za-z])+\s*=\s*(?=[-+]?\d)")
_WORDED = re.compile(r"(?:\\(?:text|mathrm)\s*\{)?\s*-?[A-Za-z][A-Za-z' -]+[.!]?\}?")
_NAME = re.compile(
    r"(?!.*\b(?:not|no|never|isn't|cannot|if|unless|when|than|false|wrong|incorrect|untrue|doubt)\b)"
    r"[^,;\n]{1,60}(?<!\. )",
    re.IGNORECASE,
)
_TWICE = re.compile(r"([^()]{1,60}\S)\s+\(([^()]{1,60})\)")
_EQUALS = re.compile(r"(?<![<>!\\=])=(?!=)")
_IN_WORDS = {
    **NUMERALS,
    **dict.fromkeys(("no solution", "no solutions", "no real solution"), r"\emptyset"),
    **dict.fromkeys(("no real solutions", "empty set"), r"\emptyset"),
    **dict.fromkeys(
        ("no solution exists", "no solutions exist", "there no solution"), r"\emptyset"
    ),
    **dict.fromkeys(("all real numbers", "all reals", "any real number"), r"\mathbb{R}"),
    **dict.fromkeys(("every real number", "any real numbers", "real numbers"), r"\mathbb{R}"),
    **dict.fromkeys(("none", "null set", "no real roots", "no roots"), r"\emptyset"),
    **dict.fromkeys(("infinity", "positive infinity", "plus infinity"), r"\infty"),
    **dict.fromkeys(("negative infinity", "minus infinity", "-infinity", "-inf"), r"-\infty"),
    "noon": "12:00 pm",
    "midnight": "12:00 am",
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
        cleaned = _from_words(cleaned)
    spellings = [cleaned]
    if "=" in cleaned and (asked := _NAMED_SUM.match(cleaned)):
        spellings.append(cleaned[asked.end() :])
    if "," in cleaned:
        if _THOUSANDS.search(cleaned) and not _inside_brackets(cleaned):
            spellings.insert(0, _THOUSANDS.sub(lambda m: m[0].replace(",", ""), cleaned))
        if _DECIMAL_COMMA.fullmatch(cleaned):
            spellings.append(cleaned.replace(",", "."))
    if "'" in cleaned:
        spellings[0] = _APOSTROPHES.sub(lambda m: m[0].replace("'", ""), cleaned)
    if cleaned.count(".") + ("," in cleaned) > 1 and _POINTS.search(cleaned):
        spellings[0] = _POINTS.sub(_pointed, cleaned)
    trees = tuple(tree for spelling in spellings if (tree := _read(spelling)) is not None)
    if not trees and (twice := _TWICE.fullmatch(cleaned)):
        worded = _WORDED.fullmatch(twice[1]) is not None
        first = _read(_from_words(twice[1]) if worded else twice[1])
        second = _read(twice[2])
        return (first,) if first and second and _repeats(first, second, worded=worded) else ()
    if not trees and "=" in cleaned:
        # An unread name of a value that can be read: "P-value = 0.527".
        name, *values = _EQUALS.split(cleaned)
        value = _read(values[0]) if len(values) == 1 and _NAME.fullmatch(name) else None
        return (value,) if value is not None and not symbols(value) else ()
    return trees


def _repeats(first: Node, second: Node, *, worded: bool) -> bool:
    """Whether two quantities are one amount: 75 pounds (£75), fifteen (15)."""
    units = [node.unit if isinstance(node, Measure) else "" for node in (first, second)]
    amount = rational(first)
    told = worded or any(units)
    return told and compatible(*units) and amount is not None and amount == rational(second)


def _pointed(match: re.Match[str]) -> str:
    whole = (match[1] or match[0]).replace(".", "")
    return f"{whole}.{match[2]}" if match[2] else whole


def _from_words(text: str) -> str:
    """Write in signs what is said in words: twenty-one, one half, no solution, infinity."""
    words = plain_words(text)
    if (known := _IN_WORDS.get(words)) is not None:
        return known
    bare = re.sub(r"\\(?:text|mathrm)\s*|[{}]", "", text).strip(" .!")
    found = read_number(bare)
    if found is None:
        return text
    number, rest = found
    return rf"{number} \text{{{rest}}}" if rest else number


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
    if node.name in ("union", "intersect", "minus"):
        return _set_operation(node)
    if node.name == "call" and (counted := _counted(node)) is not None:
        return counted
    if node.name == "^" and node.args[1] == Sym("T") and _is_vector(node.args[0]):
        return canonical(node.args[0])  # a column written as a row
    if any(isinstance(n, Sym) and n.name.startswith("unit ") for n in walk(node)):
        return _components(node)
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


def _set_operation(node: Op) -> Node:
    """Work out unions, intersections and differences of intervals and finite sets of numbers."""
    parts = _parts("union", node) if node.name == "union" else [canonical(a) for a in node.args]
    parts = [
        part.args[1] if isinstance(part, Op) and part.name == "def" else part for part in parts
    ]
    if node.name != "union":
        # \\setminus {0}: braces that only group in LaTeX.
        parts = [parts[0], *(_as_set(part) for part in parts[1:])]
    pieces = as_real_set(Op(node.name, tuple(parts)))
    if pieces is not None:
        return as_tree(pieces)
    if node.name == "union":
        braces = all(isinstance(part, Op) and part.name == "{}" for part in parts)
        items = tuple(item for part in parts if isinstance(part, Op) for item in part.args)
        return Op("{}", items) if braces else Op("union", tuple(parts))
    return Op(node.name, tuple(parts))


def _as_set(node: Node) -> Node:
    if isinstance(node, Op) and node.name == "list":
        return Op("{}", node.args)
    scalar = not (isinstance(node, Op) and (node.name in BRACKETS or node.name == "union"))
    return Op("{}", (node,)) if scalar else node


def _counted(node: Op) -> Node | None:
    """Read C(10, 3) as a binomial coefficient and P(10, 3) as a number of arrangements."""
    match node:
        case Op("call", (Sym(name="C" | "nCr"), whole, part)):
            return Op("binom", (whole, part))
        case Op("call", (Sym(name=name) as point, *args)) if (
            len(args) > 1 and len(name) == 1 and name.isupper() and name != "P"
        ):
            return Op("def", (point, Op("()", tuple(canonical(arg) for arg in args))))
        case Op("call", (Sym(name="P" | "nPr"), whole, part)):
            numbers = rational(whole), rational(part)
            if None in numbers or not 0 <= (numbers[1] or 0) <= (numbers[0] or 0):
                return None
            rest = Op("+", (whole, Op("neg", (part,))))
            return Op("/", (Op("!", (whole,)), Op("!", (rest,))))
        case _:
            return None


def _components(node: Node) -> Node:
    """Write a sum of the unit vectors i, j and k as a tuple."""
    names = ["unit i", "unit j", "unit k"]
    used = names if Sym("unit k") in walk(node) else names[:2]
    linear = all(
        not isinstance(n, Op) or n.name in ("+", "neg", "*", "/", "root", "^") for n in walk(node)
    )
    if not linear:
        raise Unreadable("unit vectors in something else than a sum")
    parts: list[Node] = []
    for chosen in used:
        part = node
        for name in names:
            part = substitute(part, name, Num(Fraction(int(name == chosen))))
        parts.append(part)
    return Op("()", tuple(parts))


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
        items = _assignments([part for item in _assignments(items) for part in _flat(item)])
        if node.name == "or" and all(map(_is_definition, items)) and len(set(_defined(items))) > 1:
            raise Unreadable("one or another thing has a value")  # x = 1 or y = 0
        if node.name == "and" and (total := _total(items)) is not None:
            return total
        items = _without_parameters(_spread_inequality(items))
        if len(items) == 1 and name == "list":
            return items[0]
        if len(items) == 1 and name == "{}" and _is_interval_definition(items[0]):
            return items[0]
        if len(items) > 1 and all(_is_interval_definition(item) for item in items):
            return _joined(items, node.name)
        return Op(name, tuple(items))
    if name == "[]" and (rows := _rows(items)):
        return Op("matrix", rows)
    if name in ("[]", "()") and all(map(_is_definition, items)):
        return Op("list", tuple(items))  # [x = 2, y = 4]
    return _spread_tuple(Op(name, tuple(items)))


def _assignments(items: list[Node]) -> list[Node]:
    """Write each of several solutions, x = 1, y = 0 or x = 0, y = 1, as a point."""
    groups = [item.args if _is_list(item) else () for item in items]
    if len(items) > 1 and all(map(_is_definition, items)):
        names = _defined(items)
        period = len(set(names))
        groups = [tuple(items[at : at + period]) for at in range(0, len(items), period)]
    names = [_defined(group) for group in groups]
    width = len(names[0]) if len(names) > 1 else 0
    alike = all(len(name) == width and set(name) == set(names[0]) for name in names)
    if width < 2 or len(set(names[0])) < width or not alike:
        return items
    order = sorted(names[0])
    return [
        Op("()", tuple(dict(zip(name, _values(group), strict=True))[key] for key in order))
        for name, group in zip(names, groups, strict=True)
    ]


def _is_list(node: Node) -> TypeGuard[Op]:
    return isinstance(node, Op) and node.name == "list" and all(map(_is_definition, node.args))


def _defined(items: Sequence[Node]) -> list[str]:
    return [
        item.args[0].name
        for item in items
        if isinstance(item, Op) and isinstance(item.args[0], Sym)
    ]


def _values(items: Sequence[Node]) -> list[Node]:
    return [item.args[1] for item in items if isinstance(item, Op)]


def _flat(item: Node) -> tuple[Node, ...]:
    if isinstance(item, Op) and item.name == "list":
        return item.args
    if isinstance(item, Op) and item.name == "def" and isinstance(item.args[1], Op):
        name, value = item.args
        if isinstance(value, Op) and value.name == "list":
            return tuple(Op("def", (name, part)) for part in value.args)
    return (item,)


def _total(items: list[Node]) -> Node | None:
    """Add the parts of one quantity: 3 hours and 20 minutes."""
    if len(items) == 2 and isinstance(items[0], Measure) and isinstance(items[1], Measure):
        return joined(items[0], items[1])
    return None


def _spread_inequality(items: list[Node]) -> list[Node]:
    """Read x ≠ 1, 2 as x ≠ 1 and x ≠ 2."""
    first = items[0] if items else None
    if not (isinstance(first, Op) and first.name == "def" and len(items) > 1):
        return items
    union = first.args[1]
    if not (isinstance(union, Op) and union.name == "union" and len(union.args) == 2):
        return items
    hole = union.args[0].args[1] if isinstance(union.args[0], Op) else None
    if hole is None or as_real_set(union) != as_real_set(_without(hole)):
        return items
    scalar = [item for item in items[1:] if nearly(item) is not None]
    if len(scalar) != len(items) - 1:
        return items
    return [first, *(Op("def", (first.args[0], _without(item))) for item in scalar)]


def _without_parameters(items: list[Node]) -> list[Node]:
    """Read x = kπ, k ∈ Z as one statement about a whole number of any name."""
    for item in items:
        match item:
            case Op("def", (Sym(name=name), Sym(name="set Z" | "set N" as numbers))):
                others = [other for other in items if other is not item]
                if others and all(name in symbols(other) for other in others):
                    parameter = Sym(f"any of {numbers}")
                    return [substitute(other, name, parameter) for other in others]
            case _:
                pass
    return items


def _without(hole: Node) -> Node:
    return Op("union", (Op("()", (INFINITE[1], hole)), Op("()", (hole, INFINITE[0]))))


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
    if isinstance(value, Op) and value.name == "union":
        return True
    return isinstance(value, Op) and value.name in ("()", "[]", "[)", "(]") and len(value.args) == 2


def _joined(items: list[Node], how: str) -> Node:
    """Join inequalities: "and" intersects, "or" unites, and so do commas that leave a bound."""
    definitions = [item for item in items if isinstance(item, Op)]
    values = tuple(d.args[1] for d in definitions)
    name = definitions[0].args[0]
    if len({d.args[0] for d in definitions}) > 1:
        return Op("list", tuple(items))
    union, common = (as_real_set(Op(joint, values)) for joint in ("union", "intersect"))
    if union is None or common is None:
        return Op("def", (name, Op("union", values)))
    both = how == "and" or (how != "or" and as_tree(union) == REALS)
    return Op("def", (name, as_tree(common if both else union)))


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
