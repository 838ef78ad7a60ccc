from pathlib import Path

import pytest
from hand_made import arm, study

from constraint_first.error import InputError
from constraint_first.report.exhibit.marks import (
    DEFAULT_RULE,
    ErrorClasses,
    ErrorRule,
    read_classes,
)

KEY = ("set", "p")
STUDY = study(arm("cfr", {"p": "-"}, model="x"), arm("cfr", {"p": "-"}, model="y"))
LINE = '{"problem": "p", "class": "other"}'


def write(path: Path, *lines: str) -> Path:
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
    path = write(
        tmp_path / "classes.jsonl",
        '{"problem": "p", "class": "other", "model": "z"}',
        '{"problem": "q", "class": "other"}',
        '{"problem": "p", "class": "other", "model": "x"}',
    )
    assert read_classes(path, STUDY) == ErrorClasses({(KEY, "", "x"): "other"}, unknown=2)


@pytest.mark.parametrize("line", ['{"problem": "p", "class": "lazy"}', '{"problem": "p"}'])
def test_an_unknown_class_is_refused_with_its_line(line: str, tmp_path: Path) -> None:
    path = write(tmp_path / "classes.jsonl", LINE, line)
    with pytest.raises(InputError, match=r"line 2: 'class' is .*; it must be one of forgot_"):
        read_classes(path, STUDY)


@pytest.mark.parametrize("about", ["", ', "method": "cfr"', ', "method": "cfr", "model": "x"'])
def test_lines_that_contradict_each_other_are_refused_with_both(about: str, tmp_path: Path) -> None:
    first, second = (
        f'{{"problem": "p", "class": "{name}"{about}}}' for name in ("other", "arithmetic")
    )
    path = write(tmp_path / "classes.jsonl", first, first, second)
    with pytest.raises(InputError, match=r"line 3: 'class' is arithmetic, but line 2 says other"):
        read_classes(path, STUDY)


def test_a_class_that_is_said_twice_is_said_once(tmp_path: Path) -> None:
    again = '{"problem": "p", "class": "other", "note": "again"}'
    path = write(tmp_path / "classes.jsonl", LINE, again)
    assert read_classes(path, STUDY).find(KEY, "cfr", "x") == "other"


def said(annotator: str, name: str) -> str:
    return f'{{"problem": "p", "class": "{name}", "annotator": "{annotator}"}}'


def test_an_annotator_may_think_again_and_most_of_them_decide(tmp_path: Path) -> None:
    path = write(
        tmp_path / "classes.jsonl",
        *(said("ada", "other"), said("ben", "arithmetic"), said("ada", "arithmetic")),
        said("cem", "other"),
    )
    assert read_classes(path, STUDY) == ErrorClasses({(KEY, "", ""): "arithmetic"})


def test_where_annotators_differ_nothing_is_decided(tmp_path: Path) -> None:
    path = write(tmp_path / "classes.jsonl", said("ada", "other"), said("ben", "arithmetic"))
    assert read_classes(path, STUDY) == ErrorClasses(disputed=1)
    path = write(tmp_path / "classes.jsonl", said("ada", "arithmetic"), LINE)
    assert read_classes(path, STUDY).find(KEY, "cfr", "x") == "other"


def test_any_run_may_make_a_problem_right_unless_another_rule_is_named() -> None:
    assert ErrorRule() == DEFAULT_RULE
    assert (DEFAULT_RULE.right, DEFAULT_RULE.classes) == ("any", ErrorClasses())
