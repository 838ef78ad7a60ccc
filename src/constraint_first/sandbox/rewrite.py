"""A program made ready for the interpreter: what it lacks is supplied, or written in other words.

Modules and functions that are missing come from ``prelude``; ``del``, ``yield``, wildcard imports
and generators that must not run ahead are replaced by something that does the same. A program that
needs none of this is left as it is, to the letter. Here is recursion over a tree that a model's
text has shaped: it runs in a worker process, and nowhere else.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, cast

from constraint_first.sandbox.generator import collecting_function, lazy_arguments, lazy_call
from constraint_first.sandbox.interference import disturbed_generators
from constraint_first.sandbox.prelude import WHOLE, load, names_in, own_name
from constraint_first.sandbox.syntax import (
    aliases,
    assigned,
    bound_names,
    deleted,
    mentions,
    name,
    refused,
    takes_all,
)

LONGEST: Final = 100_000
"""Characters of the longest program that is run."""

_PARTLY: Final = ("collections", "functools", "sys")
_FUNCTIONS: Final = frozenset({"callable", "pow", "round"})
_STOPS: Final = frozenset({"all", "any", "next"})
_ITERATORS: Final = frozenset({"enumerate", "filter", "map", "reversed", "zip"})
_LEAVE: Final = frozenset({"exit", "quit"})
_METHODS: Final = frozenset(
    {"as_integer_ratio", "bit_count", "bit_length", "is_integer", "strptime"}
)
# Objects with an order of their own: the interpreter compares only what it knows.
_ORDERED: Final = frozenset({"sorted", "min", "max"})
_PARTS: Final = frozenset({"numerator", "denominator"})
_ORDER_METHODS: Final = frozenset({"__lt__", "__le__", "__gt__", "__ge__", "__bool__"})
_WILD: Final = frozenset(
    "bisect collections datetime decimal functools itertools math random re".split()
)
"""Modules whose names are known, for ``from … import *``."""
_SIGNS: Final[dict[type[ast.cmpop], str]] = {
    ast.Lt: "before",
    ast.LtE: "before_or_same",
    ast.Gt: "after",
    ast.GtE: "after_or_same",
}


class Unreadable(Exception):
    """A program that is not even parsed; the message says why."""


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A program as the interpreter is given it, and what it must have run before."""

    source: str
    preludes: tuple[str, ...] = ()


def rewrite(source: str) -> Rewritten:
    """Prepare a program."""
    if len(source) > LONGEST:
        raise Unreadable(f"SyntaxError: longer than {LONGEST:,} characters")
    try:
        tree = ast.parse(source)
    except SyntaxError:
        # The interpreter has words for it, and knows newer syntax than an old Python does.
        return _complete(source)
    except (RecursionError, MemoryError):
        raise Unreadable("SyntaxError: too deeply nested") from None
    except ValueError as error:
        raise Unreadable(f"SyntaxError: {error}") from None
    try:
        rewriter = _Rewriter(tree)
        changed = rewriter.visit(tree)
        if rewriter.used or rewriter.changed:
            source = ast.unparse(ast.fix_missing_locations(changed))
    except (RecursionError, ValueError):  # too deep for us, or too long a number to be written
        return _complete(source)
    return _complete(source, rewriter.used)


def _complete(source: str, modules: Iterable[str] = ()) -> Rewritten:
    preludes = [load(module) for module in sorted(modules)]
    # The value of a last expression would be handed over whole.
    return Rewritten(f"{source}\nNone\n", (load("module"), *preludes) if preludes else ())


class _Rewriter(ast.NodeTransformer):
    """A walk through a program that replaces what the interpreter lacks."""

    def __init__(self, tree: ast.AST) -> None:
        nodes = list(ast.walk(tree))
        self.used: set[str] = set()
        self.changed = False
        self._read = {node.id for node in nodes if isinstance(node, ast.Name)}
        self._bound = bound_names(nodes)
        self._modules = aliases(nodes)
        self._disturbed = disturbed_generators(nodes)
        self._ordered = bool(self._bound & _ORDER_METHODS) or mentions(nodes, "cmp_to_key")
        self._exact = mentions(nodes, "fractions")
        self._ordered |= self._exact
        for node in nodes:  # math.pow is another function than pow
            if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                self._bound.update(self._wildcard(node.module or ""))

    def _supplied(self, module: str, attribute: str) -> ast.Attribute:
        self.used.add(module)
        return ast.Attribute(name(own_name(module)), attribute, ast.Load())

    def _visited(self, node: ast.expr) -> ast.expr:
        """Rewrite what is inside, and leave the node itself."""
        return cast("ast.expr", self.generic_visit(node))

    def visit_Import(self, node: ast.Import) -> ast.AST | list[ast.stmt]:
        """Have modules that are missing come from the prelude."""
        kept: list[ast.stmt] = []
        for alias in node.names:
            if alias.name in WHOLE:
                self.used.add(alias.name)
                kept.append(assigned(alias.asname or alias.name, name(own_name(alias.name))))
            else:
                kept.append(ast.Import([alias]))
        return kept if any(isinstance(one, ast.Assign) for one in kept) else node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | list[ast.stmt]:
        """Have names that are missing come from the prelude, and spell a wildcard out."""
        module, names = node.module or "", node.names
        if names[0].name == "*":
            if module not in WHOLE | _WILD:
                return node
            self.changed = True
            names = [ast.alias(one) for one in self._wildcard(module)]
        here = names_in(module) if module in WHOLE or module in _PARTLY else frozenset[str]()
        ours = [alias for alias in names if alias.name in here]
        missing = [alias for alias in names if module in WHOLE and alias.name not in here]
        rest = [alias for alias in names if alias not in ours and alias not in missing]
        statements: list[ast.stmt] = [ast.ImportFrom(module, rest, node.level)] if rest else []
        for alias in ours:
            value = self._supplied(module, alias.name)
            statements.append(assigned(alias.asname or alias.name, value))
        for alias in missing[:1]:
            self.changed = True
            statements.append(refused(f"cannot import name {alias.name!r} from {module!r}"))
        return statements or ast.Pass()

    def _wildcard(self, module: str) -> list[str]:
        if module in WHOLE or module not in _WILD:
            return sorted(names_in(module) & self._read) if module in WHOLE else []
        known = {one for one in dir(importlib.import_module(module)) if one[0] != "_"}
        return sorted(known & self._read)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Have attributes of modules that are missing come from the prelude."""
        module = self._modules.get(node.value.id) if isinstance(node.value, ast.Name) else None
        if module in _PARTLY and node.attr in names_in(module):
            return self._supplied(module, node.attr)
        if node.attr == "write" and ast.unparse(node.value) == "sys.stdout":
            return self._supplied("sys", "write")
        if self._exact and node.attr in _PARTS and isinstance(node.ctx, ast.Load):
            self.generic_visit(node)
            return ast.Call(self._supplied("builtins", node.attr), [node.value], [])
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Have built-in functions that are missing or differ come from the prelude."""
        if node.id in self._bound or not isinstance(node.ctx, ast.Load):
            return node
        if node.id in _FUNCTIONS or (self._ordered and node.id in _ORDERED):
            return self._supplied("builtins", node.id)
        return self._supplied("sys", "exit") if node.id in _LEAVE else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Have methods that are missing come from the prelude; see to generators in brackets."""
        called = node.func.id if isinstance(node.func, ast.Name) else ""
        if called in _STOPS and called not in self._bound and node.args:
            self._stop_early(node, called)
        if takes_all(node):
            # It takes all that there is, so a generator may as well run ahead.
            node.func = self.visit(node.func)
            node.keywords = [self.visit(keyword) for keyword in node.keywords]
            node.args = [self._visited(argument) for argument in node.args]
            return node
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute):
            return self._method(node, node.func)
        if called == "bool" and self._ordered and len(node.args) == 1:
            return self._truth(node.args[0])
        return node

    def _stop_early(self, node: ast.Call, called: str) -> None:
        """See that what need not take all that there is does not."""
        first = node.args[0]
        if called == "next" and (lazy := lazy_call(first)):
            node.args[0] = ast.Call(self._supplied("builtins", "lazy"), lazy, [])
        elif called != "next" and (lazy := lazy_arguments(first)):
            node.func, node.args = self._supplied("builtins", called), lazy

    def _method(self, node: ast.Call, function: ast.Attribute) -> ast.AST:
        called = function.attr
        wanted = called in _METHODS or (called == "sort" and self._ordered)
        if not wanted or called in self._bound:
            return node
        arguments = [function.value, *node.args]
        return ast.Call(self._supplied("builtins", called), arguments, node.keywords)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        """Keep a generator from running ahead: the interpreter makes a list of it."""
        lazy = lazy_arguments(node)
        self.changed = True
        if lazy is None:
            return ast.Call(name("iter"), [self._visited(node)], [])
        return self.generic_visit(ast.Call(self._supplied("builtins", "lazy"), lazy, []))

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """Compare objects that have an order of their own."""
        self.generic_visit(node)
        signs = [_SIGNS[type(sign)] for sign in node.ops if type(sign) in _SIGNS]
        if not self._ordered or len(signs) < len(node.ops):
            return node
        if len(signs) == 1:
            compared = [node.left, *node.comparators]
            return ast.Call(self._supplied("builtins", signs[0]), compared, [])
        arguments = [node.left]
        for sign, right in zip(signs, node.comparators, strict=True):
            arguments += [self._supplied("builtins", sign), right]
        return ast.Call(self._supplied("builtins", "compare"), arguments, [])

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        """Ask an object for its truth before it is negated."""
        self.generic_visit(node)
        if self._ordered and isinstance(node.op, ast.Not):
            node.operand = self._truth(node.operand)
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        """Ask an object for its truth."""
        return self._tested(node)

    def visit_While(self, node: ast.While) -> ast.AST:
        """Ask an object for its truth."""
        return self._tested(node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """Ask an object for its truth."""
        return self._tested(node)

    def _tested(self, node: ast.If | ast.While | ast.IfExp) -> ast.AST:
        plain = isinstance(node.test, ast.Compare | ast.Constant | ast.UnaryOp)
        self.generic_visit(node)
        if self._ordered and not plain:
            node.test = self._truth(node.test)
        return node

    def _truth(self, value: ast.expr) -> ast.expr:
        return ast.Call(self._supplied("builtins", "truth"), [value], [])

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """Keep what is an iterator from being a list, which could be gone through twice."""
        self.generic_visit(node)
        made = node.value.func if isinstance(node.value, ast.Call) else None
        if isinstance(made, ast.Name) and made.id in _ITERATORS - self._bound:
            self.changed = True
            node.value = ast.Call(name("iter"), [node.value], [])
        return node

    def visit_Delete(self, node: ast.Delete) -> ast.AST | list[ast.stmt]:
        """Write ``del`` in other words: what is deleted is popped, cut out or forgotten."""
        self.generic_visit(node)
        self.changed = True
        return [deleted(target) for target in node.targets]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Make a generator function one that returns all that it would have yielded."""
        self.generic_visit(node)
        made = None if node.name in self._disturbed else collecting_function(node)
        if made:
            self.used.add("builtins")
        return made or node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Leave out what every class inherits from."""
        self.generic_visit(node)
        kept = [b for b in node.bases if not (isinstance(b, ast.Name) and b.id == "object")]
        self.changed |= len(kept) < len(node.bases)
        node.bases = kept
        return node
