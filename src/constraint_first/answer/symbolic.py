"""The symbolic tier's arithmetic: expressions evaluated to many digits at fixed points.

Two elementary expressions that agree to thirty digits at several generic points are the same; one
disagreement shows that they are not. The points never change, so neither does a verdict.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import chain
from typing import Any, Final, TypeAlias

from mpmath import MPContext  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from constraint_first.answer.exact import ENOUGH_DIGITS, digits_of, equal_numbers, rational
from constraint_first.answer.exact import leaf as exact_leaf
from constraint_first.answer.grade import Equivalence, Ruling, decide_trees
from constraint_first.answer.syntax import (
    INFINITE,
    Node,
    Num,
    Op,
    Sym,
    is_op,
    substitute,
    symbols,
    walk,
)
from constraint_first.answer.value import interpret, scalars
from constraint_first.problem import Json
from constraint_first.process import serve

# Numerical evaluation of trees to many digits, with a bound on every intermediate value.

DIGITS = 50
MORE_DIGITS = 300
MAX_BITS = 80_000
"""Largest power of two that a value may reach, in either direction."""
MAX_EXPONENT = 1_000_000
MAX_WHOLE = 20_000
"""Largest argument of a factorial or a binomial coefficient."""
MAX_TERMS = 5_000
MAX_EVALUATIONS = 200_000
"""The most evaluations of the bodies of all integrals, sums and products of a tree."""
CALCULUS_DIGITS = 25
"""Digits to which an integral or a series must converge."""
SNAP = 1e-30
"""How close to an integer a value is rounded to it before floor, which jumps there."""

Value = Any
"""An mpmath number; the library has no type annotations."""


# One context for each precision, shared, because a worker judges one case at a time.
CONTEXTS: dict[int, Any] = {digits: MPContext() for digits in (DIGITS, MORE_DIGITS)}
for _digits, _context in CONTEXTS.items():
    _context.dps = _digits + 10


class OutOfReach(Exception):
    """A value is too large or undefined at this point, or its operation is unknown."""


class Undefined(OutOfReach):
    """A value does not exist, such as a division by zero or the logarithm of zero."""


class Evaluator:
    """Evaluates trees at one point, to a given number of digits."""

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
                if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
                    raise OutOfReach("a number of too many digits")
                return self.mp.mpf(value.numerator) / value.denominator
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
            if low == high:
                return self.mp.zero

            def value_at(at: Value) -> Value:
                return self.at(variable, at, integrates=True)(body)

            value, error = self.mp.quad(value_at, [low, high], error=True)
            if error * 10**CALCULUS_DIGITS > max(abs(value), 1):
                raise OutOfReach("an integral that does not settle")
            return value
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

    def _series(self, name: str, term: Callable[[Value], Value], first: int) -> Value:
        if name == "prod":
            raise OutOfReach("a product without end")
        # Two methods of summation, which seldom agree where the series diverges.
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
                return self.power(+self.mp.e, values[0])
            return getattr(self.mp, _ELEMENTARY[name])(self.moderate(values[0]))
        match values:
            case [value] if name in _OF_ONE:
                return _OF_ONE[name](self, value)
            case [left, right] if name in _OF_TWO:
                return _OF_TWO[name](self, left, right)
            case _ if name in _OF_MANY:
                return _OF_MANY[name](self, values)
            case _:
                raise OutOfReach(f"{name} has no value")

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

    def moderate(self, value: Value) -> Value:
        if value and self.mp.mag(value) > 60:
            raise OutOfReach("too large for a transcendental function")
        return value

    def whole(self, value: Value) -> int:
        nearest = int(self.mp.nint(self.mp.re(value))) if self.mp.mag(value or 1) < 40 else -1
        if self.mp.im(value) or not 0 <= nearest <= MAX_WHOLE or abs(value - nearest) > 1e-20:
            raise OutOfReach("not a whole number of moderate size")
        return nearest

    def power(self, base: Value, exponent: Value) -> Value:
        if not base:
            if self.mp.re(exponent) <= 0:
                raise Undefined("zero to no positive power")
            return self.mp.zero
        if self._integrates and self.mp.re(exponent * self.mp.log(base)) < -MAX_BITS / 8:
            return self.mp.zero  # underflow at the far ends of an integral over the whole line
        if abs(exponent) > MAX_EXPONENT or abs(exponent) * abs(self.mp.mag(base)) > MAX_BITS:
            raise OutOfReach("a power too large")
        return base**exponent

    def root(self, value: Value, index: Value) -> Value:
        if not index:
            raise Undefined("a zeroth root")
        if index == 2:
            return self.mp.sqrt(value)
        odd = not self.mp.im(index) and index % 2 == 1
        if odd and not self.mp.im(value) and self.mp.re(value) < 0:
            return -self.power(-value, 1 / index)
        return self.power(value, 1 / index)

    def bounded(self, value: Value) -> Value:
        """Return an argument of the gamma function; refuse one whose result would be too large."""
        if not self._point:
            return self.whole(value)
        if abs(value) > MAX_WHOLE:
            raise OutOfReach("too large for a factorial")
        nearest = self.mp.nint(value.real)
        return nearest if abs(value - nearest) < SNAP else value

    def snapped(self, value: Value) -> Value:
        """Remove rounding noise next to an integer, where floor would jump."""
        if self.mp.im(value):
            raise OutOfReach("a complex number has no floor")
        nearest = self.mp.nint(value)
        return nearest if abs(value - nearest) < SNAP else value


def _nonzero(value: Value, otherwise: str) -> Value:
    if not value:
        raise Undefined(otherwise)
    return value


def _ln(at: Evaluator, value: Value) -> Value:
    return at.mp.log(_nonzero(value, "the logarithm of zero"))


_OF_ONE: Final[Mapping[str, Callable[[Evaluator, Value], Value]]] = {
    "neg": lambda _, value: -value,
    "%": lambda _, value: value / 100,
    "cbrt": lambda at, value: at.root(value, at.mp.mpf(3)),
    # x! between integers too (gamma function): x! + sin(pi x) equals x! only at integers.
    "!": lambda at, value: at.mp.factorial(at.bounded(value)),
    "!!": lambda at, value: at.mp.fac2(at.whole(value)),
    "sign": lambda at, value: at.mp.sign(value),
    "deg": lambda at, value: value * at.mp.pi / 180,
    "cis": lambda at, value: at.mp.expj(at.moderate(value)),
    "abs": lambda _, value: abs(value),
    "floor": lambda at, value: at.mp.floor(at.snapped(value)),
    "ceil": lambda at, value: at.mp.ceil(at.snapped(value)),
    "ln": _ln,
    "log10": lambda at, value: _ln(at, value) / at.mp.ln10,
}
_OF_TWO: Final[Mapping[str, Callable[[Evaluator, Value, Value], Value]]] = {
    "*": lambda _, left, right: left * right,
    "/": lambda _, over, under: over / _nonzero(under, "division by zero"),
    "^": Evaluator.power,
    "root": Evaluator.root,
    "binom": lambda at, top, bottom: at.mp.binomial(at.bounded(top), at.bounded(bottom)),
    "mod": lambda _, value, modulus: value % _nonzero(modulus, "modulo zero"),
    "log": lambda at, base, value: _ln(at, value) / _nonzero(_ln(at, base), "division by zero"),
}
_OF_MANY: Final[Mapping[str, Callable[[Evaluator, list[Value]], Value]]] = {
    "+": lambda at, terms: at.mp.fsum(terms),
    "gcd": lambda at, values: at.mp.mpf(math.gcd(*map(at.whole, values))),
    "lcm": lambda at, values: at.mp.mpf(math.lcm(*map(at.whole, values))),
    "max": lambda _, values: max(values),
    "min": lambda _, values: min(values),
}

# Functions under mpmath's names: arcsin is asin.
_ELEMENTARY = {
    name: name.replace("arc", "a")
    for name in "sin cos tan cot sec csc sinh cosh tanh coth sech csch exp arcsin arccos arctan "
    "arccot arcsinh arccosh arctanh".split()
}

FAILURES = (OutOfReach, ArithmeticError, ValueError, TypeError, AttributeError)

Point: TypeAlias = dict[str, Value]
"""A value for each variable."""

AGREE = 30
"""Digits to which two values must agree."""
ENOUGH_POINTS = 3
_BIG = 10**100

# Functions that equal something simpler at integers: there floor(x) is x, and sin(pi x) is 0.
# Where only integers can be substituted, these functions are compared as they are written.
_BLIND = frozenset(
    "floor ceil mod abs sign sin cos tan cot sec csc arcsin arccos arctan max min gcd lcm".split()
)
# Generic points: no value, sum or ratio of theirs is special. Signs and sizes vary, so that |x| and
# x, branches of a root or periods of a sine cannot be mistaken for one another.
_SCALES = (
    ("0.734861", 1), ("1.893127", 1), ("0.218343", 1), ("2.671939", 1), ("0.561277", -1),
    ("1.337741", -1), ("3.918273", 1), ("0.093417", 1), ("0.317659", -1), ("6.483121", 1),
    ("5.171347", -1),
)  # fmt: skip
_STEPS = frozenset({"floor", "ceil", "mod", "sign"})
_WHOLE = frozenset({"sum", "prod", "!!", "gcd", "lcm"})
_INDICES = frozenset("ijklmnpqrNMK")
"""Letters assumed to be integers in powers of -1."""
_WHOLE_POINTS = (*range(2, 26), 37, 60, 101)


class ExpressionPair:
    def __init__(self, left: Node, right: Node) -> None:
        self.left, self.right = left, right
        self.names = sorted(symbols(left) | symbols(right))

    def nodes(self) -> Iterator[Node]:
        return chain(walk(self.left), walk(self.right))

    def points(self) -> list[Point]:
        """Return the points at which to evaluate; one empty point for constants."""
        mp = CONTEXTS[DIGITS]
        if not self.names:
            return [{}]
        return [
            {
                name: mp.mpf(start) * mp.sqrt(i + 2) * (sign if (at + i) % 2 else 1)
                + mp.mpf(i * i) / 7
                for i, name in enumerate(self.names)
            }
            for at, (start, sign) in enumerate(_SCALES)
        ]

    def whole_points(self) -> list[Point]:
        """Return points with integer coordinates; each variable is the largest in some of them."""
        mp = CONTEXTS[DIGITS]
        return [
            {name: mp.mpf(base + 7 * i * (at % 3) + i) for i, name in enumerate(order)}
            for at, base in enumerate(_WHOLE_POINTS)
            # "n choose k" is defined for n >= k, a factorial of d - k for d >= k.
            for order in (self.names[at % 2 :: 1] + self.names[: at % 2],)
        ]

    def needs_whole(self) -> bool:
        """Whether an operation is defined only at integers: a sum up to n, (-1)^n, n!!."""
        return any(
            symbols(node) and (is_op(node, *_WHOLE) or _alternates(node)) for node in self.nodes()
        )

    def has_calculus(self) -> bool:
        return any(
            is_op(node, "int") or (is_op(node, "sum") and {*INFINITE} & {*node.args[2:]})
            for node in self.nodes()
        )

    def values(self, point: Point, digits: int = DIGITS) -> tuple[Value, Value] | None:
        """Evaluate both sides at a point; None where one of them has no value there."""
        evaluate = Evaluator(digits, point)
        try:
            return evaluate(self.left), evaluate(self.right)
        except FAILURES:
            return None


def _alternates(node: Node) -> bool:
    """Whether a node is a power such as (-1)^n, which is not real at most exponents."""
    base = rational(node.args[0]) if is_op(node, "^") and symbols(node.args[1]) else None
    return base is not None and base < 0


def leaf(pred: Node, gold: Node) -> bool | None:
    """Compare two scalars; None where they cannot be evaluated."""
    if (verdict := exact_leaf(pred, gold)) is not None:
        return verdict
    pair = ExpressionPair(pred, gold)
    return _identical(pair) if pair.names else _constants(pair)


def _constants(pair: ExpressionPair) -> bool | None:
    values = pair.values({})
    if values is None:
        return False if _undefined(pair.left) and not _undefined(pair.right) else None
    pred_digits, gold_digits = digits_of(pair.left), digits_of(pair.right)
    agree = _agree(pair, {}, values)
    if agree or (pred_digits is None and gold_digits is None):
        return agree
    if any(value.imag for value in values):
        return False
    pred, gold = (_fraction(value) for value in values)
    return equal_numbers(pred, pred_digits, gold, gold_digits)


def _undefined(node: Node) -> bool:
    try:
        Evaluator(DIGITS)(node)
    except FAILURES as error:
        return isinstance(error, Undefined)
    return False


def _fraction(value: Value) -> Fraction:
    sign, mantissa, exponent, _ = value.real._mpf_
    return (-1 if sign else 1) * Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def _agree(pair: ExpressionPair, point: Point, values: tuple[Value, Value]) -> bool | None:
    """Compare two values to thirty digits and, where they agree, to far more."""
    if pair.has_calculus():
        # Integrals and series converge to fewer digits, and 300 digits would take too long.
        settled = CALCULUS_DIGITS - 5
        both_zero = all(bool(abs(value) * 10**settled < 1) for value in values)
        return both_zero or _close(*values, settled)
    if not _near(*values):
        return False
    closer = pair.values(point, MORE_DIGITS)
    if closer is None:
        return None
    if _close(*closer, MORE_DIGITS - DIGITS):
        return True
    # With more digits rounding noise shrinks; a true value, however small, does not change.
    shrunk = all(abs(f) * _BIG <= abs(c) for f, c in zip(closer, values, strict=True))
    return shrunk and bool(max(abs(closer[0]), abs(closer[1])) * 10 ** (MORE_DIGITS - DIGITS) < 1)


def _close(left: Value, right: Value, digits: int) -> bool:
    size = max(abs(left), abs(right))
    return bool(abs(left - right) * 10**digits <= size)


def _near(left: Value, right: Value) -> bool:
    tiny = bool(max(abs(left), abs(right)) * 10 ** (AGREE + 5) < 1)
    return tiny or _close(left, right, AGREE)


def _identical(pair: ExpressionPair) -> bool | None:
    rounded, calculus = _one_is_rounded(pair), pair.has_calculus()
    real = complex_agrees = complex_differs = 0
    for point in pair.points():
        values = pair.values(point)
        if values is None:
            continue
        left, right = map(_is_complex, values)
        if left != right:
            # ln(x²) equals 2 ln x wherever both are real; ln|x| has a larger domain than ln x.
            if _has_modulus(pair.left) != _has_modulus(pair.right):
                return False
            continue
        if left:  # outside the domain of real functions: branches may differ
            near = _close(*values, AGREE)
            complex_agrees, complex_differs = complex_agrees + near, complex_differs + (not near)
            continue
        if rounded:
            verdict = _close(*values, ENOUGH_DIGITS - 1)
        else:
            # The costly comparison to 300 digits is made at one point only.
            thirty = bool(real) and not calculus
            verdict = _near(*values) if thirty else _agree(pair, point, values)
        if verdict is False:
            return False
        real += verdict is True
    if real >= ENOUGH_POINTS:
        return _agree_at_steps(pair)
    if complex_differs and not real:
        return False
    if complex_agrees + real >= ENOUGH_POINTS and not complex_differs:
        return True
    return _whole_identical(pair) if pair.needs_whole() else None


def _agree_at_steps(pair: ExpressionPair) -> bool:
    """Compare step functions at their jumps too: ⌈x⌉ and ⌊x⌋ + 1 differ only at integers."""
    if not any(is_op(n, *_STEPS) and symbols(n) for n in pair.nodes()):
        return True
    mp = CONTEXTS[DIGITS]
    points = (
        {name: mp.mpf(half + 5 * i * (at % 4)) / 2 for i, name in enumerate(pair.names)}
        for at, half in enumerate(range(-14, 20))
    )
    return all(_near(*values) for point in points if (values := pair.values(point)))


def _whole_identical(pair: ExpressionPair) -> bool | None:
    """Compare at integers; functions that integers cannot distinguish are compared as written."""
    opaque = pair
    if any(is_op(node, *_WHOLE) for node in pair.nodes()):
        opaque = ExpressionPair(_opaque(pair.left), _opaque(pair.right))
    found = [values for point in opaque.whole_points() if (values := opaque.values(point))]
    if len(found) < ENOUGH_POINTS:
        return None
    if not all(_near(*values) for values in found):
        return False
    return _agree_between(pair)


def _agree_between(pair: ExpressionPair) -> bool | None:
    """Compare powers of -1 at fractions where they are real: (-1)^{2x} is -1 at a half.

    Without such fractions, agreement at integers proves equality only for integer variables.
    """
    if any(is_op(node, *_WHOLE) for node in pair.nodes()):
        return True
    mp = CONTEXTS[DIGITS]
    points = (
        {name: mp.mpf(over + i * below) / below for i, name in enumerate(pair.names)}
        for below in (2, 3, 4, 6)
        for over in range(1, 2 * below)
        if over % below
    )
    found = [values for point in points if (values := pair.values(point))]
    real = [values for values in found if not any(map(_is_complex, values))]
    if not all(_near(*values) for values in real):
        return False
    return True if real or set(pair.names) <= _INDICES else None


def _opaque(node: Node) -> Node:
    """Replace each call of a ``_BLIND`` function by a variable of its own."""
    if not isinstance(node, Op):
        return node
    if node.name in _BLIND and symbols(node):
        return Sym(f"opaque {node!r}")
    return Op(node.name, tuple(_opaque(arg) for arg in node.args))


def _is_complex(value: Value) -> bool:
    """Whether a value has an imaginary part that is more than rounding noise."""
    return bool(abs(value.imag) * 10 ** (AGREE + 5) > abs(value))


def _has_modulus(node: Node) -> bool:
    return any(is_op(n, "abs") and bool(symbols(n)) for n in walk(node))


def _one_is_rounded(pair: ExpressionPair) -> bool:
    """Whether only one side is written in decimals, each of six digits or more."""
    left, right = (
        [n.digits for n in walk(side) if isinstance(n, Num) and n.digits is not None]
        for side in (pair.left, pair.right)
    )
    return bool(left) != bool(right) and min(left + right) >= ENOUGH_DIGITS


def relate(pred: Node, gold: Node) -> bool | None:
    """Compare two equations or inequalities: one must be the other times a constant."""
    if not (isinstance(pred, Op) and isinstance(gold, Op)) or pred.name != gold.name:
        return False
    if symbols(pred) != symbols(gold):
        return False
    sides = [Op("+", (n.args[0], Op("neg", (n.args[1],)))) for n in (pred, gold)]
    pair = ExpressionPair(*sides)
    ratios: list[Value] = []
    for point in pair.points():
        values = pair.values(point)
        if values is not None and values[1] and not any(map(_is_complex, values)):
            ratios.append(values[0].real / values[1].real)
    if len(ratios) < ENOUGH_POINTS:
        return None
    if not ratios[0] or (pred.name in ("<", "<=") and ratios[0] < 0):
        return False
    if all(_close(ratio, ratios[0], AGREE) for ratio in ratios):
        return True
    return _solved(pred, gold) if pred.name == "=" else False


def _solved(pred: Op, gold: Op) -> bool | None:
    """Compare y = 1/x with xy = 1: substitute the solved form into the other, linear in y."""
    for solved, other in ((pred, gold), (gold, pred)):
        name, value = solved.args
        if isinstance(name, Sym) and name.name not in symbols(value):
            return _linear_solution(name.name, value, other)
    return False


def _linear_solution(name: str, value: Node, other: Op) -> bool | None:
    residual = Op("+", (other.args[0], Op("neg", (other.args[1],))))
    at_value = ExpressionPair(substitute(residual, name, value), Num(Fraction(0)))
    if _identical(at_value) is not True:
        return False
    steps = [substitute(residual, name, Num(Fraction(n))) for n in (0, 1, 2)]
    bend = Op("+", (steps[0], steps[2], Op("*", (Num(Fraction(-2)), steps[1]))))
    straight = _identical(ExpressionPair(bend, Num(Fraction(0)))) is True
    return straight and _identical(ExpressionPair(*steps[:2])) is False


# The tasks of the symbolic tier, run in a worker process: comparisons that need many digits.

_NEAR = 1e-20
"""How close to an integer a value counts as that integer."""
_MOST_BITS = 100
"""Above this, the digits of a value are too few to show whether it is an integer."""


def judge(pred: str, gold: str, *, percent: bool = False) -> Ruling:
    """Compare two answers that exact arithmetic could not decide."""
    left, right = interpret(pred), interpret(gold)
    if left and right:
        same = decide_trees(left, right, Equivalence(leaf, relate, percent))
        if same is not None:
            return Ruling(same, "equal symbolically" if same else "different symbolically")
    return Ruling(None, "the expressions cannot be evaluated")


def is_whole(text: str) -> bool | None:
    """Whether an answer is an integer; None where it has no value, or a huge one."""
    found = [_whole(node) for node in scalars(text)]
    return True if True in found else False if False in found else None


def _whole(node: Node) -> bool | None:
    evaluate = Evaluator(DIGITS)
    try:
        value = evaluate(node)
        if value and evaluate.mp.mag(value) > _MOST_BITS:
            return None
        return bool(abs(value - evaluate.mp.nint(value.real)) < _NEAR)
    except (*FAILURES, RecursionError):
        return None


def _judge(pred: str, gold: str, percent: bool) -> Json:
    ruling = judge(pred, gold, percent=percent)
    return [ruling.same, ruling.why]


if __name__ == "__main__":
    serve({"judge": _judge, "is_whole": is_whole})
