import random
from collections import Counter
from dataclasses import replace

import pytest

from constraint_first.constraint.stage1 import Constraint, ConstraintSpec
from constraint_first.error import InputError
from constraint_first.report.exhibit.marks import (
    Judged,
    Label,
    draw,
    refuse_mismatch,
    resume,
    unmarked,
)
from constraint_first.report.study import Arm, Attempt, Extraction, Study, StudyError, Transcript

ONE = Extraction("parsed", ("domain",))
NONE = Extraction("fallback")
SPEC = ConstraintSpec(raw_constraints=(Constraint("C1", "domain", "an integer"),))


def arm(model: str, method: str = "cfr", problems: int = 20, benchmark: str = "b") -> Arm:
    attempts = {
        f"p{n}": [Attempt(0, extraction=ONE), Attempt(1, extraction=ONE)] for n in range(problems)
    }
    return Arm(benchmark, method, "CFR", model, "{}", attempts)


def study(*arms: Arm) -> Study:
    return Study("runs.db", arms, {}, lambda wanted: {})


TWO = study(arm("x"), arm("y"), arm("x", "routed-cfr"), arm("x", "direct", 0))


def test_the_same_seed_draws_the_same_in_any_order_of_rows() -> None:
    dice = random.Random(3)
    sample = draw(TWO, size=12, seed=1)
    for _ in range(5):
        arms = [
            replace(one, attempts=dict(dice.sample([*one.attempts.items()], len(one.attempts))))
            for one in dice.sample(TWO.arms, len(TWO.arms))
        ]
        for one in arms:
            for attempts in one.attempts.values():
                dice.shuffle(attempts)
        assert draw(study(*arms), size=12, seed=1) == sample
    assert draw(TWO, size=12, seed=2).keys != sample.keys


def test_a_larger_sample_begins_with_the_smaller() -> None:
    assert draw(TWO, size=30, seed=1).keys[:7] == draw(TWO, size=7, seed=1).keys


def test_one_attempt_for_a_problem_and_model_and_models_take_turns() -> None:
    sample = draw(TWO, size=100, seed=1)
    assert (len(sample.keys), sample.eligible) == (40, 40)
    assert len({(key[2], key[4]) for key in sample.keys}) == 40
    assert {key[1] for key in sample.keys if key[2] == "x"} == {"cfr", "routed-cfr"}
    assert {key[5] for key in sample.keys} == {0, 1}
    for size in range(2, 40, 2):
        assert set(Counter(key[2] for key in sample.keys[:size]).values()) == {size // 2}


def test_a_small_model_leaves_its_places_to_the_others() -> None:
    sample = draw(study(arm("x"), arm("y", problems=3)), size=10, seed=1)
    assert Counter(key[2] for key in sample.keys) == {"x": 7, "y": 3}


def test_attempts_without_constraints_are_left_out_and_counted() -> None:
    mixed = arm("x", problems=2)
    mixed.attempts["p0"] = [Attempt(0, extraction=NONE), Attempt(1)]
    sample = draw(study(mixed), size=10, seed=1)
    assert ([key[4] for key in sample.keys], sample.without) == (["p1"], 1)
    propagated_alone = study(arm("x", problems=0))
    attempt = Attempt(0, extraction=Extraction("parsed", (), 1))
    propagated_alone.arms[0].attempts["p0"] = [attempt]
    assert len(draw(propagated_alone, size=1, seed=1).keys) == 1


def test_it_is_drawn_from_what_was_named() -> None:
    several = study(arm("x"), arm("y"), arm("x", "routed-cfr", benchmark="c"))
    assert {key[2] for key in draw(several, size=9, seed=1, model="y").keys} == {"y"}
    assert {key[1] for key in draw(several, size=9, seed=1, benchmark="c").keys} == {"routed-cfr"}
    assert {key[0] for key in draw(several, size=9, seed=1, method="cfr").keys} == {"b"}
    with pytest.raises(StudyError, match=r"has no model 'z'; it has x, y"):
        draw(several, size=9, seed=1, model="z")


def test_nothing_to_draw_from() -> None:
    with pytest.raises(StudyError, match=r"runs\.db: no attempt has Stage 1 constraints; run"):
        draw(study(), size=9, seed=1)
    with pytest.raises(StudyError, match="no attempt of 'direct' has"):
        draw(TWO, size=9, seed=1, method="direct")


def test_what_is_left_is_each_annotators_own() -> None:
    sample = draw(TWO, size=3, seed=1)
    first, second, third = sample.keys
    done = Label("ada", first, (Judged("C1", "raw", "vague"),))
    labels = [done, unmarked("ada", second, SPEC), replace(done, annotator="ben", key=third)]
    assert resume(sample, labels, "ada") == [second, third]
    assert resume(sample, labels, "ben") == [first, second]
    assert resume(sample, labels, "cy") == [first, second, third]


def test_labels_of_other_constraints_are_refused() -> None:
    key = draw(TWO, size=1, seed=1).keys[0]
    label = unmarked("ada", key, SPEC)
    now = {key: Transcript("", None, None, 0, SPEC)}
    refuse_mismatch([label], now, "runs.db")
    refuse_mismatch([label], {}, "runs.db")  # it is about another store
    for other in (
        None,
        ConstraintSpec(raw_constraints=SPEC.raw_constraints * 2),
        ConstraintSpec(raw_constraints=(Constraint("C7", "domain", "an integer"),)),
    ):
        changed = {key: replace(now[key], constraints=other)}
        with pytest.raises(InputError, match=r"but ada judged 1 constraint \(C1\)"):
            refuse_mismatch([label], changed, "runs.db")


def test_labels_of_the_same_names_and_other_words_are_refused_in_words() -> None:
    key = draw(TWO, size=1, seed=1).keys[0]
    other = ConstraintSpec(raw_constraints=(Constraint("C1", "domain", "a real number"),))
    now = {key: Transcript("", None, None, 0, other)}
    with pytest.raises(InputError, match=r"has other words in C1 than those that ada judged; "):
        refuse_mismatch([unmarked("ada", key, SPEC)], now, "runs.db")
    # An older line does not tell what was judged.
    refuse_mismatch([Label("ada", key, (Judged("C1", "raw", "vague"),))], now, "runs.db")
