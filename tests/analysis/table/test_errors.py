from hand_made import arm, attempt, cells, error_table, study, texts

from constraint_first.report.exhibit.marks import ErrorClasses, ErrorRule
from constraint_first.report.study import ProblemText, Study
from constraint_first.report.table import to_markdown

PROBLEMS = texts(
    {
        "mod": "Find the remainder when N is divided by 7.",
        "code": "It is m/n in lowest terms. Find $m+n$.",
        "plain": "Find x.",
    },
    gold={"mod": "3", "code": "10", "plain": "5"},
)
STUDY = study(
    arm(
        "direct",
        {
            "mod": [attempt("-", 0, "10")],
            "code": [attempt("-", 0, "3/7")],
            "plain": [attempt("+", 0, "5")],
        },
    ),
    arm("cfr", {"mod": "+", "code": "+", "plain": [attempt("-", 0, "5.5")]}),
    problems=PROBLEMS,
)


def notes(made: Study, rule: ErrorRule | None = None) -> str:
    return " ".join(error_table("errors", made, "cfr", rule).notes)


def test_errors_in_both_directions_with_their_shares() -> None:
    table = to_markdown(error_table("errors", STUDY, "cfr"))
    assert "| model | Forgot modular reduction | 1 | 50.0 % | 0 | 0.0 % |" in table
    assert "|  | Non-integer answer | 0 | 0.0 % | 1 | 100.0 % |" in table
    assert "|  | All | 2 | 100.0 % | 1 | 100.0 % |" in table
    assert "Ignored parity" not in table  # nobody did


def test_what_is_only_wrong_is_other_and_the_note_says_so() -> None:
    wrong = study(
        arm("direct", {"plain": [attempt("-", 0, "6")]}),
        arm("cfr", {"plain": "+"}),
        problems=PROBLEMS,
    )
    table = to_markdown(error_table("errors", wrong, "cfr"))
    assert "|  | Arithmetic error | 0 | 0.0 % | 0 | – |" in table
    assert "|  | Other | 1 | 100.0 % | 0 | – |" in table
    said = notes(wrong)
    assert "Arithmetic error: only a slip that is known beforehand" in said
    assert said.index("Other: whatever these do not decide") > said.index("Arithmetic error:")


def test_no_flips_make_no_shares() -> None:
    calm = study(arm("direct", {"p": "+"}), arm("cfr", {"p": "+"}))
    table = to_markdown(error_table("errors", calm, "cfr"))
    assert "|  | All | 0 | – | 0 | – |" in table
    assert error_table("errors", calm, "reminder").rows == ()


def test_answers_that_were_not_kept_are_counted() -> None:
    outcomes_only = study(arm("direct", {"p": "--"}), arm("cfr", {"p": "++"}))
    assert "as no wrong answer is on record: 1 problem." in notes(outcomes_only)


def test_what_is_open_for_want_of_the_right_answer_is_counted() -> None:
    wrong = {
        "none": [attempt("-", 0, "5.5")],
        "gold": [attempt("-", 0, "5.5")],
        "silent": [attempt("0", 0)],
        "lost": "-",
    }
    made = study(
        arm("direct", wrong),
        arm("cfr", dict.fromkeys(wrong, "+")),
        problems={("set", "gold"): ProblemText("", "5")},
    )
    said = notes(made)
    assert "Counted as other, as the right answer is not on record: 1 problem." in said
    assert "as no wrong answer is on record: 1 problem." in said
    assert "right answer is not" not in notes(STUDY)


def test_what_a_person_said_is_counted() -> None:
    classes = ErrorClasses(
        {
            (("set", "mod"), "", ""): "arithmetic",
            (("set", "plain"), "cfr", ""): "misled_by_cue",
        },
        unknown=1,
    )
    said = notes(STUDY, ErrorRule(classes=classes))
    assert "2 of 3 were classed by a person." in said
    assert "Classes for problems or models that are not in this study: 1 line." in said


def test_fixes_by_the_constraint_that_was_broken() -> None:
    assert cells(error_table("fixes", STUDY, "cfr")) == [
        ["Modular", "1 (50.0 %)"],
        ["Format (encoded)", "1 (50.0 %)"],
        ["Parity", "0 (0.0 %)"],
        ["Range or bound", "0 (0.0 %)"],
        ["Domain (integer)", "0 (0.0 %)"],
        ["Stated condition (propagation)", "0 (0.0 %)"],
        ["No constraint", "0"],
        ["Fixed", "2"],
    ]


def test_fixes_of_several_benchmarks_and_models_together() -> None:
    wrong = {"p": [attempt("-", 0, "5.5")]}
    made = study(
        *(
            arm(method, wrong if method == "direct" else {"p": "+"}, benchmark=here, model=model)
            for method in ("direct", "cfr")
            for here in ("aime24", "aime25")
            for model in ("m", "n")
        ),
        problems=texts({"p": "Find x."}, "aime25", {"p": "5"}),
    )
    table = error_table("fixes", made, "cfr")
    assert [column.title for column in table.columns] == [
        *("Constraint", "All benchmarks", "AIME24", "AIME25")
    ]
    assert cells(table)[4] == ["Domain (integer)", "2 (100.0 %)", "0", "2 (100.0 %)"]
    assert cells(table)[-2:] == [["No constraint", "2", "2", "0"], ["Fixed", "4", "2", "2"]]
    assert error_table("fixes", made, "reminder").rows == ()


def test_errors_that_annotators_dispute_are_counted() -> None:
    one = study(arm("direct", {"p": "-"}), arm("cfr", {"p": "+"}))
    rule = ErrorRule(classes=ErrorClasses(disputed=2))
    said = " ".join(error_table("errors", one, "cfr", rule).notes)
    assert "annotators differ and no class has the most: 2 errors." in said
