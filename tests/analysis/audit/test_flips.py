from pathlib import Path

from hand_made import arm, attempt, study, texts
from instructed import request_store

from constraint_first.benchmark.constraintbench.item import load
from constraint_first.report.exhibit.errors import flips
from constraint_first.report.exhibit.marks import ErrorRule, read_classes
from constraint_first.report.reader import open_study
from constraint_first.report.study import ProblemText

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
