"""Small pieces of syntax trees: built, and looked for."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Final

_TAKE_ALL: Final = frozenset(
    "Counter deque dict frozenset len list max min set sorted sum tuple extend join update".split()
)
_CHANGES: Final = frozenset(
    "add append appendleft clear discard extend insert pop popitem popleft remove reverse sort"
    " setdefault update".split()
)
_CHANGE_FIRST: Final = frozenset("heapify heappop heappush heapreplace insort shuffle".split())
"""Functions that change their first argument."""
_Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef


def name(identifier: str) -> ast.Name:
    """Read a variable."""
    return ast.Name(identifier, ast.Load())


def assigned(identifier: str, value: ast.expr) -> ast.Assign:
    """Set a variable."""
    return ast.Assign([ast.Name(identifier, ast.Store())], value)


def refused(why: str) -> ast.Raise:
    """Raise an ImportError."""
    return ast.Raise(ast.Call(name("ImportError"), [ast.Constant(why)], []))


def deleted(target: ast.expr) -> ast.stmt:
    """Write ``del`` in other words: an item is popped, a slice cut out, a variable forgotten."""
    if isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Slice):
        popped = ast.Call(ast.Attribute(target.value, "pop", ast.Load()), [target.slice], [])
        return ast.Expr(popped)
    if isinstance(target, ast.Subscript):
        cut = ast.Subscript(target.value, target.slice, ast.Store())
        return ast.Assign([cut], ast.List([], ast.Load()))
    if isinstance(target, ast.Name):
        return assigned(target.id, ast.Constant(None))
    return ast.Delete([target])


def bound_names(nodes: Iterable[ast.AST]) -> set[str]:
    """List all that a program itself gives a name to."""
    bound: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.alias):
            bound.add(node.asname or node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
    return bound


def stored_names(nodes: Iterable[ast.AST]) -> set[str]:
    """List the variables that are set."""
    names = (one for one in nodes if isinstance(one, ast.Name))
    return {one.id for one in names if isinstance(one.ctx, ast.Store)}


def changed_names(node: ast.AST) -> Iterator[str]:
    """Name the object that a piece of a program changes in place."""
    if changed := _changed(node):
        yield ast.unparse(changed).partition(".")[0].partition("[")[0]


def _changed(node: ast.AST) -> ast.expr | None:
    if isinstance(node, ast.Subscript | ast.Attribute):
        called = isinstance(node, ast.Attribute) and node.attr in _CHANGES
        return node.value if called or not isinstance(node.ctx, ast.Load) else None
    if isinstance(node, ast.AugAssign) and isinstance(node.value, ast.List | ast.ListComp):
        return node.target
    if isinstance(node, ast.Call) and node.args and called_name(node) in _CHANGE_FIRST:
        return node.args[0]
    return None


def called_name(call: ast.Call) -> str:
    """Return the name of the function or method that is called; empty where it has none."""
    if isinstance(call.func, ast.Name):
        return call.func.id
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def aliases(nodes: Iterable[ast.AST]) -> dict[str, str]:
    """Find which variable is which module."""
    imports = (node for node in nodes if isinstance(node, ast.Import))
    return {one.asname or one.name: one.name for node in imports for one in node.names}


def mentions(nodes: Iterable[ast.AST], word: str) -> bool:
    """Say whether a program imports a name or a module, or reads an attribute of that name."""
    return any(
        (isinstance(node, ast.alias) and node.name == word)
        or (isinstance(node, ast.ImportFrom) and node.module == word)
        or (isinstance(node, ast.Attribute) and node.attr == word)
        for node in nodes
    )


def takes_all(call: ast.Call) -> bool:
    """Say whether a call takes all that the generator in its brackets has."""
    if len(call.args) != 1 or not isinstance(call.args[0], ast.GeneratorExp):
        return False
    return called_name(call) in _TAKE_ALL


def inside(node: ast.AST) -> Iterator[ast.AST]:
    """Walk through a function, but not into functions and classes within it."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, _Scope):
            yield from inside(child)
