from hand_made import arm, error_table, study

from constraint_first.report.exhibit.marks import ErrorRule
from constraint_first.report.table import to_markdown

BASE = {"both": "+-", "gained": "--", "lost": "-+", "neither": "--", "gone": "++", "failed": "++"}
OURS = {"both": "-+", "gained": "+-", "lost": "--", "neither": "--", "failed": "??"}
STUDY = study(
    *(arm("direct", BASE, benchmark="aime24"), arm("cfr", OURS, benchmark="aime24")),
    *(arm("direct", {"p": "+"}, benchmark="aime25"), arm("cfr", {"p": "+"}, benchmark="aime25")),
)


def test_the_table() -> None:
    table = to_markdown(error_table("outcomes", STUDY, "cfr"))
    assert "| model | AIME pooled (AIME24, AIME25) | 5 | 2 | 1 | 1 | 1 |" in table
    assert "any of its runs is (pass@k)" in table


def test_unequal_chances_are_pointed_out() -> None:
    uneven = study(arm("direct", {"p": "----"}), arm("cfr", {"p": "+"}))
    assert (
        "model on set: up to 4 runs before and 1 after"
        in error_table("outcomes", uneven, "cfr").notes[1]
    )
    assert len(error_table("outcomes", uneven, "cfr", ErrorRule("first")).notes) == 1


def test_nothing_to_compare_is_said_in_words() -> None:
    table = error_table("outcomes", STUDY, "reminder")
    assert (table.rows, len(table.notes)) == ((), 1)
    assert "reminder and direct share no judged problem" in table.notes[0]
