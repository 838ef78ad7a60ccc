import ast

import pytest

from constraint_first.sandbox.interference import disturbed_generators
from constraint_first.sandbox.worker import run

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
    assert disturbed_generators([*ast.walk(ast.parse(source))]) == {"gen"}
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
    assert disturbed_generators([*ast.walk(ast.parse(source))]) == frozenset()
