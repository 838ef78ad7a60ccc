"""Grading: whether an answer is equivalent to the gold answer.

One set of rules compares two trees in both tiers, which differ only in how they compare two
scalars: by rational arithmetic, or numerically to many digits.

Every comparison is true, false or None; None means that this tier cannot decide it.
"""

from __future__ import annotations

import json
import re
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Literal, TypeAlias

from constraint_first.answer import exact, syntax
from constraint_first.answer.extract import extract, in_context
from constraint_first.answer.marks import asserted
from constraint_first.answer.syntax import Measure, Node, Num, Op, Sym, is_op, symbols, walk
from constraint_first.answer.value import (
    absence_verdict,
    choice_verdict,
    date_of,
    interpret,
    plain_words,
    truth_verdict,
    words_verdict,
)
from constraint_first.pattern import lazy_pattern

if TYPE_CHECKING:
    from constraint_first.answer.workers import Workers

Leaf: TypeAlias = Callable[[Node, Node], bool | None]
"""Compares two scalars."""

_KINDS = {
    **dict.fromkeys(("()", "[]", "[)", "(]"), "ordered"),
    **dict.fromkeys(("{}", "list", "union"), "unordered"),
    **dict.fromkeys(("=", "<", "<=", "ne"), "relation"),
    "matrix": "matrix",
}
"""The kind of value that an operator makes; operators not listed make a scalar."""
MAX_ITEMS = 64
_ZERO = Num(Fraction(0))
_HALF_DAY = 720


@dataclass(frozen=True, slots=True)
class Equivalence:
    """The rules by which two trees are equivalent, given functions that compare their leaves."""

    leaf: Leaf
    relate: Leaf
    """Compares two equations or inequalities."""
    percent: bool = False
    """Whether the problem asks for a percentage."""

    def same(self, pred: Node, gold: Node) -> bool | None:
        if pred == gold:
            return True
        if isinstance(pred, Measure) or isinstance(gold, Measure):
            return self._measures(pred, gold)
        if is_op(pred, "def") or is_op(gold, "def"):
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
        if syntax.compatible(left, right):
            same = self.same(first, second)
            in_pi = Sym("pi") in (*walk(first), *walk(second))
            if same is not True and {left, right} == {"degree", ""} and in_pi:
                # 30° is π/6, where the degree sign is given and the other side is in terms of π.
                return self.same(_in_radians(first, left), _in_radians(second, right))
            return same
        ratio = syntax.ratio_of(left, right)
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
            pred_value = syntax.substitute(pred_value, bound[0], Sym(bound[1]))
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
        if is_op(pred, "base") != is_op(gold, "base"):
            pred, gold = _in_ten(pred), _in_ten(gold)
        if is_op(pred, "base") or is_op(gold, "base"):
            # The answer may omit the base that the gold answer names, as it may omit a unit.
            return isinstance(pred, Num | Sym) and is_op(gold, "base") and pred == _args(gold)[0]
        if is_op(pred, "time") or is_op(gold, "time"):
            return _same_time(pred, gold)
        if is_op(pred, "residue", "mod") and is_op(gold, "residue", "mod"):
            (first, modulus), (second, other) = pred.args, gold.args
            gap = Op("mod", (Op("+", (first, Op("neg", (second,)))), modulus))
            return _all((self.leaf(modulus, other), self.leaf(gap, _ZERO)))
        if is_op(pred, "residue") or is_op(gold, "residue"):
            # A residue class may be given by its least member alone: 2 for 2 mod 5.
            sides = (Op("mod", n.args) if is_op(n, "residue") else n for n in (pred, gold))
            return self.leaf(*sides)
        if is_op(pred, ":") and is_op(gold, ":"):
            return self._ratios(pred, gold)
        pred, gold = _quotient(pred), _quotient(gold)
        same = self.leaf(pred, gold)
        # 10 % is 0.1. Where a percentage is asked for (or the gold has a %), 10 is right too.
        asked = is_op(gold, "%") or (self.percent and is_op(pred, "%"))
        if same is False and asked and is_op(pred, "%") != is_op(gold, "%"):
            return self.leaf(_inside(pred), _inside(gold))
        return same

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
            if [len(_args(row)) for row in left] != [len(_args(row)) for row in right]:
                return False
            pairs = zip(left, right, strict=True)
            return _all(self._pairwise(_args(a), _args(b)) for a, b in pairs)
        if "matrix" in kinds:
            return self._vector(pred, gold)
        if "scalar" in kinds:
            single = left if kinds[1] == "scalar" else right
            other = gold if kinds[1] == "scalar" else pred
            braces = is_op(gold if kinds[0] == "scalar" else pred, "{}")
            return self._pairwise(single, (other,)) if len(single) == 1 and braces else False
        if kinds == ("ordered", "ordered"):
            return self._pairwise(left, right) if _shape(pred) == _shape(gold) else False
        if kinds == ("unordered", "unordered"):
            return self._unordered(pred, gold)
        return self._mixed(pred, gold, ordered=pred if kinds[0] == "ordered" else gold)

    def _mixed(self, pred: Node, gold: Node, ordered: Node) -> bool | None:
        """Compare a tuple with a list: in order, and x = 1, y = 2 in the order of the names."""
        half_open = is_op(ordered, "[)") or is_op(ordered, "(]")
        if half_open or not (is_op(pred, "list") or is_op(gold, "list")):
            return False
        left, right = (_by_name(n) for n in (pred, gold))
        if is_op(gold, "[]") and len(right) == 2:
            return False  # a closed interval; a list gives only its ends
        if is_op(ordered, "[]") and len(left) > 2:
            return self._matching(left, right)
        return self._pairwise(left, right)

    def _unordered(self, pred: Node, gold: Node) -> bool | None:
        left, right = _args(pred), _args(gold)
        if is_op(pred, "{}") or is_op(gold, "{}"):
            left, right = (tuple(dict.fromkeys(items)) for items in (left, right))
        left, right = _roots(left, right), _roots(right, left)
        # x = 1, y = 2 against 1, 2: without names only the order shows which value is which.
        half_named = (len(_names(left)) > 1) != (len(_names(right)) > 1)
        ordered = half_named or any(map(_is_sequence, (left, right)))
        return self._pairwise(left, right) if ordered else self._matching(left, right)

    def _pairwise(self, left: Sequence[Node], right: Sequence[Node]) -> bool | None:
        if len(left) != len(right):
            return False
        return _all(self.same(a, b) for a, b in zip(left, right, strict=True))

    def _matching(self, left: Sequence[Node], right: Sequence[Node]) -> bool | None:
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

    def _vector(self, pred: Node, gold: Node) -> bool | None:
        matrix, other = (pred, gold) if is_op(pred, "matrix") else (gold, pred)
        rows = [_args(row) for row in _args(matrix)]
        straight = len(rows) == 1 or all(len(row) == 1 for row in rows)
        if not (straight and is_op(other, "()", "[]")):
            return False
        cells = [cell for row in rows for cell in row]
        pair = (cells, other.args) if matrix is pred else (other.args, cells)
        return self._pairwise(*pair)


def _all(verdicts: Iterable[bool | None]) -> bool | None:
    unsure = False
    for verdict in verdicts:
        if verdict is False:
            return False
        unsure |= verdict is None
    return None if unsure else True


def _args(node: Node) -> tuple[Node, ...]:
    return node.args if isinstance(node, Op) else ()


def _inside(node: Node) -> Node:
    return node.args[0] if is_op(node, "%") else node


def _kind(node: Node) -> str:
    return _KINDS.get(node.name, "scalar") if isinstance(node, Op) else "scalar"


def _shape(node: Node) -> str:
    """Return the brackets of a pair, which may be an interval; an end at infinity is open."""
    if not isinstance(node, Op) or len(node.args) != 2:
        return "tuple"
    low = "(" if node.args[0] in syntax.INFINITE else node.name[0]
    high = ")" if node.args[1] in syntax.INFINITE else node.name[1]
    return low + high


def _in_ten(node: Node) -> Node:
    """Drop an explicit base of ten, so that the digits compare with plain digits."""
    return node.args[0] if is_op(node, "base") and node.args[1] == Num(Fraction(10)) else node


def _in_radians(node: Node, unit: str) -> Node:
    if unit != "degree":
        return node
    return Op("*", (node, Op("/", (Sym("pi"), Num(Fraction(180))))))


def _is_clock(node: Node) -> bool:
    """Whether a node is a time of day by its form or its am or pm."""
    return is_op(node, "time") or (isinstance(node, Measure) and node.unit in ("am", "pm"))


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
    """Return the minutes since midnight, and how the half of the day is known."""
    half = node.unit if isinstance(node, Measure) else ""
    inner = node.value if isinstance(node, Measure) else node
    parts = _args(inner) if is_op(inner, "time") or is_op(inner, ":") else (inner,)
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
    return Op("/", node.args) if is_op(node, ":") and len(node.args) == 2 else node


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
    return name.partition("(")[2].lstrip("-")[:1].isdecimal()


def _bound(left: str, right: str) -> tuple[str, str] | None:
    """Return which variable to rename if two names mean one function: f(x), f(t), y."""
    (f, _, x), (g, _, t) = (name.rstrip(")").partition("(") for name in (left, right))
    same = f == g and (x or t)
    if not (same or (f == "y" and t) or (g == "y" and x)):
        return None
    return (x or t, t or x)


def _names(items: Sequence[Node]) -> set[str]:
    return {name for item in items if (name := _definition(item)[0])}


def _roots(items: tuple[Node, ...], others: Sequence[Node]) -> tuple[Node, ...]:
    """Drop the indices of x_1 = 3, x_2 = -2, unless the other side has them too."""
    names = {_definition(item)[0] for item in items}
    bases = {name.partition("_")[0] for name in names}
    indexed = len(bases) == 1 and len(names) == len(items) > 1 and all("_" in n for n in names)
    if not indexed or any("_" in name for name in _names(others)):
        return items
    return tuple(Op("def", (Sym(*bases), _definition(item)[1])) for item in items)


def _is_sequence(items: Sequence[Node]) -> bool:
    """Whether letters repeat, as in H, T, H: then the order counts."""
    letters = [item.name for item in items if isinstance(item, Sym) and item.name.isupper()]
    return len(letters) == len(items) and len(set(letters)) < len(letters)


def _by_name(node: Node) -> tuple[Node, ...]:
    items = _args(node)
    named = sorted(map(_definition, items), key=lambda pair: pair[0])
    return tuple(value for _, value in named) if len(_names(items)) == len(items) else items


# The exact tier: runs in this process, without a symbolic library; None where it is unsure.

MAX_LENGTH = 3000
"""An answer longer than this is compared as text alone."""

_INTEGER = lazy_pattern(r"[+-]?[0-9]+")
_UNIT_LETTER = lazy_pattern(
    r"\\(?:text[a-z]{0,6}|mathrm|mathit|mbox|operatorname)\s*\{\s*([mgshlL])\s*\}"
)
_WORDS = lazy_pattern(r"\\(?:text[a-z]{0,6}|mathrm|mbox)\s*\{[^{}]*\}")
# A single letter that is a variable: not after a number or a slash, like a unit, nor in "it's".
_VARIABLE = lazy_pattern(
    r"(?<![A-Za-z\d\\/'’])(?<!\d )(?<!\d~)(?<!\bin )([mgshlL])(?![A-Za-z'’.]\b|[A-Za-z])"
)
_LABEL = lazy_pattern("[A-Z]{2,}")
_CONSTANTS = frozenset({"C", "c", "K", "k", "C_1", "c_1"})
"""Names of a constant of integration."""
_PARAMETERS = frozenset({"any of set Z", "any of set N"})
_COMMA = lazy_pattern(r"-?\d[\d ]*,\d+")
_DECIMAL = lazy_pattern(r"-?\d+\.\d+")
_THOUSANDS = lazy_pattern(r"-?[1-9]\d{0,2},\d{3}")
_PERCENT = lazy_pattern(r"\bpercent", re.IGNORECASE)
_IN_WORDS = (
    (choice_verdict, "as choices"),
    (truth_verdict, "as yes or no"),
    (absence_verdict, "as words"),
)


@dataclass(frozen=True, slots=True)
class Ruling:
    """The result of a comparison with its reason; None where this tier cannot decide it."""

    same: bool | None
    why: str
    readable: bool = True
    """Whether another tier could still decide."""


def asks_percent(problem: str) -> bool:
    return "%" in problem or ("percent" in problem.lower() and bool(_PERCENT.search(problem)))


def spell_variables(answer: str, gold: str, problem: str) -> str:
    r"""Write 6\text{h} as 6h where h is a variable of the problem, and so not a unit."""
    letters = set(_UNIT_LETTER.findall(answer)) if "\\" in answer and problem else set[str]()
    if not letters.difference(_UNIT_LETTER.findall(gold)):
        return answer
    named = set(_VARIABLE.findall(_WORDS.sub(" ", problem))) - set(_UNIT_LETTER.findall(gold))
    return _UNIT_LETTER.sub(lambda m: f" {m[1]} " if m[1] in named else m[0], answer)


def decide(pred: str, gold: str, *, percent: bool = False) -> Ruling:
    """Compare two answers; the ruling is None where only the symbolic tier can decide."""
    pred, gold = pred.strip(), gold.strip()
    if _INTEGER.fullmatch(pred) and _INTEGER.fullmatch(gold):
        return _ruling(_digits(pred) == _digits(gold), "as integers")
    if pred == gold:
        return Ruling(True, "the same text")
    if "," in pred and _COMMA.fullmatch(pred) and not _THOUSANDS.fullmatch(pred):
        # 3,5 is read as 3.5 where the gold answer is a decimal. 1,234 is a thousand and more.
        pred = pred.replace(" ", "").replace(",", ".") if _DECIMAL.fullmatch(gold) else pred
    if max(len(pred), len(gold)) > MAX_LENGTH:
        return Ruling(None, "too long to be read as mathematics", readable=False)
    for compare, how in _IN_WORDS:
        if (verdict := compare(pred, gold)) is not None:
            return _ruling(verdict, how)
    if (wanted := date_of(gold)) and (said := date_of(pred)):
        return _ruling(said == wanted, "as dates")
    left, right = interpret(pred), interpret(gold)
    if left and right:
        rules = Equivalence(exact.leaf, lambda one, other: one == other or None, percent)
        if (same := decide_trees(left, right, rules)) is not None:
            return _ruling(same, "by exact arithmetic")
    elif (verdict := words_verdict(pred, gold)) is not None:
        return _ruling(verdict, "as words")
    if syntax.clean(pred).replace(" ", "") == syntax.clean(gold).replace(" ", ""):
        return Ruling(True, "the same text but for spacing")
    if left and right:
        return Ruling(None, "not decided by exact arithmetic")
    if right:
        return Ruling(False, "the answer cannot be read as mathematics")
    return Ruling(None, "the gold answer cannot be read as mathematics", readable=False)


def decide_trees(
    left: Sequence[Node], right: Sequence[Node], equivalence: Equivalence
) -> bool | None:
    """Compare every tree of one answer with every tree of the other; any match counts."""
    try:
        pairs = (_alike(a, b) for b in right for a in left)
        verdicts = [equivalence.same(a, b) for a, b in pairs]
    except RecursionError:  # a product of a thousand factors
        return None
    return True if True in verdicts else None if None in verdicts else False


def _alike(pred: Node, gold: Node) -> tuple[Node, Node]:
    """Align the names of two trees: AB compared with A·B is a product, C with c a constant."""
    if isinstance(pred, Num) and isinstance(gold, Num):
        return pred, gold
    if isinstance(pred, Measure) != isinstance(gold, Measure):
        pred, gold = _measured(pred, gold), _measured(gold, pred)
    names = symbols(pred), symbols(gold)
    if names[0] == names[1]:
        return pred, gold
    labels = [{name for name in side if _LABEL.fullmatch(name)} for side in names]
    letters = names[0] | names[1]
    if any(labels):
        apart = all(labels) and not any(set(label) & letters for side in labels for label in side)
        pred, gold = (_spelt(node, apart=apart) for node in (pred, gold))
    elif len(names[0] - names[1]) == len(names[1] - names[0]) == 1:
        (first,), (second,) = names[0] - names[1], names[1] - names[0]
        constants = {first, second}
        if _PARAMETERS & constants and constants - _PARAMETERS <= {"k", "n", "m"}:
            return pred, syntax.substitute(gold, second, Sym(first))
        if "C" in constants <= _CONSTANTS and _is_added(pred, first) and _is_added(gold, second):
            return syntax.substitute(pred, first, Sym("C")), syntax.substitute(
                gold, second, Sym("C")
            )
    return pred, gold


def _measured(node: Node, other: Node) -> Node:
    """Read the letter of "1 m" as a unit where the other side has a unit of its kind."""
    match node, other:
        case Op("*", (value, Sym(letter))), Measure(unit=unit) if letter in syntax.UNIT_LETTERS:
            unit_of_letter = syntax.UNIT_LETTERS[letter]
            same_kind = syntax.ratio_of(unit_of_letter, unit) is not None and not symbols(value)
            return Measure(value, unit_of_letter) if same_kind else node
        case _:
            return node


def _spelt(node: Node, *, apart: bool, inside: bool = False) -> Node:
    """Read the capitals of 2RC as a product, or AB·CD as two segments, whose ends have no order.

    Capitals that are an answer by themselves are a word, unless the other side multiplies them.
    """
    if isinstance(node, Sym) and _LABEL.fullmatch(node.name) and (inside or not apart):
        if apart:
            return Sym("".join(sorted(node.name)))
        product: Node = Sym(node.name[0])
        for letter in node.name[1:]:
            product = Op("*", (product, Sym(letter)))
        return product
    if isinstance(node, Op) and node.name != "base":
        inside |= node.name in ("+", "*", "/", "^", "neg", "root")
        kept = node.args[:1] if node.name in ("def", "call") else ()
        rest = (_spelt(arg, apart=apart, inside=inside) for arg in node.args[len(kept) :])
        return Op(node.name, (*kept, *rest))
    return node


def _is_added(node: Node, name: str) -> bool:
    """Whether a name is a constant of integration: one term of a sum, and nowhere else."""
    node = node.args[1] if is_op(node, "def") else node
    terms = node.args if is_op(node, "+") else ()
    others = [term for term in terms if term != Sym(name)]
    return len(others) == len(terms) - 1 and all(name not in symbols(term) for term in others)


def _digits(text: str) -> str:
    # Compared as text: converting a megabyte of digits to an integer takes quadratic time.
    digits = text.lstrip("+-0")
    return f"-{digits}" if text[0] == "-" and digits else digits


def _ruling(same: bool, how: str) -> Ruling:
    return Ruling(same, f"{'equal' if same else 'different'} {how}")


# Grading of one case or many: first by the exact tier, in this process, then by the symbolic tier.
#
# Modules that start threads and processes are imported where they are used, since most answers
# are decided without them.

_AHEAD = 64
"""Cases in flight for each worker: output is in order, and a slow case must not idle the rest."""
_SHORT = 120
_SHORTEST_WORD = 2
_VALUE = lazy_pattern(r"\d|\\boxed")
_APPROXIMATE = lazy_pattern(r"\s*(?:≈|≃|\$?\\approx(?![a-z]))\s*")
_NOT_THE_THING = (
    "opposite|negation|converse|contrary|inverse|contrapositive|reverse|reciprocal|complement"
    "|negative|square|cube|double|half|root|rest|former|latter|other"
)
# A sentence that states one value without digits: "The limit is infinity."
_STATEMENT = lazy_pattern(
    r"(?:yes,\s+)?(?:(?:so|thus|hence|therefore|then|and),?\s+)?"
    rf"(?:(?:the|its|this|that)\s+(?!(?:{_NOT_THE_THING})\b)[a-z]+(?:\s+of\s+[^.,;]{{1,40}}?)?|it|there)"
    r"(?:['’]s|\s+(?:is|are|was|were|will\s+be|must\s+be|equals))\s+(?:(?:equal\s+to|exactly)\s+)?"
    r"(?P<value>[^.,;:!?\n]{1,60})[.!]?",
    re.IGNORECASE,
)
_QUALIFIED = lazy_pattern(
    r"\b(?:than|times|or|if|unless|when|not|no|never|at|squared|cubed|of|only|if|neither)\b",
    re.IGNORECASE,
)
_TENS = "|".join(syntax.TENS)
_DIGITS = "one|two|three|four|five|six|seven|eight|nine"
_TEENS = "|".join(word for word, value in syntax.SMALL_NUMBERS.items() if not 0 < value < 10)
# Number words. A count is one of them alone: not "two thirds", not "three hundred".
_NUMBER_WORDS = lazy_pattern(
    rf"(?<![-\w])(?:(?:{_TENS})(?:[- ](?:{_DIGITS}))?|{_TEENS}|{_DIGITS}|half|third|hundred"
    r"|thousand|million|dozen|once|twice|thrice|halves|thirds|quarters?|fourths?|fifths?|tenths?)(?![-\w])",
    re.IGNORECASE,
)
_SENTENCE = lazy_pattern(r"(?<=[.!?])\s+|\n")
_DOLLAR = lazy_pattern(r"(?<!\\)\$")
_CLOSING = ' .$*}\n"`\\)'
_INTRODUCTIONS = ("\n", ":", ":**", "{", '"', "####", " is", " are", "**")


@dataclass(frozen=True, slots=True)
class GradingCase:
    """An answer and the gold answer that it is compared with."""

    answer: str | None
    """The bare answer; None where there is none."""
    gold: str
    """The gold answer, or a whole solution with the answer in a box or after ####."""
    problem: str = ""
    """The problem's text: whether it asks for a percentage, and which letters are variables."""

    @classmethod
    def from_reply(
        cls, text: str | None, gold: str, problem: str = "", *, truncated: bool = False
    ) -> GradingCase:
        """Extract the answer from a whole reply, or from the part of a truncated one."""
        if text is None:
            return cls(None, gold, problem)
        number = gold.isascii() and gold.isdecimal()  # most golds, and no other rule needed
        if not number and _states(text, gold):
            return cls(gold, gold, problem)
        if not number and _APPROXIMATE.match(gold) and _APPROXIMATE.search(text):
            # The gold is a rounded value, so compare the rounded one: in √3 ≈ 1.732 the latter.
            *_, rough = _APPROXIMATE.finditer(text)
            text = text[rough.end() :]
        answer = extract(text, truncated=truncated).answer
        # The rules find no answer in "none", which may be the gold answer.
        if answer is None and not truncated:
            answer = _says_in_words(text, gold)
        elif answer is not None and not number:
            answer = in_context(text, answer, gold)
        return cls(answer, gold, problem)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether an answer is the gold answer, which tier decided it, and why."""

    verdict: Literal["correct", "incorrect", "undecided"]
    tier: Literal["exact", "symbolic", "instructions"]
    """The grader that decided; "instructions" where a whole reply was checked, not an answer."""
    answer: str | None
    """The answer that was judged, as the model wrote it."""
    why: str
    seconds: float

    @property
    def correct(self) -> bool:
        return self.verdict == "correct"


def grade(
    answer: str | None, gold: str, problem: str = "", *, workers: Workers | None = None
) -> Verdict:
    return _grade(GradingCase(answer, gold, problem), workers)


def grade_reply(
    text: str | None,
    gold: str,
    problem: str = "",
    *,
    truncated: bool = False,
    workers: Workers | None = None,
) -> Verdict:
    """Judge the answer in a whole reply, or a bare answer."""
    return _grade(GradingCase.from_reply(text, gold, problem, truncated=truncated), workers)


async def grade_all(
    cases: Sequence[GradingCase], *, workers: Workers | None = None
) -> list[Verdict]:
    """Judge many answers without blocking the event loop; verdicts come in the given order."""
    import asyncio

    async def one(case: GradingCase) -> Verdict:
        found = _first_tier(case)
        if isinstance(found, Verdict):
            return found
        pool = workers or _shared()
        nonlocal slots
        slots = slots or asyncio.Semaphore(pool.count)
        async with slots:
            return await asyncio.to_thread(found, pool)

    slots: asyncio.Semaphore | None = None
    if len(cases) == 1:  # most callers have one, and it needs no task
        return [await one(cases[0])]
    return list(await asyncio.gather(*(one(case) for case in cases)))


def grade_each(
    cases: Iterable[GradingCase], *, workers: Workers | None = None
) -> Iterator[Verdict]:
    """Judge a stream of answers on all cores, in order and with bounded memory."""
    from concurrent.futures import ThreadPoolExecutor

    pool = workers or _shared()
    with ThreadPoolExecutor(pool.count) as threads:
        tried = map(_first_tier, cases)
        begun = (one if isinstance(one, Verdict) else threads.submit(one, pool) for one in tried)
        window = deque(islice(begun, pool.count * _AHEAD))
        while window:
            first = window.popleft()
            yield first if isinstance(first, Verdict) else first.result()
            window.extend(islice(begun, 1))


def _grade(case: GradingCase, workers: Workers | None) -> Verdict:
    found = _first_tier(case)
    return found if isinstance(found, Verdict) else found(workers or _shared())


def _first_tier(case: GradingCase) -> Verdict | Callable[[Workers], Verdict]:
    """Judge in this process; return a function for a worker where the exact tier cannot decide."""
    started = time.perf_counter()
    answer, gold = case.answer, case.gold
    if "\\boxed" in gold or "####" in gold:
        gold = extract(gold).answer or gold
    if answer is None or not answer.strip():
        return _verdict(Ruling(False, "no answer"), "exact", None, time.perf_counter() - started)
    # A gold that is a whole solution may show, too, that a percentage is asked for.
    percent = asks_percent(case.problem) or (gold != case.gold and asks_percent(case.gold))
    read = spell_variables(answer, gold, case.problem)
    ruling = decide(read, gold, percent=percent)
    spent = time.perf_counter() - started
    if ruling.same is not None or not ruling.readable:
        return _verdict(ruling, "exact", answer, spent)

    def judge(workers: Workers) -> Verdict:
        from constraint_first.process import Undecided

        started = time.perf_counter()  # excludes the wait for a thread
        try:
            ruling = workers.judge(read, gold, percent=percent)
        except Undecided as reason:
            ruling = Ruling(None, str(reason))
        return _verdict(ruling, "symbolic", answer, spent + time.perf_counter() - started)

    return judge


def _shared() -> Workers:
    from constraint_first.answer.workers import shared

    return shared()


def _verdict(
    ruling: Ruling, tier: Literal["exact", "symbolic"], answer: str | None, seconds: float
) -> Verdict:
    word = "undecided" if ruling.same is None else "correct" if ruling.same else "incorrect"
    return Verdict(word, tier, answer, ruling.why, seconds)


def _says_in_words(text: str, gold: str) -> str | None:
    """Return the words of a reply that equal the gold, where the reply has no value in digits."""
    gold = gold.strip("() ")
    if gold.isalpha() and len(gold) < _SHORTEST_WORD:
        return None
    text = text.strip()
    line = text.rpartition("\n")[2].strip()
    if not _VALUE.search(line) and plain_words(gold) == plain_words(line) != "":
        return line
    if line == text and len(text) <= _SHORT and not _VALUE.search(text) and decide(text, gold).same:
        return text
    *before, last = _SENTENCE.split(text[-_SHORT:])
    if len(text) > _SHORT and not before:
        return None  # the middle of a sentence
    numbers = [] if _VALUE.search(last) else _NUMBER_WORDS.findall(last)
    if len(numbers) == 1 and asserted(last, numbers[0]) == numbers[0]:
        qualified = _QUALIFIED.search(last.partition(numbers[0])[2])
        if not qualified and decide(numbers[0], gold).same:
            return numbers[0]
    stated = None if _VALUE.search(last) else _STATEMENT.fullmatch(last)
    value = stated["value"] if stated else ""
    return value if value and not _QUALIFIED.search(value) and decide(value, gold).same else None


def _states(text: str, gold: str) -> bool:
    """Whether a reply ends with all of a gold that is more than a value, such as a sentence."""
    said, gold = text.rstrip(_CLOSING), gold.strip()
    written = json.dumps(gold)[1:-1] if text.endswith("}") else gold
    forms = (form.rstrip(_CLOSING) for form in (gold, written, _DOLLAR.sub("", gold)))
    wanted = next(filter(said.endswith, forms), "")
    if not wanted or wanted.isalnum():
        return False
    before = said[: -len(wanted)].rstrip("$ (\\")
    if before and not before.endswith(_INTRODUCTIONS):
        return False
    return "$" in gold.strip("$ ") or extract(gold).answer != gold
