from hand_made import arm, attempt, study, texts

from constraint_first.report.exhibit.errors import ProblemResult, per_problem
from constraint_first.report.exhibit.marks import ErrorRule
from constraint_first.report.exhibit.routing import Dominant

BASE = arm(
    "direct",
    {"1": [attempt("-", 0, "7.5")] * 2, "2": "+-", "3": "++", "4": "--", "5": "+", "6": "+"},
)
OURS = arm(
    "cfr",
    {
        "1": [attempt("+", 0, "7", kinds=["domain", "format"]), attempt("-", 1, "1")],
        "2": "-+",
        "3": "--",
        "4": "--",
        "5": "??",
    },
)
STUDY = study(
    BASE,
    OURS,
    problems=texts({"1": "How many?", "3": "How many?", "4": "Compute it."}, gold={"1": "7"}),
)


def test_the_facts_of_each_problem() -> None:
    found = per_problem(STUDY, BASE, OURS, most=10)
    one, two, three, four = found.shown
    assert [fact.problem for fact in found.shown] == ["1", "2", "3", "4"]
    assert one.dominant == Dominant(("format",), by_stage1=True)
    assert (one.before, one.after) == (ProblemResult(False, 0, 2), ProblemResult(True, 1, 2))
    assert one.flip
    assert (one.flip.fixed, one.flip.mistake) == (True, "not_an_integer")
    assert (two.before, two.after, two.flip) == (
        ProblemResult(True, 1, 2),
        ProblemResult(True, 1, 2),
        None,
    )
    assert two.dominant == Dominant()  # its text is not on record
    assert three.dominant == Dominant(("Integer/Count",))
    assert three.flip
    assert not three.flip.fixed
    assert four.dominant == Dominant()
    assert [fact.missed for fact in found.shown] == [False, False, False, True]
    assert found.by_stage1


def test_totals_are_over_all_problems() -> None:
    found = per_problem(STUDY, BASE, OURS, most=2)
    assert [fact.problem for fact in found.shown] == ["1", "3"]  # those that changed
    assert (found.problems, found.left_out) == (4, 2)
    assert (found.right_before, found.right_after) == (2, 2)
    assert (found.fixed, found.introduced) == (1, 1)


def test_the_rule_decides_what_is_right() -> None:
    found = per_problem(STUDY, BASE, OURS, ErrorRule("first"), most=10)
    assert (found.right_before, found.right_after) == (2, 1)
    assert (found.fixed, found.introduced) == (1, 2)
    plain = arm("cfr", {"1": "+"})
    assert not per_problem(STUDY, BASE, plain, most=10).by_stage1
