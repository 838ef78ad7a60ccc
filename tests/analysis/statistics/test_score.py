import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hand_made import arm as hand_made

from constraint_first.report.comparison import (
    leads,
    majority_at,
    mean_accuracy,
    mean_of_all,
    pass_at,
    score,
    score_problems,
)
from constraint_first.report.reader import read_file
from constraint_first.report.statistics import wilson
from constraint_first.report.study import Arm


def arm(path: Path, outcomes: Sequence[Sequence[tuple[str | None, bool]]]) -> Arm:
    lines = [
        {"problem": n, "method": "direct", "run": run, "correct": correct, "answer": answer}
        for n, runs in enumerate(outcomes)
        for run, (answer, correct) in enumerate(runs)
    ]
    file = path / "o.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    (found,) = read_file(file).arms
    return found


YES, NO = ("7", True), ("8", False)


def test_one_run_has_a_wilson_interval(tmp_path: Path) -> None:
    found = score(arm(tmp_path, [[YES], [NO], [YES], [YES]]))
    assert found is not None
    assert (found.accuracy, found.problems, found.runs, found.how) == (75.0, 4, 1, "Wilson")
    assert found.interval == tuple(100 * end for end in wilson(3, 4))


def test_several_runs_are_resampled_by_problem(tmp_path: Path) -> None:
    found = score(arm(tmp_path, [[YES, NO], [NO, NO], [YES, YES], [NO, YES]]))
    assert found is not None
    assert (found.accuracy, found.how) == (50.0, "percentile bootstrap")
    assert found.interval == (12.5, 87.5)


def test_problems_that_all_agree_still_leave_doubt(tmp_path: Path) -> None:
    found = score(arm(tmp_path, [[YES, YES]] * 10))
    assert found is not None
    assert found.interval == tuple(100 * end for end in wilson(10, 10))


def test_problems_that_are_counted_are_scored_as_their_arm_is(tmp_path: Path) -> None:
    outcomes = [[YES, NO], [NO, NO], [YES, YES], [NO, YES]] * 5 + [[YES]] * 3
    counted = {(1, 2): 10, (0, 2): 5, (2, 2): 5, (1, 1): 3}
    assert score_problems(counted) == score(arm(tmp_path, outcomes))
    assert score_problems({}) is None


def test_equal_runs_of_a_problem_are_one_observation() -> None:
    found = score_problems({(4, 4): 5, (0, 4): 5})
    assert found is not None
    assert (found.accuracy, found.interval) == (50.0, (20.0, 80.0))


def test_what_is_drawn_does_not_depend_on_the_order_of_problems() -> None:
    runs = (7, 11, 13, 17, 19, 23)
    counted = {(n - 1, n): 2 for n in runs} | {(2, n): 1 for n in runs}
    found = score_problems(counted)
    assert found is not None
    assert found == score_problems(dict(reversed(counted.items())))


def test_pass_at_k_is_unbiased(tmp_path: Path) -> None:
    found = arm(tmp_path, [[YES, NO, NO, NO], [NO, NO, NO, NO], [YES, YES, YES, NO]])
    # Of the six pairs of runs, three, none and six hold a right one.
    assert pass_at(found, 2) == pytest.approx(100 * (3 / 6 + 0 + 6 / 6) / 3)
    assert pass_at(found, 1) == pytest.approx(100 * (1 + 0 + 3) / 12)
    assert pass_at(found, 5) is None


def test_a_majority_is_of_answers_as_they_count(tmp_path: Path) -> None:
    outcomes: list[list[tuple[str | None, bool]]] = [
        [("8", False), ("7", True), ("$7$", True)],
        [("8", False), ("7", True), ("9", False)],  # a tie: the first answer has it
        [(None, False), (None, False), ("7", True)],
        [(None, False), (None, False), (None, False)],
    ]
    assert majority_at(arm(tmp_path, outcomes), 3) == 50.0
    assert majority_at(arm(tmp_path, outcomes), 4) is None


def test_two_runs_are_no_vote(tmp_path: Path) -> None:
    """Where the two differ, the first would win: a matter of the order of the runs alone."""
    outcomes = [[("7", True), ("8", False)], [("8", False), ("7", True)]]
    assert majority_at(arm(tmp_path, outcomes), 2) is None
    assert majority_at(arm(tmp_path, outcomes), 1) == 50.0


def test_nothing_judged_is_no_score(tmp_path: Path) -> None:
    assert score(Arm("b", "direct", "Direct CoT", "m")) is None
    assert majority_at(arm(tmp_path, [[(None, True)]]), 1) is None


def test_run_counts_without_a_common_unit_are_drawn(tmp_path: Path) -> None:
    outcomes = [[YES] * n + [NO] for n in (6, 10, 12, 16, 18, 22, 28, 30, 36, 40, 42, 46)]
    found = score(arm(tmp_path, outcomes))
    assert found is not None
    low, high = found.interval
    assert 85 < low < found.accuracy < high < 100


def test_problems_that_score_alike_have_wilsons_interval(tmp_path: Path) -> None:
    found = score(arm(tmp_path, [[YES, NO]] * 10))
    assert found is not None
    assert (found.how, found.interval) == ("Wilson", tuple(100 * end for end in wilson(5, 10)))


def test_several_arms_are_scored_by_problem() -> None:
    small, large = (
        hand_made("direct", {"1": "+"}),
        hand_made("direct", {str(n): "-" for n in "234"}),
    )
    found = score(small, large)
    assert found is not None
    assert (found.accuracy, found.problems, found.how) == (25.0, 4, "Wilson")


def test_a_mean_over_benchmarks_counts_each_alike() -> None:
    small, large = hand_made("direct", {"1": "++"}), hand_made("direct", {"2": "+-", "3": "---"})
    assert mean_accuracy([small, large]) == 100 * (1 + 0.25) / 2
    assert mean_accuracy([small, None]) is None
    assert mean_accuracy([small, hand_made("direct", {"1": "?"})]) is None


def test_a_mean_needs_all_its_values() -> None:
    assert mean_of_all([1.0, 2.0, 6.0]) == 3.0
    assert mean_of_all([1.0, None]) is None
    assert mean_of_all([]) is None


def test_the_best_is_ahead_of_somebody_and_behind_nobody() -> None:
    low, high = hand_made("a", {"1": "+", "2": "-"}), hand_made("b", {"1": "+", "2": "+"})
    also = hand_made("c", {"1": "+", "2": "+"})
    assert leads(high, [low, high])
    assert not leads(low, [low, high])
    assert leads(also, [low, high, also])
    assert not leads(high, [high, also])  # all alike
    assert not leads(high, [high])
    assert not leads(high, [low, high, hand_made("d", {"1": "-"})])  # it has other problems
    # The same shares in another order may add up to something else.
    shares = ["+--", "+--", "++-", "+" * 7 + "-" * 3, "+" + "-" * 9]
    one, other = (
        hand_made("d", {str(n): marks for n, marks in enumerate(order)})
        for order in (shares, shares[::-1])
    )
    assert not leads(one, [one, other])
