import ast
import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constraint_first.sandbox.prelude import WHOLE, load, names_in
from constraint_first.sandbox.rewrite import LONGEST, Unreadable, rewrite
from constraint_first.sandbox.worker import run


def printed(source: str) -> str:
    ran = run(source, 10.0, 256 << 20)
    assert ran["error"] == ""
    return str(ran["text"])


@pytest.mark.parametrize(
    "source",
    ["x = 1  # a comment", "for i in range(3):\n  print(i)", "print(sum(i for i in [1]))", "("],
)
def test_what_needs_nothing_is_left_to_the_letter(source: str) -> None:
    assert rewrite(source).source == f"{source}\nNone\n"
    assert rewrite(source).preludes == ()


def test_a_number_that_is_too_long_to_be_written_is_left_as_it_is() -> None:
    source = f"from fractions import Fraction\nx = 0x{'f' * 5_000}"
    assert rewrite(source).source == f"{source}\nNone\n"


@pytest.mark.parametrize(
    "source", ["-" * 50_000 + "1", "x" * (LONGEST + 1), "1+" * 40_000 + "1", "\ud800"]
)
def test_what_is_too_long_or_too_deep_is_refused(source: str) -> None:
    with pytest.raises(Unreadable, match=r"^SyntaxError: "):
        rewrite(source)


@pytest.mark.parametrize(
    ("terms", "error"), [(150, ""), (900, "SyntaxError: Source is too deeply")]
)
def test_a_long_sum_is_rewritten_or_left_to_the_interpreter(terms: int, error: str) -> None:
    ran = run("print(round(" + "+".join(["1"] * terms) + "))", 10.0, 256 << 20)
    assert str(ran["error"]).startswith(error)
    assert ran["text"] == ("" if error else "150\n")


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("import heapq as h\nx = [3, 1]\nh.heapify(x)\nprint(x)", "[1, 3]\n"),
        ("from math import *\nprint(gcd(4, 6), pow(2, 3))", "2 8.0\n"),
        ("a, b = map(int, '1 2'.split())\nprint(a, b)", "1 2\n"),
        ("from string import *\nprint(digits)", "0123456789\n"),
        ("from random import *\nprint(1)", "1\n"),
        (
            "def f():\n    from statistics import mean as m\n    return m([1, 2])\nprint(f())",
            "1.5\n",
        ),
        ("from functools import reduce, cmp_to_key\nprint(reduce(max, [1, 3, 2]))", "3\n"),
        ("x = [1, 2, 3, 4]\ndel x[0], x[1:]\nprint(x)", "[2]\n"),
        ("round = lambda *a: 'mine'\nprint(round(2.675, 2))", "mine\n"),
        ("import sys\nprint(1)\nsys.exit()\nprint(2)", "1\n"),
        ("import sys as s\ns.setrecursionlimit(9999)\nprint(1)", "1\n"),
        ("import sys\nsys.stdout.write('a\\n')", "a\n"),
        ("print(pow(3, -1, 7), pow(3, -2, 7), pow(2, 3))", "5 4 8\n"),
        ("z = zip([1], [2])\nprint(list(z), list(z))", "[(1, 2)] []\n"),
        ("m = map(str, [1, 2])\nprint(next(m))", "1\n"),
        ("print(next(filter(lambda n: n > 4, range(9))), next(map(abs, [-2])))", "5 2\n"),
        ("class A(object):\n    pass\nprint(type(A()).__name__)", "A\n"),
        ("print((5).bit_length(), (5).bit_count(), (2.5).is_integer())", "3 2 False\n"),
    ],
)
def test_what_the_interpreter_lacks_works_all_the_same(source: str, text: str) -> None:
    assert printed(source) == text


def test_a_module_that_is_not_known_is_not_taken_for_an_empty_one() -> None:
    error = run("from numpy import *", 10.0, 256 << 20)["error"]
    assert error == "NotImplementedError: Wildcard imports (`from ... import *`) are not supported"


def test_only_what_is_needed_is_loaded() -> None:
    assert len(rewrite("import heapq").preludes) == 2
    assert len(rewrite("import math").preludes) == 0


@pytest.mark.parametrize("module", sorted(WHOLE))
def test_every_prelude_is_python_and_has_names(module: str) -> None:
    ast.parse(load(module))
    assert names_in(module)


# Among floats of sixteen digits the interpreter spells a few otherwise: 18528560148325.813 is the
# number that CPython writes as 18528560148325.812.
NUMBERS = st.fractions(-(10**6), 10**6, max_denominator=50) | st.integers(-50, 50)


@settings(max_examples=40, deadline=None)
@given(NUMBERS, NUMBERS, st.integers(-4, 4))
def test_fractions_are_those_of_cpython(a: Fraction | int, b: Fraction | int, n: int) -> None:
    terms = [
        "a + b", "a - b", "a * b", "b - a", "-a", "abs(a)", "a == b", "a < b", "a <= b", "a > b",
        "a >= b", "max(a, b)", "sorted([a, b, 0])", "round(a)", "round(a, 1)", "int(a)",
        "math.floor(a)", "math.ceil(a)", "a.numerator", "a.denominator", "float(a)", "bool(a)",
        "hash(a) == hash(a + 0)", "0 <= a < b", "str(a)", "[a]", "not a",
        "(a.limit_denominator(7))",
    ]  # fmt: skip
    terms += ["a / b", "a // b", "a % b", "b ** -2"] if b else []
    terms += [f"a ** {n}"] if a else []
    head = "import math\nfrom fractions import Fraction\n"
    made = f"a, b = Fraction({str(a)!r}), Fraction({str(b)!r})\n"
    known: dict[str, Any] = {"math": math, "a": Fraction(a), "b": Fraction(b)}
    expected = "".join(f"{_in_cpython(term, known)}\n" for term in terms)
    assert printed(head + made + "\n".join(f"print({term})" for term in terms)) == expected


def _in_cpython(term: str, known: dict[str, Any]) -> object:
    return eval(term, dict(known))  # noqa: S307 — terms of the test above


@settings(max_examples=40, deadline=None)
@given(st.floats(-1e6, 1e6), st.integers(0, 6))
def test_rounding_is_that_of_cpython(number: float, digits: int) -> None:
    assert printed(f"print(round({number!r}, {digits}))") == f"{round(number, digits)}\n"
