"""Tokens into a tree: recursive descent over LaTeX and ASCII mathematics, bounded throughout.

From loose to tight: lists, relations, unions, sums, products, powers, atoms.
"""

from __future__ import annotations

import re
from fractions import Fraction

from constraint_first.answer.expression.atom import AtomParser
from constraint_first.answer.expression.lexer import Unreadable, tokenize
from constraint_first.answer.expression.numeral import literal
from constraint_first.answer.expression.syntax import Measure, Node, Num, Op, Sym, walk
from constraint_first.answer.expression.unit import MONEY, MULTIPLES, is_known, joined, unit_name

__all__ = ["parse"]

_RELATIONS = frozenset({"=", "<", ">", "le", "ge", "ne", "approx", "in", "equiv"})
_BOUND = re.compile(
    r"\b(?:(?:or|and|at)\s+(?:more|less|fewer|greater|above|below|over|under|higher|lower|up|larger"
    r"|smaller|older|later|earlier|beyond|least|most|so|counting)|than|not|is|are|was|were|fails"
    r"|cannot|too|wrong|incorrect|false|invalid|impossible|excluded|except|extraneous)\b",
    re.IGNORECASE,
)
"""Words behind a value that bound or deny it, and are no unit."""
_SETS = {"cup": "union", "cap": "intersect", "setminus": "minus"}
_CURRENCY = {"usd": "dollar", "€": "euro", "£": "gbp", "¥": "yen", "₹": "rupee", "¢": "cent"}


def parse(text: str) -> Node:
    """Read cleaned text as mathematics; raise Unreadable where it is not."""
    parser = Parser(tokenize(text))
    tree = parser.items()
    if parser.more():
        raise Unreadable(f"unexpected {parser.peek()!r}")
    return tree


class Parser(AtomParser):
    """The loose levels of the grammar."""

    def items(self) -> Node:
        """Read things separated by commas, semicolons, "and" or "or"."""
        found = [self.relation()]
        joint = ""
        while (mark := self.peek()) in (",", ";", "and", "or"):
            self.next()
            if mark in ("and", "or"):
                joint = mark
            elif self.peek() in ("and", "or"):
                joint = self.next()
            if not self.more():
                break
            found.append(self.relation())
        if len(found) == 1:
            return found[0]
        return Op("and" if joint == "and" else "or" if joint else "list", tuple(found))

    def relation(self) -> Node:
        """Read one thing, or several joined by =, <, ∈ and their kin."""
        if self.kind() == "text" and (label := self.label()):
            return Op("rel", (Sym(label), self.relation(), Sym("=")))
        parts, signs = [self.union()], list[str]()
        while self.peek() in _RELATIONS:
            signs.append(self.next())
            parts.append(self.union())
        if not signs:
            return self.ratio(parts[0])
        return Op("rel", (*parts, *(Sym(sign) for sign in signs)))

    def label(self) -> str:
        """Step over the words in front of "= 12" or ": 12", which name what the value is."""
        start, words = self._at, list[str]()
        while self.kind() == "text" and self.peek() not in ("and", "or"):
            words.append(self.next())
        if words and self.peek() in ("=", ":", "approx"):
            self.next()
            return " ".join(words).lower()
        self._at = start
        return ""

    def ratio(self, first: Node) -> Node:
        """Read 3:2 and "3 to 2", and the congruence class behind "5 mod 7"."""
        parts = [first]
        before = self._tokens[self._at - 1].text
        name = "time" if before[:1] == "0" and len(before) == 2 else ":"
        while self.peek() in (":", "to") and not (self._bars and _is_name(first)):
            self.next()
            if self.peek()[:1] == "0" and len(self.peek()) == 2:
                name = "time"  # 12:05 is never a ratio
            parts.append(self.measured())
        return Op(name, tuple(parts)) if len(parts) > 1 else first

    def union(self) -> Node:
        """Read ∪, ∩ and set difference."""
        left = self.measured()
        while self.peek() in _SETS:
            name = _SETS[self.next()]
            left = Op(name, (left, self.measured()))
        return left

    def measured(self) -> Node:
        """Read a sum and the unit behind it or the currency before it."""
        before = ""
        if self.peek() in _CURRENCY:
            before = _CURRENCY[self.next()]
        elif self.kind() == "text" and (code := unit_name(self.peek())) in MONEY:
            self.next()
            before = code
        value = self.sum()
        if (residue := self.modulus()) is not None:
            value = Op("residue", (value, residue))
        while (word := self.peek().lower()) in MULTIPLES:
            self.next()
            value = Op("*", (value, Num(Fraction(MULTIPLES[word]))))
        unit = self.unit()
        if unit and isinstance(value, Sym):
            raise Unreadable("words behind a letter")  # "a circle" is no multiple of a
        if unit and not is_known(unit) and not any(isinstance(n, Num) for n in walk(value)):
            raise Unreadable("words behind letters")  # "the limit" is no multiple of the
        if unit == "percent":
            return Op("%", (value,))
        if unit in ("^2", "^3"):  # 12 squared
            return Op("^", (value, literal(unit[1])))
        if not (before or unit):
            return value
        per = unit if before and unit.startswith("/") else ""
        measure = Measure(value, before + per if before else unit)
        if self.kind() == "num":  # 2 hours 30 minutes
            rest = self.measured()
            if isinstance(rest, Measure) and (total := joined(measure, rest)):
                return total
            raise Unreadable("a number behind a unit")
        return measure

    def modulus(self) -> Node | None:
        """Read the modulus of a congruence: \\pmod{13} or (mod 13)."""
        if self.peek() == "pmod":
            self.next()
            return self.argument()
        if self.peek() == "(" and self.peek(1) in ("mod", "bmod"):
            self._at += 2
            inner = self.sum()
            self.expect(")")
            return inner
        return None

    def unit(self) -> str:
        """Read the words behind a value as one unit."""
        words: list[str] = []
        while self.more():
            word = self.peek()
            if self.kind() == "text" and word not in ("and", "or", "to"):
                words.append(self.next())
            elif word == "a" and words and self._tokens[self._at + 1].kind == "text":
                self.next()
                words.append("per")  # 18 dollars a day
            elif word == "/" and not words and self._tokens[self._at + 1].kind == "text":
                words.append(self.next())  # $18/day
            elif word in _CURRENCY and not words:
                words.append(_CURRENCY[self.next()])
            elif word == "^" and words:
                self.next()
                words.append(f"^{self.script()}")
            elif words and word == "/":
                self.next()
                words.append(word)
            elif words and self.kind() == "sym" and (len(words[-1]) == 1 or words[-1] == "per"):
                words.append(self.next())
            else:
                break
        phrase = " ".join(words)
        if _BOUND.search(phrase):
            raise Unreadable("a bound and no unit")
        return unit_name(phrase) if words else ""

    def sum(self) -> Node:
        """Read terms joined by +, - and ±."""
        terms: list[Node] = []
        sign = self.sign()
        while True:
            term = self.product()
            terms.append(_signed(sign, term))
            if self.peek() not in ("+", "-", "±", "∓") or self._ended:
                break
            sign = self.sign()
        if len(terms) == 1:
            return terms[0]
        return Op("+", tuple(terms))

    def sign(self) -> str:
        """Read a run of signs as one."""
        sign = "+"
        while (mark := self.peek()) in ("+", "-", "±", "∓"):
            self.next()
            if mark in ("±", "∓"):
                sign = mark
            elif mark == "-":
                sign = {"+": "-", "-": "+"}.get(sign, sign)
        return sign

    def product(self) -> Node:
        """Read factors joined by *, / or nothing at all."""
        left = self.factor()
        while True:
            mark = self.peek()
            if mark in ("*", "/") and self._tokens[self._at + 1].kind != "text":
                self.next()
                right = _signed(self.sign(), self.factor())
                if mark == "/" and isinstance(right, Op) and right.name == "%":
                    left = Op("%", (Op("/", (left, right.args[0])),))  # 1/4 % is a quarter of 1 %
                else:
                    left = Op(mark, (left, right))
            elif mark in ("mod", "bmod"):
                self.next()
                left = Op("mod", (left, self.factor()))
            elif self.starts_factor() and not (mark == "(" and self.peek(1) in ("mod", "bmod")):
                left = self.beside(left)
            else:
                return left

    def beside(self, left: Node) -> Node:
        """Multiply by what stands next to it; a proper fraction behind an integer is added."""
        digits_meet = self.last_kind() == self.kind() == "num"
        mixed = self.peek() == "frac"
        counted = self.last_kind() == "num" and self.attached() and self.peek() in ("C", "P")
        right = self.factor()
        if counted and isinstance(left, Num) and isinstance(right, Sym):
            chosen = right.name.partition("_")
            if chosen[2].isdecimal():  # 10C3
                return Op("call", (Sym(chosen[0]), left, literal(chosen[2])))
        if isinstance(right, Num) and self._tokens[self._at - 2].text in ("R", "r"):
            raise Unreadable("a quotient and a remainder")
        if digits_meet and isinstance(right, Num):
            raise Unreadable("two numbers side by side")
        if mixed and isinstance(left, Num) and left.value.denominator == 1 and left.digits is None:
            match right:
                case Op("/", (Num(value=over), Num(value=under))) if 0 < over < under:
                    return Num(left.value + Fraction(over, under))
                case Op("%", (Op("/", (Num(value=over), Num(value=under))),)) if 0 < over < under:
                    return Op("%", (Num(left.value + Fraction(over, under)),))
                case _:
                    pass
        return Op("*", (left, right))


def _is_name(node: Node) -> bool:
    """Whether a colon behind it, in a set, introduces a condition: {x : x > 0}, {(x, y) : …}."""
    return isinstance(node, Sym) or (isinstance(node, Op) and node.name == "()")


def _signed(sign: str, term: Node) -> Node:
    if sign == "-":
        return Num(-term.value, term.digits) if isinstance(term, Num) else Op("neg", (term,))
    return term if sign == "+" else Op(sign, (term,))
