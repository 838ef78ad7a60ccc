"""How a program is rewritten so that the interpreter can run it."""

import ast
import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constraint_first.sandbox import syntax
from constraint_first.sandbox.generator import collecting_function, lazy_arguments, lazy_call
from constraint_first.sandbox.interference import disturbed_generators
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


# --- Generators.


def expression(source: str) -> ast.expr:
    return ast.parse(source, mode="eval").body


def written(node: ast.AST) -> str:
    return ast.unparse(ast.fix_missing_locations(node))


def test_a_generator_expression_is_taken_apart() -> None:
    parts = lazy_arguments(expression("(a * b for a, b in pairs if a if b)"))
    assert parts is not None
    assert [*map(written, parts)] == ["pairs", "lambda a, b: a * b", "lambda a, b: a and b", "True"]


@pytest.mark.parametrize(
    "source",
    [
        "(a for a in b for c in a)",
        "((y := a) for a in b)",
        "(a for a[0] in b)",
        "[a for a in b]",
        "(a for _, a, _ in b)",
    ],
)
def test_what_cannot_be_taken_apart_is_left(source: str) -> None:
    assert lazy_arguments(expression(source)) is None


@pytest.mark.parametrize(
    ("source", "lazy"),
    [("map(f, x)", True), ("filter(f, x)", True), ("map(f, x, y)", False), ("other(f, x)", False)],
)
def test_map_and_filter_of_one_sequence(source: str, *, lazy: bool) -> None:
    assert (lazy_call(expression(source)) is not None) == lazy


@pytest.mark.parametrize(
    "source",
    [
        "def f(): return 1",
        "def f():\n    x = yield 1",
        "def f():\n    print(1)\n    yield 1",
        "def f():\n    global n\n    n += 1\n    yield n",
        "def f():\n    def g():\n        yield 1\n    return g",
        "def f(path):\n    path.append(1)\n    yield path[:]\n    path.pop()",
        "def f(path):\n    path += [1]\n    yield 1",
        "def f():\n    row = []\n    while True:\n        row.append(1)\n        yield row",
        "def f(self):\n    self.n = 1\n    yield 1",
        "def f(seen):\n    seen[1] = 2\n    yield 1",
    ],
)
def test_what_is_no_generator_or_can_be_seen_from_outside_is_left(source: str) -> None:
    (made,) = ast.parse(source).body
    assert isinstance(made, ast.FunctionDef)
    assert collecting_function(made) is None


ENDLESS = "def g(n, *more, step=1):\n    while True:\n        yield n\n        n += step\n"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (f"{ENDLESS}for x in g(5):\n    if x > 7: break\nprint(x)", "8\n"),
        (f"{ENDLESS}a = g(1, step=2)\nprint(next(a), next(a), next(g(9)))", "1 3 9\n"),
        (f"{ENDLESS}print(next(x for x in g(0) if x > 1200))", "1201\n"),
        (f"{ENDLESS}print(any(x > 5 for x in g(0)), all(x < 5 for x in g(0)))", "True False\n"),
        ("def g():\n    yield 1\n    return\n    yield 2\nprint(list(g()), sum(g()))", "[1] 1\n"),
        ("def g():\n    yield\nprint(list(g()))", "[None]\n"),
        # A name may stand twice among the targets.
        ("print(next(a for _, a, _ in [(1, 2, 3)]))", "2\n"),
        ("print(all(a > 1 for _, _, a in [(1, 2, 3)]))", "True\n"),
        ("def g(f=lambda x: x):\n    yield f(3)\nprint(list(g()))", "[3]\n"),
        (
            "def g():\n    found = []\n    for n in range(2, 30):\n"
            "        if all(n % p for p in found):\n            found.append(n)\n"
            "            yield n\nprint(sum(g()))",
            "129\n",
        ),
        ("def g(n):\n    for i in range(n): yield i\nprint(len(list(g(12345))))", "12345\n"),
        (
            "def g(n):\n    if n:\n        yield from g(n - 1)\n        yield n\nprint([*g(3)])",
            "[1, 2, 3]\n",
        ),
    ],
)
def test_generators_may_be_endless_and_are_taken_one_by_one(source: str, text: str) -> None:
    assert printed(source) == text


# --- Generators that whoever takes their values disturbs.


PRIMES = """
primes = []
def gen():
    n = 2
    while True:
        if all(n % p for p in primes):
            yield n
        n += 1
"""
TAKEN = "for p in gen():\n    primes.append(p)\n    if p > 20: break"
CALLED = "def keep(p):\n    primes.append(p)\nfor p in gen():\n    keep(p)"
KEPT = "it = gen()\nwhile len(primes) < 9:\n    primes.append(next(it))"
COMPREHENSION = "found = [primes.append(p) for p in gen()]"
METHOD = """
class Tree:
    def __init__(self):
        self.items = [1]
    def gen(self):
        for x in self.items:
            yield x
t = Tree()
for x in t.gen():
    t.items.append(x)
"""
VARIABLE = "step = 1\ndef gen():\n    yield step\n    yield step\nfor x in gen():\n    step += 1"
HANDED = "def gen(a):\n    for x in a:\n        yield x\nb = [1]\nfor x in gen(b):\n    del b[0]"
TAKERS = [PRIMES + end for end in (TAKEN, CALLED, KEPT, COMPREHENSION)]


@pytest.mark.parametrize("source", [*TAKERS, METHOD, VARIABLE, HANDED])
def test_a_generator_whose_values_depend_on_who_takes_them(source: str) -> None:
    assert disturbed_generators(nodes(source)) == {"gen"}
    assert "yield" in str(run(source, 10.0, 256 << 20)["error"])  # no answer, and no wrong one


@pytest.mark.parametrize(
    "source",
    [
        PRIMES + "print([p for p in gen() if p < 9])",
        "def gen(n):\n    for i in range(n):\n        yield i\nt = 0\nfor i in gen(9):\n    t += i",
        "def gen(a):\n    yield from a\nb, c = [1], []\nfor x in gen(b):\n    c.append(x)",
        "n = 3\ndef gen(n):\n    yield n\nfor x in gen(n):\n    n += 1",
        "def gen():\n    n = 1\n    yield n\nfor n in gen():\n    n += 1",
        "def plain(a):\n    return a\nfor x in plain([1]):\n    pass",
    ],
)
def test_others_are_left_in_peace(source: str) -> None:
    assert disturbed_generators(nodes(source)) == frozenset()


# --- Syntax.


def nodes(source: str) -> list[ast.AST]:
    return list(ast.walk(ast.parse(source)))


@pytest.mark.parametrize(
    ("source", "instead"),
    [("x[1]", "x.pop(1)"), ("x[1:2]", "x[1:2] = []"), ("x", "x = None"), ("x.y", "del x.y")],
)
def test_what_is_deleted_is_popped_cut_out_or_forgotten(source: str, instead: str) -> None:
    (statement,) = ast.parse(f"del {source}").body
    assert isinstance(statement, ast.Delete)
    assert written(syntax.deleted(statement.targets[0])) == instead


def test_what_is_mentioned_and_bound() -> None:
    for source in ("import fractions", "from fractions import x", "a.fractions"):
        assert syntax.mentions(nodes(source), "fractions")
    assert not syntax.mentions(nodes("fractions = 1"), "fractions")
    source = "import a\nfrom b import c as d\ndef e(f, *g): pass\nclass h: pass\ni = j"
    assert syntax.bound_names(nodes(source)) == {*"adefghi"}
    assert syntax.aliases(nodes("import math as m, sys")) == {"m": "math", "sys": "sys"}


@pytest.mark.parametrize(
    ("source", "all_of_it"),
    [("sum(a for a in b)", True), ("','.join(a for a in b)", True), ("next(a for a in b)", False),
     ("sum(b)", False), ("f()(a for a in b)", False)],
)  # fmt: skip
def test_what_takes_all_that_a_generator_has(source: str, all_of_it: bool) -> None:
    call = ast.parse(source, mode="eval").body
    assert isinstance(call, ast.Call)
    assert syntax.takes_all(call) is all_of_it


def test_functions_within_a_function_are_not_entered() -> None:
    (outer,) = ast.parse("def f():\n    a\n    def g():\n        b").body
    found = {node.id for node in syntax.inside(outer) if isinstance(node, ast.Name)}
    assert found == {"a"}


@pytest.mark.parametrize(
    ("source", "changed"),
    [
        ("a.append(1)", {"a"}),
        ("a.b[0].c = 1", {"a"}),
        ("del a[0]", {"a"}),
        ("a += [1]", {"a"}),
        ("heapq.heappush(a, b)", {"a"}),
        ("a = b.copy()", set[str]()),
    ],
)
def test_what_is_changed_in_place(source: str, changed: set[str]) -> None:
    found = nodes(source)
    assert {name for node in found for name in syntax.changed_names(node)} == changed
    assert syntax.stored_names(found) == ({"a"} if source.startswith(("a +", "a =")) else set())
