from dataclasses import replace
from pathlib import Path

import pytest
from hand_made import arm, attempt, study, texts
from instructed import request_store

from constraint_first.report.exhibit.errors import NO_KIND, cases, changed_problems, open_case
from constraint_first.report.reader import open_study
from constraint_first.report.study import Study, Transcript


def example(text: str = "so it is 4") -> Study:
    direct = arm("direct", {"a": "--", "b": "+-", "c": "++", "d": "+-", "e": "--"})
    cfr = arm("cfr", {"a": "++", "b": "++", "c": "--", "d": "+-", "e": "??"})
    said = {
        (*one.key, problem, attempt.run): Transcript(text, "4", attempt.correct, tokens)
        for one, tokens in ((direct, 100), (cfr, 250))
        for problem, attempts in one.attempts.items()
        for attempt in attempts
    }
    return study(direct, cfr, problems=texts({"a": "What is 2 + 2?"}), transcripts=said)


def test_cases_are_what_changed_most_in_both_directions() -> None:
    found = cases(example(), "direct", "cfr")
    assert [(case.problem, case.change) for case in found] == [
        ("a", "fixed"),
        ("b", "fixed"),
        ("c", "broken"),
    ]
    first = found[0]
    assert (first.text, first.baseline.right, first.method.right) == ("What is 2 + 2?", 0, 2)
    assert (first.baseline.transcript.correct, first.method.transcript.correct) == (False, True)
    assert first.ratio == 2.5
    assert found[1].baseline.run == 1  # the run that was wrong
    assert found[2].baseline.transcript.correct
    assert first.title == "a, set, model"
    assert first.opening == "What is 2 + 2?"


def test_the_number_of_cases_is_kept_and_shared_out() -> None:
    assert [case.change for case in cases(example(), "direct", "cfr", most=2)] == [
        "fixed",
        "broken",
    ]
    assert cases(example(), "direct", "cfr", most=0) == []


def test_outcomes_without_texts_make_no_cases() -> None:
    bare = study(arm("direct", {"a": "-"}), arm("cfr", {"a": "+"}))
    assert cases(bare, "direct", "cfr") == []
    assert cases(example(), "direct", "direct") == []
    assert cases(example(), "nobody", "cfr") == []


def test_cases_are_grouped_by_the_constraint_that_dominates_them() -> None:
    problems = ("a", "b", "c", "d")
    direct = arm("direct", dict.fromkeys(problems, "--"))
    kinds = (["parity"], None, ["parity", "bound"], ["bound", "bound"])
    ours = arm(
        "cfr",
        {
            name: [attempt("+", run, kinds=own) for run in (0, 1)]
            for name, own in zip(problems, kinds, strict=True)
        },
    )
    said = {
        (*one.key, name, run): Transcript("so", "4", one is ours, 1)
        for one in (direct, ours)
        for name in problems
        for run in (0, 1)
    }
    found = cases(study(direct, ours, transcripts=said), "direct", "cfr")
    assert [(case.problem, case.kind) for case in found] == [
        *(("a", "Parity"), ("c", "Parity"), ("d", "Bound"), ("b", NO_KIND)),
    ]


@pytest.mark.parametrize(
    ("text", "opening"),
    [
        ("", ""),
        ("Find  the\nlast digit.", "Find the last digit."),
        ("word " * 30, ("word " * 16).strip() + " …"),
        ("Let the sum of the first terms of a long sequence be $" + "a + " * 20 + "a$.", None),
        (r"Let the sum of the first terms of a long sequence be \(" + "a + " * 20 + r"a\).", None),
        ("x" * 200, "x" * 80 + " …"),
        ("$" + "y" * 200, "$" + "y" * 79 + " …"),
    ],
)
def test_a_case_is_headed_by_whole_words_and_no_half_formula(
    text: str, opening: str | None
) -> None:
    cut = "Let the sum of the first terms of a long sequence be …"
    case = replace(cases(example(), "direct", "cfr")[0], text=text)
    assert case.opening == (cut if opening is None else opening)


def test_a_problem_that_was_not_routed_is_neither_fixed_nor_broken() -> None:
    marks = {"a": "--", "b": "++", "c": "--"}
    routed = {
        "a": [attempt("+", run, routed=False) for run in (0, 1)],
        "b": [attempt("-", run, routed=False) for run in (0, 1)],
        "c": [attempt("+", 0, routed=False), attempt("+", 1, routed=True)],
    }
    direct, ours = arm("direct", marks), arm("routed-cfr", routed)
    said = {
        (*one.key, problem, run): Transcript("so", "4", None, 1)
        for one in (direct, ours)
        for problem in marks
        for run in (0, 1)
    }
    (case,) = cases(study(direct, ours, transcripts=said), "direct", "routed-cfr")
    assert (case.problem, case.method.run) == ("c", 1)  # the run that was routed
    assert (
        len(
            cases(
                study(
                    arm("cfr", marks),
                    ours,
                    transcripts={
                        (*key[:1], "cfr" if key[1] == "direct" else key[1], *key[2:]): value
                        for key, value in said.items()
                    },
                ),
                "cfr",
                "routed-cfr",
            )
        )
        == 3
    )  # against CFR, not to route is what makes the difference


def test_problems_that_changed_are_listed_and_opened_one_by_one() -> None:
    one = example()
    changed = changed_problems(one, "direct", "cfr")
    opened = [open_case(one, problem) for problem in changed]
    assert {c.problem: c.change for c in changed} == {
        c.problem: c.change for c in cases(one, "direct", "cfr", most=99)
    }
    assert [case.problem for case in opened if case] == [c.problem for c in changed]
    assert changed[0].place == ("set", "model", "a")
    assert sorted((c.size for c in changed), reverse=True) == [c.size for c in changed]


def test_a_case_of_instructions_shows_them_in_words(tmp_path: Path) -> None:
    made = open_study(request_store(str(tmp_path / "runs.db"), 8, runs=1))
    found = {case.problem: case for case in cases(made, "direct", "reminder")}
    case = found["r7"]
    assert (case.change, case.gold_name) == ("fixed", "gold instructions")
    assert case.gold.startswith("The reply does without “,”. The reply has at most 9 words.")
    assert case.baseline.said == "follows 2 of 3 instructions"
    assert case.method.said == "follows 3 of 3 instructions"
