"""Generators in other words: the interpreter has none, and would make lists of expressions."""

from __future__ import annotations

import ast
from copy import deepcopy
from typing import Final, cast

from constraint_first.sandbox.prelude import own_name
from constraint_first.sandbox.syntax import changed_names, inside, name, stored_names

_BODY: Final = "_cfr_body"
_FOUND: Final = "_cfr_found"
_MOST: Final = "_cfr_most"


def lazy_arguments(node: ast.expr) -> list[ast.expr] | None:
    """Take a generator expression apart: its items, its value and its condition as functions.

    None where that cannot be done: several loops, names assigned within, targets within targets,
    a name that stands twice among the targets.
    """
    if not isinstance(node, ast.GeneratorExp) or len(node.generators) != 1:
        return None
    (loop,) = node.generators
    star = isinstance(loop.target, ast.Tuple)
    targets = loop.target.elts if isinstance(loop.target, ast.Tuple) else [loop.target]
    names = [target.id for target in targets if isinstance(target, ast.Name)]
    within = [*ast.walk(node.elt), *(part for one in loop.ifs for part in ast.walk(one))]
    if len({*names}) < len(targets) or any(isinstance(part, _ASSIGNS) for part in within):
        return None
    value = _function(names, node.elt)
    if not loop.ifs:
        return [loop.iter, value, ast.Constant(None), ast.Constant(star)]
    condition = loop.ifs[0] if len(loop.ifs) == 1 else ast.BoolOp(ast.And(), loop.ifs)
    return [loop.iter, value, _function(names, condition), ast.Constant(star)]


def lazy_call(node: ast.expr) -> list[ast.expr] | None:
    """Take a call of ``map`` or ``filter`` with one sequence apart in the same way."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return None
    if node.func.id not in ("map", "filter") or len(node.args) != 2 or node.keywords:
        return None
    function, items = node.args
    if node.func.id == "map":
        return [items, function]
    return [items, _function(["_cfr_item"], name("_cfr_item")), function]


_ASSIGNS: Final = ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom


def _function(names: list[str], body: ast.expr) -> ast.Lambda:
    return ast.Lambda(_parameters([ast.arg(one) for one in names]), body)


def _parameters(args: list[ast.arg], defaults: list[ast.expr] | None = None) -> ast.arguments:
    return ast.arguments([], args, None, [], [], None, defaults or [])


def collecting_function(node: ast.FunctionDef) -> ast.FunctionDef | None:
    """Make a generator function one that returns an iterator over what it would have yielded.

    Its body collects so many values and stops; the iterator runs it again, for more, where all of
    them were taken. So it may be endless. None where it is no generator, where it is sent
    something, or where to run it ahead or again could be seen from outside: it prints, or changes
    what is not its own or what it has yielded.
    """
    within = list(inside(node))
    kept = [one.arg for one in ast.iter_child_nodes(node.args) if isinstance(one, ast.arg)]
    yields = [one for one in within if isinstance(one, ast.Yield | ast.YieldFrom)]
    if not yields or any(map(_is_seen, within)) or _shares_changes(within, kept):
        return None
    statements = [one.value for one in within if isinstance(one, ast.Expr)]
    if any(one not in statements for one in yields):
        return None
    body = deepcopy(node)
    collected = [_Collector().visit(one) for one in body.body]
    found = ast.parse(f"{_FOUND} = []").body
    collected = [*found, *_flat(collected), *ast.parse(f"return {_FOUND}", mode="exec").body]
    parameters = _parameters([ast.arg(_MOST), *map(ast.arg, kept)], [name(one) for one in kept])
    inner = _definition(_BODY, parameters, collected)
    made = ast.Attribute(name(own_name("builtins")), "generate", ast.Load())
    returned = ast.Return(ast.Call(made, [name(_BODY)], []))
    whole = _definition(node.name, node.args, [inner, returned])
    whole.decorator_list = node.decorator_list
    return whole


def _definition(called: str, parameters: ast.arguments, body: list[ast.stmt]) -> ast.FunctionDef:
    """Define a function; which fields a definition has depends on the version of Python."""
    made = cast("ast.FunctionDef", ast.parse("def _(): pass").body[0])
    made.name, made.args, made.body = called, parameters, body
    return made


def _is_seen(node: ast.AST) -> bool:
    return isinstance(node, ast.Global | ast.Nonlocal) or (
        isinstance(node, ast.Name) and node.id in ("print", "input")
    )


def _shares_changes(within: list[ast.AST], parameters: list[str]) -> bool:
    own = stored_names(within) - {*parameters}
    yielded = {ast.unparse(one.value) for one in within if isinstance(one, ast.Yield) and one.value}
    changed = {name for one in within for name in changed_names(one)}
    return bool(changed - own or changed & yielded)


def _flat(parts: list[ast.stmt | list[ast.stmt]]) -> list[ast.stmt]:
    return [one for part in parts for one in (part if isinstance(part, list) else [part])]


class _Collector(ast.NodeTransformer):
    """Replaces what is yielded by what is collected, and every return by that of the collection."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
        value = node.value
        if isinstance(value, ast.Yield):
            return _collect(value.value or ast.Constant(None))
        if isinstance(value, ast.YieldFrom):
            item = "_cfr_item"
            body = _collect(name(item))
            return [ast.For(ast.Name(item, ast.Store()), value.value, body, [])]
        return node

    def visit_Return(self, node: ast.Return) -> ast.AST:  # noqa: ARG002
        return ast.Return(name(_FOUND))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node


def _collect(value: ast.expr) -> list[ast.stmt]:
    append = ast.Call(ast.Attribute(name(_FOUND), "append", ast.Load()), [value], [])
    count = ast.Call(name("len"), [name(_FOUND)], [])
    enough = ast.Compare(count, [ast.GtE()], [name(_MOST)])
    return [ast.Expr(append), ast.If(enough, [ast.Return(name(_FOUND))], [])]
