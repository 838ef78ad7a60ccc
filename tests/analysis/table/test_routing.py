from hand_made import arm, cells, study, texts

from constraint_first.report.exhibit.marks import Judged, Label, Mark
from constraint_first.report.exhibit.routing import (
    audit_router,
    cofire_table,
    convention_table,
    patterns_table,
    rates_table,
)
from constraint_first.report.table import to_latex, to_markdown

PROBLEMS = texts(
    {
        "none": "Compute $1 + 1$.",
        "one": "How many are there? HOW MANY?",
        "two": "Find the remainder when the area is halved.",
        "four": "Find p + q if the probability is at least the largest remainder.",
    },
    benchmark="aime24",
)
MARKS = {"none": "++", "one": "--", "two": "--", "four": "+-", "untold": "++"}
OURS = {"none": "+-", "one": "++", "two": "+-", "four": "++", "untold": "--"}
STUDY = study(
    arm("direct", MARKS, benchmark="aime24"),
    arm("routed-cfr", OURS, benchmark="aime24"),
    problems=PROBLEMS,
)
AUDIT = audit_router(STUDY)


def test_what_is_routed_and_what_the_convention_would_add() -> None:
    assert "| AIME24 | 3 / 4 | 75.00 % |" in to_markdown(rates_table(AUDIT))
    control = to_markdown(convention_table(AUDIT))
    assert "| Text-only router | 3 / 4 |" in control
    assert "| + AIME convention | 4 / 4 |" in control


def test_a_problem_without_a_text_is_left_out_and_said_to_be() -> None:
    for table in (rates_table(AUDIT), convention_table(AUDIT), patterns_table(AUDIT)):
        assert "AIME24, left out for want of a text: 1 problem." in table.notes


def test_a_family_has_its_phrases_and_its_share() -> None:
    table = to_markdown(patterns_table(AUDIT))
    assert "| P2: Modular | “remainder” 2 | 2 | 50.0 % |" in table
    assert "| P7: Game/Adversarial | – | 0 | 0.0 % |" in table


def test_families_are_counted_for_each_of_several_benchmarks() -> None:
    asked = {**texts({"a": "How many?"}, "aime24"), **texts({"b": "The remainder?"}, "aime25")}
    table = patterns_table(audit_router(study(problems=asked)))
    assert [column.title for column in table.columns[4:]] == ["AIME24", "AIME25"]
    found = {line.cells[0].text: [c.text for c in line.cells[4:]] for line in table.rows}
    assert found["P1: Integer/Count"] == ["1", "0"]
    assert found["P2: Modular"] == ["0", "1"]


def test_gains_by_the_number_of_families() -> None:
    table = to_markdown(cofire_table(STUDY, AUDIT, "routed-cfr"))
    assert "| model | 0 (not routed) | 1 | −50.0 | – | – |" in table
    assert "|  | 3 | 0 | – | – | – |" in table
    assert "it takes marks by a person, which the page of 'cfr serve' makes" in table


def marked(problem: str, marks: str, missing: int, method: str = "routed-cfr") -> Label:
    words: dict[str, Mark | None] = {"e": "entailed", "n": "not_entailed", "-": None}
    judged = tuple(Judged(f"C{at}", "raw", words[mark]) for at, mark in enumerate(marks))
    key = ("aime24", method, "model", "{}", problem, 0)
    return Label("ada", key, judged, ("it is odd",) * missing)


def test_completeness_comes_from_the_marks_of_people() -> None:
    labels = [marked("one", "en", 1), marked("four", "eee", 0), marked("two", "e-", 0)]
    table = cofire_table(STUDY, AUDIT, "routed-cfr", labels=labels)
    found = {line[1]: line[4:] for line in cells(table)}
    assert found["1"] == ["50.0 % [9.5, 90.5]", "2"]
    assert found["4+"] == ["100.0 % [43.9, 100.0]", "3"]
    assert found["2"] == found["0 (not routed)"] == ["–", "–"]  # a draft, and none
    assert "in the 2 attempts of Routed-CFR that they marked" in table.notes[-1]


def test_marks_on_another_method_fill_nothing() -> None:
    table = cofire_table(STUDY, AUDIT, "routed-cfr", labels=[marked("one", "e", 0, "cfr")])
    assert all(line[4:] == ["–", "–"] for line in cells(table))
    assert table.notes[-1] == (
        "Stage 1 complete is empty: no mark by a person is on an attempt of Routed-CFR."
    )


def test_what_is_not_there_is_said_in_words() -> None:
    nothing = audit_router(study(arm("direct", {"p": "+"})))
    assert rates_table(nothing).notes[0] == "No problem of this study has a text on record."
    assert convention_table(nothing).rows == ()
    missing = cofire_table(STUDY, AUDIT, "cfr")
    assert missing.rows == ()
    assert "cfr and direct share no judged problem" in missing.notes[0]
    for table in (rates_table(nothing), patterns_table(nothing), missing):
        assert "nan" not in to_latex(table).lower()
