"""Trees into numbers of many digits, with a bound on every intermediate value."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from mpmath import MPContext  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from constraint_first.answer.expression.syntax import INFINITE, Node, Num, Op, Sym

__all__ = [
    "CALCULUS_DIGITS",
    "CONTEXTS",
    "DIGITS",
    "FAILURES",
    "MORE_DIGITS",
    "Evaluator",
    "OutOfReach",
    "Undefined",
]

DIGITS = 50
MORE_DIGITS = 300
MAX_BITS = 80_000
"""Largest power of two that a value may reach, in either direction."""
MAX_EXPONENT = 1_000_000
MAX_WHOLE = 20_000
"""Largest argument of a factorial or a binomial coefficient."""
MAX_TERMS = 5_000
MAX_EVALUATIONS = 200_000
"""How often the bodies of the integrals, sums and products of a tree are evaluated."""
CALCULUS_DIGITS = 25
"""Digits to which an integral or a series must settle."""
SNAP = 1e-30
"""How close to an integer a value is taken for it before floor turns on it."""

Value = Any
"""An mpmath number: a library without types."""


def _context(digits: int) -> Any:
    context: Any = MPContext()
    context.dps = digits + 10
    return context


# One context for each precision, made once: a worker judges one case at a time.
CONTEXTS = {digits: _context(digits) for digits in (DIGITS, MORE_DIGITS)}


class OutOfReach(Exception):
    """A value too large, undefined here, or of an operation that is not known."""


class Undefined(OutOfReach):
    """A value that does not exist: a division by zero, the logarithm of zero."""


class Evaluator:
    """Evaluates trees at one point, to so many digits."""

    def __init__(self, digits: int, point: dict[str, Value] | None = None) -> None:
        self.mp = CONTEXTS[digits]
        self._digits = digits
        self._integrates = False
        self._left = [MAX_EVALUATIONS]  # shared with the evaluators of bodies
        self._point = point or {}

    def __call__(self, node: Node) -> Value:
        """Evaluate a tree, checking every intermediate value's size."""
        match node:
            case Num(value=value):
                return self._number(value)
            case Sym(name=name):
                return self._symbol(name)
            case Op("call", (Sym(name=name), inner)):
                if name in ("f", "g", "h"):
                    raise OutOfReach(f"the function {name} is not known")
                return self._checked(self._symbol(name) * self(inner))
            case Op("int" | "sum" | "prod" as name, (body, Sym(name=variable), low, high)):
                return self._checked(self._ranged(name, body, variable, (low, high)))
            case Op(name, args):
                return self._checked(self._apply(name, [self(arg) for arg in args]))
            case _:
                raise OutOfReach("a unit inside an expression")

    def _ranged(self, name: str, body: Node, variable: str, ends: tuple[Node, Node]) -> Value:
        """Integrate, add or multiply a body over a range of its variable."""
        low, high = (self._end(end) for end in ends)
        if name == "int":
            return self._integral(
                lambda at: self.at(variable, at, integrates=True)(body), low, high
            )
        first = self._whole_or_negative(low)

        def term(at: Value) -> Value:
            return self.at(variable, self.mp.mpf(at))(body)

        if self.mp.isinf(high):
            return self._series(name, term, first)
        last = self._whole_or_negative(high)
        if last - first > MAX_TERMS:
            raise OutOfReach("a sum of too many terms")
        terms = [term(at) for at in range(first, last + 1)]
        return self.mp.fsum(terms) if name == "sum" else self.mp.fprod(terms)

    def _integral(self, body: Callable[[Value], Value], low: Value, high: Value) -> Value:
        if low == high:
            return self.mp.zero
        value, error = self.mp.quad(body, [low, high], error=True)
        if error * 10**CALCULUS_DIGITS > max(abs(value), 1):
            raise OutOfReach("an integral that does not settle")
        return value

    def _series(self, name: str, term: Callable[[Value], Value], first: int) -> Value:
        if name == "prod":
            raise OutOfReach("a product without end")
        # Two ways to sum up that seldom agree on a value that is not there.
        found = [
            self.mp.nsum(term, [start, self.mp.inf], method=method)
            + self.mp.fsum(term(at) for at in range(first, start))
            for start, method in ((first, "r+s"), (first + 7, "r+s+e"))
        ]
        if abs(found[0] - found[1]) * 10**CALCULUS_DIGITS > max(abs(found[0]), 1):
            raise OutOfReach("a series that does not settle")
        return found[0]

    def _end(self, node: Node) -> Value:
        if node in INFINITE:
            return self.mp.inf if node == INFINITE[0] else -self.mp.inf
        value = self(node)
        if value.imag:
            raise OutOfReach("a range with a complex end")
        return value.real

    def _whole_or_negative(self, value: Value) -> int:
        nearest = int(self.mp.nint(value))
        if abs(value - nearest) > 1e-20 or abs(nearest) > MAX_WHOLE:
            raise OutOfReach("not a whole number of moderate size")
        return nearest

    def at(self, variable: str, value: Value, *, integrates: bool = False) -> Evaluator:
        """Give an evaluator with one more variable set."""
        inner = Evaluator(self._digits, {**self._point, variable: value})
        inner._integrates = integrates or self._integrates
        inner._left = self._left
        self._left[0] -= 1
        if self._left[0] < 0:
            raise OutOfReach("too many values to compute")
        return inner

    def _apply(self, name: str, values: list[Value]) -> Value:
        if name in _ELEMENTARY and len(values) == 1:
            if name == "exp":
                return self._do_power(+self.mp.e, values[0])
            return getattr(self.mp, _ELEMENTARY[name])(self._moderate(values[0]))
        operation = getattr(self, f"_do_{_METHODS.get(name, name)}", None)
        if operation is None:
            raise OutOfReach(f"{name} has no value")
        return operation(*values)

    def _number(self, value: Fraction) -> Value:
        bits = max(value.numerator.bit_length(), value.denominator.bit_length())
        if bits > MAX_BITS:
            raise OutOfReach("a number of too many digits")
        return self.mp.mpf(value.numerator) / value.denominator

    def _symbol(self, name: str) -> Value:
        constants = {"pi": self.mp.pi, "e": self.mp.e, "i": self.mp.j}
        if name in constants:
            return +constants[name]
        if name in self._point:
            return self.mp.convert(self._point[name])
        raise OutOfReach(f"{name} has no value")

    def _checked(self, value: Value) -> Value:
        if not self.mp.isfinite(value):
            raise OutOfReach("not finite")
        if value and abs(self.mp.mag(value)) > MAX_BITS:
            raise OutOfReach("too large or too small")
        return value

    def _moderate(self, value: Value) -> Value:
        if value and self.mp.mag(value) > 60:
            raise OutOfReach("too large for a transcendental function")
        return value

    def _whole(self, value: Value) -> int:
        nearest = int(self.mp.nint(self.mp.re(value))) if self.mp.mag(value or 1) < 40 else -1
        moderate = 0 <= nearest <= MAX_WHOLE
        if self.mp.im(value) or not moderate or abs(value - nearest) > 1e-20:
            raise OutOfReach("not a whole number of moderate size")
        return nearest

    def _do_add(self, *terms: Value) -> Value:
        return self.mp.fsum(terms)

    def _do_neg(self, value: Value) -> Value:
        return -value

    def _do_multiply(self, left: Value, right: Value) -> Value:
        return left * right

    def _do_divide(self, over: Value, under: Value) -> Value:
        if not under:
            raise Undefined("division by zero")
        return over / under

    def _do_percent(self, value: Value) -> Value:
        return value / 100

    def _do_deg(self, value: Value) -> Value:
        return value * self.mp.pi / 180

    def _do_power(self, base: Value, exponent: Value) -> Value:
        if not base:
            if self.mp.re(exponent) <= 0:
                raise Undefined("zero to no positive power")
            return self.mp.zero
        if self._integrates and self.mp.re(exponent * self.mp.log(base)) < -MAX_BITS / 8:
            return self.mp.zero  # the far ends of an integral over the whole line
        if abs(exponent) > MAX_EXPONENT or abs(exponent) * abs(self.mp.mag(base)) > MAX_BITS:
            raise OutOfReach("a power too large")
        return base**exponent

    def _do_root(self, value: Value, index: Value) -> Value:
        if not index:
            raise Undefined("a zeroth root")
        if index == 2:
            return self.mp.sqrt(value)
        odd = not self.mp.im(index) and index % 2 == 1
        if odd and not self.mp.im(value) and self.mp.re(value) < 0:
            return -self._do_power(-value, 1 / index)
        return self._do_power(value, 1 / index)

    def _do_cbrt(self, value: Value) -> Value:
        return self._do_root(value, self.mp.mpf(3))

    def _do_factorial(self, value: Value) -> Value:
        # The gamma function between whole numbers: x! + sin(pi x) is x! at whole numbers alone.
        return self.mp.factorial(self._bounded(value))

    def _do_double_factorial(self, value: Value) -> Value:
        return self.mp.fac2(self._whole(value))

    def _do_binom(self, top: Value, bottom: Value) -> Value:
        return self.mp.binomial(self._bounded(top), self._bounded(bottom))

    def _bounded(self, value: Value) -> Value:
        """Pass on an argument for which the gamma function is not too large."""
        if not self._point:
            return self._whole(value)
        if abs(value) > MAX_WHOLE:
            raise OutOfReach("too large for a factorial")
        nearest = self.mp.nint(value.real)
        return nearest if abs(value - nearest) < SNAP else value

    def _do_gcd(self, *values: Value) -> Value:
        return self.mp.mpf(math.gcd(*map(self._whole, values)))

    def _do_lcm(self, *values: Value) -> Value:
        return self.mp.mpf(math.lcm(*map(self._whole, values)))

    def _do_sign(self, value: Value) -> Value:
        return self.mp.sign(value)

    def _do_cis(self, value: Value) -> Value:
        return self.mp.expj(self._moderate(value))

    def _do_abs(self, value: Value) -> Value:
        return abs(value)

    def _do_floor(self, value: Value) -> Value:
        return self.mp.floor(self._snapped(value))

    def _do_ceil(self, value: Value) -> Value:
        return self.mp.ceil(self._snapped(value))

    def _snapped(self, value: Value) -> Value:
        """Undo rounding noise next to an integer, on which floor would turn."""
        if self.mp.im(value):
            raise OutOfReach("a complex number has no floor")
        nearest = self.mp.nint(value)
        return nearest if abs(value - nearest) < SNAP else value

    def _do_mod(self, value: Value, modulus: Value) -> Value:
        if not modulus:
            raise Undefined("modulo zero")
        return value % modulus

    def _do_ln(self, value: Value) -> Value:
        if not value:
            raise Undefined("the logarithm of zero")
        return self.mp.log(value)

    def _do_log10(self, value: Value) -> Value:
        return self._do_ln(value) / self.mp.ln10

    def _do_log(self, base: Value, value: Value) -> Value:
        return self._do_divide(self._do_ln(value), self._do_ln(base))

    def _do_max(self, *values: Value) -> Value:
        return max(values)

    def _do_min(self, *values: Value) -> Value:
        return min(values)


_METHODS = {
    "+": "add", "*": "multiply", "/": "divide", "^": "power", "%": "percent",
    "!": "factorial", "!!": "double_factorial",
}  # fmt: skip
_ELEMENTARY = {
    "sin": "sin", "cos": "cos", "tan": "tan", "cot": "cot", "sec": "sec", "csc": "csc",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "coth": "coth",
    "sech": "sech", "csch": "csch", "exp": "exp",
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arccot": "acot",
    "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh",
}  # fmt: skip


FAILURES = (OutOfReach, ArithmeticError, ValueError, TypeError, AttributeError)
