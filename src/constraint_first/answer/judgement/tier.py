"""The exact tier: decides in this process, without a symbolic library, what it is sure of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from constraint_first.answer.expression import exact
from constraint_first.answer.expression.canonical import interpret
from constraint_first.answer.expression.normal import clean
from constraint_first.answer.expression.syntax import (
    Measure,
    Node,
    Num,
    Op,
    Sym,
    substitute,
    symbols,
)
from constraint_first.answer.expression.unit import UNIT_LETTERS, ratio_of
from constraint_first.answer.expression.words import (
    absence_verdict,
    choice_verdict,
    date_verdict,
    truth_verdict,
    words_verdict,
)
from constraint_first.answer.judgement.equivalence import Equivalence

__all__ = ["MAX_LENGTH", "Ruling", "asks_percent", "decide", "decide_trees", "spell_variables"]

MAX_LENGTH = 3000
"""An answer longer than this is compared as text alone."""

_INTEGER = re.compile(r"[+-]?[0-9]+")
_UNIT_LETTER = re.compile(
    r"\\(?:text[a-z]{0,6}|mathrm|mathit|mbox|operatorname)\s*\{\s*([mgshlL])\s*\}"
)
_WORDS = re.compile(r"\\(?:text[a-z]{0,6}|mathrm|mbox)\s*\{[^{}]*\}")
# A letter alone: not behind a number or a stroke, like a unit, nor as in "it's".
_VARIABLE = re.compile(
    r"(?<![A-Za-z\d\\/'’])(?<!\d )(?<!\d~)(?<!\bin )([mgshlL])(?![A-Za-z'’.]\b|[A-Za-z])"
)
_LABEL = re.compile("[A-Z]{2,}")
_CONSTANTS = frozenset({"C", "c", "K", "k", "C_1", "c_1"})
"""Names of a constant of integration."""
_PARAMETERS = frozenset({"any of set Z", "any of set N"})
_COMMA = re.compile(r"-?\d[\d ]*,\d+")
_DECIMAL = re.compile(r"-?\d+\.\d+")
_THOUSANDS = re.compile(r"-?[1-9]\d{0,2},\d{3}")
_PERCENT = re.compile(r"%|\bpercent", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Ruling:
    """True or false with the reason; None where this tier cannot tell."""

    same: bool | None
    why: str
    readable: bool = True
    """Whether another tier could still tell."""


def asks_percent(problem: str) -> bool:
    """Whether a problem asks for a percentage."""
    return bool(_PERCENT.search(problem))


def spell_variables(answer: str, gold: str, problem: str) -> str:
    r"""Write 6\text{h} as 6h where h is a variable of the problem, and so no unit of its answer."""
    letters = set(_UNIT_LETTER.findall(answer)) if "\\" in answer and problem else set[str]()
    if not letters.difference(_UNIT_LETTER.findall(gold)):
        return answer
    named = set(_VARIABLE.findall(_WORDS.sub(" ", problem))) - set(_UNIT_LETTER.findall(gold))
    return _UNIT_LETTER.sub(lambda m: f" {m[1]} " if m[1] in named else m[0], answer)


def decide(pred: str, gold: str, *, percent: bool = False) -> Ruling:
    """Compare two answers; the ruling is None where only the symbolic tier can tell."""
    pred, gold = pred.strip(), gold.strip()
    if _INTEGER.fullmatch(pred) and _INTEGER.fullmatch(gold):
        return _ruling(_digits(pred) == _digits(gold), "as integers")
    if pred == gold:
        return Ruling(True, "the same text")
    if "," in pred and _is_decimal(pred, gold):
        pred = pred.replace(" ", "").replace(",", ".")
    if max(len(pred), len(gold)) > MAX_LENGTH:
        return Ruling(None, "too long to be read as mathematics", readable=False)
    if (verdict := choice_verdict(pred, gold)) is not None:
        return _ruling(verdict, "as choices")
    return _decide_content(pred, gold, percent=percent)


def _is_decimal(pred: str, gold: str) -> bool:
    """Whether 3,5 is a decimal, because the gold answer is one; 1,234 is a thousand and more."""
    if not _COMMA.fullmatch(pred) or _THOUSANDS.fullmatch(pred):
        return False
    return _DECIMAL.fullmatch(gold) is not None


def _decide_content(pred: str, gold: str, *, percent: bool) -> Ruling:
    if (verdict := truth_verdict(pred, gold)) is not None:
        return _ruling(verdict, "as yes or no")
    if (verdict := absence_verdict(pred, gold)) is not None:
        return _ruling(verdict, "as words")
    if (verdict := date_verdict(pred, gold)) is not None:
        return _ruling(verdict, "as dates")
    left, right = interpret(pred), interpret(gold)
    if left and right:
        same = decide_trees(left, right, Equivalence(exact.leaf, _relate, percent))
        if same is not None:
            return _ruling(same, "by exact arithmetic")
    if (verdict := words_verdict(pred, gold)) is not None and not (left and right):
        return _ruling(verdict, "as words")
    if clean(pred).replace(" ", "") == clean(gold).replace(" ", ""):
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
    """Bring two trees to the same names: AB beside A·B is a product, and C beside c a constant."""
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
            return pred, substitute(gold, second, Sym(first))
        if "C" in constants <= _CONSTANTS and _is_added(pred, first) and _is_added(gold, second):
            pred, gold = (substitute(pred, first, Sym("C")), substitute(gold, second, Sym("C")))
    return pred, gold


def _measured(node: Node, other: Node) -> Node:
    """Read the letter of "1 m" as a unit where the other side has a unit of its kind."""
    match node, other:
        case Op("*", (value, Sym(name=letter))), Measure(unit=unit) if letter in UNIT_LETTERS:
            unit_of_letter = UNIT_LETTERS[letter]
            same_kind = ratio_of(unit_of_letter, unit) is not None and not symbols(value)
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
    if isinstance(node, Op) and node.name == "def":
        node = node.args[1]
    terms = node.args if isinstance(node, Op) and node.name == "+" else ()
    others = [term for term in terms if term != Sym(name)]
    return len(others) == len(terms) - 1 and all(name not in symbols(term) for term in others)


def _relate(pred: Node, gold: Node) -> bool | None:
    same = isinstance(pred, Op) and isinstance(gold, Op) and pred == gold
    return True if same else None


def _digits(text: str) -> str:
    # Compared as text: a megabyte of digits must not be converted.
    digits = text.lstrip("+-0")
    return f"-{digits}" if text[0] == "-" and digits else digits


def _ruling(same: bool, how: str) -> Ruling:
    return Ruling(same, f"{'equal' if same else 'different'} {how}")
