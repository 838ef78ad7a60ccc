import numpy as np
import pytest
from calibration_runs import made_runs
from hand_made import arm, costing, study, texts

from constraint_first.constraint.kind import FEATURES
from constraint_first.report.study import by_model
from constraint_first.report.tree import DIRECT, Observations, observe, runs_evidence

PROBLEMS = {"1": "How many?", "2": "What is $2 + 2$?", "3": "Prove it.", "4": "And then?"}
DIRECT_ARM = costing(arm("direct", {"1": "+-", "2": "--", "3": "++"}), (10, 100))
CHECK = costing(arm("check", {"1": "++", "2": "+-", "4": "++"}), (10, 150))


def observed() -> Observations:
    (arms,) = by_model(study(DIRECT_ARM, CHECK, problems=texts(PROBLEMS)))
    known = {("set", name): text for name, text in PROBLEMS.items()}
    return observe(arms, known, "direct", ["check"])


def test_gains_and_tokens_by_problem() -> None:
    data = observed()
    assert data.keys == (("set", "1"), ("set", "2"), ("set", "3"))
    assert data.gains.tolist() == [[50.0], [50.0], [0.0]]
    assert data.judged.tolist() == [[1.0], [1.0], [0.0]]
    assert data.base_tokens.tolist() == [100.0] * 3
    assert data.extra_tokens.tolist() == [[50.0], [50.0], [0.0]]
    assert data.features[:, FEATURES.index("latex")].tolist() == [False, True, False]
    assert data.tokens_known


def test_decisions_are_measured_where_they_were_tried() -> None:
    data = observed()
    found = data.measure(np.array([0, DIRECT, 0]))  # the last was not judged on its problem
    assert found is not None
    assert (found.problems, found.before, found.after, found.gain) == (2, 25.0, 50.0, 25.0)
    assert found.tokens == 1.25
    assert found.interval == (0.0, 50.0)
    alike = data.measure(np.array([0, 0, 0]))
    assert alike is not None
    assert (alike.gain, alike.interval) == (50.0, None)
    assert data.measure(np.array([0, 0, 0]), np.array([False, False, True])) is None


def test_what_has_no_text_or_no_baseline_is_left_out() -> None:
    (arms,) = by_model(study(DIRECT_ARM, CHECK))
    assert observe(arms, {}, "direct", ["check"]).keys == ()
    assert observe(arms, {("set", "1"): "a"}, "missing", ["check"]).keys == ()
    nothing = observe(arms, {("set", "1"): "a"}, "direct", [])
    assert nothing.gains.shape == (1, 0)


def test_families_of_constraintbench_are_told_apart() -> None:
    names = {"odd_sum-1-2026-0": "+", "odd_sum-2-2026-1": "+", "digit-1-2026-2": "+"}
    arms = [
        arm("direct", names, benchmark="constraintbench"),
        arm("direct", {"x-1-2-3": "+", "y-1-2-3": "-"}, benchmark="other"),
    ]
    (found,) = by_model(study(*arms))
    known = {(a.benchmark, name): "text" for a in arms for name in a.attempts}
    data = observe(found, known, "direct", [])
    assert data.families.tolist() == [0, 0, 1, 2, 2]
    assert data.benchmarks.tolist() == [0, 0, 0, 1, 1]


def test_runs_are_known_by_their_outcomes() -> None:
    (arms,) = by_model(made_runs({"check": (0, 0)}, size=3))
    first, second = runs_evidence(arms)
    assert (first.benchmark, first.problems, first.attempts) == ("stories", 3, 12)
    assert first.methods == second.methods == ("direct", "check")
    assert first.sha256 != second.sha256
    (again,) = by_model(made_runs({"check": (0, 0)}, size=3))
    assert runs_evidence(again)[0].sha256 == first.sha256
    (other,) = by_model(made_runs({"check": (0, 0)}, seed=1, size=3))
    assert runs_evidence(other)[0].sha256 != first.sha256


def test_uncounted_tokens_are_no_ratio() -> None:
    (arms,) = by_model(study(arm("direct", {"1": "+"}), arm("check", {"1": "-"})))
    data = observe(arms, {("set", "1"): "text"}, "direct", ["check"])
    assert not data.tokens_known
    found = data.measure(np.array([0]))
    assert found is not None
    assert found.tokens is None
    assert found.gain == pytest.approx(-100)  # pyright: ignore
