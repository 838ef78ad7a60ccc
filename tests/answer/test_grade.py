import subprocess
import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.answer import exact
from constraint_first.answer.extract import extract
from constraint_first.answer.grade import (
    MAX_LENGTH,
    Equivalence,
    GradingCase,
    Ruling,
    Verdict,
    decide,
    decide_trees,
    grade,
    grade_all,
    grade_each,
    grade_reply,
)
from constraint_first.answer.value import interpret
from constraint_first.answer.workers import Workers

# --- grade


def test_a_verdict_says_who_decided_and_why() -> None:
    verdict = grade_reply(r"So \boxed{\frac{1}{2}}.", "0.5")
    assert (verdict.verdict, verdict.tier, verdict.answer) == ("correct", "exact", r"\frac{1}{2}")
    assert verdict.correct
    assert verdict.why
    assert verdict.seconds >= 0


@pytest.mark.parametrize(
    ("pred", "gold", "verdict", "tier"),
    [
        ("x+1", "1+x", "correct", "symbolic"),
        ("x+2", "1+x", "incorrect", "symbolic"),
        (None, "5", "incorrect", "exact"),
        (r"\mystery{5}", "5", "incorrect", "exact"),
        ("5", r"\int_0^1 \mystery dx", "undecided", "exact"),
        ("(" * 2000 + "5" + ")" * 2000, "5", "undecided", "exact"),
    ],
)
def test_each_outcome(pred: str | None, gold: str, verdict: str, tier: str) -> None:
    result = grade(pred, gold)
    assert (result.verdict, result.tier) == (verdict, tier)


def test_a_dead_worker_makes_undecided() -> None:
    with Workers(1, ("-c", "import sys; print('ready', flush=True); input(); sys.exit(1)")) as dead:
        verdict = grade("x+1", "1+x", workers=dead)
    assert (verdict.verdict, verdict.tier) == ("undecided", "symbolic")
    assert not verdict.correct


def test_the_problem_tells_whether_a_percentage_is_asked_for() -> None:
    assert not grade("10%", "10").correct
    assert grade("10%", "10", "What percent of the children like tea?").correct
    assert grade("10%", r"So the share is $\boxed{10}$ percent.").correct


def test_the_problem_tells_variables_from_units() -> None:
    problem = "A cone has the height $h$ and $x$. What is its volume?"
    verdict = grade(r"6\text{h}", "6", problem)
    assert (verdict.verdict, verdict.answer) == ("incorrect", r"6\text{h}")
    assert grade(r"x\text{h} + x", "x(1 + h)", problem).correct
    assert grade(r"6\text{h}", "6").correct


def test_a_truncated_completion_has_no_implicit_answer() -> None:
    text = "Adding up, the total is 11."
    assert grade_reply(text, "11").correct
    assert not grade_reply(text, "11", truncated=True).correct


def test_boxes_side_by_side_are_one_list_and_no_hedge() -> None:
    assert grade_reply(r"The roots are \boxed{1} and \boxed{2}.", "2, 1").correct
    assert not grade_reply(r"It is \boxed{1} or \boxed{2}.", "2").correct
    assert grade_reply(r"It is \boxed{2}, $\boxed{2}$.", "2").correct
    assert grade_reply(r"Not \boxed{1}. It is \boxed{2}.", "2").correct
    assert not grade_reply(r"Not \boxed{1}. It is \boxed{2}.", "1, 2").correct


def test_a_bare_answer_is_judged_as_it_stands() -> None:
    sentence = "The answer is 5."
    assert grade_reply(sentence, "5").correct
    verdict = grade(sentence, "5")
    assert (verdict.verdict, verdict.answer) == ("incorrect", sentence)
    assert grade("2+3=5", "5").correct
    assert not grade("  ", "5").correct


def test_none_is_an_answer_where_it_is_the_gold_answer() -> None:
    assert extract("None").answer is None
    assert not grade_reply("I don't know.", "5").correct
    assert grade_reply("None.", "none").correct
    assert not grade_reply("None", "5").correct
    assert not grade_reply(None, "none").correct


CASES = [
    *(GradingCase(f"{n}+x", f"x+{n % 5}") for n in range(40)),
    *(GradingCase("7", "7"), GradingCase(None, "7")),
]
EXPECTED = ["correct"] * 5 + ["incorrect"] * 35 + ["correct", "incorrect"]


async def test_a_batch_keeps_its_order() -> None:
    verdicts = await grade_all(CASES)
    assert [verdict.verdict for verdict in verdicts] == EXPECTED


def test_a_stream_keeps_its_order() -> None:
    assert [verdict.verdict for verdict in grade_each(iter(CASES))] == EXPECTED


def test_it_works_outside_the_main_thread() -> None:
    found: list[Verdict] = []
    thread = threading.Thread(target=lambda: found.append(grade("2x", "x+x")))
    thread.start()
    thread.join()
    assert found[0].correct


def test_the_exact_tier_imports_no_library() -> None:
    script = (
        "import sys\nfrom constraint_first.answer import grade_reply\n"
        "assert grade_reply(r'\\boxed{\\frac12}', '0.5').correct\n"
        "heavy = {'sympy', 'mpmath', 'math_verify', 'asyncio', 'subprocess'} & set(sys.modules)\n"
        "print(sorted(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stdout.decode().strip() == "[]"


# --- tier


CONE = "A cone has the height $h$. What is its volume?"


@pytest.mark.parametrize(
    ("pred", "gold", "why"),
    [
        ("42", "42", "equal as integers"),
        ("+042", "42", "equal as integers"),
        ("-0", "0", "equal as integers"),
        (" 42 ", "42", "equal as integers"),
        ("41", "42", "different as integers"),
        ("-42", "42", "different as integers"),
        ("x + y", "x + y", "the same text"),
        ("B", "(B)", "equal as choices"),
        ("C", "(B)", "different as choices"),
        ("True", "yes", "equal as yes or no"),
        ("no", "yes", "different as yes or no"),
        ("1/2", "0.5", "equal by exact arithmetic"),
        ("1/3", "0.5", "different by exact arithmetic"),
        ("1, 2", r"\{2, 1\}", "equal by exact arithmetic"),
        ("x > 3", r"(3, \infty)", "equal by exact arithmetic"),
        ("The Pacific Ocean", "pacific ocean", "equal as words"),
        ("the atlantic ocean", "pacific ocean", "different as words"),
        (r"\foo ^ 2", r"\foo^2.", "the same text but for spacing"),
        ("east of Eden", "17", "the answer cannot be read as mathematics"),
    ],
)
def test_what_it_is_sure_of(pred: str, gold: str, why: str) -> None:
    ruling = decide(pred, gold)
    assert ruling == Ruling("different" not in why and "cannot" not in why, why)


@pytest.mark.parametrize(
    ("pred", "gold"), [(r"\sqrt{8}", r"2\sqrt{2}"), ("2x", "x+x"), (r"\sin 1", "0.841471")]
)
def test_what_needs_values_is_left_to_the_other_tier(pred: str, gold: str) -> None:
    assert decide(pred, gold) == Ruling(None, "not decided by exact arithmetic")


def test_what_nobody_can_read_is_not_passed_on() -> None:
    unread = decide("5", r"\foo^2")
    assert (unread.same, unread.readable) == (None, False)
    long = decide("x" * (MAX_LENGTH + 1), "5")
    assert long == Ruling(None, "too long to be read as mathematics", readable=False)
    assert decide("9" * 1_000_000, "9" * 1_000_000).same is True
    assert decide("9" * 1_000_000, "8" * 1_000_000).same is False


def test_any_way_to_read_both_that_matches_counts() -> None:
    arithmetic = Equivalence(exact.leaf, lambda _pred, _gold: None, percent=False)
    thousand, listed = interpret("1,234")
    assert decide_trees([thousand, listed], interpret("1234"), arithmetic) is True
    assert decide_trees([listed, thousand], interpret("1234"), arithmetic) is True
    assert decide_trees([listed], interpret("1234"), arithmetic) is False


ANSWERS = st.text(max_size=30) | st.text(r"0123456789,.()[]{}\xy=<>±-+/% ", max_size=20)


@given(ANSWERS)
def test_an_answer_is_itself(text: str) -> None:
    assert decide(text, text).same is True


@given(ANSWERS, ANSWERS)
def test_every_two_texts_have_a_ruling(pred: str, gold: str) -> None:
    ruling = decide(pred, gold)
    assert ruling.same in (True, False, None)
    assert ruling.why
    assert ruling == decide(pred, gold)
    assert ruling.readable or ruling.same is None


@given(st.integers(), st.integers())
def test_integers_are_compared_by_value(pred: int, gold: int) -> None:
    assert decide(str(pred), f"{gold:+}").same is (pred == gold)
    assert decide(f"{pred:,}", str(gold)).same is (pred == gold)


# --- equivalence


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
