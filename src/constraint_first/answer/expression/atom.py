"""The tight levels of the grammar: powers, functions, fractions, numbers and names."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from constraint_first.answer.expression.bracket import FENCES, OPENERS, BracketParser
from constraint_first.answer.expression.lexer import Token, Unreadable
from constraint_first.answer.expression.numeral import MAX_DIGITS, in_base, literal, recurring
from constraint_first.answer.expression.syntax import Node, Num, Op, Sym, substitute

__all__ = ["AtomParser"]


class AtomParser(BracketParser):
    """The tight levels of the grammar."""

    # Powers and what stands behind an atom.

    def starts_factor(self) -> bool:
        """Whether the coming token can begin a factor that is multiplied without a sign."""
        kind, text = self.kind(), self.peek()
        if kind in ("num", "sym", "fun"):
            return True
        if text == "|":
            return self._bars == 0
        return (
            text in OPENERS
            or text in FENCES
            or text in ("frac", "sqrt", "binom", "overline", "begin", "digits", "unitvector")
            or text in _RANGED
        )

    def factor(self) -> Node:
        """Read an atom with its powers, factorials, percent and degree signs."""
        base = self.atom()
        while True:
            mark = self.peek()
            if mark == "^" and self.peek(1) in ("circ", "{") and self.degree():
                base = Op("deg", (base,))
            elif mark == "^":
                self.next()
                base = Op("^", (base, self.exponent()))
            elif mark == "!":
                self.next()
                double = self.peek() == "!"
                if double:
                    self.next()
                base = Op("!!" if double else "!", (base,))
            elif mark == "%":
                self.next()
                base = Op("%", (base,))
            else:
                return base

    def degree(self) -> bool:
        """Step over ^\\circ or ^{\\circ}, if that is what comes."""
        ahead = [self.peek(i) for i in range(4)]
        if ahead[1] == "circ":
            self._at += 2
        elif ahead[1:] == ["{", "circ", "}"]:
            self._at += 4
        else:
            return False
        return True

    def exponent(self) -> Node:
        """Read what a ^ raises to: a group, or one signed atom that may itself be raised."""
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
        """Read the smallest thing that has a meaning by itself; all nesting passes through here."""
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
        """Read the digits under a bar or between dots as repeating for ever."""
        mark = self.next()
        period = self.script()
        if mark == "dot" and (self.kind() == "num" or self.peek() == "dot"):
            period += self.next() if self.kind() == "num" else ""
            self.expect("dot")
            period += self.script()
        return recurring(text, period)

    def symbol(self) -> Node:
        """Read a name with its index and primes; f(x) is kept as a call."""
        if self._awaited and (differential := self.differential()):
            return differential
        name = self.next()
        if self.kind() == "num" and self.attached() and self.peek().isdecimal() and len(name) == 1:
            name += f"_{self.next()}"  # x1 is an index, and no product
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
        if (
            self.peek() == "("
            and not self._tokens[self._at].spaced
            and name not in ("pi", "e", "i")
        ):
            arg = self.bracket()
            if isinstance(arg, Op) and arg.name == "()":
                return Op("call", (Sym(name), *arg.args))
            return Op("call", (Sym(name), arg))
        return Sym(name)

    # Integrals, sums and products over a range.

    def ranged(self, name: str) -> Node:
        """Read an integral, a sum or a product with its ends and its body."""
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
            case Op("rel", (Sym(name=index), first, Sym(name="="))):
                variable = Sym(f"index {index}")  # and not the imaginary unit
                return Op(
                    name, (substitute(self.product(), index, variable), variable, first, high)
                )
            case _:
                raise Unreadable("a sum over something else than whole numbers")

    def integrand(self) -> tuple[Node, Node]:
        """Read what is integrated, and the variable that its differential names."""
        self._awaited += 1
        ended, self._ended = self._ended, False
        body = self.sum()
        self._ended = ended
        if not self._differentials:
            raise Unreadable("an integral without a differential")
        return body, self._differentials.pop(0)

    def differential(self) -> Node | None:
        """Step over the dx of an integral, which multiplies by one and ends the integrand."""
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
        """Read digits of a base above ten, some of them letters."""
        text = self.script().upper()
        self.expect("_")
        return Op("base", (Sym(text), literal(self.script())))

    def triangle(self) -> Node:
        """Read the name of a triangle as one symbol."""
        return Sym(f"triangle {self.next()}")

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
        """Read what a function applies to."""
        if self.peek() in ("(", "[", "{"):
            inner = self.bracket(call=True)
            return inner.args if isinstance(inner, Op) and inner.name == "()" else (inner,)
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

    def fraction(self) -> Node:
        """Read the two arguments of a fraction."""
        return Op("/", (self.argument(), self.argument()))

    def root(self) -> Node:
        """Read a root and its index."""
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
        """Read a binomial coefficient, as a command or as a call."""
        if self.peek() == "(":
            inner = self.bracket()
            return Op("binom", inner.args if isinstance(inner, Op) else ())
        return Op("binom", (self.argument(), self.argument()))

    def angle(self) -> Node:
        """Read the name of an angle as one symbol."""
        name = "angle "
        while self.kind() == "sym":
            node = self.symbol()
            name += node.name if isinstance(node, Sym) else "?"
        return Sym(name)

    def overlined(self) -> Node:
        """Read a segment's name under its bar."""
        return Sym(f"segment {self.script()}")


_RANGED = frozenset({"int", "sum", "prod"})
_READERS: dict[str, Callable[[AtomParser], Node]] = {
    "frac": AtomParser.fraction,
    "sqrt": AtomParser.root,
    "binom": AtomParser.binomial,
    "begin": AtomParser.matrix,
    "emptyset": AtomParser.empty,
    "angle": AtomParser.angle,
    "overline": AtomParser.overlined,
    "bar": AtomParser.overlined,
    "digits": AtomParser.digits,
    "triangle": AtomParser.triangle,
    "unitvector": lambda parser: Sym(f"unit {parser.script()}"),
    "int": lambda parser: parser.ranged("int"),
    "sum": lambda parser: parser.ranged("sum"),
    "prod": lambda parser: parser.ranged("prod"),
    "mathbb": AtomParser.numbers,
}
