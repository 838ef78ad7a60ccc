"""Calibration: from graded runs to a policy."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from calibration_runs import LATEX, STORY, made_runs
from hand_made import arm, costing, study, texts
from simulated import simulate
from snapshot import Golden

from constraint_first.constraint.kind import FEATURES, find_features
from constraint_first.method.policy import Evidence, Policy, Rule, parse_policy, write_policy
from constraint_first.report.calibrate import (
    DIRECT,
    FOLDS,
    Calibration,
    CalibrationError,
    CalibrationPlan,
    Group,
    LearningPlan,
    Observations,
    Tree,
    calibrate,
    decide_held_out,
    folds_by_family,
    folds_by_problem,
    learn,
    observe,
    runs_evidence,
    say_no,
    say_yes,
)
from constraint_first.report.study import Arm, by_model

# Observation.

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


# Learner.


def test_the_best_single_method_is_preferred_unless_a_second_brings_a_point() -> None:
    data = simulate(1, 600, 3, lambda method, _, __: (0.1, 0.3, 0.24)[method])
    found = learn(data, np.arange(600), LearningPlan())
    assert found.groups == (Group((), 1),)
    assert found.points > 20
    assert found.tokens == 1.0

    def effect(method: int, having: set[str], _: int) -> float:
        return (0.4 if ("latex" in having) == (method == 0) else 0.1) if method < 2 else 0.0

    found = learn(simulate(2, 900, 3, effect), np.arange(900), LearningPlan())
    assert {group.decision for group in found.groups} == {0, 1}


def test_tokens_stay_within_their_bound() -> None:
    def effect(method: int, having: set[str], _: int) -> float:
        return 0.5 if "latex" in having else 0.25 if method == 0 else 0.2

    data = simulate(3, 600, 2, effect)
    data.extra_tokens[:, 0] = 600
    free = learn(data, np.arange(600), LearningPlan(most_tokens=None))
    assert free.tokens > 2
    bounded = learn(data, np.arange(600), LearningPlan(most_tokens=1.05))
    assert {group.decision for group in bounded.groups} == {1}
    assert bounded.tokens == 1.0
    data.extra_tokens[:, 1] = 600
    assert learn(data, np.arange(600), LearningPlan(most_tokens=1.05)).tokens <= 1.05


def test_one_benchmark_cannot_spend_what_another_saves() -> None:
    data = simulate(5, 600, 2, lambda method, _, __: 0.4 if method == 0 else 0.3)
    benchmark = np.arange(600) % 3
    data.extra_tokens[:, 0] = np.where(benchmark == 0, 200, -150)  # fewer tokens over all
    data.extra_tokens[:, 1] = -150
    plan = LearningPlan(most_tokens=1.05)
    assert {group.decision for group in learn(data, np.arange(600), plan).groups} == {1}
    few = np.concatenate([np.flatnonzero(benchmark == 0)[:49], np.flatnonzero(benchmark > 0)])
    assert {group.decision for group in learn(data, few, plan).groups} == {0}


# Tree.


def test_few_problems_few_runs_or_a_benchmark_that_loses_say_nothing() -> None:
    def decided(data: Observations, size: int) -> set[int]:
        return {group.decision for group in Tree(data, (0,)).grow(np.arange(size))}

    assert decided(simulate(6, 19, 1, lambda _, __, ___: 1.0), 19) == {DIRECT}
    assert decided(simulate(6, 19, 1, lambda _, __, ___: 1.0), 0) == set()
    data = simulate(7, 300, 1, lambda _, __, ___: 0.5)
    data.judged[120:] = 0
    data.gains[120:] = 0
    assert decided(data, 300) == {DIRECT}  # it was run on less than half
    assert decided(data, 120) == {0}
    data = simulate(4, 900, 1, lambda _, __, benchmark: -0.25 if benchmark == 2 else 0.3)
    assert decided(data, 900) == {DIRECT}  # it is not carried along by the others


# Validation.


def test_problems_are_shared_out_evenly_and_always_alike() -> None:
    data = simulate(1, 103, 1)
    folds = folds_by_problem(data)
    assert np.bincount(folds).tolist() == [21, 21, 21, 20, 20]
    assert (folds_by_problem(data) == folds).all()
    turned = replace(data, keys=data.keys[::-1])
    assert (folds_by_problem(turned) == folds[::-1]).all()


def test_families_stay_whole() -> None:
    names = [f"family{row % 7}-1-2026-{row}" for row in range(70)]
    data = simulate(1, 70, 1)
    data = replace(data, keys=tuple(("constraintbench", name) for name in names))
    folds = folds_by_family(data)
    assert folds is not None
    assert set(folds) == set(range(FOLDS))
    for family in range(7):
        assert len(set(folds[family::7])) == 1


def test_a_problem_is_decided_by_what_the_others_teach() -> None:
    data = simulate(2, 300, 1, lambda _, __, benchmark: 0.5 if benchmark == 0 else 0.4)
    decided = decide_held_out(data, folds_by_problem(data), LearningPlan())
    assert (decided == 0).all()
    alone = np.where(data.benchmarks == 0, 0, 1)
    data = simulate(3, 300, 1, lambda _, __, benchmark: 0.5 if benchmark == 0 else 0.0)
    decided = decide_held_out(data, alone, LearningPlan())
    assert (decided[alone == 0] == DIRECT).all()  # the others gain nothing


# Verdict.

WHOLE = Evidence(2_368, 41.0, 59.2, 18.2, (15.1, 21.3), 0.97)
RULE = Rule(("not latex",), "program", Evidence(1_000, 40.0, 65.0, 25.0, (20.0, 30.0), 0.9))


def test_what_is_said_of_what_was_learnt(golden: Golden) -> None:
    """Yes with what to expect and where from; no with what came nearest and what to do."""
    data = simulate(1, 200, 2)
    nearest = ("method-1", replace(WHOLE, gain=2.0, interval=(-1.0, 5.0)))
    said = [
        say_yes(Policy("m", (RULE,), by_family=replace(WHOLE, gain=12.0)), WHOLE),
        say_yes(Policy("m", (RULE,), by_family=nearest[1]), WHOLE),
        say_yes(Policy("m", (replace(RULE, when=()),)), WHOLE),
        *(say_no(data, nearest), say_no(data, None)),
    ]
    assert "\n\n".join(said) == golden("calibration.txt")


# Calibrate.

RESULTS = Path(__file__).parents[2] / "docs" / "results"


def method_for(made: Calibration, text: str) -> str:
    at = made.policy.choose(find_features(text))
    return made.policy.otherwise if at is None else made.policy.rules[at].method


def test_a_known_best_policy_is_recovered() -> None:
    """Like programs: much gained on stories, at fewer tokens, and nothing on algebra."""
    gains = {"check": (0.3, -0.02), "reminder": (0.05, 0.0), "list-first": (-0.1, -0.1)}
    made = calibrate(made_runs(gains, tokens={"check": 240}))
    assert method_for(made, STORY) == "check"
    assert method_for(made, LATEX) == "direct"
    policy = made.policy
    assert policy.answer.startswith("Yes: on problems like these, expect +")
    assert policy.by_problem is not None
    assert policy.by_problem.interval is not None
    assert policy.by_problem.interval[0] > 0
    assert policy.by_problem.tokens is not None
    assert policy.by_problem.tokens < 1
    (rule,) = policy.rules
    assert rule.evidence is not None
    assert rule.evidence.problems == 200
    assert rule.evidence.gain == pytest.approx(30, abs=8)  # pyright: ignore
    assert rule.held_out == rule.evidence
    assert parse_policy("p", write_policy(policy)) == policy


@pytest.mark.long
def test_noise_leaves_direct_cot_in_nearly_all_cases() -> None:
    gains: dict[str, tuple[float, float]] = {}
    gains |= dict.fromkeys(("check", "reminder", "list-first", "cfr"), (0.0, 0.0))
    left = sum(
        calibrate(made_runs(gains, seed, size=(15, 40, 90)[seed % 3])).recommended
        for seed in range(60)
    )
    assert left <= 3


def test_what_is_too_dear_is_left_where_it_is() -> None:
    runs = made_runs({"check": (0.3, 0.3)}, tokens={"check": 900})
    assert calibrate(runs, _plan(most_tokens=None)).recommended
    assert not calibrate(runs, _plan(most_tokens=1.05)).recommended
    assert not calibrate(runs, _plan(price=100.0, most_tokens=None)).recommended
    assert calibrate(runs, _plan(price=1.0, most_tokens=None)).recommended


def _plan(**learning: float | None) -> CalibrationPlan:
    return CalibrationPlan(LearningPlan(**learning))  # pyright: ignore[reportArgumentType]


def test_a_method_counts_only_where_it_was_run() -> None:
    runs = made_runs({"check": (0.4, 0.0)})
    few = [
        replace(one, attempts=dict(list(one.attempts.items())[:150]))
        if one.method == "check"
        else one
        for one in runs.arms
    ]
    made = calibrate(replace(runs, arms=tuple(few)))
    assert method_for(made, STORY) == "check"
    (rule,) = made.policy.rules
    assert rule.evidence is not None
    assert rule.evidence.problems == 150
    runs = made_runs({"check": (0.4, 0.4)})
    arms = tuple(one for one in runs.arms if (one.method, one.benchmark) != ("check", "algebra"))
    made = calibrate(replace(runs, arms=arms))
    assert (method_for(made, STORY), method_for(made, LATEX)) == ("check", "direct")


def test_conditions_that_an_earlier_rule_makes_needless_are_dropped() -> None:
    """Problems in LaTeX gain where there is a cue or a whole number is asked for."""
    cued, asked = "What is $2 + {n}$ divided by 7? Find the remainder.", "A whole number, $2+{n}$?"
    plain = made_runs({"check": (0.4, 0.4)}, texts=(cued, asked))
    idle = made_runs({"check": (0.0, -0.1)}, seed=1, texts=("What is ${n} + 2$?", LATEX))
    arms = [replace(one, benchmark=f"idle {one.benchmark}") for one in idle.arms]
    texts = {(f"idle {name}", problem): posed for (name, problem), posed in idle.problems.items()}
    runs = replace(plain, arms=(*plain.arms, *arms), problems={**plain.problems, **texts})
    made = calibrate(runs)
    assert [method_for(made, text) for text in (cued, asked)] == ["check", "check"]
    assert method_for(made, "What is ${n} + 2$?") == method_for(made, LATEX) == "direct"
    for earlier, later in pairwise(made.policy.rules):
        assert not {f"not {one}" for one in earlier.when} & {*later.when}


def test_ties_and_few_problems_are_no_evidence() -> None:
    alike = {str(n): "+-" for n in range(50)}
    known = texts({name: STORY.format(n=name) for name in alike})
    tied = calibrate(study(arm("direct", alike), arm("check", alike), problems=known))
    assert tied.policy.answer.startswith("No: ")
    few = {str(n): "-" for n in range(5)}
    better = {str(n): "+" for n in range(5)}
    made = calibrate(study(arm("direct", few), arm("check", better), problems=known))
    assert not made.recommended
    assert any("not counted" in note for note in made.notes)


def test_several_models_are_told_apart() -> None:
    one, other = (made_runs({"check": (0.1, 0.1)}, size=5, model=name) for name in ("a", "b"))
    both = replace(one, arms=one.arms + other.arms)
    with pytest.raises(
        CalibrationError, match=r"several models \(a, b\), .*choose it with --model"
    ):
        calibrate(both)
    assert calibrate(both.only(model=("a",))).policy.model == "a"


def test_one_model_under_two_names_is_one() -> None:
    runs = made_runs({"check": (0.4, 0.4)}, size=60)
    named = {"stories": "Qwen/Small-1B", "algebra": "small-1b-q4_0.gguf"}
    arms = tuple(replace(one, model=named[one.benchmark]) for one in runs.arms)
    made = calibrate(replace(runs, arms=arms))
    assert made.policy.model == "Qwen/Small-1B"
    assert made.recommended
    twice = (*runs.arms, *(replace(one, model="MODEL") for one in runs.arms))
    with pytest.raises(CalibrationError, match=r"several models \(model, MODEL\)"):
        calibrate(replace(runs, arms=twice))


@pytest.mark.parametrize(
    ("arms", "message"),
    [
        ((), "no judged attempts yet; run 'cfr eval' first"),
        ((arm("direct", {"1": "?"}),), "no judged attempts yet"),
        ((arm("check", {"1": "+"}),), "no judged run of Direct CoT, .*--method direct"),
        ((arm("direct", {"1": "+"}),), "no method beside Direct CoT to choose from"),
        ((arm("direct", {"1": "+"}), arm("mine", {"1": "+"})), "no method beside Direct CoT"),
        ((arm("direct", {"1": "+"}), arm("check", {"1": "+"})), "no texts .*--problems"),
    ],
)
def test_runs_that_nothing_can_be_learnt_from(arms: tuple[Arm, ...], message: str) -> None:
    with pytest.raises(CalibrationError, match=message) as caught:
        calibrate(study(*arms))
    assert caught.value.exit_code == 2


def test_texts_may_be_given_and_what_has_none_is_said() -> None:
    runs = made_runs({"check": (0.4, 0.4)}, size=60)
    bare = replace(runs, problems={})
    given = {key: posed.text for key, posed in runs.problems.items() if key[0] == "stories"}
    made = calibrate(bare, CalibrationPlan(texts=given))
    assert made.notes[0].startswith("60 problems without a text left out; --problems")
    assert made.policy.by_problem is not None
    assert made.policy.by_problem.problems == 60


def test_on_the_runs_of_this_repository_nothing_is_certain() -> None:
    made = calibrate(RESULTS / "gpu.jsonl.gz")
    assert made.policy.answer.startswith("No: ")
    assert "The largest by itself is that of reminder, +4.2 points [0.6, 7.7]" in made.policy.answer
    assert made.policy.runs[0].sha256
    assert made.policy.by_problem is not None
    assert made.policy.by_problem.problems == 480  # of the others there are no texts here


def test_methods_may_be_chosen_and_what_cannot_be_made_is_said() -> None:
    runs = made_runs({"check": (0.4, 0.4), "their own": (0.5, 0.5), "reminder": (0.0, 0.0)})
    made = calibrate(runs)
    assert made.notes == ("their own: left out; no method of this name can be made here.",)
    assert method_for(made, STORY) == "check"
    only = calibrate(runs, CalibrationPlan(methods=("reminder",)))
    assert not only.recommended
