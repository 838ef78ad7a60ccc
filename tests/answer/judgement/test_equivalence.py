"""The rules for structures, where the policies are."""

import pytest

from constraint_first.answer.grade import decide


@pytest.mark.parametrize(
    ("pred", "gold", "same"),
    [
        ("(2,1)", "(1,2)", False),
        ("2,1", "1,2", True),
        ("2,1", "(1,2)", False),
        ("1,2", "(1,2)", True),
        ("y=2, x=1", "x=1, y=2", True),
        ("x=2, y=1", "x=1, y=2", False),
        ("y=2, x=1", "(1,2)", True),
        ("2, 1", "x=1, y=2", False),
        ("[1,2]", "(1,2)", False),
        ("[1,2)", "(1,2]", False),
        (r"(-\infty,1]", r"[-\infty,1]", True),
        (r"(0,1)\cup(2,3)", r"(2,3)\cup(0,1)", True),
        ("1,1,2", "1,2,2", False),
        (r"\{1,1,2\}", r"\{1,2\}", True),
        ("5", r"\{5\}", True),
        ("(1,2)", r"\{1,2\}", False),
        ("(1,2]", "1,2", False),
        ("{1,2}", "(1,2)", True),
        ("{2,1}", "(1,2)", False),
        ("{2,1}", r"\{1,2\}", True),
        ("10:30 am", "1:3", False),
        ("5", "(5,6)", False),
        ("x=5", "y=5", False),
        ("f(t)=2", "f(x)=2", True),
        ("g(x)=2", "f(x)=2", False),
        ("52_8", "52", False),
        ("52", "52_8", True),
        ("42", "52_8", False),
        ("52_9", "52_8", False),
        ("51", "52_8", False),
        ("53, 52", "52_8, 53_8", True),
        ("2*(1,2)", "(2,4)", True),
        ("2(1,2)", "(2,2)", False),
        ("-(1,2)", "(-1,-2)", True),
        ("(2,4)/2", "(1,2)", True),
        ("2*3*(1,2)*5", "(30,60)", True),
        (r"\frac12\begin{pmatrix}2\\4\end{pmatrix}", r"\begin{pmatrix}1\\2\end{pmatrix}", True),
        (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\frac12\begin{pmatrix}2\\4\end{pmatrix}", True),
        (r"\frac12\begin{pmatrix}2\\4\end{pmatrix}", r"\begin{pmatrix}1\\4\end{pmatrix}", False),
        (r"-\begin{pmatrix}1&2\end{pmatrix}", r"\begin{pmatrix}-1&-2\end{pmatrix}", True),
        ("(1,2)*(3,4)", "(3,8)", False),
        ("3:2", "6:4", True),
        ("12:00", "1:00", False),
        ("12:05 pm", "12:05", True),
        ("12+5", "12:05", False),
        ("x>2 and x<5", "(2,5)", True),
        ("x<2 or x>5", r"(-\infty,2)\cup(5,\infty)", True),
        ("-2x < 4", "x > -2", True),
        (r"\mathbb{R}\setminus\{2\}", r"x \neq 2", True),
        (r"\mathbb{R}\setminus\{2, -1\}", r"(-\infty,-1)\cup(-1,2)\cup(2,\infty)", True),
        (r"\mathbb{R}\setminus\{2\}", r"x \neq 3", False),
        (r"(\pm 1, 2)", "(1,2),(-1,2)", True),
        (r"\begin{pmatrix}1\\2\end{pmatrix}", "(1,2)", True),
        (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{pmatrix}1&2\end{pmatrix}", False),
    ],
)
def test_order_brackets_and_names(pred: str, gold: str, same: bool) -> None:
    assert decide(pred, gold).same is same


@pytest.mark.parametrize(
    ("pred", "gold", "problem_asks", "same"),
    [
        ("10%", "10%", False, True),
        ("10%", "0.1", False, True),
        ("0.1", "10%", False, True),
        ("10", "10%", False, True),
        ("10%", "10", False, False),
        ("10%", "10", True, True),
        ("0.1", "10", True, False),
        ("1", "10%", True, False),
    ],
)
def test_percentages(pred: str, gold: str, problem_asks: bool, same: bool) -> None:
    assert decide(pred, gold, percent=problem_asks).same is same


@pytest.mark.parametrize(
    ("pred", "gold", "same"),
    [
        ("5", "5 cm", True),
        ("5 cm", "5", True),
        ("5 centimetres", "5 cm", True),
        ("5 cm", "5 kg", False),
        ("5 cm^2", "5 cm", False),
        ("5 square cm", r"5\text{ cm}^2", True),
        ("$5", "5 dollars", True),
        (r"5\text{ m}", "5", True),
        (r"5\text{ m}", r"5\text{ cm}", False),
        (r"5\,\mathrm{m}^2", r"5\text{ m}", False),
        ("5m", "5", False),
        ("$5", "5 euros", False),
        ("20 m/s", "20 km/h", False),
        ("7 apples", "7 oranges", False),
        ("5 million", "5", False),
        ("2.5 million dollars", "2500000", True),
        ("a rectangle", "A", False),
    ],
)
def test_units_may_be_missing_never_wrong(pred: str, gold: str, same: bool) -> None:
    assert bool(decide(pred, gold).same) is same
