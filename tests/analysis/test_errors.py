"""Errors, outcomes and cases."""

from dataclasses import replace
from pathlib import Path

import pytest
from hand_made import arm, attempt, cells, error_table, study, texts
from instructed import request_store

from constraint_first.benchmark.constraintbench.family import load
from constraint_first.error import InputError
from constraint_first.report.exhibit import errors
from constraint_first.report.exhibit.errors import (
    NO_KIND,
    Dominant,
    cases,
    changed_problems,
    dominant_constraint,
    error_tables,
    flips,
    open_case,
)
from constraint_first.report.exhibit.marks import (
    DEFAULT_RULE,
    ErrorClasses,
    ErrorRule,
    read_classes,
    read_person_lines,
)
from constraint_first.report.reader import open_study
from constraint_first.report.study import Outcome, ProblemText, Study, Transcript
from constraint_first.report.table import RIGHT_RULES, Table, to_markdown

# Flips.

PROBLEMS = texts(
    {
        "mod": "Find the remainder when N is divided by 7.",
        "code": "It is m/n in lowest terms. Find $m+n$.",
        "plain": "Find x.",
        "same": "Find y.",
    },
    gold={"mod": "3", "code": "10", "plain": "5", "same": "1"},
)
STUDY = study(
    arm(
        "direct",
        {
            # Twice unreduced, once merely wrong.
            "mod": [attempt("-", n, answer) for n, answer in enumerate(["10", "4", "17"])],
            "code": [attempt("-", 0, "3/7"), attempt("?", 1)],
            "plain": [attempt("+", 0, "5")],
            "same": [attempt("+", 0, "1")],
        },
    ),
    arm(
        "cfr",
        {
            "mod": [attempt("+", 0, "3")],
            "code": [attempt("+", 0, "10")],
            # A tie goes to the class that comes first in the taxonomy.
            "plain": [attempt("0", 0), attempt("-", 1, "5.5")],
            "same": [attempt("+", 0, "1")],
        },
    ),
    problems=PROBLEMS,
)


def found(rule: ErrorRule | None = None) -> dict[str, tuple[bool, str, str | None]]:
    made = flips(STUDY, "cfr", rule=rule or ErrorRule())
    return {flip.problem: (flip.fixed, flip.mistake, flip.answer) for flip in made}


def test_every_flip_has_the_class_of_most_of_its_wrong_answers() -> None:
    assert found() == {
        "mod": (True, "forgot_modular_reduction", "10"),
        "code": (True, "encoded_form_not_applied", "3/7"),
        "plain": (False, "not_an_integer", "5.5"),
    }


def test_by_the_first_run_only_that_answer_counts() -> None:
    assert found(ErrorRule("first"))["plain"] == (False, "no_answer", None)


def test_answers_that_were_not_kept_are_not_said_to_be_missing() -> None:
    outcomes_only = study(arm("direct", {"p": "--"}), arm("cfr", {"p": "++"}))
    (flip,) = flips(outcomes_only, "cfr")
    assert (flip.mistake, flip.kept) == ("other", False)


def test_constraintbench_uses_its_own_gold() -> None:
    item = next(one for one in load("public") if one.tempting)
    lure = item.tempting[0]
    made = study(
        arm("direct", {item.id: [attempt("-", 0, lure.answer)]}, benchmark="constraintbench"),
        arm("cfr", {item.id: "+"}, benchmark="constraintbench"),
        problems={("constraintbench", item.id): ProblemText(item.text, item.answer)},
    )
    (flip,) = flips(made, "cfr")
    assert flip.mistake == lure.error


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(line + "\n" for line in lines))
    return path


def test_a_person_overrides_the_class(tmp_path: Path) -> None:
    path = write(
        tmp_path / "classes.jsonl",
        '{"problem": "mod", "class": "Arithmetic", "note": "slipped"}',
        '{"problem": "mod", "method": "routed-cfr", "class": "other"}',
        '{"problem": "plain", "method": "cfr", "class": "misled-by-cue"}',
        '{"problem": "elsewhere", "class": "other"}',
    )
    classes = read_classes(path, STUDY)
    made = {flip.problem: flip for flip in flips(STUDY, "cfr", rule=ErrorRule(classes=classes))}
    assert made["mod"].mistake == "arithmetic"
    assert made["plain"].mistake == "misled_by_cue"
    assert not made["code"].by_person
    assert classes.unknown == 1


def test_a_class_of_one_model_leaves_the_others_alone(tmp_path: Path) -> None:
    two = study(
        *(arm(name, {"p": mark}, model="x") for name, mark in (("direct", "-"), ("cfr", "+"))),
        *(arm(name, {"p": mark}, model="y") for name, mark in (("direct", "-"), ("cfr", "+"))),
    )
    both = '{"problem": "p", "class": "arithmetic"}'
    one = '{"problem": "p", "class": "out_of_range", "model": "y"}'
    for lines, expected in (
        ((both,), ["arithmetic", "arithmetic"]),
        ((one,), ["other", "out_of_range"]),
        ((both, one), ["arithmetic", "out_of_range"]),
    ):
        classes = read_classes(write(tmp_path / "classes.jsonl", *lines), two)
        made = flips(two, "cfr", rule=ErrorRule(classes=classes))
        assert [flip.mistake for flip in made] == expected


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
    found = {flip.problem: flip for flip in flips(made, "cfr")}
    assert (found["none"].mistake, found["gold"].mistake) == ("other", "not_an_integer")
    assert [name for name, flip in found.items() if flip.for_want_of_gold] == ["none"]


def test_replies_that_are_judged_whole_break_a_stated_condition(tmp_path: Path) -> None:
    """What was read from them as an answer is none, and the gold instructions are no answer."""
    made = open_study(request_store(str(tmp_path / "runs.db"), 8, runs=1))
    found = flips(made, "reminder", "direct")
    assert {(one.problem, one.fixed, one.mistake, one.answer) for one in found} == {
        ("r0", False, "broken_condition", None),
        ("r6", False, "broken_condition", None),
        ("r7", True, "broken_condition", None),
    }
    assert all(one.kept and not one.for_want_of_gold for one in found)


# Error rule.

KEY = ("set", "p")
CLASSED = study(arm("cfr", {"p": "-"}, model="x"), arm("cfr", {"p": "-"}, model="y"))
LINE = '{"problem": "p", "class": "other"}'


def written(path: Path, *lines: str) -> Path:
    path.write_text("".join(line + "\n" for line in lines))
    return path


def test_the_closer_a_line_names_an_error_the_sooner_it_counts() -> None:
    said = ErrorClasses(
        {
            (KEY, "", ""): "other",
            (KEY, "cfr", ""): "arithmetic",
            (KEY, "", "x"): "out_of_range",
            (KEY, "cfr", "x"): "no_answer",
        }
    )
    found = {
        (method, model): said.find(KEY, method, model)
        for method in ("cfr", "routed-cfr")
        for model in ("x", "y")
    }
    assert found == {
        ("cfr", "x"): "no_answer",
        ("cfr", "y"): "arithmetic",
        ("routed-cfr", "x"): "out_of_range",
        ("routed-cfr", "y"): "other",
    }
    assert said.find(KEY, "cfr") == "arithmetic"
    assert said.find(("set", "q"), "cfr", "x") is None


def test_a_model_comes_before_a_method() -> None:
    said = ErrorClasses({(KEY, "cfr", ""): "arithmetic", (KEY, "", "x"): "out_of_range"})
    assert said.find(KEY, "cfr", "x") == "out_of_range"


def test_lines_of_another_study_are_counted(tmp_path: Path) -> None:
    path = written(
        tmp_path / "classes.jsonl",
        '{"problem": "p", "class": "other", "model": "z"}',
        '{"problem": "q", "class": "other"}',
        '{"problem": "p", "class": "other", "model": "x"}',
    )
    assert read_classes(path, CLASSED) == ErrorClasses({(KEY, "", "x"): "other"}, unknown=2)


@pytest.mark.parametrize("line", ['{"problem": "p", "class": "lazy"}', '{"problem": "p"}'])
def test_an_unknown_class_is_refused_with_its_line(line: str, tmp_path: Path) -> None:
    path = written(tmp_path / "classes.jsonl", LINE, line)
    with pytest.raises(InputError, match=r"line 2: 'class' is .*; it must be one of forgot_"):
        read_classes(path, CLASSED)


@pytest.mark.parametrize("about", ["", ', "method": "cfr"', ', "method": "cfr", "model": "x"'])
def test_lines_that_contradict_each_other_are_refused_with_both(about: str, tmp_path: Path) -> None:
    first, second = (
        f'{{"problem": "p", "class": "{name}"{about}}}' for name in ("other", "arithmetic")
    )
    path = written(tmp_path / "classes.jsonl", first, first, second)
    with pytest.raises(InputError, match=r"line 3: 'class' is arithmetic, but line 2 says other"):
        read_classes(path, CLASSED)


def test_a_class_that_is_said_twice_is_said_once(tmp_path: Path) -> None:
    again = '{"problem": "p", "class": "other", "note": "again"}'
    path = written(tmp_path / "classes.jsonl", LINE, again)
    assert read_classes(path, CLASSED).find(KEY, "cfr", "x") == "other"


def said(annotator: str, name: str) -> str:
    return f'{{"problem": "p", "class": "{name}", "annotator": "{annotator}"}}'


def test_an_annotator_may_think_again_and_most_of_them_decide(tmp_path: Path) -> None:
    path = written(
        tmp_path / "classes.jsonl",
        *(said("ada", "other"), said("ben", "arithmetic"), said("ada", "arithmetic")),
        said("cem", "other"),
    )
    assert read_classes(path, CLASSED) == ErrorClasses({(KEY, "", ""): "arithmetic"})


def test_where_annotators_differ_nothing_is_decided(tmp_path: Path) -> None:
    path = written(tmp_path / "classes.jsonl", said("ada", "other"), said("ben", "arithmetic"))
    assert read_classes(path, CLASSED) == ErrorClasses(disputed=1)
    path = written(tmp_path / "classes.jsonl", said("ada", "arithmetic"), LINE)
    assert read_classes(path, CLASSED).find(KEY, "cfr", "x") == "other"


def test_any_run_may_make_a_problem_right_unless_another_rule_is_named() -> None:
    assert ErrorRule() == DEFAULT_RULE
    assert (DEFAULT_RULE.right, DEFAULT_RULE.classes) == ("any", ErrorClasses())


# Person file.

NAMED = study(
    arm("direct", {"1": "+", "2": "-"}, benchmark="aime24"),
    arm("direct", {"1": "+"}, benchmark="aime25"),
    problems=texts({"9": "Find x."}, benchmark="aime25"),
)


def read(path: Path, *lines: str) -> list[tuple[str, str] | None]:
    path.write_text("".join(line + "\n" for line in lines))
    return [line.key for line in read_person_lines(path, NAMED)]


def test_a_benchmark_is_needed_only_where_names_repeat(tmp_path: Path) -> None:
    keys = read(
        tmp_path / "l.jsonl",
        '{"problem": "2"}',
        '{"problem": 9}',
        '{"problem": "1", "benchmark": "aime25"}',
        '{"problem": "77"}',
        '{"problem": "2", "benchmark": "aime25"}',
    )
    assert keys == [("aime24", "2"), ("aime25", "9"), ("aime25", "1"), None, None]


def test_a_table_will_do(tmp_path: Path) -> None:
    keys = read(tmp_path / "l.csv", "problem;benchmark;class", "2;;other", "1;aime25;other")
    assert keys == [("aime24", "2"), ("aime25", "1")]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"problem": "1"}', "line 1: problem 1 is in aime24 and in aime25; add its 'benchmark'"),
        ('{"class": "other"}', "line 1: needs 'problem'"),
        ('{"problem": true}', "line 1: needs 'problem'"),
        ('{"problem": "2", "benchmark": 7}', "line 1: 'benchmark' must be a name, not 7"),
        ("[]", "line 1: JSON, but a list"),
    ],
)
def test_lines_that_say_too_little(line: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path / "l.jsonl", line)


# Dominant.


def dominant(*attempts: Outcome, text: str = "") -> Dominant:
    made = arm("cfr", {"p": attempts})
    return dominant_constraint(study(made, problems=texts({"p": text})), made, "p")


def critical(*kinds: str) -> Outcome:
    one = attempt("+", kinds=["domain", "domain", "bound", "bound", "modular"])
    assert one.extraction
    return replace(one, extraction=replace(one.extraction, critical=kinds))


def test_the_kind_of_most_constraints_dominates() -> None:
    first = attempt("+", 0, kinds=["parity", "bound"])
    found = dominant(first, attempt("+", 1, kinds=["bound"]))
    assert (found.names, found.by_stage1, found.label) == (("bound",), True, "Bound")


def test_what_stage_1_calls_critical_comes_first() -> None:
    assert dominant(critical("modular")).names == ("modular",)
    assert dominant(critical()).names == ("bound",)


def test_a_domain_gives_way_to_any_other_kind() -> None:
    assert dominant(attempt("+", kinds=["domain", "domain", "format"])).label == "Format"
    assert dominant(attempt("+", kinds=["domain", "domain"])).label == "Domain"


def test_kinds_that_are_equal_stand_together() -> None:
    assert dominant(attempt("+", kinds=["bound", "parity"])).label == "Parity + bound"
    assert dominant(attempt("+", kinds=["bound", "parity", "modular"])).label == "Multiple"
    assert dominant(attempt("+", kinds=["colour"])).label == "Other"


def test_without_stage_1_it_is_the_cues() -> None:
    asked = dominant(attempt("+"), text="How many have remainder 2?")
    assert (asked.label, asked.by_stage1) == ("Modular", False)
    assert dominant(attempt("+"), text="How many?").label == "Integer/Count"
    assert dominant(attempt("+", kinds=[]), text="How many?").label == "Integer/Count"
    assert dominant(attempt("+"), text="Compute it.") == Dominant()
    assert Dominant().label == ""


def test_a_problem_without_a_text_has_none() -> None:
    made = arm("cfr", {"p": "+"})
    bare: Study = study(made)
    assert dominant_constraint(bare, made, "p") == Dominant()


# Case.


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


# Errors.

DEMANDING = texts(
    {
        "mod": "Find the remainder when N is divided by 7.",
        "code": "It is m/n in lowest terms. Find $m+n$.",
        "plain": "Find x.",
    },
    gold={"mod": "3", "code": "10", "plain": "5"},
)
FLIPPED = study(
    arm(
        "direct",
        {
            "mod": [attempt("-", 0, "10")],
            "code": [attempt("-", 0, "3/7")],
            "plain": [attempt("+", 0, "5")],
        },
    ),
    arm("cfr", {"mod": "+", "code": "+", "plain": [attempt("-", 0, "5.5")]}),
    problems=DEMANDING,
)


def notes(made: Study, rule: ErrorRule | None = None) -> str:
    return " ".join(error_table("errors", made, "cfr", rule).notes)


def test_errors_in_both_directions_with_their_shares() -> None:
    table = to_markdown(error_table("errors", FLIPPED, "cfr"))
    assert "| model | Forgot modular reduction | 1 | 50.0 % | 0 | 0.0 % |" in table
    assert "|  | Non-integer answer | 0 | 0.0 % | 1 | 100.0 % |" in table
    assert "|  | All | 2 | 100.0 % | 1 | 100.0 % |" in table
    assert "Ignored parity" not in table  # nobody did


def test_what_is_only_wrong_is_other_and_the_note_says_so() -> None:
    wrong = study(
        arm("direct", {"plain": [attempt("-", 0, "6")]}),
        arm("cfr", {"plain": "+"}),
        problems=DEMANDING,
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


def test_what_is_open_for_want_of_the_right_answer_is_said() -> None:
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
    assert "right answer is not" not in notes(FLIPPED)


def test_what_a_person_said_is_counted() -> None:
    classes = ErrorClasses(
        {
            (("set", "mod"), "", ""): "arithmetic",
            (("set", "plain"), "cfr", ""): "misled_by_cue",
        },
        unknown=1,
    )
    said = notes(FLIPPED, ErrorRule(classes=classes))
    assert "2 of 3 were classed by a person." in said
    assert "Classes for problems or models that are not in this study: 1 line." in said


def test_fixes_by_the_constraint_that_was_broken() -> None:
    assert cells(error_table("fixes", FLIPPED, "cfr")) == [
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


# Outcomes.

BASE = {"both": "+-", "gained": "--", "lost": "-+", "neither": "--", "gone": "++", "failed": "++"}
OURS = {"both": "-+", "gained": "+-", "lost": "--", "neither": "--", "failed": "??"}
OUTCOMES = study(
    *(arm("direct", BASE, benchmark="aime24"), arm("cfr", OURS, benchmark="aime24")),
    *(arm("direct", {"p": "+"}, benchmark="aime25"), arm("cfr", {"p": "+"}, benchmark="aime25")),
)


def test_the_table() -> None:
    table = to_markdown(error_table("outcomes", OUTCOMES, "cfr"))
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
    table = error_table("outcomes", OUTCOMES, "reminder")
    assert (table.rows, len(table.notes)) == ((), 1)
    assert "reminder and direct share no judged problem" in table.notes[0]


# Per problem.

POSED = texts(
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
        problems=POSED,
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
