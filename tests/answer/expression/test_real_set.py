"""Sets of real numbers in their one form."""

import pytest

from constraint_first.answer.canonical import interpret
from constraint_first.answer.exact import as_real_set
from constraint_first.answer.syntax import Op, Sym


@pytest.mark.parametrize(
    ("text", "same"),
    [
        (r"(0,2)\cup(1,3)", "(0,3)"),
        (r"[0,1]\cup[1,2]", "[0,2]"),
        (r"[0,1)\cup(1,2]", r"[0,2]\setminus\{1\}"),
        (r"(0,3)\cap[1,5)", "[1,3)"),
        (r"\mathbb{R}\setminus[-2,3]", r"(3,\infty)\cup(-\infty,-2)"),
        (r"\mathbb{R}\setminus\{\sqrt2\}", r"x\ne\sqrt2"),
        (r"(0,\sqrt2)\cup(1,\pi)", r"(0,\pi)"),
        (r"(0,1)\cap(2,3)", r"\emptyset"),
        (r"\{1\}\cup\{2\}", r"\{1,2\}"),
        (r"(-1,2]\cup\{2\}", "(-1,2]"),
    ],
)
def test_operations_are_worked_out(text: str, same: str) -> None:
    (left,), (right,) = interpret(text), interpret(same)
    assert as_real_set(left) == as_real_set(right) is not None


@pytest.mark.parametrize(
    ("text", "other"),
    [
        (r"(0,1)\cup(1,2)", "(0,2)"),
        (r"(-1,1)\cup\{2\}", "(-1,2]"),
        (r"\mathbb{R}\setminus(-2,3)", r"(-\infty,-2)\cup(3,\infty)"),
    ],
)
def test_open_and_closed_ends_are_kept_apart(text: str, other: str) -> None:
    (left,), (right,) = interpret(text), interpret(other)
    assert as_real_set(left) != as_real_set(right)


def test_ends_of_unknown_order_leave_a_set_as_it_is() -> None:
    close = Op("+", (Sym("pi"), Op("/", (Sym("e"), Op("^", (Sym("pi"), Sym("e")))))))
    assert as_real_set(Op("()", (Sym("a"), Sym("pi")))) is None
    assert as_real_set(Op("()", (Sym("pi"), close))) is not None
    (root,) = interpret(r"(\sqrt{2}+\sqrt{3}, \sqrt{5+2\sqrt{6}})")
    assert as_real_set(root) is None
