import pytest
from hand_made import arm, attempt, study

from constraint_first.report.comparison import (
    Outcomes,
    RightRule,
    both_outcomes,
    changed_by_chance,
    left_to_baseline,
    outcome,
    outcomes,
)


@pytest.mark.parametrize(
    ("marks", "rule", "expected"),
    [
        *(("-+", "any", True), ("-+", "first", False), ("+-", "first", True)),
        *(("--", "any", False), ("?+", "first", True), ("??", "any", None), ("", "first", None)),
        ("0-", "any", False),
    ],
)
def test_when_a_problem_is_right(marks: str, rule: RightRule, expected: bool | None) -> None:
    assert outcome([attempt(mark, run) for run, mark in enumerate(marks)], rule) is expected


BASE = {"both": "+-", "gained": "--", "lost": "-+", "neither": "--", "gone": "++", "failed": "++"}
OURS = {"both": "-+", "gained": "+-", "lost": "--", "neither": "--", "failed": "??"}
STUDY = study(
    *(arm("direct", BASE, benchmark="aime24"), arm("cfr", OURS, benchmark="aime24")),
    *(arm("direct", {"p": "+"}, benchmark="aime25"), arm("cfr", {"p": "+"}, benchmark="aime25")),
)


def test_outcomes_by_hand_and_pooled() -> None:
    assert outcomes(STUDY, "cfr") == (
        Outcomes("model", "aime24", 1, 1, 1, 1),
        Outcomes("model", "aime25", 1, 0, 0, 0),
        Outcomes("model", None, 2, 1, 1, 1, ("aime24", "aime25")),
    )
    other = [arm(name, {"p": "+"}, benchmark="cmimc25") for name in ("direct", "cfr")]
    *_, aime, every = outcomes(study(*STUDY.arms, *other), "cfr")
    assert (aime.pooled, aime.problems) == (("aime24", "aime25"), 5)
    assert (every.pooled, every.problems) == (("aime24", "aime25", "cmimc25"), 6)
    # By the first run both lose what only their second has.
    assert outcomes(STUDY, "cfr", rule="first")[0] == Outcomes("model", "aime24", 0, 1, 1, 2)


def test_problems_that_were_judged_on_both_sides() -> None:
    base, ours = STUDY.arms[:2]
    assert dict(both_outcomes(base, ours, "any")) == {
        "both": (True, True),
        "gained": (False, True),
        "lost": (True, False),
        "neither": (False, False),
    }


def test_a_problem_that_is_left_to_the_baseline_changes_by_chance() -> None:
    direct = arm("direct", {"a": "+", "b": "-", "c": "+"})
    routed = arm(
        "routed-cfr",
        {
            "a": [attempt("-", routed=False)],
            "b": [attempt("+", routed=True)],
            "c": [attempt("?", 0, routed=False), attempt("-", 1)],
        },
    )
    assert [left_to_baseline(direct, routed.attempts[name]) for name in "abc"] == [
        *(True, False, False),
    ]
    assert not left_to_baseline(arm("cfr", {}), routed.attempts["a"])
    assert changed_by_chance(direct, routed, "any") == 1
