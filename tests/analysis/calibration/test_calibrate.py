from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from calibration_runs import LATEX, STORY, made_runs
from hand_made import arm, study, texts

from constraint_first.constraint.kind import find_features
from constraint_first.method.policy import parse_policy, write_policy
from constraint_first.report.calibrate import (
    Calibration,
    CalibrationError,
    CalibrationPlan,
    calibrate,
)
from constraint_first.report.study import Arm, Study
from constraint_first.report.tree import LearningPlan

RESULTS = Path(__file__).parents[3] / "docs" / "results"


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


def test_each_kind_of_problem_has_its_own_method() -> None:
    made = calibrate(made_runs({"check": (0.4, -0.1), "reminder": (-0.1, 0.4)}))
    assert (method_for(made, STORY), method_for(made, LATEX)) == ("check", "reminder")


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


def test_unequal_sets_of_problems_are_paired_where_both_have_them() -> None:
    runs = made_runs({"check": (0.4, 0.0)})
    cut = [
        replace(one, attempts=dict(list(one.attempts.items())[:150]))
        if one.method == "check"
        else one
        for one in runs.arms
    ]
    made = calibrate(replace(runs, arms=tuple(cut)))
    assert method_for(made, STORY) == "check"
    (rule,) = made.policy.rules
    assert rule.evidence is not None
    assert rule.evidence.problems == 150


def test_a_method_is_not_used_where_it_was_not_run() -> None:
    runs = made_runs({"check": (0.4, 0.4)})
    arms = tuple(one for one in runs.arms if (one.method, one.benchmark) != ("check", "algebra"))
    made = calibrate(replace(runs, arms=arms))
    assert method_for(made, STORY) == "check"
    assert method_for(made, LATEX) == "direct"


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


def test_methods_may_be_chosen_and_what_cannot_be_made_is_said() -> None:
    runs = made_runs({"check": (0.4, 0.4), "their own": (0.5, 0.5), "reminder": (0.0, 0.0)})
    made = calibrate(runs)
    assert made.notes == ("their own: left out; no method of this name can be made here.",)
    assert method_for(made, STORY) == "check"
    only = calibrate(runs, CalibrationPlan(methods=("reminder",)))
    assert not only.recommended


def real() -> Study:
    from constraint_first.report.reader import open_study

    return open_study([RESULTS / "gpu.jsonl.gz"])


def test_on_the_runs_of_this_repository_nothing_is_certain() -> None:
    made = calibrate(real(), CalibrationPlan(command="cfr calibrate", made="2026-11-15"))
    assert made.policy.answer.startswith("No: ")
    assert "The largest by itself is that of reminder, +4.2 points [0.6, 7.7]" in made.policy.answer
    assert made.policy.runs[0].sha256
    assert made.policy.by_problem is not None
    assert made.policy.by_problem.problems == 480  # of the others there are no texts here
