import ast

import pytest

from constraint_first.sandbox.generator import collecting_function, lazy_arguments, lazy_call
from constraint_first.sandbox.worker import run


def expression(source: str) -> ast.expr:
    return ast.parse(source, mode="eval").body


def function(source: str) -> ast.FunctionDef:
    (made,) = ast.parse(source).body
    assert isinstance(made, ast.FunctionDef)
    return made


def printed(source: str) -> str:
    ran = run(source, 10.0, 256 << 20)
    assert ran["error"] == ""
    return str(ran["text"])


def test_a_generator_expression_is_taken_apart() -> None:
    parts = lazy_arguments(expression("(a * b for a, b in pairs if a if b)"))
    assert parts is not None
    written = [ast.unparse(ast.fix_missing_locations(part)) for part in parts]
    assert written == ["pairs", "lambda a, b: a * b", "lambda a, b: a and b", "True"]


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


def test_a_name_may_stand_twice_among_the_targets() -> None:
    assert printed("print(next(a for _, a, _ in [(1, 2, 3)]))") == "2\n"
    assert printed("print(all(a > 1 for _, _, a in [(1, 2, 3)]))") == "True\n"


def test_map_and_filter_of_one_sequence() -> None:
    assert lazy_call(expression("map(f, x)")) is not None
    assert lazy_call(expression("filter(f, x)")) is not None
    assert lazy_call(expression("map(f, x, y)")) is None
    assert lazy_call(expression("other(f, x)")) is None


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
    assert collecting_function(function(source)) is None


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
