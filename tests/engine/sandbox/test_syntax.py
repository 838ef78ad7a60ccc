import ast

import pytest

from constraint_first.sandbox import syntax


def written(node: ast.AST) -> str:
    return ast.unparse(ast.fix_missing_locations(node))


def nodes(source: str) -> list[ast.AST]:
    return list(ast.walk(ast.parse(source)))


def test_pieces_are_built() -> None:
    assert written(syntax.assigned("x", syntax.name("y"))) == "x = y"
    assert written(syntax.refused("no x")) == "raise ImportError('no x')"


@pytest.mark.parametrize(
    ("source", "instead"),
    [("x[1]", "x.pop(1)"), ("x[1:2]", "x[1:2] = []"), ("x", "x = None"), ("x.y", "del x.y")],
)
def test_what_is_deleted_is_popped_cut_out_or_forgotten(source: str, instead: str) -> None:
    (statement,) = ast.parse(f"del {source}").body
    assert isinstance(statement, ast.Delete)
    assert written(syntax.deleted(statement.targets[0])) == instead


def test_names_that_a_program_binds() -> None:
    source = "import a\nfrom b import c as d\ndef e(f, *g): pass\nclass h: pass\ni = j"
    assert syntax.bound_names(nodes(source)) == {*"adefghi"}
    assert syntax.aliases(nodes("import math as m, sys")) == {"m": "math", "sys": "sys"}


def test_what_is_mentioned() -> None:
    for source in ("import fractions", "from fractions import x", "a.fractions"):
        assert syntax.mentions(nodes(source), "fractions")
    assert not syntax.mentions(nodes("fractions = 1"), "fractions")


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
