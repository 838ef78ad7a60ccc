"""Marks of people: labels, samples, tasks, rates and agreement."""

import hashlib
import json
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from hand_made import arm, study, texts
from hypothesis import given
from hypothesis import strategies as st
from snapshot import Golden

from constraint_first.constraint.stage1 import Constraint, ConstraintSpec, Propagated
from constraint_first.error import InputError, OutputError
from constraint_first.report.exhibit.gold import Quality
from constraint_first.report.exhibit.marks import (
    ALL,
    MARKS,
    ErrorLabel,
    Judged,
    Label,
    Mark,
    Share,
    accords,
    annotator_table,
    append_label,
    begin_labels,
    by_method,
    check_annotator,
    draw,
    error_accords,
    error_annotator_table,
    labels_of,
    lay_out,
    manual_audit_table,
    rates,
    read_classes,
    read_error_labels,
    read_labels,
    refuse_mismatch,
    resume,
    unmarked,
)
from constraint_first.report.statistics import wilson
from constraint_first.report.study import Arm, Extraction, Outcome, Study, StudyError, Transcript
from constraint_first.report.table import to_markdown
from constraint_first.store.query import RecordKey

# Label.

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


def test_words_that_have_no_utf8_have_a_digest_and_are_kept(tmp_path: Path) -> None:
    spec = ConstraintSpec(raw_constraints=(Constraint("\ud800", "domain", "even\udfff"),))
    label = unmarked("ada", KEY, spec)
    append_label(tmp_path / "labels.jsonl", label)
    assert read_labels([tmp_path / "labels.jsonl"]) == [label]
    assert len(label.constraints[0].digest) == 12


def test_what_was_cut_off_does_not_swallow_the_next_label(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text(json.dumps(LINE | {"problem": "p0"}))  # no line end
    append_label(path, LABEL)
    assert len(read_labels([path])) == 2
    path.write_text(json.dumps(LINE) + "\n" + json.dumps(LINE)[:40])
    with pytest.raises(InputError, match=r"line 2: not JSON"):
        read_labels([path])


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
    with pytest.raises(OutputError, match="cannot be written"):
        begin_labels(tmp_path / "none" / "labels.jsonl")  # before anything is judged
    with pytest.raises(OutputError, match="cannot be written"):
        append_label(tmp_path, LABEL)


# Sample.

ONE = Extraction("parsed", ("domain",))
NONE = Extraction("fallback")
SPEC = ConstraintSpec(raw_constraints=(Constraint("C1", "domain", "an integer"),))


def listing(model: str, method: str = "cfr", problems: int = 20, benchmark: str = "b") -> Arm:
    attempts = {
        f"p{n}": [Outcome(0, extraction=ONE), Outcome(1, extraction=ONE)] for n in range(problems)
    }
    return Arm(benchmark, method, "CFR", model, "{}", attempts)


def runs(*arms: Arm) -> Study:
    return Study("runs.db", arms, {}, lambda wanted: {})


TWO = runs(listing("x"), listing("y"), listing("x", "routed-cfr"), listing("x", "direct", 0))


def test_the_same_seed_draws_the_same_in_any_order_of_rows() -> None:
    dice = random.Random(3)
    sample = draw(TWO, size=12, seed=1)
    for _ in range(5):
        arms = [
            replace(one, attempts=dict(dice.sample([*one.attempts.items()], len(one.attempts))))
            for one in dice.sample(TWO.arms, len(TWO.arms))
        ]
        for one in arms:
            for attempts in one.attempts.values():
                dice.shuffle(attempts)
        assert draw(runs(*arms), size=12, seed=1) == sample
    assert draw(TWO, size=12, seed=2) != sample


def test_one_attempt_for_a_problem_and_model_and_models_take_turns() -> None:
    sample = draw(TWO, size=100, seed=1)
    assert len(sample) == 40
    assert len({(key[2], key[4]) for key in sample}) == 40
    assert {key[1] for key in sample if key[2] == "x"} == {"cfr", "routed-cfr"}
    assert {key[5] for key in sample} == {0, 1}
    for size in range(2, 40, 2):
        assert set(Counter(key[2] for key in sample[:size]).values()) == {size // 2}
        assert draw(TWO, size=size, seed=1) == sample[:size]
    # A small model leaves its places to the others.
    sample = draw(runs(listing("x"), listing("y", problems=3)), size=10, seed=1)
    assert Counter(key[2] for key in sample) == {"x": 7, "y": 3}


def test_attempts_without_constraints_are_left_out_and_counted() -> None:
    mixed = listing("x", problems=2)
    mixed.attempts["p0"] = [Outcome(0, extraction=NONE), Outcome(1)]
    sample = draw(runs(mixed), size=10, seed=1)
    assert [key[4] for key in sample] == ["p1"]
    propagated_alone = runs(listing("x", problems=0))
    attempt = Outcome(0, extraction=Extraction("parsed", (), 1))
    propagated_alone.arms[0].attempts["p0"] = [attempt]
    assert len(draw(propagated_alone, size=1, seed=1)) == 1


def test_it_is_drawn_from_what_was_named() -> None:
    several = runs(listing("x"), listing("y"), listing("x", "routed-cfr", benchmark="c"))
    assert {key[2] for key in draw(several, size=9, seed=1, model="y")} == {"y"}
    assert {key[1] for key in draw(several, size=9, seed=1, benchmark="c")} == {"routed-cfr"}
    assert {key[0] for key in draw(several, size=9, seed=1, method="cfr")} == {"b"}
    with pytest.raises(StudyError, match=r"has no model 'z'; it has x, y"):
        draw(several, size=9, seed=1, model="z")
    with pytest.raises(StudyError, match=r"runs\.db: no attempt has Stage 1 constraints; run"):
        draw(runs(), size=9, seed=1)
    with pytest.raises(StudyError, match="no attempt of 'direct' has"):
        draw(TWO, size=9, seed=1, method="direct")


def test_what_is_left_is_each_annotators_own() -> None:
    sample = draw(TWO, size=3, seed=1)
    first, second, third = sample
    done = Label("ada", first, (Judged("C1", "raw", "vague"),))
    labels = [done, unmarked("ada", second, SPEC), replace(done, annotator="ben", key=third)]
    assert resume(sample, labels, "ada") == [second, third]
    assert resume(sample, labels, "ben") == [first, second]
    assert resume(sample, labels, "cy") == [first, second, third]


def test_labels_of_other_constraints_are_refused() -> None:
    key = draw(TWO, size=1, seed=1)[0]
    label = unmarked("ada", key, SPEC)
    refuse_mismatch([label], {}, "runs.db")  # it is about another store

    def check(one: Label, spec: ConstraintSpec | None) -> None:
        refuse_mismatch([one], {key: Transcript("", None, None, 0, spec)}, "runs.db")

    check(label, SPEC)
    twice = ConstraintSpec(raw_constraints=SPEC.raw_constraints * 2)
    renamed = ConstraintSpec(raw_constraints=(Constraint("C7", "domain", "an integer"),))
    for other in (None, twice, renamed):
        with pytest.raises(InputError, match=r"but ada judged 1 constraint \(C1\)"):
            check(label, other)
    words = ConstraintSpec(raw_constraints=(Constraint("C1", "domain", "a real number"),))
    with pytest.raises(InputError, match=r"has other words in C1 than those that ada judged; "):
        check(label, words)
    # An older line does not tell what was judged.
    check(Label("ada", key, (Judged("C1", "raw", "vague"),)), words)


# Task.

LISTED = ConstraintSpec(
    raw_constraints=(Constraint("C1", "domain", "an integer"),),
    propagated_constraints=(Propagated("P1", ("C1",), "even"), Propagated("P2", (), "small")),
)


def judged() -> Study:
    found = Extraction("parsed", ("domain",), 2)
    one = arm("cfr", {name: [Outcome(0, correct=True, extraction=found)] for name in "ab"})
    said = {
        (*one.key, name, 0): Transcript("so", "4", correct=True, tokens=1, constraints=LISTED)
        for name in "ab"
    }
    return study(one, problems=texts({"a": "What is 2 + 2?"}, gold={"a": "4"}), transcripts=said)


def test_an_attempt_is_laid_out_with_all_its_text() -> None:
    runs = judged()
    sample = draw(runs, size=9, seed=1)
    tasks = [lay_out(runs, sample, [], "ada", key) for key in sample]
    task = next(task for task in tasks if task.label.key[4] == "a")
    assert (task.asked.text, task.asked.gold) == ("What is 2 + 2?", "4")
    assert task.constraints == [
        ("C1", "domain", "an integer"),
        ("P1", "from C1", "even"),
        ("P2", "derived", "small"),
    ]
    assert sorted(one.number for one in tasks) == [1, 2]
    other = next(task for task in tasks if task.label.key[4] == "b")
    assert "not in these runs" in other.asked.text


def test_marks_so_far_are_there_and_the_first_open_one_is_in_turn() -> None:
    runs = judged()
    sample = draw(runs, size=9, seed=1)
    task = lay_out(runs, sample, [], "ada", sample[0])
    task.mark("entailed")
    again = lay_out(runs, sample, [task.label], "ada", sample[0])
    assert (again.at, again.label) == (1, task.label)
    others = lay_out(runs, sample, [task.label], "ben", sample[0])
    assert others.at == 0
    again.mark("vague")
    again.mark("vague")
    whole = lay_out(runs, sample, [again.label], "ada", sample[0])
    assert (whole.finished, whole.current) == (True, None)
    stale = unmarked("ada", sample[0], ConstraintSpec())
    with pytest.raises(InputError, match="not the runs that were judged"):
        lay_out(runs, sample, [stale], "ben", sample[0])


# Annotation.

WORDS: dict[str, Mark | None] = {"e": "entailed", "n": "not_entailed", "v": "vague", "?": None}


def label(
    problem: str,
    raw: str,
    propagated: str = "",
    *,
    by: str = "ada",
    model: str = "m",
    lacks: int = 0,
) -> Label:
    constraints = (
        *(Judged(f"C{n}", "raw", WORDS[mark]) for n, mark in enumerate(raw)),
        *(Judged(f"P{n}", "propagated", WORDS[mark]) for n, mark in enumerate(propagated)),
    )
    return Label(by, ("b", "cfr", model, "{}", problem, 0), constraints, ("x",) * lacks)


def shown(share: Share) -> tuple[float | None, float]:
    return share.value, share.n


def test_rates_by_hand() -> None:
    (found,) = rates([label("p0", "en", "e", lacks=1), label("p1", "v")])
    assert (found.model, found.attempts, found.constraints) == ("m", 2, 4)
    assert (found.raw, found.propagated) == (1.5, 0.5)
    assert shown(found.validity) == (0.5, 4)
    assert shown(found.propagated_validity) == (1.0, 1)
    assert shown(found.hallucination) == (0.25, 4)
    assert shown(found.vague) == (0.25, 4)
    assert shown(found.completeness) == (0.5, 2)
    assert found.validity.interval == wilson(2, 4)
    assert wilson(2, 4) == pytest.approx((0.1500, 0.8500), abs=1e-4)  # pyright: ignore


def test_models_apart_and_together() -> None:
    labels = [
        label("p0", "eee", model="y"),
        label("p0", "n", model="x"),
        label("p1", "v", model="x"),
    ]
    x, y, together = rates(labels)
    assert [one.model for one in (x, y, together)] == ["x", "y", ALL]
    assert (x.validity.value, y.validity.value, together.validity.value) == (0, 1, 0.6)
    assert (together.attempts, together.raw) == (3, 5 / 3)


def test_a_persons_rates_are_those_of_the_method_that_was_judged() -> None:
    routed = label("p0", "en")
    routed = replace(routed, key=(routed.key[0], "routed-cfr", *routed.key[2:]))
    found = by_method([label("p0", "ee"), label("p1", "v", "n"), routed, label("p2", "")])
    assert found == {
        ("m", "cfr"): Quality(0.5, 0.25, 4, 1.0, 2),
        ("m", "routed-cfr"): Quality(0.5, 0.5, 2, 1.0, 1),
    }
    assert by_method([label("p0", ""), label("p1", "?")]) == {}


def test_labels_of_other_runs_are_told_apart() -> None:
    made = study(arm("cfr", {"p0": "+", "p1": "+"}, benchmark="b", model="m"))
    ours, draft = label("p0", "e"), label("p1", "?")
    fields = enumerate(("c", "x", "n", "[]", "q", 1))
    keys = [(*ours.key[:at], value, *ours.key[at + 1 :]) for at, value in fields]
    others = [replace(ours, key=cast("RecordKey", key)) for key in keys]
    assert labels_of([others[0], ours, *others[1:], draft], made) == ([ours, draft], 6)
    assert labels_of([], made) == ([], 0)


def test_nothing_of_nothing_is_not_a_number_and_drafts_do_not_count() -> None:
    (found,) = rates([label("p0", "n"), label("p1", "e?")])
    assert (found.attempts, found.constraints) == (1, 1)
    assert (found.completeness.value, found.completeness.interval) == (None, None)
    assert found.propagated_validity.to_json() == {"value": None, "ci": None, "n": 0}
    assert rates([]) == rates([label("p0", "e?")]) == []


def test_an_attempt_that_two_judged_counts_once() -> None:
    (found,) = rates([label("p0", "e"), label("p0", "n", by="ben", lacks=2), label("p1", "e")])
    assert (found.attempts, found.constraints) == (2, 2)
    assert shown(found.validity) == (0.75, 2)
    assert shown(found.hallucination) == (0.25, 2)
    assert shown(found.completeness) == (0.6, 2.5)  # 1.5 entailed, 1 missing on average


def test_every_two_annotators_are_compared_by_kappa() -> None:
    ada, ben = label("p0", "eeeennneen"), label("p0", "eeeennnnne", by="ben")
    (found,) = accords([ben, ada, label("p9", "v")])
    assert (found.annotators, found.attempts, found.n, found.agree) == (("ada", "ben"), 1, 10, 7)
    # Seven of ten agree; by chance it would be .6 × .5 + .4 × .5 = .5.
    assert (found.agreement, round(found.kappa or 0, 9)) == (0.7, 0.4)
    assert accords([ada]) == []
    # Where kappa is not defined it is said why.
    (same,) = accords([label("p0", "nn"), label("p0", "nn", by="ben")])
    assert (same.n, same.agreement, same.kappa) == (2, 1, None)
    assert same.reason == "both marked every constraint not entailed"
    (apart,) = accords([label("p0", "e"), label("p1", "e", by="ben"), label("p0", "?", by="ben")])
    assert (apart.n, apart.agreement, apart.kappa) == (0, None, None)
    assert apart.reason == "no constraint was marked by both"


MARK = st.sampled_from("env")
JUDGED = st.tuples(st.text(MARK, max_size=4), st.text(MARK, max_size=3), st.integers(0, 2))


@given(st.lists(JUDGED, min_size=1, max_size=6), st.integers(0, 100))
def test_shares_add_up_and_order_does_not_matter(judged: list[Any], seed: int) -> None:
    labels = [
        label(f"p{n}", raw, propagated, lacks=lacks)
        for n, (raw, propagated, lacks) in enumerate(judged)
    ]
    (found,) = rates(labels)
    marked = [one.mark for each in labels for one in each.constraints]
    parts = (found.validity, found.hallucination, found.vague)
    assert [share.part for share in parts] == [marked.count(mark) for mark in MARKS]
    assert {share.whole for share in parts} == {len(marked)}
    random.Random(seed).shuffle(labels)
    assert rates(labels) == [found]
    twice = [*labels, *(Label("ben", o.key, o.constraints, o.missing) for o in labels)]
    assert rates(twice) == [found], "two who say the same are as sure as one"


# Error label.

CLASS = ErrorLabel("ada", "set", "p", "cfr", "x", "out_of_range", "12 is not below 9")
STUDY = study(arm("cfr", {"p": "-"}, model="x"))


def test_a_label_is_kept_as_a_line_that_the_other_commands_read(tmp_path: Path) -> None:
    path = tmp_path / "classes.jsonl"
    assert read_error_labels(path) == []
    append_label(path, CLASS)
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
    assert read_error_labels(path) == [CLASS]
    assert read_classes(path, STUDY).find(("set", "p"), "cfr", "x") == "out_of_range"


def test_the_last_line_of_an_annotator_counts(tmp_path: Path) -> None:
    path = tmp_path / "classes.jsonl"
    path.write_text('{"problem": "p", "class": "other"}\n')  # nobody's in particular
    again = replace(CLASS, mistake="other", note="")
    for one in (CLASS, replace(CLASS, annotator="ben"), again):
        append_label(path, one)
    assert read_error_labels(path) == [again, replace(CLASS, annotator="ben")]


@pytest.mark.parametrize("change", [{"class": "lazy"}, {"annotator": "?"}, {"problem": ""}])
def test_a_line_that_makes_no_sense_is_refused(tmp_path: Path, change: dict[str, str]) -> None:
    path = tmp_path / "classes.jsonl"
    path.write_text(json.dumps(CLASS.to_json() | change) + "\n")
    with pytest.raises(InputError, match=r"line 1: .*; correct the line or remove it"):
        read_error_labels(path)


def test_agreement_is_measured_on_what_both_classed() -> None:
    ada = [replace(CLASS, problem=name) for name in "abc"]
    ben = [
        replace(CLASS, annotator="ben", problem="a"),
        replace(CLASS, annotator="ben", problem="b", mistake="other"),
    ]
    (found,) = error_accords([*ada, *ben])
    assert (found.annotators, found.n, found.agree) == (("ada", "ben"), 2, 1)
    assert error_accords(ada) == []
    (same,) = error_accords([ada[0], ben[0]])
    assert same.reason == "both marked every error out of range"
    (apart,) = error_accords([ada[2], ben[0]])
    assert apart.reason == "no error was marked by both"


# Manual audit.


def test_rates_and_agreement_as_tables(golden: Golden) -> None:
    """Several people and models, one of them a preset, and a draft; then too few people."""
    preset = "qwen2.5-coder-1.5b-instruct"
    ours = [label("p0", "e"), label("p0", "e", by="ben"), label("p0", "v", by="cy")]
    labels = [*ours, label("p1", "?"), label("p0", "eenv", "e", model=preset, lacks=1)]
    other = replace(CLASS, annotator="ben", mistake="other")
    tables = (
        *(manual_audit_table(labels), manual_audit_table(labels[4:]), annotator_table(labels)),
        *(annotator_table(labels[:1]), error_annotator_table([CLASS, other])),
        error_annotator_table([CLASS]),
    )
    written = [f"{one.name}, {one.paper}: {to_markdown(one)}" for one in tables]
    assert "\n".join(written) == golden("marks-by-hand.md")
