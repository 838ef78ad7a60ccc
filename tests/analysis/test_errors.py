"""Errors, outcomes and cases."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hand_made import arm, attempt, study, texts
from hypothesis import given
from hypothesis import strategies as st
from instructed import request_store
from snapshot import Golden

from constraint_first.answer.value import read_answer, same
from constraint_first.answer.workers import Workers
from constraint_first.benchmark.constraintbench.family import ERRORS, GoldConstraint, Item, load
from constraint_first.constraint import predicate as demand
from constraint_first.constraint.predicate import Predicate
from constraint_first.error import InputError
from constraint_first.report.exhibit import errors
from constraint_first.report.exhibit.errors import (
    NO_KIND,
    CaseStudy,
    Dominant,
    cases,
    changed_problems,
    dominant_constraint,
    error_tables,
    flips,
    open_case,
)
from constraint_first.report.exhibit.marks import (
    MISTAKE_LABELS,
    MISTAKES,
    Demands,
    ErrorClasses,
    ErrorRule,
    Mistake,
    mistake,
    read_classes,
    read_person_lines,
)
from constraint_first.report.reader import open_study
from constraint_first.report.study import Outcome, ProblemText, Study, Transcript
from constraint_first.report.table import Table, to_markdown

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


def for_want_of_gold() -> Study:
    wrong = {
        "none": [attempt("-", 0, "5.5")],
        "gold": [attempt("-", 0, "5.5")],
        "silent": [attempt("0", 0)],
        "lost": "-",
    }
    return study(
        arm("direct", wrong),
        arm("cfr", dict.fromkeys(wrong, "+")),
        problems={("set", "gold"): ProblemText("", "5")},
    )


def test_what_is_open_for_want_of_the_right_answer_is_counted() -> None:
    found = {flip.problem: flip for flip in flips(for_want_of_gold(), "cfr")}
    assert (found["none"].mistake, found["gold"].mistake) == ("other", "not_an_integer")
    assert [name for name, flip in found.items() if flip.for_want_of_gold] == ["none"]
    assert (found["lost"].mistake, found["lost"].kept) == ("other", False)


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


def modelled(model: str) -> str:
    return f'{{"problem": "p", "class": "other", "model": "{model}"}}'


def by(annotator: str, name: str) -> str:
    return f'{{"problem": "p", "class": "{name}", "annotator": "{annotator}"}}'


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        # Lines of another study are counted.
        (
            [modelled("z"), LINE.replace('"p"', '"q"'), modelled("x")],
            ErrorClasses({(KEY, "", "x"): "other"}, unknown=2),
        ),
        # A class that is said twice is said once.
        ([LINE, LINE[:-1] + ', "note": "again"}'], ErrorClasses({(KEY, "", ""): "other"})),
        # An annotator may think again, and most of them decide; a line of nobody's counts before.
        (
            [
                by("ada", "other"),
                by("ben", "arithmetic"),
                by("ada", "arithmetic"),
                by("cem", "other"),
            ],
            ErrorClasses({(KEY, "", ""): "arithmetic"}),
        ),
        ([by("ada", "other"), by("ben", "arithmetic")], ErrorClasses(disputed=1)),
        ([by("ada", "arithmetic"), LINE], ErrorClasses({(KEY, "", ""): "other"})),
    ],
)
def test_which_class_counts(lines: list[str], found: ErrorClasses, tmp_path: Path) -> None:
    assert read_classes(write(tmp_path / "classes.jsonl", *lines), CLASSED) == found


@pytest.mark.parametrize("line", ['{"problem": "p", "class": "lazy"}', '{"problem": "p"}'])
def test_an_unknown_class_is_refused_with_its_line(line: str, tmp_path: Path) -> None:
    path = write(tmp_path / "classes.jsonl", LINE, line)
    with pytest.raises(InputError, match=r"line 2: 'class' is .*; it must be one of forgot_"):
        read_classes(path, CLASSED)


@pytest.mark.parametrize("about", ["", ', "method": "cfr"', ', "method": "cfr", "model": "x"'])
def test_lines_that_contradict_each_other_are_refused_with_both(about: str, tmp_path: Path) -> None:
    first, second = (
        f'{{"problem": "p", "class": "{name}"{about}}}' for name in ("other", "arithmetic")
    )
    path = write(tmp_path / "classes.jsonl", first, first, second)
    with pytest.raises(InputError, match=r"line 3: 'class' is arithmetic, but line 2 says other"):
        read_classes(path, CLASSED)


# Person file.

NAMED = study(
    arm("direct", {"1": "+", "2": "-"}, benchmark="aime24"),
    arm("direct", {"1": "+"}, benchmark="aime25"),
    problems=texts({"9": "Find x."}, benchmark="aime25"),
)


def read(path: Path, *lines: str) -> list[tuple[str, str] | None]:
    return [line.key for line in read_person_lines(write(path, *lines), NAMED)]


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


@pytest.mark.parametrize(
    ("attempts", "label"),
    [
        ([attempt("+", kinds=["parity", "bound"]), attempt("+", 1, kinds=["bound"])], "Bound"),
        ([critical("modular")], "Modular"),
        ([critical()], "Bound"),
        # A domain gives way to any other kind.
        ([attempt("+", kinds=["domain", "domain", "format"])], "Format"),
        ([attempt("+", kinds=["domain", "domain"])], "Domain"),
        ([attempt("+", kinds=["bound", "parity"])], "Parity + bound"),
        ([attempt("+", kinds=["bound", "parity", "modular"])], "Multiple"),
        ([attempt("+", kinds=["colour"])], "Other"),
    ],
)
def test_the_kind_of_most_constraints_that_stage_1_lists_dominates(
    attempts: list[Outcome], label: str
) -> None:
    found = dominant(*attempts)
    assert (found.label, found.by_stage1) == (label, True)


def test_without_stage_1_it_is_the_cues() -> None:
    asked = dominant(attempt("+"), text="How many have remainder 2?")
    assert (asked.label, asked.by_stage1) == ("Modular", False)
    assert dominant(attempt("+"), text="How many?").label == "Integer/Count"
    assert dominant(attempt("+", kinds=[]), text="How many?").label == "Integer/Count"
    assert dominant(attempt("+"), text="Compute it.") == Dominant()
    made = arm("cfr", {"p": "+"})
    assert dominant_constraint(study(made), made, "p") == Dominant()  # without a text
    assert Dominant().label == ""


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
    ways = [(case.problem, case.change) for case in found]
    assert ways == [("a", "fixed"), ("b", "fixed"), ("c", "broken")]
    first = found[0]
    assert (first.text, first.baseline.right, first.method.right) == ("What is 2 + 2?", 0, 2)
    assert (first.baseline.transcript.correct, first.method.transcript.correct) == (False, True)
    assert (first.ratio, first.title, first.opening) == (2.5, "a, set, model", "What is 2 + 2?")
    assert found[1].baseline.run == 1  # the run that was wrong
    assert found[2].baseline.transcript.correct
    # Their number is kept and shared out; outcomes without texts make none.
    few = cases(example(), "direct", "cfr", most=2)
    assert [case.change for case in few] == ["fixed", "broken"]
    bare = study(arm("direct", {"a": "-"}), arm("cfr", {"a": "+"}))
    assert cases(example(), "direct", "cfr", most=0) == cases(bare, "direct", "cfr") == []
    assert cases(example(), "direct", "direct") == cases(example(), "nobody", "cfr") == []


def test_cases_are_grouped_by_the_constraint_that_dominates_them() -> None:
    kinds = {"a": ["parity"], "b": None, "c": ["parity", "bound"], "d": ["bound", "bound"]}
    direct = arm("direct", dict.fromkeys(kinds, "--"))
    runs = {name: [attempt("+", n, kinds=own) for n in (0, 1)] for name, own in kinds.items()}
    ours = arm("cfr", runs)
    said = {
        (*one.key, name, run): Transcript("so", "4", one is ours, 1)
        for one in (direct, ours)
        for name in kinds
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
    ours = arm("routed-cfr", routed)
    found: dict[str, list[CaseStudy]] = {}
    for base in ("direct", "cfr"):
        other = arm(base, marks)
        said = {
            (*one.key, problem, run): Transcript("so", "4", None, 1)
            for one in (other, ours)
            for problem in marks
            for run in (0, 1)
        }
        found[base] = cases(study(other, ours, transcripts=said), base, "routed-cfr")
    (case,) = found["direct"]
    assert (case.problem, case.method.run) == ("c", 1)  # the run that was routed
    assert len(found["cfr"]) == 3  # against CFR, not to route is what makes the difference


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


# Tables of errors, of outcomes and of single problems.

POSED = texts(
    {"1": "How many?", "2": "Compute it.", "3": "How many?", "4": "Compute it."},
    benchmark="aime25",
    gold={"1": "7", "2": "8", "3": "9", "4": "10"},
)


def named(model: str = "qwen3.5-9b-instruct") -> Study:
    """A benchmark and a model that the paper shows problem by problem."""
    base = {
        "1": [attempt("-", 0, "7.5"), attempt("-", 1, "7.5")],
        "2": [attempt("+", 0, "8")] * 2,
        "3": [attempt("+", 0, "9")] * 2,
        "4": [attempt("-", 0, "1")] * 2,
    }
    ours = base | {
        "1": [attempt("+", 0, "7", kinds=["domain", "format"]), attempt("-", 1, "1")],
        "3": [attempt("-", 0, "1009")] * 2,
    }
    return study(
        arm("direct", base, benchmark="aime25", model=model),
        arm("cfr", ours, benchmark="aime25", model=model),
        problems=POSED,
    )


def both(before: dict[str, Any], after: dict[str, Any], **more: Any) -> Study:
    return study(arm("direct", before), arm("cfr", after), **more)


def tables() -> Iterator[Table]:
    """Errors in both directions, and a note on all that limits what their classes say."""
    yield from error_tables(STUDY, "cfr")
    # Classes of people; two of three errors, a line about another study and a dispute.
    given: Any = {(("set", "mod"), "", ""): "arithmetic", (("set", "plain"), "cfr", ""): "other"}
    classes = ErrorClasses(given, unknown=1, disputed=2)
    yield [*error_tables(STUDY, "cfr", rule=ErrorRule(classes=classes))][1]
    # Wrong and no more than that; nothing on record to judge by; nothing wrong.
    wrong = both({"plain": [attempt("-", 0, "6")]}, {"plain": "+"}, problems=PROBLEMS)
    yield from error_tables(wrong, "cfr")
    yield from error_tables(for_want_of_gold(), "cfr")
    yield from error_tables(both({"p": "+"}, {"p": "+"}), "cfr")
    # Several benchmarks and models, with a row for the years of AIME together.
    wrong_each = {"p": [attempt("-", 0, "5.5")]}
    arms = (
        arm(method, wrong_each if method == "direct" else {"p": "+"}, benchmark=here, model=model)
        for method in ("direct", "cfr")
        for here in ("aime24", "aime25")
        for model in ("m", "n")
    )
    yield from error_tables(study(*arms, problems=texts({"p": "x?"}, "aime25", {"p": "5"})), "cfr")
    base = {"both": "+-", "gained": "--", "lost": "-+", "neither": "--", "gone": "++", "?": "++"}
    ours = {"both": "-+", "gained": "+-", "lost": "--", "neither": "--", "?": "??"}
    yield from error_tables(both(base, ours), "cfr")
    # By the first run other problems are fixed; runs that differ in number matter by any run alone.
    for rule in (ErrorRule(), ErrorRule("first")):
        yield from error_tables(
            both({"p": "-+", "q": "----"}, {"p": "+-", "q": "+"}), "cfr", rule=rule
        )
    # Problems that were not routed are neither fixed nor introduced, and a method shares none.
    base = {"1": "-", "2": "+", "3": "-"}
    marks = {"1": ("+", False), "2": ("-", False), "3": ("+", True)}
    routed = {name: [attempt(mark, routed=on)] for name, (mark, on) in marks.items()}
    yield from error_tables(study(arm("direct", base), arm("routed-cfr", routed)), "routed-cfr")
    yield from error_tables(STUDY, "reminder")
    # A condition that is met at last is propagation.
    item = next(item for item in load("mini@1") if item.family == "two_remainders")
    lure = next(one.answer for one in item.tempting if one.error == "forgot_modular_reduction")
    here = "constraintbench-mini"
    sides = {"direct": [attempt("-", 0, lure)], "cfr": "+"}
    found = study(*(arm(name, {item.id: made}, benchmark=here) for name, made in sides.items()))
    yield from error_tables(found, "cfr")
    yield from error_tables(named(), "cfr")


def test_tables_that_can_be_worked_out_by_hand(golden: Golden) -> None:
    text = "\n".join(f"{one.name}, {one.paper}: {to_markdown(one)}" for one in tables())
    assert text == golden("errors-by-hand.md")


def test_where_rows_are_few_those_that_changed_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "_MOST_ROWS", 2)
    *_, table = error_tables(named(), "cfr")
    assert [line.cells[0].text for line in table.rows] == ["1", "3", "Correct"]
    assert table.notes[-1].startswith("2 of 4 problems are left out")
    assert table.rows[-1].cells[2].text == "2"  # the totals are still those of all
    # Models of like names have tables of their own.
    alike = study(*named("a/b").arms, *named("a-b").arms)
    names = [table.name for table in [*error_tables(alike, "cfr")][3:]]
    assert names[1] == "per-problem-aime25-a-b"
    assert len(set(names)) == 2


# What a wrong answer shows.

MOD = "Find the remainder when $N$ is divided by $1000$."
SUM = "It is $\\frac{m}{n}$ in lowest terms. Find $m+n$."
SURD = "It is $\\frac{a\\sqrt{b}}{c}$. Find $a+b+c$."
ROOT = "It is $m\\sqrt{n}$. Find $m+n$."
BIG = "It is $\\frac{m}{n}$. Find $100m+n$."
FIND_X = "Find $x$."

SHIPPED = [*load("public"), *load("hard"), *load("public@1")]


def by_text(text: str, right: str | None, answer: str | None, benchmark: str = "") -> Mistake:
    return mistake(answer, Demands.of_text(text, right, benchmark))


def by_gold(problem: Item, answer: str | None) -> Mistake:
    return mistake(answer, Demands.of_item(problem))


@pytest.mark.parametrize(
    ("text", "right", "answer", "expected"),
    [
        # Not reduced.
        (MOD, "16", "1016", "forgot_modular_reduction"),
        (MOD, "16", "\\boxed{2{,}016}", "forgot_modular_reduction"),
        (MOD, "16", "2,016", "forgot_modular_reduction"),
        (MOD, "24", "2^{10}", "forgot_modular_reduction"),
        (MOD, "999", "-1", "forgot_modular_reduction"),
        (MOD, "0", "1" + "0" * 500, "forgot_modular_reduction"),
        ("What is the units digit of $18^6$?", "4", "34012224", "out_of_range"),
        ("Compute $40 \\bmod 7$.", "5", "40", "forgot_modular_reduction"),
        (FIND_X, "16", "1016", "other"),  # no modulus is stated
        ("How many leave a remainder of 1 when divided by 7?", "5", "12", "other"),
        # Not encoded.
        (SUM, "10", "\\frac{3}{7}", "encoded_form_not_applied"),
        (SUM, "10", "3/7", "encoded_form_not_applied"),
        (SUM, "10", "$\\dfrac{3}{7}$", "encoded_form_not_applied"),
        (SUM, "10", "6/14", "encoded_form_not_applied"),  # by its value
        (SUM, "20", "6/14", "encoded_form_not_applied"),  # as it is written
        (SUM, "7", "0.75", "encoded_form_not_applied"),
        (SURD, "15", "\\frac{3\\sqrt{5}}{7}", "not_an_integer"),
        (ROOT, "5", "2\\sqrt{3}", "not_an_integer"),
        (ROOT, "4", "\\sqrt{3}", "not_an_integer"),
        (BIG, "307", "\\frac37", "not_an_integer"),
        (SUM, "10", "\\frac{3}{8}", "not_an_integer"),
        (FIND_X, "10", "\\frac{3}{7}", "not_an_integer"),  # no code is stated
        # Not an integer.
        (FIND_X, "204", "204.5", "not_an_integer"),
        (FIND_X, "3", "\\pi", "not_an_integer"),
        (FIND_X, "4", "1+\\sqrt{2}", "not_an_integer"),
        (FIND_X, "90^\\circ", "118.1^\\circ", "not_an_integer"),
        (FIND_X, "5", "x + \\frac12", "other"),  # not a number
        (SUM, "\\frac32", "1+\\sqrt{2}", "other"),  # the right answer is not whole either
        (FIND_X, "80", "75\\%", "other"),  # a percentage is the number that it names
        (FIND_X, "\\frac12", "\\frac13", "other"),  # the right answer is none either
        # Out of range.
        (MOD, "16", "4017", "out_of_range"),
        ("Find the largest prime less than 100.", "97", "101", "out_of_range"),
        ("Find the largest prime less than 100.", "97", "100", "out_of_range"),
        ("Find the largest prime less than 100.", "97", "89", "other"),
        ("What is the probability of rain?", "\\frac{1}{3}", "2", "out_of_range"),
        ("What is the probability of rain?", "\\frac{1}{3}", "\\sqrt{2}", "out_of_range"),
        ("What is the probability of rain?", "\\frac{1}{3}", "\\frac{\\sqrt{2}}{2}", "other"),
        # No answer.
        (FIND_X, "5", None, "no_answer"),
        (FIND_X, "5", " \n", "no_answer"),
        # Nothing to judge by, or nothing wrong that could be seen.
        (FIND_X, None, "5", "other"),
        (FIND_X, "(1, 2)", "7", "other"),
        (FIND_X, "\\text{east}", "7", "other"),
        (FIND_X, "5", "5.0", "other"),
        (FIND_X, "5", "eval(__import__('os').abort())", "other"),
    ],
)
def test_what_an_answer_shows(
    text: str, right: str | None, answer: str | None, expected: Mistake
) -> None:
    assert by_text(text, right, answer) == expected


def test_aime_answers_have_a_range_of_their_own() -> None:
    assert by_text(FIND_X, "204", "1204", "aime24") == "out_of_range"
    assert by_text(FIND_X, "204", "-4", "aime25") == "out_of_range"
    assert by_text(FIND_X, "204", "205", "aime24") == "other"
    assert by_text(FIND_X, "204", "1204", "gsm8k") == "other"


@pytest.mark.parametrize(
    "answer",
    [
        "9" * 5_000,
        "9^{9^{9^{9}}}",
        "{" * 900 + "1" + "}" * 900,
        "(" * 900 + "1" + ")" * 900,
        "\\sqrt{" * 30 + "2" + "}" * 30,
        "\\frac{1}{" * 80 + "2" + "}" * 80,
        "20000!" * 30,
        "1" + "+1" * 490,
        "\\sin(" * 30 + "1" + ")" * 30,
        "-" * 999,
        "\x00\x1b[2J\ud800",
        "1/0",
        "\\infty",
    ],
)
def test_hostile_answers_end_in_a_class(answer: str) -> None:
    assert by_text(SUM + " " + MOD, "16", answer, "aime24") in MISTAKES


@given(st.text(max_size=60) | st.text("0123456789+-/\\{}()sqrtfac^ .,%$", max_size=60))
def test_any_answer_has_a_class(answer: str) -> None:
    found = by_text(SUM, "16", answer)
    assert (found == "no_answer") == (not answer.strip())


def test_each_tempting_answer_gets_its_label() -> None:
    for problem in SHIPPED:
        right = read_answer(problem.answer)
        assert right is not None
        assert by_gold(problem, None) == "no_answer"
        assert by_gold(problem, problem.answer) == "other", problem.id
        for lure in problem.tempting:
            value = read_answer(lure.answer)
            assert value is not None
            if problem.version > 1 or lure.error != "forgot_modular_reduction":
                # An unreduced fraction has the right value: a grader by value takes it for right.
                expected = "other" if same(value, right) else lure.error
                assert by_gold(problem, lure.answer) == expected, problem.id


def test_only_the_right_value_before_its_reduction_forgot_one() -> None:
    for problem in load("public@1"):
        asked = [p["modulus"] for p in Demands.of_item(problem).predicates if "modulus" in p]
        right = read_answer(problem.answer)
        for lure in problem.tempting:
            value = read_answer(lure.answer)
            if lure.error == "forgot_modular_reduction" and value and right:
                found = by_gold(problem, lure.answer)
                assert found in ("forgot_modular_reduction", "out_of_range", "broken_condition")
                if found == "forgot_modular_reduction":
                    assert value.number is not None
                    assert right.number is not None
                    gap = value.number - right.number
                    assert any(isinstance(m, int) and gap % m == 0 for m in asked), problem.id


def gold_item(answer: str, *predicates: Predicate) -> Item:
    rules = tuple(GoldConstraint("domain", "rule", one) for one in predicates)
    return Item("text", answer, "integer", rules, (), "explicit", "family", 1, 1, 1)


@pytest.mark.parametrize(
    ("problem", "answer", "error"),
    [
        (gold_item("3", demand.least_residue(7)), "24", "forgot_modular_reduction"),
        (gold_item("3", demand.least_residue(7)), "25", "out_of_range"),
        (gold_item("3", demand.least_residue(7)), "5", "other"),
        (gold_item("3", demand.least_residue(7)), "7/2", "not_an_integer"),
        (gold_item("3", demand.least_residue(7)), r"1+\sqrt{2}", "not_an_integer"),
        (gold_item("2", demand.encoded("m+n", (3, 7), 4)), "10", "forgot_modular_reduction"),
        (gold_item("10", demand.encoded("m+n", (3, 7))), "3/7", "encoded_form_not_applied"),
        (gold_item("10", demand.encoded("m+n", (3, 7))), "11", "other"),
        (gold_item("5", demand.encoded("a+b", (2, 3))), r"2\sqrt{3}", "encoded_form_not_applied"),
        (gold_item("5", demand.encoded("a+b", (2, 3))), r"1+2\sqrt{3}", "encoded_form_not_applied"),
        (gold_item("4", demand.integer()), "4.5", "not_an_integer"),
        (gold_item("4", demand.integer()), r"3\frac{1}{2}", "not_an_integer"),
        (gold_item("4", demand.between(0, 9)), "12", "out_of_range"),
        (gold_item("4", demand.between(0, 9)), r"12\,\text{cm}", "out_of_range"),
        (gold_item("1/2", demand.between(0, 1)), "3/2", "out_of_range"),
        (gold_item("4", demand.parity("even")), "5", "ignored_parity"),
        (gold_item("4", demand.parity("even")), "7 square metres", "ignored_parity"),
        (gold_item("4", demand.congruent(1, 3)), "5", "broken_condition"),
        (gold_item("4", demand.congruent(1, 3)), "7", "other"),  # a search asks for no remainder
        (gold_item("4", demand.divisible(2)), "9", "broken_condition"),
        (gold_item("4", demand.divisible(2)), "9/2", "not_an_integer"),
        (gold_item("1/2", demand.not_whole()), "1", "misled_by_cue"),
        (gold_item("B", demand.form("choice")), "17", "encoded_form_not_applied"),
        (gold_item("B", demand.form("choice")), "C", "other"),
        (gold_item("4", demand.integer()), "C", "other"),
        (gold_item("4", demand.all_of(demand.integer(), demand.above(0))), "-4", "out_of_range"),
        (gold_item("4", demand.integer()), "no idea", "other"),
        (gold_item("4", demand.integer()), None, "no_answer"),
        (gold_item("4", demand.integer()), "4.0", "other"),
        (gold_item("1/2", demand.between(0, 1)), r"\frac{2}{4}", "other"),
        (gold_item("1/2", demand.between(0, 1)), r"\pi", "other"),
    ],
)
def test_other_wrong_answers_are_judged_by_what_they_break(
    problem: Item, answer: str | None, error: Mistake
) -> None:
    assert by_gold(problem, answer) == error


def test_a_demand_that_the_right_answer_breaks_is_no_demand() -> None:
    text = "Find the largest prime less than 100."
    assert by_text(text, "997", "1001") == "other"


def test_a_constant_that_takes_too_long_is_in_no_class(monkeypatch: pytest.MonkeyPatch) -> None:
    def out_of_time(*_: object) -> None:
        return None

    monkeypatch.setattr(Workers, "is_whole", out_of_time)
    assert by_text(FIND_X, "3", r"\pi") == "other"


def test_every_class_has_a_label_and_takes_in_those_of_constraintbench() -> None:
    assert set(ERRORS) < set(MISTAKES) == set(MISTAKE_LABELS)
