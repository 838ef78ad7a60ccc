"""Whether a program changes what its generators read, while it takes values from them.

What stands for a generator runs ahead of those who take its values. Where they change something
that it reads, a list of primes found so far, say, it would yield other values than in Python.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from constraint_first.sandbox.syntax import called_name, changed_names, inside, stored_names

_Functions = dict[str, list[ast.FunctionDef]]


class _Changes(NamedTuple):
    """Names of objects that are changed in place, and of variables that are set."""

    objects: set[str]
    variables: set[str]

    def add(self, other: _Changes) -> None:
        self.objects.update(other.objects)
        self.variables.update(other.variables)


def disturbed_generators(nodes: Sequence[ast.AST]) -> frozenset[str]:
    """Name the generator functions that read what is changed while their values are taken."""
    functions: _Functions = {}
    for node in nodes:
        if isinstance(node, ast.FunctionDef):
            functions.setdefault(node.name, []).append(node)
    return frozenset(
        name
        for name, defined in functions.items()
        if any(_is_disturbed(one, nodes, functions) for one in defined)
    )


def _is_disturbed(
    function: ast.FunctionDef, nodes: Sequence[ast.AST], functions: _Functions
) -> bool:
    within = list(inside(function))
    if not any(isinstance(one, ast.Yield | ast.YieldFrom) for one in within):
        return False
    changes = _Changes(set(), set())
    for body in _taking(function, nodes):
        changes.add(_changes(body, functions, {function.name}))
    given = {one.arg for one in within if isinstance(one, ast.arg)}
    read = _loaded(within) - given - stored_names(within)
    handed = {one for call in _calls(function.name, nodes) for one in _loaded(ast.walk(call))}
    return bool(read & (changes.objects | changes.variables) or handed & changes.objects)


def _taking(function: ast.FunctionDef, nodes: Sequence[ast.AST]) -> Iterator[Iterable[ast.AST]]:
    """List what is done while values of a generator are taken: bodies of loops over it.

    Where it is kept under a name, any loop of the program may take them.
    """
    name, own, calls = function.name, {*ast.walk(function)}, {*_calls(function.name, nodes)}
    loops = [one for one in nodes if isinstance(one, ast.For | ast.While) and one not in own]
    kept = any(
        isinstance(one, ast.Assign | ast.AnnAssign | ast.NamedExpr) and one.value in calls
        for one in nodes
    )
    for loop in loops:
        if kept or (isinstance(loop, ast.For) and any(_calls(name, ast.walk(loop.iter)))):
            yield loop.body
    for node in nodes:
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp) and any(
            any(_calls(name, ast.walk(one.iter))) for one in node.generators
        ):
            yield [node.elt]


def _calls(name: str, nodes: Iterable[ast.AST]) -> Iterator[ast.Call]:
    calls = (node for node in nodes if isinstance(node, ast.Call))
    return (call for call in calls if called_name(call) == name)


def _changes(body: Iterable[ast.AST], functions: _Functions, seen: set[str]) -> _Changes:
    """Find what statements change, and the functions that they call."""
    nodes = [node for statement in body for node in ast.walk(statement)]
    found = _Changes({name for one in nodes for name in changed_names(one)}, stored_names(nodes))
    called = {called_name(one) for one in nodes if isinstance(one, ast.Call)}
    for name in (called & functions.keys()) - seen:
        seen.add(name)
        for function in functions[name]:
            inner = _changes(function.body, functions, seen)
            shared = {
                one
                for node in ast.walk(function)
                if isinstance(node, ast.Global | ast.Nonlocal)
                for one in node.names
            }
            found.add(_Changes(inner.objects, inner.variables & shared))
    return found


def _loaded(nodes: Iterable[ast.AST]) -> set[str]:
    names = (one for one in nodes if isinstance(one, ast.Name))
    return {one.id for one in names if isinstance(one.ctx, ast.Load)}
