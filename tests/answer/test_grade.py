import subprocess
import sys
import threading

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
