import subprocess
import sys
import threading

import pytest

from cfr.answer import Case, Verdict, grade, grade_all, grade_each
from cfr.answer.judgement.workers import Workers


def test_a_verdict_says_who_decided_and_why() -> None:
    verdict = grade(r"So \boxed{\frac{1}{2}}.", "0.5")
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
        ("I don't know.", "5", "incorrect", "exact"),
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


def test_a_truncated_completion_has_no_implicit_answer() -> None:
    text = "Adding up, the total is 11."
    assert grade(text, "11").correct
    assert not grade(text, "11", truncated=True).correct


def test_several_boxes_are_a_list_only_where_the_gold_is_one() -> None:
    assert grade(r"The roots are \boxed{1} and \boxed{2}.", "2, 1").correct
    assert grade(r"Not \boxed{1}. It is \boxed{2}.", "2").correct
    assert not grade(r"Not \boxed{1}. It is \boxed{2}.", "1, 2").correct


CASES = [Case(f"{n}+x", f"x+{n % 5}") for n in range(40)] + [Case("7", "7"), Case(None, "7")]
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
        "import sys\nfrom cfr.answer import grade\n"
        "assert grade(r'\\boxed{\\frac12}', '0.5').correct\n"
        "heavy = {'sympy', 'mpmath', 'math_verify', 'asyncio', 'subprocess'} & set(sys.modules)\n"
        "print(sorted(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stdout.decode().strip() == "[]"
