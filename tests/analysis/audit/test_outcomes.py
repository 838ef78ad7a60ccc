import pytest
from hand_made import arm, attempt, study

from cfr.analysis.audit.error_rule import Judging
from cfr.analysis.audit.outcomes import Outcomes, Rule, outcome, outcomes, outcomes_table
from cfr.analysis.table.table import to_markdown


@pytest.mark.parametrize(
    ("marks", "rule", "expected"),
    [
        *(("-+", "any", True), ("-+", "first", False), ("+-", "first", True)),
        *(("--", "any", False), ("?+", "first", True), ("??", "any", None), ("", "first", None)),
        ("0-", "any", False),
    ],
)
def test_when_a_problem_is_right(marks: str, rule: Rule, expected: bool | None) -> None:
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
        Outcomes("model", None, 2, 1, 1, 1),
    )
    # By the first run both lose what only their second has.
    assert outcomes(STUDY, "cfr", rule="first")[0] == Outcomes("model", "aime24", 0, 1, 1, 2)


def test_the_table() -> None:
    table = to_markdown(outcomes_table(STUDY, "cfr"))
    assert "| model | All | 5 | 2 | 1 | 1 | 1 |" in table
    assert "any of its runs is (pass@k)" in table


def test_unequal_chances_are_pointed_out() -> None:
    uneven = study(arm("direct", {"p": "----"}), arm("cfr", {"p": "+"}))
    assert "model on set: up to 4 runs before and 1 after" in outcomes_table(uneven, "cfr").notes[1]
    assert len(outcomes_table(uneven, "cfr", rule="first").notes) == 1
    assert len(outcomes_table(uneven, "cfr", judging=Judging("first")).notes) == 1


def test_nothing_to_compare_is_said_in_words() -> None:
    table = outcomes_table(STUDY, "reminder")
    assert (table.rows, len(table.notes)) == ((), 1)
    assert "reminder and direct share no judged problem" in table.notes[0]
