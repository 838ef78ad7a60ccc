import json
from dataclasses import replace
from pathlib import Path

import pytest
from hand_made import arm, study

from constraint_first.error import InputError
from constraint_first.report.exhibit.marks import (
    ErrorLabel,
    append_error_label,
    error_accords,
    read_classes,
    read_error_labels,
)

LABEL = ErrorLabel("ada", "set", "p", "cfr", "x", "out_of_range", "12 is not below 9")
STUDY = study(arm("cfr", {"p": "-"}, model="x"))


def test_a_label_is_kept_as_a_line_that_the_other_commands_read(tmp_path: Path) -> None:
    path = tmp_path / "classes.jsonl"
    assert read_error_labels(path) == []
    append_error_label(path, LABEL)
    assert json.loads(path.read_text()) == {
        "annotator": "ada",
        "benchmark": "set",
        "problem": "p",
        "method": "cfr",
        "model": "x",
        "class": "out_of_range",
        "names": 2,
        "note": "12 is not below 9",
    }
    assert read_error_labels(path) == [LABEL]
    assert read_classes(path, STUDY).find(("set", "p"), "cfr", "x") == "out_of_range"


def test_the_last_line_of_an_annotator_counts(tmp_path: Path) -> None:
    path = tmp_path / "classes.jsonl"
    path.write_text('{"problem": "p", "class": "other"}\n')  # nobody's in particular
    again = replace(LABEL, mistake="other", note="")
    for one in (LABEL, replace(LABEL, annotator="ben"), again):
        append_error_label(path, one)
    assert read_error_labels(path) == [again, replace(LABEL, annotator="ben")]


@pytest.mark.parametrize("change", [{"class": "lazy"}, {"annotator": "?"}, {"problem": ""}])
def test_a_line_that_makes_no_sense_is_refused(tmp_path: Path, change: dict[str, str]) -> None:
    path = tmp_path / "classes.jsonl"
    path.write_text(json.dumps(LABEL.to_json() | change) + "\n")
    with pytest.raises(InputError, match=r"line 1: .*; correct the line or remove it"):
        read_error_labels(path)


def test_agreement_is_measured_on_what_both_classed() -> None:
    ada = [replace(LABEL, problem=name) for name in "abc"]
    ben = [
        replace(LABEL, annotator="ben", problem="a"),
        replace(LABEL, annotator="ben", problem="b", mistake="other"),
    ]
    (found,) = error_accords([*ada, *ben])
    assert (found.annotators, found.n, found.agree) == (("ada", "ben"), 2, 1)
    assert error_accords(ada) == []
    (same,) = error_accords([ada[0], ben[0]])
    assert same.reason == "both marked every error out of range"
    (apart,) = error_accords([ada[2], ben[0]])
    assert apart.reason == "no error was marked by both"
