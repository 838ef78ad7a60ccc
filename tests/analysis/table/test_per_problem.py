import pytest
from hand_made import arm, attempt, error_table, study, texts

from constraint_first.benchmark.constraintbench.item import load
from constraint_first.report.exhibit import errors
from constraint_first.report.exhibit.errors import error_tables
from constraint_first.report.exhibit.marks import ErrorRule
from constraint_first.report.study import Study
from constraint_first.report.table import RIGHT_RULES, Table, to_markdown

PROBLEMS = texts(
    {"1": "How many?", "2": "Compute it.", "3": "How many?", "4": "Compute it."},
    benchmark="aime25",
    gold={"1": "7", "2": "8", "3": "9", "4": "10"},
)


def per_problem_tables(found: Study, method: str, rule: ErrorRule | None = None) -> list[Table]:
    _, _, _, *tables = error_tables(found, method, rule=rule or ErrorRule())
    return tables


def made() -> Study:
    base = {
        "1": [attempt("-", 0, "7.5"), attempt("-", 1, "7.5")],
        "2": [attempt("+", 0, "8")] * 2,
        "3": [attempt("+", 0, "9")] * 2,
        "4": [attempt("-", 0, "1")] * 2,
    }
    ours = {
        "1": [attempt("+", 0, "7", kinds=["domain", "format"]), attempt("-", 1, "1")],
        "2": [attempt("+", 0, "8")] * 2,
        "3": [attempt("-", 0, "1009")] * 2,
        "4": [attempt("-", 0, "1")] * 2,
    }
    model = "qwen3.5-9b-instruct"
    return study(
        arm("direct", base, benchmark="aime25", model=model),
        arm("cfr", ours, benchmark="aime25", model=model),
        problems=PROBLEMS,
    )


def test_each_problem_with_its_cues_marks_and_fix() -> None:
    (table,) = per_problem_tables(made(), "cfr")
    text = to_markdown(table)
    assert "| 1 | Format | ✗ (0/2) | ✓ (1/2) | Domain fix |" in text
    assert "| 2 | – | ✓ (2/2) | ✓ (2/2) | – |" in text
    assert "| 3 | Integer/Count | ✓ (2/2) | ✗ (0/2) | introduced: Range violation |" in text
    assert "| 4 | – | ✗ (0/2) | ✗ (0/2) | Reasoning error |" in text
    assert "| Correct | of 4 | 2 | 2 | 1 fixed, 1 introduced |" in text
    assert table.paper == ("tab:aime25-qwen9b",)
    assert table.name.startswith("per-problem-aime25-qwen3-5-9b-instruct-")


def test_models_of_like_names_have_tables_of_their_own() -> None:
    arms = (
        arm(method, {"p": mark}, model=model)
        for model in ("a/b", "a-b")
        for method, mark in (("direct", "-"), ("cfr", "+"))
    )
    names = [table.name for table in per_problem_tables(study(*arms), "cfr")]
    assert names[1] == "per-problem-set-a-b"
    assert len(set(names)) == 2


def test_the_rule_is_that_of_all_tables_about_errors() -> None:
    uneven = study(arm("direct", {"p": "-+"}), arm("cfr", {"p": "+-"}))
    any_run, first_run = ErrorRule(), ErrorRule("first")
    for rule, change in ((any_run, "0 fixed"), (first_run, "1 fixed")):
        (table,) = per_problem_tables(uneven, "cfr", rule=rule)
        assert table.rows[-1].cells[-1].text.startswith(change)
        assert RIGHT_RULES[rule.right] in table.notes
        assert RIGHT_RULES[rule.right] in error_table("errors", uneven, "cfr", rule).notes
        assert RIGHT_RULES[rule.right] in error_table("outcomes", uneven, "cfr", rule).notes


def test_where_rows_are_few_those_that_changed_come_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(errors, "_MOST_ROWS", 2)
    (table,) = per_problem_tables(made(), "cfr")
    assert [line.cells[0].text for line in table.rows] == ["1", "3", "Correct"]
    assert table.notes[-1].startswith("2 of 4 problems are left out")
    assert table.rows[-1].cells[2].text == "2"  # the totals are still those of all


def test_where_restrictions_come_from_is_said() -> None:
    (table,) = per_problem_tables(made(), "cfr")
    assert table.notes[2].startswith("Constraint: the kind that most constraints have")
    assert table.notes[3].startswith("Reasoning error: both have it wrong")
    bare = study(arm("direct", {"p": "-"}), arm("cfr", {"p": "+"}))
    (plain,) = per_problem_tables(bare, "cfr")
    assert plain.notes[2] == "Constraint: the router's cues in the text."
    assert plain.title == "set problem by problem, model"


def test_a_condition_that_is_met_at_last_is_propagation() -> None:
    item = next(item for item in load("mini@1") if item.family == "two_remainders")
    lure = next(one.answer for one in item.tempting if one.error == "forgot_modular_reduction")
    wrong = {item.id: [attempt("-", 0, lure)]}
    here = "constraintbench-mini"
    both = study(arm("direct", wrong, benchmark=here), arm("cfr", {item.id: "+"}, benchmark=here))
    (table,) = per_problem_tables(both, "cfr")
    assert table.rows[0].cells[-1].text == "Propagation"


def test_methods_that_share_nothing_have_no_table() -> None:
    assert list(per_problem_tables(made(), "another")) == []


def test_problems_that_were_not_routed_are_neither_fixed_nor_introduced() -> None:
    base = arm("direct", {"1": "-", "2": "+", "3": "-"})
    ours = {
        "1": [attempt("+", routed=False)],
        "2": [attempt("-", routed=False)],
        "3": [attempt("+", routed=True)],
    }
    found = study(base, arm("routed-cfr", ours))
    (table,) = per_problem_tables(found, "routed-cfr")
    text = to_markdown(table)
    assert [line.cells[-1].text for line in table.rows] == [
        *("not routed", "not routed", "Other", "1 fixed, 0 introduced")
    ]
    assert "Not routed: Routed-CFR solves it as Direct CoT does" in text
    chance = "2 problems that changed sides were not routed"
    for name in ("errors", "fixes"):
        other = error_table(name, found, "routed-cfr")
        assert f"{chance}: Routed-CFR solves such a problem" in to_markdown(other)
        assert "not counted here" in to_markdown(other)
    outcomes = error_table("outcomes", found, "routed-cfr")
    assert [cell.text for cell in outcomes.rows[0].cells[2:]] == ["3", "0", "2", "1", "0"]
    assert "counted here all the same" in to_markdown(outcomes)
