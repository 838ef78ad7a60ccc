"""The parser: recursive descent from tokens of LaTeX and ASCII mathematics to a bounded tree."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

from constraint_first.answer import syntax
from constraint_first.answer.syntax import Measure, Node, Num, Op, Sym, Token, Unreadable, is_op
from constraint_first.pattern import lazy_pattern

MAX_DEPTH = 40
_END = Token("", "", False)
_FARTHEST_LOOK = 4


# Brackets of every kind: groups, tuples, intervals, sets, absolute values and matrices.

OPENERS = frozenset({"(", "[", r"\{", "{", "langle"})
FENCES = {"lfloor": ("rfloor", "floor"), "lceil": ("rceil", "ceil")}
_CLOSERS = frozenset({")", "]", r"\}", "rangle", "}"})
_MATRICES = frozenset({"pmatrix", "bmatrix", "matrix", "Bmatrix", "smallmatrix"})
MAX_DETERMINANT = 4
_ZERO = Num(Fraction(0))
_LINE = Op("()", syntax.INFINITE[::-1])
_POSITIVE = Op("()", (_ZERO, syntax.INFINITE[0]))
_NEGATIVE = Op("()", (syntax.INFINITE[1], _ZERO))
_PARTS_OF_LINE = {
    "+": _POSITIVE,
    "-": _NEGATIVE,
    "*": Op("union", (_NEGATIVE, _POSITIVE)),
    ">0": _POSITIVE,
    "<0": _NEGATIVE,
}


def _is_element(node: Node) -> bool:
    """Whether the part before a set's condition is a name: {x | …}, {x ∈ R : …}, {(x, y) | …}."""
    match node:
        case Sym():
            return True
        case Op("()", args):
            return all(isinstance(arg, Sym) for arg in args)
        case Op("rel", (name, _, Sym(name="in"))):
            return _is_element(name)
        case _:
            return False


def determinant(matrix: Op) -> Node:
    """Expand the determinant of a small square matrix along its first row."""
    rows = [row.args for row in matrix.args if isinstance(row, Op)]
    if len(rows) > MAX_DETERMINANT or any(len(row) != len(rows) for row in rows):
        raise Unreadable("a determinant of no small square matrix")
    return _expand(rows)


def _expand(rows: list[tuple[Node, ...]]) -> Node:
    if len(rows) == 1:
        return rows[0][0]
    terms: list[Node] = []
    for at, cell in enumerate(rows[0]):
        minor = _expand([row[:at] + row[at + 1 :] for row in rows[1:]])
        term = Op("*", (cell, minor))
        terms.append(Op("neg", (term,)) if at % 2 else term)
    return Op("+", tuple(terms))


def _bracketed(opened: str, closed: str, inner: Node, *, call: bool) -> Node:
    if closed not in _CLOSERS:
        raise Unreadable("a bracket is not closed")
    several = inner.args if is_op(inner, "list", "and", "or") else None
    kind = {"(": "(", "[": "["}.get(opened, "{") + {")": ")", "]": "]"}.get(closed, "}")
    if kind == "{}" and opened != "langle":
        if opened == r"\{":
            return Op("{}", several or (inner,))
        # Bare braces only group in LaTeX; whether a set or a tuple was meant is unknown.
        return Op("list", several) if several else inner
    if opened == "langle":
        kind = "()"
    if several is None:
        return Op("[]", (inner,)) if kind == "[]" and is_op(inner, "[]") else inner
    if kind not in ("()", "[]", "[)", "(]") or (len(several) != 2 and kind in ("[)", "(]")):
        raise Unreadable("brackets that do not match")
    return Op("()" if call else kind, several)


# Number literals: decimals, recurring decimals, and digits in another base.

MAX_DIGITS = 4000
"""Python refuses to convert integers of more than 4,300 digits, and no answer needs them."""
_BASES = dict([*syntax.SMALL_NUMBERS.items()][:11])


def literal(text: str) -> Num:
    if text.isdecimal():
        return Num(Fraction(int(text)))
    mantissa, _, power = text.lower().partition("e")
    whole, point, part = mantissa.partition(".")
    exponent = int(power) if power else 0
    if abs(exponent) > MAX_DIGITS:
        raise Unreadable("an exponent of too many digits")
    value = Fraction(int((whole + part) or "0")) * Fraction(10) ** (exponent - len(part))
    if not (point and part):
        return Num(value)
    return Num(value, len((whole + part).lstrip("0")))


def recurring(text: str, period: str) -> Num:
    """Read a recurring decimal: the digits that occur once, and the period behind them."""
    whole, _, part = text.partition(".")
    once = whole + part
    if not period or not (once + period).isdecimal():
        raise Unreadable("a period behind or of something else than digits")
    if len(period) > MAX_DIGITS:
        raise Unreadable("a period of too many digits")
    unit = Fraction(10) ** -len(part)
    start = Fraction(int(once or "0")) * unit
    return Num(start + unit * Fraction(int(period), 10 ** len(period) - 1))


def in_base(text: str, base: str) -> Node:
    base = base.strip("()")
    number = _BASES.get(base.lower()) or (int(base) if base.isdecimal() and len(base) < 3 else 0)
    if number == 10 and not text.isdecimal():
        return literal(text)
    if not 2 <= number <= 36 or not text.isdecimal():
        raise Unreadable("a base that is not one")
    return Op("base", (Num(Fraction(int(text))), Num(Fraction(number))))


# The tight levels of the grammar: powers, functions, fractions, numbers and names.


class Parser:
    """A recursive-descent parser; its methods go from the loosest operators to the tightest."""

    # Tokens.

    def __init__(self, tokens: list[Token]) -> None:
        # Empty tokens at the end, so that a look ahead needs no bounds check.
        self._tokens = [*tokens, *[_END] * _FARTHEST_LOOK]
        self._at: int = 0
        self._depth: int = 0
        self._bars = 0
        # State of integrals: how many still lack their dx, the variables of the others, and
        # whether a dx has ended the innermost integrand.
        self._awaited = 0
        self._differentials: list[Node] = []
        self._ended = False

    def more(self) -> bool:
        return self._tokens[self._at] is not _END

    def peek(self, ahead: int = 0) -> str:
        """Return the text of a token ahead; empty past the end."""
        return self._tokens[self._at + ahead].text

    def attached(self) -> bool:
        """Whether no space separates the next token from the last one."""
        return not self._tokens[self._at].spaced

    def kind(self) -> str:
        return self._tokens[self._at].kind

    def last_kind(self) -> str:
        return self._tokens[self._at - 1].kind if self._at else ""

    def next(self) -> str:
        token = self._tokens[self._at]
        if token is _END:
            raise Unreadable("the text ends too early")
        self._at += 1
        return token.text

    def expect(self, text: str) -> None:
        if self.next() != text:
            raise Unreadable(f"{text!r} is missing")

    def descend(self) -> None:
        """Count a level of nesting, so that no text can exhaust the stack."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise Unreadable("nested too deeply")

    def ascend(self) -> None:
        self._depth -= 1

    # Loose levels: lists, relations, unions, sums and products.

    def items(self) -> Node:
        """Read expressions separated by commas, semicolons, "and" or "or"."""
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
        """Read one expression, or several joined by =, <, ∈ and similar relation signs."""
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
        """Consume the words before "= 12" or ": 12", which are the name of the value."""
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
        # In a set a colon behind a name introduces a condition: {x : x > 0}, {(x, y) : …}.
        named = self._bars and (isinstance(first, Sym) or is_op(first, "()"))
        while self.peek() in (":", "to") and not named:
            self.next()
            if self.peek()[:1] == "0" and len(self.peek()) == 2:
                name = "time"  # 12:05 is never a ratio
            parts.append(self.measured())
        return Op(name, tuple(parts)) if len(parts) > 1 else first

    def union(self) -> Node:
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
        elif self.kind() == "text" and syntax.unit_name(self.peek()) in syntax.MONEY:
            before = syntax.unit_name(self.next())
        value = self.sum()
        if (residue := self.modulus()) is not None:
            value = Op("residue", (value, residue))
        while (word := self.peek().lower()) in syntax.MULTIPLES:
            self.next()
            value = Op("*", (value, Num(Fraction(syntax.MULTIPLES[word]))))
        unit = self.unit()
        if unit and isinstance(value, Sym):
            raise Unreadable("words behind a letter")  # "a circle" is not a product with a
        counted = any(isinstance(n, Num) for n in syntax.walk(value))
        if unit and not counted and not syntax.is_known(unit):
            raise Unreadable("words behind letters")  # "the limit" is not a product of letters
        if unit == "percent":
            return Op("%", (value,))
        if unit in ("^2", "^3"):  # 12 squared
            return Op("^", (value, literal(unit[1])))
        if not (before or unit):
            return value
        measure = Measure(value, before + unit * unit.startswith("/") if before else unit)
        if self.kind() == "num":  # 2 hours 30 minutes
            rest = self.measured()
            if isinstance(rest, Measure) and (total := syntax.joined(measure, rest)):
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
        words: list[str] = []
        while self.more():
            word = self.peek()
            if self.kind() == "text" and word not in ("and", "or", "to"):
                words.append(self.next())
            elif word == "a" and words and self._tokens[self._at + 1].kind == "text":
                self.next()
                words.append("per")  # 18 dollars a day
            elif word == "/" and (words or self._tokens[self._at + 1].kind == "text"):
                words.append(self.next())  # $18/day
            elif word in _CURRENCY and not words:
                words.append(_CURRENCY[self.next()])
            elif word == "^" and words:
                words.append(self.next() + self.script())
            elif words and self.kind() == "sym" and (len(words[-1]) == 1 or words[-1] == "per"):
                words.append(self.next())
            else:
                break
        phrase = " ".join(words)
        if _BOUND.search(phrase):
            raise Unreadable("a bound and no unit")
        return syntax.unit_name(phrase) if words else ""

    def sum(self) -> Node:
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
        left = self.factor()
        while True:
            mark = self.peek()
            if mark in ("*", "/") and self._tokens[self._at + 1].kind != "text":
                self.next()
                right = _signed(self.sign(), self.factor())
                if mark == "/" and is_op(right, "%"):
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
        """Multiply by the adjacent factor; a proper fraction after an integer is added: 1 1/2."""
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
                case Op("/", (Num(over), Num(under))) if 0 < over < under:
                    return Num(left.value + over / under)
                case Op("%", (Op("/", (Num(over), Num(under))),)) if 0 < over < under:
                    return Op("%", (Num(left.value + over / under),))
                case _:
                    pass
        return Op("*", (left, right))

    # Powers and suffixes of an atom.

    def starts_factor(self) -> bool:
        """Whether the next token can begin a factor, multiplied without a sign."""
        text = self.peek()
        if text == "|":
            return self._bars == 0
        return self.kind() in ("num", "sym", "fun") or text in _STARTS

    def factor(self) -> Node:
        base = self.atom()
        while True:
            mark = self.peek()
            if mark == "^" and self.peek(1) in ("circ", "{") and self.degree():
                base = Op("deg", (base,))
            elif mark == "^":
                self.next()
                base = Op("^", (base, self.exponent()))
            elif mark == "!":
                name = self.next()
                if self.peek() == "!":
                    name += self.next()
                base = Op(name, (base,))
            elif mark == "%":
                self.next()
                base = Op("%", (base,))
            else:
                return base

    def degree(self) -> bool:
        """Consume ^\\circ or ^{\\circ} if it comes next."""
        ahead = [self.peek(i) for i in range(1, 4)]
        length = 2 if ahead[0] == "circ" else 4 if ahead == ["{", "circ", "}"] else 0
        self._at += length
        return length > 0

    def exponent(self) -> Node:
        """Read an exponent: a group, or one signed atom that may itself be raised."""
        negative = False
        while self.peek() in ("-", "+"):
            negative ^= self.next() == "-"
        power = self.raised()
        if self.peek() == "^":
            self.next()
            self.descend()
            power = Op("^", (power, self.exponent()))
            self.ascend()
        return Op("neg", (power,)) if negative else power

    def raised(self) -> Node:
        """Read a group or one atom; the bracket in e^x(x+1) is a factor behind the power."""
        if self.peek() == "{":
            return self.group()
        alone = self.kind() == "sym" and self.peek(1) == "(" and self.peek() not in ("f", "g", "h")
        return Sym(self.next()) if alone else self.atom()

    # Atoms.

    def atom(self) -> Node:
        """Read the smallest complete expression; every level of nesting is counted here."""
        self.descend()
        node = self._atom()
        self.ascend()
        return node

    def _atom(self) -> Node:
        kind, text = self.kind(), self.peek()
        if kind == "num":
            return self.number()
        if kind == "sym":
            return self.symbol()
        if kind == "fun":
            return self.function(self.next())
        if text in OPENERS:
            return self.bracket()
        if text in FENCES:
            return self.fence(*FENCES[text])
        if text == "|":
            return self.bars()
        if text not in _READERS:
            raise Unreadable(f"{text!r} does not begin anything")
        self.next()
        return _READERS[text](self)

    def number(self) -> Node:
        """Read digits, with a repeating part, a base or dots behind them."""
        text = self.next()
        if len(text) > MAX_DIGITS:
            raise Unreadable("a number of too many digits")
        if self.peek() in ("overline", "dot", "bar") and "." in text:
            return self.repeating(text)
        if self.peek() == "ldots" and "." in text and text[-3:] == text[-1] * 3:
            self.next()
            return recurring(text.rstrip(text[-1]), text[-1])
        if self.peek() == "_":
            self.next()
            return in_base(text, self.script())
        return literal(text)

    def repeating(self, text: str) -> Node:
        mark = self.next()
        period = self.script()
        if mark == "dot" and (self.kind() == "num" or self.peek() == "dot"):
            period += self.next() if self.kind() == "num" else ""
            self.expect("dot")
            period += self.script()
        return recurring(text, period)

    def symbol(self) -> Node:
        """Read a name with its index and primes; f(x) becomes a call."""
        if self._awaited and (differential := self.differential()):
            return differential
        name = self.next()
        if self.kind() == "num" and self.attached() and self.peek().isdecimal() and len(name) == 1:
            name += f"_{self.next()}"  # x1 has an index, it is not a product
        elif self.peek() == "_":
            self.next()
            index = self.script()
            both = "," in index and index.replace(",", "").isdecimal()
            name += "" if both else f"_{index}"  # x_{1,2} = ±3 are two values of x
        while self.peek() == "'":
            self.next()
            name += "'"
        if self.peek() == "{" and self.peek(1) == "(":  # f{\left(x\right)}, as programs print it
            return Op("call", (Sym(name), self.group()))
        if self.peek() == "(" and self.attached() and name not in ("pi", "e", "i"):
            arg = self.bracket()
            return Op("call", (Sym(name), *(arg.args if is_op(arg, "()") else (arg,))))
        return Sym(name)

    # Integrals, sums and products over a range.

    def ranged(self, name: str) -> Node:
        marks = dict[str, Node]()
        while (mark := self.peek()) in ("_", "^"):
            self.next()
            marks[mark] = self.raised()
        if marks.keys() != {"_", "^"}:
            raise Unreadable("a range with an open end")
        low, high = marks["_"], marks["^"]
        if name == "int":
            return Op("int", (*self.integrand(), low, high))
        match low:
            case Op("rel", (Sym(index), first, Sym("="))):
                variable = Sym(f"index {index}")  # not the imaginary unit i
                body = syntax.substitute(self.product(), index, variable)
                return Op(name, (body, variable, first, high))
            case _:
                raise Unreadable("a sum over something else than whole numbers")

    def integrand(self) -> tuple[Node, Node]:
        """Read the integrand and the variable of its differential."""
        self._awaited += 1
        ended, self._ended = self._ended, False
        body = self.sum()
        self._ended = ended
        if not self._differentials:
            raise Unreadable("an integral without a differential")
        return body, self._differentials.pop(0)

    def differential(self) -> Node | None:
        """Consume the dx of an integral; it ends the integrand and counts as a factor of one."""
        if self.peek() != "d":
            return None
        after = self._tokens[self._at + 1]
        if after.kind != "sym" or after.text in ("e", "i", "pi", "oo"):
            return None
        self._at += 2
        self._awaited -= 1
        self._differentials.append(Sym(after.text))
        self._ended = not self._awaited
        return Num(Fraction(1))

    def digits(self) -> Node:
        """Read digits in a base above ten, where letters are digits too."""
        text = self.script().upper()
        self.expect("_")
        return Op("base", (Sym(text), literal(self.script())))

    def function(self, name: str) -> Node:
        """Read a function: sin^2 x, log_2 8, ln|x|, and sin 2x without parentheses."""
        base: Node | None = None
        power: Node | None = None
        if name == "log" and self.peek() in ("2", "10") and self.attached() and self.peek(1) == "(":
            base = literal(self.next())  # log2(8), as programs write it
        while self.peek() in ("^", "_"):
            if self.next() == "_":
                base = self.group() if self.peek() == "{" else self.atom()
            else:
                power = self.exponent()
        if power == Num(Fraction(-1)) or power == Op("neg", (Num(Fraction(1)),)):
            name, power = f"arc{name}", None
        args = self.arguments()
        if base is not None:
            result: Node = Op("log", (base, *args))
        else:
            result = Op({"log": "ln", "lg": "log10"}.get(name, name), args)
        return Op("^", (result, power)) if power is not None else result

    def arguments(self) -> tuple[Node, ...]:
        if self.peek() in ("(", "[", "{"):
            inner = self.bracket(call=True)
            return inner.args if is_op(inner, "()") else (inner,)
        left = self.factor()
        while self.starts_factor() and self.kind() != "fun" and self.peek() not in ("(", "["):
            left = Op("*", (left, self.factor()))
        if self.peek() == "/":
            self.next()
            left = Op("/", (left, self.factor()))
        return (left,)

    def argument(self) -> Node:
        """Read an argument of a LaTeX command: a group, one digit, or one atom."""
        if self.peek() == "{":
            return self.group()
        if self.kind() == "num" and len(self.peek()) > 1 and self.peek().isdecimal():
            token = self._tokens[self._at]
            self._tokens[self._at : self._at + 1] = [
                token._replace(text=token.text[0]),
                Token("num", token.text[1:], False),
            ]
        return self.atom()

    def root(self) -> Node:
        index: Node = Num(Fraction(2))
        if self.peek() == "[":
            self.next()
            index = self.sum()
            self.expect("]")
        if self.peek() == "{":
            inner = self.group()
        else:
            inner = self.bracket() if self.peek() == "(" else self.atom()
        return Op("root", (inner, index))

    def binomial(self) -> Node:
        if self.peek() == "(":
            inner = self.bracket()
            return Op("binom", inner.args if isinstance(inner, Op) else ())
        return Op("binom", (self.argument(), self.argument()))

    def angle(self) -> Node:
        name = "angle "
        while self.kind() == "sym":
            node = self.symbol()
            name += node.name if isinstance(node, Sym) else "?"
        return Sym(name)

    # Brackets.

    def script(self) -> str:
        """Read an index or a unit's power as text."""
        if self.peek() != "{":
            return self.next()
        self.next()
        parts: list[str] = []
        while self.peek() != "}":
            parts.append(self.next())
        self.next()
        return "".join(parts)

    def group(self) -> Node:
        self.expect("{")
        ended, self._ended = self._ended, False
        inner = self.items()
        self._ended |= ended
        self.expect("}")
        return inner

    def bracket(self, *, call: bool = False) -> Node:
        """Read (…), […], {…} or a half-open mixture of them."""
        opened = self.next()
        if self.peek() in _CLOSERS:
            self.next()
            return Op("{}", ())
        # In {x | x > 0} the bar is not an absolute value.
        bars, self._bars = self._bars, int(opened in (r"\{", "{"))
        ended, self._ended = self._ended, False
        inner = self.items()
        self._ended |= ended
        if self.peek() in ("over", "choose"):
            name = "/" if self.next() == "over" else "binom"
            inner = Op(name, (inner, self.items()))
        elif self.peek() in ("|", ":") and opened in (r"\{", "{"):
            if not _is_element(inner):
                raise Unreadable("a set of expressions")  # {2x | x > 0} is not {x | x > 0}
            self.next()
            inner = self.items()  # {x | condition}: the condition alone determines the set
        self._bars = bars
        closed = self.next()
        return _bracketed(opened, closed, inner, call=call)

    def fence(self, closer: str, name: str) -> Node:
        self.next()
        inner = self.sum()
        self.expect(closer)
        return Op(name, (inner,))

    def bars(self) -> Node:
        self.next()
        self._bars += 1
        inner = self.sum()
        self.expect("|")
        self._bars -= 1
        return determinant(inner) if is_op(inner, "matrix") else Op("abs", (inner,))

    def system(self) -> Node:
        found = [self.items()]
        while self.peek() == "newline":
            self.next()
            if self.peek() != "end":
                found.append(self.items())
        self.expect("end")
        self.script()
        return Op("and", tuple(found))

    def numbers(self) -> Node:
        letter = self.script()
        if letter == "R" and self.peek() in ("^", "_"):
            at = self._at
            self.next()
            if (part := _PARTS_OF_LINE.get(self.script())) is not None:
                return part
            self._at = at
        return _LINE if letter == "R" else Sym(f"set {letter}")

    def matrix(self) -> Node:
        kind = self.script()
        if kind in ("cases", "aligned"):
            return self.system()
        if kind.rstrip("*") == "array" and self.peek() == "{":
            self.script()
        elif kind not in _MATRICES and kind != "vmatrix":
            raise Unreadable(f"an environment {kind!r}")
        rows: list[list[Node]] = [[]]
        while self.peek() != "end":
            if self.peek() not in ("newline", "&"):
                rows[-1].append(self.sum())
            elif self.next() == "newline":
                rows.append([])
        self.next()
        self.script()
        filled = rows if rows[-1] else rows[:-1]  # a last row may end like the others
        whole = Op("matrix", tuple(Op("row", tuple(cells)) for cells in filled))
        return determinant(whole) if kind == "vmatrix" else whole


_STARTS = frozenset((*OPENERS, *FENCES, *syntax.BINDERS)).union(
    ("frac", "sqrt", "binom", "overline", "begin", "digits", "unitvector")
)
_READERS: dict[str, Callable[[Parser], Node]] = {
    "frac": lambda parser: Op("/", (parser.argument(), parser.argument())),
    "sqrt": Parser.root,
    "binom": Parser.binomial,
    "begin": Parser.matrix,
    "emptyset": lambda _: Op("{}", ()),
    "angle": Parser.angle,
    "digits": Parser.digits,
    "triangle": lambda parser: Sym(f"triangle {parser.next()}"),
    "unitvector": lambda parser: Sym(f"unit {parser.script()}"),
    **dict.fromkeys(("overline", "bar"), lambda parser: Sym(f"segment {parser.script()}")),
    "int": lambda parser: parser.ranged("int"),
    "sum": lambda parser: parser.ranged("sum"),
    "prod": lambda parser: parser.ranged("prod"),
    "mathbb": Parser.numbers,
}


# The loose levels of the grammar: lists, relations, unions, sums and products.

_RELATIONS = frozenset({"=", "<", ">", "le", "ge", "ne", "approx", "in", "equiv"})
_BOUND = lazy_pattern(
    r"\b(?:(?:or|and|at)\s+(?:more|less|fewer|greater|above|below|over|under|higher|lower|up|larger"
    r"|smaller|older|later|earlier|beyond|least|most|so|counting)|than|not|is|are|was|were|fails"
    r"|cannot|too|wrong|incorrect|false|invalid|impossible|excluded|except|extraneous)\b",
    re.IGNORECASE,
)
"""Words after a value that bound or deny it, so not a unit."""
_SETS = {"cup": "union", "cap": "intersect", "setminus": "minus"}
_CURRENCY = {"usd": "dollar", "€": "euro", "£": "gbp", "¥": "yen", "₹": "rupee", "¢": "cent"}


def parse(text: str) -> Node:
    """Read cleaned text as mathematics; raise Unreadable where it is not."""
    parser = Parser(syntax.tokenize(text))
    tree = parser.items()
    if parser.more():
        raise Unreadable(f"unexpected {parser.peek()!r}")
    return tree


def _signed(sign: str, term: Node) -> Node:
    if sign == "-":
        return Num(-term.value, term.digits) if isinstance(term, Num) else Op("neg", (term,))
    return term if sign == "+" else Op(sign, (term,))
