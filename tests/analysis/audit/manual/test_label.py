import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.constraint.stage1 import Constraint, ConstraintSpec, Propagated
from constraint_first.error import InputError, OutputError
from constraint_first.report.exhibit.marks import (
    MARKS,
    Judged,
    Label,
    append_label,
    begin_labels,
    check_annotator,
    read_labels,
    unmarked,
)
from constraint_first.store.query import RecordKey

DECODING = '{"temperature":0.7,"top_p":0.95,"seed":null}'
KEY: RecordKey = ("aime24", "cfr", "m", DECODING, "p1", 0)
C1: dict[str, Any] = {"id": "C1", "stage": "raw", "mark": "entailed"}
LINE: dict[str, Any] = {
    "annotator": "ada",
    "benchmark": "aime24",
    "problem": "p1",
    "method": "cfr",
    "model": "m",
    "decoding": json.loads(DECODING),
    "run": 0,
    "constraints": [
        C1,
        {"id": "P1", "stage": "propagated", "mark": "vague"},
    ],
    "missing": ["x ≤ 9"],
    "names": 2,
}
LABEL = Label(
    "ada", KEY, (Judged("C1", "raw", "entailed"), Judged("P1", "propagated", "vague")), ("x ≤ 9",)
)


def write(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_label_is_one_line_in_the_documented_form(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    append_label(path, LABEL)
    assert [json.loads(line) for line in path.read_text().splitlines()] == [LINE]
    assert read_labels([path]) == [LABEL]
    assert (LABEL.counts, LABEL.complete) == ((1, 1), True)


@given(
    missing=st.lists(st.text(st.characters(), min_size=1).filter(str.strip)),
    note=st.text(st.characters()),
    ids=st.lists(st.tuples(st.text(st.characters()), st.sampled_from([None, *MARKS])), max_size=4),
)
def test_any_text_comes_back_as_it_was(
    missing: list[str],
    note: str,
    ids: list[tuple[str, Any]],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path = tmp_path_factory.mktemp("labels") / "labels.jsonl"
    constraints = tuple(Judged(name, "raw", mark) for name, mark in ids)
    label = Label("ada", KEY, constraints, tuple(missing), note)
    append_label(path, label)
    assert read_labels([path]) == [label]


def test_a_lone_surrogate_is_kept(tmp_path: Path) -> None:
    label = Label("ada", KEY, (Judged("\ud800", "raw", "vague"),))
    append_label(tmp_path / "labels.jsonl", label)
    assert read_labels([tmp_path / "labels.jsonl"]) == [label]


def test_a_later_line_replaces_an_earlier_one_of_the_same_annotator(tmp_path: Path) -> None:
    first, second = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    write(first, LINE, LINE | {"annotator": "ben"}, LINE | {"missing": []})
    write(second, LINE | {"annotator": "ben", "note": "again"})
    ada, ben = read_labels([first, second])
    assert (ada.annotator, ada.missing) == ("ada", ())
    assert (ben.annotator, ben.missing, ben.note) == ("ben", ("x ≤ 9",), "again")


def test_a_label_that_misses_a_mark_is_a_draft(tmp_path: Path) -> None:
    spec = ConstraintSpec(
        raw_constraints=(Constraint("C1", "domain", "an integer"),),
        propagated_constraints=(Propagated("P1", ("C1",), "not a half"),),
    )
    draft = unmarked("ada", KEY, spec)
    assert not draft.complete
    assert not draft.begun
    append_label(tmp_path / "labels.jsonl", draft)
    assert read_labels([tmp_path / "labels.jsonl"]) == [draft]
    assert json.loads((tmp_path / "labels.jsonl").read_text())["constraints"][0] == {
        "id": "C1",
        "stage": "raw",
        "mark": None,
        "digest": hashlib.sha256(b"an integer").hexdigest()[:12],
    }
    assert draft.same_constraints(LABEL)


def test_other_words_under_the_same_name_are_another_constraint(tmp_path: Path) -> None:
    def label(by: str, words: str) -> Label:
        raw = (Constraint("C1", "domain", words),)
        return unmarked(by, KEY, ConstraintSpec(raw_constraints=raw))

    ada, ben = label("ada", "an integer"), label("ben", "a real number")
    assert ada.same_constraints(label("ben", "an integer"))
    assert not ada.same_constraints(ben)
    old = Label("cy", KEY, (Judged("C1", "raw", "vague"),))
    assert old.same_constraints(ada)
    assert ben.same_constraints(old)
    path = tmp_path / "labels.jsonl"
    for one in (old, ada, ben):  # a first line without words hides no difference
        append_label(path, one)
    with pytest.raises(InputError, match=r"line 3: .* are not those that ada judged"):
        read_labels([path])


def test_words_that_have_no_utf8_have_a_digest_too(tmp_path: Path) -> None:
    spec = ConstraintSpec(raw_constraints=(Constraint("C1", "domain", "even\udfff"),))
    label = unmarked("ada", KEY, spec)
    append_label(tmp_path / "labels.jsonl", label)
    assert read_labels([tmp_path / "labels.jsonl"]) == [label]
    assert len(label.constraints[0].digest) == 12


def test_what_was_cut_off_does_not_swallow_the_next_label(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text(json.dumps(LINE | {"problem": "p0"}))  # no line end
    append_label(path, LABEL)
    assert len(read_labels([path])) == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"annotator": None}, "'annotator' must be a text, not None"),
        ({"annotator": "\x1b[31m"}, "a name has up to 40 letters"),
        ({"model": 3}, "'model' must be a text, not 3"),
        ({"run": "0"}, "'run' must be a whole number, not '0'"),
        ({"run": True}, "'run' must be a whole number, not True"),
        ({"decoding": "{}"}, "'decoding' must be an object, not '{}'"),
        ({"decoding": {"seed": 10**30}}, "'decoding' cannot be read"),
        ({"constraints": None}, "'constraints' must be a list of objects, not None"),
        ({"constraints": ["C1"]}, "must be a list of objects"),
        ({"constraints": [{"id": "C1", "stage": "raw"}]}, "needs 'mark', one of entailed"),
        ({"constraints": [C1, C1 | {"mark": "yes"}]}, "constraints 2: 'mark' must be one of"),
        ({"constraints": [C1 | {"stage": ["raw"]}]}, "'stage' must be one of raw, propagated"),
        ({"constraints": [{"stage": "raw", "mark": "vague"}]}, "needs 'id', a text"),
        ({"constraints": [C1 | {"digest": "xyz"}]}, "'digest' must be 12 hexadecimal digits"),
        ({"constraints": [C1 | {"digest": None}]}, "'digest' must be 12 hexadecimal digits"),
        ({"missing": "none"}, "'missing' must be a list of texts"),
        ({"missing": [" "]}, "must be a list of texts that are not blank"),
        ({"note": 1}, "'note' must be a text, not 1"),
    ],
)
def test_a_damaged_line_is_named(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = write(tmp_path / "labels.jsonl", LINE, LINE | change)
    with pytest.raises(InputError, match=r"labels\.jsonl, line 2: ") as caught:
        read_labels([path])
    assert message in str(caught.value)


def test_half_a_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text(json.dumps(LINE) + "\n" + json.dumps(LINE)[:40])
    with pytest.raises(InputError, match=r"line 2: not JSON"):
        read_labels([path])


def test_annotators_who_saw_different_constraints_are_not_mixed(tmp_path: Path) -> None:
    other = LINE | {"annotator": "ben", "constraints": LINE["constraints"][:1]}
    path = write(tmp_path / "labels.jsonl", LINE, other)
    with pytest.raises(InputError, match=r"line 2: .* are not those that ada judged"):
        read_labels([path])
    replaced = write(tmp_path / "replaced.jsonl", other | {"annotator": "ada"}, LINE)
    assert len(read_labels([replaced])) == 1


@pytest.mark.parametrize("name", ["ada", "A. Lovelace", "zoë-2", "a@b.c", "x" * 40])
def test_names(name: str) -> None:
    assert check_annotator(name) == name


@pytest.mark.parametrize("name", ["", " ", "ada ", "-x", "a/b", "a\nb", "[red]", "x" * 41])
def test_names_that_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="a name has up to 40 letters"):
        check_annotator(name)


def test_a_file_is_begun_once_and_then_added_to(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    assert begin_labels(path) == []
    assert path.read_bytes() == b""
    append_label(path, LABEL)
    assert begin_labels(path) == [LABEL]


def test_a_file_that_cannot_be_made_is_refused_before_anything_is_judged(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="cannot be written"):
        begin_labels(tmp_path / "none" / "labels.jsonl")
    with pytest.raises(OutputError, match="cannot be written"):
        append_label(tmp_path, LABEL)
