"""Trees into numbers of many digits, with a bound on every intermediate value."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from mpmath import MPContext  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from cfr.answer.expression.syntax import Node, Num, Op, Sym

__all__ = ["CONTEXTS", "DIGITS", "FAILURES", "MORE_DIGITS", "Evaluator", "OutOfReach", "Undefined"]

DIGITS = 50
MORE_DIGITS = 300
MAX_BITS = 80_000
"""Largest power of two that a value may reach, in either direction."""
MAX_EXPONENT = 1_000_000
MAX_WHOLE = 20_000
"""Largest argument of a factorial or a binomial coefficient."""
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
            case Op(name, args):
                return self._checked(self._apply(name, [self(arg) for arg in args]))
            case _:
                raise OutOfReach("a unit inside an expression")

    def _apply(self, name: str, values: list[Value]) -> Value:
        if name in _ELEMENTARY and len(values) == 1:
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
        return self.mp.factorial(self._whole(value))

    def _do_double_factorial(self, value: Value) -> Value:
        return self.mp.fac2(self._whole(value))

    def _do_binom(self, top: Value, bottom: Value) -> Value:
        upper, lower = self._whole(top), self._whole(bottom)
        return self.mp.binomial(upper, lower) if lower <= upper else self.mp.zero

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
